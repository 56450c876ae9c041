//! Conservative parallel simulation of a machine made of components.
//!
//! A [`Component`] has a clock: the cycle up to which it has been simulated. Components send each other messages over
//! [`Link`]s. A message is stamped with the cycle in which it arrives, and every link has a latency: a component that has come to cycle `c`
//! sends nothing more that arrives before `c` + latency. That cycle is the link's *horizon*. A component may be simulated up
//! to the least horizon of its inputs, because by then it has every message that arrives earlier. So components run side by side, some
//! ahead of others, and each sees exactly what it would see if all ran in step.
//!
//! Some inputs matter only now and then: a component that has room in a buffer need not know how far the buffer's other end is. Such a
//! component runs without the input while it can, and [waits](Ran::Waits) for the other component's clock when it cannot.
//!
//! The [`Engine`] runs components for a *window*: up to a cycle at which the caller looks at all of them. Each thread of its [`Crew`] runs the components that
//! are at home there in turn, and others when it can run none of these. On one thread all components are at home. What a component
//! computes must not depend on when it is run, only on its messages: then every window ends with the same state on any number of threads.
//!
//! This crate knows nothing of GPUs.

#![deny(unsafe_op_in_unsafe_fn)]

mod component;
mod crew;
#[cfg(not(feature = "loom"))]
mod executor;
mod link;
mod sync;

pub use component::{Component, Input, Place, Ran};
pub use crew::Crew;
#[cfg(not(feature = "loom"))]
pub use executor::Engine;
pub use link::{Link, Signal};
