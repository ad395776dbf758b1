//! A node: faces, pipelines and attached applications, as one machine.
pub mod drop;
pub mod event;
pub mod face;
pub mod hash;
pub mod node;
pub mod packet;
mod path;
pub mod strategy;
pub mod suppression;
pub mod table;
pub mod trace;
