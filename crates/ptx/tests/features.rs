//! What the tree says, feature by feature.

use warpsim_ptx::ast::*;
use warpsim_ptx::isa::*;
use warpsim_ptx::parse;

const HEAD: &str = ".version 7.8\n.target sm_35, debug\n.address_size 64\n";

fn module(text: &str) -> Module {
    let text = format!("{HEAD}{text}");
    parse(&text).unwrap_or_else(|errors| panic!("{}", errors[0].render("test", &text)))
}

fn body(statements: &str) -> Vec<Statement> {
    match module(&format!(".entry k()\n{{\n{statements}\n}}"))
        .items
        .remove(0)
    {
        Item::Function(Function {
            body: Some(body), ..
        }) => body,
        other => panic!("{other:?}"),
    }
}

fn instruction(text: &str) -> Instruction {
    match body(text).remove(0) {
        Statement::Instruction(instruction) => instruction,
        other => panic!("{other:?}"),
    }
}

fn mods(mnemonic: &str, operands: &str) -> Mods {
    instruction(&format!("{mnemonic} {operands};")).mods
}

fn variable(text: &str) -> Variable {
    match module(text).items.remove(0) {
        Item::Variable(variable) => variable,
        other => panic!("{other:?}"),
    }
}

fn ident(name: &str) -> Ident {
    Ident {
        name: name.into(),
        span: Span::default(),
    }
}

fn name(text: &str) -> Operand {
    Operand::Name(ident(text))
}

fn int(value: i64) -> Operand {
    Operand::Int(value, Span::default())
}

fn address(base: &str, offset: i64) -> Operand {
    Operand::Address {
        base: AddressBase::Name(ident(base)),
        offset,
        span: Span::default(),
    }
}

#[test]
fn module_head() {
    let module = module("");
    assert_eq!(module.version, (7, 8));
    assert_eq!(module.target, ["sm_35", "debug"]);
    assert_eq!(module.address_size, 64);
    assert_eq!(
        parse(".version 2.0\n.target sm_20").map(|module| module.address_size),
        Ok(32)
    );
}

#[test]
fn suffixes_fill_their_fields() {
    let fma = mods("fma.rz.ftz.sat.f32", "%a, %b, %c, %d");
    let expected = Mods {
        rounding: Some(Rounding::Rz),
        ftz: true,
        sat: true,
        ..Mods::default()
    };
    assert_eq!(
        fma,
        Mods {
            types: [Some(Type::F32), None, None],
            ..expected
        }
    );

    let cvt = mods("cvt.rni.sat.u8.f64", "%a, %b");
    assert_eq!((cvt.rounding, cvt.sat), (Some(Rounding::Rni), true));
    assert_eq!(cvt.types, [Some(Type::U8), Some(Type::F64), None]);

    let setp = mods("setp.leu.xor.ftz.f32", "%p|%q, %a, %b, %c");
    assert_eq!(
        (setp.cmp, setp.boolop, setp.ftz),
        (Some(Cmp::Leu), Some(BoolOp::Xor), true)
    );

    let max = mods("max.NaN.xorsign.abs.f32", "%a, %b, %c");
    assert_eq!((max.nan, max.xorsign_abs), (true, true));

    let tex = mods(
        "tex.a2d.v4.u32.f32",
        "{%a, %b, %c, %d}, [t, {%x, %y, %z, %z}]",
    );
    assert_eq!((tex.geometry, tex.vector), (Some(Geometry::A2d), 4));
}

/// The same spelling says something else to another opcode.
#[test]
fn meaning_depends_on_the_opcode() {
    assert_eq!(mods("mul.lo.s32", "%a, %b, %c").half, Some(Half::Lo));
    assert_eq!(mods("setp.lo.u32", "%p, %a, %b").cmp, Some(Cmp::Lo));
    assert_eq!(
        mods("setp.lt.and.s32", "%p, %a, %b, %q").boolop,
        Some(BoolOp::And)
    );
    assert_eq!(
        mods("atom.global.and.b32", "%a, [%rd1], %b").atom,
        Some(AtomOp::And)
    );
    assert_eq!(
        mods("bar.red.and.pred", "%p, 0, %q").boolop,
        Some(BoolOp::And)
    );
    assert_eq!(mods("vote.uni.pred", "%p, %q").mode, Some(Mode::Uni));
    assert!(mods("bra.uni", "L").uni);
    assert_eq!(
        mods("shf.l.wrap.b32", "%a, %b, %c, %d").mode,
        Some(Mode::Left)
    );
    assert_eq!(mods("membar.cta", "").scope, Some(Scope::Cta));
    assert_eq!(mods("membar.gl", "").scope, Some(Scope::Gpu));
    assert_eq!(
        mods("ld.global.cg.f32", "%f, [%rd1]").cache,
        Some(CacheOp::Cg)
    );
    assert_eq!(
        mods("testp.notanumber.f32", "%p, %f").mode,
        Some(Mode::NotANumber)
    );
}

#[test]
fn barriers() {
    let sync = mods("bar.sync", "0");
    assert!(sync.sync && !sync.warp && sync.mode.is_none());
    let warp = mods("bar.warp.sync", "-1");
    assert!(warp.sync && warp.warp);
    assert_eq!(mods("bar.arrive", "1, 64").mode, Some(Mode::Arrive));
    let red = mods("bar.red.popc.u32", "%r, 0, %p");
    assert_eq!(
        (red.mode, red.boolop, red.types[0]),
        (Some(Mode::Red), Some(BoolOp::Popc), Some(Type::U32))
    );
    assert!(mods("barrier.sync.aligned", "0").aligned);
}

#[test]
fn order_of_suffixes_does_not_matter() {
    let one = mods("atom.global.gpu.relaxed.add.u32", "%a, [%rd1], %b");
    let other = mods("atom.relaxed.gpu.global.add.u32", "%a, [%rd1], %b");
    assert_eq!(one, other);
    assert_eq!(
        (one.sem, one.scope, one.space),
        (Some(Sem::Relaxed), Some(Scope::Gpu), Some(Space::Global))
    );
    assert_eq!(
        mods("ld.mmio.relaxed.sys.global.u32", "%a, [%rd1]").sem,
        Some(Sem::Mmio)
    );
    let ballot = mods("vote.sync.ballot.b32", "%a, %p, -1");
    assert_eq!(ballot, mods("vote.ballot.sync.b32", "%a, %p, -1"));
    assert!(ballot.sync);
}

#[test]
fn hints_change_nothing() {
    let plain = mods("ld.global.v2.f32", "{%a, %b}, [%rd1]");
    assert_eq!(
        plain,
        mods(
            "ld.global.L1::evict_last.L2::128B.v2.f32",
            "{%a, %b}, [%rd1]"
        )
    );
    assert_eq!(
        mods("ld.shared::cta.u32", "%a, [%r1]").space,
        Some(Space::Shared)
    );
}

#[test]
fn mnemonics_may_have_blanks() {
    let spaced = instruction("add .rn  .f32 %a, %b, %c;");
    assert_eq!((spaced.text.as_str(), spaced.op), ("add.rn.f32", Op::Add));
}

#[test]
fn opcodes_that_are_not_executed_keep_their_text() {
    let async_store = instruction("st.async.shared::cluster.b32 [%r1], %r2, [%r3];");
    assert_eq!(
        (async_store.op, async_store.op.is_supported()),
        (Op::StAsync, false)
    );
    assert_eq!(async_store.text, "st.async.shared::cluster.b32");
    assert_eq!(async_store.mods, Mods::default());
    let level = instruction("tex.level.2d.v4.f32.f32 {%a, %b, %c, %d}, [t, {%x, %y}], %l;");
    assert_eq!(level.op, Op::TexLevel, "the longest spelling counts");
    assert!(Op::Tex.is_supported());
}

#[test]
fn guards() {
    let guard = |text| {
        instruction(text)
            .guard
            .map(|guard| (guard.negated, guard.pred.name))
    };
    assert_eq!(guard("@%p1 ret;"), Some((false, "%p1".into())));
    assert_eq!(guard("@!%p1 bra L;"), Some((true, "%p1".into())));
    assert_eq!(guard("ret;"), None);
}

#[test]
fn operands() {
    let operands = |text| instruction(text).operands.to_vec();
    assert_eq!(
        operands("mov.u32 %r1, %tid.x;"),
        [name("%r1"), name("%tid.x")]
    );
    assert_eq!(operands("mov.u32 %r1, -8;"), [name("%r1"), int(-8)]);
    assert_eq!(operands("mov.u32 %r1, 2*(3+1)-1;"), [name("%r1"), int(7)]);
    assert_eq!(operands("mov.u32 %r1, 1<<4|1;"), [name("%r1"), int(17)]);
    assert_eq!(
        operands("mov.u64 %rd1, table+16;"),
        [name("%rd1"), Operand::Offset(ident("table"), 16)]
    );
    assert_eq!(
        operands("ld.u32 %r1, [%rd1+-8];"),
        [name("%r1"), address("%rd1", -8)]
    );
    assert_eq!(
        operands("ld.u32 %r1, [%rd1 - 8];"),
        [name("%r1"), address("%rd1", -8)]
    );
    assert_eq!(
        operands("ld.u32 %r1, [table+4*3];"),
        [name("%r1"), address("table", 12)]
    );
    let absolute = Operand::Address {
        base: AddressBase::Absolute,
        offset: 64,
        span: Span::default(),
    };
    assert_eq!(
        operands("ld.shared.u32 %r1, [64];"),
        [name("%r1"), absolute]
    );
    let half = |bits, width| Operand::Float {
        bits,
        width,
        span: Span::default(),
    };
    assert_eq!(
        operands("mov.f32 %f1, 0fBF800000;")[1],
        half(0xBF80_0000, 32)
    );
    assert_eq!(
        operands("mov.f32 %f1, -0f3F800000;")[1],
        half(0xBF80_0000, 32)
    );
    assert_eq!(
        operands("mov.f64 %fd1, -1.5;")[1],
        half((-1.5f64).to_bits(), 64)
    );
    let pair = Operand::Pair(
        Box::new(name("%p")),
        Box::new(Operand::Sink(Span::default())),
    );
    assert_eq!(operands("setp.eq.s32 %p|_, %a, 0;")[0], pair);
    assert_eq!(
        operands("and.pred %p, %q, !%r;")[2],
        Operand::Not(ident("%r"))
    );
    let vector = Operand::Vector(
        vec![name("%a"), Operand::Sink(Span::default())],
        Span::default(),
    );
    assert_eq!(operands("mov.b64 {%a, _}, %rd1;")[0], vector);
}

#[test]
fn textures() {
    let fetch = |text| instruction(text).operands.remove(1);
    let texture = |sampler: Option<&str>| {
        Operand::Texture(Box::new(Texture {
            texture: ident("t"),
            sampler: sampler.map(ident),
            coords: vec![name("%x"), name("%y")],
            span: Span::default(),
        }))
    };
    assert_eq!(
        fetch("tex.2d.v4.f32.f32 {%a, %b, %c, %d}, [t, {%x, %y}];"),
        texture(None)
    );
    assert_eq!(
        fetch("tex.2d.v4.f32.f32 {%a, %b, %c, %d}, [t, s, {%x, %y}];"),
        texture(Some("s"))
    );
}

#[test]
fn calls() {
    let call = |text| instruction(text).operands.remove(0);
    let expected = |returns: &[&str], callee, args: &[&str], prototype: Option<&str>| {
        Operand::Call(Box::new(Call {
            returns: returns.iter().map(|text| name(text)).collect(),
            callee: ident(callee),
            args: args.iter().map(|text| name(text)).collect(),
            prototype: prototype.map(ident),
        }))
    };
    assert_eq!(
        call("call.uni (r), f, (a, b), proto;"),
        expected(&["r"], "f", &["a", "b"], Some("proto"))
    );
    assert_eq!(
        call("call (r), f, (a);"),
        expected(&["r"], "f", &["a"], None)
    );
    assert_eq!(call("call (r), f;"), expected(&["r"], "f", &[], None));
    assert_eq!(call("call f, (a);"), expected(&[], "f", &["a"], None));
    assert_eq!(
        call("call %rd1, proto;"),
        expected(&[], "%rd1", &[], Some("proto"))
    );
    assert_eq!(call("call.uni f;"), expected(&[], "f", &[], None));
}

#[test]
fn declarations() {
    let registers = body(".reg .b32 %r<64>, %s;\n.reg .v4 .f32 %v;");
    let [
        Statement::Variable(r),
        Statement::Variable(s),
        Statement::Variable(v),
    ] = &registers[..]
    else {
        panic!("{registers:?}")
    };
    assert_eq!(
        (r.count, r.name.name.as_str(), r.space, r.ty),
        (Some(64), "%r", Space::Reg, Type::B32)
    );
    assert_eq!(
        (s.count, s.name.name.as_str(), s.ty),
        (None, "%s", Type::B32)
    );
    assert_eq!((v.vector, v.ty), (4, Type::F32));

    let dynamic = variable(".extern .shared .align 16 .b8 buffer[];");
    assert_eq!(
        (dynamic.linkage, dynamic.align, dynamic.dims),
        (Linkage::Extern, Some(16), vec![None])
    );
    let grid = variable(".visible .const .f32 grid[2][4*2];");
    assert_eq!(
        (grid.linkage, grid.dims),
        (Linkage::Visible, vec![Some(2), Some(8)])
    );
    let managed = variable(".global .attribute(.managed) .align 4 .u32 total;");
    assert_eq!((managed.space, managed.ty), (Space::Global, Type::U32));
    let texture =
        variable(".global .texref image = { filter_mode = nearest, addr_mode_0 = wrap };");
    assert_eq!((texture.ty, texture.init), (Type::Texref, None));
}

#[test]
fn initialisers() {
    let init = |text: &str| variable(&format!(".global .u64 x[] = {text};")).init;
    let symbol = |generic, offset, mask| Init::Symbol {
        name: ident("y"),
        generic,
        offset,
        mask,
    };
    assert_eq!(init("-5"), Some(Init::Int(-5)));
    assert_eq!(init("{1, {2}, 0f3F800000}"), {
        let float = Init::Float {
            bits: 0x3F80_0000,
            width: 32,
        };
        Some(Init::List(vec![
            Init::Int(1),
            Init::List(vec![Init::Int(2)]),
            float,
        ]))
    });
    assert_eq!(init("y"), Some(symbol(false, 0, 0)));
    assert_eq!(init("y+8"), Some(symbol(false, 8, 0)));
    assert_eq!(init("generic(y)"), Some(symbol(true, 0, 0)));
    assert_eq!(init("generic(y)+8"), Some(symbol(true, 8, 0)));
    assert_eq!(init("generic(y+8)"), Some(symbol(true, 8, 0)));
    assert_eq!(init("0xFF00(y)"), Some(symbol(false, 0, 0xFF00)));
    assert_eq!(init("0xFF(generic(y)+4)"), Some(symbol(true, 4, 0xFF)));
}

#[test]
fn function_heads() {
    let text = ".visible .entry k(.param .u64 .ptr .global .align 8 a, .param .align 4 .b8 b[12])\n\
                .maxntid 16, 16\n.reqntid 8\n.minnctapersm 2\n.maxnreg 32\n.reqnctapercluster 2, 1, 1\n{ ret; }\n\
                .extern .func (.param .b32 r) f(.param .b64 _) .noreturn;";
    let items = module(text).items;
    let [Item::Function(kernel), Item::Function(external)] = &items[..] else {
        panic!("{items:?}")
    };
    assert!(kernel.entry && kernel.linkage == Linkage::Visible);
    assert_eq!(kernel.params[0].ptr, Some((Some(Space::Global), Some(8))));
    assert_eq!(kernel.params[1].dims, [Some(12)]);
    assert_eq!(
        kernel.directives,
        [
            Directive::MaxNtid(vec![16, 16]),
            Directive::ReqNtid(vec![8]),
            Directive::MinNctaPerSm(2),
            Directive::MaxNreg(32),
            Directive::Other(".reqnctapercluster 2, 1, 1".into()),
        ]
    );
    assert_eq!((external.body.as_ref(), external.returns.len()), (None, 1));
    assert_eq!(external.directives, [Directive::Noreturn]);
}

#[test]
fn statements() {
    let text = ".loc 1 2 3, function_name $L, inlined_at 1 4 5\n.pragma \"nounroll\";\nt: .branchtargets A, B;\n\
                p : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;\n\
                c: .calltargets f, g;\n{ ret; }\nA: exit;";
    let body = body(text);
    let rest = ", function_name $L, inlined_at 1 4 5".to_string();
    assert_eq!(
        body[0],
        Statement::Loc {
            file: 1,
            line: 2,
            column: 3,
            rest
        }
    );
    assert_eq!(body[1], Statement::Pragma(vec!["nounroll".into()]));
    assert_eq!(
        body[2],
        Statement::BranchTargets {
            label: ident("t"),
            targets: vec![ident("A"), ident("B")]
        }
    );
    let Statement::CallPrototype(prototype) = &body[3] else {
        panic!("{body:?}")
    };
    assert_eq!(
        (
            prototype.returns.len(),
            prototype.params.len(),
            prototype.noreturn
        ),
        (1, 2, true)
    );
    assert_eq!(
        body[4],
        Statement::CallTargets {
            label: ident("c"),
            targets: vec![ident("f"), ident("g")]
        }
    );
    assert!(matches!(&body[5], Statement::Block(inner) if inner.len() == 1));
    assert_eq!(body[6], Statement::Label(ident("A")));
}

#[test]
fn debug_data_is_kept_as_written() {
    let items =
        module(".file 1 \"a b.cu\", 12, 34\n.section .debug_str\n{\n$L: // }\n.b8 1,2\n}\n").items;
    assert_eq!(
        items[0],
        Item::File {
            index: 1,
            path: "a b.cu".into()
        }
    );
    assert_eq!(
        items[1],
        Item::Section {
            name: ".debug_str".into(),
            text: "$L: // }\n.b8 1,2".into()
        }
    );
}

#[test]
fn spans_point_at_the_text() {
    let text = format!("{HEAD}.entry k()\n{{\n\t@%p bra L;\n}}");
    let module = parse(&text).expect("valid PTX");
    let Item::Function(Function {
        body: Some(body), ..
    }) = &module.items[0]
    else {
        panic!("{module:?}")
    };
    let Statement::Instruction(Instruction { span, .. }) = &body[0] else {
        panic!("{body:?}")
    };
    assert_eq!((span.line, span.column), (6, 2));
    assert_eq!(
        &text[span.start as usize..][..span.len as usize],
        "@%p bra L;"
    );
}
