//! A real GPU through the CUDA driver: memory, modules, launches.
//!
//! Kernels are as safe as the hardware makes them: a wrong address is an error of the launch,
//! after which the context is unusable and every later call fails with the same error.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::api::{Api, Handle, Status};

/// The library of the driver.
const LIBRARY: &str = "libcuda.so.1";
/// Work on the GPU is not done yet.
const NOT_READY: Status = 600;
/// No kernel that is launched here takes this long unless it never ends.
const PATIENCE: Duration = Duration::from_secs(30);

/// A GPU and its driver.
pub struct Driver {
    pub(super) api: Api,
    context: Handle,
    /// The GPU's name.
    pub gpu: String,
    /// Version of driver and interface.
    pub version: String,
    /// Compute capability, 90 for `sm_90`.
    pub capability: u32,
    /// How much the driver's compiler optimizes.
    pub level: Level,
    /// A kernel does not end. Giving anything back would wait for it.
    stuck: AtomicBool,
}

/// How much the driver's compiler optimizes: from 0, not at all, to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(u8);

impl Level {
    /// Every instruction as it is written.
    pub const NONE: Level = Level(0);
    /// What the driver does unless it is told otherwise.
    pub const FULL: Level = Level(4);
}

impl std::str::FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Level, String> {
        let level = text.parse().ok().filter(|level| *level <= Level::FULL.0);
        level.map(Level).ok_or("a level is 0, 1, 2, 3 or 4".into())
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

// SAFETY: the driver's functions may be called from any thread; the context handle is only
// handed to them.
unsafe impl Send for Driver {}
// SAFETY: as above; what changes behind a shared reference is atomic.
unsafe impl Sync for Driver {}

/// Memory on the GPU, given back when dropped.
pub struct Buffer<'a> {
    driver: &'a Driver,
    /// Where it lies.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
}

/// A compiled module, unloaded when dropped.
pub struct Module<'a> {
    driver: &'a Driver,
    handle: Handle,
}

/// A kernel of a module.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    driver: &'a Driver,
    handle: Handle,
    _module: std::marker::PhantomData<&'a Module<'a>>,
}

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
}

impl Driver {
    /// Opens GPU 0. The error says why there is none: no driver, no GPU, a driver too old.
    pub fn open() -> Result<Driver, String> {
        let api = Api::load(LIBRARY)?;
        let mut driver = Driver {
            api,
            context: null_mut(),
            gpu: String::new(),
            version: String::new(),
            capability: 0,
            level: Level::FULL,
            stuck: AtomicBool::new(false),
        };
        let (mut device, mut cuda) = (0, 0);
        let mut name = [0u8; 256];
        let mut capability = [0; 2];
        let api = &driver.api;
        // SAFETY: every pointer is to a live variable of the type the driver expects.
        unsafe {
            driver.check((api.init)(0), "starting the driver")?;
            driver.check((api.device)(&mut device, 0), "finding a GPU")?;
            let text = name.as_mut_ptr().cast();
            driver.check((api.device_name)(text, 255, device), "naming the GPU")?;
            driver.check((api.version)(&mut cuda), "asking the driver's version")?;
            for (value, attribute) in capability.iter_mut().zip([75, 76]) {
                let status = (api.attribute)(value, attribute, device);
                driver.check(status, "asking the GPU's capability")?;
            }
            let mut context = null_mut();
            let status = (api.retain)(&mut context, device);
            driver.check(status, "making a context")?;
            driver.context = context;
        }
        driver.attach()?;
        let text = CStr::from_bytes_until_nul(&name).unwrap_or(c"unknown");
        driver.gpu = text.to_string_lossy().into_owned();
        let module = std::fs::read_to_string("/sys/module/nvidia/version");
        let module = module.map_or("unknown".into(), |v| v.trim().to_string());
        driver.version = format!("{module}, CUDA {}.{}", cuda / 1000, cuda % 1000 / 10);
        driver.capability = (capability[0] * 10 + capability[1]) as u32;
        Ok(driver)
    }

    /// Lets the calling thread use the GPU; [`open`](Driver::open) has done it for its own.
    pub fn attach(&self) -> Result<(), String> {
        // SAFETY: the context is retained for the life of the process.
        let status = unsafe { (self.api.current)(self.context) };
        self.check(status, "using the context")
    }

    pub(super) fn check(&self, status: Status, doing: &str) -> Result<(), String> {
        if status == 0 {
            return Ok(());
        }
        let mut text = null();
        // SAFETY: `text` is a live variable; what it points to afterwards is static.
        let found = unsafe { (self.api.error_text)(status, &mut text) } == 0 && !text.is_null();
        let text = if found {
            // SAFETY: the driver gave a terminated text that lives as long as the library.
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()
        } else {
            format!("error {status}")
        };
        Err(format!("{doing}: {text}"))
    }

    /// Reserves zeroed memory.
    pub fn alloc(&self, bytes: u64) -> Result<Buffer<'_>, String> {
        let address = self.alloc_raw(bytes)?;
        Ok(Buffer {
            driver: self,
            address,
            bytes,
        })
    }

    /// Gives back what [`alloc_raw`](Driver::alloc_raw) reserved. A failure means that the
    /// context is lost, and the memory with it.
    pub(super) fn free_raw(&self, address: u64) {
        if !self.stuck.load(Ordering::Relaxed) {
            // SAFETY: the driver refuses addresses that it did not give.
            unsafe { (self.api.free)(address) };
        }
    }

    /// Reserves memory that the caller gives back.
    pub(super) fn alloc_raw(&self, bytes: u64) -> Result<u64, String> {
        let mut address = 0;
        // SAFETY: `address` is a live variable. The driver refuses sizes it cannot serve.
        let status = unsafe { (self.api.alloc)(&mut address, bytes.max(1) as usize) };
        self.check(status, &format!("reserving {bytes} bytes"))?;
        self.fill(address, bytes.max(1), 0)?;
        Ok(address)
    }

    /// Memory with these contents.
    pub fn upload(&self, data: &[u8]) -> Result<Buffer<'_>, String> {
        let buffer = self.alloc(data.len() as u64)?;
        self.write(buffer.address, data)?;
        Ok(buffer)
    }

    /// Copies to the GPU.
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), String> {
        // SAFETY: `data` is readable for its length; the driver checks the GPU's side.
        let status = unsafe { (self.api.to_device)(address, data.as_ptr().cast(), data.len()) };
        self.check(status, "copying to the GPU")
    }

    /// Copies from the GPU.
    pub fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, String> {
        let mut data = vec![0u8; bytes as usize];
        // SAFETY: `data` is writable for its length; the driver checks the GPU's side.
        let status =
            unsafe { (self.api.from_device)(data.as_mut_ptr().cast(), address, data.len()) };
        self.check(status, "copying from the GPU")?;
        Ok(data)
    }

    /// Copies within the GPU's memory.
    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), String> {
        // SAFETY: no host memory is touched; the driver checks both ranges.
        let status = unsafe { (self.api.within)(to, from, bytes as usize) };
        self.check(status, "copying on the GPU")
    }

    /// Sets bytes.
    pub fn fill(&self, address: u64, bytes: u64, value: u8) -> Result<(), String> {
        // SAFETY: no host memory is touched; the driver checks the range.
        let status = unsafe { (self.api.fill)(address, value, bytes as usize) };
        self.check(status, "setting memory")?;
        self.finish()
    }

    /// Compiles PTX at this driver's [level](Driver::level). The error has the compiler's log.
    pub fn load(&self, ptx: &str) -> Result<Module<'_>, String> {
        self.load_at(ptx, self.level)
    }

    /// Compiles PTX at a level of optimization.
    pub fn load_at(&self, ptx: &str, level: Level) -> Result<Module<'_>, String> {
        let text = CString::new(ptx).map_err(|_| "PTX with a zero byte".to_string())?;
        let mut log = vec![0u8; 8192];
        let mut handle = null_mut();
        // CU_JIT_ERROR_LOG_BUFFER, its size, CU_JIT_OPTIMIZATION_LEVEL. The driver wants numbers
        // in the place of pointers.
        let mut options: [c_int; 3] = [5, 6, 7];
        let number = std::ptr::without_provenance_mut::<c_void>;
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            number(log.len() - 1),
            number(usize::from(level.0)),
        ];
        // SAFETY: the text is terminated, options and values have three entries each, and the
        // log has the size that is given, less one.
        let status = unsafe {
            (self.api.load_module)(
                &mut handle,
                text.as_ptr().cast(),
                3,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        self.check(status, "compiling PTX").map_err(|e| {
            let log = CStr::from_bytes_until_nul(&log).unwrap_or(c"");
            format!("{e}\n{}", log.to_string_lossy().trim_end())
        })?;
        Ok(Module {
            driver: self,
            handle,
        })
    }

    /// Waits until everything launched is done.
    fn finish(&self) -> Result<(), String> {
        let start = Instant::now();
        loop {
            // SAFETY: the null stream always exists.
            match unsafe { (self.api.query)(null_mut()) } {
                NOT_READY if start.elapsed() > PATIENCE => {
                    self.stuck.store(true, Ordering::Relaxed);
                    return Err(format!("the kernel has not ended in {PATIENCE:?}"));
                }
                NOT_READY if start.elapsed() < Duration::from_millis(2) => std::hint::spin_loop(),
                NOT_READY => std::thread::sleep(Duration::from_micros(200)),
                status => return self.check(status, "running"),
            }
        }
    }
}

impl Buffer<'_> {
    /// What it holds.
    pub fn read(&self) -> Result<Vec<u8>, String> {
        self.driver.read(self.address, self.bytes)
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        self.driver.free_raw(self.address);
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        if !self.driver.stuck.load(Ordering::Relaxed) {
            // SAFETY: the handle came from loading and is unloaded once.
            unsafe { (self.driver.api.unload)(self.handle) };
        }
    }
}

impl Module<'_> {
    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Result<Kernel<'_>, String> {
        let text = CString::new(name).map_err(|_| "a name with a zero byte".to_string())?;
        let mut handle = null_mut();
        // SAFETY: the module is loaded and the name terminated.
        let status = unsafe { (self.driver.api.function)(&mut handle, self.handle, text.as_ptr()) };
        self.driver
            .check(status, &format!("finding kernel {name}"))?;
        Ok(Kernel {
            driver: self.driver,
            handle,
            _module: std::marker::PhantomData,
        })
    }

    /// Address and size of a module variable.
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        let text = CString::new(name).ok()?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded and the name terminated.
        let status = unsafe {
            (self.driver.api.global)(&mut address, &mut bytes, self.handle, text.as_ptr())
        };
        (status == 0).then_some((address, bytes as u64))
    }
}

impl Kernel<'_> {
    /// Runs it to its end. `params` is the parameter block as the kernel declares it.
    pub fn launch(&self, shape: &Shape, params: &[u8]) -> Result<(), String> {
        let driver = self.driver;
        let [gx, gy, gz] = shape.grid;
        let [bx, by, bz] = shape.block;
        if shape.shared > 48 << 10 {
            // SAFETY: the handle is a kernel's. 8: CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
            let status =
                unsafe { (driver.api.function_attribute)(self.handle, 8, shape.shared as c_int) };
            driver.check(status, "asking for more shared memory")?;
        }
        let mut bytes = params.len();
        // CU_LAUNCH_PARAM_BUFFER_POINTER, …_SIZE, …_END.
        let mut extra = [
            std::ptr::without_provenance_mut(1),
            params.as_ptr().cast_mut().cast(),
            std::ptr::without_provenance_mut(2),
            (&raw mut bytes).cast(),
            null_mut(),
        ];
        // SAFETY: the block of parameters is readable for its size, which the driver compares
        // with what the kernel declares, and is copied before the call returns.
        let status = unsafe {
            let extra = if bytes == 0 {
                null_mut()
            } else {
                extra.as_mut_ptr()
            };
            (driver.api.launch)(
                self.handle,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shape.shared,
                null_mut(),
                null_mut(),
                extra,
            )
        };
        driver.check(status, "launching")?;
        driver.finish()
    }
}
