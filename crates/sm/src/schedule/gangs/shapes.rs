//! Gangs by their shape, which is the slices that their warps are in. Home warps that fall apart
//! do so in the same few ways, so what holds for all warps of a gang is found for all gangs of a shape at
//! once, however many there are.

use crate::place::Place;

/// The gangs of one shape on one scheduler of each slice.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The slices, a bit each.
    pub slices: u8,
    /// Their home warps, by index: see [`home`](Shape::home).
    pub homes: u64,
    scheduler: u16,
    schedulers: u16,
}

impl Shape {
    /// Warps of such a gang.
    #[inline]
    pub fn size(&self) -> u32 {
        self.slices.count_ones()
    }

    /// The scheduler of its home warps, of so many that a slice has.
    #[inline]
    pub fn scheduler(&self) -> u16 {
        self.scheduler
    }

    /// The home warp at an index.
    #[inline]
    pub fn home(&self, index: u32) -> u16 {
        index as u16 * self.schedulers + self.scheduler
    }

    /// The index of a home warp, if it is on the same scheduler.
    #[inline]
    pub fn index(&self, home: u16) -> Option<u8> {
        let same = self.schedulers == 1 || home % self.schedulers == self.scheduler;
        same.then_some((home / self.schedulers) as u8)
    }

    /// The domain of its first slice.
    #[inline]
    pub fn first_domain(&self) -> usize {
        self.domain(self.slices.trailing_zeros())
    }

    #[inline]
    fn domain(&self, slice: u32) -> usize {
        slice as usize * self.schedulers as usize + self.scheduler as usize
    }

    /// Of its home warps, those whose gang is all in these sets, by domain.
    #[inline]
    pub fn all_in(&self, sets: impl Fn(usize) -> u64) -> u64 {
        let (mut those, mut left) = (self.homes, self.slices);
        while left != 0 && those != 0 {
            those &= sets(self.domain(left.trailing_zeros()));
            left &= left - 1;
        }
        those
    }
}

/// All gangs.
#[derive(Debug)]
pub struct Shapes {
    schedulers: u16,
    biggest_first: Vec<Shape>,
}

impl Shapes {
    /// None, with so many schedulers of each slice.
    pub fn new(schedulers: u16) -> Shapes {
        Shapes {
            schedulers,
            biggest_first: Vec::new(),
        }
    }

    /// The shapes that gangs have, the biggest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &Shape> {
        self.biggest_first.iter()
    }

    fn find(&self, place: Place, slices: u8) -> Option<usize> {
        let scheduler = u16::from(place.domain);
        let same = |shape: &Shape| shape.slices == slices && shape.scheduler == scheduler;
        self.biggest_first.iter().position(same)
    }

    /// There is a gang of these slices, of the home warp whose warp on the first slice sits here.
    pub fn add(&mut self, place: Place, slices: u8) {
        let at = self.find(place, slices).unwrap_or_else(|| {
            let shape = Shape {
                slices,
                homes: 0,
                scheduler: u16::from(place.domain),
                schedulers: self.schedulers,
            };
            let bigger = |other: &Shape| other.size() >= shape.size();
            let at = self.biggest_first.partition_point(bigger);
            self.biggest_first.insert(at, shape);
            at
        });
        self.biggest_first[at].homes |= 1 << place.index;
    }

    /// That gang is no more.
    pub fn remove(&mut self, place: Place, slices: u8) {
        if let Some(at) = self.find(place, slices) {
            let homes = &mut self.biggest_first[at].homes;
            *homes &= !(1 << place.index);
            if *homes == 0 {
                self.biggest_first.remove(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(scheduler: u8, index: u8) -> Place {
        Place {
            domain: scheduler,
            index,
        }
    }

    #[test]
    fn gangs_of_a_shape_are_looked_at_together_the_biggest_shapes_first() {
        let mut shapes = Shapes::new(2);
        shapes.add(home(1, 3), 0x0f);
        shapes.add(home(1, 5), 0x0f);
        shapes.add(home(0, 5), 0x0f);
        shapes.add(home(0, 2), 0xff);
        shapes.add(home(0, 4), 0x30);
        let all: Vec<_> = shapes.iter().map(|s| (s.slices, s.homes)).collect();
        let halves = [(0x0f, 1 << 3 | 1 << 5), (0x0f, 1 << 5)];
        assert_eq!(all, [(0xff, 1 << 2), halves[0], halves[1], (0x30, 1 << 4)]);

        let half = *shapes.iter().nth(1).unwrap();
        assert_eq!(
            (half.home(5), half.index(11), half.index(10)),
            (11, Some(5), None)
        );
        assert_eq!(half.first_domain(), 1);
        // That of index 3 has a warp in domain 5 that is not there.
        let ready = |d: usize| if d == 5 { 1 << 5 } else { !0 };
        assert_eq!(half.all_in(ready), 1 << 5);

        shapes.remove(home(0, 2), 0xff);
        assert_eq!(shapes.iter().next().unwrap().slices, 0x0f);
    }
}
