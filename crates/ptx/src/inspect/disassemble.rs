//! Lowered instructions as text, close to PTX.

use crate::isa::{CacheOp, Geometry, Half, Mode, Mods, Op, Scope, Sem, Space, Special, Type};
use crate::kernel::{
    AddrBase, Instr, Intrinsic, Kernel, Likely, NO_PC, Operand, Pc, RegId, TexBase,
};
use std::fmt::Write as _;

/// The instruction at `pc`, without a line end. An address beyond the code says so.
pub fn disassemble(kernel: &Kernel, pc: Pc) -> String {
    disassemble_naming(kernel, pc, &|pc| place(kernel, pc))
}

/// The same, where `place` names the instructions that it jumps to and meets others at.
pub fn disassemble_naming(kernel: &Kernel, pc: Pc, place: &dyn Fn(Pc) -> String) -> String {
    let Some(instr) = kernel.code.get(pc as usize) else {
        return format!("<no instruction at {pc}>");
    };
    let mut text = String::new();
    if let Some((pred, negated)) = instr.guard {
        let not = if negated { "!" } else { "" };
        let _ = write!(text, "@{not}{} ", register(kernel, pred));
    }
    text.push_str(&mnemonic(instr.op, &instr.mods));
    let mut operands: Vec<String> = Vec::new();
    operands.extend(destinations(kernel, instr));
    operands.extend(sources(kernel, instr));
    if instr.target != NO_PC {
        operands.push(place(instr.target));
    }
    if !operands.is_empty() {
        let _ = write!(text, " {}", operands.join(", "));
    }
    if instr.op == Op::Bra && instr.guard.is_some() {
        let meet = match instr.reconverge {
            NO_PC => "exit".to_string(),
            pc => place(pc),
        };
        let _ = write!(text, "  // meets at {meet}");
        let Likely { loop_end, backward } = instr.likely;
        if loop_end != NO_PC {
            let _ = write!(text, ", likely at {}", place(loop_end));
        }
        if backward != NO_PC && backward != loop_end {
            let _ = write!(text, ", or at {}", place(backward));
        }
        if instr.uniform {
            text.push_str(", uniform");
        }
    }
    text
}

/// The whole kernel, one instruction per line, with its labels and PTX lines.
pub fn disassemble_all(kernel: &Kernel) -> String {
    let mut text = String::new();
    for (index, block) in kernel.blocks.iter().enumerate() {
        let label = block.label.as_deref().unwrap_or("");
        let dead = if block.reachable {
            ""
        } else {
            "  (unreachable)"
        };
        let _ = writeln!(text, "{}{dead}", format!("B{index}: {label}").trim_end());
        for pc in block.start..block.end {
            let origin = kernel.origin(pc);
            let source = origin.source().map(|source| format!(", {source}"));
            let _ = writeln!(
                text,
                "{pc:>6}  {:<60}  ; line {}{}",
                disassemble(kernel, pc),
                origin.ptx,
                source.unwrap_or_default()
            );
        }
    }
    text
}

fn place(kernel: &Kernel, pc: Pc) -> String {
    let index = kernel.blocks.binary_search_by_key(&pc, |b| b.start);
    match index.ok().and_then(|i| kernel.blocks[i].label.as_deref()) {
        Some(label) => format!("{pc} ({label})"),
        None => pc.to_string(),
    }
}

fn register(kernel: &Kernel, id: RegId) -> &str {
    kernel
        .registers
        .get(id.0 as usize)
        .map_or("%?", |r| r.name.as_str())
}

fn destinations(kernel: &Kernel, instr: &Instr) -> Option<String> {
    let list: Vec<String> = instr.dst.iter().map(|d| operand(kernel, d, None)).collect();
    let pair = matches!(instr.op, Op::Setp | Op::Shfl | Op::Match | Op::Lop3);
    match list.len() {
        0 => None,
        1 => Some(list[0].clone()),
        _ if pair => Some(list.join("|")),
        _ => Some(format!("{{{}}}", list.join(", "))),
    }
}

fn sources(kernel: &Kernel, instr: &Instr) -> Vec<String> {
    let ty = source_type(instr);
    let text = |o: &Operand| operand(kernel, o, ty);
    if let Some(function) = instr.intrinsic {
        let name = match function {
            Intrinsic::Vprintf => "vprintf",
            Intrinsic::AssertFail => "__assertfail",
            Intrinsic::StackCheck => "stack_check",
            Intrinsic::NoSuchFunction => "no_such_function",
            _ => "?",
        };
        let args: Vec<String> = instr.src.iter().map(text).collect();
        return vec![format!("{name}({})", args.join(", "))];
    }
    let vector = instr.mods.vector > 1 || (instr.op == Op::Mov && instr.src.len() > 1);
    match instr.src.split_first() {
        Some((first, rest))
            if matches!(
                instr.op,
                Op::Tex | Op::TexLevel | Op::TexGrad | Op::Tld4 | Op::Suld
            ) =>
        {
            let coords: Vec<String> = rest.iter().map(text).collect();
            vec![format!("[{}, {{{}}}]", text(first), coords.join(", "))]
        }
        Some((first, rest)) if instr.op == Op::St && vector => {
            let values: Vec<String> = rest.iter().map(text).collect();
            vec![text(first), format!("{{{}}}", values.join(", "))]
        }
        Some(_) if instr.op == Op::Mov && vector => {
            let values: Vec<String> = instr.src.iter().map(text).collect();
            vec![format!("{{{}}}", values.join(", "))]
        }
        _ => instr.src.iter().map(text).collect(),
    }
}

/// The type that immediates among the sources have.
fn source_type(instr: &Instr) -> Option<Type> {
    match instr.op {
        Op::Cvt | Op::Set => instr.mods.types[1].or(instr.mods.types[0]),
        _ => instr.mods.types[0],
    }
}

fn operand(kernel: &Kernel, operand: &Operand, ty: Option<Type>) -> String {
    match operand {
        Operand::Reg(id) => register(kernel, *id).to_string(),
        Operand::NotReg(id) => format!("!{}", register(kernel, *id)),
        Operand::Imm(bits) => match ty {
            Some(Type::F32) => format!("{:?}", f32::from_bits(*bits as u32)),
            Some(Type::F64) => format!("{:?}", f64::from_bits(*bits)),
            _ => (*bits as i64).to_string(),
        },
        Operand::Symbol { index, offset } => format!("symbol{index}{}", plus(*offset)),
        Operand::Special(s) => special(*s),
        Operand::Address { base, offset } => match base {
            AddrBase::Reg(id) => format!("[{}{}]", register(kernel, *id), plus(*offset)),
            AddrBase::Zero => format!("[{offset}]"),
            AddrBase::Symbol(index) => format!("[symbol{index}{}]", plus(*offset)),
        },
        Operand::Texture(TexBase::Texref(index)) => format!("texture{index}"),
        Operand::Texture(TexBase::Handle(id)) => register(kernel, *id).to_string(),
        Operand::Sink => "_".to_string(),
    }
}

fn plus(offset: i64) -> String {
    match offset {
        0 => String::new(),
        n => format!("{n:+}"),
    }
}

fn special(special: Special) -> String {
    let part = |name: &str, n: u8| format!("%{name}.{}", ["x", "y", "z"][usize::from(n.min(2))]);
    match special {
        Special::Tid(n) => part("tid", n),
        Special::Ntid(n) => part("ntid", n),
        Special::Ctaid(n) => part("ctaid", n),
        Special::Nctaid(n) => part("nctaid", n),
        Special::Envreg(n) => format!("%envreg{n}"),
        Special::Pm(n) => format!("%pm{n}"),
        Special::WarpSize => "WARP_SZ".to_string(),
        other => format!("%{}", snake(&format!("{other:?}"))),
    }
}

/// `LanemaskEq` as `lanemask_eq`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// Opcode and suffixes. The order of the suffixes is fixed and need not be the one in the
/// PTX.
pub fn mnemonic(op: Op, mods: &Mods) -> String {
    let mut parts = vec![op.text().to_string()];
    let mut add = |text: &str| parts.push(text.to_string());
    let flag = |on: bool, text: &'static str| if on { text } else { "" };
    add(flag(
        mods.sync && op != Op::Bar && op != Op::Barrier,
        "sync",
    ));
    add(flag(mods.warp, "warp"));
    add(flag(
        matches!(op, Op::Bar | Op::Barrier) && (mods.sync || mods.mode.is_none()),
        "sync",
    ));
    add(&named(mods.mode, |m| match m {
        Mode::NotANumber => "notanumber".into(),
        Mode::Left => "l".into(),
        Mode::Right => "r".into(),
        other => format!("{other:?}").to_lowercase(),
    }));
    add(flag(mods.to, "to"));
    add(&named(mods.sem, |s: Sem| match s {
        Sem::AcqRel => "acq_rel".into(),
        other => format!("{other:?}").to_lowercase(),
    }));
    add(&named(mods.scope, |s: Scope| match (op, s) {
        (Op::Membar, Scope::Gpu) => "gl".into(),
        (_, other) => format!("{other:?}").to_lowercase(),
    }));
    add(&named(mods.space, |s| match s {
        Space::Generic => String::new(),
        other => format!("{other:?}").to_lowercase(),
    }));
    add(&match (op, mods.cache) {
        (Op::Prefetch | Op::Prefetchu, Some(CacheOp::Cg)) => "L2".into(),
        (Op::Prefetch | Op::Prefetchu, _) => "L1".into(),
        (_, cache) => lower(cache),
    });
    add(flag(mods.nc, "nc"));
    add(&named(mods.geometry, |g| match g {
        Geometry::D1 => "1d".into(),
        Geometry::D2 => "2d".into(),
        Geometry::D3 => "3d".into(),
        other => format!("{other:?}").to_lowercase(),
    }));
    add(&lower(mods.atom));
    add(flag(mods.noftz, "noftz"));
    add(&lower(mods.cmp));
    add(&lower(mods.boolop));
    add(&named(mods.half, |h: Half| format!("{h:?}").to_lowercase()));
    add(flag(mods.approx, "approx"));
    add(flag(mods.full, "full"));
    add(&lower(mods.rounding));
    add(flag(mods.ftz, "ftz"));
    add(flag(mods.sat, "sat"));
    add(flag(mods.relu, "relu"));
    add(flag(mods.nan, "NaN"));
    add(flag(mods.xorsign_abs, "xorsign.abs"));
    add(flag(mods.cc, "cc"));
    add(flag(mods.video.plus_one, "po"));
    add(flag(mods.shiftamt, "shiftamt"));
    add(flag(mods.wrap, "wrap"));
    if mods.vector > 1 {
        add(&format!("v{}", mods.vector));
    }
    if let Some(tensor) = mods.tensor {
        let [m, n, k] = tensor.shape;
        add(&format!("m{m}n{n}k{k}"));
    }
    for ty in mods.types.iter().flatten() {
        add(&format!("{ty:?}").to_lowercase());
    }
    parts.retain(|p| !p.is_empty());
    parts.join(".")
}

fn named<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map(text).unwrap_or_default()
}

fn lower<T: std::fmt::Debug>(value: Option<T>) -> String {
    value.map_or(String::new(), |v| format!("{v:?}").to_lowercase())
}
