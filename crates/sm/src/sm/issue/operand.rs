//! Constants and kernel parameters as operands of instructions, as in a native instruction set (`sm.constant_operands`).
//!
//! PTX loads them first. A load from an address that the instruction names, so that it is the same for all threads, is
//! then no load: the warp that has issued it has the value, and the next instruction can read it in the next cycle. A line
//! that is not in the constant cache comes through the load/store unit, and is waited for as that of any load.

use super::{Issue, Surroundings};
use crate::exec::state::{EffectKind, LANES};
use crate::place::Layout;
use crate::schedule::Together;
use crate::sm::memory::{self, Owner};
use crate::sm::residents::Residents;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

impl Issue {
    /// Warps have executed such an instruction, on these lanes together.
    #[inline(never)]
    pub(super) fn read_operand(
        &mut self,
        members: Together,
        pc: Pc,
        lanes: u32,
        now: Cycle,
        with: &mut Surroundings,
    ) {
        let launched = with.view.launched;
        if lanes != 0 && matches!(self.effect.kind, EffectKind::Access(_)) {
            // All threads name one address; the effect may be that of one of the warps.
            let lane = self.effect.executed.trailing_zeros() as usize % LANES;
            self.effect.address = [self.effect.address[lane]; LANES];
            self.effect.executed = lanes;
            if !with.memory.has_constants(&self.effect, launched) {
                return self.ask_for_line(members, pc, now, with);
            }
            with.residents.books.stats.counters.constant_accesses += 1;
        }
        let slots = with.residents.warps.slots_of(members);
        with.units.have_result(now + 1, slots, pc);
    }

    /// The line is asked for as by a load of these warps. It has no operands to wait for, and enters the load/store unit
    /// as soon as that takes another.
    fn ask_for_line(&self, members: Together, pc: Pc, now: Cycle, with: &mut Surroundings) {
        let Residents {
            warps,
            groups,
            threads,
            books,
            ..
        } = &mut *with.residents;
        let executed = self.effect.executed;
        let owner = |slot: u16| Owner {
            slot,
            pc,
            lanes: match members.len() {
                1 => executed,
                _ => executed & lanes_of(warps.place(slot).domain, warps.layout()),
            },
            pending: 0,
        };
        let owners: Vec<Owner> = warps.slots_of(members).map(owner).collect();
        let first = warps.slot_at(members.leader());
        let executed = memory::Executed {
            pc,
            effect: &self.effect,
            owners: &owners,
            shapes: &[],
            lanes: &groups.get(first).lanes,
            threads,
            launched: with.view.launched,
        };
        let op = with.memory.open(&executed, &mut books.stats.counters);
        if books.watch.is_on() {
            books.watch.tell(now, first, with.memory.asked(op));
        }
        with.memory.await_line(op, now);
    }
}

/// The lanes of the slice that a domain belongs to.
fn lanes_of(domain: u8, layout: Layout) -> u32 {
    let width = LANES as u32 / u32::from(layout.slices());
    let slice = u32::from(domain) / u32::from(layout.schedulers());
    (u32::MAX >> (32 - width)) << (slice * width)
}
