//! Loads and stores: every space, type and vector width, ways of caching and orders, address
//! tests.

use super::place::{PLACES, Place};
use super::{List, kind};
use crate::kind::Kind;
use crate::random::Random;

const TYPES: [&str; 14] = [
    "b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64",
];

fn bytes(ty: &str) -> usize {
    match ty.trim_start_matches(['b', 'u', 's', 'f']) {
        "8" => 1,
        "16" => 2,
        "32" => 4,
        _ => 8,
    }
}

/// Vector widths that fit 16 bytes.
fn vectors(ty: &str) -> impl Iterator<Item = (&'static str, usize)> {
    let size = bytes(ty);
    let all = [("", 1), (".v2", 2), (".v4", 4)];
    all.into_iter().filter(move |(_, n)| n * size <= 16)
}

fn registers(role: char, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("%{role}{i}")).collect();
    match count {
        1 => names.concat(),
        _ => format!("{{{}}}", names.join(", ")),
    }
}

/// A load of the last bytes of a cell that two 64-bit stores filled.
fn load(list: &mut List, place: &Place, way: &str, vector: &str, count: usize, ty: &str) {
    let space = place.space;
    let op = format!("ld{way}{space}{vector}.{ty}");
    let op = match way {
        // The order of modifiers that the manual has.
        ".ca" | ".cg" | ".cs" | ".lu" | ".cv" => format!("ld{space}{way}{vector}.{ty}"),
        _ => op,
    };
    let offset = 16 - bytes(ty) * count;
    let body = format!(
        "st{space}.v2.b64 [%cell], {{%s0, %s1}};\n\t{op} {}, [%cell+{offset}];",
        registers('d', count)
    );
    let results = vec![kind(ty); count];
    let form = list.body(
        &format!("{op}{}", place.name),
        body,
        &results,
        &[Kind::I64, Kind::I64],
    );
    if way.len() > 3 && way != ".volatile" {
        form.on(70);
    }
    form.at(place);
}

/// A store into a cell of known bytes.
fn store(list: &mut List, place: &Place, way: &str, vector: &str, count: usize, ty: &str) {
    let space = place.space;
    let op = match way {
        ".wb" | ".cg" | ".cs" | ".wt" => format!("st{space}{way}{vector}.{ty}"),
        _ => format!("st{way}{space}{vector}.{ty}"),
    };
    let offset = 16 - bytes(ty) * count;
    let body = format!(
        "mov.u64 %d0, 0x0123456789abcdef;\n\tmov.u64 %d1, 0xfedcba9876543210;\n\
         \tst{space}.v2.b64 [%cell], {{%d0, %d1}};\n\t{op} [%cell+{offset}], {};\n\
         \tld{space}.v2.b64 {{%d0, %d1}}, [%cell];",
        registers('s', count)
    );
    let sources = vec![kind(ty); count];
    let form = list.body(
        &format!("{op}{}", place.name),
        body,
        &[Kind::I64, Kind::I64],
        &sources,
    );
    if way.len() > 3 && way != ".volatile" {
        form.on(70);
    }
    form.at(place);
}

/// 1024 bytes that no form writes.
fn table(space: &str) -> String {
    let mut random = Random::new("table");
    let bytes: Vec<String> = (0..1024)
        .map(|_| (random.next() >> 56).to_string())
        .collect();
    let bytes = bytes.join(",");
    format!(".{space} .align 16 .b8 table[1024] = {{{bytes}}};\n")
}

/// Loads from memory that cannot be written, or must not be.
fn read_only(list: &mut List, op: &str, space: &str, generic: bool, ty: &str) {
    for (vector, count) in vectors(ty) {
        let unit = bytes(ty) * count;
        let to_generic = if generic {
            "cvta.const.u64 %cell, %cell;\n\t"
        } else {
            ""
        };
        let name = format!(
            "{op}{vector}.{ty}{}",
            if generic { "(generic, const)" } else { "" }
        );
        let form = list.body(
            &name,
            format!(
                "and.b32 %word, %s0, {};\n\tmov.u64 %cell, table;\n\tmad.wide.u32 %cell, %word, {unit}, %cell;\n\
                 \t{to_generic}{op}{vector}.{ty} {}, [%cell];",
                1024 / unit - 1,
                registers('d', count)
            ),
            &vec![kind(ty); count],
            &[Kind::I32],
        );
        form.module = table(space);
        form.locals = "\t.reg .b64 %cell;\n".into();
    }
}

/// Through the parameters of a function, and of the kernel.
fn parameters(list: &mut List, ty: &str) {
    for (vector, count) in vectors(ty) {
        let offset = 16 - bytes(ty) * count;
        let k = kind(ty);
        let register = format!(".b{}", k.bytes() * 8);
        let declared: Vec<String> = (0..count).map(|i| format!("%x{i}")).collect();
        let list_of = |role: char| registers(role, count);
        let form = list.body(
            &format!("st.param{vector}.{ty}+ld.param{vector}.{ty}"),
            format!(
                "{{\n\t.param .align 16 .b8 there[16];\n\t.param .align 16 .b8 back[16];\n\
                 \tst.param{vector}.{ty} [there+{offset}], {};\n\tcall (back), pass, (there);\n\
                 \tld.param{vector}.{ty} {}, [back+{offset}];\n\t}}",
                list_of('s'),
                list_of('d')
            ),
            &vec![k; count],
            &vec![k; count],
        );
        form.module = format!(
            ".func (.param .align 16 .b8 back[16]) pass(.param .align 16 .b8 there[16])\n{{\n\t.reg {register} {};\n\
             \tld.param{vector}.{ty} {}, [there+{offset}];\n\tst.param{vector}.{ty} [back+{offset}], {};\n\tret;\n}}\n",
            declared.join(", "),
            list_of('x'),
            list_of('x')
        );
    }
    if bytes(ty) <= 4 {
        let offset = 4 - bytes(ty);
        let body = format!("ld.param.{ty} %d0, [count+{offset}];");
        list.body(&format!("ld.param.{ty}(kernel)"), body, &[kind(ty)], &[]);
    }
}

pub(super) fn add(list: &mut List) {
    for place in PLACES {
        for ty in TYPES {
            for (vector, count) in vectors(ty) {
                load(list, place, "", vector, count, ty);
                store(list, place, "", vector, count, ty);
            }
        }
        for (vector, count) in vectors("b32") {
            load(list, place, ".volatile", vector, count, "b32");
            store(list, place, ".volatile", vector, count, "b32");
        }
        if place.space == ".local" || place.name.contains("local") {
            continue;
        }
        for scope in ["cta", "gpu", "sys"] {
            for ty in ["u8", "b32", "u64"] {
                for order in ["relaxed", "acquire"] {
                    load(list, place, &format!(".{order}.{scope}"), "", 1, ty);
                }
                for order in ["relaxed", "release"] {
                    store(list, place, &format!(".{order}.{scope}"), "", 1, ty);
                }
            }
        }
    }
    let global = &PLACES[0];
    for ty in ["u8", "b32", "f64"] {
        for way in [".ca", ".cg", ".cs", ".lu", ".cv"] {
            load(list, global, way, "", 1, ty);
        }
        for way in [".wb", ".cg", ".cs", ".wt"] {
            store(list, global, way, "", 1, ty);
        }
    }
    for ty in TYPES {
        read_only(list, "ld.const", "const", false, ty);
        read_only(list, "ld", "const", true, ty);
        read_only(list, "ld.global.nc", "global", false, ty);
        read_only(list, "ldu.global", "global", false, ty);
        parameters(list, ty);
    }
    for place in PLACES.iter().filter(|p| p.space.is_empty()) {
        for space in ["global", "shared", "local", "const"] {
            let body = format!("isspacep.{space} %d0, %cell;");
            let name = format!("isspacep.{space}{}", place.name);
            list.body(&name, body, &[Kind::Pred], &[]).at(place);
        }
        let to = place.name.trim_matches(['(', ')']).replace("generic, ", "");
        // A generic address and back: what is stored one way is loaded the other.
        let body = format!(
            "st.b64 [%cell], %s0;\n\tcvta.to.{to}.u64 %cell, %cell;\n\tld.{to}.b64 %d0, [%cell];"
        );
        list.body(
            &format!("cvta.{to}.u64+cvta.to.{to}.u64"),
            body,
            &[Kind::I64],
            &[Kind::I64],
        )
        .at(place);
    }
}
