//! What compilers compress code with.

use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// Code may be this large.
const MOST_BYTES: usize = 512 << 20;

/// A raw LZ4 block turns one byte into 255 at most.
const LZ4_MOST: usize = 255;

/// How code is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Lz4,
    Zstd,
}

/// What was compressed to `bytes`, which is `size` bytes long; what is wrong, else.
pub(crate) fn decompress(
    bytes: &[u8],
    compression: Compression,
    size: usize,
) -> Result<Vec<u8>, String> {
    if size > MOST_BYTES {
        return Err(format!(
            "it claims {size} bytes of code, and {MOST_BYTES} are the most"
        ));
    }
    let found = match compression {
        Compression::None => bytes.to_vec(),
        Compression::Lz4 => {
            // Asked before memory is taken for what a few bytes claim.
            if size > bytes.len().saturating_mul(LZ4_MOST) {
                return Err(format!(
                    "{} bytes of LZ4 cannot hold {size} bytes",
                    bytes.len()
                ));
            }
            lz4_flex::block::decompress(bytes, size)
                .map_err(|e| format!("its LZ4 block is damaged ({e})"))?
        }
        Compression::Zstd => {
            let damaged = |e: String| format!("its zstd frame is damaged ({e})");
            let mut source = bytes;
            let frame = StreamingDecoder::new(&mut source).map_err(|e| damaged(e.to_string()))?;
            let mut found = Vec::new();
            let most = size as u64 + 1;
            let read = frame.take(most).read_to_end(&mut found);
            read.map_err(|e| damaged(e.to_string()))?;
            found
        }
    };
    match found.len() == size {
        true => Ok(found),
        false => Err(format!(
            "it claims {size} bytes of code and holds {}",
            match found.len() > size {
                true => "more".to_string(),
                false => found.len().to_string(),
            }
        )),
    }
}
