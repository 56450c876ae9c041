//! Issue policies written in Python, with the contract of those in Rust.
//!
//! Every call takes the interpreter's lock and runs Python: a hundred times slower than a policy in
//! Rust, and good for trying an idea.

use crate::watch::Raised;
use pyo3::prelude::*;
use pyo3::types::PyType;
use warpsim_sim::schedule::{self, IssuePolicy};
use warpsim_sim::time::Cycle;

/// Where a warp sits: its scheduler ("domain"), and its index there.
#[pyclass(frozen, eq, hash, get_all, skip_from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// Scheduler of the SM.
    domain: u8,
    /// Index among its warps.
    index: u8,
}

#[pymethods]
impl Place {
    #[new]
    fn new(domain: u8, index: u8) -> Place {
        Place { domain, index }
    }

    fn __repr__(&self) -> String {
        format!("Place(domain={}, index={})", self.domain, self.index)
    }
}

impl From<schedule::Place> for Place {
    fn from(place: schedule::Place) -> Place {
        Place {
            domain: place.domain,
            index: place.index,
        }
    }
}

/// What a class overrides: the rest is not called.
#[derive(Clone, Copy, Default)]
struct Hooks {
    launched: bool,
    finished: bool,
    issued: bool,
    first: bool,
    waits: bool,
    released: bool,
    advance: bool,
    next: bool,
    tick: bool,
}

impl Hooks {
    fn of(class: &Bound<'_, PyType>) -> PyResult<Hooks> {
        let base = class
            .py()
            .import("warpsim._scheduler")?
            .getattr("Scheduler")?;
        let overrides = |name: &str| -> PyResult<bool> {
            let (own, theirs) = (class.getattr(name)?, base.getattr(name)?);
            Ok(!own.is(&theirs))
        };
        Ok(Hooks {
            launched: overrides("launched")?,
            finished: overrides("finished")?,
            issued: overrides("issued")?,
            first: overrides("first")?,
            waits: overrides("waits")?,
            released: overrides("released")?,
            advance: overrides("advance")?,
            next: overrides("next")?,
            tick: overrides("tick")?,
        })
    }
}

/// A class whose instances schedule, one per SM.
pub struct Class {
    class: Py<PyType>,
    hooks: Hooks,
}

impl Class {
    /// A subclass of `warpsim.Scheduler`.
    pub fn new(class: &Bound<'_, PyType>) -> PyResult<Class> {
        Ok(Class {
            hooks: Hooks::of(class)?,
            class: class.clone().unbind(),
        })
    }

    /// A policy for an SM with this many schedulers. One that cannot be made is none: the exception is
    /// kept, and the run ends before it begins.
    pub fn policy(&self, domains: usize, raised: &Raised) -> Box<dyn IssuePolicy> {
        let object = Python::attach(|py| self.class.call1(py, (domains,)));
        let object = object.map_err(|e| raised.keep(e)).ok();
        Box::new(PythonPolicy {
            object,
            hooks: self.hooks,
            raised: raised.clone(),
        })
    }
}

struct PythonPolicy {
    object: Option<Py<PyAny>>,
    hooks: Hooks,
    raised: Raised,
}

impl PythonPolicy {
    /// Calls a method. After an exception nothing is called any more: the run is about to end.
    fn call<R>(
        &self,
        call: impl for<'py> FnOnce(Python<'py>, &Bound<'py, PyAny>) -> PyResult<R>,
    ) -> Option<R> {
        let object = self.object.as_ref().filter(|_| !self.raised.any())?;
        let result = Python::attach(|py| call(py, object.bind(py)));
        result.map_err(|e| self.raised.keep(e)).ok()
    }

    fn tell(&self, wanted: bool, name: &str, arguments: impl Tell) {
        if wanted {
            self.call(|_, object| arguments.tell(object, name));
        }
    }
}

/// Arguments of a hook.
trait Tell {
    fn tell(self, object: &Bound<'_, PyAny>, name: &str) -> PyResult<()>;
}

macro_rules! tell {
    ($($part:ident $kind:ident),+) => {
        impl<$($kind: for<'py> IntoPyObject<'py>),+> Tell for ($($kind,)+) {
            fn tell(self, object: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
                let ($($part,)+) = self;
                object.call_method1(name, ($($part,)+))?;
                Ok(())
            }
        }
    };
}
tell!(a A);
tell!(a A, b B);
tell!(a A, b B, c C);

impl IssuePolicy for PythonPolicy {
    fn launched(&mut self, place: schedule::Place, age: u64, block: u16) {
        self.tell(
            self.hooks.launched,
            "launched",
            (Place::from(place), age, block),
        );
    }

    fn finished(&mut self, place: schedule::Place) {
        self.tell(self.hooks.finished, "finished", (Place::from(place),));
    }

    fn issued(&mut self, place: schedule::Place) {
        self.tell(self.hooks.issued, "issued", (Place::from(place),));
    }

    fn before(&self, domain: usize, a: u8, b: u8) -> bool {
        let before = self.call(|_, object| {
            let answer = object.call_method1("before", (domain, a, b))?;
            answer.is_truthy()
        });
        before.unwrap_or(a < b)
    }

    fn first(&self, domain: usize, among: u64) -> Option<u8> {
        if among == 0 {
            return None;
        }
        let warps: Vec<u8> = (0..64).filter(|i| among >> i & 1 == 1).collect();
        if let [only] = warps[..] {
            return Some(only);
        }
        let chosen = if self.hooks.first {
            self.call(|py, object| {
                let answer = object.call_method1("first", (domain, warps.clone()))?;
                let chosen: u8 = answer.extract()?;
                if warps.contains(&chosen) {
                    return Ok(chosen);
                }
                let text = format!("first() is to choose one of {warps:?}, not {chosen}");
                Err(crate::errors::bad_input(py, &text))
            })
        } else {
            let better = |best: u8, next: u8| {
                if self.before(domain, next, best) {
                    next
                } else {
                    best
                }
            };
            warps.iter().copied().reduce(better)
        };
        chosen.or(warps.first().copied())
    }

    fn waits(&mut self, place: schedule::Place, block: u16, now: Cycle) {
        self.tell(
            self.hooks.waits,
            "waits",
            (Place::from(place), block, now.get()),
        );
    }

    fn released(&mut self, block: u16, warps: &mut dyn Iterator<Item = schedule::Place>) {
        if self.hooks.released {
            let warps: Vec<Place> = warps.map(Place::from).collect();
            self.tell(true, "released", (block, warps));
        }
    }

    fn advance(&mut self, domain: usize, from: Cycle, to: Cycle) {
        self.tell(
            self.hooks.advance,
            "advance",
            (domain, from.get(), to.get()),
        );
    }

    fn next(&self) -> Cycle {
        if !self.hooks.next {
            return Cycle::NEVER;
        }
        let next = self.call(|_, object| object.call_method0("next")?.extract::<Option<u64>>());
        next.flatten().map_or(Cycle::NEVER, Cycle::new)
    }

    fn ticks(&self) -> bool {
        self.hooks.tick
    }

    fn tick(&mut self, now: Cycle) {
        self.tell(self.hooks.tick, "tick", (now.get(),));
    }
}
