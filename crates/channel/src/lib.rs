//! The model of a link: one direction is a [`channel::Channel`], a state machine of rate, queue, delay and losses.
//!
//! Simulations join nodes by channels. `recoup link` and `recoup demo` put channels between sockets. [`link::LinkOptions`]
//! describes a direction; [`layer`] reads the description from a document.
pub mod channel;
pub mod layer;
pub mod link;
pub mod model;
mod over_time;
