//! The kernel under construction: code, registers, labels, names in scope.

use super::complaints::Complaints;
use super::framed::FramedFunctions;
use super::module::{ModuleTable, ModuleVar};
use super::scope::{Entity, Found, Scope, number_in};
use super::sources::SourceFiles;
use crate::ast::{Ident, Span};
use crate::diagnostic::Diagnostic;
use crate::isa::{Mods, Op, Space, Special, Type};
use crate::kernel::{Destinations, Instr, Likely, NO_PC, Pc, RegClass, RegId, Register, Sources};
use crate::lower::module::layout::{SharedLayout, align_up};
use crate::lower::operand::special::{NAMES, special};
use crate::name::Name;
use warpsim_present::misspelt;

/// Inlining stops here: a kernel this long is a mistake, and would not fit in memory.
pub(super) const LONGEST_CODE: usize = 4_000_000;

/// Calls that are inlined in a kernel at most. A function that calls another twice, which calls
/// another twice, and so on, is a short text and an endless program, whether it emits anything or
/// not.
pub(super) const MOST_INLINED: u32 = 1 << 18;
/// Statements that are lowered for them at most.
pub(super) const MOST_STATEMENTS: usize = 8_000_000;

/// What a name stands for, wherever it was declared.
#[derive(Clone, Debug)]
pub(super) enum Resolved {
    Entity(Entity),
    Symbol(u32, Space),
    Texture(u32),
    Special(Special),
    Function(u64),
    Unusable,
}

/// A function being inlined, or the kernel itself at the bottom.
#[derive(Debug)]
pub(super) struct Frame {
    /// First scope that belongs to it.
    pub first_scope: usize,
    /// Where `ret` goes; `None` in the kernel.
    pub join: Option<u32>,
    /// Appended to register names: empty in the kernel.
    pub suffix: String,
}

/// A kernel under construction.
pub(super) struct Builder<'a> {
    pub table: &'a ModuleTable<'a>,
    pub shared: SharedLayout,
    pub code: Vec<Instr>,
    pub registers: Vec<Register>,
    /// Place of every label, [`NO_PC`] until it is reached. While building, an instruction's
    /// `target` is an index here.
    pub labels: Vec<Pc>,
    /// Where a label was placed last.
    last_label: Pc,
    pub label_names: Vec<(Pc, String)>,
    pub scopes: Vec<Scope>,
    pub frames: Vec<Frame>,
    /// Local memory in use, and the most that ever was.
    pub local_top: u64,
    pub local_bytes: u64,
    pub param_bytes: u64,
    pub inlined: Inlined,
    pub complaints: Complaints,
    pub source: Option<(u32, u32)>,
    pub sources: SourceFiles,
    pub line: u32,
    /// Where `.pragma "nounroll"` stood.
    pub rolled: Vec<Pc>,
    /// Functions that are not inlined.
    pub framed: FramedFunctions<'a>,
}

/// What has been inlined.
#[derive(Default)]
pub(super) struct Inlined {
    /// How many functions, and the statements of all of them.
    pub functions: u32,
    pub statements: usize,
    /// It was too much: the kernel was given up.
    pub too_large: bool,
}

impl<'a> Builder<'a> {
    /// An empty kernel.
    pub fn new(table: &'a ModuleTable<'a>, shared: SharedLayout) -> Self {
        Builder {
            table,
            shared,
            code: Vec::new(),
            registers: Vec::new(),
            labels: Vec::new(),
            last_label: NO_PC,
            label_names: Vec::new(),
            scopes: Vec::new(),
            frames: Vec::new(),
            local_top: 0,
            local_bytes: 0,
            param_bytes: 0,
            inlined: Inlined::default(),
            complaints: Complaints::default(),
            source: None,
            sources: SourceFiles::default(),
            line: 0,
            rolled: Vec::new(),
            framed: FramedFunctions::default(),
        }
    }

    /// A new register. Its name gets the suffix of the function being inlined.
    pub fn new_register(&mut self, name: &str, ty: Type, span: Span) -> RegId {
        let class = match ty.bytes() {
            _ if ty == Type::Pred => RegClass::Pred,
            8 => RegClass::B64,
            16 => {
                self.unsupported(
                    span,
                    format!("`{name}`: 128-bit registers are not supported yet"),
                );
                RegClass::B64
            }
            _ => RegClass::B32,
        };
        if self.registers.len() > usize::from(u16::MAX) {
            self.give_up(
                span,
                "the kernel names more than 65536 registers, those of inlined functions counted",
            );
            return RegId(0);
        }
        let id = RegId(self.registers.len() as u16);
        self.framed.owners.push(self.framed.current);
        let suffix = self.frames.last().map_or("", |f| f.suffix.as_str());
        self.registers.push(Register {
            name: format!("{name}{suffix}"),
            number: number_in(name),
            class,
            ty,
            slot: 0,
        });
        id
    }

    /// A new register, or as many as the vector has components.
    pub fn new_entity(&mut self, name: &str, ty: Type, vector: u8, span: Span) -> Entity {
        if vector <= 1 {
            return Entity::Register(self.new_register(name, ty, span));
        }
        let parts = ["x", "y", "z", "w"].iter().take(usize::from(vector));
        let list = parts
            .map(|part| self.new_register(&format!("{name}.{part}"), ty, span))
            .collect();
        Entity::Vector(list)
    }

    /// The register's description.
    #[inline]
    pub fn register(&self, id: RegId) -> &Register {
        &self.registers[id.0 as usize]
    }

    /// Room in local memory.
    pub fn allocate_local(&mut self, bytes: u64, align: u64) -> u64 {
        let offset = align_up(self.local_top, align);
        self.local_top = offset.saturating_add(bytes);
        self.local_bytes = self.local_bytes.max(self.local_top);
        offset
    }

    /// A label that has no place yet.
    pub fn new_label(&mut self) -> u32 {
        self.labels.push(NO_PC);
        self.labels.len() as u32 - 1
    }

    /// Puts a label here.
    pub fn place_label(&mut self, label: u32) {
        self.labels[label as usize] = self.code.len() as Pc;
        self.last_label = self.code.len() as Pc;
    }

    /// Is there a label behind the last instruction?
    pub fn label_at_end(&self) -> bool {
        self.last_label == self.code.len() as Pc
    }

    /// Enters a name in the innermost scope.
    pub fn declare(&mut self, name: &Ident, entity: Entity) {
        let scope = self.scopes.last_mut().expect("a function has a scope");
        if !scope.declare(&name.name, entity) {
            self.error(name.span, format!("`{}` is declared twice", name.name));
        }
    }

    /// Appends an instruction with the current line and source.
    pub fn emit(
        &mut self,
        op: Op,
        mods: Mods,
        dst: impl Into<Destinations>,
        src: impl Into<Sources>,
    ) -> &mut Instr {
        let (dst, src) = (dst.into(), src.into());
        self.code.push(Instr {
            op,
            mods,
            guard: None,
            dst,
            src,
            target: NO_PC,
            reconverge: NO_PC,
            likely: Likely::NOWHERE,
            uniform: false,
            intrinsic: None,
            line: self.line,
            source: self.source,
        });
        self.code.last_mut().expect("just pushed")
    }

    /// Appends a branch to `label`.
    pub fn emit_branch(&mut self, label: u32, guard: Option<(RegId, bool)>) {
        let instr = self.emit(Op::Bra, Mods::default(), vec![], vec![]);
        instr.target = label;
        instr.guard = guard;
    }

    /// What `name` stands for; an unknown one is reported once and gives `None`.
    pub fn resolve(&mut self, name: &Ident) -> Option<Resolved> {
        if let Some(register) = self.recent(&name.name) {
            return Some(Resolved::Entity(Entity::Register(register)));
        }
        if let Some(found) = self.find(&name.name, name.span) {
            if let (Some(scope), Resolved::Entity(Entity::Register(register))) =
                (self.declaring(), &found)
            {
                self.scopes[scope].recent.remember(&name.name, *register);
            }
            return Some(found);
        }
        if self.complaints.is_first_unknown(&name.name) {
            self.report_unknown(name);
        }
        None
    }

    /// The register that a name stands for, if it was looked up a short while ago.
    #[inline]
    pub fn recent(&self, name: &Name) -> Option<RegId> {
        self.scopes[self.declaring()?].recent.get(name)
    }

    /// The innermost scope that has declarations: those further in see what it sees.
    #[inline]
    fn declaring(&self) -> Option<usize> {
        let first = self.frames.last().map_or(0, |f| f.first_scope);
        (first..self.scopes.len()).rfind(|index| !self.scopes[*index].is_empty())
    }

    /// [`Builder::resolve`] without the report.
    pub fn find(&mut self, name: &str, span: Span) -> Option<Resolved> {
        if let Some(entity) = self.find_entity(name, span) {
            return Some(Resolved::Entity(entity));
        }
        if let Some((base, part)) = name.rsplit_once('.')
            && let Some(Entity::Vector(parts)) = self.find_entity(base, span)
        {
            let index = match part {
                "x" | "r" => 0,
                "y" | "g" => 1,
                "z" | "b" => 2,
                "w" | "a" => 3,
                _ => return None,
            };
            return parts
                .get(index)
                .map(|r| Resolved::Entity(Entity::Register(*r)));
        }
        if let Some(special) = special(name) {
            return Some(Resolved::Special(special));
        }
        match self.table.variable(name) {
            Some(ModuleVar::Symbol(index, space)) => Some(Resolved::Symbol(index, space)),
            Some(ModuleVar::Texture(index)) => Some(Resolved::Texture(index)),
            Some(ModuleVar::Shared(var)) => self
                .shared
                .offset(var)
                .map(|offset| Resolved::Entity(Entity::Shared(offset))),
            Some(ModuleVar::Other) => Some(Resolved::Unusable),
            None => self.table.address_of(name).map(Resolved::Function),
        }
    }

    fn find_entity(&mut self, name: &str, span: Span) -> Option<Entity> {
        let first = self.frames.last().map_or(0, |f| f.first_scope);
        for index in (first..self.scopes.len()).rev() {
            match self.scopes[index].find(name) {
                Found::Entity(entity) => return Some(entity),
                Found::Fresh(ty, vector) => {
                    let entity = self.new_entity(name, ty, vector, span);
                    self.scopes[index].enter(name, entity.clone());
                    return Some(entity);
                }
                Found::Nothing => {}
            }
        }
        None
    }

    fn report_unknown(&mut self, name: &Ident) {
        let first = self.frames.last().map_or(0, |f| f.first_scope);
        let error = Diagnostic::error(name.span, format!("`{}` is not declared", name.name));
        let scopes = &self.scopes[first..];
        if let Some((prefix, count)) = scopes.iter().rev().find_map(|s| s.short_range(&name.name)) {
            let hint = format!(
                "the declaration `{prefix}<{count}>` ends at `{prefix}{}`",
                count.saturating_sub(1)
            );
            self.complaints.errors.push(error.with_hint(hint));
            return;
        }
        let mut spellings: Vec<String> = scopes
            .iter()
            .flat_map(|s| s.spellings(&name.name))
            .collect();
        spellings.sort();
        let known = spellings.iter().map(String::as_str);
        let mut outer: Vec<&str> = self.table.names().collect();
        outer.sort_unstable();
        let near = misspelt(&name.name, known.chain(outer).chain(NAMES.iter().copied()));
        self.complaints.errors.push(match near {
            Some(near) => error.with_hint(format!("did you mean `{near}`?")),
            None => error,
        });
    }
}
