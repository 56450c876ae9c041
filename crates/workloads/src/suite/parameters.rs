//! Sizes of workloads.

use crate::host::device::DeviceError;
use std::borrow::Cow;
use warpsim_present::nearest;

/// The named sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// For tests: well under a second.
    Tiny,
    /// For studies: at least four waves of blocks on the machines of the papers (`tests/residency.rs`),
    /// 6 to 200 million thread instructions. Frozen, see [`SMALL_VERSION`].
    #[default]
    Small,
    /// For patient people.
    Large,
}

/// Which edition of `small` this is. The first had 60 blocks or more per launch; since then every
/// launch that matters has four waves of them, or as few as the original. The third has more
/// elements of `dg`, which had three waves.
pub const SMALL_VERSION: u32 = 3;

/// A number that decides a workload's size.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// Values at `tiny`, `small` and `large`.
    pub sizes: [u64; 3],
    /// Smallest and largest value.
    pub range: (u64, u64),
    /// Every value must be a multiple of this.
    pub multiple: u64,
}

impl Parameter {
    /// A parameter with its values at `tiny`, `small` and `large` and its smallest and largest.
    pub const fn new(
        name: &'static str,
        description: &'static str,
        sizes: [u64; 3],
        range: (u64, u64),
    ) -> Parameter {
        Parameter {
            name,
            description,
            sizes,
            range,
            multiple: 1,
        }
    }

    /// A choice that a variant makes otherwise, off at every size.
    pub const fn off(name: &'static str, description: &'static str) -> Parameter {
        Parameter::new(name, description, [0; 3], (0, 1))
    }

    /// The same, restricted to multiples of a number.
    pub const fn multiple_of(mut self, multiple: u64) -> Parameter {
        self.multiple = multiple;
        self
    }
}

/// Registers per thread with which a launch is counted, where residency is to be another program's.
pub const REGISTERS: Parameter = Parameter::new(
    "registers",
    "registers per thread that residency counts with; 0: those that the kernel needs",
    [0; 3],
    (0, 255),
);

/// The values of a workload's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters(Vec<(Cow<'static, str>, u64)>);

impl Parameters {
    /// The values of a named size with `key=value` changes on top, all checked.
    pub fn resolve(
        declared: &'static [Parameter],
        size: Size,
        changes: &[String],
    ) -> Result<Parameters, DeviceError> {
        let mut values: Vec<(Cow<'static, str>, u64)> = declared
            .iter()
            .map(|p| (p.name.into(), p.sizes[size as usize]))
            .collect();
        for change in changes {
            let (key, text) = change.split_once('=').ok_or_else(|| {
                DeviceError::bad_input(format!(
                    "--param {change}: a parameter is written KEY=VALUE"
                ))
            })?;
            let (key, text) = (key.trim(), text.trim());
            let Some(index) = declared.iter().position(|p| p.name == key) else {
                return Err(unknown(declared, key));
            };
            let value: u64 = text.replace('_', "").parse().map_err(|_| {
                DeviceError::bad_input(format!("--param {change}: `{text}` is not a whole number"))
            })?;
            check(&declared[index], value)
                .map_err(|e| DeviceError::bad_input(format!("--param {change}: {e}")))?;
            values[index].1 = value;
        }
        Ok(Parameters(values))
    }

    /// Changes of a launch file's parameters, which has checked their names.
    pub fn of_file(changes: &[String]) -> Result<Parameters, DeviceError> {
        let mut values: Vec<(Cow<'static, str>, u64)> = Vec::new();
        for change in changes {
            let (key, text) = change.split_once('=').unwrap_or((change, ""));
            let (key, text) = (key.trim(), text.trim());
            let value: u64 = text.replace('_', "").parse().map_err(|_| {
                DeviceError::bad_input(format!(
                    "--param {change}: `{text}` is not a whole number, which sweeps and studies set"
                ))
            })?;
            values.retain(|(known, _)| known != key);
            values.push((key.to_string().into(), value));
        }
        Ok(Parameters(values))
    }

    /// The value of a declared parameter.
    pub fn get(&self, name: &str) -> u64 {
        self.0
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, v)| *v)
            .expect("a workload asks only for parameters it declares")
    }

    /// Whether a choice is on.
    pub fn on(&self, name: &str) -> bool {
        self.get(name) != 0
    }

    /// The value as the kernels take it; ranges keep it within 32 bits.
    pub fn get_u32(&self, name: &str) -> u32 {
        u32::try_from(self.get(name)).expect("declared ranges fit in 32 bits")
    }

    /// Names and values in the order declared.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> + '_ {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }
}

fn unknown(declared: &[Parameter], key: &str) -> DeviceError {
    let names = || declared.iter().map(|p| p.name);
    let hint = nearest(key, names())
        .map(|n| format!("; did you mean `{n}`?"))
        .unwrap_or_default();
    DeviceError::bad_input(format!(
        "--param {key}: the workload has no such parameter{hint}\nparameters: {}",
        names().collect::<Vec<_>>().join(", ")
    ))
}

fn check(parameter: &Parameter, value: u64) -> Result<(), String> {
    let (low, high) = parameter.range;
    if !(low..=high).contains(&value) {
        Err(format!("must lie between {low} and {high}"))
    } else if !value.is_multiple_of(parameter.multiple) {
        Err(format!("must be a multiple of {}", parameter.multiple))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::WORKLOADS;

    #[test]
    fn every_named_size_is_within_its_range() {
        for w in WORKLOADS {
            for p in w.info().parameters {
                for value in p.sizes {
                    assert_eq!(check(p, value), Ok(()), "{} {}", w.info().name, p.name);
                }
                assert!(p.range.1 <= u64::from(u32::MAX));
            }
        }
    }

    #[test]
    fn changes_are_checked() {
        const DECLARED: &[Parameter] =
            &[Parameter::new("n", "", [16, 32, 64], (16, 128)).multiple_of(16)];
        let resolve = |c: &str| Parameters::resolve(DECLARED, Size::Small, &[c.to_string()]);
        assert_eq!(resolve("n=48").unwrap().get("n"), 48);
        for bad in ["n=50", "n=0", "n=x", "n", "m=16", "n=144"] {
            assert!(resolve(bad).is_err(), "{bad}");
        }
        let default = Parameters::resolve(DECLARED, Size::Large, &[]).unwrap();
        assert_eq!(default.get_u32("n"), 64);
    }
}
