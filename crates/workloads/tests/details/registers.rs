//! Registers that get their values.

use super::{machine, run};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use warpsim_ptx::analysis::{reads, writes};
use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::{Kernel, RegId};
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::observe::{Detail, Observer, Wants, WarpEvent};
use warpsim_sim::stats::WarpState;
use warpsim_sim::time::Cycle;

/// A warp as it is heard of.
#[derive(Default)]
struct Warp {
    /// Registers that are owed, and since when.
    owed: BTreeMap<RegId, u64>,
    /// The cycle in which the last one came.
    written: u64,
    /// The state that it is in waits for data.
    waits: bool,
}

/// What is checked of registers, while it is heard.
#[derive(Default)]
struct Registers {
    kernel: Option<Kernel>,
    /// The divergence model lets threads go elsewhere, which wait for all that their warps have in flight.
    regroups: bool,
    /// Data are waited for only where registers are owed: there are no atomics, fences or sleepers either.
    plain: bool,
    warps: BTreeMap<(u16, u16), Warp>,
    /// Registers that came, and waits that ended.
    came: u64,
    ended: u64,
}

#[derive(Clone, Default)]
struct Listener(Rc<RefCell<Registers>>);

impl Observer for Listener {
    fn wants(&self, _: u16) -> Wants {
        Wants::Details
    }

    fn launched(&mut self, _: Cycle, kernel: &Kernel, _: &[(u32, String)]) {
        let mut all = self.0.borrow_mut();
        let holds = [Op::Atom, Op::Red, Op::Membar, Op::Fence, Op::Nanosleep];
        all.plain = !all.regroups && !kernel.code.iter().any(|i| holds.contains(&i.op));
        all.kernel = Some(kernel.clone());
        all.warps.clear();
    }

    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        let mut all = self.0.borrow_mut();
        let Registers {
            kernel,
            warps,
            ended,
            plain,
            ..
        } = &mut *all;
        let warp = warps.entry((sm, slot)).or_default();
        let at = format!("cycle {cycle}, SM {sm}, slot {slot}");
        match event {
            WarpEvent::Issued { pc, .. } => {
                let kernel = kernel.as_ref().expect("it was launched");
                let instr = &kernel.code[pc as usize];
                for register in reads(instr).chain(writes(instr)) {
                    let name = &kernel.registers[usize::from(register.0)].name;
                    let is_owed = warp.owed.contains_key(&register);
                    assert!(!is_owed, "{at}: {name} is owed to the instruction at {pc}");
                }
                let owed = writes(instr).map(|register| (register, cycle.get()));
                warp.owed.extend(owed);
            }
            WarpEvent::State(state) => {
                let waits = matches!(state, WarpState::DataAlu | WarpState::DataMemory);
                let goes_on = matches!(state, WarpState::Issued | WarpState::Eligible);
                if warp.waits && goes_on && *plain {
                    assert_eq!(warp.written, cycle.get(), "{at}: what it waited for");
                    *ended += 1;
                }
                warp.waits = waits;
            }
            WarpEvent::Retired | WarpEvent::Dissolved => {
                assert!(warp.owed.is_empty(), "{at}: {:?} never came", warp.owed);
                *warp = Warp::default();
            }
            _ => {}
        }
    }

    fn detail(&mut self, cycle: Cycle, sm: u16, slot: u16, detail: Detail) {
        let Detail::Written { register } = detail else {
            return;
        };
        let mut all = self.0.borrow_mut();
        all.came += 1;
        let warp = all.warps.entry((sm, slot)).or_default();
        warp.written = cycle.get();
        let since = warp.owed.remove(&register);
        let since = since.unwrap_or_else(|| panic!("cycle {cycle}: nothing owed {register:?}"));
        assert!(since < cycle.get(), "cycle {cycle}: {register:?} at once");
    }
}

/// Each register that an instruction reads has been told to have its value when the instruction issues, in the very cycle if its
/// warp waited for that; and telling of it changes nothing.
#[test]
fn registers_have_their_values_when_they_are_read() {
    let policies = ["lrr", "gto", "tls", "ccws", "mwf-lrr", "saws"];
    let mut machines: Vec<(String, Machine)> = Vec::new();
    for policy in policies {
        let set = format!("scheduler={policy}");
        if let Ok(machine) = Machine::resolve("gtx480", std::slice::from_ref(&set)) {
            machines.push((set, machine));
        }
    }
    assert!(machines.len() > 3);
    for (preset, set) in [
        ("fx5800", &["divergence=tbc", "scheduler=age"][..]),
        ("fx5800", &["divergence=dwf", "scheduler=majority"]),
        ("vws", &["sm.warp_width=8"]),
        ("vws", &["warps=i-vws"]),
        ("gtx480-v3", &["power=origami"]),
    ] {
        machines.push((set.join(" "), machine(preset, set)));
    }
    for (what, mut machine) in machines {
        machine.gpu.sms = machine.gpu.sms.min(2);
        for name in ["vecadd", "bfs", "reduction", "matmul"] {
            for skip in [true, false] {
                eprintln!("{name}, {what}, skip: {skip}");
                let listener = Listener::default();
                let regroups = what.contains("divergence");
                listener.0.borrow_mut().regroups = regroups;
                let heard = run(name, &machine, skip, Some(Box::new(listener.clone())));
                let all = listener.0.borrow();
                assert!(all.came > 500, "{}", all.came);
                assert!(!all.plain || all.ended > 50, "{}", all.ended);
                if !skip {
                    assert_eq!(heard, run(name, &machine, true, None));
                }
            }
        }
    }
}
