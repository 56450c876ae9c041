//! What a GPU computed for random programs, small enough to commit.
//!
//! A text: `gpu` and `driver`, then for each program its seed, a hash of its PTX and a hash of
//! its output, decimal and hexadecimal.

use super::emit::ptx;
use super::tree::Program;
use crate::random::fnv;

/// What is known of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The program's seed.
    pub seed: u64,
    /// Tells when the generator makes another program of the seed.
    pub text: u32,
    /// Hash of the output.
    pub output: u64,
}

/// Recorded programs.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The GPU.
    pub gpu: String,
    /// Its driver.
    pub driver: String,
    /// In the order of the file.
    pub entries: Vec<Entry>,
}

/// What is recorded of a program with this output.
pub fn entry(program: &Program, output: &[u8]) -> Entry {
    Entry {
        seed: program.seed,
        text: fnv(ptx(program).as_bytes()) as u32,
        output: fnv(output),
    }
}

/// The text to commit.
pub fn write(record: &Record) -> String {
    let mut text = format!("gpu {}\ndriver {}\n", record.gpu, record.driver);
    for e in &record.entries {
        text += &format!("{} {:08x} {:016x}\n", e.seed, e.text, e.output);
    }
    text
}

/// Reads recorded programs.
pub fn read(text: &str) -> Result<Record, String> {
    let mut record = Record::default();
    for (i, line) in text.lines().enumerate() {
        let wrong = || format!("line {}: not understood", i + 1);
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["gpu", ..] => record.gpu = line[4..].to_string(),
            ["driver", ..] => record.driver = line[7..].to_string(),
            [seed, ptx, output] => record.entries.push(Entry {
                seed: seed.parse().map_err(|_| wrong())?,
                text: u32::from_str_radix(ptx, 16).map_err(|_| wrong())?,
                output: u64::from_str_radix(output, 16).map_err(|_| wrong())?,
            }),
            _ => return Err(wrong()),
        }
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let entry = Entry {
            seed: 7,
            text: 0xab,
            output: u64::MAX,
        };
        let record = Record {
            gpu: "A GPU".into(),
            driver: "1.2, CUDA 3".into(),
            entries: vec![entry; 2],
        };
        let again = read(&write(&record)).expect("can be read");
        assert_eq!((again.gpu, again.driver), (record.gpu, record.driver));
        assert_eq!(again.entries, record.entries);
        for damaged in ["1 2", "x 0 0", "1 g 0", "1 0 -1", ""] {
            assert_eq!(read(damaged).is_err(), !damaged.is_empty(), "{damaged}");
        }
    }
}
