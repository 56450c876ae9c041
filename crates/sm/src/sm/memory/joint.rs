//! Stores that several warps made in one access: all of these warps wait for its acknowledgements,
//! before a fence and before they leave.

use crate::sm::fixed_list::FixedList;

/// The warps that a store is for.
pub type Storers = FixedList<u16, 8>;

/// A store that is under way.
#[derive(Clone, Copy, Debug, Default)]
struct Joint {
    storers: Storers,
    /// Acknowledgements to come.
    left: u32,
}

/// All that are under way.
#[derive(Debug, Default)]
pub struct JointStores {
    stores: Vec<Joint>,
    free: Vec<u32>,
}

impl JointStores {
    /// One begins; so many acknowledgements will come. Returns its number.
    pub fn open(&mut self, storers: Storers, acknowledgements: u32) -> u32 {
        let store = Joint {
            storers,
            left: acknowledgements,
        };
        if let Some(number) = self.free.pop() {
            self.stores[number as usize] = store;
            return number;
        }
        self.stores.push(store);
        self.stores.len() as u32 - 1
    }

    /// The warps that wait for it.
    pub fn storers(&self, number: u32) -> &Storers {
        &self.stores[number as usize].storers
    }

    /// An acknowledgement has come.
    pub fn acknowledged(&mut self, number: u32) {
        let store = &mut self.stores[number as usize];
        store.left -= 1;
        if store.left == 0 {
            self.free.push(number);
        }
    }

    /// The store did not go out.
    pub fn take_back(&mut self, number: u32) {
        self.free.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_free_again_with_the_last_acknowledgement() {
        let mut stores = JointStores::default();
        let mut storers = Storers::default();
        storers.push(3);
        storers.push(11);
        let first = stores.open(storers, 2);
        let second = stores.open(storers, 1);
        assert_ne!(first, second);
        stores.acknowledged(first);
        assert_eq!(stores.storers(first)[..], [3, 11]);
        assert_eq!(stores.open(storers, 1), 2, "it still waits for one");
        stores.acknowledged(first);
        assert_eq!(stores.open(storers, 1), first);
    }
}
