//! The paths below `/v1`, one file each, and the server's own. `openapi.json` describes them.

mod answer;
mod boards;
mod line;
mod many;
mod own;
mod position;
mod random;
mod reply;

pub use boards::{boards, stats};
pub use line::mainline;
pub use many::positions;
pub use own::{healthz, metrics, openapi};
pub use position::position;
pub use random::random;
pub use reply::reply;
