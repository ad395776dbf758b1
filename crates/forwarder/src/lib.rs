//! A node: faces, pipelines and attached applications, as one machine.
pub mod node;
mod path;
