//! What a run did and how long it took: counters, times by stage, a timeline by thread.

pub mod metrics;
pub mod stage;
pub mod timeline;
