//! Things that are known by numbers while they are there. Numbers are used again.

/// The things.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    all: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered {
            all: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Numbered<T> {
    /// Adds one; its number.
    pub fn insert(&mut self, thing: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = Some(thing);
            return number;
        }
        self.all.push(Some(thing));
        self.all.len() as u32 - 1
    }

    pub fn get(&self, number: u32) -> &T {
        self.all[number as usize].as_ref().expect("it is there")
    }

    pub fn get_mut(&mut self, number: u32) -> &mut T {
        self.all[number as usize].as_mut().expect("it is there")
    }

    pub fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        self.all[number as usize].take().expect("it is there")
    }

    pub fn is_empty(&self) -> bool {
        self.free.len() == self.all.len()
    }
}
