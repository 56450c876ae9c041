//! Divergence models: how threads are grouped into the warps that issue. One file per model,
//! registered in [`MODELS`].

mod dwf;
mod likely;
mod paths;
mod pdom;
mod pdom_lcp;
pub(crate) mod pool;
mod regroup;
mod stack;
#[cfg(test)]
mod stack_tests;
mod tbc;

pub use crate::exec::state::{LANES, Lanes, Threads};
use crate::place::{HomeSlots, Layout};
use crate::time::Cycle;
pub use paths::{Path, PathKind};
use std::ops::Range;
use warpsim_machine::Machine;
use warpsim_machine::mechanism::{Info, Values};
use warpsim_ptx::kernel::Likely;
pub use warpsim_ptx::kernel::{NO_PC, Pc};

/// What a hardware warp slot holds: threads that go through the pipeline together.
#[derive(Clone, Debug)]
pub struct Group {
    /// Next instruction.
    pub pc: Pc,
    /// The model wants to hear when `pc` becomes this ([`DivergenceModel::arrived`]).
    pub watch: Pc,
    /// Active lanes.
    pub mask: u32,
    /// Which threads they are.
    pub lanes: Lanes,
    /// What the slot is doing.
    pub state: GroupState,
    /// It was started, and the pipeline has not seen it yet.
    pub fresh: bool,
    /// It comes from a barrier that has opened: a policy may let it go first.
    pub urgent: bool,
}

impl Group {
    /// The home warp of its first active thread.
    pub fn first_home(&self) -> u16 {
        self.lanes.home(self.mask.trailing_zeros() as usize % LANES)
    }
}

/// What a slot is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    /// No group is there.
    Free,
    /// Issues.
    Running,
    /// Held by the model: issues nothing; [`DivergenceModel::settled`] is called when what it
    /// has in flight is done.
    Stopped,
    /// In a pool: waits at a barrier of the block with nothing in flight.
    Held,
    /// Its threads are done; retires when what it has in flight is done.
    Finished,
}

/// The slots of an SM. Models change them through these methods, which note what changed so
/// that the pipeline can follow.
#[derive(Debug)]
pub struct Groups {
    slots: Vec<Group>,
    changed: Vec<u16>,
    /// Threads that have exited and left their pooled warp, by block.
    gone: Vec<(u16, u32)>,
    /// Boxes to use again: warps are formed with every instruction.
    #[allow(clippy::vec_box, reason = "they go into groups as they are")]
    spare: Vec<Box<[u16; LANES]>>,
}

impl Groups {
    /// `slots` free slots.
    pub fn new(slots: usize) -> Groups {
        let free = Group {
            pc: 0,
            watch: NO_PC,
            mask: 0,
            lanes: Lanes::Static(0),
            state: GroupState::Free,
            fresh: false,
            urgent: false,
        };
        Groups {
            slots: vec![free; slots],
            changed: Vec::with_capacity(64),
            gone: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Number of slots.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// A slot's group.
    #[inline]
    pub fn get(&self, slot: u16) -> &Group {
        &self.slots[slot as usize]
    }

    /// Moves the groups of all these slots to `pc`, if the model does not want to hear of any there; says
    /// whether.
    #[inline]
    pub fn advance_those(&mut self, slots: HomeSlots, pc: Pc) -> bool {
        let watched = self.fold(slots.clone(), false, |any, group| any | (group.watch == pc));
        if !watched {
            match slots.row().and_then(|row| self.slots.get_mut(in_vec(row))) {
                Some(row) => row.iter_mut().for_each(|group| group.pc = pc),
                None => slots.for_each(|slot| self.set_pc(slot, pc)),
            }
        }
        !watched
    }

    /// The active lanes of the groups of all these slots.
    #[inline]
    pub fn lanes_of(&self, slots: HomeSlots) -> u32 {
        self.fold(slots, 0, |lanes, group| lanes | group.mask)
    }

    #[inline]
    fn fold<T>(&self, slots: HomeSlots, none: T, add: impl Fn(T, &Group) -> T) -> T {
        match slots.row().and_then(|row| self.slots.get(in_vec(row))) {
            Some(row) => row.iter().fold(none, add), // as most often
            None => slots.fold(none, |all, slot| add(all, self.get(slot))),
        }
    }

    /// Whether the groups of all these slots run, at `pc`.
    #[inline]
    pub fn all_run_at(&self, mut slots: impl Iterator<Item = u16>, pc: Pc) -> bool {
        let runs = |group: &Group| group.pc == pc && group.state == GroupState::Running;
        slots.all(|slot| runs(self.get(slot)))
    }

    /// Whether the groups of all these slots go on at `pc`.
    #[inline]
    pub fn all_at(&self, mut slots: impl Iterator<Item = u16>, pc: Pc) -> bool {
        slots.all(|slot| self.get(slot).pc == pc)
    }

    /// Moves a group to `pc`. The pipeline uses this for straight-line code.
    #[inline]
    pub fn set_pc(&mut self, slot: u16, pc: Pc) {
        self.slots[slot as usize].pc = pc;
    }

    /// Moves a group to `pc`; says whether that is where the model wants to hear of it.
    #[inline]
    pub fn advance(&mut self, slot: u16, pc: Pc) -> bool {
        let group = &mut self.slots[slot as usize];
        group.pc = pc;
        pc == group.watch
    }

    /// What the model wants to hear of next, for a group that goes on as it is.
    #[inline]
    pub fn set_watch(&mut self, slot: u16, watch: Pc) {
        self.slots[slot as usize].watch = watch;
    }

    /// Gives a running slot a new PC, watch and mask; the threads' homes stay.
    pub fn redirect(&mut self, slot: u16, pc: Pc, watch: Pc, mask: u32) {
        let group = &mut self.slots[slot as usize];
        (group.pc, group.watch, group.mask, group.state) = (pc, watch, mask, GroupState::Running);
        group.urgent = false;
        self.note(slot);
    }

    /// Starts a new group in a slot.
    pub fn start(&mut self, slot: u16, pc: Pc, watch: Pc, mask: u32, lanes: Lanes) {
        let group = Group {
            pc,
            watch,
            mask,
            lanes,
            state: GroupState::Running,
            fresh: true,
            urgent: false,
        };
        let before = std::mem::replace(&mut self.slots[slot as usize], group);
        self.recycle(before.lanes);
        self.note(slot);
    }

    /// Holds a slot.
    pub fn stop(&mut self, slot: u16) {
        self.slots[slot as usize].state = GroupState::Stopped;
        self.note(slot);
    }

    /// Takes the threads out of a slot that is or will be held: they are in none, or in others.
    pub fn vacate(&mut self, slot: u16) {
        self.slots[slot as usize].mask = 0;
    }

    /// Marks a slot's threads as done.
    pub fn finish(&mut self, slot: u16) {
        let group = &mut self.slots[slot as usize];
        (group.mask, group.state) = (0, GroupState::Finished);
        self.note(slot);
    }

    /// Empties a slot whose block has left.
    pub fn free(&mut self, slot: u16) {
        self.slots[slot as usize].state = GroupState::Free;
    }

    fn note(&mut self, slot: u16) {
        if !self.changed.contains(&slot) {
            self.changed.push(slot);
        }
    }

    /// Whether anything changed since the last [`take_changed`](Groups::take_changed).
    #[inline]
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Whether this slot alone has changed since the last [`take_changed`](Groups::take_changed); it is
    /// taken then.
    #[inline]
    pub fn take_only_change(&mut self, slot: u16) -> bool {
        let only = self.changed == [slot];
        if only {
            self.changed.clear();
        }
        only
    }

    /// Slots changed since the last call, moved into `out`.
    pub fn take_changed(&mut self, out: &mut Vec<u16>) {
        out.append(&mut self.changed);
    }
}

fn in_vec(row: Range<u16>) -> Range<usize> {
    row.start.into()..row.end.into()
}

/// A block that has come to an SM.
#[derive(Clone, Debug)]
pub struct BlockArrival {
    /// Its slot.
    pub block: u16,
    /// Its home warps.
    pub homes: Range<u16>,
    /// Where the warps of the SM sit.
    pub layout: Layout,
}

impl BlockArrival {
    /// Every slot of the block with its home warp and slice.
    pub fn slots(&self) -> impl Iterator<Item = (u16, u16, u16)> + '_ {
        let layout = self.layout;
        let slice = move |h: u16| (0..layout.slices()).map(move |s| (layout.slot_of(h, s), h, s));
        self.homes.clone().flat_map(slice)
    }
}

/// A conditional branch that has executed.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// The branch.
    pub pc: Pc,
    /// Where it goes when taken.
    pub target: Pc,
    /// Where its sides meet again, or [`NO_PC`].
    pub reconverge: Pc,
    /// Where they usually meet before that.
    pub likely: Likely,
    /// Proven to go one way for the whole block.
    pub uniform: bool,
    /// The program says that it goes one way for a warp (`bra.uni`), or has no condition for it.
    pub annotated: bool,
    /// Active lanes that take it.
    pub taken: u32,
}

/// A divergence model: decides which threads go together.
///
/// # Contract
///
/// The pipeline executes the instruction at a group's PC for the lanes of its mask and then
/// tells the model what happened; the model answers by changing [`Groups`]. For anything but a
/// branch, an exit or arrival at `watch` the pipeline moves the PC on by itself. A model may
/// move threads to another slot only once [`settled`](DivergenceModel::settled) has been called
/// for the slot they leave: results in flight belong to the slot that issued them. No thread
/// is lost or in two groups at once.
pub trait DivergenceModel: Send {
    /// A block has come: make groups of its threads, starting at instruction 0.
    fn launched(&mut self, block: &BlockArrival, threads: &Threads, groups: &mut Groups);

    /// A group has executed a branch.
    fn branch(&mut self, slot: u16, branch: &Branch, groups: &mut Groups);

    /// Whether it has to hear of branches that all lanes of a group take, or none. Else the pipeline may
    /// move the group's PC by itself.
    fn hears_agreed_branches(&self) -> bool {
        true
    }

    /// A group's PC has become its `watch`.
    fn arrived(&mut self, slot: u16, groups: &mut Groups);

    /// Lanes of a group have exited; the rest goes on at `next`.
    fn exited(&mut self, slot: u16, lanes: u32, next: Pc, groups: &mut Groups);

    /// A stopped slot has nothing in flight any more. May be called again while it stays
    /// stopped.
    fn settled(&mut self, slot: u16, groups: &mut Groups) {
        let _ = (slot, groups);
    }

    /// How many threads a group's arrival at a barrier stands for.
    fn barrier_threads(&self, slot: u16, group: &Group, threads: &Threads) -> u32;

    /// How many threads of the block in slot `block` a barrier without a thread count waits
    /// for, when it is not all that live.
    fn barrier_takers(&self, block: u16) -> Option<u32> {
        let _ = block;
        None
    }

    /// A block has left; its slots are free.
    fn left(&mut self, block: &BlockArrival) {
        let _ = block;
    }

    /// Cycle in which the model itself changes groups next; one that has passed means as soon
    /// as possible.
    fn next(&self) -> Cycle {
        Cycle::NEVER
    }

    /// Whether [`tick`](DivergenceModel::tick) does anything.
    fn ticks(&self) -> bool {
        false
    }

    /// Called in every cycle that is not skipped and at or behind
    /// [`next`](DivergenceModel::next), before issue.
    fn tick(&mut self, now: Cycle, groups: &mut Groups) {
        let _ = (now, groups);
    }

    /// Lanes of its home warp whose threads are in this slot alone, on a stack: while the group
    /// waits for others, those of them that are not in its mask cannot come.
    fn owns(&self, slot: u16) -> u32 {
        let _ = slot;
        0
    }

    /// Of the threads that are in this slot alone, those that go on at `pc` when their turn comes.
    fn waiting_at(&self, slot: u16, pc: Pc, groups: &Groups) -> u32 {
        let _ = (slot, pc, groups);
        0
    }

    /// The pool, of models whose warps belong to the SM rather than to a block.
    fn pool(&mut self) -> Option<&mut dyn pool::WarpPool> {
        None
    }

    /// Threads that the model keeps from going on, for reports.
    fn parked(&self, groups: &Groups) -> Vec<pool::Parked> {
        let _ = groups;
        Vec::new()
    }

    /// Adds what it holds for a slot, the path that runs first, for observers. Lanes are those of the
    /// slot; threads of its home warp that are elsewhere are on their own lanes.
    fn paths(&self, slot: u16, groups: &Groups, out: &mut Vec<Path>) {
        out.extend(Path::of(groups.get(slot)));
    }

    /// A launch begins: the deepest stack is that of this launch.
    fn begin(&mut self) {}

    /// Most entries of any stack in this launch, where there are stacks.
    fn deepest(&self) -> u32 {
        0
    }
}

/// A divergence model as it is registered. Its own file declares it.
#[derive(Clone, Copy)]
pub struct Model {
    /// Name, description, parameters.
    pub info: Info,
    /// Its warps are in a [pool](DivergenceModel::pool).
    pub pools: bool,
    /// Its warps keep the threads that they came with.
    pub keeps_threads: bool,
    /// Makes it for an SM of a machine with this many slots for static warps; models with a
    /// [pool](DivergenceModel::pool) have `pool::slots`.
    pub make: fn(&Values, &Machine, usize) -> Box<dyn DivergenceModel>,
}

/// Every divergence model.
pub const MODELS: &[Model] = &[
    pdom::MODEL,
    pdom_lcp::MODEL,
    tbc::MODEL,
    tbc::WITH_LIKELY_POINTS,
    dwf::MODEL,
    dwf::WITH_WARP_BARRIERS,
];

fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|m| m.info.name == name)
}

/// Whether a machine's warps are in a [pool](DivergenceModel::pool).
pub fn pools(machine: &Machine) -> bool {
    find(&machine.divergence.name).is_some_and(|m| m.pools)
}

/// Whether a machine's warps keep the threads that they came with.
pub fn keeps_threads(machine: &Machine) -> bool {
    find(&machine.divergence.name).is_some_and(|m| m.keeps_threads)
}

/// Whether threads wait where the sides of a branch meet until the rest of their static warp has come.
pub fn has_warp_barriers(machine: &Machine) -> bool {
    machine.divergence.name == dwf::WITH_WARP_BARRIERS.info.name
}

/// Hardware warps that an SM holds at most.
pub fn max_warps(machine: &Machine) -> u64 {
    if pools(machine) {
        return pool::slots(machine) as u64;
    }
    machine.sm.max_threads as u64 / machine.sm.warp_width as u64
}

/// Makes the model that a machine has chosen, with `slots` slots for static warps.
///
/// # Panics
///
/// When there is no such model: the machine has not been
/// [validated](warpsim_machine::check::validate::validate).
pub fn make(machine: &Machine, slots: usize) -> Box<dyn DivergenceModel> {
    let choice = &machine.divergence;
    let model = find(&choice.name).expect("the machine has been validated");
    (model.make)(&choice.values, machine, slots)
}
