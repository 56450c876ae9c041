//! A fetch unit's own small cache: what hits here needs no port of the instruction cache
//! (variable warp sizing, section 4.4).

/// Bytes of a line: eight instructions.
const LINE: u64 = 64;

/// Lines by their numbers, the one used last at the end.
#[derive(Debug)]
pub(super) struct L0 {
    lines: Vec<u64>,
    capacity: usize,
}

impl L0 {
    /// A cache of so many bytes, or none.
    pub fn new(bytes: u32) -> Option<L0> {
        let capacity = (bytes as u64 / LINE) as usize;
        (capacity != 0).then(|| L0 {
            lines: Vec::with_capacity(capacity),
            capacity,
        })
    }

    /// Whether the instruction at `addr` is here.
    pub fn has(&self, addr: u64) -> bool {
        self.lines.contains(&(addr / LINE))
    }

    /// Whether the instruction at `addr` is here; it has been used then.
    pub fn hit(&mut self, addr: u64) -> bool {
        let Some(at) = self.lines.iter().position(|&line| line == addr / LINE) else {
            return false;
        };
        self.lines[at..].rotate_left(1);
        true
    }

    /// The line of `addr` comes, in place of the one that has not been used for longest.
    pub fn fill(&mut self, addr: u64) {
        if self.hit(addr) {
            return;
        }
        if self.lines.len() == self.capacity {
            self.lines.remove(0);
        }
        self.lines.push(addr / LINE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays() {
        let mut l0 = L0::new(128).expect("two lines");
        l0.fill(0);
        l0.fill(64);
        assert!(l0.hit(8));
        l0.fill(128);
        assert!(l0.hit(0), "used since line 1 was");
        assert!(!l0.hit(64));
        assert!(l0.hit(191));
        assert!(L0::new(0).is_none());
    }
}
