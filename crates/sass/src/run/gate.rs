//! Barriers of a block. Threads are counted, whatever warps and groups they come in.

use warpsim_exec::state::LANES;

/// A barrier of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    /// Threads that have come, waiting or not.
    arrived: u32,
    /// Threads that are expected; all where none were named.
    expected: Option<u32>,
}

impl Gate {
    /// Threads have come: `lanes` of a warp of which `live` live. A warp that comes as a whole counts as a whole where
    /// so many threads are named.
    pub fn arrive(&mut self, lanes: u32, live: u32, expected: Option<u32>) {
        self.expected = expected;
        self.arrived += match expected {
            Some(_) if lanes == live => LANES as u32,
            _ => lanes.count_ones(),
        };
    }

    /// Whether all have come, of so many that live in the block: then it begins anew.
    pub fn opens(&mut self, live: u32) -> bool {
        let opens = self.arrived > 0 && self.arrived >= self.expected.unwrap_or(live);
        if opens {
            *self = Gate::default();
        }
        opens
    }
}

#[cfg(test)]
mod tests {
    use super::Gate;

    #[test]
    fn it_opens_when_all_have_come() {
        let mut gate = Gate::default();
        assert!(!gate.opens(0), "nobody has come");
        gate.arrive(0xff, 0xffff, None);
        assert!(!gate.opens(16));
        // The others have exited meanwhile.
        assert!(gate.opens(8));
        gate.arrive(0xff, 0xff, Some(64));
        assert!(!gate.opens(8));
        gate.arrive(u32::MAX, u32::MAX, Some(64));
        assert!(gate.opens(8) && !gate.opens(8));
    }
}
