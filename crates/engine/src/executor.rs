//! Running components through a window.

use crate::component::{Component, Place, Ran};
use crate::crew::{Crew, Patience};
use crate::sync::doze;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How components depend on each other, and the threads that run them.
pub struct Engine {
    /// By component.
    places: Vec<Place>,
    /// By thread.
    turns: Vec<Turns>,
    /// How far each component is.
    progress: Vec<Progress>,
    /// Cycles that a component runs at most before others are told of it.
    stride: u64,
    crew: Crew,
}

/// The components that a thread comes for, in this order.
struct Turns {
    at_home: Vec<usize>,
    /// Those that are at home elsewhere: what follows on its own comes first, so that threads do not all come for the same.
    elsewhere: Vec<usize>,
}

/// How often a thread looks for something to do at home before it looks elsewhere: what others have in their caches takes long to fetch.
const LOOKS_AT_HOME: u32 = 20;

impl Engine {
    /// An engine for components with these places, which runs each for `stride` cycles at most before it tells others, on this crew. Neighbours are at home on
    /// the same thread.
    pub fn new(places: Vec<Place>, stride: u64, crew: Crew) -> Engine {
        let threads = crew.size();
        let total = places.iter().map(|place| place.work).sum::<u64>().max(1);
        let mut before = 0;
        let mut home = |place: &Place| {
            let home = before * threads as u64 / total;
            before += place.work;
            (home as usize).min(threads - 1)
        };
        let homes: Vec<usize> = places.iter().map(&mut home).collect();
        let turns = |thread| {
            let is_at_home = |&number: &usize| homes[number] == thread;
            let (at_home, mut elsewhere): (Vec<_>, Vec<_>) = (0..homes.len()).partition(is_at_home);
            let first = homes.partition_point(|home| *home < thread);
            let behind = first.min(elsewhere.len());
            elsewhere.rotate_left(behind);
            Turns { at_home, elsewhere }
        };
        Engine {
            turns: (0..threads).map(turns).collect(),
            progress: places.iter().map(|_| Progress::default()).collect(),
            places,
            stride: stride.max(1),
            crew,
        }
    }

    /// Runs all components, in the order of their places, to a window's `end` and as far beyond it as each is to be ahead.
    /// Returns where the window has ended, which is earlier if a component has [ended](Ran::Ends) it.
    pub fn run<'a, W: Sync + ?Sized + 'a>(
        &mut self,
        components: impl IntoIterator<Item = &'a mut dyn Component<W>>,
        end: u64,
        world: &W,
    ) -> u64 {
        let mut seats = Vec::with_capacity(self.places.len());
        seats.extend(components.into_iter().map(Mutex::new));
        for (progress, component) in self.progress.iter_mut().zip(&mut seats) {
            if let Ok(component) = component.get_mut() {
                *progress = Progress::at(component.clock());
            }
        }
        let window = Window {
            seats,
            progress: &self.progress,
            places: &self.places,
            turns: &self.turns,
            stride: self.stride,
            end: AtomicU64::new(end),
            world,
        };
        self.crew.run(|thread| window.attend(thread));
        window.end()
    }
}

/// No component.
const NONE: usize = usize::MAX;

/// How far a component is. What one thread changes is in no line of the host's cache with what another does.
#[derive(Default)]
#[repr(align(128))]
struct Progress {
    clock: AtomicU64,
    /// The component that has to come as far before this one goes on. The thread that runs this one writes it.
    waits_on: AtomicUsize,
}

impl Progress {
    fn at(clock: u64) -> Progress {
        Progress {
            clock: AtomicU64::new(clock),
            waits_on: AtomicUsize::new(NONE),
        }
    }

    #[inline]
    fn clock(&self) -> u64 {
        self.clock.load(Ordering::Acquire)
    }
}

/// A window under way.
struct Window<'a, 'c, W: ?Sized> {
    /// The components, which several threads may come for.
    seats: Vec<Mutex<&'c mut dyn Component<W>>>,
    progress: &'a [Progress],
    places: &'a [Place],
    turns: &'a [Turns],
    stride: u64,
    end: AtomicU64,
    world: &'a W,
}

impl<W: Sync + ?Sized> Window<'_, '_, W> {
    #[inline]
    fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    #[inline]
    fn is_alone(&self) -> bool {
        self.turns.len() == 1
    }

    /// The cycle up to which a component may run from where it is, if it may: by the window's end, its inputs and how far the others have come.
    #[inline(always)] // for every component in every turn
    fn horizon(&self, number: usize) -> Option<u64> {
        let (progress, place) = (&self.progress[number], &self.places[number]);
        let at = progress.clock.load(Ordering::Relaxed);
        let mut to = (self.end() + place.ahead).min(at + self.stride);
        let on = progress.waits_on.load(Ordering::Relaxed);
        if to <= at || on != NONE && self.progress[on].clock() < at {
            return None;
        }
        for input in &place.inputs {
            to = to.min(self.progress[input.from].clock() + input.latency);
            if to <= at {
                return None;
            }
        }
        Some(to)
    }

    /// Runs a component for a while if it can run and no other thread runs it. Returns whether it has come any further.
    #[inline]
    fn run(&self, number: usize) -> bool {
        // Another thread may hold the lock: first it is looked whether there is anything to do.
        let Some(mut to) = self.horizon(number) else {
            return false;
        };
        let progress = &self.progress[number];
        let Ok(mut component) = self.seats[number].try_lock() else {
            return false;
        };
        if !self.is_alone() {
            // Another may have run it since.
            match self.horizon(number) {
                Some(now) => to = now,
                None => return false,
            }
        }
        let ran = component.run(to, self.world);
        let (before, at) = (progress.clock.load(Ordering::Relaxed), component.clock());
        debug_assert!((before..=to).contains(&at), "{before} <= {at} <= {to}");
        let on = match ran {
            Ran::Waits(on) => on,
            Ran::On | Ran::Ends => NONE,
        };
        if ran == Ran::Ends {
            self.end.fetch_min(at, Ordering::AcqRel);
        }
        let waited_on = progress.waits_on.load(Ordering::Relaxed);
        progress.waits_on.store(on, Ordering::Relaxed);
        progress.clock.store(at, Ordering::Release);
        at > before || on != waited_on
    }

    /// Runs what a thread can run until all have come to the end, or one has panicked.
    fn attend(&self, thread: usize) {
        let (mut patience, mut looks) = (Patience::default(), 0);
        let Turns { at_home, elsewhere } = &self.turns[thread];
        loop {
            let mut any = false;
            for number in at_home {
                any |= self.run(*number);
            }
            // A single thread needs no second look.
            if (!any || self.is_alone()) && self.has_ended() {
                return;
            }
            if !any {
                if self.has_failed() {
                    return;
                }
                assert!(
                    !self.is_alone(),
                    "no component can go on: {:?}",
                    self.clocks()
                );
                looks += 1;
                any = looks >= LOOKS_AT_HOME && elsewhere.iter().any(|number| self.run(*number));
            }
            if any {
                (patience, looks) = (Patience::default(), 0);
            } else if !patience.wait() {
                doze();
            }
        }
    }

    /// Whether all have come to the end.
    fn has_ended(&self) -> bool {
        let end = self.end();
        let mut all = self.progress.iter().zip(self.places);
        all.all(|(progress, place)| progress.clock() >= end + place.ahead)
    }

    /// Whether a component has panicked.
    fn has_failed(&self) -> bool {
        let mut seats = self.seats.iter();
        seats.any(Mutex::is_poisoned)
    }

    /// Of each component the clock and what it waits on.
    fn clocks(&self) -> Vec<(u64, usize)> {
        let all = self.progress.iter();
        all.map(|p| (p.clock(), p.waits_on.load(Ordering::Relaxed)))
            .collect()
    }
}
