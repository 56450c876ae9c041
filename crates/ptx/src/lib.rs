//! PTX front end: text to AST to a lowered kernel that the simulator runs.
//!
//! The stages, each in its own module and each usable alone:
//!
//! 1. [`parse()`] turns text into an [`ast::Module`], reporting every independent
//!    error with its place; [`print()`] is its inverse.
//! 2. [`lower::lower`] turns an AST into a [`kernel::Program`]: device functions inlined,
//!    symbols laid out; for each kernel that is looked at, registers given slots and control flow
//!    analysed ([`analysis`], [`lazy`]).
//! 3. [`rewrite`] turns an AST into another, for people and other tools to read.
//! 4. [`inspect`] shows a lowered kernel: summary, disassembly, control-flow graph.

pub mod analysis;
pub mod assembler;
pub mod ast;
pub mod asynchronous;
pub mod diagnostic;
pub mod inspect;
pub mod isa;
pub mod kernel;
pub mod lazy;
pub mod link;
pub mod lower;
mod modtable;
pub mod name;
mod optable;
pub mod origin;
pub mod outside;
pub mod parse;
mod print;
mod reading;
pub mod rewrite;
pub mod tensor;
mod workers;

pub use diagnostic::Diagnostic;
pub use lower::lower;
pub use parse::parse;
pub use print::print;
pub use reading::{MOST_BYTES, text};
