//! Modules: images that the program hands over, compiled when they are.

use super::functions::Function;
use super::memory::{Allocation, Kind};
use super::{Program, Reply, Session};
use crate::refused::{Answer, Refused};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use warpsim_doors::wire::status;
use warpsim_images::{Error, Image, Ptx};
use warpsim_ptx::isa::Space;
use warpsim_ptx::kernel::Program as Kernels;
use warpsim_ptx::link::link_texts;
use warpsim_workloads::{ModuleId, Session as Host};

/// A loaded module.
pub struct Module {
    pub id: ModuleId,
    pub program: Arc<Kernels>,
    /// Its functions, as far as they were asked for.
    pub functions: BTreeMap<String, u64>,
    /// Address and bytes of its variables.
    pub variables: Vec<(u64, u64)>,
    /// Ten times the major number of what it was compiled for, and the minor one.
    pub capability: u32,
}

/// What a global variable has that host code uses, too.
const MANAGED: &str = ".attribute(.managed)";

/// The images of a request: for each its length and its bytes.
fn parts(count: u32, mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut all = Vec::new();
    for _ in 0..count {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (part, rest) = rest.split_at_checked(length)?;
        all.push(part);
        bytes = rest;
    }
    bytes.is_empty().then_some(all)
}

impl Session {
    /// Loads images as one module.
    pub(super) fn load(&mut self, count: u32, bytes: &[u8]) -> Answer<u64> {
        let parts = parts(count, bytes).ok_or(status::INVALID_VALUE)?;
        let invalid = |e: Error| {
            Refused::told(
                status::INVALID_IMAGE,
                format!("an image of the program: {e}"),
            )
        };
        let images = parts
            .iter()
            .map(|part| warpsim_images::read(part).map_err(invalid));
        let images: Vec<Image> = images.collect::<Answer<_>>()?;
        let texts = self.texts(&images)?;
        let capability = texts
            .iter()
            .map(|t| t.capability.number)
            .max()
            .unwrap_or_default();
        let handle = self.handle();
        let number = self.modules.len() + 1;
        let names: Vec<String> = (1..=texts.len())
            .map(|n| format!("module {number}, part {n}"))
            .collect();
        let units: Vec<(&str, &str)> = names
            .iter()
            .zip(&texts)
            .map(|(n, t)| (n.as_str(), t.text.as_str()))
            .collect();
        let failed = |text: String| Refused::told(status::INVALID_PTX, text.trim_end().to_string());
        let text = link_texts(&units).map_err(failed)?;
        let (id, program) = self.compile(&format!("module {number}.ptx"), &text)?;
        let symbols = program.symbols.iter();
        let variables = symbols
            .filter_map(|s| self.device.gpu.symbol(id.0, &s.name))
            .collect();
        self.modules.insert(
            handle,
            Module {
                id,
                program,
                functions: BTreeMap::new(),
                variables,
                capability,
            },
        );
        Ok(handle)
    }

    /// The PTX of each image that has any.
    fn texts<'a>(&self, images: &'a [Image]) -> Answer<Vec<&'a Ptx>> {
        let mut texts = Vec::new();
        let mut refused = None;
        for image in images {
            match image.ptx_for(self.settings.capability) {
                Ok(ptx) => texts.push(ptx),
                Err(e) => refused = refused.or(Some(e)),
            }
        }
        match (texts.is_empty(), refused) {
            (false, _) => Ok(texts),
            (true, Some(e)) => Err(Refused::told(
                status::NO_BINARY,
                format!("an image of the program has {e}"),
            )),
            (true, None) => Err(status::INVALID_IMAGE.into()),
        }
    }

    /// Compiles PTX and places it on the GPU.
    fn compile(&mut self, name: &str, text: &str) -> Answer<(ModuleId, Arc<Kernels>)> {
        let lowering = self.settings.lowering.clone();
        let is_managed = text.contains(MANAGED);
        // The attribute says nothing to kernels. Blanks keep the columns of messages.
        let text = text.replace(MANAGED, &" ".repeat(MANAGED.len()));
        let compiler = Pages {
            lowering,
            is_managed,
        };
        let mut host = Host {
            device: &mut self.device,
            compiler: &compiler,
        };
        let module = host.load_text(name, &text);
        let module = module
            .map_err(|e| Refused::told(status::INVALID_PTX, e.text.trim_end().to_string()))?;
        Ok((module.id, module.program))
    }

    pub(super) fn module(&self, module: u64) -> Answer<&Module> {
        self.modules
            .get(&module)
            .ok_or(status::INVALID_HANDLE.into())
    }

    /// A module that the program needs no longer. What it has placed stays, for statistics name it.
    pub(super) fn unload(&mut self, module: u64) -> Answer<Reply> {
        let gone = self.modules.remove(&module).ok_or(status::INVALID_HANDLE)?;
        gone.functions
            .values()
            .for_each(|f| drop(self.functions.remove(f)));
        Ok(Reply::default())
    }

    /// A function by name.
    pub(super) fn function(&mut self, module: u64, name: &[u8]) -> Answer<Reply> {
        let name = String::from_utf8_lossy(name).into_owned();
        let found = self.module(module)?;
        let program = found.program.clone();
        let Some(kernel) = program.kernels.iter().position(|k| k.name == name) else {
            let rejected = program.rejected.iter().find(|(n, _)| *n == name);
            return Err(match rejected {
                Some((_, reasons)) => {
                    let reasons: Vec<String> = reasons.iter().map(|d| d.message.clone()).collect();
                    let shown = warpsim_present::mangled::shown(&name);
                    Refused::told(
                        status::INVALID_PTX,
                        format!("kernel {shown} cannot be run: {}", reasons.join("; ")),
                    )
                }
                None => status::NOT_FOUND.into(),
            });
        };
        let handle = match found.functions.get(&name) {
            Some(handle) => *handle,
            None => {
                let handle = self.handle();
                self.functions
                    .insert(handle, Function::new(module, kernel, &name));
                if let Some(module) = self.modules.get_mut(&module) {
                    module.functions.insert(name, handle);
                }
                handle
            }
        };
        let kernel = &program.kernels[kernel];
        let mut words = vec![handle, kernel.param_bytes.into()];
        for parameter in &kernel.params {
            words.extend([u64::from(parameter.offset), u64::from(parameter.size)]);
        }
        Ok(Reply::words(words))
    }

    /// A variable by name.
    pub(super) fn global(&self, module: u64, name: &[u8]) -> Answer<Reply> {
        let name = String::from_utf8_lossy(name);
        let found = self.device.gpu.symbol(self.module(module)?.id.0, &name);
        let (address, bytes) = found.ok_or(status::NOT_FOUND)?;
        Ok(Reply::words(vec![address, bytes]))
    }

    /// A variable that host code uses, too: the program sees it from now on.
    pub(super) fn managed(
        &mut self,
        module: u64,
        name: &[u8],
        program: &mut dyn Program,
    ) -> Answer<Reply> {
        let reply = self.global(module, name)?;
        let [address, bytes] = reply.words[..] else {
            return Err(status::NOT_FOUND.into());
        };
        if let Entry::Vacant(unknown) = self.memory.entry(address) {
            let page = super::memory::page();
            let variable = Allocation {
                kind: Kind::Managed,
                bytes,
                mapped: None,
                of_module: true,
            };
            unknown.insert(variable);
            self.share(address, bytes.max(1).next_multiple_of(page), program)?;
        }
        Ok(reply)
    }

    /// All functions.
    pub(super) fn all_functions(&mut self, module: u64) -> Answer<Reply> {
        let names: Vec<String> = self
            .module(module)?
            .program
            .kernels
            .iter()
            .map(|k| k.name.clone())
            .collect();
        let mut words = Vec::new();
        for name in names {
            words.extend(self.function(module, name.as_bytes())?.words.first());
        }
        Ok(Reply::words(words))
    }

    /// Binds a texture reference.
    pub(super) fn bind_texture(&mut self, module: u64, name: &[u8], texture: u64) -> Answer<Reply> {
        let id = self.module(module)?.id;
        let texture = self.texture(texture)?;
        let name = String::from_utf8_lossy(name);
        let bound = self.device.gpu.bind_texref(id.0, &name, texture);
        bound.map_err(|e| Refused::told(status::INVALID_TEXTURE, e.to_string()))?;
        Ok(Reply::default())
    }
}

/// Compiles, and gives variables of modules with managed ones pages of their own.
struct Pages {
    lowering: warpsim_workloads::lowering::Lowering,
    is_managed: bool,
}

impl warpsim_workloads::Compiler for Pages {
    fn compile(
        &self,
        name: &str,
        ptx: &str,
    ) -> Result<Arc<Kernels>, warpsim_workloads::DeviceError> {
        let program = self.lowering.compile(name, ptx)?;
        if !self.is_managed {
            return Ok(program);
        }
        let mut program = Kernels::clone(&program);
        let globals = program
            .symbols
            .iter_mut()
            .filter(|s| s.space == Space::Global);
        globals.for_each(|s| s.align = s.align.max(super::memory::page()));
        Ok(Arc::new(program))
    }
}
