//! Warps of a domain by age, kept sorted as they come and go.

/// Indices of the warps of one domain, oldest first.
#[derive(Clone, Debug, Default)]
pub struct AgeOrder {
    oldest_first: Vec<u8>,
    /// Who is among them, a bit each.
    members: u64,
    age: Vec<u64>,
}

impl AgeOrder {
    /// Adds a warp; ages come in growing order, so it goes last.
    pub fn add(&mut self, index: u8, age: u64) {
        if self.age.len() <= index as usize {
            self.age.resize(index as usize + 1, 0);
        }
        self.age[index as usize] = age;
        let at = self
            .oldest_first
            .partition_point(|&i| self.age[i as usize] < age);
        self.oldest_first.insert(at, index);
        self.members |= 1 << index;
    }

    /// Removes a warp.
    pub fn remove(&mut self, index: u8) {
        self.oldest_first.retain(|&i| i != index);
        self.members &= !(1 << index);
    }

    /// The oldest of a set.
    #[inline]
    pub fn oldest(&self, among: u64) -> Option<u8> {
        let among = among & self.members;
        if among.is_power_of_two() {
            return Some(among.trailing_zeros() as u8);
        }
        self.oldest_first
            .iter()
            .copied()
            .find(|&i| among >> i & 1 != 0)
    }

    /// Whether `a` is older than `b`.
    #[inline]
    pub fn older(&self, a: u8, b: u8) -> bool {
        self.age[a as usize] < self.age[b as usize]
    }
}
