//! The libraries, as they are to lie in a folder that the program's loader finds.

/// A library.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The name programs ask for.
    pub name: &'static str,
    /// The file.
    pub bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/libraries.rs"));

/// The library that is loaded before the program's own.
pub const PRELOADED: &str = "libwarpsim.so";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_of_each_name() {
        let mut names: Vec<_> = LIBRARIES.iter().map(|l| l.name).collect();
        if cfg!(target_os = "linux") {
            assert!(names.contains(&PRELOADED), "{names:?}");
        }
        assert!(LIBRARIES.iter().all(|l| l.bytes.starts_with(b"\x7fELF")));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), LIBRARIES.len());
    }
}
