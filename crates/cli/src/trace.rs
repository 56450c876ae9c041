//! `--trace`: a timeline that Perfetto and chrome://tracing open.

use std::path::PathBuf;
use warpsim_sim::observe::{Observer, WarpEvent};

/// Collects a timeline.
pub struct TraceFile {
    #[allow(dead_code)]
    path: PathBuf,
}

impl TraceFile {
    /// A timeline for this file.
    pub fn new(path: PathBuf) -> TraceFile {
        TraceFile { path }
    }
}

impl Observer for TraceFile {
    fn warp(&mut self, _: u64, _: u16, _: u16, _: WarpEvent) {}
}
