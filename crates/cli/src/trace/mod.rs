//! `--trace`: a timeline that Perfetto and chrome://tracing open. docs/timelines.md describes
//! what is in it.

mod file;
mod gangs;
mod labels;
mod window;

pub use window::{Cycles, Sms, Window};

use crate::pictures::watts;
use file::{Event, TraceFile};
use gangs::{Division, Ended, Original};
use labels::Labels;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::stats::{EnergyCounters, WarpState};
use warpsim_sim::time::Cycle;

/// Process of launches.
const GPU: u32 = 1;
/// Process of SM 0; the others follow. 0 means "idle" to some viewers.
const FIRST_SM: u32 = 2;
/// Track of launches; the others follow. Beyond the processes of the largest machine: a track with
/// its process's number would be shown as its "main thread", above the others.
const KERNELS: u32 = 2000;

/// Cycles between two values of the power counters.
const POWER_EVERY: u64 = 200;

/// Writes a timeline while a run goes on.
pub struct Trace {
    file: TraceFile,
    core_mhz: u32,
    window: Window,
    labels: Labels,
    kernel: Option<(String, Cycle)>,
    sms: HashMap<u16, SmTracks>,
    warps: HashMap<(u16, u16), Track>,
    gangs: BTreeMap<Original, Division>,
    /// Warps that 32 threads are cut into.
    slices: u16,
    next_track: u32,
    /// Events left out because the file was full.
    left_out: u64,
}

/// An SM in the file.
struct SmTracks {
    /// Track of block arrivals and departures.
    blocks: u32,
    /// Last block and cycle announced on arrival and departure: warps come one by one.
    came: Option<(u64, Cycle)>,
    left: Option<(u64, Cycle)>,
}

/// A resident warp.
struct Track {
    id: u32,
    block: u64,
    named: bool,
    warp: u16,
    /// What it does since which cycle.
    state: Option<(WarpState, Cycle)>,
    /// Barrier it went to last: number and cycle.
    barrier: Option<(u8, Cycle)>,
    released: Option<Cycle>,
}

impl Trace {
    /// A timeline for the file `path`, with what lies in `window`, of a machine that cuts 32 threads
    /// into so many warps and has this clock.
    pub fn create(path: &Path, window: Window, slices: u16, core_mhz: u32) -> io::Result<Trace> {
        let mut trace = Trace {
            file: TraceFile::create(path)?,
            core_mhz,
            window,
            labels: Labels::default(),
            kernel: None,
            sms: HashMap::new(),
            warps: HashMap::new(),
            gangs: BTreeMap::new(),
            slices,
            next_track: KERNELS + 1,
            left_out: 0,
        };
        trace.file.process(GPU, "GPU");
        trace.file.track(GPU, KERNELS, "kernels");
        Ok(trace)
    }

    fn new_track(&mut self) -> u32 {
        self.next_track += 1;
        self.next_track - 1
    }

    /// Whether there is room for one more event.
    fn admit(&mut self) -> bool {
        let room = self.file.events() < self.window.events;
        self.left_out += u64::from(!room);
        room
    }

    /// The SM's tracks, which appear in the file with its first event.
    fn sm(&mut self, sm: u16) -> &mut SmTracks {
        if !self.sms.contains_key(&sm) {
            let blocks = self.new_track();
            let process = FIRST_SM + u32::from(sm);
            self.file.process(process, &format!("SM {sm}"));
            self.file.track(process, blocks, "blocks");
            let tracks = SmTracks {
                blocks,
                came: None,
                left: None,
            };
            self.sms.insert(sm, tracks);
        }
        self.sms.get_mut(&sm).expect("inserted above")
    }

    fn launch_warp(&mut self, cycle: Cycle, (sm, slot): (u16, u16), block: u64, warp: u16) {
        // The SM's own track comes first.
        self.sm(sm);
        let id = self.new_track();
        let track = Track {
            id,
            block,
            named: false,
            warp,
            state: None,
            barrier: None,
            released: None,
        };
        self.warps.insert((sm, slot), track);
        let tracks = self.sm(sm);
        if tracks.came.replace((block, cycle)) != Some((block, cycle)) {
            let blocks = tracks.blocks;
            self.instant(cycle, sm, blocks, &format!("block {block} arrives"));
        }
    }

    /// Formed warps come and go with every instruction: they share a track for each slot.
    fn form_warp(&mut self, at: (u16, u16)) {
        if self.warps.contains_key(&at) {
            return;
        }
        let id = self.new_track();
        let track = Track {
            id,
            block: 0,
            named: true,
            warp: 0,
            state: None,
            barrier: None,
            released: None,
        };
        self.warps.insert(at, track);
        self.sm(at.0);
        let process = FIRST_SM + u32::from(at.0);
        self.file.track(process, id, &format!("slot {}", at.1));
    }

    fn instant(&mut self, cycle: Cycle, sm: u16, track: u32, name: &str) {
        if self.window.cycles.contains(cycle) && self.admit() {
            self.file
                .instant(FIRST_SM + u32::from(sm), track, cycle, name);
        }
    }

    /// Closes what the warp was doing: it did so from `since` up to, not including, `end`.
    fn close(&mut self, at: (u16, u16), end: Cycle) {
        let Some(track) = self.warps.get_mut(&at) else {
            return;
        };
        let Some((state, since)) = track.state.take() else {
            return;
        };
        // An issue is written when it happens, with its instruction.
        if state == WarpState::Issued {
            return;
        }
        let barrier = track.barrier.filter(|_| state == WarpState::Barrier);
        let mut arguments = format!("\"state\":\"{}\"", state.name());
        let name = match barrier {
            Some((id, arrived)) => {
                arguments += &format!(",\"barrier\":{id},\"arrived\":{arrived}");
                if let Some(released) = track.released {
                    arguments += &format!(",\"released\":{released}");
                }
                format!("barrier {id}")
            }
            None => state.name().to_string(),
        };
        self.slice(at, since, end, "stall", &name, &arguments);
    }

    fn slice(
        &mut self,
        at: (u16, u16),
        from: Cycle,
        to: Cycle,
        category: &str,
        name: &str,
        arguments: &str,
    ) {
        let Some((from, to)) = self.window.cycles.clip(from, to) else {
            return;
        };
        if !self.admit() {
            return;
        }
        let process = FIRST_SM + u32::from(at.0);
        let Some(track) = self.warps.get_mut(&at) else {
            return;
        };
        if !track.named {
            track.named = true;
            let name = format!("warp {} (block {})", track.warp, track.block);
            self.file.track(process, track.id, &name);
        }
        self.file.slice(&Event {
            process,
            track: track.id,
            from,
            to,
            category,
            name,
            arguments,
        });
    }

    fn issue(&mut self, cycle: Cycle, at: (u16, u16), pc: u32, lanes: u32) {
        if !self.window.cycles.contains(cycle) {
            return;
        }
        let (name, place) = self.labels.get(pc);
        let arguments = format!(
            "{place},\"lanes\":{},\"mask\":\"{lanes:08x}\"",
            lanes.count_ones()
        );
        let name = name.to_string();
        self.slice(at, cycle, cycle + 1, "issue", &name, &arguments);
    }

    fn ganged(&mut self, cycle: Cycle, at: (u16, u16), slices: u8) {
        let Some(track) = self.warps.get(&at) else {
            return;
        };
        let original = (at.0, track.block, track.warp / self.slices);
        let gang = self.gangs.entry(original).or_default();
        if let Some(ended) = gang.change(cycle, at.1, slices) {
            self.division(original, cycle, &ended);
        }
        if self.gangs.get(&original).is_some_and(Division::is_over) {
            self.gangs.remove(&original);
        }
    }

    /// Writes how an original gang was divided up to `end`.
    fn division(&mut self, original: Original, end: Cycle, ended: &Ended) {
        let Some((from, to)) = self.window.cycles.clip(ended.since, end) else {
            return;
        };
        if !self.admit() {
            return;
        }
        let (sm, block, warp) = original;
        let process = FIRST_SM + u32::from(sm);
        let known = self.gangs.get(&original).and_then(|gang| gang.track);
        let track = known.unwrap_or_else(|| {
            let track = self.new_track();
            self.file.track(
                process,
                track,
                &format!("gangs of warp {warp} (block {block})"),
            );
            track
        });
        self.gangs.entry(original).or_default().track = Some(track);
        let slices = ended.slices.iter().map(|s| format!("\"{s:02x}\""));
        let slices: Vec<String> = slices.collect();
        self.file.slice(&Event {
            process,
            track,
            from,
            to,
            category: "gangs",
            name: &ended.name,
            arguments: &format!("\"slices\":[{}]", slices.join(",")),
        });
    }

    fn leave(&mut self, cycle: Cycle, at: (u16, u16)) {
        self.close(at, cycle + 1);
        let Some(track) = self.warps.remove(&at) else {
            return;
        };
        let block = track.block;
        let tracks = self.sm(at.0);
        if tracks.left.replace((block, cycle)) != Some((block, cycle)) {
            let blocks = tracks.blocks;
            self.instant(cycle, at.0, blocks, &format!("block {block} leaves"));
        }
    }
}

impl Observer for Trace {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        if !self.window.sms.contains(sm) {
            return;
        }
        let at = (sm, slot);
        match event {
            WarpEvent::Launched { block, warp } => self.launch_warp(cycle, at, block, warp),
            WarpEvent::Issued { pc, lanes } => self.issue(cycle, at, pc, lanes),
            WarpEvent::Left => self.leave(cycle, at),
            WarpEvent::Formed => self.form_warp(at),
            WarpEvent::Dissolved => self.close(at, cycle),
            WarpEvent::State(state) => {
                self.close(at, cycle);
                if let Some(track) = self.warps.get_mut(&at) {
                    track.state = Some((state, cycle));
                }
            }
            WarpEvent::Barrier { id, .. } => {
                if let Some(track) = self.warps.get_mut(&at) {
                    (track.barrier, track.released) = (Some((id, cycle)), None);
                }
            }
            WarpEvent::Released => {
                if let Some(track) = self.warps.get_mut(&at) {
                    track.released = Some(cycle);
                }
            }
            WarpEvent::Ganged { slices } => self.ganged(cycle, at, slices),
            WarpEvent::NextBlock { block, warp } => {
                if let Some(track) = self.warps.get(&at) {
                    let id = track.id;
                    let text = format!("goes on as warp {warp} of block {block}");
                    self.instant(cycle, sm, id, &text);
                }
            }
            WarpEvent::Retired
            | WarpEvent::Holds { .. }
            | WarpEvent::Accessed { .. }
            | WarpEvent::LookedUp { .. } => {}
        }
    }

    fn samples_every(&self) -> Option<u64> {
        Some(POWER_EVERY)
    }

    fn sample(&mut self, from: Cycle, to: Cycle, spent: &EnergyCounters) {
        let Some((shown, _)) = self.window.cycles.clip(from, to) else {
            return;
        };
        // They are few, as launches are.
        let members = watts::parts(spent, to - from, self.core_mhz)
            .map(|(name, watts)| format!("\"{name}\":{watts:.3}"));
        let members: Vec<String> = members.collect();
        self.file
            .counters(GPU, shown, "power (W)", &members.join(","));
    }

    fn launched(&mut self, cycle: Cycle, kernel: &Kernel, _: &[(u32, String)]) {
        self.labels = Labels::of(kernel);
        self.kernel = Some((shown(&kernel.name), cycle));
    }

    fn ended(&mut self, cycle: Cycle) {
        let Some((name, since)) = self.kernel.take() else {
            return;
        };
        // Launches are few: they are shown even when the file is full otherwise.
        if let Some((from, to)) = self.window.cycles.clip(since, cycle) {
            self.file.slice(&Event {
                process: GPU,
                track: KERNELS,
                from,
                to,
                category: "kernel",
                name: &name,
                arguments: "",
            });
        }
    }

    fn complete(&mut self) -> io::Result<Option<String>> {
        self.file.finish().map_err(|e| {
            io::Error::other(format!("cannot write {}: {e}", self.file.path().display()))
        })?;
        Ok((self.left_out > 0).then(|| {
            format!(
                "the timeline was cut: it holds the first {} events, {} more were left out; \
                 choose a part with --trace-cycles FROM..TO and --trace-sms, or allow more with \
                 --trace-events",
                self.window.events, self.left_out
            )
        }))
    }
}
