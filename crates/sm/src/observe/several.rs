//! Several observers at once.

use super::{Detail, Gate, Observer, Wants, WarpEvent};
use crate::stats::{EnergyCounters, MemoryCounters, SmCounters, Visit};
use crate::time::Cycle;
use std::io;
use warpsim_ptx::kernel::Kernel;

/// Tells all of them everything, in order, and samples as seldom as each of them wants.
pub struct Observers(Vec<Listener>);

/// One of them, with the samples that are not long enough for it yet.
struct Listener {
    observer: Box<dyn Observer>,
    pending: Option<Pending>,
}

#[derive(Default)]
struct Pending {
    from: Cycle,
    to: Cycle,
    spent: EnergyCounters,
    sm: SmCounters,
    memory: MemoryCounters,
}

impl Listener {
    fn tell(&mut self) {
        if let Some(p) = self.pending.take() {
            self.observer.sample(p.from, p.to, &p.spent);
            self.observer.counted(p.from, p.to, &p.sm, &p.memory);
        }
    }
}

impl Observers {
    /// One observer that stands for all of `list`, if there are any.
    pub fn of(mut list: Vec<Box<dyn Observer>>) -> Option<Box<dyn Observer>> {
        match list.len() {
            0 | 1 => list.pop(),
            _ => {
                let listener = |observer| Listener {
                    observer,
                    pending: None,
                };
                Some(Box::new(Observers(
                    list.into_iter().map(listener).collect(),
                )))
            }
        }
    }
}

impl Observers {
    fn wanting_details(&mut self, sm: u16) -> impl Iterator<Item = &mut Box<dyn Observer>> {
        let all = self.0.iter_mut().map(|listener| &mut listener.observer);
        all.filter(move |observer| observer.wants(sm) == Wants::Details)
    }
}

impl Observer for Observers {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        for listener in &mut self.0 {
            listener.observer.warp(cycle, sm, slot, event);
        }
    }

    fn wants(&self, sm: u16) -> Wants {
        let all = self.0.iter().map(|l| l.observer.wants(sm));
        all.max().unwrap_or_default()
    }

    fn detail(&mut self, cycle: Cycle, sm: u16, slot: u16, detail: Detail) {
        for observer in self.wanting_details(sm) {
            observer.detail(cycle, sm, slot, detail);
        }
    }

    fn lanes(&mut self, cycle: Cycle, sm: u16, pipe: u16, number: u16, gate: Gate) {
        for observer in self.wanting_details(sm) {
            observer.lanes(cycle, sm, pipe, number, gate);
        }
    }

    fn launched(&mut self, cycle: Cycle, kernel: &Kernel, files: &[(u32, String)]) {
        for listener in &mut self.0 {
            listener.observer.launched(cycle, kernel, files);
        }
    }

    fn ended(&mut self, cycle: Cycle) {
        for listener in &mut self.0 {
            listener.tell();
            listener.observer.ended(cycle);
        }
    }

    fn samples_every(&self) -> Option<u64> {
        let every = self.0.iter().filter_map(|l| l.observer.samples_every());
        every.min()
    }

    fn sample(&mut self, from: Cycle, to: Cycle, spent: &EnergyCounters) {
        for listener in &mut self.0 {
            if listener.observer.samples_every().is_none() {
                continue;
            }
            let pending = listener.pending.get_or_insert_with(|| Pending {
                from,
                ..Pending::default()
            });
            pending.to = to;
            pending.spent.add(spent);
        }
    }

    // Comes after the sample of the same cycles.
    fn counted(&mut self, _: Cycle, _: Cycle, sm: &SmCounters, memory: &MemoryCounters) {
        for listener in &mut self.0 {
            let Some(pending) = &mut listener.pending else {
                continue;
            };
            pending.sm.add(sm);
            pending.memory.add(memory);
            let wanted = listener.observer.samples_every().unwrap_or(0);
            if pending.to - pending.from >= wanted {
                listener.tell();
            }
        }
    }

    fn complete(&mut self) -> io::Result<Option<String>> {
        let mut notes = Vec::new();
        for listener in &mut self.0 {
            notes.extend(listener.observer.complete()?);
        }
        Ok((!notes.is_empty()).then(|| notes.join("\nnote: ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// What was heard: from, to, picojoules of DRAM, instructions.
    type Heard = Rc<RefCell<Vec<(u64, u64, u64, u64)>>>;

    struct Every(u64, Heard, u64);

    impl Observer for Every {
        fn warp(&mut self, _: Cycle, _: u16, _: u16, _: WarpEvent) {}

        fn samples_every(&self) -> Option<u64> {
            Some(self.0)
        }

        fn sample(&mut self, _: Cycle, _: Cycle, spent: &EnergyCounters) {
            self.2 = spent.dram;
        }

        fn counted(&mut self, from: Cycle, to: Cycle, sm: &SmCounters, _: &MemoryCounters) {
            let heard = (from.get(), to.get(), self.2, sm.warp_instructions);
            self.1.borrow_mut().push(heard);
        }
    }

    #[test]
    fn all_observers_hear_samples_as_seldom_as_asked_for() {
        let (often, seldom): (Heard, Heard) = Default::default();
        let mut all = Observers::of(vec![
            Box::new(Every(10, often.clone(), 0)),
            Box::new(Every(25, seldom.clone(), 0)),
        ])
        .expect("observers");
        assert_eq!(all.samples_every(), Some(10));
        let spent = EnergyCounters {
            dram: 1,
            ..EnergyCounters::default()
        };
        let sm = SmCounters {
            warp_instructions: 2,
            ..SmCounters::default()
        };
        for from in (0..50).step_by(10) {
            let (from, to) = (Cycle::new(from), Cycle::new(from + 10));
            all.sample(from, to, &spent);
            all.counted(from, to, &sm, &MemoryCounters::default());
        }
        all.ended(Cycle::new(50));
        assert_eq!(often.borrow().len(), 5);
        assert_eq!(*seldom.borrow(), [(0, 30, 3, 6), (30, 50, 2, 4)]);
    }

    /// How many details, and changes of lanes, were heard by one that wants this of SM 1 and nothing of others.
    struct Details(Wants, Rc<RefCell<[u64; 2]>>);

    impl Observer for Details {
        fn warp(&mut self, _: Cycle, _: u16, _: u16, _: WarpEvent) {}

        fn wants(&self, sm: u16) -> Wants {
            match sm {
                1 => self.0,
                _ => Wants::Nothing,
            }
        }

        fn detail(&mut self, _: Cycle, _: u16, _: u16, _: Detail) {
            self.1.borrow_mut()[0] += 1;
        }

        fn lanes(&mut self, _: Cycle, _: u16, _: u16, _: u16, _: Gate) {
            self.1.borrow_mut()[1] += 1;
        }
    }

    #[test]
    fn only_those_that_want_details_hear_of_them() {
        let heard = [(); 3].map(|()| Rc::new(RefCell::new([0u64; 2])));
        let of = |wants: [Wants; 3]| {
            let listeners = wants.into_iter().zip(&heard);
            let boxed = |(wants, heard): (Wants, &Rc<RefCell<[u64; 2]>>)| -> Box<dyn Observer> {
                Box::new(Details(wants, heard.clone()))
            };
            Observers::of(listeners.map(boxed).collect()).expect("observers")
        };
        assert_eq!(of([Wants::Nothing; 3]).wants(1), Wants::Nothing);
        let mut all = of([Wants::Details, Wants::Warps, Wants::Details]);
        assert_eq!(
            [0, 1].map(|sm| all.wants(sm)),
            [Wants::Nothing, Wants::Details]
        );
        for sm in [0, 1] {
            all.detail(Cycle::ZERO, sm, 0, Detail::Paths(&[]));
            all.lanes(Cycle::ZERO, sm, 0, 0, Gate::On);
        }
        assert_eq!(heard.map(|heard| heard.take()), [[1; 2], [0; 2], [1; 2]]);
    }
}
