//! Compares one program in several places; what differs comes back shrunk and, where it can be
//! told, with whose error it is.

use super::emit::ptx;
use super::run::{Target, difference, simulate};
use super::shrink::shrink;
use super::tree::{Program, size};

/// A program that computes different things in different places.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its seed.
    pub seed: u64,
    /// Where.
    pub target: String,
    /// What.
    pub what: String,
    /// The shrunk program.
    pub program: Program,
    /// Compiled without optimization the program agrees: the compiler is wrong, not an
    /// instruction.
    pub compiler: bool,
}

impl Failure {
    /// The shrunk program with what is wrong with it.
    pub fn text(&self) -> String {
        let p = &self.program;
        let what = self.what.replace('\n', "\n//   ");
        let cause = if self.compiler {
            "// an error of the GPU's compiler: without optimization (level 0) the GPU computes what is computed here\n"
        } else {
            ""
        };
        format!(
            "// program {}, {}: {what}\n{cause}// {} statements left; {} blocks of {}x{} threads\n{}",
            self.seed,
            self.target,
            size(&p.body),
            p.blocks,
            p.threads[0],
            p.threads[1],
            ptx(p)
        )
    }
}

/// Why there is nothing to compare with.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// This program does not run there.
    Program(String),
    /// Nothing runs there any more.
    Everything(String),
}

/// Runs a program somewhere.
pub type Truth<'a> = &'a (dyn Fn(&Program) -> Result<Vec<u8>, Refusal> + Sync);

/// What programs are compared with.
#[derive(Clone, Copy)]
pub struct Reference<'a> {
    /// What has to be computed everywhere.
    pub truth: Truth<'a>,
    /// The same place without a compiler's optimizations, asked about programs that differ.
    pub plain: Option<Truth<'a>>,
}

enum Verdict {
    Same,
    Differs(String),
    Fails(String),
}

fn judge(program: &Program, expected: &[u8], target: &Target) -> Verdict {
    match simulate(program, target) {
        Err(e) => Verdict::Fails(e),
        Ok(found) => match difference(expected, &found) {
            None => Verdict::Same,
            Some(text) => Verdict::Differs(text),
        },
    }
}

/// Compares a program with what the reference computed for it. What fails one way goes on
/// failing that way, and for the same reason, while it is made small, with at most `tries`
/// programs. Places behind the first that fails are left out: they mostly fail alike.
pub(super) fn failure(
    program: &Program,
    expected: &Result<Vec<u8>, Refusal>,
    reference: Reference<'_>,
    targets: &[Target],
    tries: usize,
    late: &dyn Fn() -> bool,
) -> Option<Failure> {
    let truth = reference.truth;
    let found =
        |target: String, what: String, compiler: bool, fails: &mut dyn FnMut(&Program) -> bool| {
            Some(Failure {
                seed: program.seed,
                target,
                what,
                program: shrink(program, tries, &mut |p| !late() && fails(p)),
                compiler,
            })
        };
    let expected = match expected {
        Ok(expected) => expected,
        Err(Refusal::Everything(_)) => return None,
        Err(Refusal::Program(what)) => {
            return found("the first place".into(), what.clone(), false, &mut |p| {
                matches!(truth(p), Err(Refusal::Program(_)))
            });
        }
    };
    for target in targets {
        let name = target.name.clone();
        let again = |p: &Program| truth(p).map(|expected| judge(p, &expected, target));
        let compiler_is_wrong = |p: &Program| {
            let plain = reference.plain.map(|plain| plain(p));
            let agrees = |output: Vec<u8>| matches!(judge(p, &output, target), Verdict::Same);
            plain.is_some_and(|output| output.is_ok_and(agrees))
        };
        match judge(program, expected, target) {
            Verdict::Same => {}
            Verdict::Differs(what) => {
                let compiler = compiler_is_wrong(program);
                return found(name, what, compiler, &mut |p| {
                    matches!(again(p), Ok(Verdict::Differs(_))) && compiler_is_wrong(p) == compiler
                });
            }
            Verdict::Fails(what) => {
                return found(name, what, false, &mut |p| {
                    matches!(again(p), Ok(Verdict::Fails(_)))
                });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::program;
    use crate::programs::run::functional;

    /// A place that computes something else whenever the program has a loop.
    fn optimizes_loops(p: &Program, here: &Target) -> Result<Vec<u8>, Refusal> {
        let mut output = simulate(p, here).map_err(Refusal::Program)?;
        output[0] ^= u8::from(ptx(p).contains("LOOP_1:"));
        Ok(output)
    }

    #[test]
    fn a_compilers_error_is_told_from_others_and_stays_one_while_shrinking() {
        let here = functional().expect("a machine");
        let truth = |p: &Program| optimizes_loops(p, &here);
        let exact = |p: &Program| simulate(p, &here).map_err(Refusal::Program);
        let with_loop = |p: &Program| ptx(p).contains("LOOP_1:");
        let p = (1..).map(program).find(with_loop).expect("loops are made");
        let expected = truth(&p);
        let blamed = |plain| {
            let reference = Reference {
                truth: &truth,
                plain,
            };
            let targets = [here.clone()];
            failure(&p, &expected, reference, &targets, 40, &|| false).expect("it differs")
        };
        let found = blamed(Some(&exact as Truth<'_>));
        assert!(found.compiler && found.text().contains("GPU's compiler"));
        assert!(with_loop(&found.program));
        for plain in [None, Some(&truth as Truth<'_>)] {
            let found = blamed(plain);
            assert!(!found.compiler && !found.text().contains("GPU's compiler"));
        }
    }
}
