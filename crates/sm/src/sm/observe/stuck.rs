//! What each warp is doing and waiting for, in words: for runs that cannot go on.

use crate::place::Place;
use crate::sm::launch::Launched;
use crate::sm::residents::Residents;
use warpsim_ptx::kernel::Pc;

/// A warp of a run that does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckWarp {
    /// SM.
    pub sm: u16,
    /// Hardware warp.
    pub slot: u16,
    /// Block in the grid.
    pub block: [u32; 3],
    /// Warp of the block.
    pub warp: u16,
    /// The instruction it is at.
    pub pc: Pc,
    /// Where that stands.
    pub place: String,
    /// What it waits for.
    pub waits_for: String,
}

impl Residents {
    /// A warp for the report.
    pub(in crate::sm) fn stuck_warp(
        &self,
        sm: u16,
        slot: u16,
        home: u16,
        pc: Pc,
        waits_for: String,
        launched: &Launched,
    ) -> StuckWarp {
        let (block, warp) = self.name_of(home);
        StuckWarp {
            sm,
            slot,
            block: launched.grid.block_index(block),
            warp,
            pc,
            place: launched.kernel.origin(pc).to_string(),
            waits_for,
        }
    }

    /// What a warp that is not at a barrier waits for, in words; `memory` says what is under way
    /// in the load/store unit.
    pub(in crate::sm) fn describe_wait(
        &self,
        slot: u16,
        memory: &str,
        launched: &Launched,
    ) -> String {
        let Place { domain, index } = self.warps.place(slot);
        let d = self.warps.sets(domain as usize);
        let is = |set: u64| set >> index & 1 != 0;
        if is(d.fence()) {
            let stores = self.warps.warp(slot).stores;
            return format!("a fence, {stores} stores not acknowledged");
        }
        if is(d.atomic()) {
            return "an atomic to return".into();
        }
        if is(d.asleep()) {
            return "the end of its nanosleep".into();
        }
        if is(d.next_block()) {
            return "its next logical block (vtw.next_tb)".into();
        }
        if is(d.siblings()) {
            return "siblings in the iteration before its own (vtw.next_tb)".into();
        }
        let group = self.groups.get(slot);
        if is(d.members() | d.stopped())
            && let Some(awaited) = self.awaited_by(group.first_home(), group.mask, launched)
        {
            return awaited;
        }
        if is(d.stopped()) {
            return "its siblings, held by the divergence model".into();
        }
        if is(d.missing()) {
            return "an instruction-cache miss".into();
        }
        if is(d.head()) && !is(d.clear()) {
            let what = if is(d.wait_memory()) {
                "memory"
            } else {
                "an ALU or SFU"
            };
            let owed = self.warps.owed(slot, &launched.facts).into_iter();
            let names = &launched.kernel.registers;
            // One more than there are: what warps that are ahead of siblings wait for.
            let name = |r: usize| {
                names
                    .get(r)
                    .map_or("shared memory, still used by siblings", |r| &r.name)
            };
            let registers: Vec<&str> = owed.map(name).collect();
            return format!("{} owed by {what}; {memory}", registers.join(", "));
        }
        "its turn (running)".into()
    }
}
