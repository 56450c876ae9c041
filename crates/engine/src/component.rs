//! What the engine knows of a component.

/// A part of the simulated machine that is simulated by itself. `W` is what all components may look at while they run.
pub trait Component<W: ?Sized>: Send {
    /// The cycle up to which it has been simulated.
    fn clock(&self) -> u64;

    /// Simulates up to, and not including, cycle `to`, or less far. All messages that arrive before `to` have been sent. The component publishes what it
    /// sends before it returns.
    fn run(&mut self, to: u64, world: &W) -> Ran;
}

/// Why a component has stopped where its clock is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// It was not to come further, or others are to hear of it first.
    On,
    /// It goes on when this component has come as far.
    Waits(usize),
    /// The window has to end here: no component goes further that is not further already.
    Ends,
}

/// An input of a component.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// The component that sends.
    pub from: usize,
    /// The link's latency: whatever the sender sends arrives at least so many cycles behind its clock.
    pub latency: u64,
}

/// Where a component stands among others.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// What it hears of others.
    pub inputs: Vec<Input>,
    /// Cycles that it is to come beyond a window's end.
    pub ahead: u64,
    /// How much it has to do, beside others.
    pub work: u64,
}
