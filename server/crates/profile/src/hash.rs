//! Maps and sets keyed by ids and symbols of one trace: a fast hash, for nobody chooses these keys to collide.

pub(crate) type Map<K, V> = hashbrown::HashMap<K, V, foldhash::fast::FixedState>;
pub(crate) type Set<K> = hashbrown::HashSet<K, foldhash::fast::FixedState>;
