//! Maps by numbers that the simulator itself gives out.
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Values by number. The hash is the same in each run; iteration still has to sort them first.
pub(crate) type ByNumber<V> = HashMap<u64, V, FixedState>;
