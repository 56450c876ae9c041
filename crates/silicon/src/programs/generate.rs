//! Makes a program from a seed. Recorded results depend on every choice here: a change means
//! that they are to be made anew.

use super::newer;
use super::storage;
use super::straight::{self, register};
use super::together;
use super::tree::{Condition, Leave, Needs, Part, Program, Scope, Statement, Trip};
use crate::random::Random;

/// The random choices.
pub(super) struct Source {
    random: Random,
    /// Whether warps' threads work together, and inside of branches too.
    warp_operations: bool,
    divergent_warp_operations: bool,
    /// Of a later seed.
    newer: bool,
}

impl Source {
    pub(super) fn bits(&mut self) -> u64 {
        self.random.next()
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }
}

/// Where a statement is to stand.
#[derive(Clone, Copy)]
struct Surroundings {
    depth: u32,
    loops: u32,
    /// Every thread of the block comes here.
    block: bool,
    /// The threads of a warp that come here will be known.
    warp: bool,
}

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random::new(&format!("program {seed}"));
    let warp_operations = random.below(4) > 0;
    let divergent_warp_operations = warp_operations && random.below(2) == 0;
    let mut source = Source {
        random,
        warp_operations,
        divergent_warp_operations,
        newer: seed >= newer::FIRST,
    };
    let s = &mut source;
    let threads = match s.below(6) {
        0 => [1 + s.below(32), 1],
        1 => [33 + s.below(150), 1],
        2 => [1 + s.below(20), 1 + s.below(8)],
        3 => [32, 1],
        _ => [64 + 32 * s.below(3), 1],
    };
    let table: Vec<String> = (0..64).map(|_| (s.bits() >> 32).to_string()).collect();
    let mut declarations = format!(
        ".const .align 16 .b32 ctab[64] = {{{}}};\n{}",
        table.join(", "),
        straight::functions(s)
    );
    let mut head = first_values(s);
    if s.newer {
        declarations += &newer::functions(s);
        head = newer::PROTOTYPE.to_string() + &head;
    }
    let top = Surroundings {
        depth: 3,
        loops: 2,
        block: true,
        warp: true,
    };
    let mut body = Vec::new();
    for _ in 0..2 + s.below(4) {
        statements(s, top, &mut body);
        if s.below(5) == 0 {
            body.push(leave(s, Leave::Exit));
        }
    }
    statements(s, top, &mut body);
    Program {
        seed,
        blocks: 1 + s.below(4) as u32,
        threads: threads.map(|n| n as u32),
        declarations,
        head,
        body,
    }
}

/// Sets every register of a thread's state.
fn first_values(s: &mut Source) -> String {
    let mut text = String::new();
    for i in 0..8 {
        let (factor, plus) = (1 + 2 * s.below(50), s.below(1000));
        text += &match s.below(3) {
            0 => format!(
                "\tand.b32 %t0, %glob, 2047;\n\tmad.wide.u32 %u0, %t0, 4, %in;\n\tld.global.u32 %r{i}, [%u0+{}];\n",
                4 * plus
            ),
            _ => format!("\tmad.lo.u32 %r{i}, %glob, {factor}, {plus};\n"),
        };
    }
    for i in 0..4 {
        text += &format!("\tmul.wide.u32 %d{i}, %r{i}, {};\n", s.below(1 << 32));
        text += &format!("\tcvt.rn.f32.s32 %f{i}, %r{};\n", i + 4);
        text += &format!("\tsetp.lt.s32 %p{i}, %r{i}, %r{};\n", i + 4);
    }
    for i in 0..2 {
        text += &format!("\tcvt.rn.f64.s32 %g{i}, %r{};\n", i + 2);
        text += &format!("\tcvt.u16.u32 %h{i}, %r{};\n", i + 5);
    }
    text
}

fn statements(s: &mut Source, at: Surroundings, into: &mut Vec<Statement>) {
    for _ in 0..1 + s.below(4) {
        let statement = statement(s, at);
        into.push(statement);
    }
}

fn body(s: &mut Source, at: Surroundings) -> Vec<Statement> {
    let mut body = Vec::new();
    statements(s, at, &mut body);
    body
}

fn simple(text: String, needs: Needs) -> Statement {
    Statement::Straight { text, needs }
}

fn statement(s: &mut Source, at: Surroundings) -> Statement {
    if s.newer && s.below(4) == 0 {
        let (text, needs) = newer::statement(s, at.block);
        return simple(text, needs);
    }
    let choices = if at.depth == 0 { 16 } else { 26 };
    match s.below(choices) {
        0..=4 => simple(straight::operation(s), Needs::Nothing),
        5 => simple(storage::own(s), Needs::Nothing),
        6 => simple(storage::input(s), Needs::Nothing),
        7 => simple(storage::own_atomic(s), Needs::Nothing),
        8 => simple(storage::accumulate(s), Needs::Nothing),
        9 => match s.below(4) {
            0 => simple(straight::carries(s), Needs::Nothing),
            1 => simple(straight::call(s), Needs::Nothing),
            2 => simple(storage::float(s), Needs::Nothing),
            _ => simple(storage::constant(s), Needs::Nothing),
        },
        10 | 11 if s.warp_operations && at.warp => simple(together::warp(s), Needs::Warp),
        12 | 13 if at.block => match s.below(6) {
            0 => simple(together::reduction(s), Needs::WholeBlock),
            1 => simple(together::handoff(s), Needs::FullWarps),
            _ => simple(together::exchange(s), Needs::Block),
        },
        14 if at.loops < 2 => {
            let how = [Leave::Break, Leave::Continue][s.below(2) as usize];
            leave(s, how)
        }
        15 if at.depth < 3 && s.below(4) == 0 => leave(s, Leave::Exit),
        16..=19 => branch(s, at),
        20..=22 if at.loops > 0 => repeat(s, at),
        23 | 24 => chain(s, at),
        25 => switch(s, at),
        _ => simple(straight::operation(s), Needs::Nothing),
    }
}

/// What stands inside, when `scope` says who agrees on going there.
fn inside(s: &Source, at: Surroundings, scope: Scope) -> Surroundings {
    Surroundings {
        depth: at.depth - 1,
        loops: at.loops,
        block: at.block && scope == Scope::Block,
        warp: at.warp && (scope != Scope::Thread || s.divergent_warp_operations),
    }
}

fn scope(s: &mut Source) -> Scope {
    [
        Scope::Thread,
        Scope::Thread,
        Scope::Thread,
        Scope::Warp,
        Scope::Block,
    ][s.below(5) as usize]
}

fn condition(s: &mut Source, scope: Scope) -> Condition {
    let compare = ["lt", "eq", "ge", "ne"][s.below(4) as usize];
    let (shift, limit) = (s.below(6), 1 + s.below(6));
    let few_bits = |value: &str| {
        format!(
            "shr.u32 %t0, {value}, {shift};\n\tand.b32 %t0, %t0, 7;\n\tsetp.{compare}.u32 $Q, %t0, {limit};"
        )
    };
    let text = match scope {
        Scope::Thread => match s.below(8) {
            0 => {
                let (a, b) = (register(s, 'r'), register(s, 'r'));
                format!("setp.{compare}.s32 $Q, {a}, {b};")
            }
            1 => format!("mov.pred $Q, {};", register(s, 'p')),
            2 => {
                let (a, b) = (register(s, 'f'), register(s, 'f'));
                format!("setp.{compare}.f32 $Q, {a}, {b};")
            }
            3 => few_bits("%lane"),
            4 => {
                let (r, p) = (register(s, 'r'), register(s, 'p'));
                format!("and.b32 %t0, {r}, 7;\n\tsetp.{compare}.or.u32 $Q, %t0, {limit}, {p};")
            }
            _ => few_bits(&register(s, 'r')),
        },
        Scope::Warp => format!(
            "mov.u32 %t0, %ctaid.x;\n\tadd.u32 %t0, %t0, %warp;\n\tand.b32 %t0, %t0, 3;\n\tsetp.{compare}.u32 $Q, %t0, {};",
            limit & 3
        ),
        Scope::Block => match s.below(2) {
            0 => format!("ld.param.u32 %t1, [a];\n\t{}", few_bits("%t1")),
            _ => format!(
                "mov.u32 %t0, %ctaid.x;\n\tsetp.{compare}.u32 $Q, %t0, {};",
                limit & 3
            ),
        },
    };
    Condition { text, scope }
}

fn leave(s: &mut Source, how: Leave) -> Statement {
    let scope = if s.below(5) == 0 {
        scope(s)
    } else {
        Scope::Thread
    };
    let condition = condition(s, scope);
    Statement::Leave { how, condition }
}

fn branch(s: &mut Source, at: Surroundings) -> Statement {
    let scope = scope(s);
    let condition = condition(s, scope);
    let at = inside(s, at, scope);
    let then = body(s, at);
    let other = if s.below(3) == 0 {
        Vec::new()
    } else {
        body(s, at)
    };
    Statement::If {
        condition,
        then,
        other,
    }
}

fn repeat(s: &mut Source, at: Surroundings) -> Statement {
    let scope = scope(s);
    // Loops in loops are short.
    let mask = if at.loops == 2 { 7 } else { 3 };
    let text = match scope {
        Scope::Thread => format!("and.b32 $C, {}, {mask};", register(s, 'r')),
        Scope::Warp => format!(
            "add.u32 $C, %warp, {};\n\tand.b32 $C, $C, {mask};",
            s.below(4)
        ),
        Scope::Block => format!(
            "mov.u32 $C, %ctaid.x;\n\tadd.u32 $C, $C, {};\n\tand.b32 $C, $C, 3;",
            s.below(4)
        ),
    };
    let mut at = inside(s, at, scope);
    at.loops -= 1;
    at.depth = at.depth.min(at.loops + 1);
    Statement::Loop {
        trip: Trip { text, scope },
        test_last: s.below(3) == 0,
        body: body(s, at),
    }
}

fn chain(s: &mut Source, at: Surroundings) -> Statement {
    let mut at = inside(s, at, Scope::Thread);
    at.warp = false;
    let count = 3 + s.below(3) as usize;
    let parts = (0..count)
        .map(|_| {
            let body = body(s, at);
            let jump = (s.below(5) > 0).then(|| {
                let scope = scope(s);
                (condition(s, scope), 1 + s.below(2) as usize)
            });
            Part { body, jump }
        })
        .collect();
    Statement::Chain(parts)
}

fn switch(s: &mut Source, at: Surroundings) -> Statement {
    let at = inside(s, at, Scope::Thread);
    let count = 2 + s.below(4);
    let selector = match s.below(4) {
        0 => format!("rem.u32 $S, %lane, {count};"),
        1 => format!("mov.u32 $S, %ctaid.x;\n\trem.u32 $S, $S, {count};"),
        _ => format!("rem.u32 $S, {}, {count};", register(s, 'r')),
    };
    let through = s.below(2) == 0;
    let cases = (0..count)
        .map(|_| (body(s, at), through && s.below(3) == 0))
        .collect();
    Statement::Switch { selector, cases }
}
