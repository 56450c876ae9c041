//! Registers that are read though nothing ever writes them: a mistake, whatever they hold.

use super::access::{reads, writes};
use super::liveness::RegSet;
use crate::kernel::{Kernel, RegId};

/// Each such register with the PTX line that reads it first.
pub fn never_written(kernel: &Kernel) -> Vec<(RegId, u32)> {
    let mut known = RegSet::new(kernel.registers.len());
    for reg in kernel.code.iter().flat_map(writes) {
        known.insert(reg);
    }
    let mut found = Vec::new();
    for instr in &kernel.code {
        for reg in reads(instr) {
            if known.insert(reg) {
                found.push((reg, instr.line));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_register_that_nothing_writes_is_named_once() {
        let ptx = ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
                   .reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<2>;\n\
                   ld.param.u64 %rd1, [p];\n\
                   add.u32 %r1, %r2, %r3;\n\
                   @%p1 mov.u32 %r4, 1;\n\
                   add.u32 %r1, %r1, %r2;\n\
                   st.global.u32 [%rd1], %r4;\n\
                   ret;\n}\n";
        let module = crate::parse(ptx).expect("valid");
        let program = crate::lower::lower(&module).expect("valid");
        let kernel = &program.kernels[0];
        let found = super::never_written(kernel);
        let named: Vec<(&str, u32)> = found
            .iter()
            .map(|(reg, line)| (kernel.registers[usize::from(reg.0)].name.as_str(), *line))
            .collect();
        assert_eq!(named, [("%r2", 10), ("%r3", 10), ("%p1", 11)]);
    }
}
