//! Which registers the words get: the lowest that are free, in aligned groups where an access
//! needs them together, and not at once the ones that the memory system may still be using.

use super::live::{Edges, Set};
use super::word::{Code, Value, ValueMap};

/// Instructions for which a register that took part in an access is left alone when there are
/// others: reusing it at once would wait until the memory system has read it.
const REST: u32 = 11;
/// Registers are left alone only as long as there are so few in use.
const RESTING_UP_TO: usize = 22;
/// Registers that are looked at; no thread can name as many.
const MOST: usize = 512;

/// Registers that must stand together: their values, the first one aligned.
struct Groups {
    of: ValueMap<(u32, u32)>,
    members: Vec<Vec<Value>>,
}

impl Groups {
    fn new(code: &Code) -> Self {
        let mut groups = Groups {
            of: ValueMap::default(),
            members: Vec::new(),
        };
        for node in code.blocks.iter().flat_map(|b| &b.nodes) {
            let defs = node.wide_defs.iter().map(|range| (&node.defs, range));
            let uses = node.wide_uses.iter().map(|range| (&node.uses, range));
            for (values, (first, count)) in defs.chain(uses) {
                let (first, count) = (usize::from(*first), usize::from(*count));
                groups.add(code, &values[first..first + count]);
            }
        }
        groups
    }

    /// Values that stand in another group already are copied when they are needed here.
    fn add(&mut self, code: &Code, values: &[Value]) {
        let usable = |v: &Value| code.is_word(*v) && !self.of.contains_key(v);
        let mut distinct = values.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() < values.len() || !values.iter().all(usable) {
            return;
        }
        let index = self.members.len() as u32;
        for (at, value) in values.iter().enumerate() {
            self.of.insert(*value, (index, at as u32));
        }
        self.members.push(values.to_vec());
    }
}

/// Where single words go: a good allocator finds the way that suits the pairs.
#[derive(Clone, Copy, Debug)]
enum Way {
    Lowest,
    Holes,
    Odd,
    HighHoles,
}

/// The register file while a block is walked.
struct File {
    owner: Vec<Option<Value>>,
    /// When a register that took part in an access was freed, plus [`REST`].
    rests_until: Vec<u32>,
    now: u32,
    /// Registers whose value an access put where its own source had been.
    in_place: Vec<bool>,
    way: Way,
    /// Registers in use and kept for a moment, at most.
    most: u32,
}

impl File {
    fn is_free(&self, at: usize) -> bool {
        at != super::RESERVED_REGISTER && self.owner[at].is_none()
    }

    /// The lowest place for `count` registers.
    fn place(&self, count: usize) -> usize {
        let step = count.next_power_of_two().max(1);
        let fits = |first: &usize, rested: bool| {
            (*first..*first + count)
                .all(|at| self.is_free(at) && (!rested || self.rests_until[at] <= self.now))
        };
        let places = || (0..MOST - count).step_by(step);
        if count == 1 {
            // A hole beside a register in use does not break up a pair.
            let hole = |at: &usize| fits(at, true) && !self.is_free(*at ^ 1);
            let odd = |at: &usize| fits(at, true) && at % 2 == 1;
            let known = || 0..self.most as usize;
            let found = match self.way {
                Way::Lowest => None,
                Way::Holes => known().find(hole),
                Way::Odd => known().find(odd),
                Way::HighHoles => known().rev().find(hole),
            };
            if let Some(at) = found {
                return at;
            }
        }
        let few = places().take_while(|first| first + count <= RESTING_UP_TO);
        let rested = { few }.find(|first| fits(first, true));
        let found = rested.or_else(|| places().find(|first| fits(first, false)));
        found.unwrap_or(MOST - count)
    }

    fn take(&mut self, at: usize, value: Value) {
        self.owner[at] = Some(value);
        self.most = self.most.max(at as u32 + 1);
    }
}

/// The registers it takes: the best of a few ways to place single words.
pub fn allocate(code: &Code, edges: &Edges, orders: &[Vec<u32>]) -> u32 {
    let lives = Lives::new(code, edges, orders);
    let ways = [Way::Lowest, Way::Holes, Way::Odd, Way::HighHoles];
    let taken = ways.map(|way| walk(code, &lives, edges, orders, way));
    taken.into_iter().min().unwrap_or(0)
}

/// What is the same however words are placed.
struct Lives {
    groups: Groups,
    /// What a value is merged into: it had best get the same register.
    merged: Vec<Option<Value>>,
    /// Operation by operation in their order: the words that are read there for the last time, and
    /// those that are written there and never read.
    ending: Vec<(Vec<Value>, Vec<Value>)>,
}

impl Lives {
    fn new(code: &Code, edges: &Edges, orders: &[Vec<u32>]) -> Lives {
        let mut merged = vec![None; code.forms.len()];
        for phi in code.blocks.iter().flat_map(|b| &b.phis) {
            for arg in &phi.args {
                merged[*arg as usize].get_or_insert(phi.def);
            }
        }
        let mut ending = Vec::new();
        // The operation that reads a value last, of the block that is looked at.
        let mut last = vec![(u32::MAX, 0); code.forms.len()];
        for (index, block) in code.blocks.iter().enumerate() {
            let (here, ends) = (index as u32, &edges.ends[index]);
            for at in &orders[index] {
                for value in &block.nodes[*at as usize].uses {
                    last[*value as usize] = (here, *at);
                }
            }
            for at in &orders[index] {
                let node = &block.nodes[*at as usize];
                let stays = |v: &Value| !code.is_word(*v) || ends.contains(*v);
                let read = node.uses.iter().copied();
                let dying = read.filter(|v| last[*v as usize] == (here, *at) && !stays(v));
                let written = node.defs.iter().copied();
                let unread = written.filter(|v| last[*v as usize].0 != here && !stays(v));
                ending.push((dying.collect(), unread.collect()));
            }
        }
        Lives {
            groups: Groups::new(code),
            merged,
            ending,
        }
    }
}

/// Walks the blocks in their order and says how many registers it took.
fn walk(code: &Code, lives: &Lives, edges: &Edges, orders: &[Vec<u32>], way: Way) -> u32 {
    let groups = &lives.groups;
    let mut ending = lives.ending.iter();
    let mut place: Vec<Option<usize>> = vec![None; code.forms.len()];
    let mut file = File {
        owner: vec![None; MOST],
        rests_until: vec![0; MOST],
        in_place: vec![false; MOST],
        now: 0,
        way,
        most: 0,
    };
    for (index, block) in code.blocks.iter().enumerate() {
        file.owner.fill(None);
        let mut phis = Set::new(code.forms.len());
        for phi in &block.phis {
            phis.insert(phi.def);
        }
        for value in edges.starts[index].iter().filter(|v| !phis.contains(*v)) {
            if let Some(at) = place[value as usize] {
                file.take(at, value);
            }
        }
        for phi in block.phis.iter().filter(|phi| code.is_word(phi.def)) {
            let mut hints = phi.args.iter().filter_map(|arg| place[*arg as usize]);
            let hint = hints.find(|at| file.is_free(*at));
            give(groups, &mut place, &mut file, phi.def, hint);
        }
        for (at, (last_read, unread)) in orders[index].iter().zip(&mut ending) {
            let node = &block.nodes[*at as usize];
            file.now += 1;
            let access = node.is_access();
            let mut scratch = Vec::new();
            for _ in 0..node.scratch {
                let at = file.place(1);
                file.take(at, Value::MAX);
                scratch.push(at);
            }
            for at in scratch {
                file.owner[at] = None;
            }
            let mut dying = Vec::new();
            for value in last_read {
                if let Some(at) = place[*value as usize]
                    && file.owner[at] == Some(*value)
                {
                    file.owner[at] = None;
                    if access && !file.in_place[at] {
                        dying.push(at);
                    } else if access {
                        file.rests_until[at] = file.now + REST;
                    }
                    file.in_place[at] = false;
                }
            }
            for def in node.defs.iter().filter(|def| code.is_word(**def)) {
                let hint = lives.merged[*def as usize].and_then(|phi| place[phi as usize]);
                let hint = hint.filter(|at| file.is_free(*at));
                give(groups, &mut place, &mut file, *def, hint);
            }
            for at in dying {
                match file.owner[at] {
                    Some(_) => file.in_place[at] = true,
                    None => file.rests_until[at] = file.now + REST,
                }
            }
            for at in unread.iter().filter_map(|def| place[*def as usize]) {
                file.owner[at] = None;
            }
        }
    }
    file.most
}

/// Gives a value a register, that of the hint if it can, and its group the registers next to it.
fn give(
    groups: &Groups,
    place: &mut [Option<usize>],
    file: &mut File,
    value: Value,
    hint: Option<usize>,
) {
    if let Some(at) =
        place[value as usize].filter(|at| file.is_free(*at) || file.owner[*at] == Some(value))
    {
        file.take(at, value);
        return;
    }
    let group = groups.of.get(&value);
    if let Some(at) = hint
        && group.is_none()
    {
        place[value as usize] = Some(at);
        file.take(at, value);
        return;
    }
    match group {
        None => {
            let at = file.place(1);
            place[value as usize] = Some(at);
            file.take(at, value);
        }
        Some((group, _)) => {
            let members = &groups.members[*group as usize];
            let first = file.place(members.len());
            for (at, member) in members.iter().enumerate() {
                if place[*member as usize].is_none() || *member == value {
                    place[*member as usize] = Some(first + at);
                    file.take(first + at, *member);
                }
            }
        }
    }
}
