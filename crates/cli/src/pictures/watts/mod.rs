//! `--watts`: the power of the machine over time, as data or as a picture. docs/power.md describes
//! both.

mod svg;

use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::config::Machine;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::stats::EnergyCounters;
use warpsim_sim::time::Cycle;
use warpsim_workloads::files::write_whole;

/// A part of the machine's power.
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// The energy it took, in picojoules.
    pub of: fn(&EnergyCounters) -> u64,
}

/// All parts, from the bottom up.
pub const PARTS: &[Part] = &[
    Part {
        name: "background",
        of: |e| e.background,
    },
    Part {
        name: "lane leakage",
        of: |e| e.int_leakage + e.fp_leakage + e.gating,
    },
    Part {
        name: "execution",
        of: |e| e.int_pipes + e.fp_pipes + e.other_units + e.folding,
    },
    Part {
        name: "registers",
        of: |e| e.registers,
    },
    Part {
        name: "front end",
        of: |e| e.front_end,
    },
    Part {
        name: "SM memory",
        of: |e| e.sm_memory,
    },
    Part {
        name: "network and L2",
        of: |e| e.network + e.l2,
    },
    Part {
        name: "DRAM",
        of: |e| e.dram,
    },
];

/// Name and watts of every part, given what was spent in so many cycles of a clock.
pub fn parts(
    spent: &EnergyCounters,
    cycles: u64,
    core_mhz: u32,
) -> impl Iterator<Item = (&'static str, f64)> {
    let watts = move |pj: u64| pj as f64 * f64::from(core_mhz) * 1e-6 / cycles.max(1) as f64;
    PARTS.iter().map(move |p| (p.name, watts((p.of)(spent))))
}

/// A stretch of time with the power of each part.
pub struct Sample {
    from: u64,
    to: u64,
    watts: Vec<f64>,
}

/// Records samples and writes them when the run has ended well.
pub struct Watts {
    path: PathBuf,
    picture: bool,
    every: u64,
    core_mhz: u32,
    setting: String,
    samples: Vec<Sample>,
    launches: Vec<(String, u64)>,
}

/// More than this are written two by two.
const MOST: usize = 100_000;

impl Watts {
    /// For the file `path`, whose name says the format, with a point every so many cycles.
    pub fn new(path: &Path, machine: &Machine, every: u64) -> Result<Watts, String> {
        let picture = match path.extension().and_then(|e| e.to_str()) {
            Some("json") => false,
            Some("svg") => true,
            _ => {
                return Err(format!(
                    "--watts {}: the file's name must end in .json (data) or .svg (a picture)",
                    path.display()
                ));
            }
        };
        Ok(Watts {
            path: path.to_path_buf(),
            picture,
            every,
            core_mhz: machine.gpu.core_mhz,
            setting: format!(
                "{}, {}, gating {}, folding {}",
                machine.name, machine.scheduler.name, machine.gating.name, machine.folding.name
            ),
            samples: Vec::new(),
            launches: Vec::new(),
        })
    }

    fn json(&self) -> String {
        let names: Vec<&str> = PARTS.iter().map(|p| p.name).collect();
        let rounded = |w: &f64| (w * 1e3).round() / 1e3;
        let samples = self.samples.iter().map(|s| {
            let watts: Vec<f64> = s.watts.iter().map(rounded).collect();
            json!({ "from": s.from, "to": s.to, "watts": watts })
        });
        let launches = self.launches.iter();
        let launches = launches.map(|(kernel, at)| json!({ "kernel": kernel, "cycle": at }));
        let all = json!({
            "machine": self.setting,
            "core_mhz": self.core_mhz,
            "parts": names,
            "launches": launches.collect::<Vec<_>>(),
            "samples": samples.collect::<Vec<_>>(),
        });
        format!("{all:#}\n")
    }
}

impl Observer for Watts {
    fn warp(&mut self, _: Cycle, _: u16, _: u16, _: WarpEvent) {}

    fn launched(&mut self, cycle: Cycle, kernel: &Kernel, _: &[(u32, String)]) {
        self.launches.push((shown(&kernel.name), cycle.get()));
    }

    fn samples_every(&self) -> Option<u64> {
        Some(self.every)
    }

    fn sample(&mut self, from: Cycle, to: Cycle, spent: &EnergyCounters) {
        let watts = parts(spent, to - from, self.core_mhz);
        self.samples.push(Sample {
            from: from.get(),
            to: to.get(),
            watts: watts.map(|(_, w)| w).collect(),
        });
        if self.samples.len() > MOST {
            self.samples = halved(&self.samples);
            self.every *= 2;
        }
    }

    fn complete(&mut self) -> io::Result<Option<String>> {
        let text = match self.picture {
            true => svg::svg(&self.samples, &self.setting),
            false => self.json(),
        };
        write_whole(&self.path, text.as_bytes())
            .map_err(|e| io::Error::other(format!("cannot write {}: {e}", self.path.display())))?;
        Ok(None)
    }
}

/// Every two samples as one.
fn halved(samples: &[Sample]) -> Vec<Sample> {
    let join = |pair: &[Sample]| {
        let length = |s: &Sample| (s.to - s.from) as f64;
        let all: f64 = pair.iter().map(length).sum();
        let mean = |part: usize| {
            let weighed = pair.iter().map(|s| s.watts[part] * length(s));
            weighed.sum::<f64>() / all.max(1.0)
        };
        Sample {
            from: pair[0].from,
            to: pair[pair.len() - 1].to,
            watts: (0..PARTS.len()).map(mean).collect(),
        }
    };
    samples.chunks(2).map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_the_ledger_is_in_one_part() {
        let mut n = 0;
        let mut energy = EnergyCounters::default();
        for field in [
            &mut energy.int_pipes,
            &mut energy.fp_pipes,
            &mut energy.other_units,
            &mut energy.int_leakage,
            &mut energy.fp_leakage,
            &mut energy.gating,
            &mut energy.folding,
            &mut energy.registers,
            &mut energy.front_end,
            &mut energy.sm_memory,
            &mut energy.network,
            &mut energy.l2,
            &mut energy.dram,
            &mut energy.background,
        ] {
            n += 1;
            *field = 1 << n;
        }
        let sum: u64 = PARTS.iter().map(|p| (p.of)(&energy)).sum();
        assert_eq!(sum, energy.total());
    }

    #[test]
    fn picojoules_over_cycles_are_watts() {
        let spent = EnergyCounters {
            dram: 2_000_000,
            ..EnergyCounters::default()
        };
        // 2 uJ in 1000 cycles of 500 MHz, which are 2 us.
        let all: Vec<_> = parts(&spent, 1000, 500).collect();
        assert_eq!(all.last(), Some(&("DRAM", 1.0)));
    }

    #[test]
    fn joining_samples_keeps_the_energy() {
        let sample = |from, to, w: f64| Sample {
            from,
            to,
            watts: vec![w; PARTS.len()],
        };
        let joined = halved(&[sample(0, 10, 4.0), sample(10, 40, 8.0), sample(40, 50, 1.0)]);
        assert_eq!(joined.len(), 2);
        assert_eq!((joined[0].from, joined[0].to), (0, 40));
        assert!((joined[0].watts[0] - 7.0).abs() < 1e-12);
    }
}
