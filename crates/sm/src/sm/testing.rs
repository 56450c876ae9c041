//! What a stage needs around it to be tested alone.

use super::facts::op_facts;
use super::launch::Launched;
use super::residents::{Coming, Residents};
use crate::config::{Machine, ReadMachine};
use crate::exec::code::Code;
use crate::exec::grid::Grid;
use crate::time::Cycle;
use std::sync::Arc;

/// `gtx480` with these changes.
pub fn machine(set: &[&str]) -> Machine {
    let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
    Machine::resolve("gtx480", &set).expect("a machine")
}

/// A launch of so many threads in one block of a kernel with this body. Registers `%r0` to `%r9`
/// and `%p0` are there.
pub fn launched(machine: &Machine, body: &str, threads: u32) -> Launched {
    let ptx = format!(
        ".version 4.3\n.target sm_35\n.address_size 64\n.visible .entry k() {{\n\
         .reg .b32 %r<10>; .reg .pred %p<1>;\n{body}\n}}"
    );
    let module = warpsim_ptx::parse::parse(&ptx).expect("it parses");
    let program = warpsim_ptx::lower::lower(&module).expect("it lowers");
    let kernel = program.kernels[0].clone().into_kernel();
    let code = Code::new(&kernel, &[]).expect("it decodes");
    Launched {
        facts: op_facts(&kernel, machine).into(),
        code: Arc::new(code),
        kernel: Arc::new(kernel),
        grid: Grid {
            grid: [1, 1, 1],
            block: [threads, 1, 1],
            params: Vec::new(),
            dynamic_shared: 0,
            total_shared: 0,
            id: 0,
            sms: 1,
            warps_per_sm: 48,
            workspace: 0,
            texrefs: Default::default(),
            texture_objects: Default::default(),
            virtual_blocks: None,
        },
        code_base: 0x1000,
        param_base: 0,
        blocks_per_sm: 1,
    }
}

/// The residents of an SM with the block of a launch, which has come in cycle 0.
pub fn residents(machine: &Machine, launched: &Launched) -> Residents {
    let mut residents = Residents::new(machine);
    residents.begin(launched, Cycle::ZERO);
    residents.warps.start_cycle(Cycle::ZERO);
    residents.blocks.expect(Cycle::ZERO, Coming::Block(0));
    residents.take_arrivals(Cycle::ZERO, launched);
    residents
}

/// Numbers that look drawn.
pub struct Dice(pub u64);

impl Dice {
    /// The next, below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}
