//! Link recovery, between two ends that frames are passed between by hand or by chance.
mod acked;
mod auto;
mod octets;
mod pair;
mod reordering;
mod swarm;
mod wldr;
