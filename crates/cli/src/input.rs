//! Parsers of input from people or other programs, for programs that try any input (`fuzz/`).
use crate::forward::config::ForwardConfig;
use crate::link::plan::LinkPlan;
use recoup_channel::link::LinkOptions;
use std::net::SocketAddr;

/// Faces and routes that a configuration of a forwarder gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configured {
    /// The local address of each face, where one is given.
    pub faces: Vec<Option<SocketAddr>>,
    /// Number of routes.
    pub routes: usize,
}

/// Reads a configuration of `recoup forward`, and makes the node that it describes. Key files that it names are read;
/// nothing is opened or listened at.
///
/// # Errors
/// Its problem, as the operator sees it.
pub fn configuration(text: &str) -> Result<Configured, String> {
    let config = ForwardConfig::parse("node.toml", text).map_err(|failure| failure.to_string())?;
    config.try_out();
    let faces = config.faces.iter().map(|face| face.local).collect();
    Ok(Configured { faces, routes: config.routes.len() })
}

/// Reads the file of a link, as `recoup link` does: the properties toward the far end, and those back.
///
/// # Errors
/// Its problem, as the operator sees it.
pub fn link(text: &str) -> Result<(LinkOptions, LinkOptions), String> {
    let plan = LinkPlan::parse("link.toml", text).map_err(|failure| failure.to_string())?;
    Ok((plan.forth, plan.back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_is_tried_or_rejected_in_one_line() {
        let listen = "[[listen]]\nuri = \"udp://0.0.0.0\"\n";
        let node = "[node]\nscheduler = \"drr\"\nrate = \"1 Mbit/s\"\n";
        for text in [listen.to_owned(), format!("{listen}{node}")] {
            assert!(configuration(&text).is_ok(), "{text}");
        }
        let message = configuration("[node]\ncahe = 1\nstrategi = 2\n").unwrap_err();
        assert!(
            message.contains("node.toml:2:1: node.cahe") && !message.contains('\n'),
            "{message}"
        );
    }
}
