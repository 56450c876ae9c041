//! AST to text. What is printed parses to the same AST again.

use crate::ast::*;
use crate::isa::Space;
use std::fmt::{self, Display, Formatter};

/// The module as PTX text.
pub fn print(module: &Module) -> String {
    module.to_string()
}

/// Items with `, ` between them.
struct List<'a, T>(&'a [T]);
impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (n, item) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// Strings, quoted, with `, ` between them.
fn quoted(f: &mut Formatter<'_>, directive: &str, texts: &[String]) -> fmt::Result {
    write!(f, "{directive} ")?;
    for (n, text) in texts.iter().enumerate() {
        let separator = if n > 0 { ", " } else { "" };
        write!(f, "{separator}\"{text}\"")?;
    }
    f.write_str(";")
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, ".version {}.{}", self.version.0, self.version.1)?;
        if !self.target.is_empty() {
            writeln!(f, ".target {}", List(&self.target))?;
        }
        writeln!(f, ".address_size {}", self.address_size)?;
        for item in &self.items {
            writeln!(f, "{item}")?;
        }
        Ok(())
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Item::Variable(variable) => write!(f, "{variable};"),
            Item::Function(function) => write!(f, "\n{function}"),
            Item::File { index, path } => write!(f, ".file {index} \"{path}\""),
            Item::Section { name, text } => write!(f, ".section {name}\n{{\n{text}\n}}"),
            Item::Pragma(texts) => quoted(f, ".pragma", texts),
            Item::Alias { alias, target } => write!(f, ".alias {alias}, {target};"),
            Item::CallPrototype(prototype) => prototype.fmt(f),
        }
    }
}

impl Display for Ident {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Display for Linkage {
    /// With a space after it, as it stands before other things; nothing for internal ones.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Linkage::Internal => "",
            Linkage::Visible => ".visible ",
            Linkage::Extern => ".extern ",
            Linkage::Weak => ".weak ",
            Linkage::Common => ".common ",
        })
    }
}

fn space(space: Space) -> &'static str {
    match space {
        Space::Reg => ".reg",
        Space::Param => ".param",
        Space::Const => ".const",
        Space::Global => ".global",
        Space::Local => ".local",
        Space::Shared => ".shared",
        Space::Tex => ".tex",
        // No declaration is in generic space.
        Space::Generic => ".global",
    }
}

/// A declaration without its `;`.
impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.linkage, space(self.space))?;
        if let Some(align) = self.align {
            write!(f, " .align {align}")?;
        }
        if self.vector > 0 {
            write!(f, " .v{}", self.vector)?;
        }
        write!(f, " .{}", self.ty.text())?;
        if let Some((target, align)) = self.ptr {
            f.write_str(" .ptr")?;
            if let Some(target) = target {
                write!(f, " {}", space(target))?;
            }
            if let Some(align) = align {
                write!(f, " .align {align}")?;
            }
        }
        if !self.name.name.is_empty() {
            write!(f, " {}", self.name)?;
        }
        if let Some(count) = self.count {
            write!(f, "<{count}>")?;
        }
        for dim in &self.dims {
            match dim {
                Some(size) => write!(f, "[{size}]")?,
                None => f.write_str("[]")?,
            }
        }
        match &self.init {
            Some(init) => write!(f, " = {init}"),
            None => Ok(()),
        }
    }
}

fn float(f: &mut Formatter<'_>, bits: u64, width: u8) -> fmt::Result {
    if width == 32 {
        write!(f, "0f{bits:08X}")
    } else {
        write!(f, "0d{bits:016X}")
    }
}

impl Display for Init {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Init::List(items) => write!(f, "{{{}}}", List(items)),
            Init::Int(value) => value.fmt(f),
            Init::Float { bits, width } => float(f, *bits, *width),
            Init::Symbol {
                name,
                generic,
                offset,
                mask,
            } => {
                if *mask != 0 {
                    write!(f, "{mask:#X}(")?;
                }
                if *generic {
                    write!(f, "generic({name})")?
                } else {
                    name.fmt(f)?
                }
                if *offset != 0 {
                    write!(f, "+{offset}")?;
                }
                f.write_str(if *mask != 0 { ")" } else { "" })
            }
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}",
            self.linkage,
            if self.entry { ".entry" } else { ".func" }
        )?;
        if !self.returns.is_empty() {
            write!(f, " ({})", List(&self.returns))?;
        }
        write!(f, " {}(", self.name)?;
        for (n, param) in self.params.iter().enumerate() {
            write!(f, "{}\n\t{param}", if n > 0 { "," } else { "" })?;
        }
        f.write_str(if self.params.is_empty() { ")" } else { "\n)" })?;
        for directive in &self.directives {
            write!(f, "\n{directive}")?;
        }
        match &self.body {
            None => f.write_str(";"),
            Some(body) => {
                f.write_str("\n{\n")?;
                statements(f, body, 1)?;
                f.write_str("}")
            }
        }
    }
}

impl Display for Directive {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Directive::MaxNtid(sizes) => write!(f, ".maxntid {}", List(sizes)),
            Directive::ReqNtid(sizes) => write!(f, ".reqntid {}", List(sizes)),
            Directive::MinNctaPerSm(n) => write!(f, ".minnctapersm {n}"),
            Directive::MaxNctaPerSm(n) => write!(f, ".maxnctapersm {n}"),
            Directive::MaxNreg(n) => write!(f, ".maxnreg {n}"),
            Directive::Noreturn => f.write_str(".noreturn"),
            Directive::Pragma(texts) => quoted(f, ".pragma", texts),
            Directive::Other(text) => f.write_str(text),
        }
    }
}

impl Display for CallPrototype {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let noreturn = if self.noreturn { " .noreturn" } else { "" };
        let (returns, params) = (List(&self.returns), List(&self.params));
        write!(
            f,
            "{}: .callprototype ({returns}) _ ({params}){noreturn};",
            self.label
        )
    }
}

fn statements(f: &mut Formatter<'_>, body: &[Statement], depth: usize) -> fmt::Result {
    let indent = "\t".repeat(depth);
    for statement in body {
        match statement {
            Statement::Label(label) => writeln!(f, "{label}:")?,
            Statement::Block(inner) => {
                writeln!(f, "{indent}{{")?;
                statements(f, inner, depth + 1)?;
                writeln!(f, "{indent}}}")?;
            }
            other => writeln!(f, "{indent}{other}")?,
        }
    }
    Ok(())
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Label(label) => write!(f, "{label}:"),
            Statement::Variable(variable) => write!(f, "{variable};"),
            Statement::Instruction(instruction) => instruction.fmt(f),
            Statement::Block(inner) => {
                f.write_str("{\n")?;
                statements(f, inner, 1)?;
                f.write_str("}")
            }
            Statement::Loc {
                file,
                line,
                column,
                rest,
            } => write!(f, ".loc {file} {line} {column}{rest}"),
            Statement::Pragma(texts) => quoted(f, ".pragma", texts),
            Statement::BranchTargets { label, targets } => {
                write!(f, "{label}: .branchtargets {};", List(targets))
            }
            Statement::CallTargets { label, targets } => {
                write!(f, "{label}: .calltargets {};", List(targets))
            }
            Statement::CallPrototype(prototype) => prototype.fmt(f),
            Statement::Comment(text) => write!(f, "// {text}"),
        }
    }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(Guard { negated, pred }) = &self.guard {
            write!(f, "@{}{pred} ", if *negated { "!" } else { "" })?;
        }
        f.write_str(&self.text)?;
        if !self.operands.is_empty() {
            write!(f, " {}", List(&self.operands))?;
        }
        f.write_str(";")
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Name(name) => name.fmt(f),
            Operand::Not(name) => write!(f, "!{name}"),
            Operand::Negate(name) => write!(f, "-{name}"),
            Operand::Int(value, _) => value.fmt(f),
            Operand::Float { bits, width, .. } => float(f, *bits, *width),
            Operand::Sink(_) => f.write_str("_"),
            Operand::Address {
                base: AddressBase::Absolute,
                offset,
                ..
            } => write!(f, "[{offset}]"),
            Operand::Address {
                base: AddressBase::Name(name),
                offset: 0,
                ..
            } => write!(f, "[{name}]"),
            Operand::Address {
                base: AddressBase::Name(name),
                offset,
                ..
            } => write!(f, "[{name}+{offset}]"),
            Operand::Vector(elements, _) => write!(f, "{{{}}}", List(elements)),
            Operand::Pair(first, second) => write!(f, "{first}|{second}"),
            Operand::Offset(name, offset) => write!(f, "{name}+{offset}"),
            Operand::Texture(texture) => texture.fmt(f),
            Operand::Call(call) => call.fmt(f),
        }
    }
}

impl Display for Texture {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, ", self.texture)?;
        if let Some(sampler) = &self.sampler {
            write!(f, "{sampler}, ")?;
        }
        write!(f, "{{{}}}]", List(&self.coords))
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Call {
            returns,
            callee,
            args,
            prototype,
        } = self;
        if !returns.is_empty() {
            write!(f, "({}), ", List(returns))?;
        }
        callee.fmt(f)?;
        if !args.is_empty() || prototype.is_some() {
            write!(f, ", ({})", List(args))?;
        }
        match prototype {
            Some(prototype) => write!(f, ", {prototype}"),
            None => Ok(()),
        }
    }
}
