//! A hardware warp: one plain struct with all that the pipeline keeps for it, and the one question that accounting
//! asks: what does it do in this cycle?

use super::scoreboard::Scoreboard;
use crate::config::{Eligible, Fetch};
use crate::divergence::GroupState;
use crate::place::Place;
use crate::sm::facts::OpFacts;
use crate::stats::WarpState;
use crate::time::Cycle;
use std::collections::VecDeque;
use warpsim_ptx::kernel::Pc;

/// What a warp waits for other than instructions, data or units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    pub barrier: bool,
    pub fence: bool,
    /// For an atomic, or for copies that it asked to wait for.
    pub atomic: bool,
    /// Until its `nanosleep` is over.
    pub sleep: bool,
    /// For threads that its `.sync` operation names.
    pub members: bool,
    /// For its next logical block, in `vtw.next_tb`.
    pub next_block: bool,
    /// For siblings that are an iteration behind, in `vtw.next_tb`.
    pub siblings: bool,
}

impl Waits {
    /// Whether it waits for any of them.
    pub fn any(&self) -> bool {
        *self != Waits::default()
    }
}

/// A hardware warp.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    /// Where it sits.
    pub place: Place,
    /// A warp is here.
    pub resident: bool,
    /// What the divergence model has said of its threads.
    pub state: GroupState,
    /// Fetch has noticed that it has finished.
    pub retired: bool,
    /// The slot of its block.
    pub block: u16,
    /// A number that grows with every warp that comes.
    pub age: u64,
    /// The instructions that have been decoded, and where to fetch from behind them.
    pub buffer: VecDeque<Pc>,
    pub fetch_pc: Pc,
    /// Where to fetch from is known.
    pub directed: bool,
    /// Instructions are on their way from fetch to decode.
    pub fetching: bool,
    /// It waits for a line of the instruction cache.
    pub missing: bool,
    /// Fetch waits for a branch to leave the pipeline.
    pub unresolved: bool,
    /// It has branched, and what is there has not come.
    pub awaits_target: bool,
    pub waits: Waits,
    /// Registers that instructions in flight owe to it.
    pub scoreboard: Scoreboard,
    /// Instructions issued and not complete, and how many of them access memory.
    pub in_flight: u32,
    pub memory_in_flight: u32,
    /// Stores not acknowledged.
    pub stores: u32,
    /// Siblings are in the iteration before its own.
    pub ahead: bool,
    /// Active lanes.
    pub lanes: u32,
    /// Instructions issued, and how many of them before the iteration under way.
    pub instructions: u64,
    pub iteration_began: u64,
    /// When it finished its iteration.
    pub finished_at: Cycle,
    /// `.sync` operations that it waits for.
    pub meetings: u16,
    /// When it came, or the last barrier that it waited at opened; and when that phase ended.
    pub phase_began: Cycle,
    pub phase_ended: Cycle,
    /// All its threads have exited.
    pub exited: bool,
}

impl Warp {
    /// An empty place.
    pub fn empty(place: Place) -> Warp {
        Warp {
            place,
            resident: false,
            state: GroupState::Free,
            retired: false,
            block: 0,
            age: 0,
            buffer: VecDeque::new(),
            fetch_pc: 0,
            directed: false,
            fetching: false,
            missing: false,
            unresolved: false,
            awaits_target: false,
            waits: Waits::default(),
            scoreboard: Scoreboard::default(),
            in_flight: 0,
            memory_in_flight: 0,
            stores: 0,
            ahead: false,
            lanes: 0,
            instructions: 0,
            iteration_began: 0,
            finished_at: Cycle::ZERO,
            meetings: 0,
            phase_began: Cycle::ZERO,
            phase_ended: Cycle::ZERO,
            exited: false,
        }
    }

    /// A warp of a block comes here in cycle `now`.
    pub fn arrive(&mut self, block: u16, age: u64, now: Cycle) {
        *self = Warp {
            resident: true,
            block,
            age,
            phase_began: now,
            ..Warp::empty(self.place)
        };
    }

    /// The warp has left. Stores that it sent may still be on their way.
    pub fn leave(&mut self) {
        *self = Warp {
            stores: self.stores,
            in_flight: self.in_flight,
            memory_in_flight: self.memory_in_flight,
            scoreboard: std::mem::take(&mut self.scoreboard),
            ..Warp::empty(self.place)
        };
    }

    /// The next instruction in its buffer.
    pub fn head(&self) -> Option<Pc> {
        self.buffer.front().copied()
    }

    /// Drops what is in the buffer; fetch goes on at `pc`.
    pub fn flush(&mut self, pc: Pc) {
        self.buffer.clear();
        self.fetch_pc = pc;
        self.directed = true;
    }

    /// Fetch goes on at `pc`.
    pub fn direct(&mut self, pc: Pc) {
        if self.fetch_pc != pc {
            self.flush(pc);
        }
    }

    /// Goes on at `pc`: drops what is in the buffer, unless that is what comes next.
    pub fn go_on_at(&mut self, pc: Pc) {
        if self.head().unwrap_or(self.fetch_pc) != pc {
            self.flush(pc);
        }
        self.directed = true;
    }

    /// Adds so many instructions of the code, which ends before `end`, to the buffer.
    pub fn fill(&mut self, from: Pc, count: u32, end: Pc) {
        if self.buffer.is_empty() {
            self.fetch_pc = from;
        }
        for _ in 0..count.min(end.saturating_sub(from)) {
            self.buffer.push_back(self.fetch_pc);
            self.fetch_pc += 1;
        }
    }

    /// It has threads that go on.
    pub fn is_running(&self) -> bool {
        self.state == GroupState::Running
    }

    /// The scheduler looks at it: it has threads that go on, and waits for nothing but instructions, data or units.
    pub fn is_candidate(&self) -> bool {
        self.is_running() && !self.waits.any()
    }

    /// The instruction at the head of the buffer is the one that its threads come to next, at `next`.
    pub fn has_next(&self, next: Pc) -> bool {
        self.head() == Some(next)
    }

    /// What is in the buffer is on the wrong path.
    pub fn is_on_wrong_path(&self, next: Pc) -> bool {
        self.is_candidate() && self.head().is_some_and(|head| head != next)
    }

    /// The threads come to `next`: if that is at the head of the buffer, the target of the last branch has come.
    pub fn look_at_head(&mut self, next: Pc) {
        if self.has_next(next) {
            self.awaits_target = false;
        }
    }

    /// Whether the fetch unit may bring more, as far as the buffer goes, of code that ends before `end`.
    pub fn wants_fetch(&self, fetch: &Fetch, end: Pc) -> bool {
        let room = fetch.eligible == Eligible::Room
            && (self.buffer.len() as u32) < fetch.buffer
            && self.fetch_pc < end;
        !self.fetching && (self.buffer.is_empty() || room)
    }

    /// Nothing of it is in flight, and no store on its way.
    pub fn is_settled(&self) -> bool {
        self.in_flight == 0 && self.stores == 0
    }

    /// It has finished, and fetch has to notice.
    pub fn is_leaving(&self) -> bool {
        self.state == GroupState::Finished && !self.retired && self.is_settled()
    }

    /// An instruction is no longer in flight.
    pub fn land(&mut self, memory: bool) {
        self.in_flight -= 1;
        self.memory_in_flight -= u32::from(memory);
    }

    /// Instructions that it has issued in the iteration under way.
    pub fn progress(&self) -> u64 {
        self.instructions - self.iteration_began
    }

    /// What it does in this cycle, if it issues nothing and finds no room at its unit. Its threads come to `next`.
    pub fn does(&self, next: Pc, code: &[OpFacts], one_in_flight: bool) -> WarpState {
        let Waits {
            barrier,
            fence,
            atomic,
            sleep,
            members,
            next_block,
            siblings,
        } = self.waits;
        match () {
            () if self.retired => WarpState::ExitSiblings,
            () if self.state == GroupState::Finished => WarpState::ExitStores,
            () if barrier || members => WarpState::Barrier,
            () if siblings => WarpState::ExitSiblings,
            () if next_block => WarpState::NextBlock,
            () if fence || atomic => WarpState::DataMemory,
            () if sleep => WarpState::DataAlu,
            () if self.state == GroupState::Stopped => {
                match (self.memory_in_flight, self.in_flight) {
                    (1.., _) => WarpState::DataMemory,
                    (0, 1..) => WarpState::DataAlu,
                    (0, 0) => WarpState::Control,
                }
            }
            () => self.waits_for_head(next, code, one_in_flight),
        }
    }

    /// What the instruction at the head of its buffer waits for, or the buffer for it.
    fn waits_for_head(&self, next: Pc, code: &[OpFacts], one_in_flight: bool) -> WarpState {
        let Some(head) = self.head() else {
            return match self.awaits_target || self.unresolved {
                true => WarpState::Control,
                false => WarpState::Fetch,
            };
        };
        if head != next {
            return WarpState::Control;
        }
        let hazard = self.hazard(&code[head as usize], one_in_flight);
        match (hazard.any, hazard.memory) {
            (true, true) => WarpState::DataMemory,
            (true, false) => WarpState::DataAlu,
            (false, _) => WarpState::Structural,
        }
    }
}
