//! Identifiers of separate spaces are separate types: Kineto numbers `External id` (which op) and `correlation` (which
//! launch) independently, and joining one with the other credits kernels to unrelated ops.

/// `args["External id"]`: the op or annotation that the work was launched under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExternalId(pub u64);

/// `args["correlation"]`: the runtime or driver call that launched the work. 0 and -1 mean "none" and are never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CorrelationId(pub u64);
