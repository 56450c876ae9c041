//! Hears what the recorder hears, keeps it as it was told, and says of any cycle what a warp did: what the page says is
//! compared with it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use warpsim_ptx::analysis::{reads, writes};
use warpsim_ptx::kernel::{Kernel, NO_PC, Pc, RegId};
use warpsim_sim::observe::{Detail, Observer, Path, PathKind, Wants, WarpEvent};
use warpsim_sim::time::Cycle;

#[derive(Clone, Debug)]
enum Told {
    Warp(WarpEvent),
    Paths(Vec<Path>),
    Executed(u32),
    Written(RegId),
    Launch(usize),
}

#[derive(Default)]
struct Kept {
    kernels: Vec<Kernel>,
    /// Cycle, slot and what was told; launches are of no slot.
    told: Vec<(u64, u16, Told)>,
}

/// Everything that was told of SM 0.
#[derive(Clone, Default)]
pub struct Witness(Rc<RefCell<Kept>>);

impl Observer for Witness {
    fn wants(&self, sm: u16) -> Wants {
        match sm {
            0 => Wants::Details,
            _ => Wants::Nothing,
        }
    }

    fn warp(&mut self, cycle: Cycle, _: u16, slot: u16, event: WarpEvent) {
        let told = (cycle.get(), slot, Told::Warp(event));
        self.0.borrow_mut().told.push(told);
    }

    fn detail(&mut self, cycle: Cycle, _: u16, slot: u16, detail: Detail) {
        let told = match detail {
            Detail::Paths(paths) => Told::Paths(paths.to_vec()),
            Detail::Executed { lanes } => Told::Executed(lanes),
            Detail::Written { register } => Told::Written(register),
            Detail::Folded { .. } => return,
        };
        self.0.borrow_mut().told.push((cycle.get(), slot, told));
    }

    fn launched(&mut self, cycle: Cycle, kernel: &Kernel, _: &[(u32, String)]) {
        let mut kept = self.0.borrow_mut();
        let launch = Told::Launch(kept.kernels.len());
        kept.kernels.push(kernel.clone());
        kept.told.push((cycle.get(), u16::MAX, launch));
    }
}

/// An issue, and the paths under which it ran.
#[derive(Clone, Debug)]
struct Issue {
    cycle: u64,
    executed: u32,
    under: Vec<Path>,
    /// The paths are still those.
    still: bool,
}

/// What a warp is and has at the end of a cycle.
#[derive(Clone, Debug, Default)]
struct Warp {
    here: bool,
    formed: bool,
    block: u64,
    paths: Vec<Path>,
    /// Lanes that ever held a thread.
    threads: u32,
    issue: Option<Issue>,
    owed: BTreeMap<RegId, u64>,
    /// The barrier at which it waits.
    waits: Option<u8>,
    gang: Option<u8>,
    next: Option<Pc>,
}

impl Warp {
    fn hear(&mut self, cycle: u64, told: &Told, kernel: Option<&Kernel>) {
        match told {
            Told::Warp(WarpEvent::Launched { block, .. }) => {
                *self = Warp {
                    here: true,
                    block: *block,
                    ..Warp::default()
                };
            }
            Told::Warp(WarpEvent::Formed) => {
                *self = Warp {
                    here: true,
                    formed: true,
                    ..Warp::default()
                };
            }
            Told::Warp(WarpEvent::Left | WarpEvent::Dissolved) => *self = Warp::default(),
            Told::Warp(WarpEvent::NextBlock { block, .. }) => self.block = *block,
            Told::Warp(WarpEvent::Barrier { id, waits }) => self.waits = waits.then_some(*id),
            Told::Warp(WarpEvent::Released) => self.waits = None,
            Told::Warp(WarpEvent::Ganged { slices }) => self.gang = Some(*slices),
            Told::Warp(WarpEvent::Issued { pc, lanes }) => {
                self.issue = Some(Issue {
                    cycle,
                    executed: *lanes,
                    under: self.paths.clone(),
                    still: true,
                });
                if let Some(first) = self.paths.first_mut() {
                    first.pc = pc + 1;
                }
                let instruction = &kernel.expect("a launch").code[*pc as usize];
                self.owed.extend(writes(instruction).map(|r| (r, cycle)));
            }
            Told::Warp(_) | Told::Launch(_) => {}
            Told::Executed(lanes) => {
                self.issue.as_mut().expect("an issue").executed = *lanes;
            }
            Told::Written(register) => drop(self.owed.remove(register)),
            Told::Paths(paths) => {
                self.threads |= union(paths);
                self.paths.clone_from(paths);
                if let Some(issue) = &mut self.issue {
                    issue.still = false;
                }
            }
        }
    }
}

fn union(paths: &[Path]) -> u32 {
    paths.iter().fold(0, |all, path| all | path.lanes)
}

/// What is known of a warp in a cycle.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// Lanes that are active, guarded off, elsewhere, and exited.
    pub lanes: [u32; 4],
    /// For each path where it is, where it ends or -1, its lanes, and 0 for one that runs, 1 on a stack, 2 parked.
    pub paths: Vec<[i64; 4]>,
    /// Registers that its next instruction waits for, with the cycle in which they were issued for.
    pub waits: Vec<(String, u64)>,
    /// All that have not come.
    pub flying: Vec<(String, u64)>,
    /// Slots of its block's warps that wait at a barrier.
    pub at_barrier: Vec<u16>,
    /// Slices that go together.
    pub gang: Option<Vec<u64>>,
}

impl Witness {
    /// What the warps that were in these slots in these cycles did, which do not go back; none, where there was none.
    pub fn asked(&self, asked: &[(u64, u16)]) -> Vec<Option<Said>> {
        let kept = self.0.borrow();
        let mut told = kept.told.iter().peekable();
        let (mut warps, mut kernel) = (BTreeMap::<u16, Warp>::new(), None);
        let mut answers = Vec::new();
        // Warps for which the cycle is the last.
        let mut leaving = (0, BTreeMap::new());
        for (cycle, slot) in asked {
            if leaving.0 != *cycle {
                leaving = (*cycle, BTreeMap::new());
            }
            while let Some((at, of, what)) = told.next_if(|(at, ..)| at <= cycle) {
                if let Told::Launch(number) = what {
                    kernel = kept.kernels.get(*number);
                    warps.clear();
                    continue;
                }
                let warp = warps.entry(*of).or_default();
                if at == cycle && matches!(what, Told::Warp(WarpEvent::Left)) {
                    leaving.1.insert(*of, warp.clone());
                }
                warp.hear(*at, what, kernel);
            }
            let mut now = warps.clone();
            now.extend(leaving.1.clone());
            answers.push(match now.get_mut(slot).filter(|warp| warp.here) {
                Some(warp) => {
                    warp.next = next_issue(told.clone(), *slot);
                    let warp = warp.clone();
                    Some(said(&warp, *cycle, kernel.expect("a launch"), &now, *slot))
                }
                None => None,
            });
        }
        answers
    }
}

/// What the warp in a slot issues next, by what is told later.
fn next_issue<'a>(mut later: impl Iterator<Item = &'a (u64, u16, Told)>, slot: u16) -> Option<Pc> {
    let next = later.find_map(|(_, of, what)| match what {
        Told::Launch(_) => Some(None),
        _ if *of != slot => None,
        Told::Warp(WarpEvent::Issued { pc, .. }) => Some(Some(*pc)),
        Told::Warp(WarpEvent::Launched { .. } | WarpEvent::Left | WarpEvent::Dissolved) => {
            Some(None)
        }
        _ => None,
    });
    next.flatten()
}

fn said(warp: &Warp, cycle: u64, kernel: &Kernel, all: &BTreeMap<u16, Warp>, slot: u16) -> Said {
    let name = |register: &RegId| kernel.registers[usize::from(register.0)].name.clone();
    let now = warp.issue.as_ref().filter(|issue| issue.cycle == cycle);
    let paths = now.map_or(&warp.paths, |issue| &issue.under);
    let running = paths.iter().filter(|p| p.kind == PathKind::Runs);
    let runs = running.fold(0, |all, path| all | path.lanes);
    let guard = warp.issue.as_ref().filter(|i| i.still || i.cycle == cycle);
    let active = guard.map_or(runs, |issue| runs & issue.executed);
    let held = union(paths);
    let exited = match warp.formed {
        true => 0,
        false => warp.threads & !held,
    };
    let next = warp.next.map(|pc| &kernel.code[pc as usize]);
    let needed: Vec<RegId> =
        next.map_or(Vec::new(), |next| reads(next).chain(writes(next)).collect());
    let owed = warp.owed.iter().map(|(r, since)| (name(r), *since));
    let waits = warp.owed.iter().filter(|(r, _)| needed.contains(r));
    let waits = waits.map(|(r, since)| (name(r), *since));
    let numbers = |p: &Path| {
        let until = match p.until {
            NO_PC => -1,
            pc => i64::from(pc),
        };
        [i64::from(p.pc), until, i64::from(p.lanes), p.kind as i64]
    };
    let waiting = all.iter().filter(|(_, w)| w.here && w.waits.is_some());
    let of_block = waiting.filter(|(of, w)| match warp.formed {
        true => **of == slot,
        false => w.block == warp.block,
    });
    let slices = |set: u8| (0..8).filter(|n| set >> n & 1 != 0).collect();
    Said {
        lanes: [active, runs & !active, held & !runs, exited],
        paths: paths.iter().map(numbers).collect(),
        waits: sorted(waits.collect()),
        flying: sorted(owed.collect()),
        at_barrier: of_block.map(|(of, _)| *of).collect(),
        gang: warp.gang.map(slices),
    }
}

fn sorted(mut list: Vec<(String, u64)>) -> Vec<(String, u64)> {
    list.sort();
    list
}
