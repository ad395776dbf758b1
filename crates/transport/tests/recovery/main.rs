//! Link recovery between two ends, with scripted or random links.
mod acked;
mod auto;
mod overhead;
mod pair;
mod reordering;
mod swarm;
mod wldr;
