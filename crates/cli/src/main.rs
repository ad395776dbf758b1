//! The `recoup` command.
fn main() {}
