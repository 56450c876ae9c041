//! The launches of a comparison that differ from the reference by more than so many per cent, to be
//! run again on other machines.

use warpsim_workloads::agreement::{Compared, Pair, Program};

/// One of them.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    pub program: &'a Program,
    /// Which of the programs that are run again that is.
    pub at: usize,
    /// Which of its launches.
    pub launch: usize,
    pub pair: Pair,
}

/// All of them, and the programs to which they belong.
pub struct Differing<'a> {
    pub programs: Vec<Program>,
    /// Worst first.
    pub launches: Vec<Launch<'a>>,
}

impl<'a> Differing<'a> {
    /// Those that differ by more than `beyond` per cent; `None` if there are none.
    pub fn of(compared: &'a [Compared], beyond: f64) -> Option<Differing<'a>> {
        let size = |pair: &Pair| pair.difference().abs();
        let mut programs = Vec::new();
        let mut launches = Vec::new();
        for one in compared {
            let known = launches.len();
            for (launch, &pair) in one.launches.iter().enumerate() {
                if size(&pair) > beyond {
                    launches.push(Launch {
                        program: &one.program,
                        at: programs.len(),
                        launch,
                        pair,
                    });
                }
            }
            if launches.len() > known {
                programs.push(one.program.clone());
            }
        }
        launches.sort_by(|a, b| size(&b.pair).total_cmp(&size(&a.pair)));
        (!launches.is_empty()).then_some(Differing { programs, launches })
    }
}
