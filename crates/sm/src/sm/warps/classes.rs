//! A partition of domains into classes. All domains of a class have equal warp states. The first domain of a class is its
//! leader: its state is kept, and it is the state of all. A domain without equal is a class of one. The warps of a
//! home warp are partitioned in the same way, by the domains that they sit in.

use crate::place::each;

/// Classes of up to `N` domains.
#[derive(Clone, Debug)]
pub(super) struct Classes<const N: usize> {
    /// By domain: the leader of its class.
    leader: [u8; N],
    /// By leader: its class, a bit for each domain; none by others.
    members: [u64; N],
    /// All leaders, and all domains.
    leaders: u64,
    all: u64,
    /// There are several domains, in one class.
    one: bool,
}

impl<const N: usize> Classes<N> {
    /// So many domains, each by itself.
    pub fn new(count: usize) -> Classes<N> {
        let all = !0 >> (64 - count.clamp(1, N));
        Classes {
            leader: std::array::from_fn(|d| d as u8),
            members: std::array::from_fn(|d| 1 << d),
            leaders: all,
            all,
            one: false,
        }
    }

    /// Whether any class has several domains.
    #[inline]
    pub fn any(&self) -> bool {
        self.leaders != self.all
    }

    /// Whether there are several domains, in one class.
    #[inline]
    pub fn is_one(&self) -> bool {
        self.one
    }

    /// The leaders, a bit each.
    #[inline]
    pub fn leaders(&self) -> u64 {
        self.leaders
    }

    /// All domains, a bit each.
    #[inline]
    pub fn all(&self) -> u64 {
        self.all
    }

    /// The leader of a domain's class.
    #[inline]
    pub fn leader_of(&self, domain: usize) -> usize {
        self.leader[domain % N] as usize
    }

    /// The class of a leader, itself included, a bit for each domain; none for a domain that leads no class.
    #[inline]
    pub fn members(&self, leader: usize) -> u64 {
        self.members[leader % N]
    }

    /// Whether a leader is alone in its class.
    #[inline]
    pub fn is_alone(&self, leader: usize) -> bool {
        self.members(leader).is_power_of_two()
    }

    /// A class is cut in two: these of its domains, and the others. Returns the leader of the part that
    /// does not have its old one.
    pub fn split(&mut self, leader: usize, off: u64) -> usize {
        let class = self.members(leader);
        debug_assert!(off & class == off && off != 0 && off != class);
        let goes = match off >> leader & 1 {
            0 => off,
            _ => class & !off,
        };
        let second = goes.trailing_zeros() as usize;
        self.members[leader % N] = class & !goes;
        self.members[second % N] = goes;
        self.leaders |= 1 << second;
        self.one = false;
        each(goes).for_each(|d| self.leader[d % N] = second as u8);
        second
    }

    /// The class of leader `second` joins that of leader `first`, which comes before it.
    pub fn merge(&mut self, first: usize, second: usize) {
        debug_assert!(first < second);
        let joins = self.members(second);
        self.members[first % N] |= joins;
        self.members[second % N] = 0;
        self.leaders &= !(1 << second);
        self.one = self.leaders == 1;
        each(joins).for_each(|d| self.leader[d % N] = first as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_class_leads_it_whichever_leaves() {
        let mut classes = Classes::<8>::new(8);
        assert!(!classes.any() && !classes.is_one());
        (1..8).for_each(|d| classes.merge(0, d));
        assert!(classes.is_one());
        assert_eq!((classes.leader_of(5), classes.members(0)), (0, 0xff));
        assert_eq!(classes.members(5), 0);
        assert_eq!(
            classes.split(0, 0b0000_0111),
            3,
            "the others have a new one"
        );
        assert_eq!((classes.members(0), classes.members(3)), (0b111, 0xf8));
        assert_eq!(classes.split(3, 0b0110_0000), 5);
        assert_eq!(classes.leader_of(7), 3);
        assert_eq!(classes.leaders(), 0b0010_1001);
        classes.merge(0, 5);
        assert_eq!((classes.leader_of(6), classes.members(0)), (0, 0b0110_0111));
        assert!(classes.any() && !classes.is_one());
    }

    #[test]
    fn one_domain_alone_stands_for_no_other() {
        let classes = Classes::<64>::new(1);
        assert!(!classes.any() && !classes.is_one() && classes.is_alone(0));
    }
}
