//! What a result is stored under: a hash of everything that determines it.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt;
use warpsim_sim::config::Machine;

/// The simulator's sources, as `build.rs` names them.
pub const SIMULATOR: &str = env!("WARPSIM_SOURCES");

/// Format of stored results. A change of their meaning changes it.
pub const SCHEMA: u64 = 1;

/// The name of a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(String);

impl Key {
    /// The key of these inputs.
    pub fn of(inputs: &Value) -> Key {
        Key(sha256(inputs.to_string().as_bytes()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough of it for people.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

/// A machine without what is only for people: two that differ in their description run alike.
pub fn machine_inputs(machine: &Machine) -> Value {
    let plain = Machine {
        name: String::new(),
        description: String::new(),
        ..machine.clone()
    };
    // A machine is plain data: numbers, flags and names.
    serde_json::to_value(plain).unwrap_or(Value::Null)
}

/// Everything that determines a run of a workload.
pub struct Inputs<'a> {
    /// Workload.
    pub workload: &'a str,
    /// Hash of the kernels and, for a launch file, of the file and its data.
    pub contents: &'a str,
    /// Parameters by name.
    pub parameters: &'a [(String, u64)],
    /// Seed.
    pub seed: u64,
    /// Resolved machine.
    pub machine: &'a Machine,
    /// Cycle limit.
    pub max_cycles: Option<u64>,
}

impl Inputs<'_> {
    /// As the key is computed from, and as the record keeps for people.
    pub fn to_json(&self) -> Value {
        let parameters: serde_json::Map<String, Value> = self
            .parameters
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        json!({
            "schema": SCHEMA,
            "simulator": SIMULATOR,
            "workload": self.workload,
            "contents": self.contents,
            "parameters": parameters,
            "seed": self.seed,
            "max_cycles": self.max_cycles,
            "machine": machine_inputs(self.machine),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsim_sim::config::ReadMachine;

    #[test]
    fn everything_that_matters_changes_the_key() {
        let machine = Machine::preset("gtx480").unwrap();
        let parameters = [("n".to_string(), 16)];
        let inputs = || Inputs {
            workload: "matmul",
            contents: "c",
            parameters: &parameters,
            seed: 1,
            machine: &machine,
            max_cycles: None,
        };
        let key = |i: Inputs| Key::of(&i.to_json());
        let base = key(inputs());
        assert_eq!(base.as_str().len(), 64);
        let renamed = Machine {
            name: "mine".into(),
            description: "the same".into(),
            ..machine.clone()
        };
        let same = Inputs {
            machine: &renamed,
            ..inputs()
        };
        assert_eq!(key(same), base, "a name changes nothing");
        let other_machine = Machine::resolve("gtx480", &["sm.schedulers=1".into()]).unwrap();
        let other_parameters = [("n".to_string(), 32)];
        let different = [
            Inputs {
                workload: "vecadd",
                ..inputs()
            },
            Inputs {
                contents: "d",
                ..inputs()
            },
            Inputs {
                parameters: &other_parameters,
                ..inputs()
            },
            Inputs {
                seed: 2,
                ..inputs()
            },
            Inputs {
                machine: &other_machine,
                ..inputs()
            },
            Inputs {
                max_cycles: Some(9),
                ..inputs()
            },
        ];
        let mut keys: Vec<Key> = different.into_iter().map(key).collect();
        keys.push(base);
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 7);
    }

    #[test]
    fn the_hash_is_sha256() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
        assert_eq!(SIMULATOR.len(), 64);
    }
}
