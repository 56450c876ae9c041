//! Random programs in several processes.
//!
//! The driver compiles one program after the other in a process, a second or so for each, and
//! that is nearly all the time that they take. So each process takes a part of the programs and
//! leaves what it found in a directory of its own, also when it is stopped. A program at which
//! the GPU gives up or the driver crashes takes its process with it: it is tried without
//! optimization in another, and the programs behind it run in a third. A process that goes on for too long is stopped: a GPU may
//! hang.

use super::programs::{
    DIFFERENCES, Difference, Kind, RUNNING, read, recorded, summary, targets, write,
};
use super::{Arguments, keep};
use crate::console::failure::{Failure, WRONG_RESULT, print};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use warpsim_silicon::gpu::driver::{Driver, Level};
use warpsim_silicon::programs::campaign::Part;
use warpsim_silicon::programs::record;

/// A directory for all processes, removed at the end unless it belongs to the record.
struct Scratch {
    path: PathBuf,
    temporary: bool,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.temporary {
            // What is left behind in the system's temporary directory does no harm.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

fn failed(doing: &str, path: &Path, e: &std::io::Error) -> Failure {
    Failure::bad_input(format!("cannot {doing} {}: {e}", path.display()))
}

fn scratch(arguments: &Arguments) -> Scratch {
    match &arguments.record {
        Some(directory) => Scratch {
            path: directory.join("jobs"),
            temporary: false,
        },
        None => Scratch {
            path: std::env::temp_dir().join(format!("warpsim-jobs-{}", std::process::id())),
            temporary: true,
        },
    }
}

/// What a process is to run.
#[derive(Clone, Copy)]
struct Share {
    seed: u64,
    programs: u64,
    part: Part,
    level: Level,
    seconds: Option<u64>,
}

impl Share {
    /// What is left behind the program of this seed; the seconds are for the caller to say.
    fn behind(self, seed: u64) -> Share {
        let next = seed.wrapping_add(self.part.of);
        let first = next.wrapping_sub(self.part.number);
        let gone = first.wrapping_sub(self.seed);
        Share {
            seed: first,
            programs: self.programs.saturating_sub(gone),
            ..self
        }
    }
}

/// What processes found.
#[derive(Default)]
struct Found {
    entries: Vec<record::Entry>,
    differences: Vec<Difference>,
    /// What those printed that found differences or failed.
    logs: String,
    /// One failed in another way.
    broken: bool,
}

impl Found {
    fn add(&mut self, other: Found) {
        self.entries.extend(other.entries);
        self.differences.extend(other.differences);
        self.logs += &other.logs;
        self.broken |= other.broken;
    }

    /// A process ended in the middle of its work. `running` is the program it was at, if it had
    /// come to any.
    fn ended(&mut self, running: &str, part: Part, status: ExitStatus) {
        match running.trim().parse() {
            Ok(seed) => self.differences.push(Difference {
                seed,
                kind: Kind::Ended,
                what: status.to_string(),
            }),
            Err(_) => self.broken = true,
        }
        let at = match self.broken {
            true => "before its first program".to_string(),
            false => format!("at program {running}"),
        };
        self.logs += &format!("the process for part {part} ended {at}: {status}\n");
    }
}

/// Runs a share in a process to its end.
fn run(arguments: &Arguments, directory: &Path, share: Share) -> Result<Found, Failure> {
    std::fs::create_dir_all(directory).map_err(|e| failed("make", directory, &e))?;
    // What another run left there says nothing about this one.
    for name in ["programs.txt", DIFFERENCES, RUNNING] {
        let _ = std::fs::remove_file(directory.join(name));
    }
    let log = directory.join("log.txt");
    let file = File::create(&log).map_err(|e| failed("write", &log, &e))?;
    let errors = file.try_clone().map_err(|e| failed("write", &log, &e))?;
    let program = std::env::current_exe()
        .map_err(|e| Failure::bad_input(format!("cannot find this program to run it: {e}")))?;
    let asked = &arguments.programs;
    let mut command = Command::new(&program);
    command
        .args(["verify-on-gpu", "--only", "programs", "--jobs", "1"])
        .args(["--threads", "1"])
        .args(["--part", &share.part.to_string()])
        .args(["--seed", &share.seed.to_string()])
        .args(["--programs", &share.programs.to_string()])
        .args(["--level", &share.level.to_string()])
        .args(["--tries", &arguments.tries.to_string()])
        .arg("--record")
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors);
    if let Some(seconds) = share.seconds {
        command.args(["--seconds", &seconds.to_string()]);
    }
    if !asked.places.is_empty() {
        command.args(["--places", &asked.places.join(",")]);
    }
    if let Some(save) = &asked.save {
        command.arg("--save").arg(save);
    }
    let mut child = command.spawn().map_err(|e| failed("run", &program, &e))?;
    let ended = wait(&mut child, share.seconds);
    let status = ended.map_err(|e| failed("wait for", &program, &e))?;
    // A process that was stopped before it wrote anything found nothing.
    let text = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap_or_default();
    let mut found = Found {
        entries: (record::read(&text("programs.txt")).map_err(Failure::bad_input)?).entries,
        differences: read(&text(DIFFERENCES)),
        ..Found::default()
    };
    match status {
        Some(status) if status.success() => {}
        Some(status) => {
            found.logs = text("log.txt");
            let differs = status.code() == Some(i32::from(WRONG_RESULT));
            if !differs || found.differences.is_empty() {
                found.ended(&text(RUNNING), share.part, status);
            }
        }
        None => {
            found.broken = true;
            found.logs = text("log.txt");
            found.logs += "a process was stopped: it did not end in time\n";
        }
    }
    Ok(found)
}

/// Waits for a process that begins no program after `seconds`; none when it had to be stopped.
fn wait(child: &mut Child, seconds: Option<u64>) -> std::io::Result<Option<ExitStatus>> {
    let Some(seconds) = seconds else {
        return child.wait().map(Some);
    };
    // Half as long again is for shrinking; a program and its end take some time too.
    let limit = Duration::from_secs(seconds.saturating_add(seconds / 2).saturating_add(90));
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    // One that has just ended is what is wanted.
    let _ = child.kill();
    child.wait()?;
    Ok(None)
}

/// Runs a share in one process after the other until none is lost any more.
fn persist(arguments: &Arguments, directory: &Path, share: Share) -> Result<Found, Failure> {
    let start = Instant::now();
    let mut found = Found::default();
    let mut rest = share;
    for round in 1.. {
        let place = directory.join(round.to_string());
        let mut this = run(arguments, &place, rest)?;
        let lost = |d: &&mut Difference| matches!(d.kind, Kind::Lost | Kind::Ended);
        let lost = (this.differences.iter_mut()).find(lost);
        let Some(lost) = lost else {
            found.add(this);
            break;
        };
        let seed = lost.seed;
        let alone = Share {
            seed,
            programs: 1,
            part: Part::WHOLE,
            level: Level::NONE,
            seconds: None,
        };
        let plain = run(arguments, &place.join("level0"), alone)?;
        if plain.differences.is_empty() && plain.entries.len() == 1 {
            lost.kind = Kind::Compiler;
            this.logs += &format!(
                "program {seed}: an error of the GPU's compiler, without optimization it agrees\n"
            );
        }
        found.add(this);
        rest = rest.behind(seed);
        if let Some(seconds) = share.seconds {
            rest.seconds = Some(seconds.saturating_sub(start.elapsed().as_secs()));
        }
        if rest.programs == 0 || rest.seconds == Some(0) {
            break;
        }
    }
    Ok(found)
}

/// Runs random programs in `jobs` processes. True when something is wrong.
pub(super) fn compare(
    arguments: &Arguments,
    driver: &Driver,
    jobs: usize,
) -> Result<bool, Failure> {
    let targets = targets(arguments)?;
    let scratch = scratch(arguments);
    let asked = &arguments.programs;
    let share = |number: usize| Share {
        seed: asked.seed,
        programs: asked.extent().programs,
        part: asked.part.piece(number as u64, jobs as u64),
        level: arguments.level,
        seconds: asked.seconds,
    };
    let results: Vec<Result<Found, Failure>> = std::thread::scope(|scope| {
        let spawn = |number: usize| {
            let directory = scratch.path.join((number + 1).to_string());
            scope.spawn(move || persist(arguments, &directory, share(number)))
        };
        let threads: Vec<_> = (0..jobs).map(spawn).collect();
        let panicked = |_| Err(Failure::bad_input("a job's thread failed".to_string()));
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(panicked))
            .collect()
    });
    let mut found = Found::default();
    for result in results {
        found.add(result?);
    }
    found.differences.sort_by_key(|d| d.seed);
    print(&found.logs)?;
    let names: Vec<&str> = targets.iter().map(|t| t.name.as_str()).collect();
    let broken = if found.broken {
        "; a process failed, see above"
    } else {
        ""
    };
    print(&format!(
        "{} random programs on the GPU and {}, in {jobs} processes: {} comparisons, {}{broken}\n",
        found.entries.len(),
        names.join(", "),
        found.entries.len() * targets.len(),
        summary(&found.differences)
    ))?;
    keep(arguments, DIFFERENCES, &write(&found.differences))?;
    keep(arguments, "programs.txt", &recorded(driver, found.entries))?;
    Ok(found.broken || !found.differences.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_process_that_ends_is_waited_for() {
        let child = |code: &str| Command::new("sh").args(["-c", code]).spawn().unwrap();
        for seconds in [None, Some(5)] {
            let status = wait(&mut child("exit 3"), seconds).unwrap();
            assert_eq!(status.and_then(|s| s.code()), Some(3));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_ends_at_a_program_leaves_it_as_a_difference() {
        let killed = Command::new("sh").args(["-c", "kill -9 $$"]).status();
        let status = killed.unwrap();
        let part: Part = "3/8".parse().unwrap();
        let mut found = Found::default();
        found.ended("118", part, status);
        assert!(!found.broken);
        let [difference] = &found.differences[..] else {
            panic!("{:?}", found.differences);
        };
        assert_eq!((difference.seed, difference.kind), (118, Kind::Ended));
        assert!(
            found.logs.contains("3/8 ended at program 118"),
            "{}",
            found.logs
        );
        let mut found = Found::default();
        found.ended("", part, status);
        assert!(found.broken && found.differences.is_empty());
        assert!(found.logs.contains("before its first"), "{}", found.logs);
    }

    #[test]
    fn what_is_left_behind_a_program_is_the_rest_of_the_share() {
        let share = Share {
            seed: 100,
            programs: 40,
            part: "3/8".parse().unwrap(),
            level: Level::FULL,
            seconds: None,
        };
        let seeds = |s: Share| {
            let numbers = (s.part.number..s.programs).step_by(s.part.of as usize);
            numbers.map(|n| s.seed + n).collect::<Vec<_>>()
        };
        assert_eq!(seeds(share), [102, 110, 118, 126, 134]);
        assert_eq!(seeds(share.behind(118)), [126, 134]);
        assert_eq!(seeds(share.behind(118).behind(126)), [134]);
        assert_eq!(seeds(share.behind(134)), [0; 0]);
    }
}
