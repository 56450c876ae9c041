//! Files of kernels, before they are parsed.

/// PTX files may be this large.
pub const MOST_BYTES: u64 = 512 << 20;

/// What to give instead of machine code.
const INSTEAD: &str = "what runs here is PTX, or CUDA C in a file that ends in .cu: `nvcc -ptx` makes PTX of \
    CUDA C, and `cuobjdump -ptx FILE` prints the PTX that a program, library or cubin brings along, if any";

/// How files of machine code begin, and what they are.
const MACHINE_CODE: [(&[u8], &str); 3] = [
    (
        b"\x7fELF",
        "machine code (a cubin, an object file or a program)",
    ),
    (b"\x50\xed\x55\xba", "machine code (a fat binary)"),
    (b"BC\xc0\xde", "LLVM bitcode"),
];

/// The text of a file of kernels. PTX has been seen with letters of old encodings in its comments, so what is
/// not UTF-8 is replaced; machine code is refused by name.
pub fn text(mut bytes: Vec<u8>) -> Result<String, String> {
    // Compilers as libraries hand out texts with a zero behind them.
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    if let Some((_, what)) = MACHINE_CODE
        .iter()
        .find(|(magic, _)| bytes.starts_with(magic))
    {
        return Err(format!("it is {what}, not PTX\n{INSTEAD}"));
    }
    if bytes.contains(&0) {
        return Err(format!("it is not text\n{INSTEAD}"));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(other) => String::from_utf8_lossy(other.as_bytes()).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn machine_code_is_called_what_it_is() {
        let refused = |bytes: &[u8]| text(bytes.to_vec()).expect_err("no PTX");
        assert!(refused(b"\x7fELF\x02\x01\x01\x33").contains("a cubin"));
        assert!(refused(b"\x50\xed\x55\xba\x01\x00").contains("a fat binary"));
        assert!(refused(b".version\x006.0").contains("not text"));
        assert!(refused(b"BC\xc0\xde").contains("nvcc -ptx"));
    }

    #[test]
    fn old_encodings_are_read() {
        let said = text(b"// caf\xe9\n.version 6.0".to_vec());
        assert_eq!(said.as_deref(), Ok("// caf\u{fffd}\n.version 6.0"));
        assert_eq!(
            text(b".version 6.0\0".to_vec()).as_deref(),
            Ok(".version 6.0")
        );
    }
}
