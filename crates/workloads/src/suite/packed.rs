//! Structures as arguments of kernels.

use crate::host::args::Arg;

/// A structure of these fields, laid out as C does: each at a multiple of its own size, the whole a
/// multiple of the largest.
pub(super) fn packed(fields: &[Arg]) -> Arg {
    let mut bytes: Vec<u8> = Vec::new();
    let mut largest = 1;
    for field in fields {
        let field = match field {
            Arg::Pointer(address) => address.to_le_bytes().to_vec(),
            Arg::Scalar(_, bytes) | Arg::Bytes(bytes) => bytes.clone(),
        };
        largest = largest.max(field.len());
        bytes.resize(bytes.len().next_multiple_of(field.len().max(1)), 0);
        bytes.extend(field);
    }
    bytes.resize(bytes.len().next_multiple_of(largest), 0);
    Arg::Bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_aligned_and_the_end_is_padded() {
        let structure = packed(&[Arg::u32(1), Arg::Pointer(2), Arg::u32(3)]);
        let Arg::Bytes(bytes) = structure else {
            panic!("bytes");
        };
        assert_eq!(bytes.len(), 24);
        assert_eq!((bytes[0], bytes[8], bytes[16]), (1, 2, 3));
    }
}
