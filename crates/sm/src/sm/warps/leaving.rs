//! Warps of a home warp that leave: their threads exit, fetch notices that they have finished, and their block
//! leaves. The change is made once for each class of equal domains, as in [`gangs`](super::gangs).

use super::WarpTable;
use crate::place::each;
use crate::schedule::Together;
use crate::sm::observe::Books;
use std::ops::Range;
use warpsim_ptx::kernel::Pc;

impl WarpTable {
    /// All threads of a gang have exited, at `pc`, if the first warp stands for all of it; else says that it does not.
    /// What they have in flight, the exit too, is yet to come.
    pub fn finish_gang(&mut self, gang: Together, pc: Pc, books: &mut Books) -> bool {
        let Some(slot) = self.kept_as_one(gang).filter(|_| !self.in_step) else {
            return false;
        };
        let buffer = &mut self.warps[slot as usize].buffer;
        let fetched_on = buffer.head().is_some();
        buffer.flush(pc);
        for leader in self.classes_of(gang) {
            self.touch_class(leader, books);
            self.domains[leader].finish(gang.index(), fetched_on);
        }
        true
    }

    /// Of the finished warps at `index` in these domains, a bit each, fetch is to notice the ones that have nothing in
    /// flight and no store on its way.
    #[inline(never)]
    pub fn check_leaving_in(&mut self, domains: u64, index: u8) {
        let unnoticed = domains & !self.having(index, |domain| domain.retired);
        let settled = |d: &usize| self.is_settled(self.slot_in(*d, index));
        let those = each(unnoticed)
            .filter(settled)
            .fold(0, |all, d| all | 1 << d);
        if those == 0 {
            return;
        }
        self.isolate(those);
        for leader in each(those & self.classes.leaders()) {
            self.domains[leader].leaving |= 1 << index;
        }
        (self.stirred.fetch, self.stirred.join) = (true, true);
    }

    /// The domains, a bit each, whose warp at `index` has finished.
    pub fn finished_at(&self, index: u8) -> u64 {
        self.having(index, |domain| domain.finished)
    }

    /// Fetch notices all warps at `index` that have finished, where all domains are [touched](Self::touch_all). Returns their
    /// domains, a bit each.
    pub fn retire_those(&mut self, index: u8) -> u64 {
        let those = self.having(index, |domain| domain.leaving);
        for leader in each(those & self.classes.leaders()) {
            let domain = &mut self.domains[leader];
            domain.leaving &= !(1 << index);
            domain.retired |= 1 << index;
        }
        those
    }

    /// The warps of these home warps have left, if any stand for others and every slice has one scheduler; says whether.
    pub fn clear_rows(&mut self, homes: &Range<u16>, books: &mut Books) -> bool {
        if !self.classes.any() || self.in_step || self.layout.schedulers() != 1 {
            return false;
        }
        self.touch_all(books);
        for leader in each(self.classes.leaders()) {
            let alike = self.members(leader).count_ones();
            let domain = &mut self.domains[leader];
            let before = domain.resident.count_ones();
            for index in homes.clone() {
                domain.clear_warp(index as u8);
            }
            let left = before - domain.resident.count_ones();
            self.residency.ends(left * alike, domain.accounted);
        }
        true
    }
}
