//! What a run did and how long it took: counters, times by stage, a timeline by thread.

pub(crate) mod metrics;
pub(crate) mod stage;
pub mod timeline;
