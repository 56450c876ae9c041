//! Control flow, what the threads of a warp do together, and calls to the host (`printf`, `assert`).

pub(crate) mod calls;
pub(crate) mod flow;
pub(crate) mod printf;
pub(crate) mod warp;
