//! Running components through a window.

use crate::component::{Component, Input, NONE, Part, Ran};
use crate::crew::{Crew, Patience};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How components depend on each other, and how they are run.
pub struct Engine {
    /// By component.
    inputs: Vec<Vec<Input>>,
    /// Cycles that a component runs at most before others are told of it.
    stride: u64,
    /// By component: the thread where it is at home.
    homes: Vec<usize>,
    crew: Option<Crew>,
}

/// How often a thread looks for something to do at home before it looks elsewhere: what others have in their caches takes long to fetch.
const LOOKS_AT_HOME: u32 = 20;

impl Engine {
    /// An engine for components with these inputs, which runs each for `stride` cycles at most before it tells others.
    pub fn new(inputs: Vec<Vec<Input>>, stride: u64) -> Engine {
        Engine {
            homes: vec![0; inputs.len()],
            inputs,
            stride: stride.max(1),
            crew: None,
        }
    }

    /// Lets a crew run the components, of which each takes about so much work: neighbours are at home on the same thread.
    pub fn on(mut self, crew: Crew, work: &[u64]) -> Engine {
        let (total, mut before) = (work.iter().sum::<u64>().max(1), 0);
        for (home, work) in self.homes.iter_mut().zip(work) {
            *home = (before * crew.size() as u64 / total) as usize;
            before += work;
        }
        self.crew = Some(crew);
        self
    }

    /// The threads that it runs components on, if there are several.
    pub fn crew(&mut self) -> Option<&mut Crew> {
        self.crew.as_mut()
    }

    /// Runs all parts, in the order in which the engine knows their inputs, to a window's `end` and as far beyond it as each is to be ahead.
    /// Returns where the window has ended, which is earlier if a component has [ended](Ran::Ends) it.
    pub fn run<W: Sync + ?Sized>(&mut self, parts: &mut [Part<W>], end: u64, world: &W) -> u64 {
        match self.crew.as_mut().filter(|crew| !crew.is_alone()) {
            None => run_in_turn(parts, &self.inputs, self.stride, end, world),
            Some(crew) => {
                let window = Window::new(parts, &self.inputs, &self.homes, self.stride, end, world);
                let waited = Mutex::new(Duration::ZERO);
                crew.run(|thread| {
                    let time = window.attend(thread);
                    if let (0, Ok(mut waited)) = (thread, waited.lock()) {
                        *waited = time;
                    }
                });
                crew.waited(waited.into_inner().unwrap_or_else(PoisonError::into_inner));
                window.end()
            }
        }
    }
}

/// The cycle up to which a component may run that has come to cycle `at` and is to come to `end`, by its inputs and how far the others have come; no
/// later than `at` if it may not.
#[inline(always)]
fn horizon(at: u64, end: u64, stride: u64, inputs: &[Input], clock: impl Fn(usize) -> u64) -> u64 {
    let to = end.min(at + stride);
    let arrives = inputs.iter().map(|input| clock(input.from) + input.latency);
    arrives.fold(to, u64::min)
}

/// Runs all components in turn, on the caller's thread.
fn run_in_turn<W: ?Sized>(
    parts: &mut [Part<W>],
    inputs: &[Vec<Input>],
    stride: u64,
    mut end: u64,
    world: &W,
) -> u64 {
    loop {
        let (mut any, mut left) = (false, false);
        for number in 0..parts.len() {
            let Part {
                clock: at,
                ahead,
                waits_on,
                ..
            } = parts[number];
            if at >= end + ahead {
                continue;
            }
            if waits_on != NONE && parts[waits_on].clock < at {
                left = true;
                continue;
            }
            let to = horizon(at, end + ahead, stride, &inputs[number], |from| {
                parts[from].clock
            });
            if to <= at {
                left = true;
                continue;
            }
            let part = &mut parts[number];
            let ran = part.component.run(to, world);
            if let Ran::Ends { at } = ran {
                end = end.min(at);
            }
            let before = (at, waits_on);
            (part.clock, part.waits_on) = ran.place();
            any |= (part.clock, part.waits_on) != before;
            left |= part.clock < end + ahead;
        }
        if !left {
            return end;
        }
        let describe = || parts.iter().map(|part| (part.clock, part.waits_on));
        assert!(
            any,
            "no component can go on: {:?}",
            describe().collect::<Vec<_>>()
        );
    }
}

/// A component that several threads may come for. What one thread changes is in no line of the host's cache with what another does.
#[repr(align(128))]
struct Seat<'a, W: ?Sized> {
    clock: AtomicU64,
    /// The component that has to come as far before this one goes on.
    waits_on: AtomicUsize,
    ahead: u64,
    component: Mutex<&'a mut dyn Component<W>>,
}

impl<W: ?Sized> Seat<'_, W> {
    #[inline]
    fn clock(&self) -> u64 {
        self.clock.load(Ordering::Acquire)
    }
}

/// A window under way on several threads.
struct Window<'a, W: ?Sized> {
    seats: Vec<Seat<'a, W>>,
    inputs: &'a [Vec<Input>],
    homes: &'a [usize],
    stride: u64,
    end: AtomicU64,
    has_panicked: AtomicBool,
    world: &'a W,
}

impl<'a, W: Sync + ?Sized> Window<'a, W> {
    fn new(
        parts: &'a mut [Part<W>],
        inputs: &'a [Vec<Input>],
        homes: &'a [usize],
        stride: u64,
        end: u64,
        world: &'a W,
    ) -> Window<'a, W> {
        let seats = parts.iter_mut().map(|part| Seat {
            clock: AtomicU64::new(part.clock),
            waits_on: AtomicUsize::new(part.waits_on),
            ahead: part.ahead,
            component: Mutex::new(&mut *part.component),
        });
        Window {
            seats: seats.collect(),
            inputs,
            homes,
            stride,
            end: AtomicU64::new(end),
            has_panicked: AtomicBool::new(false),
            world,
        }
    }

    #[inline]
    fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// The cycle up to which a component may run from where it is, if it may.
    #[inline]
    fn horizon(&self, number: usize) -> Option<u64> {
        let seat = &self.seats[number];
        let at = seat.clock.load(Ordering::Relaxed);
        let on = seat.waits_on.load(Ordering::Relaxed);
        if on != NONE && self.seats[on].clock() < at {
            return None;
        }
        let end = self.end() + seat.ahead;
        let clock = |from: usize| self.seats[from].clock();
        let to = horizon(at, end, self.stride, &self.inputs[number], clock);
        (to > at).then_some(to)
    }

    /// Runs a component for a while if it can run and no other thread runs it. Returns whether it has come any further.
    #[inline]
    fn run(&self, number: usize) -> bool {
        let seat = &self.seats[number];
        let Ok(mut component) = seat.component.try_lock() else {
            return false;
        };
        // What is asked again under the lock is as of the last run.
        let Some(to) = self.horizon(number) else {
            return false;
        };
        let before = seat.clock.load(Ordering::Relaxed);
        let ran = component.run(to, self.world);
        if let Ran::Ends { at } = ran {
            self.end.fetch_min(at, Ordering::AcqRel);
        }
        let (at, on) = ran.place();
        debug_assert!((before..=to).contains(&at), "{before} <= {at} <= {to}");
        let waited_on = seat.waits_on.swap(on, Ordering::Relaxed);
        seat.clock.store(at, Ordering::Release);
        at > before || on != waited_on
    }

    fn is_done(&self, number: usize) -> bool {
        self.seats[number].clock() >= self.end() + self.seats[number].ahead
    }

    /// Runs what a thread can run until all is done. Returns for how long it has waited.
    fn attend(&self, thread: usize) -> Duration {
        let _guard = PanicGuard(&self.has_panicked);
        let (mut waited, mut since) = (Duration::ZERO, None);
        let (mut patience, mut looks) = (Patience::default(), 0);
        let at_home = |&number: &usize| self.homes[number] == thread;
        let own: Vec<usize> = (0..self.seats.len()).filter(at_home).collect();
        loop {
            let mut any = false;
            for &number in &own {
                any |= self.horizon(number).is_some() && self.run(number);
            }
            if !any {
                let over = (0..self.seats.len()).all(|number| self.is_done(number));
                if over || self.has_panicked.load(Ordering::Relaxed) {
                    break;
                }
                looks += 1;
                any = looks >= LOOKS_AT_HOME && self.help(thread);
            }
            if any {
                waited += since
                    .take()
                    .map_or(Duration::ZERO, |at: Instant| at.elapsed());
                (patience, looks) = (Patience::default(), 0);
            } else {
                if thread == 0 {
                    since.get_or_insert_with(Instant::now);
                }
                patience.wait();
            }
        }
        waited + since.map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// Runs a component that is at home elsewhere and can run.
    fn help(&self, thread: usize) -> bool {
        let others = (0..self.seats.len()).map(|i| (i + thread) % self.seats.len());
        let mut others = others.filter(|&number| self.homes[number] != thread);
        others.any(|number| self.horizon(number).is_some() && self.run(number))
    }
}

/// Lets other threads go when one panics.
struct PanicGuard<'a>(&'a AtomicBool);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
