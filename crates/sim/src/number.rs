//! Maps by numbers that the simulator itself gives out.
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Values by number. Hashed alike in each run; still, who goes through all of them has to sort them first.
pub(crate) type ByNumber<V> = HashMap<u64, V, FixedState>;
