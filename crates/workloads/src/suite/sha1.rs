//! SHA-1 of chunks.
//!
//! Stands for STO (StoreGPU): 128 threads per block, a thread hashes a chunk of the data of a store,
//! staged through shared memory. Eighty rounds of integer work in straight code, three barriers in
//! all, no divergence.
//!
//! First measurement (`small`, pdom, lrr): SIMD efficiency 100% on fx5800 and gtx480, 18.6
//! million thread instructions, 0.1% of warp time at barriers.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

static INFO: Info = Info {
    name: "sha1",
    algorithm: "SHA-1 of every chunk of some data, a chunk a thread, staged through shared memory",
    known_for: "no divergence; long straight integer code",
    shape: "128 threads per block, one thread per chunk",
    papers: &["tbc: STO (coherent)", "vtw: STO"],
    comparison: "exact: every digest",
    parameters: &[
        Parameter::new(
            "chunks",
            "chunks of data",
            [128, 30_720, 65_536],
            (1, 1 << 22),
        ),
        Parameter::new("blocks", "64-byte blocks per chunk", [1, 1, 8], (1, 1024)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("sha1"),
};

/// The workload.
pub struct Sha1;

/// The digest of a message, as the standard describes it.
fn digest(message: &[u8]) -> [u32; 5] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((8 * message.len() as u64).to_be_bytes());
    let mut state = [
        0x6745_2301u32,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0,
    ];
    for block in padded.chunks_exact(64) {
        let mut w: Vec<u32> = block
            .chunks_exact(4)
            .map(|b| b.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)))
            .collect();
        for i in 16..80 {
            w.push((w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (i, word) in w.into_iter().enumerate() {
            let (mixed, constant) = match i {
                0..20 => (b & c | !b & d, 0x5a82_7999),
                20..40 => (b ^ c ^ d, 0x6ed9_eba1),
                40..60 => (b & c | b & d | c & d, 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6u32),
            };
            let next = [mixed, e, constant, word]
                .into_iter()
                .fold(a.rotate_left(5), u32::wrapping_add);
            (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
        }
        for (sum, value) in state.iter_mut().zip([a, b, c, d, e]) {
            *sum = sum.wrapping_add(value);
        }
    }
    state
}

/// Data as a backup has it: some chunks are copies of earlier ones.
fn archive(chunks: u32, words: u32, random: &mut Random) -> Vec<u32> {
    let words = words as usize;
    let mut data: Vec<u32> = Vec::with_capacity(chunks as usize * words);
    for chunk in 0..chunks as usize {
        if chunk > 0 && random.below(4) == 0 {
            let from = random.below(chunk as u64) as usize * words;
            data.extend_from_within(from..from + words);
        } else {
            data.extend((0..words).map(|_| random.next_u32()));
        }
    }
    data
}

impl Workload for Sha1 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let (chunks, blocks) = (parameters.get_u32("chunks"), parameters.get_u32("blocks"));
        let data = archive(chunks, 16 * blocks, &mut Random::new(seed, "sha1"));
        let module = session.load(&INFO.kernel)?;
        let input = session.upload_u32("data", &data)?;
        let bytes = 20 * u64::from(chunks);
        let digests = session.zeroed("digests", bytes)?;
        let arguments = [
            Arg::Pointer(input),
            Arg::Pointer(digests),
            Arg::u32(chunks),
            Arg::u32(blocks),
        ];
        session.launch(&module, "sha1", Shape::cover(chunks, 128), &arguments)?;
        let got = session.device.read(digests, bytes)?;
        let expected: Vec<u32> = u32_bytes(&data)
            .chunks_exact(64 * blocks as usize)
            .flat_map(digest)
            .collect();
        Ok(Outcome::of([compare(
            "digests",
            Element::U32,
            &u32_bytes(&expected),
            &got,
            &Tolerance::EXACT,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the standard (FIPS 180).
    #[test]
    fn the_standard_s_examples() {
        assert_eq!(
            digest(b"abc"),
            [
                0xa999_3e36,
                0x4706_816a,
                0xba3e_2571,
                0x7850_c26c,
                0x9cd0_d89d
            ]
        );
        assert_eq!(
            digest(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            [
                0x8498_3e44,
                0x1c3b_d26e,
                0xbaae_4aa1,
                0xf951_29e5,
                0xe546_70f1
            ]
        );
    }

    #[test]
    fn archives_repeat_and_hold_copies() {
        let make = |seed| archive(100, 16, &mut Random::new(seed, "sha1"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let data = make(1);
        let mut chunks: Vec<&[u32]> = data.chunks_exact(16).collect();
        chunks.sort_unstable();
        chunks.dedup();
        assert!((60..95).contains(&chunks.len()));
    }
}
