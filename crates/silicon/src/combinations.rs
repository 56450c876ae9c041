//! Random combinations of everything that can be chosen: machine, warps, power, policies, divergence
//! model, virtual blocks. Each is refused exactly if two of its choices do not go together, or computes
//! what execution without timing does, with every cycle of every warp, scheduler and lane accounted
//! for, and the same statistics skipped, stepped and in another [way](crate::ways) to simulate it.

use crate::programs::run::{Ran, can_run, functional, simulate, simulate_on};
use crate::programs::tree::Program;
use crate::random::Random;
use crate::ways::{WAYS, Way, agree};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use warpsim_sim::config::check::matrix::{Axis, Choice, axes, machine};
use warpsim_sim::config::read::presets;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_sim::power::{Side, lane_pipelines};
use warpsim_sim::stats::{LaunchReport, PipeCounters};
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::suite::{Parameters, Size, WORKLOADS, Workload};
use warpsim_workloads::{Outcome, Session};

/// Every so many combinations run a workload, too: they take longer than programs.
const WORKLOAD_EVERY: u64 = 4;

/// Workloads that need all 32 threads of a warp to run in step, as they say themselves.
const WARP_SYNCHRONOUS: [&str; 2] = ["raytrace-persistent", "raytrace-persistent-4"];

/// Workloads that are long even at their smallest, on SMs that are few.
const LONG: u64 = 60_000_000;

/// Combinations, and programs, that are drawn until one is found that can run.
const TRIES: u32 = 50;

/// A combination: at most one choice of each axis.
#[derive(Clone, Debug)]
pub struct Combination {
    /// The preset.
    pub preset: &'static str,
    /// The others.
    pub choices: Vec<Choice>,
}

impl Combination {
    /// Draws one. A third of the axes are left as the preset has them.
    pub fn draw(axes: &[Axis], random: &mut Random) -> Combination {
        let mut preset = presets::BASE;
        let mut choices = Vec::new();
        for axis in axes {
            let choice = &axis.choices[random.below(axis.choices.len() as u64) as usize];
            match choice.preset {
                Some(name) => preset = name,
                None if random.below(3) != 0 => choices.push(choice.clone()),
                None => {}
            }
        }
        Combination { preset, choices }
    }

    /// Draws one that is not refused, if there is one among so many.
    fn draw_sensible(axes: &[Axis], random: &mut Random) -> Combination {
        let mut drawn = Combination::draw(axes, random);
        for _ in 0..TRIES {
            let choices: Vec<&Choice> = drawn.choices.iter().collect();
            if machine(drawn.preset, &choices).is_ok() {
                break;
            }
            drawn = Combination::draw(axes, random);
        }
        drawn
    }

    /// How to ask for it.
    pub fn arguments(&self) -> String {
        let before = self.choices.iter().flat_map(|c| &c.before);
        let settings = before.chain(self.choices.iter().flat_map(|c| &c.settings));
        let settings: Vec<String> = settings.map(|s| format!(" --set {s}")).collect();
        format!("--machine {}{}", self.preset, settings.concat())
    }

    /// The machine, with few SMs so that it has much to do; `None` where it is rightly refused.
    fn machine(&self) -> Result<Option<Machine>, String> {
        let refs: Vec<&Choice> = self.choices.iter().collect();
        let whole = machine(self.preset, &refs);
        let refuses = |some: &[&Choice]| machine(self.preset, some).is_err();
        let pairs = || {
            refs.iter()
                .enumerate()
                .flat_map(|(i, a)| refs[..i].iter().map(move |b| [*b, *a]))
        };
        let by_pairs = refs.iter().any(|c| refuses(&[c])) || pairs().any(|pair| refuses(&pair));
        match whole {
            Ok(mut machine) => {
                if by_pairs {
                    return Err("two of its choices are refused, but all together are not".into());
                }
                machine.gpu.sms = machine.gpu.sms.min(2);
                Ok(Some(machine))
            }
            Err(refusal) if !by_pairs => {
                let sentence = refusal.sentence;
                Err(format!(
                    "refused, but no two of its choices are: {sentence}"
                ))
            }
            Err(refusal) => {
                let set = refs.iter().flat_map(|c| &c.before);
                let set = set.chain(refs.iter().flat_map(|c| &c.settings));
                let set: Vec<String> = set.cloned().collect();
                match Machine::resolve(self.preset, &set) {
                    Err(error) if error.message == refusal.sentence => Ok(None),
                    Err(error) => Err(format!("refused for another reason: {}", error.message)),
                    Ok(_) => Err(format!("not refused: {}", refusal.sentence)),
                }
            }
        }
    }
}

/// What came of many combinations.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Combinations that ran.
    pub ran: u64,
    /// Those that were refused, as the rules say.
    pub refused: u64,
    /// Workloads that ran besides random programs.
    pub workloads: u64,
    /// What is wrong, with how to see it.
    pub wrong: Vec<String>,
}

/// Draws and checks combinations numbered from `seed` on; begins none when so much time has passed.
pub fn check_many(seed: u64, count: u64, threads: usize, time: Option<Duration>) -> Tally {
    let began = Instant::now();
    let in_time = || time.is_none_or(|time| began.elapsed() < time);
    let axes = axes();
    let next = AtomicU64::new(0);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count || !in_time() {
                        return;
                    }
                    let (arguments, checked) = check(&axes, seed.wrapping_add(n));
                    let mut tally = tally.lock().unwrap_or_else(|e| e.into_inner());
                    match checked {
                        Ok(Checked::Refused) => tally.refused += 1,
                        Ok(Checked::Ran { workload }) => {
                            tally.ran += 1;
                            tally.workloads += u64::from(workload);
                        }
                        Err(why) => {
                            let number = seed.wrapping_add(n);
                            tally
                                .wrong
                                .push(format!("combination {number}: {arguments}: {why}"));
                        }
                    }
                }
            });
        }
    });
    let mut tally = tally.into_inner().unwrap_or_else(|e| e.into_inner());
    tally.wrong.sort();
    tally
}

/// How a combination went.
enum Checked {
    Refused,
    Ran { workload: bool },
}

/// Checks one: how to ask for it, and how it went.
fn check(axes: &[Axis], number: u64) -> (String, Result<Checked, String>) {
    let mut random = Random::new(&format!("combination {number}"));
    // As they come most are refused, for one reason or another.
    let combination = match number % 4 {
        1 => Combination::draw(axes, &mut random),
        _ => Combination::draw_sensible(axes, &mut random),
    };
    let mut arguments = combination.arguments();
    let machine = match combination.machine() {
        Ok(None) => return (arguments, Ok(Checked::Refused)),
        Ok(Some(machine)) => machine,
        Err(why) => return (arguments, Err(why)),
    };
    let Some(program) = draw_program(&machine, &mut random) else {
        return (
            arguments,
            Err("no program that can run there was found".into()),
        );
    };
    if let Err(why) = check_program(&program, &machine, &mut random) {
        return (arguments, Err(format!("program {}: {why}", program.seed)));
    }
    if !number.is_multiple_of(WORKLOAD_EVERY) {
        return (arguments, Ok(Checked::Ran { workload: false }));
    }
    let workload = WORKLOADS[random.below(WORKLOADS.len() as u64) as usize];
    let name = workload.info().name;
    arguments += &format!(" on {name} at tiny");
    let result = match fits(workload, &machine) {
        true => check_workload(workload, &machine).map(|()| Checked::Ran { workload: true }),
        false => Ok(Checked::Ran { workload: false }),
    };
    (arguments, result)
}

/// A program that can run on a machine: some cannot have virtual blocks.
fn draw_program(machine: &Machine, random: &mut Random) -> Option<Program> {
    let mut programs = (0..TRIES).map(|_| crate::programs::program(random.below(1 << 32)));
    programs.find(|program| can_run(program, machine))
}

/// One program in so many is cut short, too.
const CUT_SHORT: u64 = 8;

fn check_program(program: &Program, machine: &Machine, random: &mut Random) -> Result<(), String> {
    let other = WAYS[2 + random.below(WAYS.len() as u64 - 2) as usize];
    let ways = [WAYS[0], WAYS[1], other];
    let expected = simulate(program, &functional()?)?;
    let run = |options| simulate_on(program, machine, options);
    let Ran { output, reports } = agree(&ways, run, None)??;
    if let Some(at) = (0..expected.len()).find(|i| output.get(*i) != Some(&expected[*i])) {
        return Err(format!(
            "byte {at} of the output differs from the functional run's"
        ));
    }
    accounted(&reports, machine)?;
    match random.below(CUT_SHORT) {
        0 => check_limits(&ways, &reports, run),
        _ => Ok(()),
    }
}

/// A program that takes as many cycles as it may ends; with one cycle less it does not, and says the same in every way, and so
/// it does where it is cut short in the middle.
fn check_limits(
    ways: &[Way],
    reports: &[LaunchReport],
    run: impl Fn(Options) -> Result<Ran, String>,
) -> Result<(), String> {
    let [report] = reports else {
        return Err(format!("{} launches", reports.len()));
    };
    let cycles = report.totals.cycles;
    run(ways[0].options(Some(cycles))).map_err(|e| format!("in {cycles} cycles: {e}"))?;
    for limit in [cycles - 1, cycles / 2] {
        let failure = |options| run(options).map(drop);
        match agree(ways, failure, Some(limit)).map_err(|e| format!("in {limit} cycles: {e}"))? {
            Ok(()) => return Err(format!("{cycles} cycles pass for {limit}")),
            Err(text) if text.contains("did not end within") => {}
            Err(text) => return Err(format!("in {limit} cycles: {text}")),
        }
    }
    Ok(())
}

/// Whether a workload can run there at all.
fn fits(workload: &dyn Workload, machine: &Machine) -> bool {
    let name = workload.info().name;
    let large = name == "nw-64" && machine.shared.bytes < 32 << 10;
    // Their lanes rely on going together, in warps of their size that no model takes apart.
    let apart = machine.sm.warp_width < 32 || machine.divergence.name == "dwf";
    let apart = apart && WARP_SYNCHRONOUS.contains(&name);
    !large && !apart
}

fn check_workload(workload: &dyn Workload, machine: &Machine) -> Result<(), String> {
    let reports = run(workload, machine, true)?;
    accounted(&reports, machine)?;
    match run(workload, machine, false)? == reports {
        true => Ok(()),
        false => Err("skipped and stepped differ".into()),
    }
}

/// Runs a workload, whose result is compared with its reference.
fn run(
    workload: &dyn Workload,
    machine: &Machine,
    skip: bool,
) -> Result<Vec<LaunchReport>, String> {
    let parameters = Parameters::resolve(workload.info().parameters, Size::Tiny, &[]);
    let parameters = parameters.map_err(|e| e.to_string())?;
    let options = Options {
        skip,
        max_cycles: Some(LONG),
        ..Options::default()
    };
    let device = Simulated::new(machine.clone(), options);
    let mut device = device.map_err(|e| e.to_string())?;
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    match workload.run(&parameters, 1, &mut session) {
        Ok(Outcome::Correct { .. }) => Ok(device.gpu.reports().to_vec()),
        Ok(other) => Err(format!("{other:?}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Every cycle of every warp, scheduler and lane is in one state.
fn accounted(reports: &[LaunchReport], machine: &Machine) -> Result<(), String> {
    let same = |what: &str, a: u64, b: u64| match a == b {
        true => Ok(()),
        false => Err(format!("{what}: {a} of {b} cycles are accounted for")),
    };
    for report in reports {
        let totals = &report.totals;
        let counters = &totals.sm.counters;
        same("warps", totals.sm.warps.sum(), counters.warp_cycles)?;
        same(
            "schedulers",
            totals.sm.schedulers.sum(),
            counters.scheduler_cycles,
        )?;
        let slices = u64::from(32 / machine.sm.warp_width);
        let schedulers = u64::from(machine.gpu.sms * machine.sm.schedulers) * slices;
        same(
            "schedulers",
            counters.scheduler_cycles,
            totals.cycles * schedulers,
        )?;
        let pipes = [
            (Side::Int, &totals.sm.int_pipe),
            (Side::Fp, &totals.sm.fp_pipe),
        ];
        for (side, pipe) in pipes {
            let lanes = lane_pipelines(machine, side) * u64::from(machine.gpu.sms);
            let sum = lane_cycles(pipe);
            // Where power is not looked at, lanes are not either.
            if sum != 0 {
                same("lanes", sum, lanes * totals.cycles)?;
            }
        }
    }
    Ok(())
}

fn lane_cycles(pipe: &PipeCounters) -> u64 {
    pipe.busy + pipe.idle + pipe.gated_early + pipe.gated + pipe.waking
}
