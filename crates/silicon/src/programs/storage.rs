//! Memory that no other thread touches while a thread does: its own part of global, shared and
//! local memory, constants, parameters, input that no thread writes; and accumulators, which
//! all threads change by one operation whose order does not matter.

use super::generate::Source;
use super::straight::register;

/// A base register, its space as PTX writes it and the bytes behind it.
const OWN: &[(&str, &str, u32)] = &[
    ("%own+128", ".global", 64),
    ("%gown+192", "", 64),
    ("%sown", ".shared", 16),
    ("%gshared", "", 16),
    ("%local", ".local", 64),
    ("%glocal", "", 64),
];

/// A type of a memory access with the registers it goes to.
const TYPES: &[(&str, char, u32)] = &[
    ("u8", 'r', 1),
    ("s8", 'r', 1),
    ("u16", 'h', 2),
    ("s16", 'r', 2),
    ("b32", 'r', 4),
    ("u32", 'r', 4),
    ("b64", 'd', 8),
    ("s64", 'd', 8),
];

/// A type, a vector's suffix and how many registers.
fn shape(source: &mut Source, bytes: u32) -> (&'static str, char, &'static str, u32, u32) {
    loop {
        let (ty, class, size) = TYPES[source.below(TYPES.len() as u64) as usize];
        let (vector, count) = [("", 1), ("", 1), (".v2", 2), (".v4", 4)][source.below(4) as usize];
        if size * count <= bytes {
            return (ty, class, vector, count, size);
        }
    }
}

fn vector(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        _ => format!("{{{}}}", names.join(", ")),
    }
}

/// Distinct registers: a vector may not name one twice as a destination.
fn destinations(source: &mut Source, class: char, count: u32) -> Vec<String> {
    let of = match class {
        'r' => 8,
        'd' => 4,
        _ => 2,
    };
    let first = source.below(of);
    (0..count)
        .map(|i| match class {
            'h' if count > 2 => format!("%r{}", (first + u64::from(i)) % 8),
            _ => format!("%{class}{}", (first + u64::from(i)) % of),
        })
        .collect()
}

/// An access to what belongs to the thread, at a fixed place or one that registers choose.
pub(super) fn own(source: &mut Source) -> String {
    let (base, space, bytes) = OWN[source.below(OWN.len() as u64) as usize];
    let (ty, class, suffix, count, size) = shape(source, 16);
    let unit = size * count;
    let places = u64::from(bytes / unit);
    let (name, offset) = base.split_once('+').unwrap_or((base, "0"));
    let offset: u64 = offset.parse().unwrap_or(0);
    let (setup, address) = if source.below(2) == 0 {
        let at = offset + source.below(places) * u64::from(unit);
        (String::new(), format!("[{name}+{at}]"))
    } else {
        let index = register(source, 'r');
        let wide = space != ".shared";
        let setup = if wide {
            format!(
                "and.b32 %t0, {index}, {};\n\tmad.wide.u32 %u0, %t0, {unit}, {name};\n\t",
                places - 1
            )
        } else {
            format!(
                "and.b32 %t0, {index}, {};\n\tmad.lo.u32 %t1, %t0, {unit}, {name};\n\t",
                places - 1
            )
        };
        let base = if wide { "%u0" } else { "%t1" };
        (setup, format!("[{base}+{offset}]"))
    };
    let registers = destinations(source, class, count);
    if source.below(2) == 0 {
        format!(
            "{setup}ld{space}{suffix}.{ty} {}, {address};",
            vector(&registers)
        )
    } else {
        let ty = ty.replace('s', "u");
        format!(
            "{setup}st{space}{suffix}.{ty} {address}, {};",
            vector(&registers)
        )
    }
}

/// A load from the input, 4096 words that no thread writes.
pub(super) fn input(source: &mut Source) -> String {
    let index = register(source, 'r');
    let way = ["", ".nc", ".ca", ".cg"][source.below(4) as usize];
    let (ty, class, suffix, count, size) = shape(source, 16);
    let unit = size * count;
    let registers = vector(&destinations(source, class, count));
    format!(
        "and.b32 %t0, {index}, {};\n\tmad.wide.u32 %u0, %t0, {unit}, %in;\n\tld.global{way}{suffix}.{ty} {registers}, [%u0];",
        16384 / unit - 1
    )
}

/// A constant or a parameter.
pub(super) fn constant(source: &mut Source) -> String {
    let (d, index) = (register(source, 'r'), register(source, 'r'));
    match source.below(6) {
        0 => format!("ld.param.u32 {d}, [a];"),
        1 => format!("ld.param.b64 {}, [b];", register(source, 'd')),
        2 => format!("ld.param.u16 {}, [c];", register(source, 'h')),
        3 => format!("ld.param.f32 {}, [f];", register(source, 'f')),
        _ => format!(
            "and.b32 %t0, {index}, 63;\n\tmov.u64 %u0, ctab;\n\tmad.wide.u32 %u0, %t0, 4, %u0;\n\tld.const.u32 {d}, [%u0];"
        ),
    }
}

/// A float to memory and back to other registers, its NaNs made one: which NaN an operation
/// gives may depend on how the compiler orders its operands.
pub(super) fn float(source: &mut Source) -> String {
    let (f, g) = (register(source, 'f'), register(source, 'g'));
    match source.below(3) {
        0 => format!(
            "setp.nan.f32 %tp0, {f}, {f};\n\tselp.b32 {}, 0x7fffffff, {f}, %tp0;",
            register(source, 'r')
        ),
        1 => format!(
            "setp.nan.f64 %tp0, {g}, {g};\n\tselp.b64 {}, 0x7fffffffffffffff, {g}, %tp0;",
            register(source, 'd')
        ),
        _ => {
            let index = register(source, 'r');
            format!(
                "and.b32 %t0, {index}, 4095;\n\tmad.wide.u32 %u0, %t0, 4, %in;\n\tld.global.f32 {f}, [%u0];"
            )
        }
    }
}

/// An atomic on memory of one's own: what it returns does not depend on others.
pub(super) fn own_atomic(source: &mut Source) -> String {
    let (base, space) = [
        ("%own+128", ".global"),
        ("%gown+136", ""),
        ("%sown", ".shared"),
        ("%gshared+8", ""),
    ][source.below(4) as usize];
    let wide = source.below(3) == 0;
    let class = if wide { 'd' } else { 'r' };
    let (d, a, b) = (
        register(source, class),
        register(source, class),
        register(source, class),
    );
    let operations: &[&str] = if wide {
        &[
            "add.u64", "min.s64", "max.u64", "and.b64", "xor.b64", "exch.b64", "cas.b64",
        ]
    } else {
        &[
            "add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "inc.u32", "dec.u32",
            "exch.b32", "cas.b32",
        ]
    };
    let op = operations[source.below(operations.len() as u64) as usize];
    let third = if op.starts_with("cas") {
        format!(", {b}")
    } else {
        String::new()
    };
    format!("atom{space}.{op} {d}, [{base}], {a}{third};")
}

/// Operation of each accumulator. Sums of floats are of small whole numbers, so exact in any
/// order.
const ACCUMULATORS: &[&str] = &[
    "add.u32", "min.s32", "max.u32", "or.b32", "xor.b32", "add.f32", "inc.u32", "and.b32",
];

/// A change of an accumulator in global or shared memory.
pub(super) fn accumulate(source: &mut Source) -> String {
    let shared = source.below(2) == 0;
    let (base, space) = if shared {
        ("%sacc", ".shared")
    } else {
        ("%out", ".global")
    };
    let value = register(source, 'r');
    if !shared && source.below(4) == 0 {
        // 64-bit ones lie behind the others; one is chosen by data.
        let (wide, index) = (register(source, 'd'), register(source, 'r'));
        return format!(
            "and.b32 %t0, {index}, 7;\n\tmad.wide.u32 %u0, %t0, 8, %out;\n\tred.global.add.u64 [%u0+64], {wide};"
        );
    }
    let which = source.below(ACCUMULATORS.len() as u64) as usize;
    let at = 4 * which;
    let op = ACCUMULATORS[which];
    match op {
        "add.f32" => format!(
            "and.b32 %t0, {value}, 31;\n\tcvt.rn.f32.u32 %tf0, %t0;\n\tred{space}.add.f32 [{base}+{at}], %tf0;"
        ),
        "inc.u32" => format!("mov.u32 %t0, 1000;\n\tred{space}.inc.u32 [{base}+{at}], %t0;"),
        // The old value goes nowhere: it depends on who came first.
        _ if source.below(3) == 0 => format!("atom{space}.{op} %t0, [{base}+{at}], {value};"),
        _ => format!("red{space}.{op} [{base}+{at}], {value};"),
    }
}
