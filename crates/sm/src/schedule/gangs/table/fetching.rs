//! For which gang is fetched next.

use super::super::super::FetchView;
use super::{Part, Table};
use crate::place::each;

impl Table {
    /// Of the gangs that lack their instruction and may be fetched for, the first behind the one of home warp
    /// `last`: its home warp and the slices that lack it.
    pub fn next_wanting(&self, view: &FetchView, last: u16) -> Option<(u16, u8)> {
        if self.schedulers == 1 {
            let those = view.wanting[0] & self.gangs[0];
            if those == 0 {
                return None;
            }
            let behind = those & (!1u64 << (last % 64));
            let first = if behind == 0 { those } else { behind };
            let home = first.trailing_zeros();
            if (view.in_all[0] & self.whole[0]) >> home & 1 != 0 {
                return Some((home as u16, self.slices)); // as most often
            }
            return self.next_part_wanting(behind, those & !behind, view);
        }
        let homes = |first: u16| {
            let home = move |index: usize| index as u16 * self.schedulers + first;
            each(view.wanting[first as usize]).map(home)
        };
        let mut next: Option<((bool, u16), u8)> = None;
        for home in (0..self.schedulers).flat_map(homes) {
            let turn = (home <= last, home);
            if next.is_none_or(|(first, _)| turn < first)
                && let Some(slices) = self.wanting(home, view)
            {
                next = Some((turn, slices));
            }
        }
        next.map(|((_, home), slices)| (home, slices))
    }

    /// The next part that wants to be fetched for among the home warps `first`, else among `then`.
    #[inline(never)]
    fn next_part_wanting(&self, first: u64, then: u64, view: &FetchView) -> Option<(u16, u8)> {
        for homes in [first, then] {
            for home in each(homes) {
                if let Some(slices) = self.wanting(home as u16, view) {
                    return Some((home as u16, slices));
                }
            }
        }
        None
    }

    /// The slices of the first gang of a home warp with warps that lack their instruction, if all of
    /// these may be fetched for.
    #[inline]
    pub fn wanting(&self, home: u16, view: &FetchView) -> Option<u8> {
        let [lacking, fetchable] = (view.slices)(self.place(home, 0));
        let wants = |part: &&Part| {
            let lacks = part.slices & lacking;
            part.is_gang() && lacks != 0 && lacks & !fetchable == 0
        };
        let part = self.get(home).parts.iter().find(wants);
        part.map(|part| part.slices & lacking)
    }
}
