//! Going round over the warp slots of an SM (slot = index × domains + domain).

use crate::schedule::Place;

/// Where a round begins. The first eligible slot is taken, and the next round begins behind it.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    domains: u16,
    /// The slot to look at first.
    start: Place,
}

/// What has been found so far: how many times the scan comes past the last domain before the slot, and the
/// slot's domain. The least is the first, so that each domain is compared with those before it by one number.
#[derive(Clone, Copy, Debug)]
pub struct Found(u32);

impl Default for Found {
    /// Nothing.
    #[inline]
    fn default() -> Found {
        Found(u32::MAX)
    }
}

impl Round {
    /// One over this many domains. `behind_first`: as if the first slot had just been taken.
    pub fn new(domains: usize, behind_first: bool) -> Round {
        let start = Place {
            domain: 0,
            index: 0,
        };
        let mut round = Round {
            domains: domains as u16,
            start,
        };
        if behind_first {
            round.go_on_behind(start);
        }
        round
    }

    /// Looks at the eligible slots of a domain, too.
    #[inline(always)]
    pub fn look_at(&self, found: Found, domain: usize, eligible: u64) -> Found {
        if eligible == 0 {
            return found;
        }
        // The first index whose slot is at or after the start.
        let behind = u32::from(domain < self.start.domain as usize);
        let first = u32::from(self.start.index) + behind;
        let rounds = eligible.rotate_right(first).trailing_zeros() + behind;
        Found(found.0.min(rounds << 8 | domain as u32))
    }

    /// The slot that was found, if any.
    #[inline(always)]
    pub fn place_of(&self, found: Found) -> Option<Place> {
        let place = Place {
            domain: found.0 as u8,
            index: (u32::from(self.start.index) + (found.0 >> 8)) as u8 & 63,
        };
        (found.0 != u32::MAX).then_some(place)
    }

    /// Whether the scan comes past `place` before it finds `found` (`None`: it finds nothing).
    pub fn passes(&self, place: Place, found: Option<Place>) -> bool {
        found.is_none_or(|f| self.distance(place) < self.distance(f))
    }

    /// The next round begins behind a slot that was taken.
    #[inline(always)]
    pub fn go_on_behind(&mut self, place: Place) {
        self.start = place;
        self.start.domain += 1;
        if u16::from(self.start.domain) == self.domains {
            self.start.domain = 0;
            self.start.index = (self.start.index + 1) & 63;
        }
    }

    fn slot(&self, place: Place) -> u16 {
        place.index as u16 * self.domains + place.domain as u16
    }

    /// Distance from the start of the scan.
    fn distance(&self, place: Place) -> u16 {
        let slots = 64 * self.domains;
        let distance = self.slot(place) + slots - self.slot(self.start);
        if distance >= slots {
            distance - slots
        } else {
            distance
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(domain: u8, index: u8) -> Place {
        Place { domain, index }
    }

    #[test]
    fn the_scan_passes_what_lies_before_its_find() {
        let mut round = Round::new(2, false);
        round.go_on_behind(at(1, 1)); // slot 3
        assert!(round.passes(at(0, 2), Some(at(1, 2))));
        assert!(!round.passes(at(0, 0), Some(at(1, 2))));
        assert!(round.passes(at(0, 0), None));
    }

    /// From every start, what is found of any sets is the one at the least distance.
    #[test]
    fn what_is_found_is_what_the_scan_comes_to_first() {
        let mut random = 1u64;
        let mut draw = || {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1);
            random.rotate_left(31)
        };
        for domains in [1, 2, 3, 8] {
            for start in 0..64 * domains {
                let mut round = Round::new(domains, false);
                round.start = at((start % domains) as u8, (start / domains) as u8);
                let sets: Vec<u64> = (0..domains).map(|_| draw() & draw() & draw()).collect();
                // One slot alone, too, wherever it is.
                let one: Vec<u64> = (0..domains)
                    .map(|d| u64::from(d == 0) << (start % 64))
                    .collect();
                for sets in [sets, one] {
                    let all = (0..domains).flat_map(|d| (0..64).map(move |i| at(d as u8, i)));
                    let eligible = all.filter(|p| sets[p.domain as usize] >> p.index & 1 != 0);
                    let first = eligible.min_by_key(|p| round.distance(*p));
                    let found = sets
                        .iter()
                        .enumerate()
                        .fold(Found::default(), |found, (d, set)| {
                            round.look_at(found, d, *set)
                        });
                    assert_eq!(round.place_of(found), first);
                }
            }
        }
    }
}
