//! A node: faces, tables, pipelines, strategies and attached applications, as one machine.
mod anticipation;
mod attached;
pub mod drop;
pub mod event;
pub mod face;
pub mod hash;
pub mod link;
pub mod management;
pub mod node;
pub mod options;
mod oracle;
pub mod packet;
pub mod pipeline;
pub mod strategy;
pub mod suppression;
pub mod table;
pub mod trace;
mod way_out;
