//! What is said about the warps: the books, the observer's news, and what a run that is stuck
//! waits for.

mod books;
mod details;
mod stuck;
mod watch;

pub use books::Books;
pub use details::Told;
pub use stuck::StuckWarp;
pub use watch::Watch;
