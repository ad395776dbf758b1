//! Plans with nothing but defaults in them.
use crate::network::{ChannelPlan, LinkPlan, NodeId};

/// A link on which nothing was said.
pub(super) fn link() -> LinkPlan {
    LinkPlan {
        name: String::new(),
        ends: (NodeId(0), NodeId(0)),
        forth: ChannelPlan::default(),
        back: ChannelPlan::default(),
        cost: 1,
    }
}
