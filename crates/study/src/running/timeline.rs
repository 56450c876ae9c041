//! What the warps of one SM did, cycle by cycle: recorded while a run goes on, kept small enough
//! for a report.

use crate::format::Timeline;
use crate::plan::Run;
use crate::results::key::{Key, SCHEMA};
use crate::running::execute::listen;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use warpsim_ptx::inspect::disassemble;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::stats::WarpState;
use warpsim_sim::time::Cycle;

/// Segments kept; a report with more opens slowly. What came later is left out.
const MOST: usize = 150_000;

/// What a timeline of `run` is stored under.
pub fn key(run: &Run, wanted: &Timeline) -> Key {
    Key::of(&json!({
        "run": run.key.as_str(),
        "sm": wanted.sm,
        "cycles": [wanted.cycles.0, wanted.cycles.1],
        "most": MOST,
    }))
}

/// Runs as far as needed and returns what was recorded.
pub fn record(run: &Run, wanted: &Timeline) -> Result<Value, String> {
    let recording = Recording::new(wanted.sm, wanted.cycles, MOST);
    let result = listen(run, recording.listener(), wanted.cycles.1);
    match result {
        Err(reason) if recording.lock().tracks.is_empty() => Err(reason),
        // Stopped by the limit: warps that are there were so until then.
        Err(_) => {
            let mut recorder = recording.lock();
            let end = recorder.to;
            Ok(recorder.finish(end))
        }
        Ok(()) => Ok(recording.finish()),
    }
}

/// A timeline of an SM that is being recorded.
#[derive(Clone)]
pub struct Recording(Arc<Mutex<Recorder>>);

impl Recording {
    /// Of this SM, from one cycle up to another, which it does not include. With `most` segments it ends there.
    pub fn new(sm: u16, cycles: (u64, u64), most: usize) -> Recording {
        Recording(Arc::new(Mutex::new(Recorder::new(sm, cycles, most))))
    }

    /// Who listens for it.
    pub fn listener(&self) -> Box<dyn Observer> {
        Box::new(Listener(self.clone()))
    }

    /// What was recorded of a run that has ended, for a page.
    pub fn finish(&self) -> Value {
        let mut recorder = self.lock();
        let end = recorder.seen.min(recorder.to);
        recorder.finish(end)
    }

    fn lock(&self) -> MutexGuard<'_, Recorder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes events on: the simulator owns its observer.
struct Listener(Recording);

impl Observer for Listener {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        self.0.lock().warp(cycle, sm, slot, event);
    }

    fn launched(&mut self, _cycle: Cycle, kernel: &Kernel, _files: &[(u32, String)]) {
        self.0.lock().launched(kernel);
    }
}

struct Recorder {
    sm: u16,
    from: Cycle,
    /// Comes down to where the recording is full.
    to: Cycle,
    /// Segments until then.
    most: usize,
    /// The latest cycle of the SM.
    seen: Cycle,
    /// Instructions of all launches, and where those of the present one begin.
    code: Vec<String>,
    base: usize,
    tracks: Vec<Track>,
    /// Who is where.
    resident: HashMap<u16, usize>,
    segments: usize,
    left_out: u64,
}

/// A warp's stay.
struct Track {
    block: u64,
    warp: u16,
    /// First cycle shown.
    start: Cycle,
    /// Where the last segment ends.
    end: Cycle,
    /// Length and state, one after the other, without gaps.
    segments: Vec<(u64, WarpState)>,
    /// The instruction and active lanes of each `issued` segment.
    issues: Vec<(usize, u32)>,
    state: Option<(WarpState, Cycle)>,
    issue: (usize, u32),
}

impl Recorder {
    fn new(sm: u16, (from, to): (u64, u64), most: usize) -> Recorder {
        Recorder {
            sm,
            from: Cycle::new(from),
            to: Cycle::new(to),
            most,
            seen: Cycle::ZERO,
            code: Vec::new(),
            base: 0,
            tracks: Vec::new(),
            resident: HashMap::new(),
            segments: 0,
            left_out: 0,
        }
    }

    fn launched(&mut self, kernel: &Kernel) {
        self.base = self.code.len();
        let lines = 0..kernel.code.len() as u32;
        self.code.extend(lines.map(|pc| disassemble(kernel, pc)));
    }

    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        if sm != self.sm {
            return;
        }
        self.seen = self.seen.max(cycle);
        if let WarpEvent::Launched { block, warp } = event {
            self.resident.insert(slot, self.tracks.len());
            self.tracks.push(Track {
                block,
                warp,
                start: cycle.max(self.from),
                end: cycle.max(self.from),
                segments: Vec::new(),
                issues: Vec::new(),
                state: None,
                issue: (0, 0),
            });
            return;
        }
        let Some(&index) = self.resident.get(&slot) else {
            return;
        };
        match event {
            WarpEvent::State(state) => {
                self.close(index, cycle);
                self.tracks[index].state = Some((state, cycle));
            }
            WarpEvent::Issued { pc, lanes } => {
                // Warps that issue cycle after cycle stay in the state: a segment for each issue.
                if matches!(self.tracks[index].state, Some((WarpState::Issued, s)) if s < cycle) {
                    self.close(index, cycle);
                    self.tracks[index].state = Some((WarpState::Issued, cycle));
                }
                self.tracks[index].issue = (self.base + pc as usize, lanes.count_ones());
            }
            WarpEvent::Left => {
                self.close(index, cycle + 1);
                self.resident.remove(&slot);
            }
            _ => {}
        }
    }

    /// Ends what a warp was doing before `cycle`.
    fn close(&mut self, index: usize, cycle: Cycle) {
        let track = &mut self.tracks[index];
        let Some((state, since)) = track.state.take() else {
            return;
        };
        let since = since.max(track.end);
        let until = cycle.min(self.to);
        if until <= since {
            self.left_out += u64::from(self.segments >= self.most);
            return;
        }
        self.segments += 1;
        if self.segments == self.most {
            // All warps end where there is no more room, so that none seems to stand still.
            self.to = self.to.min(cycle);
        }
        track.end = until;
        track.segments.push((until - since, state));
        if state == WarpState::Issued {
            track.issues.push(track.issue);
        }
    }

    fn finish(&mut self, end: Cycle) -> Value {
        let mut open: Vec<usize> = self.resident.values().copied().collect();
        open.sort_unstable();
        for index in open {
            self.close(index, end);
        }
        let mut used: Vec<usize> = self
            .tracks
            .iter()
            .flat_map(|t| &t.issues)
            .map(|i| i.0)
            .collect();
        used.sort_unstable();
        used.dedup();
        let number = |code: usize| used.binary_search(&code).unwrap_or(0);
        let tracks: Vec<Value> = self
            .tracks
            .iter()
            .filter(|t| !t.segments.is_empty())
            .map(|t| {
                let segments = t.segments.iter();
                let flat: Vec<u64> = segments.flat_map(|(n, s)| [*n, *s as u64]).collect();
                let issues = t.issues.iter();
                let issues: Vec<usize> = issues
                    .flat_map(|(code, lanes)| [number(*code), *lanes as usize])
                    .collect();
                json!({"block": t.block, "warp": t.warp, "start": t.start.get(),
                       "segments": flat, "issues": issues})
            })
            .collect();
        let code: Vec<&str> = used
            .iter()
            .map(|&i| self.code.get(i).map_or("?", String::as_str))
            .collect();
        json!({
            "schema": SCHEMA,
            "sm": self.sm,
            "cycles": [self.from.get(), end.max(self.from).get()],
            "states": WarpState::ALL.iter().map(|s| s.name()).collect::<Vec<_>>(),
            "code": code,
            "left_out": self.left_out,
            "tracks": tracks,
        })
    }
}
