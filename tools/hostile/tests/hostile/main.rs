//! Every parser on hostile bytes: that it does no harm, and what it costs.

mod replay;
mod steps;
