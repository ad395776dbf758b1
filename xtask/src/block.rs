//! Fenced blocks of a page.

/// A block of a text, with what it is of and the file that the line before it names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    /// Language of the block.
    pub(crate) kind: &'a str,
    /// The file that the line before it names, as in "`a.toml`:".
    pub(crate) file: Option<&'a str>,
    /// Text between the previous block and this one.
    pub(crate) before: &'a str,
    /// Text inside, with the end of its last line.
    pub(crate) text: &'a str,
}

/// The fenced blocks of a text.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, fenced)) = rest.split_once("\n```") {
        let Some((block, after)) = fenced.split_once("\n```") else { break };
        let (kind, text) = block.split_once('\n').unwrap_or((block, ""));
        let named = before.trim_end().lines().last().and_then(|line| line.strip_suffix("`:"));
        let file = named.and_then(|line| line.rsplit('`').next()).filter(|name| name.contains('.'));
        // The last line of a block keeps its end.
        let end = text.len() + 1;
        let begin = text.as_ptr() as usize - rest.as_ptr() as usize;
        found.push(Block { kind, file, before, text: &rest[begin..begin + end] });
        rest = after;
    }
    found
}
