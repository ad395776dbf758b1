//! Link recovery between two ends, with scripted or random links.
mod acked;
mod auto;
mod exchange;
mod handshake;
mod overhead;
mod pair;
mod reordering;
mod silence;
mod swarm;
mod wldr;
