//! Policies that plan the issues of all schedulers, or slices, of an SM together.

use super::Place;
use crate::divergence::{Group, Groups};
use crate::place::{HomeSlots, Layout};
use crate::stats::SmCounters;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// Warps of one home warp that issue together: in lock step, the same instruction, each in another
/// slice. The first one leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    /// Where the home warp's warp in the first of the slices that are counted sits.
    base: Place,
    /// Domains from one slice to the next.
    step: u8,
    /// Which slices, counted from there, a bit each; not none.
    slices: u8,
}

impl Together {
    /// The warps on these slices (a bit each; not none) of the home warp whose warp in the first
    /// slice sits at `base`, on a machine with so many schedulers for each slice.
    #[inline]
    pub fn new(base: Place, schedulers: u8, slices: u8) -> Together {
        Together {
            base,
            step: schedulers,
            slices,
        }
    }

    /// A warp by itself.
    #[inline]
    pub fn alone(place: Place) -> Together {
        Together::new(place, 1, 1)
    }

    /// How many there are.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    #[inline]
    pub fn len(&self) -> usize {
        self.slices.count_ones() as usize
    }

    /// The first one.
    #[inline]
    pub fn leader(&self) -> Place {
        self.on(self.slices.trailing_zeros() as u8)
    }

    #[inline]
    fn on(&self, slice: u8) -> Place {
        Place {
            domain: self.base.domain + slice * self.step,
            index: self.base.index,
        }
    }

    /// Their slices, a bit each, counted from that of the home warp's first.
    #[inline]
    pub fn slices(&self) -> u8 {
        self.slices
    }

    /// Their index in their domains.
    #[inline]
    pub fn index(&self) -> u8 {
        self.base.index
    }

    /// Their domains, a bit each.
    #[inline]
    pub fn domains(&self) -> u64 {
        if self.step == 1 {
            return u64::from(self.slices) << self.base.domain;
        }
        self.iter().fold(0, |all, place| all | 1 << place.domain)
    }

    /// The ones on these slices, a bit each.
    #[inline]
    pub fn among(&self, slices: u8) -> Together {
        Together {
            slices: self.slices & slices,
            ..*self
        }
    }

    /// These and others, if the others are of the same home warp, on slices behind theirs.
    #[inline]
    pub fn with(&self, others: Together) -> Option<Together> {
        let same = (self.base, self.step) == (others.base, others.step);
        let behind = self.slices.leading_zeros() + others.slices.trailing_zeros() >= u8::BITS;
        (same && behind).then_some(Together {
            slices: self.slices | others.slices,
            ..*self
        })
    }

    /// Their slots, the first one first.
    #[inline]
    pub fn slots(&self, layout: Layout) -> HomeSlots {
        HomeSlots {
            first: layout.slot_at(self.base),
            step: self.step.into(),
            slices: self.slices,
        }
    }

    /// All of them, the first one first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Place> + Clone + use<> {
        let (all, mut left) = (*self, self.slices);
        std::iter::from_fn(move || {
            let slice = (left != 0).then(|| left.trailing_zeros() as u8)?;
            left &= left - 1;
            Some(all.on(slice))
        })
    }
}

/// What a plan may look at.
pub struct IssueView<'a> {
    /// The cycle.
    pub now: Cycle,
    /// Warps that can issue, by domain: none once the domain has had its turn.
    pub ready: &'a [u64],
    /// What the slots hold.
    pub groups: &'a Groups,
    /// Where warps sit.
    pub layout: Layout,
}

impl IssueView<'_> {
    /// The warps of a domain that can issue.
    #[inline]
    pub fn ready(&self, domain: usize) -> u64 {
        self.ready[domain]
    }

    /// Whether a warp can issue.
    pub fn is_ready(&self, place: Place) -> bool {
        self.ready(place.domain as usize) >> place.index & 1 != 0
    }

    /// The group at a place.
    #[inline]
    pub fn group(&self, place: Place) -> &Group {
        self.groups.get(self.layout.slot_at(place))
    }
}

/// What a plan may look at between issues.
pub struct GangView<'a> {
    /// The cycle.
    pub now: Cycle,
    /// What the slots hold.
    pub groups: &'a Groups,
    /// Where warps sit.
    pub layout: Layout,
    /// Whether the next instruction of a warp is not there or waits for data.
    pub waits_for_data: &'a dyn Fn(Place) -> bool,
    /// Whether a warp does not have its next instruction in its buffer.
    pub lacks_instruction: &'a dyn Fn(Place) -> bool,
    /// Whether a warp waits until other threads come to where it is: at a barrier or in a `.sync` operation.
    pub waits_for_threads: &'a dyn Fn(Place) -> bool,
}

impl GangView<'_> {
    /// The group at a place.
    #[inline]
    pub fn group(&self, place: Place) -> &Group {
        self.groups.get(self.layout.slot_at(place))
    }
}

/// What a plan sees of fetch.
pub struct FetchView<'a> {
    /// By scheduler of each slice: home warps, by index, of which a warp lacks its next instruction and may be
    /// fetched for.
    pub wanting: &'a [u64],
    /// By scheduler: home warps, by index, all of whose warps lack their next instruction and may be fetched for.
    pub in_all: &'a [u64],
    /// Of the home warp whose warp in the first slice sits here, the slices whose warps lack their next
    /// instruction, and the slices whose warps may be fetched for, a bit each.
    pub slices: &'a dyn Fn(Place) -> [u8; 2],
}

/// A policy that plans the issues of a cycle.
///
/// # Contract
///
/// In every cycle in which a warp may be ready, [`next`](IssuePlan::next) is called until it names
/// no warp, no warp is ready or all domains have issued; what it sees is renewed after each issue, so that it knows
/// the room that is left and the warps that a barrier has let go. A domain issues once per cycle.
/// Budgets, such as two gangs and then single warps where slices are idle, are the plan's own.
///
/// [`tick`](IssuePlan::tick) comes before the issues of every cycle that is not skipped. A plan that
/// would change something in a cycle that could be skipped, or in which nothing is issued or
/// fetched, says so by the policy's [`next`](super::IssuePolicy::next).
pub trait IssuePlan {
    /// The warps that issue next in this cycle; they are ready.
    fn next(&mut self, view: &IssueView) -> Option<Together>;

    /// The warps that were named last have issued. `at`: all go on there; else any of them may have gone
    /// anywhere, or exited. Says whether the plan wants to [`settle`](IssuePlan::settle) for that.
    fn went_on(&mut self, members: Together, at: Option<Pc>) -> bool {
        let _ = (members, at);
        true
    }

    /// The threads that these warps waited for, at a barrier or in a `.sync` operation, have come: they go on.
    fn let_go(&mut self, members: Together) {
        let _ = members;
    }

    /// Whether it wants to hear of warps that memory has [made ready](IssuePlan::made_ready).
    fn hears_memory(&self) -> bool {
        false
    }

    /// A launch begins. By PC: whether sides of a branch meet there.
    fn begin(&mut self, meeting_points: Vec<bool>) {
        let _ = meeting_points;
    }

    /// Memory has answered: the next instruction of the warp at `place` no longer waits for data.
    fn made_ready(&mut self, place: Place) {
        let _ = place;
    }

    /// A cycle begins. If the plan does nothing in it but count: counts, and says so; then
    /// [`tick`](IssuePlan::tick) does not come.
    fn rests(&mut self, now: Cycle, counters: &mut SmCounters) -> bool {
        let _ = (now, counters);
        false
    }

    /// A cycle begins. Says whether buffers are [to be cleared](IssuePlan::next_to_clear).
    fn tick(&mut self, view: &GangView, counters: &mut SmCounters) -> bool {
        let _ = (view, counters);
        false
    }

    /// The issues of a cycle are over, and warps stand where these have led them: comes if
    /// [`went_on`](IssuePlan::went_on) has asked for it.
    fn settle(&mut self, view: &GangView, counters: &mut SmCounters) {
        let _ = (view, counters);
    }

    /// A warp that goes together with others than when it was last named here, and the slices of
    /// all of these, a bit each: none if it has exited.
    fn next_regrouped(&mut self) -> Option<(Place, u8)> {
        None
    }

    /// A warp whose buffer is to be filled anew, since it issues with others from now on.
    fn next_to_clear(&mut self) -> Option<Place> {
        None
    }

    /// By domain: the warps that are fetched for together with others, and not by themselves. Empty
    /// for none.
    fn fetched_together(&self) -> &[u64] {
        &[]
    }

    /// How often per cycle several warps are fetched for together.
    fn fetches(&self) -> u32 {
        0
    }

    /// The warps that are fetched for together next. At least one lacks its instruction, and all that do may be fetched
    /// for.
    fn next_fetch(&mut self, view: &FetchView) -> Option<Together> {
        let _ = view;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(domain: u8) -> Place {
        Place { domain, index: 5 }
    }

    #[test]
    fn warps_that_go_together_are_those_of_their_slices_in_order() {
        let some = Together::new(place(1), 2, 0b1010_0100);
        let places: Vec<Place> = some.iter().collect();
        assert_eq!(places, [place(5), place(11), place(15)]);
        assert_eq!((some.leader(), some.len()), (place(5), 3));
        assert_eq!(
            (some.domains(), some.index()),
            (1 << 5 | 1 << 11 | 1 << 15, 5)
        );
        let layout = Layout::new(8, 2);
        let slots = places.iter().map(|place| layout.slot_at(*place));
        assert!(some.slots(layout).eq(slots));
        let near = Together::new(place(0), 1, 0b1010_0100);
        assert_eq!(near.domains(), 0b1010_0100);
        let more = Together::new(place(0), 1, 0b0010_0000);
        assert_eq!(more.with(near), None, "one of them is before it");
        let both = Together::new(place(0), 1, 0b0000_0011).with(near);
        assert_eq!(both, Some(Together::new(place(0), 1, 0b1010_0111)));
        assert_eq!(some.with(near), None, "of another home warp");
        let alone = Together::alone(place(6));
        assert_eq!(alone.domains(), 1 << 6);
        assert_eq!(alone.iter().collect::<Vec<_>>(), [place(6)]);
        assert_eq!((alone.leader(), alone.len()), (place(6), 1));
    }
}
