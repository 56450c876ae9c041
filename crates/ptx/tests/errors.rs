//! What errors look like. Each snapshot is the whole rendered output of one broken file.

use warpsim_ptx::diagnostic::render_all;
use warpsim_ptx::parse;
use warpsim_ptx::parse::MAX_ERRORS;

const HEAD: &str = ".version 7.8\n.target sm_35\n.address_size 64\n";

/// The rendered errors of a file with this text after its head.
fn errors(text: &str) -> String {
    let text = format!("{HEAD}{text}");
    match parse(&text) {
        Ok(module) => panic!("parsed without error: {module:?}"),
        Err(errors) => render_all(&errors, "kernel.ptx", &text),
    }
}

/// The rendered errors of a kernel with these statements.
fn in_kernel(body: &str) -> String {
    errors(&format!(
        ".visible .entry k(.param .u64 p)\n{{\n{body}\n}}\n"
    ))
}

macro_rules! snapshot {
    ($($name:ident: $rendered:expr;)*) => {
        $(#[test] fn $name() { insta::assert_snapshot!($rendered); })*
    };
}

snapshot! {
    unknown_modifier: in_kernel("\tadd.foo.s32 %r1, %r2, %r3;");
    misspelt_modifier: in_kernel("\tfma.rn.fzt.f32 %f1, %f2, %f3, %f4;");
    misspelt_opcode: in_kernel("\tmull.lo.s32 %r1, %r2, %r3;");
    no_such_opcode: in_kernel("\tfrobnicate.s32 %r1;");
    wrong_type: in_kernel("\tand.f32 %f1, %f2, %f3;");
    missing_type: in_kernel("\tadd %r1, %r2, %r3;");
    missing_second_type: in_kernel("\tcvt.u32 %r1, %r2;");
    one_type_too_many: in_kernel("\tadd.s32.s32 %r1, %r2, %r3;");
    missing_half: in_kernel("\tmul.s32 %r1, %r2, %r3;");
    missing_comparison: in_kernel("\tsetp.s32 %p1, %r2, %r3;");
    rounding_of_integers: in_kernel("\tadd.rn.s32 %r1, %r2, %r3;");
    half_of_a_float: in_kernel("\tmul.lo.f32 %f1, %f2, %f3;");
    contradiction: in_kernel("\tadd.rn.rz.f32 %f1, %f2, %f3;");
    too_few_operands: in_kernel("\tadd.s32 %r1, %r2;");
    too_many_operands: in_kernel("\tmov.u32 %r1, %r2, %r3;");
    operand_missing_after_comma: in_kernel("\tadd.s32 %r1, %r2, ;");
    address_as_source: in_kernel("\tadd.s32 %r1, [%rd1], 3;");
    register_as_address: in_kernel("\tld.global.f32 %f1, %rd1;");
    immediate_as_destination: in_kernel("\tmov.u32 4, %r1;");
    two_registers_in_an_address: in_kernel("\tld.global.f32 %f1, [%rd1+%rd2];");
    vector_of_the_wrong_width: in_kernel("\tld.global.v4.f32 {%f1, %f2, %f3}, [%rd1];");
    vector_without_modifier: in_kernel("\tst.shared.f32 [%rd1], {%f1, %f2};");
    missing_semicolon: in_kernel("\tadd.s32 %r1, %r2, %r3\n\tmul.lo.s32 %r1, %r2, %r3;\n\tret");
    bad_float: in_kernel("\tmov.f32 %f1, 0f3F80;");
    bad_octal: in_kernel("\tmov.u32 %r1, 089;");
    unclosed_address: in_kernel("\tld.global.f32 %f1, [%rd1;");
    unknown_body_directive: in_kernel("\t.rge .b32 %r<4>;");
    type_misspelt_in_declaration: in_kernel("\t.reg .b23 %r<4>;");
    guard_without_register: in_kernel("\t@! bra L;");
    foreign_character: in_kernel("\tadd.s32 %r1, %r2, §;");
    barrier_without_kind: in_kernel("\tbar 0;");
    atom_without_operation: in_kernel("\tatom.global.u32 %r1, [%rd1], 1;");
    several_independent_errors: in_kernel(
        "\tadd.s32 %r1, %r2;\n\tret;\n\tsub.s33 %r1, %r2, %r3;\n\tmov.u32 %r1, %r2\n\tbra L;\n\tst.global.u32 %rd1, %r1;"
    );
    misspelt_directive: errors(".visbile .entry k()\n{\n\tret;\n}\n.global .b32 x;\n");
    instruction_outside_a_function: errors("add.s32 %r1, %r2, %r3;\n");
    function_that_does_not_end: errors(".entry a()\n{\n\tret;\n\n.entry b()\n{\n\tfoo;\n}\n");
    error_in_a_parameter: errors(".entry a(\n\t.param .u46 x\n)\n{\n\tbad;\n}\n.entry b()\n{\n\tbad;\n}\n");
    bad_alignment: errors(".global .align 3 .b8 x[4];\n");
    section_that_does_not_end: errors(".section .debug_str\n{\n.b8 1\n");
    comment_that_does_not_end: errors(".entry k() { ret; }\n/* and so on\n");
    string_that_does_not_end: errors(".file 1 \"abc\n.entry k() { ret; }\n");
    bad_function_directive: errors(".entry k()\n.maxnitd 256, 1, 1\n{\n\tret;\n}\n");
    error_on_a_further_line_of_a_call: in_kernel("\tcall.uni (retval0),\n\t5,\n\t(\n\tparam0\n\t);\n\tret;");
    bad_initialiser: errors(".global .b32 x[2] = {1, , 2};\n.global .b32 y = 4 / 0;\n");
}

#[test]
fn version_is_required() {
    let text = ".entry k() { ret; }\n";
    let errors = parse(text).expect_err("no version");
    insta::assert_snapshot!(render_all(&errors, "kernel.ptx", text));
}

#[test]
fn an_empty_file_is_an_error() {
    assert_eq!(parse("").expect_err("nothing there").len(), 1);
}

#[test]
fn errors_are_capped() {
    let text = format!(
        "{HEAD}.entry k()\n{{\n{}}}\n",
        "\tfoo.s32 %r1;\n".repeat(500)
    );
    let errors = parse(&text).expect_err("500 errors");
    assert_eq!(errors.len(), MAX_ERRORS + 1);
    assert!(errors[MAX_ERRORS].message.contains("not read"));
}

#[test]
fn errors_come_in_file_order_one_a_statement() {
    let text = format!(
        "{HEAD}.entry k()\n{{\n{}}}\n",
        "\tfoo.s32 %r1;\n\tret;\n".repeat(10)
    );
    let lines: Vec<_> = parse(&text)
        .expect_err("10 errors")
        .iter()
        .map(|error| error.span.line)
        .collect();
    assert_eq!(lines, (0..10).map(|n| 6 + 2 * n).collect::<Vec<_>>());
}

/// Deep nesting is refused, not followed until the stack ends.
#[test]
fn deep_nesting_is_refused() {
    for text in [
        format!("{HEAD}.entry k() {}", "{".repeat(200_000)),
        format!("{HEAD}.global .b32 x = {};", "{".repeat(200_000)),
        format!("{HEAD}.global .b32 x = {}1;", "-".repeat(200_000)),
        format!("{HEAD}.global .b32 x = {}1;", "(".repeat(200_000)),
        format!("{HEAD}.global .b32 x = {}1;", "1+(".repeat(200_000)),
        format!("{HEAD}.entry k() {{ mov.u32 {}", "{".repeat(200_000)),
        format!(
            "{HEAD}.entry k() {{ ld.u32 %r1, [a, {}",
            "{".repeat(200_000)
        ),
    ] {
        assert!(!parse(&text).expect_err("nested too deeply").is_empty());
    }
}
