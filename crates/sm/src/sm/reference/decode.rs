//! Decode: what fetch has brought in the last cycle goes into the instruction buffers of the warps.

use super::Sm;
use crate::sm::launch::Launched;
use warpsim_ptx::kernel::Pc;

impl Sm {
    /// The decode stage of a cycle.
    pub(super) fn decode(&mut self, launched: &Launched) {
        for number in 0..self.fetch.units.len() {
            for (slot, pc) in std::mem::take(&mut self.fetch.units[number].fetched) {
                self.decode_for(slot, pc, launched);
            }
        }
        for (slot, pc) in std::mem::take(&mut self.gang_fetch.fetched) {
            self.decode_for(slot, pc, launched);
        }
    }

    /// Puts the instructions from `pc` on into a warp's buffer, if that is still what it waits for: it may have gone
    /// elsewhere meanwhile.
    fn decode_for(&mut self, slot: u16, pc: Pc, launched: &Launched) {
        let fetch = &self.machine.fetch;
        let next = self.groups.get(slot).pc;
        let warp = &mut self.warps[usize::from(slot)];
        warp.fetching = false;
        if !warp.is_running() || warp.fetch_pc != pc {
            return;
        }
        let (code, end) = (&launched.facts, launched.facts.len() as Pc);
        let mut count = fetch.width.min(fetch.buffer - warp.buffer.len() as u32);
        if fetch.wait_for_branch {
            // Fetch stops behind a branch until that has left the pipeline.
            let ahead = code[pc as usize..].iter().take(count as usize);
            if let Some(at) = ahead.map(|facts| facts.control).position(|control| control) {
                count = at as u32 + 1;
                warp.unresolved = true;
            }
        }
        warp.fill(pc, count, end);
        if warp.buffer.is_empty() {
            warp.flush(next); // a wrong path has run off the end of the code
        }
        warp.look_at_head(next);
    }

    /// A branch has left the pipeline: fetch goes on where it has led.
    pub(super) fn resolve(&mut self, slot: u16) {
        let pc = self.groups.get(slot).pc;
        let warp = &mut self.warps[usize::from(slot)];
        warp.unresolved = false;
        if warp.head() != Some(pc) {
            warp.flush(pc);
        }
    }
}
