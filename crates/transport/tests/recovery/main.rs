//! Link recovery, between two ends that frames are passed between by hand or by chance.
mod acked;
mod octets;
mod pair;
mod swarm;
mod wldr;
