//! Lines of the instruction cache that come: the warps that have waited for them take ports of their fetch units.

use super::Sm;
use crate::sm::launch::Launched;

impl Sm {
    /// Warps whose line has come take ports of their units before all others.
    pub(super) fn take_lines(&mut self, launched: &Launched) {
        if self.fetch.units.len() == 1 && !self.plans {
            while self.fetch.units[0].ports_left > 0
                && let Some(slot) = self.fetch.cache.next_ready()
            {
                self.line_has_come(slot, launched);
            }
            return;
        }
        while let Some(slot) = self.fetch.cache.next_ready() {
            self.fetch.arrived.push(slot);
        }
        for slot in std::mem::take(&mut self.fetch.arrived) {
            if self.is_for_gang(slot) {
                if !self.gang_line_has_come(slot) {
                    self.fetch.arrived.push(slot);
                }
                continue;
            }
            let unit = self.fetch.unit_of(self.layout.place_of(slot).domain);
            match self.fetch.units[unit].ports_left {
                0 => self.fetch.arrived.push(slot),
                _ => self.line_has_come(slot, launched),
            }
        }
    }

    /// The line that a warp waited for has come: it is fetched now.
    fn line_has_come(&mut self, slot: u16, launched: &Launched) {
        let number = self.fetch.unit_of(self.layout.place_of(slot).domain);
        let warp = &mut self.warps[usize::from(slot)];
        self.fetch.units[number].ports_left -= 1;
        if std::mem::take(&mut warp.missing) {
            let pc = warp.fetch_pc;
            self.take_fetched(number, slot, pc, launched);
        }
    }
}
