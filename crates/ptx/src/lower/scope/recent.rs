//! Registers that were named before, by the name itself: a name is kept once for a file, so that the
//! same one again is the same place in the host's memory, and nothing has to be compared or hashed.

use crate::kernel::RegId;
use crate::name::Name;

/// Names that are remembered at once. One that falls on the place of another drives it out.
const PLACES: usize = 256;

/// The registers of some names.
#[derive(Debug, Default)]
pub(in crate::lower) struct Recent {
    /// Empty until something is remembered. A name that is held here keeps its place.
    list: Vec<Option<(Name, RegId)>>,
}

impl Recent {
    /// The register of a name, if it is remembered.
    #[inline]
    pub fn get(&self, name: &Name) -> Option<RegId> {
        let (held, register) = self.list.get(place(name))?.as_ref()?;
        held.is(name).then_some(*register)
    }

    /// Remembers the register of a name.
    pub fn remember(&mut self, name: &Name, register: RegId) {
        if self.list.is_empty() {
            self.list.resize(PLACES, None);
        }
        self.list[place(name)] = Some((name.clone(), register));
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.list.clear();
    }
}

/// Names lie close together, and not at every address.
#[inline]
fn place(name: &Name) -> usize {
    let address = name.address() >> 4;
    (address ^ address >> 8) % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_remembered_and_another_that_reads_the_same_is_not() {
        let (name, again) = (Name::from("%r1"), Name::from("%r1"));
        let mut recent = Recent::default();
        assert_eq!(recent.get(&name), None);
        recent.remember(&name, RegId(7));
        assert_eq!(recent.get(&name.clone()), Some(RegId(7)));
        assert_eq!(recent.get(&again), None);
        recent.forget();
        assert_eq!(recent.get(&name), None);
    }

    #[test]
    fn more_names_than_there_are_places_are_never_mistaken_for_each_other() {
        let names: Vec<Name> = (0..5000).map(|n| Name::from(format!("%r{n}"))).collect();
        let mut recent = Recent::default();
        for (n, name) in names.iter().enumerate() {
            recent.remember(name, RegId(n as u16));
        }
        let right = |(n, name): (usize, &Name)| recent.get(name).is_none_or(|r| r.0 == n as u16);
        assert!(names.iter().enumerate().all(right));
    }
}
