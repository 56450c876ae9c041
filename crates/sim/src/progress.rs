//! Tells the user or the caller how far a run is.

/// How far a kernel is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Core cycles since the run began.
    pub cycles: u64,
    /// Warp instructions issued since the run began.
    pub warp_instructions: u64,
    /// Blocks of the current kernel that have finished.
    pub blocks_done: u64,
    /// Blocks of the current kernel.
    pub blocks_total: u64,
}

/// Called by the GPU every so often; the callee decides what to show and how often.
pub trait Progress: Send {
    /// A kernel begins.
    fn kernel(&mut self, name: &str, blocks: u64);
    /// Some cycles have passed.
    fn update(&mut self, snapshot: Snapshot);
    /// Whether the run is to end now, unfinished. Asked as often as it is [updated](Progress::update),
    /// and in runs without timing now and then.
    fn stops(&mut self) -> bool {
        false
    }
    /// The run is over.
    fn finish(&mut self, snapshot: Snapshot);
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn kernel(&mut self, _name: &str, _blocks: u64) {}
    fn update(&mut self, _snapshot: Snapshot) {}
    fn finish(&mut self, _snapshot: Snapshot) {}
}
