//! What a timeline says about each instruction of a kernel, prepared once per launch.

use serde_json::Value;
use warpsim_ptx::inspect::{disassemble, mnemonic};
use warpsim_ptx::kernel::Kernel;

/// For each instruction its mnemonic, and where it stands as JSON members.
#[derive(Default)]
pub struct Labels(Vec<(String, String)>);

impl Labels {
    /// Labels of `kernel`.
    pub fn of(kernel: &Kernel) -> Labels {
        let label = |(pc, instr): (usize, &warpsim_ptx::kernel::Instr)| {
            let text = Value::from(disassemble(kernel, pc as u32));
            let mut place = format!("\"pc\":{pc},\"ptx_line\":{},\"text\":{text}", instr.line);
            if let Some(source) = kernel.origin(pc as u32).source() {
                place += &format!(",\"source\":{}", Value::from(source));
            }
            (mnemonic(instr.op, &instr.mods), place)
        };
        Labels(kernel.code.iter().enumerate().map(label).collect())
    }

    /// Mnemonic and place of the instruction at `pc`.
    pub fn get(&self, pc: u32) -> (&str, &str) {
        self.0
            .get(pc as usize)
            .map_or(("?", "\"pc\":0"), |(name, place)| (name, place))
    }
}
