//! The memory side of an SM: an executed instruction becomes accesses ([`requests`], over
//! [`coalesce`]), the load/store unit ([`unit`]) sends them through its caches ([`l1`]) and the
//! [`port`], and tells what has come back as [`MemoryEvent`]s.

mod banks;
mod coalesce;
mod hints;
mod joint;
mod l1;
mod mixed;
mod ops;
mod port;
mod requests;
mod unit;
mod unused;

pub use coalesce::Access;
pub use l1::{L1, Outcome, Prefetched};
pub use mixed::Shape;
pub use ops::{MemOp, Owner, Path, Slots};
pub use port::{Port, TokenKind, token, untoken};
pub use requests::Executed;
pub use unit::{LoadStore, MemoryEvent, Surroundings};
