//! The observer: counts per instruction of each kernel.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use warpsim_ptx::isa::Space;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::stats::WarpState;
use warpsim_sim::time::Cycle;

/// What one instruction did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times it was issued.
    pub issued: u64,
    /// Active lanes, over all of them.
    pub lanes: u64,
    /// Warp-cycles by state, in the order of [`WarpState::ALL`].
    pub states: [u64; WarpState::ALL.len()],
    /// Times it went to memory.
    pub requests: u64,
    /// Accesses that came of them.
    pub transactions: u64,
    /// Cycles of the shared memory's banks.
    pub bank_cycles: u64,
    /// Times it went to shared memory.
    pub shared: u64,
    /// Loads that the first-level cache was asked for, and had.
    pub lookups: u64,
    /// Those that it had.
    pub hits: u64,
}

/// A kernel with what its instructions did in all of its launches.
#[derive(Debug)]
pub struct KernelCounts {
    /// The kernel.
    pub kernel: Kernel,
    /// How often it was launched.
    pub launches: u64,
    /// By instruction.
    pub counts: Vec<Counts>,
}

/// Everything, shared between the observer and the code that shows it.
#[derive(Debug, Default)]
pub struct Collected {
    /// Kernels in the order of their first launch.
    pub kernels: Vec<KernelCounts>,
}

/// A warp's time since it last issued.
#[derive(Clone, Debug, Default)]
struct Slot {
    state: Option<WarpState>,
    since: u64,
    /// Cycles by state that belong to the instruction it issues next.
    waited: [u64; WarpState::ALL.len()],
    /// The instruction it issued last.
    last: Option<u32>,
}

/// The observer.
#[derive(Debug, Default)]
pub struct Profile {
    collected: Rc<RefCell<Collected>>,
    current: usize,
    slots: HashMap<(u16, u16), Slot>,
}

impl Profile {
    /// An observer, and what it fills.
    pub fn new() -> (Profile, Rc<RefCell<Collected>>) {
        let profile = Profile::default();
        let collected = profile.collected.clone();
        (profile, collected)
    }
}

impl Slot {
    /// Books the time up to `now`.
    fn advance(&mut self, now: u64, counts: &mut [Counts]) {
        let Some(state) = self.state else {
            self.since = now;
            return;
        };
        let cycles = now.saturating_sub(self.since);
        self.since = now;
        match self.last {
            Some(pc) if state.is_of_last_issue() => {
                counts[pc as usize].states[state as usize] += cycles
            }
            _ => self.waited[state as usize] += cycles,
        }
    }

    /// Hands what was waited for to an instruction.
    fn settle(&mut self, pc: u32, counts: &mut [Counts]) {
        let to = &mut counts[pc as usize].states;
        for (to, waited) in to.iter_mut().zip(&mut self.waited) {
            *to += std::mem::take(waited);
        }
    }
}

impl Observer for Profile {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        let mut collected = self.collected.borrow_mut();
        let Some(kernel) = collected.kernels.get_mut(self.current) else {
            return;
        };
        let counts = &mut kernel.counts;
        let now = cycle.get();
        let warp = self.slots.entry((sm, slot)).or_default();
        match event {
            WarpEvent::Launched { .. } | WarpEvent::Formed => {
                *warp = Slot {
                    since: now,
                    ..Slot::default()
                };
            }
            WarpEvent::State(state) => {
                warp.advance(now, counts);
                warp.state = Some(state);
            }
            WarpEvent::Issued { pc, lanes } => {
                warp.advance(now, counts);
                warp.settle(pc, counts);
                warp.last = Some(pc);
                counts[pc as usize].issued += 1;
                counts[pc as usize].lanes += u64::from(lanes.count_ones());
            }
            WarpEvent::Accessed {
                pc,
                transactions,
                bank_cycles,
            } => {
                // Constants and parameters keep the unit busy too, but have no banks.
                let space = kernel.kernel.code[pc as usize].mods.space;
                let banks =
                    matches!(space, Some(Space::Shared | Space::Generic) | None) && bank_cycles > 0;
                let at = &mut counts[pc as usize];
                at.requests += 1;
                at.transactions += u64::from(transactions);
                if banks {
                    at.bank_cycles += u64::from(bank_cycles);
                    at.shared += 1;
                }
            }
            WarpEvent::LookedUp { pc, hit } => {
                let at = &mut counts[pc as usize];
                at.lookups += 1;
                at.hits += u64::from(hit);
            }
            WarpEvent::Left | WarpEvent::Dissolved => {
                // A warp's last cycle is its own, a dissolved one's is not.
                let end = now + u64::from(event == WarpEvent::Left);
                warp.advance(end, counts);
                let pc = warp.last.unwrap_or(0);
                warp.settle(pc, counts);
                warp.state = None;
            }
            _ => {}
        }
    }

    fn launched(&mut self, _cycle: Cycle, kernel: &Kernel, _files: &[(u32, String)]) {
        self.slots.clear();
        let mut collected = self.collected.borrow_mut();
        let known = collected
            .kernels
            .iter()
            .position(|k| k.kernel.name == kernel.name && k.counts.len() == kernel.code.len());
        self.current = known.unwrap_or_else(|| {
            collected.kernels.push(KernelCounts {
                kernel: kernel.clone(),
                launches: 0,
                counts: vec![Counts::default(); kernel.code.len()],
            });
            collected.kernels.len() - 1
        });
        let current = self.current;
        collected.kernels[current].launches += 1;
    }
}
