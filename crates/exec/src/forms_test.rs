//! Every surveyed instruction form has semantics, and gives the same results whether its lanes
//! are one static warp or gathered from several.

use warpsim_ptx::ast::{self, Item, Statement};
use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::{AddrBase, Instr, Operand, RegId, TexBase};

use super::decode::families;
use super::op::{Plan, Width};
use super::state::{LANES, Lanes};
use super::testing::{Bench, instr, n, p, w};

const FORMS: &str = include_str!("../../ptx/tests/forms.txt");

/// Forms that are read but refused when a kernel is loaded or lowered.
const REFUSED: &[&str] = &[
    "mov.b128",
    "ld.b128",
    "ld.global.v8.f32",
    "cvt.rn.satfinite.e4m3x2.f32",
    "atom.global.v4.f32.add",
    "atom.global.exch.b128",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
];

fn parsed(form: &str) -> ast::Instruction {
    let text =
        format!(".version 8.5\n.target sm_90a\n.address_size 64\n.entry k()\n{{\nL:\n{form}\n}}\n");
    let module = warpsim_ptx::parse(&text).unwrap();
    let Some(Item::Function(f)) = module.items.first() else {
        panic!("no function")
    };
    let Some([_, Statement::Instruction(i)]) = f.body.as_deref() else {
        panic!("no instruction in {form}")
    };
    i.clone()
}

fn flat(operand: &ast::Operand, out: &mut Vec<Operand>) {
    match operand {
        ast::Operand::Vector(list, _) => list.iter().for_each(|o| flat(o, out)),
        ast::Operand::Pair(a, b) => {
            flat(a, out);
            flat(b, out);
        }
        ast::Operand::Address { .. } => out.push(Operand::Address {
            base: AddrBase::Reg(RegId(8)),
            offset: 0,
        }),
        // The list has two coordinates whatever the geometry; three suit all of them.
        ast::Operand::Texture { .. } => {
            out.push(Operand::Texture(TexBase::Texref(0)));
            out.extend([n(0); 3]);
        }
        _ => out.push(n(0)),
    }
}

/// The form as a lowered instruction whose registers are all the same: the shape only.
fn skeleton(form: &str) -> Instr {
    let i = parsed(form);
    let no_result = matches!(
        i.op,
        Op::St | Op::Red | Op::Nanosleep | Op::Prefetch | Op::Prefetchu | Op::Pmevent | Op::Bra
    ) || matches!(i.op, Op::Bar | Op::Barrier)
        && i.mods.mode != Some(warpsim_ptx::isa::Mode::Red);
    let (mut dst, mut src) = (Vec::new(), Vec::new());
    for (k, operand) in i.operands.iter().enumerate() {
        if k == 0 && !no_result {
            flat(operand, &mut dst);
        } else {
            flat(operand, &mut src);
        }
    }
    instr(i.op, i.mods, &dst, &src)
}

fn planned(i: &Instr) -> Option<Plan> {
    families().iter().find_map(|family| family(i))
}

fn executed(form: &str) -> bool {
    let op = parsed(form).op;
    let mnemonic = form.split([' ', ';']).next().unwrap_or_default();
    op.is_supported() && !matches!(op, Op::Call | Op::Brx) && !REFUSED.contains(&mnemonic)
}

#[test]
fn every_form_has_semantics() {
    let missing: Vec<&str> = FORMS
        .lines()
        .filter(|form| executed(form) && planned(&skeleton(form)).is_none())
        .collect();
    assert!(
        missing.is_empty(),
        "{} forms:\n{}",
        missing.len(),
        missing.join("\n")
    );
}

/// The form with registers that fit its plan; `None` for memory and control.
fn concrete(form: &str) -> Option<Instr> {
    let mut i = skeleton(form);
    let texture = matches!(
        i.op,
        Op::Tex | Op::TexLevel | Op::TexGrad | Op::Tld4 | Op::Txq
    );
    let surface = matches!(i.op, Op::Suld | Op::Sust | Op::Sured | Op::Suq);
    let control = matches!(i.op, Op::Exit | Op::Ret | Op::Trap | Op::Brkpt | Op::Bra);
    if texture || surface || control {
        return None;
    }
    let plan = planned(&i)?;
    if plan.many.is_some() {
        return None;
    }
    let operand = |width: Width, k: usize| {
        let k = k as u16;
        Some(match width {
            Width::None => return None,
            Width::Narrow => n(k),
            Width::Wide => w(k),
            Width::Predicate => p(k % 4),
        })
    };
    for k in 0..i.dst.len() {
        i.dst[k] = operand(plan.dst[k], k)?;
    }
    for k in 0..i.src.len() {
        i.src[k] = operand(plan.src[k], k + 2)?;
    }
    Some(i)
}

/// Xorshift: the same numbers every time.
struct Rng(u64);

impl Rng {
    fn next_u32(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }
}

fn filled(rng: &mut Rng) -> Bench {
    let mut bench = Bench::new();
    for warp in &mut bench.threads.warps {
        for row in warp.rows.iter_mut() {
            // Small numbers, shift counts and floats all want to be met.
            *row = match rng.next_u32() % 4 {
                0 => rng.next_u32() % 64,
                1 => (rng.next_u32() as f32 / 1e6).to_bits(),
                _ => rng.next_u32(),
            };
        }
        for bits in &mut warp.predicates {
            *bits = rng.next_u32();
        }
        warp.carry = rng.next_u32();
    }
    bench
}

#[test]
fn gathered_lanes_compute_what_static_warps_compute() {
    let mut rng = Rng(0x1234_5678_9abc_def1);
    let mut tried = 0;
    for form in FORMS.lines().filter(|form| executed(form)) {
        let Some(mut i) = concrete(form) else {
            continue;
        };
        i.guard = Some((RegId(19), rng.next_u32() & 1 == 0));
        let before = filled(&mut rng);
        let seed = before.threads.warps.clone();
        let active = rng.next_u32();
        let homes: Box<[u16; LANES]> =
            Box::new(std::array::from_fn(|_| (rng.next_u32() % 2) as u16));
        let of = |home: u16| {
            (0..LANES)
                .filter(|&l| homes[l] == home)
                .fold(0u32, |all, l| all | 1 << l)
        };
        let mut apart = before;
        let first = apart.step_on(i.clone(), &Lanes::Static(0), active & of(0));
        let executed = apart.effect.executed;
        let second = apart.step_on(i.clone(), &Lanes::Static(1), active & of(1));
        let executed = executed | apart.effect.executed;
        let mut together = Bench::new();
        together.threads.warps = seed;
        let both = together.step_on(i.clone(), &Lanes::Gathered(homes), active);
        assert_eq!(first.is_ok() && second.is_ok(), both.is_ok(), "{form}");
        if both.is_err() {
            continue;
        }
        tried += 1;
        assert_eq!(together.effect.executed, executed, "{form}");
        for (a, b) in apart.threads.warps.iter().zip(&together.threads.warps) {
            assert_eq!(a.predicates, b.predicates, "{form}");
            assert_eq!(a.carry, b.carry, "{form}");
            assert!(a.rows == b.rows, "{form}: registers differ");
        }
    }
    assert!(tried > 300, "only {tried} forms ran");
}
