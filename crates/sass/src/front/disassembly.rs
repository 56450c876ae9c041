//! What the disassembler says of a cubin, put together with the words and sizes of the cubin itself.

use super::cubin::{Cubin, Entry};
use crate::program::instruction::{BYTES, Instruction};
use crate::program::{Kernel, Program, Variable};
use serde_json::Value;

/// The program of a cubin.
pub(super) fn program(
    name: &str,
    cubin: &Cubin,
    said: &[u8],
    made_by: String,
) -> Result<Program, String> {
    let said: Value = serde_json::from_slice(said)
        .map_err(|e| format!("the disassembler's answer cannot be read: {e}"))?;
    let version = |part: &str| said[0]["SM"]["version"][part].as_u64().unwrap_or(0) as u32;
    let mut program = Program {
        name: name.to_string(),
        architecture: version("major") * 10 + version("minor"),
        made_by,
        source: None,
        constants: cubin.constants.clone(),
        variables: (cubin.variables.iter())
            .map(|(name, offset, size)| Variable {
                name: name.clone(),
                offset: *offset,
                size: *size,
            })
            .collect(),
        kernels: Vec::new(),
    };
    let functions = said[1].as_array().map_or(&[][..], Vec::as_slice);
    for entry in &cubin.kernels {
        let own = functions
            .iter()
            .find(|f| f["function-name"] == entry.name.as_str());
        let own = own.ok_or_else(|| format!("the disassembler says nothing of {}", entry.name))?;
        program.kernels.push(kernel(entry, own)?);
    }
    Ok(program)
}

fn kernel(entry: &Entry, said: &Value) -> Result<Kernel, String> {
    let lines = said["sass-instructions"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    if lines.len() != entry.words.len() {
        return Err(format!(
            "the disassembler names {} instructions of {}, and the cubin has {}",
            lines.len(),
            entry.name,
            entry.words.len()
        ));
    }
    let mut code = Vec::with_capacity(lines.len());
    for (number, (said, words)) in lines.iter().zip(&entry.words).enumerate() {
        let offset = number as u32 * BYTES;
        let text = text(said, &entry.functions);
        let instruction = Instruction::read(offset, *words, &text)
            .map_err(|why| format!("{}, /*{offset:04x}*/ {text}: {why}", entry.name))?;
        code.push(instruction);
    }
    Ok(Kernel {
        name: entry.name.clone(),
        registers: entry.registers,
        shared: entry.shared,
        stack: entry.stack,
        parameters: entry.parameters,
        parameter_bytes: entry.parameter_bytes,
        constants: entry.constants.clone(),
        functions: entry.functions.clone(),
        lines: Vec::new(),
        code,
    })
}

/// An instruction in one line, functions as their offsets.
fn text(said: &Value, functions: &[(u32, String)]) -> String {
    let word = |key: &str| said[key].as_str().unwrap_or_default().trim();
    let mut operands: Vec<String> = Vec::new();
    for operand in word("operands")
        .split(',')
        .map(str::trim)
        .filter(|o| !o.is_empty())
    {
        let found = functions.iter().find(|(_, name)| name == operand);
        operands.push(found.map_or(operand.to_string(), |(offset, _)| format!("{offset:#x}")));
    }
    let mut guard = word("predicate").to_string();
    if !guard.is_empty() && !guard.starts_with('@') {
        // `P2R R4,PR,RZ,0x4` is given with its second operand for a predicate.
        operands.insert(1.min(operands.len()), std::mem::take(&mut guard));
    }
    let opcode = [guard.as_str(), word("opcode")].join(" ");
    format!("{} {}", opcode.trim(), operands.join(","))
        .trim()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_of_the_disassembler() {
        let functions = [(0, "wp".to_string()), (0x1230, "$__div".to_string())];
        let line = |said: Value| text(&said, &functions);
        assert_eq!(line(json!({"opcode": "NOP"})), "NOP");
        assert_eq!(
            line(json!({"predicate": "@P0", "opcode": "EXIT"})),
            "@P0 EXIT"
        );
        assert_eq!(
            line(json!({"opcode": "CALL.REL.NOINC", "operands": "$__div"})),
            "CALL.REL.NOINC 0x1230"
        );
        assert_eq!(
            line(json!({"opcode": "RET.REL.NODEC", "operands": "R6,wp"})),
            "RET.REL.NODEC R6,0x0"
        );
        assert_eq!(
            line(json!({"predicate": "PR", "opcode": "P2R", "operands": "R46,RZ,0x4"})),
            "P2R R46,PR,RZ,0x4"
        );
    }
}
