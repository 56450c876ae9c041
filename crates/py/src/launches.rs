//! Running kernels on arrays, and running what has a name.

use crate::arguments::{self, Given};
use crate::errors;
use crate::machine::Machine;
use crate::observed::Wanted;
use crate::program::Program;
use crate::run::{How, Rig};
use crate::scheduler::Class;
use crate::watch::Raised;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::path::Path;
use std::sync::Arc;
use warpsim_sim::gpu::api::Launch;
use warpsim_workloads::launchfile;
use warpsim_workloads::lowering::Lowering;
use warpsim_workloads::registers::Registers;
use warpsim_workloads::suite::{self, Parameters, Size};
use warpsim_workloads::{DeviceError, Outcome, Session, args};

/// What every run can be told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options<'py> {
    functional: bool,
    check_races: bool,
    max_cycles: Option<u64>,
    profile: bool,
    timeline: Option<u16>,
    view: Option<u16>,
    progress: Option<Py<PyAny>>,
    scheduler: Option<Bound<'py, PyType>>,
    ptxas: bool,
}

impl Options<'_> {
    fn how(self, raised: &Raised) -> PyResult<How> {
        Ok(How {
            functional: self.functional,
            check_races: self.check_races,
            max_cycles: self.max_cycles,
            wanted: Wanted {
                profile: self.profile,
                timeline: self.timeline,
                view: self.view,
            },
            progress: self.progress,
            scheduler: self.scheduler.as_ref().map(Class::new).transpose()?,
            raised: raised.clone(),
        })
    }

    fn scheduler_name(&self) -> PyResult<Option<String>> {
        let class = self.scheduler.as_ref();
        class.map(|c| Ok(c.name()?.to_string())).transpose()
    }
}

/// An array of bytes, as Python has it: read where it is, and written back if it may be.
#[derive(FromPyObject)]
struct Array {
    label: String,
    bytes: PyBuffer<u8>,
    writable: bool,
    /// NumPy's name for what its elements are.
    dtype: String,
}

/// A kernel to launch.
#[derive(FromPyObject)]
struct Step {
    program: usize,
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    registers: Option<u32>,
    together: bool,
    given: Vec<Given>,
}

/// Launches kernels one after the other, on arrays that are written back at the end.
#[pyfunction]
pub fn run_launches(
    py: Python<'_>,
    machine: &Machine,
    programs: Vec<PyRef<'_, Program>>,
    arrays: Vec<Bound<'_, PyAny>>,
    steps: Vec<Bound<'_, PyAny>>,
    symbols: Vec<(usize, String, Vec<u8>)>,
    options: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let options: Options = options.extract()?;
    let arrays: Vec<Array> = extracted(&arrays)?;
    let steps: Vec<Step> = extracted(&steps)?;
    let texts: Vec<(String, String)> = programs
        .iter()
        .map(|p| (p.name.clone(), p.text.clone()))
        .collect();
    let work = Work {
        texts,
        arrays,
        steps,
        symbols,
    };
    simulate(py, machine, options, move |rig, lowering| {
        work.run(rig, lowering)?;
        Ok(Outcome::Unchecked)
    })
}

fn extracted<T>(all: &[Bound<'_, PyAny>]) -> PyResult<Vec<T>>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    all.iter().map(|one| one.extract::<T>()).collect()
}

/// Runs a workload of the suite, or a launch file.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // as Python calls it
pub fn run_named(
    py: Python<'_>,
    machine: &Machine,
    what: String,
    size: Option<&str>,
    parameters: Vec<String>,
    seed: Option<u64>,
    allow_outside: bool,
    options: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let options: Options = options.extract()?;
    let sizes = warpsim_study::format::SIZES;
    let size = match size {
        None => Size::default(),
        Some(name) => match sizes.iter().find(|(n, _)| *n == name) {
            Some((_, size)) => *size,
            None => {
                let names: Vec<&str> = sizes.iter().map(|(n, _)| *n).collect();
                let text = format!("no size is called `{name}`; sizes: {}", names.join(", "));
                return Err(errors::bad_input(py, &text));
            }
        },
    };
    simulate(py, machine, options, move |rig, lowering| {
        let mut session = Session {
            device: &mut rig.device,
            compiler: lowering,
        };
        if what.ends_with(".toml") || what.contains(['/', '\\']) {
            let path = Path::new(&what);
            let mut file = launchfile::read(path)?;
            file.allow_outside = allow_outside;
            let folder = path.parent().unwrap_or(Path::new(""));
            return launchfile::run(&file, folder, seed, &mut session);
        }
        let workload = suite::find(&what)?;
        let parameters = Parameters::resolve(workload.info().parameters, size, &parameters)?;
        workload.run(&parameters, seed.unwrap_or(1), &mut session)
    })
}

/// Runs without the interpreter's lock.
fn simulate(
    py: Python<'_>,
    machine: &Machine,
    options: Options<'_>,
    work: impl FnOnce(&mut Rig, &Lowering) -> Result<Outcome, DeviceError> + Send,
) -> PyResult<String> {
    let raised = Raised::default();
    let scheduler = options.scheduler_name()?;
    let ptxas = options.ptxas;
    let how = options.how(&raised)?;
    let machine = Arc::clone(&machine.0);
    let result = py.detach(|| {
        let lowering = Lowering::from(match ptxas {
            true => Registers::assembler()?,
            false => Registers::Estimate,
        });
        let mut rig = Rig::new(&machine, how)?;
        let outcome = match raised.any() {
            // A scheduler that could not even be made.
            true => Outcome::Unchecked,
            false => work(&mut rig, &lowering)?,
        };
        Ok(rig.report(&outcome, scheduler.as_deref()))
    });
    // Why it was stopped says more than that it was.
    match raised.take() {
        Some(error) => Err(error),
        None => result.map_err(|e: DeviceError| errors::of_device(py, &e)),
    }
}

struct Work {
    texts: Vec<(String, String)>,
    arrays: Vec<Array>,
    steps: Vec<Step>,
    symbols: Vec<(usize, String, Vec<u8>)>,
}

impl Work {
    fn run(&self, rig: &mut Rig, lowering: &Lowering) -> Result<(), DeviceError> {
        let mut session = Session {
            device: &mut rig.device,
            compiler: lowering,
        };
        let mut modules = Vec::new();
        for (name, text) in &self.texts {
            modules.push(session.load_text(name, text)?);
        }
        for (program, name, bytes) in &self.symbols {
            session.set_symbol(&modules[*program], name, bytes)?;
        }
        let mut addresses = Vec::new();
        for array in &self.arrays {
            addresses.push(array.upload(&mut session)?);
        }
        let buffers = addresses.iter().zip(&self.arrays);
        let buffers: Vec<_> = buffers.map(|(at, a)| (*at, a.dtype.as_str())).collect();
        for step in &self.steps {
            let module = &modules[step.program];
            let kernel = args::find_kernel(&module.program, &step.kernel);
            let kernel = kernel.map_err(DeviceError::bad_input)?;
            let launch = Launch {
                kernel,
                grid: step.grid,
                block: step.block,
                dynamic_shared: step.shared,
                params: arguments::pack(&module.program.kernels[kernel], &step.given, &buffers)?,
                registers: step.registers,
            };
            if step.together {
                session.launch_prepared(module, &step.kernel, &launch)?;
            } else {
                session.device.launch(module.id, &launch)?;
            }
        }
        // Only now: a run that fails leaves the arrays as they were.
        for (array, address) in self.arrays.iter().zip(&addresses) {
            if array.writable {
                array.download(rig, *address)?;
            }
        }
        Ok(())
    }
}

impl Array {
    /// Copies it into simulated memory, straight from where Python has it.
    fn upload(&self, session: &mut Session<'_>) -> Result<u64, DeviceError> {
        let bytes = self.bytes.len_bytes();
        let address = session.zeroed(&self.label, bytes as u64)?;
        if bytes == 0 {
            return Ok(address);
        }
        Python::attach(|_py| {
            // SAFETY: the buffer is C-contiguous (Python made it so), lives as long as `self`, and
            // Python code, which could change it, waits for the lock that is held here.
            let data =
                unsafe { std::slice::from_raw_parts(self.bytes.buf_ptr().cast::<u8>(), bytes) };
            session.device.write(address, data)
        })?;
        Ok(address)
    }

    /// Copies simulated memory to where Python has it.
    fn download(&self, rig: &Rig, address: u64) -> Result<(), DeviceError> {
        let bytes = self.bytes.len_bytes() as u64;
        if bytes == 0 {
            return Ok(());
        }
        let failed = |e: &dyn std::fmt::Display| {
            DeviceError::bad_input(format!("{}: cannot be written back: {e}", self.label))
        };
        let data = rig
            .device
            .gpu
            .look(address, bytes)
            .map_err(|e| failed(&e))?;
        Python::attach(|py| self.bytes.copy_from_slice(py, data).map_err(|e| failed(&e)))
    }
}
