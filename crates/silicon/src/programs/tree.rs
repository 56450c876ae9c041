//! A random program as a tree, so that parts can be taken away while it stays a program.

/// What a piece of straight-line code needs around it. Where that is not given when the
/// program is written out, the piece is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it touches only what belongs to its thread, or adds to accumulators.
    Nothing,
    /// The set of threads of the warp that come here, which takes `$M`'s place.
    Warp,
    /// Every thread of the block that has not exited comes here.
    Block,
    /// No thread of the block has exited, and all come here.
    WholeBlock,
    /// As for [`WholeBlock`](Needs::WholeBlock), and the block has two full warps or more and no others.
    FullWarps,
}

/// How far threads agree about a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Not at all.
    Thread,
    /// Threads of a warp do.
    Warp,
    /// Threads of a block do.
    Block,
}

/// A condition: instructions that set the predicate `$Q`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The instructions.
    pub text: String,
    /// Who agrees about it.
    pub scope: Scope,
}

/// How often a loop runs: instructions that set the counter `$C`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trip {
    /// The instructions.
    pub text: String,
    /// Who agrees about it.
    pub scope: Scope,
}

/// Where a thread goes that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Behind the loop.
    Break,
    /// To the loop's next round.
    Continue,
    /// Out of the program.
    Exit,
}

/// A part of a chain of jumps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it does.
    pub body: Vec<Statement>,
    /// Afterwards, perhaps, a jump over so many parts.
    pub jump: Option<(Condition, usize)>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Instructions without control flow.
    Straight {
        /// The instructions.
        text: String,
        /// What they need.
        needs: Needs,
    },
    /// Two sides, one of which may be empty.
    If {
        /// Who goes where.
        condition: Condition,
        /// The side of those for whom it holds.
        then: Vec<Statement>,
        /// The side of the others.
        other: Vec<Statement>,
    },
    /// A loop.
    Loop {
        /// How often.
        trip: Trip,
        /// Tests at the end of a round: one round at least.
        test_last: bool,
        /// A round.
        body: Vec<Statement>,
    },
    /// Parts with jumps forward over some of them: sides that share code.
    Chain(Vec<Part>),
    /// A branch through a table.
    Switch {
        /// Instructions that set `$S` to a case's number.
        selector: String,
        /// The cases, and whether each runs on into the next.
        cases: Vec<(Vec<Statement>, bool)>,
    },
    /// Some threads leave.
    Leave {
        /// Where to.
        how: Leave,
        /// Who.
        condition: Condition,
    },
}

/// A whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What it was made from.
    pub seed: u64,
    /// Blocks.
    pub blocks: u32,
    /// Threads of a block in x and y.
    pub threads: [u32; 2],
    /// Declarations outside the kernel.
    pub declarations: String,
    /// First values of every register.
    pub head: String,
    /// What it does.
    pub body: Vec<Statement>,
}

impl Program {
    /// Whether it is given a texture.
    pub fn has_texture(&self) -> bool {
        self.seed >= super::newer::FIRST
    }

    /// Threads of a block.
    pub fn block_threads(&self) -> u32 {
        self.threads[0] * self.threads[1]
    }
}

impl Statement {
    /// The statements inside it, side by side.
    pub fn bodies(&self) -> Vec<&Vec<Statement>> {
        match self {
            Statement::Straight { .. } | Statement::Leave { .. } => Vec::new(),
            Statement::If { then, other, .. } => vec![then, other],
            Statement::Loop { body, .. } => vec![body],
            Statement::Chain(parts) => parts.iter().map(|p| &p.body).collect(),
            Statement::Switch { cases, .. } => cases.iter().map(|(body, _)| body).collect(),
        }
    }

    /// The statements inside, to be changed.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        match self {
            Statement::Straight { .. } | Statement::Leave { .. } => Vec::new(),
            Statement::If { then, other, .. } => vec![then, other],
            Statement::Loop { body, .. } => vec![body],
            Statement::Chain(parts) => parts.iter_mut().map(|p| &mut p.body).collect(),
            Statement::Switch { cases, .. } => cases.iter_mut().map(|(body, _)| body).collect(),
        }
    }
}

fn any(body: &[Statement], test: &dyn Fn(&Statement) -> bool) -> bool {
    (body.iter()).any(|s| test(s) || s.bodies().into_iter().any(|b| any(b, test)))
}

/// Whether anything in there needs to know the threads of its warp that come along.
pub fn uses_warp(body: &[Statement]) -> bool {
    any(body, &|s| {
        matches!(
            s,
            Statement::Straight {
                needs: Needs::Warp,
                ..
            }
        )
    })
}

/// Whether threads may exit in there.
pub fn exits(body: &[Statement]) -> bool {
    any(body, &|s| {
        matches!(
            s,
            Statement::Leave {
                how: Leave::Exit,
                ..
            }
        )
    })
}

/// Whether threads may leave the loop that `body` stands in, or a round of it.
pub fn leaves_loop(body: &[Statement]) -> bool {
    body.iter().any(|s| match s {
        Statement::Leave { how, .. } => *how != Leave::Exit,
        Statement::Loop { .. } => false,
        other => other.bodies().into_iter().any(|b| leaves_loop(b)),
    })
}

/// How many statements there are.
pub fn size(body: &[Statement]) -> usize {
    body.iter()
        .map(|s| 1 + s.bodies().into_iter().map(|b| size(b)).sum::<usize>())
        .sum()
}
