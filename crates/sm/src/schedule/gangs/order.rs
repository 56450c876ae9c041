//! In which order gangs are chosen, and single warps in the slices.

use super::super::block_first::{Inside, Ties};
use super::super::gto::Gto;
use super::super::lrr::Lrr;
use super::super::mwf::{MostWaiting, Mwf};
use super::super::saws::{FirstArrival, Saws};
use super::super::{IssuePolicy, IssueView, Place};
use super::shapes::Shape;
use super::table::{Part, Table};
use std::cmp::Reverse;

/// The order of gangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Big gangs first, then greedy, then oldest.
    BigFirst,
    /// Greedy, then oldest.
    Greedy,
    /// Loose round robin.
    RoundRobin,
    /// Lowest PC first.
    LowestPc,
    /// Little gangs first, then greedy, then oldest.
    LittleFirst,
    /// Those of the block with most warps at a barrier first, then greedy, then oldest.
    MostWaiting,
    /// Those of the block that hit its barrier first, then greedy, then oldest.
    FirstArrival,
}

/// Chooses gangs.
#[derive(Debug)]
pub struct Chooser {
    order: Order,
    /// The gangs that issued in the last cycle in which any did, the first one first: home warp and
    /// id.
    recent: Vec<(u16, u64)>,
    /// Round robin: the place in turn behind the gang that issued last.
    turn: u32,
}

/// What gangs are ordered by: two things that depend on the order, then their age and first slice.
type Rank = (u64, u64, u64, u8);

/// The place of a gang in turn.
fn turn_of(home: u16, part: &Part) -> u32 {
    u32::from(home) * 8 + part.slices.trailing_zeros()
}

impl Chooser {
    pub fn new(order: Order) -> Chooser {
        Chooser {
            order,
            recent: Vec::new(),
            turn: 0,
        }
    }

    /// The first in order of the gangs that are all ready.
    pub fn first(&self, table: &Table, singles: &Singles, view: &IssueView) -> Option<(u16, Part)> {
        if self.order == Order::BigFirst
            && let Some(home) = self.first_whole(table, view)
        {
            return Some((home, table.get(home).parts[0]));
        }
        if self.order == Order::BigFirst && table.all_whole() {
            return None;
        }
        match self.order {
            Order::BigFirst => self.biggest(table, view),
            _ => self.lowest(table, singles, view),
        }
    }

    /// The gang with the lowest rank of those that are all ready.
    #[inline(never)]
    fn lowest(&self, table: &Table, singles: &Singles, view: &IssueView) -> Option<(u16, Part)> {
        let mut best: Option<(Rank, u16, Part)> = None;
        for shape in table.shapes.iter() {
            let mut ready = shape.all_in(|d| view.ready(d)) & !table.waiting[shape.first_domain()];
            while ready != 0 {
                let home = shape.home(ready.trailing_zeros());
                ready &= ready - 1;
                let part = table.part(home, shape.slices);
                let block = || {
                    let slice = part.slices.trailing_zeros() as u8;
                    singles.standing(table.place(home, slice))
                };
                let rank = self.rank(home, table.get(home).age, block, part);
                if best.as_ref().is_none_or(|(first, _, _)| rank < *first) {
                    best = Some((rank, home, *part));
                }
            }
        }
        best.map(|(_, home, part)| (home, part))
    }

    /// The first of the biggest gangs that are all ready.
    #[inline(never)]
    fn biggest(&self, table: &Table, view: &IssueView) -> Option<(u16, Part)> {
        let mut best: Option<((usize, u64, u32), u16, &Shape)> = None;
        // So many domains, most often, that the host need not check their numbers.
        let eight: Option<&[u64; 8]> = view.ready.try_into().ok();
        for shape in table.shapes.iter() {
            if best.is_some_and(|(_, _, its)| its.size() > shape.size()) {
                break;
            }
            let ready = match eight {
                Some(sets) => shape.all_in(|d| sets[d % 8]),
                None => shape.all_in(|d| view.ready(d)),
            };
            if ready == 0 {
                continue;
            }
            let Some((home, recent)) = self.first_of(shape, ready, table) else {
                continue;
            };
            let rank = (recent, table.get(home).age, shape.slices.trailing_zeros());
            let before = best.is_none_or(|(other, _, _)| rank < other);
            debug_assert!(best.is_none_or(|(_, other, its)| {
                let rank = |home: u16, shape: &Shape| {
                    let part = table.part(home, shape.slices);
                    self.rank(home, table.get(home).age, || 0, part)
                };
                (rank(home, shape) < rank(other, its)) == before
            }));
            if before {
                best = Some((rank, home, shape));
            }
        }
        best.map(|(_, home, shape)| (home, *table.part(home, shape.slices)))
    }

    /// The first of the gangs of a shape that are ready, by the indices of their home warps: one that
    /// issued in the last cycle in which any did, or the oldest. And how many had issued before it then, which is more
    /// than any for the oldest.
    #[inline]
    fn first_of(&self, shape: &Shape, ready: u64, table: &Table) -> Option<(u16, usize)> {
        if ready == 0 {
            return None;
        }
        let ready = ready & !table.waiting[shape.first_domain()];
        let again = |&(home, id): &(u16, u64)| {
            let there = |index: u8| ready >> index & 1 != 0;
            shape.index(home).is_some_and(there) && table.part(home, shape.slices).id == id
        };
        match self.recent.iter().position(again) {
            Some(at) => Some((self.recent[at].0, at)),
            None => Some((table.oldest(shape.scheduler(), ready)?, usize::MAX)),
        }
    }

    /// The first of the gangs that are all ready and have warps of all slices: no other is bigger,
    /// and none of them waits for siblings.
    fn first_whole(&self, table: &Table, view: &IssueView) -> Option<u16> {
        let schedulers = table.schedulers();
        if schedulers == 1 {
            return self.first_by_index(table, table.whole_in(0, view.ready));
        }
        let ready = |scheduler| table.whole_in(scheduler, view.ready);
        let again = |&&(home, id): &&(u16, u64)| {
            let is_ready = ready(home % schedulers) >> (home / schedulers) & 1 != 0;
            is_ready && table.get(home).parts[0].id == id
        };
        if let Some(&(home, _)) = self.recent.iter().find(again) {
            return Some(home);
        }
        let oldest = |scheduler| table.oldest(scheduler, ready(scheduler));
        let oldest = (0..schedulers).filter_map(oldest);
        oldest.min_by_key(|home| table.get(*home).age)
    }

    /// The first of these home warps, a bit each: one whose gang issued in the last cycle in which any did,
    /// or the oldest. Each is one gang, and every slice has one scheduler.
    #[inline]
    fn first_by_index(&self, table: &Table, homes: u64) -> Option<u16> {
        let again = |&&(home, id): &&(u16, u64)| {
            homes >> (home % 64) & 1 != 0 && table.get(home).parts[0].id == id
        };
        let recent = self.recent.iter().find(again).map(|(home, _)| *home);
        recent.or_else(|| table.oldest(0, homes))
    }

    /// The lowest goes first. Of equal gangs it is the one with the lowest slice. `block` says
    /// where its block stands.
    #[inline]
    fn rank(&self, home: u16, age: u64, block: impl Fn() -> u64, part: &Part) -> Rank {
        let greedy = || {
            let recent = self.recent.iter().position(|(_, id)| *id == part.id);
            recent.map_or(u64::MAX, |at| at as u64)
        };
        let size = u64::from(part.slices.count_ones());
        let turn = turn_of(home, part).wrapping_sub(self.turn);
        let slice = part.slices.trailing_zeros() as u8;
        let (first, second) = match self.order {
            Order::BigFirst => (8 - size, greedy()),
            Order::Greedy => (greedy(), 0),
            Order::RoundRobin => (u64::from(turn), 0),
            Order::LowestPc => (u64::from(part.pc), 0),
            Order::LittleFirst => (size, greedy()),
            Order::MostWaiting | Order::FirstArrival => (block(), greedy()),
        };
        (first, second, age, slice)
    }

    /// A gang issues; `first`: it is the first in this cycle.
    #[inline]
    pub fn issued(&mut self, home: u16, part: &Part, first: bool) {
        match &mut self.recent[..] {
            [one] if first => *one = (home, part.id), // as most often
            _ => {
                if first {
                    self.recent.clear();
                }
                self.recent.push((home, part.id));
            }
        }
        self.turn = turn_of(home, part) + 1;
    }
}

/// Chooses single warps, in each slice.
#[derive(Debug)]
pub enum Singles {
    /// Greedy, then oldest.
    Greedy(Gto),
    /// Loose round robin.
    RoundRobin(Lrr),
    /// Lowest PC first, then oldest.
    LowestPc(Gto),
    /// By how many warps of their block are at a barrier.
    MostWaiting(Mwf),
    /// By when the first warp of their block came to its barrier.
    FirstArrival(Saws),
}

impl Singles {
    /// The policy for single warps that goes with an order of gangs.
    pub fn new(order: Order, blocks: usize, domains: usize) -> Singles {
        let (inside, ties) = (Inside::Gto, Ties::Age);
        match order {
            Order::MostWaiting => {
                let count_exited = false;
                let ranking = MostWaiting { count_exited };
                Singles::MostWaiting(Mwf::new(ranking, inside, ties, blocks, domains))
            }
            Order::FirstArrival => {
                let saws = Saws::new(FirstArrival, inside, ties, blocks, domains);
                Singles::FirstArrival(saws)
            }
            Order::RoundRobin => Singles::RoundRobin(Lrr::new(domains)),
            Order::LowestPc => Singles::LowestPc(Gto::new(domains)),
            _ => Singles::Greedy(Gto::new(domains)),
        }
    }

    /// As a policy of its own: which warp a slice ranks first as far as it does not look at PCs.
    pub fn policy(&self) -> &dyn IssuePolicy {
        match self {
            Singles::Greedy(gto) | Singles::LowestPc(gto) => gto,
            Singles::RoundRobin(lrr) => lrr,
            Singles::MostWaiting(mwf) => mwf,
            Singles::FirstArrival(saws) => saws,
        }
    }

    /// The policy for single warps, to tell it something.
    pub fn policy_mut(&mut self) -> &mut dyn IssuePolicy {
        match self {
            Singles::Greedy(gto) | Singles::LowestPc(gto) => gto,
            Singles::RoundRobin(lrr) => lrr,
            Singles::MostWaiting(mwf) => mwf,
            Singles::FirstArrival(saws) => saws,
        }
    }

    /// Where the block of a warp stands, where blocks are ranked.
    fn standing(&self, place: Place) -> u64 {
        match self {
            Singles::MostWaiting(mwf) => mwf.standing(place),
            Singles::FirstArrival(saws) => saws.standing(place),
            _ => 0,
        }
    }

    /// A single warp issues.
    pub fn issued(&mut self, place: Place) {
        // The lowest PC is chosen without greed.
        if !matches!(self, Singles::LowestPc(_)) {
            self.policy_mut().issued(place);
        }
    }

    /// The warp that a slice takes among these.
    pub fn first(&self, domain: usize, among: u64, table: &Table, view: &IssueView) -> Option<u8> {
        let Singles::LowestPc(_) = self else {
            return self.policy().first(domain, among);
        };
        let those = (0..64u8).filter(|i| among >> i & 1 != 0);
        those.min_by_key(|&index| {
            let domain = domain as u8;
            let place = Place { domain, index };
            let age = table.get(table.home_of(place).0).age;
            (view.group(place).pc, age)
        })
    }
}

/// Single warps that slices have chosen: the oldest goes first, which is the last here.
pub fn oldest_last(chosen: &mut [(u64, Place)]) {
    chosen.sort_unstable_by_key(|&(age, place)| Reverse((age, place.domain)));
}
