//! Text from the network as a terminal may show it.
//!
//! A name in a listing is any sequence of bytes. An escape sequence in it moves the cursor. A bidirectional control
//! (U+202E) shows `exe.txt` for a name that ends in `txt.exe`. An invisible character makes two names look equal.
//!
//! Source: UAX #44 (general categories `Cc`, `Cf`, `Zl` and `Zp`; property `Default_Ignorable_Code_Point`), UAX #9 and
//! UTR #36, section 2.
//!
//! Difference: variation selectors stay, although they are ignorable: they only choose between two shapes of a character.
use std::ffi::OsStr;
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Stands for a character that has no shape.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Whether standard error is a terminal whose cursor can be moved.
pub fn can_draw() -> bool {
    std::io::stderr().is_terminal() && moves_cursor(std::env::var_os("TERM").as_deref())
}

/// Whether a terminal of this kind, as `TERM` names it, takes codes for its cursor.
fn moves_cursor(kind: Option<&OsStr>) -> bool {
    kind.is_none_or(|kind| kind != "dumb" && !kind.is_empty())
}

/// The text with a space for each control character but the line feed, and U+FFFD for each invisible character.
pub fn safe(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' => c,
        '\u{2028}' | '\u{2029}' => ' ',
        _ if c.is_control() => ' ',
        _ if is_invisible(c) => REPLACEMENT,
        _ => c,
    };
    text.chars().map(shown).collect()
}

/// The path of a file within a line: a line feed in it is shown as `\n`.
pub fn path_line(path: &Path) -> String {
    safe(&path.display().to_string()).replace('\n', "\\n")
}

/// A JSON document with each invisible character of its strings as `\uXXXX`: the same document to a reader.
pub fn escaped_json(document: &str) -> String {
    let mut escaped = String::with_capacity(document.len());
    for c in document.chars() {
        if c != '\n' && is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Whether a character has no shape of its own: controls, format characters (bidirectional ones among them), line
/// separators, and blank characters.
fn is_invisible(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let category = c.general_category();
    matches!(category, Control | Format | LineSeparator | ParagraphSeparator)
        || matches!(
            c,
            '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2065}' | '\u{3164}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::one_line;

    /// Bidirectional controls of UAX #9, and what else has no shape.
    const INVISIBLE: &str = "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200e}\u{200f}\u{61c}\
        \u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{ad}\u{180e}\u{3164}\u{115f}\u{e0041}\u{2028}\u{2029}\u{1b}\u{9b}\r";

    #[test]
    fn invisible_characters_never_reach_a_terminal() {
        for c in INVISIBLE.chars() {
            let text = one_line(&format!("a{c}b"));
            assert!(text == "a b" || text == "a\u{fffd}b", "{:x}: {text:?}", u32::from(c));
        }
    }

    #[test]
    fn dumb_terminal_gets_no_cursor_codes() {
        assert!(moves_cursor(Some("xterm-256color".as_ref())));
        for kind in [Some("dumb"), Some("")] {
            assert!(!moves_cursor(kind.map(OsStr::new)), "{kind:?}");
        }
    }

    #[test]
    fn path_stays_on_its_line() {
        let path = Path::new("a\nrecoup: done\u{1b}[2J.txt");
        assert_eq!(path_line(path), "a\\nrecoup: done [2J.txt");
    }

    #[test]
    fn visible_text_of_any_script_stays() {
        for text in ["a\nb", "Grüße", "照片", "صور", "תמונות", "café", "❤\u{fe0f}", "🎬"]
        {
            assert_eq!(safe(text), text);
        }
    }

    #[test]
    fn escaped_json_means_the_same() {
        let document = serde_json::json!({ "name": INVISIBLE });
        let text = escaped_json(&document.to_string());
        assert!(text.is_ascii(), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), document);
    }
}
