//! What the engine knows of a component.

/// A part of the simulated machine that is simulated by itself. `W` is what all components may look at while they run.
pub trait Component<W: ?Sized>: Send {
    /// Simulates from the cycle to which the component has come up to, and not including, cycle `to`. All messages that arrive before `to` have
    /// been sent. The component publishes what it sends before it returns.
    fn run(&mut self, to: u64, world: &W) -> Ran;
}

/// How far a component has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// To cycle `at`, which is where it was asked to come to or earlier.
    #[allow(missing_docs)]
    To { at: u64 },
    /// To cycle `at`; it goes on when component `on` has come there, too.
    #[allow(missing_docs)]
    Waits { at: u64, on: usize },
    /// To cycle `at`, with which the window has to end: no component goes further that is not further already.
    #[allow(missing_docs)]
    Ends { at: u64 },
}

impl Ran {
    /// The cycle to which it has come, and the component that it waits on.
    #[inline]
    pub(crate) fn place(self) -> (u64, usize) {
        match self {
            Ran::To { at } | Ran::Ends { at } => (at, NONE),
            Ran::Waits { at, on } => (at, on),
        }
    }
}

/// An input of a component.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// The component that sends.
    pub from: usize,
    /// The link's latency: whatever the sender sends arrives at least so many cycles behind its clock.
    pub latency: u64,
}

/// A component in a window.
pub struct Part<'a, W: ?Sized> {
    pub(crate) component: &'a mut dyn Component<W>,
    pub(crate) clock: u64,
    pub(crate) ahead: u64,
    /// The component that has to come as far before this one goes on.
    pub(crate) waits_on: usize,
}

/// No component.
pub(crate) const NONE: usize = usize::MAX;

impl<'a, W: ?Sized> Part<'a, W> {
    /// A component that has come to cycle `clock` and is to come so many cycles beyond the window's end.
    pub fn new(component: &'a mut dyn Component<W>, clock: u64, ahead: u64) -> Part<'a, W> {
        Part {
            component,
            clock,
            ahead,
            waits_on: NONE,
        }
    }
}
