//! `--phases`: the phase timeline of some blocks, as data or as a picture.
//! docs/barrier-aware-scheduling.md describes both.

mod svg;

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use warpsim_present::mangled::shown;
use warpsim_ptx::kernel::Kernel;
use warpsim_sim::config::{Machine, VirtualMode};
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::phases::{Blocks, Recorder};
use warpsim_sim::time::Cycle;
use warpsim_workloads::files::write_whole;

/// Blocks shown when none is named.
const SHOWN: usize = 6;

/// Numbers of blocks, as in 0,1 or 0-5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockList(Vec<u64>);

impl FromStr for BlockList {
    type Err = String;

    fn from_str(text: &str) -> Result<BlockList, String> {
        let mut list = Vec::new();
        for part in text.split(',') {
            let wrong = |_| format!("`{part}` is not a block's number; write 0,1 or 0-5");
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u64 = first.trim().parse().map_err(wrong)?;
            let last: u64 = last.trim().parse().map_err(wrong)?;
            if first > last || last - first > 4096 {
                return Err(format!(
                    "`{part}` goes from {first} to {last}; name at most 4096 blocks"
                ));
            }
            list.extend(first..=last);
        }
        Ok(BlockList(list))
    }
}

/// What the file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Svg,
}

/// Records phases and writes them when the run has ended well.
pub struct Phases {
    recorder: Recorder,
    path: PathBuf,
    format: Format,
    /// What the picture is of, the kernel aside.
    setting: String,
}

impl Phases {
    /// For the file `path`, whose name says the format: blocks of launch number `launch`, those in
    /// `blocks` or else the first that come to `sm`.
    pub fn new(
        path: &Path,
        machine: &Machine,
        launch: u64,
        sm: u16,
        blocks: Option<&BlockList>,
    ) -> Result<Phases, String> {
        let format = match path.extension().and_then(|e| e.to_str()) {
            Some("json") => Format::Json,
            Some("svg") => Format::Svg,
            _ => {
                return Err(format!(
                    "--phases {}: the file's name must end in .json (data) or .svg (a picture)",
                    path.display()
                ));
            }
        };
        if u32::from(sm) >= machine.gpu.sms {
            return Err(format!(
                "--phases-sm: there is no SM {sm}; {} has {}, from 0",
                machine.name, machine.gpu.sms
            ));
        }
        let wanted = match blocks {
            Some(BlockList(list)) => Blocks::Numbers(list.clone()),
            None => Blocks::FirstOf { sm, count: SHOWN },
        };
        Ok(Phases {
            recorder: Recorder::new(wanted, launch),
            path: path.to_path_buf(),
            format,
            setting: format!(
                "{}, issue {}, fetch {}{}",
                machine.name,
                machine.scheduler.name,
                machine.fetch.policy.name,
                match machine.virtual_blocks.mode {
                    VirtualMode::Off => "",
                    VirtualMode::Software => ", virtual blocks in software",
                    VirtualMode::Hardware => ", virtual blocks",
                }
            ),
        })
    }
}

impl Observer for Phases {
    fn warp(&mut self, cycle: Cycle, sm: u16, slot: u16, event: WarpEvent) {
        self.recorder.warp(cycle, sm, slot, event);
    }

    fn launched(&mut self, cycle: Cycle, kernel: &Kernel, files: &[(u32, String)]) {
        self.recorder.launched(cycle, kernel, files);
    }

    fn ended(&mut self, cycle: Cycle) {
        self.recorder.ended(cycle);
    }

    fn complete(&mut self) -> io::Result<Option<String>> {
        let timeline = self.recorder.timeline();
        if timeline.blocks.is_empty() {
            return Ok(Some(format!(
                "{} was not written: no such block ran ({} launches, numbered from 0)",
                self.path.display(),
                self.recorder.launches()
            )));
        }
        let text = match self.format {
            Format::Json => {
                let mut data = timeline.to_json();
                data["setting"] = self.setting.as_str().into();
                format!("{data:#}\n")
            }
            Format::Svg => svg::svg(
                timeline,
                &format!(
                    "Warp-phases of {} ({})",
                    shown(&timeline.kernel),
                    self.setting
                ),
            ),
        };
        write_whole(&self.path, text.as_bytes())
            .map_err(|e| io::Error::other(format!("cannot write {}: {e}", self.path.display())))?;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_lists_and_ranges() {
        assert_eq!("0,4-6".parse(), Ok(BlockList(vec![0, 4, 5, 6])));
        for wrong in ["", "x", "3-1", "1,,2", "0-99999"] {
            assert!(wrong.parse::<BlockList>().is_err(), "{wrong}");
        }
    }
}
