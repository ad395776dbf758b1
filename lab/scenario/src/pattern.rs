//! Patterns that stand for several names: `r*`, `n{0..4}`; and names with a number in them: `/p{k}`.
use recoup_packet::name::Name;

/// More names than that are a mistake.
const MOST: usize = 100_000;

/// `n{0..2}` as `n0`, `n1`, `n2`; `{a,b}` as `a`, `b`. Other braces stay as they are.
///
/// # Errors
/// If that would be too many.
pub(super) fn braces(text: &str) -> Result<Vec<String>, String> {
    let mut done = Vec::new();
    let mut open = vec![(String::new(), text)];
    while let Some((head, rest)) = open.pop() {
        match next_choice(rest) {
            None => done.push(head + rest),
            Some((before, choices, after)) => {
                let choices = choices?;
                if choices.len() + open.len() + done.len() > MOST {
                    return Err(format!("`{text}` stands for more than {MOST} names"));
                }
                open.extend(choices.iter().rev().map(|c| (format!("{head}{before}{c}"), after)));
            }
        }
    }
    Ok(done)
}

type Choice<'a> = (&'a str, Result<Vec<String>, String>, &'a str);

/// The first braces that offer a choice, with what stands before and after them.
fn next_choice(text: &str) -> Option<Choice<'_>> {
    let mut from = 0;
    loop {
        let begin = from + text.get(from..)?.find('{')?;
        let end = begin + text[begin..].find('}')?;
        if let Some(choices) = choices(&text[begin + 1..end]) {
            return Some((&text[..begin], choices, &text[end + 1..]));
        }
        from = begin + 1;
    }
}

fn choices(inside: &str) -> Option<Result<Vec<String>, String>> {
    if inside.contains('{') {
        return None;
    }
    if inside.contains(',') {
        return Some(Ok(inside.split(',').map(|one| one.trim().to_owned()).collect()));
    }
    let (first, last) = inside.split_once("..")?;
    let last = last.strip_prefix('=').unwrap_or(last);
    let (first, last) = (first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?);
    if last < first || last - first >= MOST as u64 {
        return Some(Err(format!("`{{{inside}}}` stands for no names, or for too many")));
    }
    Some(Ok((first..=last).map(|number| number.to_string()).collect()))
}

/// Whether `name` matches `pattern`; `*` matches any characters, or none.
pub fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// A pattern, and not simply a name.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains('*') || next_choice(text).is_some()
}

/// The text of a name of NDN with its number and names put in. Characters with a meaning in such a text are escaped.
pub(super) fn fill(text: &str, k: u64, node: &str, name: &str) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let (node, name) = (escaped(node), escaped(name));
    text.replace("{k}", &k.to_string()).replace("{node}", &node).replace("{name}", &name)
}

fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Reads a name of NDN.
///
/// # Errors
/// The problem of the text.
pub(super) fn name(text: &str) -> Result<Name, String> {
    if !text.starts_with('/') && !text.starts_with("ndn:/") {
        return Err(format!("`{text}` is no name; a name begins with `/`"));
    }
    text.parse().map_err(|error| format!("`{text}` is no name: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn braces_are_counted_through_in_their_order() {
        assert_eq!(braces("n{0..2}").unwrap(), ["n0", "n1", "n2"]);
        assert_eq!(braces("{a,b}{1..2}").unwrap(), ["a1", "a2", "b1", "b2"]);
        assert_eq!(braces("/p{k}/{1..2}").unwrap(), ["/p{k}/1", "/p{k}/2"]);
        assert_eq!(braces("plain").unwrap(), ["plain"]);
        assert!(braces("{0..99999999}").is_err() && braces("{1..1000}{1..1000}").is_err());
    }

    #[test]
    fn filled_name_is_escaped() {
        let filled = fill("/{node}/{k}", 3, "St. Louis/é", "p");
        assert_eq!(filled, "/St.%20Louis%2F%C3%A9/3");
        assert_eq!(name(&filled).unwrap().len(), 2);
    }

    #[test]
    fn star_matches_any_characters() {
        for (pattern, name) in [("*", ""), ("r*", "r1"), ("r1-*", "r1-r2"), ("*-r*", "c-r1")] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("r*", "c1"), ("r1", "r12"), ("*a*a", "ba"), ("a*a", "a")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_a_pattern_panic(text: String, name: String) {
            let _ = (braces(&text), fits(&text, &name), is_pattern(&text));
            prop_assert!(fits("*", &name) && fits(&name.replace('*', ""), &name.replace('*', "")));
        }
    }
}
