//! A message as bytes: what it is, how many words and bytes follow, the words, the bytes. Little-endian.

use std::io::{self, IoSlice, Read, Write};

/// Bytes that may follow the words of one message.
pub const MOST_PAYLOAD: u64 = 1 << 36;
/// Words of one message.
const MOST_WORDS: u32 = 1 << 22;
/// Set in what an answer is where it is a question.
pub const QUESTION: u32 = 1 << 31;
const HEAD: usize = 16;

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Which request, which question, or the status of an answer.
    pub code: u32,
    /// Numbers.
    pub words: Vec<u64>,
    /// Bytes.
    pub payload: Vec<u8>,
}

/// Writes a message whose bytes lie elsewhere, in one call where the socket has room.
pub fn write(to: &mut impl Write, code: u32, words: &[u64], payload: &[u8]) -> io::Result<()> {
    let mut head = Vec::with_capacity(HEAD + words.len() * 8);
    head.extend_from_slice(&code.to_le_bytes());
    head.extend_from_slice(&(words.len() as u32).to_le_bytes());
    head.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    words
        .iter()
        .for_each(|word| head.extend_from_slice(&word.to_le_bytes()));
    let mut sent = 0;
    while sent < head.len() {
        let parts = [IoSlice::new(&head[sent..]), IoSlice::new(payload)];
        match to.write_vectored(&parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => sent += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    to.write_all(&payload[(sent - head.len()).min(payload.len())..])
}

/// Reads a message; `None` where the other end has closed the connection between two of them.
pub fn read(from: &mut impl Read) -> io::Result<Option<Frame>> {
    let mut head = [0; HEAD];
    let mut got = 0;
    while got < HEAD {
        match from.read(&mut head[got..]) {
            Ok(0) if got == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let [code, words] = [0, 4].map(|at| u32::from_le_bytes(array(&head[at..])));
    let bytes = u64::from_le_bytes(array(&head[8..]));
    if words > MOST_WORDS || bytes > MOST_PAYLOAD {
        return Err(invalid("a message that is too long"));
    }
    let mut raw = vec![0; words as usize * 8];
    from.read_exact(&mut raw)?;
    let words = raw
        .chunks_exact(8)
        .map(|w| u64::from_le_bytes(array(w)))
        .collect();
    // Memory is taken as bytes come: a wrong length takes none.
    let mut payload = Vec::new();
    let read = from.take(bytes).read_to_end(&mut payload)?;
    if read as u64 != bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(Frame {
        code,
        words,
        payload,
    }))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut all = [0; N];
    all.copy_from_slice(&bytes[..N]);
    all
}
