//! Next line: a warp that reads a line will read the next ones.

use super::{Access, Found, Prefetcher, Registered};
use warpsim_machine::mechanism::{Info, Integer, OneOf};

const DEGREE: Integer = Integer {
    name: "degree",
    low: 1,
    high: 32,
    default: 1,
    unit: "lines",
    description: "lines that are wanted at a time, one behind the other",
};

const DISTANCE: Integer = Integer {
    name: "distance",
    low: 1,
    high: 1024,
    default: 1,
    unit: "lines",
    description: "how far behind the line that was read the first of them is",
};

const ON: OneOf<On> = OneOf {
    name: "on",
    words: &["miss", "first-use", "load"],
    meanings: &[On::Miss, On::FirstUse, On::Load],
    description: "what it follows: misses; these and the first uses of lines that were prefetched, so that it stays \
        ahead of the warp that reads on; or every load",
};

#[derive(Clone, Copy, Debug)]
enum On {
    Miss,
    FirstUse,
    Load,
}

/// The prefetcher.
#[derive(Debug)]
struct NextLine {
    degree: u64,
    distance: u64,
    on: On,
}

impl Prefetcher for NextLine {
    fn looked_up(&mut self, access: &Access, wanted: &mut Vec<u64>) {
        let follows = match self.on {
            On::Miss => access.found == Found::Miss,
            On::FirstUse => access.found == Found::Miss || access.first_use,
            On::Load => true,
        };
        if follows {
            let lines = self.distance..self.distance + self.degree;
            wanted.extend(lines.filter_map(|lines| access.lines_behind(lines)));
        }
    }
}

/// As it is registered.
pub const PREFETCHER: Registered = Registered {
    info: Info {
        name: "next-line",
        description: "the lines behind one that was missing",
        parameters: &[&DEGREE, &DISTANCE, &ON],
    },
    make: |values| {
        Some(Box::new(NextLine {
            degree: values.get(&DEGREE).into(),
            distance: values.get(&DISTANCE).into(),
            on: values.get(&ON),
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::testing::{load, wants};
    use super::*;
    use warpsim_machine::mechanism::Values;

    fn made(set: &[(&str, toml::Value)]) -> Box<dyn Prefetcher> {
        let mut values = Values::default();
        for (name, value) in set {
            values.set(name, value.clone());
        }
        (PREFETCHER.make)(&values).expect("a prefetcher")
    }

    #[test]
    fn a_miss_wants_the_lines_behind_it() {
        let mut plain = made(&[]);
        assert_eq!(wants(&mut *plain, &load(0, 0, 256, Found::Miss)), [384]);
        assert_eq!(wants(&mut *plain, &load(0, 0, 300, Found::Miss)), [384]);
        assert!(wants(&mut *plain, &load(0, 0, 256, Found::Hit)).is_empty());
        assert!(wants(&mut *plain, &load(0, 0, 256, Found::Merged)).is_empty());
        let mut far = made(&[("degree", 2.into()), ("distance", 4.into())]);
        assert_eq!(wants(&mut *far, &load(0, 0, 0, Found::Miss)), [512, 640]);
        // Behind the last line there is none.
        assert!(wants(&mut *far, &load(0, 0, u64::MAX - 4, Found::Miss)).is_empty());
    }

    #[test]
    fn it_may_follow_first_uses_or_every_load() {
        let first_use = Access {
            first_use: true,
            ..load(0, 0, 256, Found::Hit)
        };
        let mut on = made(&[("on", "first-use".into())]);
        assert_eq!(wants(&mut *on, &first_use), [384]);
        assert!(wants(&mut *on, &load(0, 0, 256, Found::Hit)).is_empty());
        assert!(wants(&mut *made(&[]), &first_use).is_empty());
        let mut on = made(&[("on", "load".into())]);
        assert_eq!(wants(&mut *on, &load(0, 0, 256, Found::Merged)), [384]);
    }
}
