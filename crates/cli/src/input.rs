//! Parsers of input from people or other programs, for programs that try any input (`fuzz/`).
use crate::forward::config::ForwardConfig;

/// Reads a configuration of `recoup forward`, and makes the node that it describes. Key files that it names are read;
/// nothing is opened or listened at.
///
/// # Errors
/// Its problem, as the operator sees it.
pub fn configuration(text: &str) -> Result<(), String> {
    let config = ForwardConfig::parse("node.toml", text).map_err(|failure| failure.to_string())?;
    config.try_out();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_is_tried_or_rejected_in_one_line() {
        let listen = "[[listen]]\nuri = \"udp://0.0.0.0\"\n";
        let node = "[node]\nscheduler = \"drr\"\nrate = \"1 Mbit/s\"\n";
        for text in [listen.to_owned(), format!("{listen}{node}")] {
            assert_eq!(configuration(&text), Ok(()), "{text}");
        }
        let message = configuration("[node]\ncahe = 1\nstrategi = 2\n").unwrap_err();
        assert!(
            message.contains("node.toml:2:1: node.cahe") && !message.contains('\n'),
            "{message}"
        );
    }
}
