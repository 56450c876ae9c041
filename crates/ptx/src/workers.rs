//! Work on many pieces of a large file, by as many threads as there are cores.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// What `work` makes of the numbers below `count`, in order, or `None` as soon as it makes nothing of
/// one. Each thread has what `tools` gives it for all its work.
pub(crate) fn side_by_side<Tools, Made: Send>(
    count: usize,
    tools: impl Fn() -> Tools + Sync,
    work: impl Fn(&mut Tools, usize) -> Option<Made> + Sync,
) -> Option<Vec<Made>> {
    // Asking for their number means reading files.
    let cores = match count {
        0 | 1 => 1,
        _ => thread::available_parallelism().map_or(1, usize::from),
    };
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let worker = || {
        let mut tools = tools();
        let mut made = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            match work(&mut tools, number) {
                Some(one) => made.push((number, one)),
                None => failed.store(true, Ordering::Relaxed),
            }
        }
        made
    };
    let mut all = thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(count))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, worker).ok())
            .collect();
        let mut all = worker();
        for other in others {
            match other.join() {
                Ok(made) => all.extend(made),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(number, _)| *number);
    (!failed.load(Ordering::Relaxed)).then(|| all.into_iter().map(|(_, one)| one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_tools_are_kept() {
        let tools = AtomicUsize::new(0);
        let made = side_by_side(
            1000,
            || tools.fetch_add(1, Ordering::Relaxed),
            |_, number| Some(number * 2),
        );
        assert_eq!(made, Some((0..1000).map(|n| n * 2).collect()));
        assert!(tools.into_inner() <= thread::available_parallelism().map_or(1, usize::from));
    }

    #[test]
    fn one_failure_is_all_it_takes() {
        let made = side_by_side(1000, || (), |(), number| (number != 700).then_some(number));
        assert_eq!(made, None);
        assert_eq!(
            side_by_side(0, || (), |(), number| Some(number)),
            Some(vec![])
        );
    }
}
