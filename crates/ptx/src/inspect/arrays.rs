//! In words: which arrays in global memory a kernel reads and writes.

use crate::analysis::{Array, Touched, arrays};
use crate::kernel::{Kernel, Program};

/// What a kernel of `program` does with global memory, as "reads a, b; writes c".
pub fn arrays_in_words(program: &Program, kernel: &Kernel) -> String {
    let found = arrays(kernel);
    let ways = [
        ("reads", &found.read),
        ("writes", &found.written),
        ("updates by atomics", &found.updated),
    ];
    let said: Vec<String> = ways
        .into_iter()
        .filter(|(_, touched)| !touched.is_empty())
        .map(|(verb, touched)| format!("{verb} {}", names(touched, program, kernel)))
        .collect();
    match said.is_empty() {
        true => "none".to_string(),
        false => said.join("; "),
    }
}

fn names(touched: &Touched, program: &Program, kernel: &Kernel) -> String {
    let known = touched.arrays.iter();
    let known = known.map(|array| name(*array, program, kernel));
    let others = touched.others.then(|| "what cannot be told".to_string());
    known.chain(others).collect::<Vec<_>>().join(", ")
}

fn name(array: Array, program: &Program, kernel: &Kernel) -> String {
    match array {
        Array::Symbol(index) => {
            let symbol = program.symbols.get(index as usize);
            symbol.map_or_else(|| format!("variable {index}"), |s| s.name.clone())
        }
        Array::Parameter(at) => {
            let mut params = kernel.params.iter();
            let around = params.find(|p| (p.offset..p.offset + p.size).contains(&at));
            match around {
                Some(param) if param.offset == at => kernel.short_name(param).to_string(),
                Some(param) => format!("{}+{}", kernel.short_name(param), at - param.offset),
                None => format!("parameter byte {at}"),
            }
        }
    }
}
