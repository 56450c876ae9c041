//! Which part of a run a timeline shows.

use std::str::FromStr;
use warpsim_sim::time::Cycle;

/// What to record.
#[derive(Clone, Debug)]
pub struct Window {
    /// When.
    pub cycles: Cycles,
    /// Where.
    pub sms: Sms,
    /// At most this many slices and instants.
    pub events: u64,
}

/// Cycles from one (included) to another (not included).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    from: Cycle,
    to: Cycle,
}

impl Default for Cycles {
    fn default() -> Self {
        Cycles {
            from: Cycle::ZERO,
            to: Cycle::NEVER,
        }
    }
}

impl Cycles {
    /// Whether `cycle` is one of them.
    pub fn contains(self, cycle: Cycle) -> bool {
        (self.from..self.to).contains(&cycle)
    }

    /// The part of `from..to` that lies among them.
    pub fn clip(self, from: Cycle, to: Cycle) -> Option<(Cycle, Cycle)> {
        let (from, to) = (from.max(self.from), to.min(self.to));
        (from < to).then_some((from, to))
    }
}

impl FromStr for Cycles {
    type Err = String;

    fn from_str(text: &str) -> Result<Cycles, String> {
        let window: warpsim_view::Window = text.parse().map_err(|e| format!("{e}"))?;
        Ok(Cycles {
            from: Cycle::new(window.from),
            to: match window.to {
                u64::MAX => Cycle::NEVER,
                to => Cycle::new(to),
            },
        })
    }
}

/// SMs by number; all when none is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sms(Option<Vec<u16>>);

impl Sms {
    /// Whether `sm` is one of them.
    pub fn contains(&self, sm: u16) -> bool {
        self.0.as_ref().is_none_or(|list| list.contains(&sm))
    }

    /// The largest number named.
    pub fn largest(&self) -> Option<u16> {
        self.0.iter().flatten().copied().max()
    }
}

impl FromStr for Sms {
    type Err = String;

    fn from_str(text: &str) -> Result<Sms, String> {
        let mut list = Vec::new();
        for part in text.split(',') {
            let wrong = |_| format!("`{part}` is not an SM's number; write 0,1 or 0-3");
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u16 = first.trim().parse().map_err(wrong)?;
            let last: u16 = last.trim().parse().map_err(wrong)?;
            list.extend(first..=last);
        }
        if list.is_empty() {
            return Err(format!("`{text}` names no SM"));
        }
        Ok(Sms(Some(list)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_clip_slices() {
        let window: Cycles = "100..200".parse().expect("a window");
        assert!(window.contains(Cycle::new(100)) && !window.contains(Cycle::new(200)));
        let clip = |from, to| {
            let clipped = window.clip(Cycle::new(from), Cycle::new(to));
            clipped.map(|(from, to)| (from.get(), to.get()))
        };
        assert_eq!(clip(50, 120), Some((100, 120)));
        assert_eq!(clip(190, 500), Some((190, 200)));
        assert_eq!(clip(200, 500), None);
        let (from, to) = (Cycle::new(5), Cycle::NEVER);
        assert_eq!("5..".parse(), Ok(Cycles { from, to }));
        let (from, to) = (Cycle::ZERO, Cycle::new(5));
        assert_eq!("..5".parse(), Ok(Cycles { from, to }));
        for wrong in ["", "5", "7..7", "9..3", "a..b"] {
            assert!(wrong.parse::<Cycles>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sms_are_lists_and_ranges() {
        let sms: Sms = "0,4-6".parse().expect("a list");
        let chosen: Vec<u16> = (0..9).filter(|&sm| sms.contains(sm)).collect();
        assert_eq!(chosen, [0, 4, 5, 6]);
        assert_eq!(sms.largest(), Some(6));
        assert!(Sms::default().contains(77));
        for wrong in ["", "x", "3-1", "1,,2"] {
            assert!(wrong.parse::<Sms>().is_err(), "{wrong}");
        }
    }
}
