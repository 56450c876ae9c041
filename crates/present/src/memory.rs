//! The host's memory, where it is a user's number that says how much is asked for.

use std::cell::Cell;

thread_local! {
    /// The code that asks for memory now can do without it.
    static TRYING: Cell<bool> = const { Cell::new(false) };
}

/// Makes room for so many more elements; false where the host does not have it.
pub fn try_reserve<T>(list: &mut Vec<T>, more: usize) -> bool {
    TRYING.set(true);
    let done = list.try_reserve_exact(more).is_ok();
    TRYING.set(false);
    done
}

/// Whether a request that fails now is an answer that the caller waits for. Other callers cannot go on without
/// what they ask for, and the program that they are a part of may want to say so and end.
pub fn is_trying() -> bool {
    TRYING.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_said() {
        let mut list: Vec<u64> = Vec::new();
        assert!(!try_reserve(&mut list, usize::MAX / 16));
        assert!(try_reserve(&mut list, 100) && list.capacity() >= 100);
        assert!(!is_trying());
    }
}
