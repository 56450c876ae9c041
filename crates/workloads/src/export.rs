//! A workload written down as a launch file: everything its host code asked of the device, in order,
//! so that others (a GPU, another simulator) can run the very same thing.

use crate::host::device::{Device, DeviceError, ModuleId};
use crate::host::element::Element;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use warpsim_ptx::isa::Type;
use warpsim_ptx::kernel::{Kernel, Param, Program};
use warpsim_ptx::rewrite::vtw::Variant;
use warpsim_sim::gpu::api::{Launch, TexelKind, Texture};

/// A file of an export: its name and contents.
pub type ExportedFile = (String, Vec<u8>);

/// A device that runs everything on another and writes it down.
pub struct Recorder<'a> {
    inner: &'a mut dyn Device,
    program: Option<Arc<Program>>,
    buffers: Vec<Buffer>,
    /// Variables of the module: name, address, bytes.
    variables: Vec<(String, u64, u64)>,
    /// Textures: the table's text, and the handle.
    textures: Vec<(String, u64)>,
    steps: String,
    files: Vec<ExportedFile>,
    /// What was read since the last launch: address and bytes. Reading changes nothing that the
    /// borrow checker should see.
    read: Mutex<Vec<(u64, u64)>>,
    /// Why it cannot be written down, if it cannot.
    refused: Option<String>,
}

struct Buffer {
    name: String,
    address: u64,
    bytes: u64,
    /// What a texture over it says of its elements.
    texels: Option<Element>,
}

impl Buffer {
    /// Its elements' type and size: as a texture has them, else words, where it is made of whole ones.
    fn element(&self) -> (Element, u64) {
        let element = match self.texels {
            Some(element) => element,
            None if self.bytes.is_multiple_of(4) => Element::U32,
            None => Element::U8,
        };
        (element, element.bytes() as u64)
    }
}

/// The type of a texture's components, where launch files have it.
fn texels(texture: &Texture) -> Option<Element> {
    Some(match (texture.kind, texture.bits) {
        (TexelKind::Unsigned, 8) => Element::U8,
        (TexelKind::Unsigned, 16) => Element::U16,
        (TexelKind::Unsigned, 32) => Element::U32,
        (TexelKind::Signed, 8) => Element::I8,
        (TexelKind::Signed, 16) => Element::I16,
        (TexelKind::Signed, 32) => Element::I32,
        (TexelKind::Float, 32) => Element::F32,
        _ => return None,
    })
}

impl<'a> Recorder<'a> {
    /// Records what is asked of `inner`.
    pub fn new(inner: &'a mut dyn Device) -> Recorder<'a> {
        Recorder {
            inner,
            program: None,
            buffers: Vec::new(),
            variables: Vec::new(),
            textures: Vec::new(),
            steps: String::new(),
            files: Vec::new(),
            read: Mutex::default(),
            refused: None,
        }
    }

    /// The launch file, called `NAME.toml`, and the files that it names. `ptx` is the text of the
    /// kernels, `about` what it is.
    pub fn finish(
        self,
        name: &str,
        about: &str,
        ptx: &str,
    ) -> Result<Vec<ExportedFile>, DeviceError> {
        if let Some(why) = self.refused {
            return Err(DeviceError::bad_input(format!(
                "{name} cannot be exported: {why}"
            )));
        }
        let mut out = format!(
            "# Written by `warpsim export`. {about}\n\
             # Every step is one that the workload's host code made, in its order.\n\
             schema = 1\ndescription = {about:?}\nptx = \"{name}.ptx\"\n"
        );
        for buffer in &self.buffers {
            let (ty, bytes) = buffer.element();
            let _ = writeln!(
                out,
                "\n[buffers.{}]\ntype = \"{ty}\"\ncount = {}",
                buffer.name,
                buffer.bytes / bytes
            );
        }
        for (table, _) in &self.textures {
            out += table;
        }
        out += &self.steps;
        let mut files = vec![(format!("{name}.ptx"), ptx.as_bytes().to_vec())];
        files.extend(self.files);
        let mut read = self
            .read
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        read.sort_unstable();
        read.dedup();
        for (address, bytes) in read {
            let Some(buffer) = holding(&self.buffers, address, bytes) else {
                continue;
            };
            let (_, size) = buffer.element();
            let offset = address - buffer.address;
            let (size_of_part, first) = match offset % size == 0 && bytes % size == 0 {
                true => (bytes / size, offset / size),
                // A part of a word: the whole buffer is compared instead.
                false => (buffer.bytes / size, 0),
            };
            let data = self
                .inner
                .read(buffer.address + first * size, size_of_part * size)?;
            let file = format!("{name}-expected-{}.bin", files.len());
            let _ = writeln!(
                out,
                "\n[[outputs]]\nbuffer = \"{}\"\noffset = {first}\ncount = {size_of_part}\ncompare = \"{file}\"",
                buffer.name
            );
            files.push((file, data));
        }
        files.push((format!("{name}.toml"), out.into_bytes()));
        Ok(files)
    }

    fn refuse(&mut self, why: impl Into<String>) {
        self.refused.get_or_insert(why.into());
    }

    /// The name of the buffer that a texture lies over from its beginning, made of such texels from now on. Nothing so
    /// far may have counted its elements.
    fn make_of_texels(&mut self, texture: &Texture) -> Option<String> {
        let element = texels(texture)?;
        let at = |b: &&mut Buffer| b.address == texture.address;
        let buffer = self.buffers.iter_mut().find(at)?;
        if buffer.element().0 != element {
            let name = format!("\"{}\"", buffer.name);
            let mut steps = self.steps.split("\n[[steps]]\n");
            let counted = steps.any(|step| {
                let whole = step.starts_with(&format!("write = {name}\n"));
                step.contains(&name) && (!whole || step.contains("offset"))
            });
            let fits = buffer.bytes.is_multiple_of(element.bytes() as u64);
            if counted || !fits || buffer.texels.is_some() {
                return None;
            }
            buffer.texels = Some(element);
        }
        Some(buffer.name.clone())
    }

    /// A step that puts data somewhere.
    fn put(&mut self, address: u64, data: &[u8]) {
        let inside =
            |start: u64, size: u64| address >= start && address - start + data.len() as u64 <= size;
        let place = match holding(&self.buffers, address, data.len() as u64) {
            Some(buffer) => {
                let (_, size) = buffer.element();
                let offset = address - buffer.address;
                offset
                    .is_multiple_of(size)
                    .then(|| (buffer.name.clone(), offset / size))
            }
            None => {
                let variable = self
                    .variables
                    .iter()
                    .find(|(_, start, size)| inside(*start, *size));
                variable.map(|(name, start, _)| (name.clone(), address - start))
            }
        };
        let Some((name, offset)) = place else {
            return self.refuse(format!(
                "it writes to {address:#x}, which is no whole part of a buffer"
            ));
        };
        let file = format!("data-{}.bin", self.files.len());
        let _ = writeln!(
            self.steps,
            "\n[[steps]]\nwrite = \"{name}\"\nfile = \"{file}\""
        );
        if offset > 0 {
            let _ = writeln!(self.steps, "offset = {offset}");
        }
        self.files.push((file, data.to_vec()));
    }

    fn argument(&self, param: &Param, block: &[u8]) -> String {
        let bytes = &block[param.offset as usize..][..param.size as usize];
        let integer = bytes.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
        if param.size == 8 && !param.array {
            if let Some(index) = self
                .textures
                .iter()
                .position(|(_, handle)| *handle == integer)
            {
                return format!("{{ texture = \"texture{index}\" }}");
            }
            if let Some(buffer) = holding(&self.buffers, integer, 1) {
                let (_, size) = buffer.element();
                let offset = integer - buffer.address;
                if offset == 0 {
                    return format!("\"{}\"", buffer.name);
                }
                if offset.is_multiple_of(size) {
                    return format!(
                        "{{ buffer = \"{}\", offset = {} }}",
                        buffer.name,
                        offset / size
                    );
                }
            }
        }
        match (param.ty, param.array) {
            (Type::F32, false) => {
                let value = f32::from_bits(integer as u32);
                if value.is_finite() {
                    return format!("{{ f32 = {:?} }}", f64::from(value));
                }
            }
            (Type::F64, false) if f64::from_bits(integer).is_finite() => {
                return format!("{{ f64 = {:?} }}", f64::from_bits(integer));
            }
            (Type::U32 | Type::S32 | Type::B32, false) => return format!("{{ u32 = {integer} }}"),
            (Type::U64 | Type::S64 | Type::B64, false) if i64::try_from(integer).is_ok() => {
                return format!("{{ u64 = {integer} }}");
            }
            _ => {}
        }
        let digits: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        format!("{{ bytes = \"{digits}\" }}")
    }

    fn note_launch(&mut self, launch: &Launch, together: bool) {
        let Some(program) = self.program.clone() else {
            return self.refuse("it launches a kernel before it loads any");
        };
        let kernel: &Kernel = &program.kernels[launch.kernel];
        let arguments: Vec<String> = kernel
            .params
            .iter()
            .map(|p| self.argument(p, &launch.params))
            .collect();
        let _ = write!(
            self.steps,
            "\n[[steps]]\nlaunch = \"{}\"\ngrid = {:?}\nblock = {:?}\nargs = [{}]\n",
            kernel.name,
            launch.grid,
            launch.block,
            arguments.join(", ")
        );
        if launch.dynamic_shared > 0 {
            let _ = writeln!(self.steps, "shared = {}", launch.dynamic_shared);
        }
        if let Some(registers) = launch.registers {
            let _ = writeln!(self.steps, "registers = {registers}");
        }
        if together {
            self.steps += "together = true\n";
        }
        self.read
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// A step's slice of a buffer, where the range is one.
    fn slice(&self, address: u64, bytes: u64) -> Option<(String, u64, u64)> {
        let buffer = holding(&self.buffers, address, bytes)?;
        let (_, size) = buffer.element();
        let offset = address - buffer.address;
        let whole = offset.is_multiple_of(size) && bytes.is_multiple_of(size);
        whole.then(|| (buffer.name.clone(), offset / size, bytes / size))
    }
}

/// The buffer that a range lies in.
fn holding(buffers: &[Buffer], address: u64, bytes: u64) -> Option<&Buffer> {
    let inside = |b: &&Buffer| address >= b.address && address - b.address + bytes <= b.bytes;
    buffers.iter().find(inside)
}

/// A label as a name of a launch file, different from those there are.
fn fresh(buffers: &[Buffer], label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let stem: String = label.chars().map(plain).collect();
    let taken = |name: &str| buffers.iter().any(|b| b.name == name);
    if !taken(&stem) {
        return stem;
    }
    let numbered = (2..)
        .map(|n| format!("{stem}_{n}"))
        .find(|name| !taken(name));
    numbered.unwrap_or(stem)
}

impl Device for Recorder<'_> {
    fn alloc(&mut self, bytes: u64, label: &str) -> Result<u64, DeviceError> {
        let address = self.inner.alloc(bytes, label)?;
        let name = fresh(&self.buffers, label);
        self.buffers.push(Buffer {
            name,
            address,
            bytes,
            texels: None,
        });
        Ok(address)
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.inner.write(address, data)?;
        self.put(address, data);
        Ok(())
    }

    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.push((address, bytes));
        self.inner.read(address, bytes)
    }

    fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), DeviceError> {
        self.inner.fill(address, bytes, value)?;
        match self.slice(address, bytes) {
            Some((name, offset, count)) => {
                let words =
                    holding(&self.buffers, address, bytes).is_some_and(|b| b.element().1 == 4);
                let value = if words {
                    u32::from(value) * 0x0101_0101
                } else {
                    value.into()
                };
                let _ = writeln!(
                    self.steps,
                    "\n[[steps]]\nfill = \"{name}\"\nvalue = {value}\noffset = {offset}\ncount = {count}"
                );
            }
            None => self.put(address, &vec![value; bytes as usize]),
        }
        Ok(())
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), DeviceError> {
        self.inner.copy(from, to, bytes)?;
        match (self.slice(from, bytes), self.slice(to, bytes)) {
            (Some((from, offset, count)), Some((to, to_offset, _))) => {
                let _ = writeln!(
                    self.steps,
                    "\n[[steps]]\ncopy = \"{from}\"\noffset = {offset}\ncount = {count}\nto = \"{to}\"\nto_offset = {to_offset}"
                );
            }
            _ => self.refuse("it copies what is no whole part of a buffer"),
        }
        Ok(())
    }

    fn load(&mut self, program: Arc<Program>) -> Result<ModuleId, DeviceError> {
        if self.program.is_some() {
            self.refuse("it loads more than one module");
        }
        // Variables would take the addresses that a launch file's buffers have.
        if !self.buffers.is_empty() && !program.symbols.is_empty() {
            self.refuse("it asks for memory before it loads its variables");
        }
        let module = self.inner.load(program.clone())?;
        for symbol in &program.symbols {
            if let Some((address, bytes)) = self.inner.symbol(module, &symbol.name) {
                self.variables.push((symbol.name.clone(), address, bytes));
            }
        }
        self.program = Some(program);
        Ok(module)
    }

    fn symbol(&self, module: ModuleId, name: &str) -> Option<(u64, u64)> {
        self.inner.symbol(module, name)
    }

    fn bind_texture(
        &mut self,
        module: ModuleId,
        name: Option<&str>,
        texture: Texture,
    ) -> Result<u64, DeviceError> {
        let handle = self.inner.bind_texture(module, name, texture.clone())?;
        let index = self.textures.len();
        let Some(buffer) = self.make_of_texels(&texture) else {
            self.refuse(format!(
                "its texture of {} bits is not over a buffer of such elements",
                texture.bits
            ));
            return Ok(handle);
        };
        let size = &texture.size[..usize::from(texture.dimensions)];
        let mut table = format!(
            "\n[textures.texture{index}]\nbuffer = \"{}\"\nsize = {size:?}\nchannels = {}\n",
            buffer, texture.channels
        );
        if let Some(name) = name {
            let _ = writeln!(table, "texref = \"{name}\"");
        }
        let flags = [
            (texture.linear_memory, "linear_memory = true"),
            (texture.filter_linear, "filter = \"linear\""),
            (texture.wrap, "address = \"wrap\""),
            (texture.normalized, "normalized = true"),
            (texture.read_normalized, "read = \"normalized\""),
        ];
        for (set, line) in flags {
            if set {
                let _ = writeln!(table, "{line}");
            }
        }
        self.textures.push((table, handle));
        Ok(handle)
    }

    fn resident_blocks(
        &self,
        module: ModuleId,
        launch: &Launch,
    ) -> Result<Option<u32>, DeviceError> {
        self.inner.resident_blocks(module, launch)
    }

    fn launch(&mut self, module: ModuleId, launch: &Launch) -> Result<(), DeviceError> {
        self.inner.launch(module, launch)?;
        self.note_launch(launch, false);
        Ok(())
    }

    fn launch_together(&mut self, module: ModuleId, launch: &Launch) -> Result<(), DeviceError> {
        self.inner.launch_together(module, launch)?;
        self.note_launch(launch, true);
        Ok(())
    }

    fn virtualize(&self) -> Option<Variant> {
        self.inner.virtualize()
    }
}
