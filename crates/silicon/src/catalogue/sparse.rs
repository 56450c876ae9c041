//! Matrix instructions of other shapes: sparse ones, and those of a quarter of a warp.

use super::List;
use super::matrix::{BRAIN, Finite, HALF, SINGLE, bits, fragment, list_of, numbers};
use crate::kind::Kind;

/// Elements of A and B, sums, shapes, and what is done to words so that sums are finite.
type Product = (&'static str, &'static str, [&'static str; 2], Finite);

const SPARSE: [Product; 7] = [
    ("f16.f16", "f32", ["m16n8k16", "m16n8k32"], HALF),
    ("f16.f16", "f16", ["m16n8k16", "m16n8k32"], HALF),
    ("bf16.bf16", "f32", ["m16n8k16", "m16n8k32"], BRAIN),
    ("tf32.tf32", "f32", ["m16n8k8", "m16n8k16"], SINGLE),
    ("s8.s8", "s32", ["m16n8k32", "m16n8k64"], None),
    ("u8.s8", "s32", ["m16n8k32", "m16n8k64"], None),
    ("s4.u4", "s32", ["m16n8k64", "m16n8k128"], None),
];

fn finite(source: usize, keep: Finite) -> String {
    keep.map_or(String::new(), |(kept, set)| {
        format!(
            "and.b32 %s{source}, %s{source}, {kept};\n\tor.b32 %s{source}, %s{source}, {set};\n\t"
        )
    })
}

/// What is done to the words that are added to.
fn of_sums(sum: &str, products: Finite) -> Finite {
    match sum {
        "f32" => products.and(SINGLE),
        "f16" => products.and(HALF),
        _ => None,
    }
}

/// Any word as one that names two different elements of four, in order, in every four bits; or one
/// element of two.
fn which(elements: &str) -> String {
    let ones = "0x11111111";
    let mut text = String::new();
    for (i, name) in ["t", "u", "v", "w"].iter().enumerate() {
        text += &format!("shr.u32 %{name}, %s3, {i};\n\tand.b32 %{name}, %{name}, {ones};\n\t");
    }
    if elements.starts_with("tf32") {
        return text + "mul.lo.u32 %t, %t, 10;\n\tadd.u32 %which, %t, 0x44444444;\n\t";
    }
    text + "add.u32 %which, %t, %u;\n\tshl.b32 %which, %which, 2;\n\t\
            add.u32 %which, %which, 0x44444444;\n\tand.b32 %v, %t, %v;\n\t\
            add.u32 %which, %which, %v;\n\tand.b32 %w, %t, %w;\n\tand.b32 %w, %u, %w;\n\t\
            add.u32 %which, %which, %w;\n\t"
}

fn sparse(list: &mut List, product: &Product, shape: &str, selector: u32) {
    let (elements, sum, _, keep) = *product;
    let (a, b) = elements.split_once('.').unwrap_or((elements, elements));
    let [m, n, k] = numbers(shape);
    let counts = [
        m * k / 2 * bits(a) / 1024,
        k * n * bits(b) / 1024,
        m * n * bits(sum) / 1024,
    ];
    let mut body = finite(0, keep) + &finite(1, keep) + &finite(2, of_sums(sum, keep));
    for (i, (letter, count)) in ["a", "b", "c"].iter().zip(counts).enumerate() {
        body += &fragment(letter, &format!("%s{i}"), count);
    }
    body += &which(elements);
    let name = format!("mma.sp.sync.aligned.{shape}.row.col.{sum}.{elements}.{sum}");
    body += &format!(
        "{name} {}, {}, {}, {}, %which, {selector};",
        list_of("d", counts[2]),
        list_of("a", counts[0]),
        list_of("b", counts[1]),
        list_of("c", counts[2])
    );
    let results = vec![Kind::I32; counts[2] as usize];
    let full = format!("{name}({selector})");
    let form = list.body(&full, body, &results, &[Kind::I32; 4]);
    form.on(80);
    form.together = true;
    form.brief = true;
    form.awaited = true;
    form.locals = "\t.reg .b32 %a<8>, %b<8>, %c<8>;\n\t.reg .b32 %t, %u, %v, %w, %which;\n".into();
}

/// Four multiplications of 8 by 8 by 4 at once.
fn quarters(list: &mut List) {
    for layouts in ["row.col", "row.row", "col.col", "col.row"] {
        for (d, c) in [("f32", "f32"), ("f16", "f16"), ("f32", "f16")] {
            let of = |ty: &str| if ty == "f32" { 8 } else { 4 };
            let name = format!("mma.sync.aligned.m8n8k4.{layouts}.{d}.f16.f16.{c}");
            let mut body = finite(0, HALF) + &finite(1, HALF) + &finite(2, of_sums(c, HALF));
            for (i, (letter, count)) in [("a", 2), ("b", 2), ("c", of(c))].iter().enumerate() {
                body += &fragment(letter, &format!("%s{i}"), *count);
            }
            body += &format!(
                "{name} {}, {}, {}, {};",
                list_of("d", of(d)),
                list_of("a", 2),
                list_of("b", 2),
                list_of("c", of(c))
            );
            let results = vec![Kind::I32; of(d) as usize];
            let form = list.body(&name, body, &results, &[Kind::I32; 3]);
            form.on(70);
            form.together = true;
            form.brief = true;
            form.awaited = true;
            form.locals = "\t.reg .b32 %a<8>, %b<8>, %c<8>;\n".into();
        }
    }
}

pub(super) fn add(list: &mut List) {
    for product in &SPARSE {
        for (shape, selectors) in product.2.iter().zip(selectors(product.0)) {
            for selector in selectors {
                sparse(list, product, shape, *selector);
            }
        }
    }
    quarters(list);
}

/// Which threads of four may say where elements are, for each of two shapes.
fn selectors(elements: &str) -> [&'static [u32]; 2] {
    if elements.starts_with(['s', 'u']) {
        [&[0, 1], &[0]]
    } else {
        [&[0, 3], &[0, 1]]
    }
}
