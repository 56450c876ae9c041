//! Runs side by side: workers take the longest run that is left, the caller stores what they
//! bring back.

use crate::error::StudyError;
use crate::plan::{Plan, Run};
use crate::results::record::Record;
use crate::results::store::{Store, Stored};
use crate::running::execute::{WORKER, execute, keep_workers_panics};
use crate::running::queue::Queue;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Who is told how far a study is.
pub trait Watch {
    /// So many runs are needed, so many of them are there already.
    fn begin(&mut self, _total: usize, _reused: usize, _jobs: usize) {}
    /// A run has begun.
    fn started(&mut self, _run: &Run) {}
    /// A run has ended.
    fn finished(&mut self, _run: &Run, _record: &Record) {}
    /// Some time has passed; so much is left, as far as is known.
    fn tick(&mut self, _left: Option<Duration>) {}
    /// Something else is being done.
    fn note(&mut self, _text: &str) {}
    /// Nothing is left to do.
    fn end(&mut self) {}
    /// How many letters fit in a line of what the results are shown on, if there is a limit.
    fn width(&self) -> Option<usize> {
        None
    }
}

/// Shows nothing.
pub struct Silent;
impl Watch for Silent {}

/// Runs what the store does not have of those that are `wanted`. Returns what came of these, by
/// the numbers of the plan's runs.
pub fn run(
    plan: &Plan,
    wanted: &[bool],
    store: &Store,
    jobs: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<Option<Record>>, StudyError> {
    let mut damaged = Vec::new();
    let mut records: Vec<Option<Record>> = Vec::new();
    for (run, wanted) in plan.runs.iter().zip(wanted) {
        if !wanted {
            records.push(None);
            continue;
        }
        let stored = store.get(&run.key);
        if let Stored::Damaged(kept) = &stored {
            damaged.push(kept.clone());
        }
        records.push(stored.whole());
    }
    if let [first, rest @ ..] = &damaged[..] {
        let more = match rest.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        watch.note(&format!(
            "{} of the stored results {} not as written, and run again; kept as {}{more}",
            damaged.len(),
            if rest.is_empty() { "is" } else { "are" },
            first.display()
        ));
    }
    let mut queue = Queue::default();
    for (index, (run, record)) in plan.runs.iter().zip(&records).enumerate() {
        match record {
            Some(record) => queue.learn(run, record.seconds),
            None if wanted[index] => queue.pending.push((index, run.clone())),
            None => {}
        }
    }
    queue.cores = jobs;
    let jobs = jobs.clamp(1, queue.pending.len().max(1));
    let total = wanted.iter().filter(|w| **w).count();
    watch.begin(total, total - queue.pending.len(), jobs);
    let result = work(&mut records, Mutex::new(queue), store, jobs, watch, plan);
    watch.end();
    result?;
    Ok(records)
}

enum Message {
    Started(usize),
    Finished(usize, Box<Record>),
}

/// Does something for each of `items`, on so many threads, and returns the results in order.
pub fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, StudyError> {
    keep_workers_panics();
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            let take = || {
                while let Some(item) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    items.get(index).map(|item| (index, item))
                } {
                    let result = work(item.1);
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.push((item.0, result));
                }
            };
            spawn(scope, take)?;
        }
        Ok::<_, StudyError>(())
    })?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, r)| r).collect())
}

fn spawn<'s, 'e: 's>(
    scope: &'s std::thread::Scope<'s, 'e>,
    work: impl FnOnce() + Send + 's,
) -> Result<(), StudyError> {
    let thread = std::thread::Builder::new().name(WORKER.into());
    let spawned = thread.spawn_scoped(scope, work);
    spawned
        .map(|_| ())
        .map_err(|e| StudyError::bad_input(format!("cannot start a thread: {e}")))
}

fn work(
    records: &mut [Option<Record>],
    queue: Mutex<Queue>,
    store: &Store,
    jobs: usize,
    watch: &mut dyn Watch,
    plan: &Plan,
) -> Result<(), StudyError> {
    keep_workers_panics();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..jobs {
            let sender = sender.clone();
            let queue = &queue;
            spawn(scope, move || worker_loop(queue, &sender))?;
        }
        drop(sender);
        let mut failure = Ok(());
        loop {
            match receiver.recv_timeout(Duration::from_millis(250)) {
                Ok(Message::Started(index)) => watch.started(&plan.runs[index]),
                Ok(Message::Finished(index, record)) => {
                    if let Err(e) = store.put(&record)
                        && failure.is_ok()
                    {
                        failure = Err(e);
                        lock(&queue).pending.clear();
                    }
                    watch.finished(&plan.runs[index], &record);
                    records[index] = Some(*record);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return failure,
            }
            let left = lock(&queue).left(jobs);
            watch.tick(left);
        }
    })
}

fn worker_loop(queue: &Mutex<Queue>, sender: &Sender<Message>) {
    loop {
        // Not in the condition of the loop: the lock would be held while the run goes on.
        let (next, threads) = {
            let mut queue = lock(queue);
            (queue.next(), queue.threads())
        };
        let Some((index, run)) = next else {
            return;
        };
        // The receiver lives as long as the workers.
        let _ = sender.send(Message::Started(index));
        let record = execute(&run, threads);
        lock(queue).ended(&run, record.seconds);
        let _ = sender.send(Message::Finished(index, Box::new(record)));
    }
}

/// Nothing here can be left half done by a panic: the queue is whole after each change.
fn lock(queue: &Mutex<Queue>) -> std::sync::MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..50).collect();
        let squares = side_by_side(&items, 4, |n| n * n).expect("threads");
        assert!(squares.iter().zip(&items).all(|(s, n)| *s == n * n));
        assert!(
            side_by_side(&[0u8; 0], 4, |n| *n)
                .expect("threads")
                .is_empty()
        );
    }
}
