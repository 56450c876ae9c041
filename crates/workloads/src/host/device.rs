//! A GPU as a host program sees it.

use std::fmt;
use std::sync::Arc;
use warpsim_ptx::kernel::{Kernel, Program};
use warpsim_ptx::rewrite::vtw::Variant;
use warpsim_sim::gpu::api::{Launch, Texture};

/// Registers that a thread of a present GPU can name.
pub const MOST_REGISTERS: u32 = 255;

/// Whose fault an error is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// A file, an argument or a launch that makes no sense: exit code 2.
    BadInput,
    /// The simulated program did something wrong (an access out of bounds, a trap, a
    /// deadlock): exit code 3.
    ProgramFailed,
}

/// An error of the device or of the host program that drives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceError {
    /// Whose fault it is.
    pub category: Category,
    /// The full text, several lines where that helps.
    pub text: String,
}

impl DeviceError {
    /// An input that makes no sense.
    pub fn bad_input(text: impl Into<String>) -> DeviceError {
        DeviceError {
            category: Category::BadInput,
            text: text.into(),
        }
    }

    /// The simulated program went wrong.
    pub fn program_failed(text: impl Into<String>) -> DeviceError {
        DeviceError {
            category: Category::ProgramFailed,
            text: text.into(),
        }
    }

    /// The same error, saying first where it happened.
    pub fn context(mut self, place: impl fmt::Display) -> DeviceError {
        self.text = format!("{place}: {}", self.text);
        self
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for DeviceError {}

impl From<warpsim_present::SourceError> for DeviceError {
    fn from(error: warpsim_present::SourceError) -> DeviceError {
        DeviceError::bad_input(error.to_string())
    }
}

/// A loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub usize);

/// What a program was made from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// The PTX.
    pub ptx: &'a str,
    /// The listing of its machine code, compressed, where there is one.
    pub listing: Option<&'a [u8]>,
}

/// What a host program may ask of a GPU.
pub trait Device {
    /// Reserves global memory, zeroed, aligned to at least 256 bytes. `label` is what messages
    /// call it.
    fn alloc(&mut self, bytes: u64, label: &str) -> Result<u64, DeviceError>;
    /// Copies from the host to global memory.
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError>;
    /// Copies from global memory to the host.
    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, DeviceError>;
    /// Sets `bytes` bytes to a value.
    fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), DeviceError>;
    /// Copies within global memory, as if through a buffer.
    fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), DeviceError>;
    /// Loads a module: gives its symbols addresses and their initial contents.
    fn load(&mut self, program: Arc<Program>) -> Result<ModuleId, DeviceError>;
    /// The same for a device that may want more of a program than what was made of its PTX.
    fn load_from(
        &mut self,
        source: &Source<'_>,
        program: Arc<Program>,
    ) -> Result<ModuleId, DeviceError> {
        let _ = source;
        self.load(program)
    }
    /// Address and size of a `.global` or `.const` variable.
    fn symbol(&self, module: ModuleId, name: &str) -> Option<(u64, u64)>;
    /// Binds a texture to a `.texref` of the module, or to a new handle when no name is given.
    /// Returns the 64-bit handle.
    fn bind_texture(
        &mut self,
        module: ModuleId,
        name: Option<&str>,
        texture: Texture,
    ) -> Result<u64, DeviceError>;
    /// Blocks of a launch that the GPU holds at once; `None` when it cannot say.
    fn resident_blocks(
        &self,
        _module: ModuleId,
        _launch: &Launch,
    ) -> Result<Option<u32>, DeviceError> {
        Ok(None)
    }
    /// Runs a kernel to its end.
    fn launch(&mut self, module: ModuleId, launch: &Launch) -> Result<(), DeviceError>;
    /// Runs a kernel whose blocks wait for each other. The caller has made sure that the GPU
    /// holds all of them.
    fn launch_together(&mut self, module: ModuleId, launch: &Launch) -> Result<(), DeviceError> {
        self.launch(module, launch)
    }
    /// How kernels are to be rewritten before they are compiled, if they are.
    fn virtualize(&self) -> Option<Variant> {
        None
    }
    /// Registers of a thread within which rewriting hoists: those that it may have before its
    /// values go to local memory.
    fn hoist_limit(&self, _kernel: &Kernel) -> u32 {
        MOST_REGISTERS
    }
}

/// Turns PTX into a program. `name` is what messages call the text.
pub trait Compiler {
    /// Parses and lowers; the error holds every diagnostic.
    fn compile(&self, name: &str, ptx: &str) -> Result<Arc<Program>, DeviceError>;
}

impl<F> Compiler for F
where
    F: Fn(&str, &str) -> Result<Arc<Program>, DeviceError>,
{
    fn compile(&self, name: &str, ptx: &str) -> Result<Arc<Program>, DeviceError> {
        self(name, ptx)
    }
}
