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
    use std::collections::HashSet;

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

    #[test]
    fn every_name_of_the_real_ones_is_exported() {
        let lists = [
            (
                "libcudart.so.11.0",
                include_str!("../names/libcudart.so.11.txt"),
            ),
            (
                "libcudart.so.12",
                include_str!("../names/libcudart.so.12.txt"),
            ),
            (
                "libcudart.so.13",
                include_str!("../names/libcudart.so.13.txt"),
            ),
        ];
        for (name, list) in lists {
            let Some(library) = LIBRARIES.iter().find(|l| l.name == name) else {
                assert!(LIBRARIES.is_empty());
                continue;
            };
            // Names of exported functions stand in the file; one that ends as another does is a part of that.
            let texts: HashSet<&[u8]> = library.bytes.split(|b| *b == 0).collect();
            let is_there = |n: &str| {
                texts.contains(n.as_bytes()) || texts.iter().any(|t| t.ends_with(n.as_bytes()))
            };
            let lacking: Vec<&str> = list.lines().filter(|n| !is_there(n)).collect();
            assert!(lacking.is_empty(), "{name}: {lacking:?}");
            assert!(list.lines().count() > 390 && !is_there("cudaNothing"));
        }
    }
}
