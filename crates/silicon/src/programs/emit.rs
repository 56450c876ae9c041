//! Writes a program out as PTX.
//!
//! Warp operations name their members. In code that every thread of a warp reaches the members
//! are its threads; where threads part ways, a vote before the branch says who goes where, so
//! that members are known inside of branches and loops too. Where they cannot be known (behind a
//! jump out of a nested branch, in a chain of jumps, once a thread has exited) warp operations
//! are left out, and so are barriers where not every thread of the block comes along. A program
//! therefore stays well defined whatever is taken out of it.

use std::fmt::Write;

use super::tree::{
    Condition, Leave, Needs, Part, Program, Scope, Statement, Trip, exits, leaves_loop, uses_warp,
};

/// Bytes of accumulators at the beginning of the output.
pub const ACCUMULATORS: u32 = 256;
/// Bytes of output that belong to a thread: its registers, then room to store to.
pub const OWN: u32 = 256;
/// Bytes of shared memory that belong to a thread.
pub const SHARED_OWN: u32 = 16;
/// Bytes of shared accumulators, behind what belongs to threads.
pub const SHARED_ACCUMULATORS: u32 = 64;
/// Bytes of local memory.
pub const LOCAL: u32 = 64;

const HEAD: &str = include_str!("head.ptx");
const TAIL: &str = include_str!("tail.ptx");

/// What is known at a place.
#[derive(Clone)]
struct Place {
    /// Register with the threads of the warp that come here, if known.
    members: Option<String>,
    /// Every thread of the block that has not exited comes here.
    whole: bool,
    /// Not inside of anything.
    outermost: bool,
    inside: Option<Loop>,
}

#[derive(Clone)]
struct Loop {
    number: u32,
    /// Register with the threads of the warp that are still in the loop, if kept.
    members: Option<String>,
}

struct Writer {
    text: String,
    numbers: u32,
    /// Threads may have exited.
    exited: bool,
    full_warps: bool,
}

/// The module: one kernel `k(out, in, a, b, c, f)`, and a texture for programs of later seeds.
pub fn ptx(program: &Program) -> String {
    let threads = program.block_threads();
    let mut writer = Writer {
        text: String::new(),
        numbers: 0,
        exited: false,
        full_warps: threads >= 64 && threads.is_multiple_of(32),
    };
    let mut place = Place {
        members: Some("%full".into()),
        whole: true,
        outermost: true,
        inside: None,
    };
    writer.block(&program.body, &mut place);
    writer.text.push_str(TAIL);
    let texture = if program.has_texture() {
        ", .param .u64 texture)"
    } else {
        ")"
    };
    let head = HEAD
        .replacen(')', texture, 1)
        .replace("$SHARED_OWN", &(threads * SHARED_OWN).to_string())
        .replace(
            "$SHARED",
            &(threads * SHARED_OWN + SHARED_ACCUMULATORS).to_string(),
        );
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{}{head}\t.reg .b32 %c<{n}>, %m<{n}>, %s<{n}>;\n\
         \t.reg .pred %q<{n}>;\n{}{}\tret;\n}}\n",
        program.declarations,
        program.head,
        writer.text,
        n = writer.numbers + 1,
    )
}

impl Writer {
    fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.text, "\t{}", text.as_ref());
    }

    fn label(&mut self, name: &str, number: u32) {
        let _ = writeln!(self.text, "{name}_{number}:");
    }

    fn block(&mut self, body: &[Statement], place: &mut Place) {
        for (i, statement) in body.iter().enumerate() {
            self.statement(statement, &body[i + 1..], place);
        }
    }

    fn statement(&mut self, statement: &Statement, rest: &[Statement], place: &mut Place) {
        match statement {
            Statement::Straight { text, needs } => self.straight(text, *needs, place),
            Statement::If {
                condition,
                then,
                other,
            } => self.branch(condition, then, other, place),
            Statement::Loop {
                trip,
                test_last,
                body,
            } => self.repeat(trip, *test_last, body, place),
            Statement::Chain(parts) => self.chain(parts, place),
            Statement::Switch { selector, cases } => self.switch(selector, cases, place),
            Statement::Leave { how, condition } => self.leave(*how, condition, rest, place),
        }
    }

    fn straight(&mut self, text: &str, needs: Needs, place: &Place) {
        let block = place.whole;
        let all = block && !self.exited;
        let fits = match needs {
            Needs::Nothing => true,
            Needs::Warp => place.members.is_some(),
            Needs::Block => block,
            Needs::WholeBlock => all,
            Needs::FullWarps => all && self.full_warps,
        };
        if fits {
            let members = place.members.as_deref().unwrap_or("%full");
            let number = self.number().to_string();
            self.line(text.replace("$M", members).replace("$N", &number));
        }
    }

    /// Sets a new predicate.
    fn condition(&mut self, condition: &Condition) -> u32 {
        let q = self.number();
        self.line(condition.text.replace("$Q", &format!("%q{q}")));
        q
    }

    /// What holds behind a statement with these bodies.
    fn behind(&mut self, bodies: &[&Vec<Statement>], place: &mut Place) {
        if bodies.iter().any(|b| leaves_loop(b)) {
            (place.members, place.whole) = (None, false);
        }
        if bodies.iter().any(|b| exits(b)) {
            self.exited = true;
            place.members = None;
        }
    }

    fn branch(
        &mut self,
        condition: &Condition,
        then: &Vec<Statement>,
        other: &Vec<Statement>,
        place: &mut Place,
    ) {
        let q = self.condition(condition);
        let mut sides = [place.clone(), place.clone()];
        if condition.scope == Scope::Thread {
            let wanted = uses_warp(then) || uses_warp(other);
            let known = place.members.clone().filter(|_| wanted);
            if let Some(all) = &known {
                let no = self.number();
                self.line(format!("vote.sync.ballot.b32 %m{q}, %q{q}, {all};"));
                self.line(format!("xor.b32 %m{no}, %m{q}, {all};"));
                sides[0].members = Some(format!("%m{q}"));
                sides[1].members = Some(format!("%m{no}"));
            } else {
                sides[0].members = None;
                sides[1].members = None;
            }
        }
        for side in &mut sides {
            side.whole &= condition.scope == Scope::Block;
            side.outermost = false;
        }
        let [yes, no] = &mut sides;
        if other.is_empty() {
            self.line(format!("@!%q{q} bra END_{q};"));
            self.block(then, yes);
        } else {
            self.line(format!("@!%q{q} bra ELSE_{q};"));
            self.block(then, yes);
            self.line(format!("bra END_{q};"));
            self.label("ELSE", q);
            self.block(other, no);
        }
        self.label("END", q);
        self.behind(&[then, other], place);
    }

    fn repeat(&mut self, trip: &Trip, test_last: bool, body: &[Statement], place: &mut Place) {
        let n = self.number();
        let leaving = leaves_loop(body);
        if exits(body) {
            // Later rounds come after exits in earlier ones.
            self.exited = true;
            place.members = None;
        }
        let mut round = place.clone();
        round.whole &= trip.scope == Scope::Block && !leaving;
        round.outermost = false;
        // Whole warps go round together, or votes keep track of who is left.
        let together = trip.scope != Scope::Thread && !leaving;
        let counted = !together && uses_warp(body) && can_keep_track(body);
        let kept = place.members.clone().filter(|_| counted);
        self.line(trip.text.replace("$C", &format!("%c{n}")));
        if let Some(all) = &kept {
            self.line(format!("mov.b32 %m{n}, {all};"));
            round.members = Some(format!("%m{n}"));
        } else if !together {
            round.members = None;
        }
        round.inside = Some(Loop {
            number: n,
            members: kept.as_ref().map(|_| format!("%m{n}")),
        });
        let test = |w: &mut Writer| {
            w.line(format!("setp.ne.u32 %q{n}, %c{n}, 0;"));
            if kept.is_some() {
                w.line(format!("vote.sync.ballot.b32 %m{n}, %q{n}, %m{n};"));
            }
        };
        if test_last {
            self.line(format!("add.u32 %c{n}, %c{n}, 1;"));
        }
        self.label("LOOP", n);
        if !test_last {
            test(self);
            self.line(format!("@!%q{n} bra OUT_{n};"));
        }
        self.block(body, &mut round);
        self.label("NEXT", n);
        self.line(format!("sub.u32 %c{n}, %c{n}, 1;"));
        if test_last {
            test(self);
            self.line(format!("@%q{n} bra LOOP_{n};"));
        } else {
            self.line(format!("bra LOOP_{n};"));
        }
        self.label("OUT", n);
    }

    fn chain(&mut self, parts: &[Part], place: &mut Place) {
        let n = self.number();
        for (i, part) in parts.iter().enumerate() {
            let _ = writeln!(self.text, "PART_{n}_{i}:");
            self.block(&part.body, &mut apart(place));
            if let Some((condition, over)) = &part.jump {
                let q = self.condition(condition);
                let to = (i + 1 + over).min(parts.len());
                self.line(format!("@%q{q} bra PART_{n}_{to};"));
            }
        }
        let _ = writeln!(self.text, "PART_{n}_{}:", parts.len());
        let bodies: Vec<_> = parts.iter().map(|p| &p.body).collect();
        self.behind(&bodies, place);
    }

    fn switch(&mut self, selector: &str, cases: &[(Vec<Statement>, bool)], place: &mut Place) {
        let n = self.number();
        self.line(selector.replace("$S", &format!("%s{n}")));
        let mut side = apart(place);
        let alone = cases.iter().all(|(_, runs_on)| !runs_on);
        if let Some(all) = place.members.clone()
            && alone
            && cases.iter().any(|(body, _)| uses_warp(body))
        {
            self.line(format!("match.any.sync.b32 %m{n}, %s{n}, {all};"));
            side.members = Some(format!("%m{n}"));
        }
        let labels: Vec<String> = (0..cases.len()).map(|i| format!("CASE_{n}_{i}")).collect();
        let _ = writeln!(
            self.text,
            "TABLE_{n}: .branchtargets {};",
            labels.join(", ")
        );
        self.line(format!("brx.idx %s{n}, TABLE_{n};"));
        for (label, (body, runs_on)) in labels.iter().zip(cases) {
            let _ = writeln!(self.text, "{label}:");
            self.block(body, &mut side.clone());
            if !runs_on {
                self.line(format!("bra END_{n};"));
            }
        }
        self.label("END", n);
        let bodies: Vec<_> = cases.iter().map(|(body, _)| body).collect();
        self.behind(&bodies, place);
    }

    fn leave(&mut self, how: Leave, condition: &Condition, rest: &[Statement], place: &mut Place) {
        if how == Leave::Exit {
            let q = self.condition(condition);
            if place.outermost {
                for line in TAIL.lines() {
                    self.line(format!("@%q{q} {}", line.trim()));
                }
                self.line(format!("@%q{q} exit;"));
            } else {
                self.line(format!("@!%q{q} bra STAY_{q};"));
                self.text.push_str(TAIL);
                self.line("exit;");
                self.label("STAY", q);
            }
            self.exited = true;
            place.members = None;
            return;
        }
        // What was in a loop may stand outside when a program is shrunk.
        let Some(inside) = place.inside.clone() else {
            return;
        };
        let q = self.condition(condition);
        let n = inside.number;
        if let Some(all) = place.members.clone() {
            if how == Leave::Break && inside.members == place.members {
                self.line(format!("vote.sync.ballot.b32 {all}, !%q{q}, {all};"));
            } else if uses_warp(rest) {
                self.line(format!("vote.sync.ballot.b32 %m{q}, !%q{q}, {all};"));
                place.members = Some(format!("%m{q}"));
            } else {
                place.members = None;
            }
        }
        place.whole &= condition.scope == Scope::Block;
        let to = if how == Leave::Break { "OUT" } else { "NEXT" };
        self.line(format!("@%q{q} bra {to}_{n};"));
    }
}

/// A place of which nothing is known, in the same loop.
fn apart(place: &Place) -> Place {
    Place {
        members: None,
        whole: false,
        outermost: false,
        inside: place.inside.clone(),
    }
}

/// Whether votes at the beginning of each round can know who is left: threads leave the loop
/// from its top level only, and no thread leaves it once some have gone on to the next round.
fn can_keep_track(body: &[Statement]) -> bool {
    let mut continued = false;
    for statement in body {
        match statement {
            Statement::Leave {
                how: Leave::Continue,
                ..
            } => continued = true,
            Statement::Leave {
                how: Leave::Break, ..
            } if continued => return false,
            Statement::Leave { .. } | Statement::Loop { .. } => {}
            other if other.bodies().into_iter().any(|b| leaves_loop(b)) => return false,
            _ => {}
        }
    }
    true
}
