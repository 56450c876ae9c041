//! `--gangs`: how many warps are in gangs of each size over time, as data or as a picture
//! (figure 18 of the paper on variable warp sizing). docs/variable-warp-sizing.md shows one.

mod sizes;
mod svg;

use sizes::{MOST, Sizes};
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::config::Machine;
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::time::Cycle;
use warpsim_workloads::files::write_whole;

/// What the file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    Svg,
}

/// Records sizes of gangs and writes them when the run has ended well.
pub struct Gangs {
    sizes: Sizes,
    path: PathBuf,
    format: Format,
    /// What runs, the kernels aside.
    setting: String,
    kernels: Vec<String>,
}

impl Gangs {
    /// For the file `path`, whose name says the format, and a run of `what`.
    pub fn new(path: &Path, machine: &Machine, what: &str) -> Result<Gangs, String> {
        let format = match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => Format::Csv,
            Some("svg") => Format::Svg,
            _ => {
                return Err(format!(
                    "--gangs {}: the file's name must end in .csv (data) or .svg (a picture)",
                    path.display()
                ));
            }
        };
        if machine.scheduler.name != "gangs" {
            return Err(format!(
                "--gangs: with the scheduler {} warps are in no gangs; choose a way to join them, as \
                 --warps i-vws does (see `warpsim list warps`)",
                machine.scheduler.name
            ));
        }
        Ok(Gangs {
            sizes: Sizes::default(),
            path: path.to_path_buf(),
            format,
            setting: format!("{what} on {}", machine.name),
            kernels: Vec::new(),
        })
    }

    /// A row per step: its first cycle, and warps in gangs of each size, averaged over the step.
    fn csv(&self) -> String {
        let mut out = String::from("cycle");
        // Writing to a String cannot fail.
        for size in (1..=MOST).rev() {
            let _ = write!(out, ",warps_in_gangs_of_{size}");
        }
        out.push('\n');
        for (cycle, warps) in self.sizes.averages() {
            let _ = write!(out, "{cycle}");
            for average in warps.iter().rev() {
                let _ = write!(out, ",{average:.3}");
            }
            out.push('\n');
        }
        out
    }
}

impl Observer for Gangs {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        let size = match event {
            WarpEvent::Ganged { slices } => slices.count_ones() as u8,
            WarpEvent::Left => 0,
            _ => return,
        };
        self.sizes.set(cycle.get(), sm, slot, size);
    }

    fn launched(&mut self, _: Cycle, kernel: &Kernel, _: &[(u32, String)]) {
        let name = shown(&kernel.name);
        if !self.kernels.contains(&name) {
            self.kernels.push(name);
        }
    }

    fn ended(&mut self, cycle: Cycle) {
        self.sizes.finish(cycle.get());
    }

    fn complete(&mut self) -> io::Result<Option<String>> {
        let text = match self.format {
            Format::Csv => self.csv(),
            Format::Svg => {
                let title = format!("Gangs of {} ({})", self.kernels.join(", "), self.setting);
                svg::svg(&self.sizes, &title)
            }
        };
        write_whole(&self.path, text.as_bytes())
            .map_err(|e| io::Error::other(format!("cannot write {}: {e}", self.path.display())))?;
        Ok(None)
    }
}
