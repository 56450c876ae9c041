//! A genome, reads from it, and where they match.

use crate::input::random::Random;
use std::collections::HashMap;

/// What follows the genome's last base; greater than any base.
pub const END: u8 = 4;

/// No place in the genome.
pub const NONE: u32 = u32::MAX;

/// Bases 0 to 3: not all equally frequent, and with repeats (copies of earlier stretches that
/// have changed a little since), as genomes have them. [`END`] follows.
pub fn genome(bases: u32, random: &mut Random) -> Vec<u8> {
    let bases = bases as usize;
    let mut genome = Vec::with_capacity(bases + 1);
    while genome.len() < bases {
        if genome.len() > 500 && random.below(4) == 0 {
            let length = random.between(40, 300) as usize;
            let from = random.below((genome.len() - length) as u64) as usize;
            for i in 0..length {
                let copied = genome[from + i];
                genome.push(if random.below(20) == 0 {
                    base(random)
                } else {
                    copied
                });
            }
        } else {
            genome.extend((0..200).map(|_| base(random)));
        }
    }
    genome.truncate(bases);
    genome.push(END);
    genome
}

/// 30% each of two bases, 20% of the others.
fn base(random: &mut Random) -> u8 {
    match random.below(10) {
        0..3 => 0,
        3..5 => 1,
        5..7 => 2,
        _ => 3,
    }
}

/// Reads of `length` bases from anywhere in the genome: one base in forty read wrong, and one
/// read in eight from something else altogether.
pub fn reads(genome: &[u8], count: u32, length: u32, random: &mut Random) -> Vec<u8> {
    let length = length as usize;
    let mut reads = Vec::with_capacity(count as usize * length);
    for _ in 0..count {
        let foreign = random.below(8) == 0;
        let at = random.below((genome.len() - length) as u64) as usize;
        for i in 0..length {
            let wrong = foreign || random.below(40) == 0;
            reads.push(if wrong { base(random) } else { genome[at + i] });
        }
    }
    reads
}

/// Every suffix's start, in the order of the suffixes.
pub fn suffix_array(genome: &[u8]) -> Vec<u32> {
    let mut suffixes: Vec<u32> = (0..genome.len() as u32).collect();
    suffixes.sort_unstable_by(|a, b| genome[*a as usize..].cmp(&genome[*b as usize..]));
    suffixes
}

/// The longest match from each of the first positions of each read: its length and all places
/// where it begins, in ascending order; nothing where it is below `shortest`. Found with an index
/// of all stretches of `shortest` bases.
pub fn longest_matches(
    genome: &[u8],
    reads: &[u8],
    length: u32,
    shortest: u32,
) -> Vec<(u32, Vec<u32>)> {
    let bases = &genome[..genome.len() - 1];
    let mut index: HashMap<&[u8], Vec<u32>> = HashMap::new();
    for (at, stretch) in bases.windows(shortest as usize).enumerate() {
        index.entry(stretch).or_default().push(at as u32);
    }
    let mut matches = Vec::new();
    for read in reads.chunks_exact(length as usize) {
        for start in 0..=(length - shortest) as usize {
            let rest = &read[start..];
            let mut best = (0, Vec::new());
            for &at in index.get(&rest[..shortest as usize]).into_iter().flatten() {
                let there = &bases[at as usize..];
                let same = there.iter().zip(rest).take_while(|(a, b)| a == b).count();
                if same > best.0 {
                    best = (same, Vec::new());
                }
                if same == best.0 {
                    best.1.push(at);
                }
            }
            matches.push((best.0 as u32, best.1));
        }
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn genomes_repeat_themselves_and_repeat() {
        let make = |seed| genome(5000, &mut Random::new(seed, "dna"));
        let genome = make(1);
        assert_eq!(genome, make(1));
        assert_ne!(genome, make(2));
        assert!(genome.len() == 5001 && genome[5000] == END);
        assert!(genome[..5000].iter().all(|b| *b < 4));
        let mut stretches: Vec<&[u8]> = genome.windows(20).collect();
        stretches.sort_unstable();
        let repeated = stretches.windows(2).filter(|w| w[0] == w[1]).count();
        assert!(
            repeated > 100,
            "{repeated} stretches of 20 bases occur again"
        );
    }

    #[test]
    fn suffixes_are_in_order() {
        let genome = [1, 0, 1, 0, END];
        assert_eq!(suffix_array(&genome), [1, 3, 0, 2, 4]);
    }

    #[test]
    fn matches_are_the_longest_and_all_of_them() {
        let genome = [0, 1, 2, 3, 0, 1, 2, 0, END];
        let reads = [0, 1, 2, 2, 0, 1, 2, 3];
        assert_eq!(
            longest_matches(&genome, &reads, 4, 3),
            [(3, vec![0, 4]), (0, vec![]), (4, vec![0]), (3, vec![1]),]
        );
    }

    #[test]
    fn most_reads_match_but_not_all() {
        let mut random = Random::new(1, "dna");
        let genome = genome(4000, &mut random);
        let reads = reads(&genome, 200, 25, &mut random);
        let matches = longest_matches(&genome, &reads, 25, 20);
        let found = matches.iter().filter(|m| m.0 >= 20).count();
        assert!((300..1100).contains(&found), "{found} of 1200");
    }
}
