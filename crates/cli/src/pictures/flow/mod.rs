//! `warpsim flow`: which lanes do useful work in which basic block, cycle by cycle, under each
//! divergence model. A kernel that issues too much for that is shown by basic block.
//! docs/divergence-models.md shows one.

mod blocks;
mod by_block;
mod longest;
mod record;
mod svg;
mod text;

use crate::console::failure::{Failure, WRONG_RESULT, print_data, tell};
use crate::run::{self, Job, SizeName, Wanted, check_writable, execute};
use crate::setup::cuda::CudaArguments;
use crate::setup::machine::Settings;
use crate::setup::registers::RegisterSource;
use blocks::Names;
use clap::ValueEnum;
use longest::Counter;
use record::{Flow, Issue, LANES, Lane, MOST, Recorder};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsim_present::mangled::shown;
use warpsim_sim::config::Machine;
use warpsim_sim::gpu::Options;
use warpsim_workloads::Outcome;
use warpsim_workloads::files::write_whole;
use warpsim_workloads::lowering::Lowering;
use warpsim_workloads::simulated::Simulated;
use warpsim_workloads::suite::Size;

/// Arguments of `warpsim flow`.
#[derive(clap::Args)]
pub struct Arguments {
    /// A workload's name, a launch file (ends in .toml), a folder with one, or CUDA C (ends in .cu).
    #[arg(value_name = "WORKLOAD|LAUNCH.toml|DIR|KERNEL.cu")]
    what: String,
    /// A folder with workloads of your own: launch files with their PTX or CUDA.
    #[arg(long, value_name = "DIR")]
    workload_dir: Option<PathBuf>,
    /// Divergence models to compare.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "pdom,tbc"
    )]
    divergence: Vec<String>,
    /// Ways to size warps to compare, by their names, as in ws32,i-vws,e-vws (see list warps):
    /// the columns, in place of divergence models.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        conflicts_with = "divergence"
    )]
    warps: Vec<String>,
    /// Machine preset, or a machine file (ends in .toml).
    #[arg(long, default_value = "gtx480")]
    machine: String,
    #[command(flatten)]
    settings: Settings,
    /// Size of a workload [default: tiny].
    #[arg(long)]
    size: Option<SizeName>,
    /// Seed of generated input [default: 1, or what the launch file says].
    #[arg(long)]
    seed: Option<u64>,
    /// Who says how many registers a kernel takes, where a launch file does not.
    #[arg(long, value_name = "SOURCE", default_value = "estimate")]
    registers: RegisterSource,
    /// A parameter of a workload, over what the size says, or of a launch file.
    #[arg(long, value_name = "KEY=VALUE")]
    param: Vec<String>,
    #[command(flatten)]
    cuda: CudaArguments,
    /// Which launch of the run, from 0 [default: the one that executes most].
    #[arg(long)]
    launch: Option<u64>,
    /// Which block of the launch, from 0.
    #[arg(long, default_value_t = 0)]
    block: u64,
    /// What is shown: every issue in its cycle, or how often each basic block was issued and with how
    /// many lanes at work [default: cycles for small kernels, blocks for those that issue much].
    #[arg(long, value_name = "VIEW")]
    view: Option<View>,
    /// Only these lanes, as in 0-3 or 0,4 [default: those that work].
    #[arg(long, value_name = "LIST")]
    lanes: Option<String>,
    /// Only these basic blocks, by their letters, as in ABC [default: all].
    #[arg(long, value_name = "LETTERS")]
    blocks: Option<String>,
    /// Write a picture (.svg) or text (.txt) to this file instead of text to standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a picture to this file: as -o does if its name ends in .svg.
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    svg: Option<PathBuf>,
}

/// Issues that a picture shows one by one unless told to: they fill a screen or two.
const FEW: usize = 100;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum View {
    /// Every issue in its cycle, lane by lane.
    Cycles,
    /// Basic blocks: how often each was issued, and with how many lanes at work.
    Blocks,
}

impl Arguments {
    /// What is compared: name and machine.
    fn compared(&self) -> Result<Vec<(String, Machine)>, Failure> {
        let one = |name: &String| {
            let (warps, divergence) = match self.warps.is_empty() {
                true => (None, Some(name.as_str())),
                false => (Some(name.as_str()), None),
            };
            let machine = self.settings.resolve(&self.machine, warps, divergence)?;
            Ok((name.clone(), machine))
        };
        let names = match self.warps.is_empty() {
            true => &self.divergence,
            false => &self.warps,
        };
        names.iter().map(one).collect()
    }

    /// The file to write, and whether it is a picture.
    fn file(&self) -> Result<Option<(&Path, bool)>, Failure> {
        let (path, picture) = match (&self.svg, &self.output) {
            (Some(path), _) => (path, true),
            (None, None) => return Ok(None),
            (None, Some(path)) => match path.extension().and_then(|e| e.to_str()) {
                Some("svg") => (path, true),
                Some("txt") => (path, false),
                _ => {
                    return Err(Failure::bad_input(format!(
                        "cannot tell what to write to {}: end its name in .svg or .txt",
                        path.display()
                    )));
                }
            },
        };
        check_writable(path)?;
        Ok(Some((path, picture)))
    }
}

/// What is drawn.
struct Picture {
    title: String,
    models: Vec<(String, Flow)>,
    lanes: Vec<usize>,
    /// Basic blocks that are shown.
    blocks: Vec<usize>,
}

impl Picture {
    /// A line about each model: what it took, and against the first.
    fn totals(&self, names: &Names) -> Vec<String> {
        let count = |flow: &Flow| flow.count(|pc| self.blocks.contains(&names.block(pc)));
        let first = count(&self.models[0].1).issued as f64;
        let line = |(name, flow): &(String, Flow)| {
            let issued = count(flow).issued;
            let saved = 100.0 * (1.0 - issued as f64 / first);
            let against = match issued as f64 == first {
                true => String::new(),
                false => format!(", {saved:.1}% fewer than {}", self.models[0].0),
            };
            let whose = match flow.has_gangs {
                true => "instructions of gangs and warps",
                false => "warp instructions",
            };
            let at_work = match flow.too_long {
                true => count(flow).mean() / LANES as f64,
                false => flow.efficiency(&self.lanes),
            };
            format!(
                "{name}: {issued} {whose}{against}; {:.1}% of the lanes at work; {} cycles",
                100.0 * at_work,
                count(flow).cycles()
            )
        };
        self.models.iter().map(line).collect()
    }
}

/// Cycles in which any model issues, in order, with what each issues then; a cycle comes again
/// for each further issue in it.
fn steps(models: &[(String, Flow)]) -> Vec<(u64, Vec<Option<&Issue>>)> {
    let mut next = vec![0; models.len()];
    let mut steps = Vec::new();
    loop {
        let ahead =
            |(i, (_, flow)): (usize, &(String, Flow))| flow.issues.get(next[i]).map(|s| s.cycle);
        let Some(cycle) = models.iter().enumerate().filter_map(ahead).min() else {
            return steps;
        };
        let mut cells = Vec::with_capacity(models.len());
        for (i, (_, flow)) in models.iter().enumerate() {
            let issue = flow.issues.get(next[i]).filter(|s| s.cycle == cycle);
            next[i] += usize::from(issue.is_some());
            cells.push(issue);
        }
        steps.push((cycle, cells));
    }
}

/// Draws the flow of a kernel.
pub fn draw(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let file = arguments.file()?;
    let drawn = file.is_some_and(|(_, picture)| picture);
    let wanted = arguments.lanes.as_deref().map(lane_list).transpose()?;
    if wanted.is_some() && arguments.view == Some(View::Blocks) {
        return Err(Failure::bad_input(
            "--lanes chooses among lanes that are shown one by one: --view blocks counts them",
        ));
    }
    let machines = arguments.compared()?;
    let job = job(arguments)?;
    let lowering = Lowering::from(arguments.registers.resolve()?);
    let launch = match arguments.launch {
        Some(launch) => launch,
        None => longest(&job, &machines[0].1, &lowering)?,
    };
    let mut models = Vec::new();
    let mut wrong = false;
    for (name, machine) in &machines {
        let (flow, outcome) = record(&job, [launch, arguments.block], machine, &lowering)?;
        if let Outcome::Wrong(_) = outcome {
            tell!("{name}: result: {outcome}");
            wrong = true;
        }
        models.push((name.clone(), flow));
    }
    let kernel = models[0].1.kernel.clone().expect("checked when recorded");
    let names = Names::of(&kernel);
    let mut blocks: Vec<usize> = (0..names.described.len()).collect();
    if let Some(letters) = &arguments.blocks {
        choose_blocks(letters, &names, &mut models)?;
        blocks.retain(|b| letters.contains(names.name(*b)));
    }
    let view = view(arguments, &models)?;
    let picture = Picture {
        title: format!(
            "{}{}, block {} on {}",
            shown(&kernel.name),
            match models[0].1.launches {
                1 => String::new(),
                _ => format!(", launch {launch}"),
            },
            arguments.block,
            machines[0].1.name
        ),
        lanes: wanted.unwrap_or_else(|| lanes_at_work(&models)),
        models,
        blocks,
    };
    let drawn = match (view, drawn) {
        (View::Cycles, false) => text::draw(&picture, &names),
        (View::Cycles, true) => svg::draw(&picture, &names),
        (View::Blocks, false) => by_block::text(&picture, &names),
        (View::Blocks, true) => by_block::svg(&picture, &names),
    };
    match file {
        None => print_data(&drawn)?,
        Some((path, _)) => write_whole(path, drawn.as_bytes())
            .map_err(|e| Failure::bad_input(format!("cannot write {}: {e}", path.display())))?,
    }
    Ok(ExitCode::from(if wrong { WRONG_RESULT } else { 0 }))
}

/// What was asked for, or what can be looked at.
fn view(arguments: &Arguments, models: &[(String, Flow)]) -> Result<View, Failure> {
    let long = models.iter().find(|(_, flow)| flow.too_long);
    // Who chooses lanes wants to see them.
    let wanted = match arguments.lanes.is_some() {
        true => Some(View::Cycles),
        false => arguments.view,
    };
    match (wanted, long) {
        (Some(View::Cycles), Some((name, _))) => Err(Failure::bad_input(format!(
            "block {} issues more than {MOST} warp instructions under {name}: too many to be shown one by \
             one; leave --view and --lanes out to see its basic blocks, give it less to do, or use \
             `warpsim run --trace`",
            arguments.block
        ))),
        (Some(view), _) => Ok(view),
        (None, None) if steps(models).len() <= FEW => Ok(View::Cycles),
        (None, _) => Ok(View::Blocks),
    }
}

fn job(arguments: &Arguments) -> Result<Job, Failure> {
    run::job(&Wanted {
        what: &arguments.what,
        workload_dir: arguments.workload_dir.as_deref(),
        size: arguments.size,
        usual_size: Size::Tiny,
        seed: arguments.seed,
        param: &arguments.param,
        allow_outside: false,
        cuda: &arguments.cuda,
    })
}

/// The launch that executes most, from 0; of several that do, the first.
fn longest(job: &Job, machine: &Machine, lowering: &Lowering) -> Result<u64, Failure> {
    let (counter, executed) = Counter::new();
    let options = Options {
        observer: Some(Box::new(counter)),
        ..Options::default()
    };
    let mut device = Simulated::new(machine.clone(), options)?;
    execute(job, &mut device, lowering)?;
    let executed = executed.borrow();
    let launches = executed.iter().enumerate();
    let most = launches.max_by_key(|(i, work)| (**work, std::cmp::Reverse(*i)));
    Ok(most.map_or(0, |(i, _)| i as u64))
}

/// Runs the kernel and listens.
fn record(
    job: &Job,
    [launch, block]: [u64; 2],
    machine: &Machine,
    lowering: &Lowering,
) -> Result<(Flow, Outcome), Failure> {
    let (recorder, flow) = Recorder::new(launch, block);
    let options = Options {
        observer: Some(Box::new(recorder)),
        ..Options::default()
    };
    let mut device = Simulated::new(machine.clone(), options)?;
    let outcome = execute(job, &mut device, lowering)?;
    let flow = flow.borrow().clone().settled();
    if flow.kernel.is_none() {
        return Err(Failure::bad_input(format!(
            "there is no launch {launch}: the run has {}, from 0",
            flow.launches
        )));
    }
    if flow.issues.is_empty() {
        return Err(Failure::bad_input(format!(
            "there is no block {block} in launch {launch}"
        )));
    }
    Ok((flow, outcome))
}

/// Leaves only what is issued in the blocks with these letters; time begins with the first.
fn choose_blocks(
    letters: &str,
    names: &Names,
    models: &mut [(String, Flow)],
) -> Result<(), Failure> {
    let known: String = (0..names.described.len()).map(|b| names.name(b)).collect();
    if let Some(unknown) = letters.chars().find(|c| !known.contains(*c)) {
        return Err(Failure::bad_input(format!(
            "--blocks: no basic block is called `{unknown}`; there are: {known}"
        )));
    }
    for (_, flow) in models.iter_mut() {
        let issues = &mut flow.issues;
        issues.retain(|i| letters.contains(names.name(names.block(i.pc))));
        let first = issues.first().map_or(0, |i| i.cycle);
        issues.iter_mut().for_each(|i| i.cycle -= first);
    }
    let counted = |pc| letters.contains(names.name(names.block(pc)));
    if models
        .iter()
        .any(|(_, flow)| flow.count(counted).issued == 0)
    {
        return Err(Failure::bad_input(format!(
            "--blocks: nothing of `{letters}` is executed by the block"
        )));
    }
    Ok(())
}

fn lanes_at_work(models: &[(String, Flow)]) -> Vec<usize> {
    let works = |lane: &usize| {
        let mut issues = models.iter().flat_map(|(_, flow)| &flow.issues);
        issues.any(|i| i.lanes[*lane] != Lane::Idle)
    };
    (0..LANES).filter(works).collect()
}

fn lane_list(text: &str) -> Result<Vec<usize>, Failure> {
    let wrong = || {
        Failure::bad_input(format!(
            "--lanes: `{text}` is not a list of lanes from 0 to {}, as in 0-3 or 0,4",
            LANES - 1
        ))
    };
    let mut lanes = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let number = |n: &str| n.trim().parse::<usize>().map_err(|_| wrong());
        let (from, to) = (number(from)?, number(to)?);
        if from > to || to >= LANES {
            return Err(wrong());
        }
        lanes.extend(from..=to);
    }
    lanes.sort_unstable();
    lanes.dedup();
    Ok(lanes)
}
