//! AES-128 encryption.
//!
//! Stands for AES: 256 threads per block, four threads per 16-byte block of data, look-up tables copied
//! from constant to shared memory, round keys in constant memory, the state passed on through
//! shared memory. No lane ever diverges; look-ups conflict in banks as the data has it.
//!
//! First measurement (`small`, pdom, lrr): SIMD efficiency 100% on fx5800 and gtx480, 22.4
//! million thread instructions, 1.1% (fx5800), 2.7% (gtx480) and 3.1% (gtx480-v3) of warp time at
//! barriers.

use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance, compare};
use crate::host::device::DeviceError;
use crate::host::element::{Element, u32_bytes};
use crate::host::session::{Session, Shape};
use crate::input::random::Random;

const ROUNDS: usize = 10;

static INFO: Info = Info {
    name: "aes",
    algorithm: "AES-128 of independent blocks by table look-up, a column of the state a thread",
    known_for: "no divergence; tables in shared memory with random bank conflicts, a barrier per round",
    shape: "256 threads per block, four threads per 16-byte block of data",
    papers: &["tbc: AES (coherent)", "vtw: AES"],
    comparison: "exact: every byte",
    parameters: &[Parameter::new(
        "blocks",
        "16-byte blocks of data",
        [128, 23_040, 131_072],
        (1, 1 << 24),
    )],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("aes"),
};

/// The workload.
pub struct Aes;

/// Twice a byte in the field of the cipher.
fn double(x: u8) -> u8 {
    x << 1 ^ if x & 0x80 != 0 { 0x1b } else { 0 }
}

/// A product in the field.
fn product(mut a: u8, b: u8) -> u8 {
    let mut sum = 0;
    for bit in 0..8 {
        if b >> bit & 1 == 1 {
            sum ^= a;
        }
        a = double(a);
    }
    sum
}

/// The substitution: the inverse in the field, then an affine map.
fn substitutions() -> [u8; 256] {
    let substitute = |x: usize| {
        let inverse = (1..=255).find(|y| product(x as u8, *y) == 1).unwrap_or(0);
        (0..5).fold(0x63, |sum, turn| sum ^ inverse.rotate_left(turn))
    };
    std::array::from_fn(substitute)
}

/// Round keys, byte after byte.
fn expand(key: &[u8; 16], sbox: &[u8; 256]) -> Vec<u8> {
    let mut keys = key.to_vec();
    let mut constant = 1;
    for word in 4..4 * (ROUNDS + 1) {
        let mut last: [u8; 4] = std::array::from_fn(|i| keys[4 * word - 4 + i]);
        if word.is_multiple_of(4) {
            last.rotate_left(1);
            last = last.map(|b| sbox[usize::from(b)]);
            last[0] ^= constant;
            constant = double(constant);
        }
        for (i, byte) in last.into_iter().enumerate() {
            keys.push(byte ^ keys[4 * word - 16 + i]);
        }
    }
    keys
}

/// Encrypts one block step by step, as the standard describes it.
fn encrypt(block: &[u8], keys: &[u8], sbox: &[u8; 256]) -> [u8; 16] {
    let mut state: [u8; 16] = std::array::from_fn(|i| block[i] ^ keys[i]);
    for round in 1..=ROUNDS {
        let substituted = state.map(|b| sbox[usize::from(b)]);
        // Row r moves left by r columns; bytes lie column by column.
        let shifted: [u8; 16] = std::array::from_fn(|i| substituted[(i + 4 * (i % 4)) % 16]);
        let mixed: [u8; 16] = std::array::from_fn(|i| {
            let (column, row) = (i / 4 * 4, i % 4);
            let at = |r: usize| shifted[column + (row + r) % 4];
            product(at(0), 2) ^ product(at(1), 3) ^ at(2) ^ at(3)
        });
        let result = if round == ROUNDS { shifted } else { mixed };
        state = std::array::from_fn(|i| result[i] ^ keys[16 * round + i]);
    }
    state
}

/// What a byte of each row adds to its column, after substitution.
fn tables(sbox: &[u8; 256]) -> Vec<u32> {
    (0..4u32)
        .flat_map(|row| {
            sbox.map(|s| {
                let word = u32::from_le_bytes([double(s), s, s, double(s) ^ s]);
                word.rotate_left(8 * row)
            })
        })
        .collect()
}

impl Workload for Aes {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let words = 4 * parameters.get_u32("blocks");
        let mut random = Random::new(seed, "aes");
        let key: [u8; 16] = std::array::from_fn(|_| random.next_u32() as u8);
        let plain: Vec<u32> = (0..words).map(|_| random.next_u32()).collect();
        let sbox = substitutions();
        let keys = expand(&key, &sbox);
        let module = session.load(&INFO.kernel)?;
        session.set_symbol(&module, "tables", &u32_bytes(&tables(&sbox)))?;
        session.set_symbol(&module, "keys", &keys)?;
        session.set_symbol(&module, "sbox", &sbox)?;
        let input = session.upload_u32("plain", &plain)?;
        let cipher = session.zeroed("cipher", 4 * u64::from(words))?;
        let arguments = [Arg::Pointer(input), Arg::Pointer(cipher), Arg::u32(words)];
        session.launch(&module, "aes", Shape::cover(words, 256), &arguments)?;
        let got = session.device.read(cipher, 4 * u64::from(words))?;
        let expected: Vec<u8> = u32_bytes(&plain)
            .chunks_exact(16)
            .flat_map(|block| encrypt(block, &keys, &sbox))
            .collect();
        Ok(Outcome::of([compare(
            "cipher",
            Element::U8,
            &expected,
            &got,
            &Tolerance::EXACT,
        )]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the standard (FIPS 197, appendices A and B).
    #[test]
    fn the_standard_s_example() {
        let sbox = substitutions();
        assert_eq!((sbox[0], sbox[0x53], sbox[0xff]), (0x63, 0xed, 0x16));
        let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3cu128.to_be_bytes();
        let plain = 0x3243_f6a8_885a_308d_3131_98a2_e037_0734u128.to_be_bytes();
        let keys = expand(&key, &sbox);
        assert_eq!(keys[172..], [0xb6, 0x63, 0x0c, 0xa6]);
        let cipher = u128::from_be_bytes(encrypt(&plain, &keys, &sbox));
        assert_eq!(cipher, 0x3925_841d_02dc_09fb_dc11_8597_196a_0b32);
    }
}
