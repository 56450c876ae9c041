//! Helpers of the lowering tests.
#![allow(dead_code)]

use warpsim_ptx::inspect::disassemble;
use warpsim_ptx::kernel::{Kernel, Program};
use warpsim_ptx::{Diagnostic, diagnostic, lower, parse};

/// A module around `items`.
pub fn module(items: &str) -> String {
    format!(".version 7.8\n.target sm_70\n.address_size 64\n{items}")
}

/// A module with one kernel `k` with parameters `a` (pointer) and `n`.
pub fn kernel_text(body: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 a, .param .u32 n)\n{{\n\
         .reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<20>;\n.reg .f32 %f<20>;\n\
         .reg .b64 %rd<20>;\n.reg .f64 %fd<10>;\n{body}\n}}\n"
    ))
}

pub fn try_lower(text: &str) -> Result<Program, Vec<Diagnostic>> {
    let module = parse(text)
        .unwrap_or_else(|errors| panic!("{}", diagnostic::render_all(&errors, "test", text)));
    lower(&module)
}

pub fn program(text: &str) -> Program {
    try_lower(text)
        .unwrap_or_else(|errors| panic!("{}", diagnostic::render_all(&errors, "test", text)))
}

/// The only kernel of a module.
pub fn only(text: &str) -> Kernel {
    let mut program = program(text);
    assert!(program.rejected.is_empty(), "{:?}", program.rejected);
    assert_eq!(program.kernels.len(), 1);
    program.kernels.remove(0).into_kernel()
}

pub fn kernel(body: &str) -> Kernel {
    only(&kernel_text(body))
}

/// All instructions as text.
pub fn listing(kernel: &Kernel) -> Vec<String> {
    (0..kernel.code.len() as u32)
        .map(|pc| disassemble(kernel, pc))
        .collect()
}

/// Messages of a module that must not lower.
pub fn errors(text: &str) -> Vec<String> {
    match try_lower(text) {
        Ok(_) => panic!("lowered, but should not"),
        Err(list) => list.iter().map(ToString::to_string).collect(),
    }
}

/// Messages of a kernel body that must not lower, without the place.
pub fn body_errors(body: &str) -> Vec<String> {
    let text = kernel_text(body);
    match try_lower(&text) {
        Ok(_) => panic!("lowered, but should not"),
        Err(list) => list
            .iter()
            .map(|d| match &d.hint {
                Some(hint) => format!("{}; {hint}", d.message),
                None => d.message.clone(),
            })
            .collect(),
    }
}
