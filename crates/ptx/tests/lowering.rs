//! Lowering of operands, layout and control flow.

use crate::common;
use common::{kernel, listing, module, only, program};
use warpsim_ptx::isa::{Space, Special, Type};
use warpsim_ptx::kernel::{AddrBase, NO_PC, Operand, RegClass, RelocTarget, TexBase};

#[test]
fn parameters_are_laid_out_with_their_alignment() {
    let k = only(&module(
        ".entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u16 d, .param .f32 e)\n\
         { .reg .f32 %f; ld.param.f32 %f, [e]; ret; }",
    ));
    let places: Vec<(u32, u32)> = k.params.iter().map(|p| (p.offset, p.size)).collect();
    assert_eq!(places, [(0, 1), (8, 8), (16, 20), (36, 2), (40, 4)]);
    assert_eq!(k.param_bytes, 44);
    assert!(k.params[2].array && !k.params[1].array);
    assert_eq!(
        k.code[0].src[0],
        Operand::Address {
            base: AddrBase::Zero,
            offset: 40
        }
    );
}

#[test]
fn shared_memory_holds_what_the_kernel_and_its_callees_use() {
    let p = program(&module(
        ".shared .align 4 .b8 used[10];\n.shared .align 8 .b8 unused[1000];\n\
         .extern .shared .align 16 .b8 dyn[];\n.shared .f64 deep;\n\
         .func f() { .reg .f64 %d; .shared .u32 own; .reg .b32 %r;\n\
           ld.shared.f64 %d, [deep]; st.shared.u32 [own], 1; ret; }\n\
         .entry k() { .reg .b32 %r<4>; mov.u32 %r1, used; ld.shared.u8 %r2, [used+3];\n\
           ld.shared.u32 %r3, [dyn+4]; call f, (); call f, (); ret; }\n\
         .entry plain() { ret; }",
    ));
    let k = &p.kernels[0];
    // used 0..10, own 12..16, deep 16..24, dyn at the next multiple of 16.
    assert_eq!(k.shared_bytes, 24);
    assert_eq!(k.dynamic_shared, Some(32));
    assert_eq!(k.code[0].src[0], Operand::Imm(0));
    assert_eq!(
        k.code[2].src[0],
        Operand::Address {
            base: AddrBase::Zero,
            offset: 36
        }
    );
    assert_eq!(
        (p.kernels[1].shared_bytes, p.kernels[1].dynamic_shared),
        (0, None)
    );
}

#[test]
fn a_generic_access_to_a_variable_uses_its_space() {
    let k = only(&module(
        ".shared .u32 s;\n.entry k() { .reg .b32 %r; ld.u32 %r, [s]; ret; }",
    ));
    assert_eq!(k.code[0].mods.space, Some(Space::Shared));
}

#[test]
fn module_variables_become_symbols_with_bytes_and_relocations() {
    let p = program(&module(
        ".global .align 4 .u32 table[2][3] = {{1, 2}, {3, 4, 5}};\n\
         .const .f32 pi = 0f40490FDB;\n\
         .global .u64 pointer = table+8;\n\
         .global .u64 other = generic(pi);\n\
         .global .b8 bytes[3] = {0xff(table), 0xff00(table), 7};\n\
         .extern .global .u32 outside;\n\
         .entry k() { .reg .b64 %d; .reg .f32 %f; mov.u64 %d, table+4; ld.const.f32 %f, [pi];\n\
           cvta.global.u64 %d, outside; ret; }",
    ));
    let by_name = |name: &str| p.symbols.iter().find(|s| s.name == name).unwrap();
    let table: Vec<u8> = [1u32, 2, 0, 3, 4, 5]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let init = &by_name("table").init;
    assert_eq!(
        init[..],
        table[..init.len()],
        "trailing zeros may be left out"
    );
    assert_eq!(by_name("table").size, 24);
    assert_eq!(by_name("pi").init, 0x4049_0FDBu32.to_le_bytes());
    assert_eq!(by_name("pi").space, Space::Const);
    let r = &by_name("pointer").relocations[0];
    assert!(matches!(r.target, RelocTarget::Symbol(0)));
    assert_eq!((r.offset, r.bytes, r.shift, r.addend), (0, 8, 0, 8));
    assert!(matches!(
        by_name("other").relocations[0].target,
        RelocTarget::Symbol(1)
    ));
    let bytes = by_name("bytes");
    let forms: Vec<_> = bytes
        .relocations
        .iter()
        .map(|r| (r.offset, r.bytes, r.shift))
        .collect();
    assert_eq!(forms, [(0, 1, 0), (1, 1, 8)]);
    assert_eq!(bytes.init, [0, 0, 7]);
    assert!(by_name("outside").external);
    let k = &p.kernels[0];
    assert_eq!(
        k.code[0].src[0],
        Operand::Symbol {
            index: 0,
            offset: 4
        }
    );
    assert_eq!(
        k.code[1].src[0],
        Operand::Address {
            base: AddrBase::Symbol(1),
            offset: 0
        }
    );
}

#[test]
fn immediates_take_the_type_of_the_instruction() {
    let k = kernel(
        "add.f32 %f1, %f2, 0f3F800000; add.f64 %fd1, %fd2, 0f3F800000; mul.f32 %f1, %f1, 0.5;\n\
         add.s32 %r1, %r2, -1; mov.b32 %r3, 0f3F800000; mov.b16 %h1, 0x3C00; ret;",
    );
    let imm = |pc: usize| match k.code[pc].src.last() {
        Some(Operand::Imm(bits)) => *bits,
        other => panic!("{other:?}"),
    };
    assert_eq!(imm(0), u64::from(1f32.to_bits()));
    assert_eq!(imm(1), 1f64.to_bits());
    assert_eq!(imm(2), u64::from(0.5f32.to_bits()));
    assert_eq!(imm(3), u64::MAX);
    assert_eq!(imm(4), u64::from(1f32.to_bits()));
    assert_eq!(imm(5), 0x3C00);
}

#[test]
fn registers_keep_names_numbers_and_classes() {
    let k = kernel("mov.u32 %r10, %tid.x; mov.u64 %rd3, 1; mov.pred %p2, 1; ret;");
    let of = |name: &str| k.registers.iter().find(|r| r.name == name).unwrap();
    assert_eq!((of("%r10").number, of("%r10").class), (10, RegClass::B32));
    assert_eq!((of("%rd3").number, of("%rd3").class), (3, RegClass::B64));
    assert_eq!((of("%p2").number, of("%p2").class), (2, RegClass::Pred));
    assert_eq!(k.registers.len(), 3, "only what the code names");
    assert_eq!(k.code[0].src[0], Operand::Special(Special::Tid(0)));
}

#[test]
fn vectors_and_pairs() {
    let k = kernel(
        ".reg .v4 .f32 %v; ld.param.u64 %rd1, [a];\n\
         ld.global.v4.f32 %v, [%rd1+16]; add.f32 %f1, %v.x, %v.w;\n\
         ld.global.v2.u32 {%r1, _}, [%rd1]; st.global.v2.f32 [%rd1], {%f1, %v.y};\n\
         mov.b64 {%r2, %r3}, %rd1; mov.b64 %rd2, {%r3, %r2};\n\
         setp.lt.s32 %p1|%p2, %r2, 5; ret;",
    );
    assert_eq!(k.code[1].dst.len(), 4);
    assert_eq!(k.code[3].dst[1], Operand::Sink);
    assert_eq!(
        listing(&k)[4..8],
        [
            "st.global.v2.f32 [%rd1], {%f1, %v.y}",
            "mov.b64 {%r2, %r3}, %rd1",
            "mov.b64 %rd2, {%r3, %r2}",
            "setp.lt.s32 %p1|%p2, %r2, 5",
        ]
    );
}

#[test]
fn branches_know_where_their_sides_meet() {
    let k = kernel(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5; @%p1 bra THEN;\n\
         add.s32 %r2, %r1, 1; bra.uni JOIN;\nTHEN: add.s32 %r2, %r1, 2;\nJOIN: ret;",
    );
    let branch = &k.code[2];
    assert_eq!((branch.target, branch.reconverge), (5, 6));
    assert!(!branch.uniform);
    assert_eq!(k.blocks.len(), 4);
    assert_eq!(k.blocks[2].label.as_deref(), Some("THEN"));
}

#[test]
fn guarded_exits_and_the_missing_return() {
    let k = kernel("setp.eq.u32 %p1, %r1, 0; @%p1 exit; @!%p1 bra END; mov.u32 %r1, 1; END:");
    assert_eq!(
        listing(&k),
        [
            "setp.eq.u32 %p1, %r1, 0",
            "@%p1 exit",
            "@!%p1 bra 4 (END)  // meets at 4 (END), uniform",
            "mov.u32 %r1, 1",
            "ret",
        ]
    );
    let endless = kernel("L: bra L;");
    assert_eq!(endless.code.len(), 1);
    assert_eq!(endless.code[0].reconverge, NO_PC);
}

#[test]
fn an_indexed_branch_becomes_a_chain() {
    let k = kernel(
        "ld.param.u32 %r1, [n];\nts: .branchtargets A, B, C;\n@%p1 brx.idx %r1, ts;\nret;\n\
         A: mov.u32 %r2, 1; ret;\nB: mov.u32 %r2, 2; ret;\nC: mov.u32 %r2, 3; ret;",
    );
    let text = listing(&k);
    assert_eq!(text[1], "@!%p1 bra 9  // meets at 2, uniform");
    assert_eq!(text[2], "setp.eq.u32 %brx, %r1, 0");
    assert!(text[3].starts_with("@%brx bra 10 (A)"), "{}", text[3]);
    assert_eq!(text[4], "setp.eq.u32 %brx, %r1, 1");
    assert!(text[5].starts_with("@%brx bra 12 (B)"), "{}", text[5]);
    assert_eq!(text[6], "setp.eq.u32 %brx, %r1, 2");
    assert!(text[7].starts_with("@%brx bra 14 (C)"), "{}", text[7]);
    assert!(text[8].starts_with("trap"), "{}", text[8]);
}

#[test]
fn inner_blocks_hide_outer_names() {
    let k = kernel(
        "mov.u32 %r1, 1;\n{ .reg .u64 %r1; mov.u64 %r1, 2; L: bra L2; L2: }\nmov.u32 %r1, 3; bra L;\nL: ret;",
    );
    let Operand::Reg(inner) = k.code[1].dst[0] else {
        panic!()
    };
    assert_eq!(k.registers[inner.0 as usize].ty, Type::U64);
    assert_eq!(k.code[0].dst, k.code[3].dst);
    assert_ne!(k.code[0].dst, k.code[1].dst);
    assert_eq!(k.code[4].target, 5);
}

#[test]
fn textures_by_name_and_by_handle() {
    let p = program(&module(
        ".global .texref t0;\n.global .texref t1;\n\
         .entry k() { .reg .f32 %f<8>; .reg .b64 %h; mov.u64 %h, 5;\n\
         tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t1, {%f4, %f5}];\n\
         tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%f4}]; ret; }",
    ));
    assert_eq!(p.textures, ["t0", "t1"]);
    let code = &p.kernels[0].code;
    assert_eq!(code[1].src[0], Operand::Texture(TexBase::Texref(1)));
    assert_eq!(code[1].src.len(), 3);
    assert!(matches!(
        code[2].src[0],
        Operand::Texture(TexBase::Handle(_))
    ));
}

#[test]
fn directives_and_source_lines() {
    let p = program(&module(
        ".file 3 \"a.cu\"\n.entry k() .maxntid 128, 2 .minnctapersm 3 .maxnreg 40\n{\n\
         .reg .b32 %r; .loc 3 17 5\nmov.u32 %r, 1;\nret; }\n\
         .entry q() .reqntid 8, 4, 2 { ret; }",
    ));
    let k = &p.kernels[0];
    assert_eq!(k.bounds.max_ntid, Some([128, 2, 1]));
    assert_eq!(
        (k.bounds.min_ctas, k.bounds.max_nreg, k.bounds.req_ntid),
        (Some(3), Some(40), None)
    );
    assert_eq!(p.kernels[1].bounds.req_ntid, Some([8, 4, 2]));
    assert_eq!(*p.files, [(3, "a.cu".to_string())]);
    assert_eq!((k.code[0].source, k.code[0].line), (Some((3, 17)), 8));
}

#[test]
fn local_variables_have_places() {
    let k = kernel(
        ".local .align 8 .b8 depot[12]; .local .f32 x; mov.u64 %rd1, depot; mov.u64 %rd2, x;\n\
         cvta.local.u64 %rd3, %rd1; st.local.f32 [x], 0f00000000; ret;",
    );
    assert_eq!(k.local_bytes, 16);
    assert_eq!(k.code[0].src[0], Operand::Imm(0));
    assert_eq!(k.code[1].src[0], Operand::Imm(12));
}

#[test]
fn a_module_that_is_given_away_is_lowered_to_the_same() {
    let many: String = (0..30)
        .map(|n| {
            let body = "add.u32 %r1, %r1, 1;\n".repeat(1000);
            format!(".entry k{n}() {{ .reg .b32 %r<3>; {body} st.shared.u32 [own], {n}; ret; }}\n")
        })
        .collect();
    let texts = [
        // Functions that are called, whose address is taken, and a kernel that is called.
        ".func f() { ret; }\n.func g() { ret; }\n\
         .global .u64 table[1] = { g };\n\
         .entry k() { .reg .b64 %rd<2>; call f, (); mov.u64 %rd1, f; call %rd1, (); ret; }\n\
         .entry l() { call k, (); ret; }"
            .to_string(),
        // Enough for several threads.
        format!(".shared .u32 own;\n{many}"),
    ];
    for text in texts {
        let parsed = warpsim_ptx::parse(&module(&text)).expect("valid");
        let options = warpsim_ptx::lower::Options::default();
        let kept = warpsim_ptx::lower::lower_with(&parsed, options);
        let given = warpsim_ptx::lower::lower_owned(parsed, options);
        let shown = |program: &warpsim_ptx::kernel::Program| {
            let kernels = program.kernels.iter();
            let rejected = format!("{:?}", program.rejected);
            (
                kernels.map(|kernel| listing(kernel)).collect::<Vec<_>>(),
                rejected,
            )
        };
        let (kept, given) = (kept.expect("valid"), given.expect("valid"));
        assert_eq!(shown(&kept), shown(&given));
        assert!(!kept.kernels.is_empty());
    }
}
