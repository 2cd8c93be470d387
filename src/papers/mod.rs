//! The published values, counts and layouts, as the papers print them.

pub mod layouts;
pub mod published;
