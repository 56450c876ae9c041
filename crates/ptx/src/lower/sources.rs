//! Which line of the source an instruction comes from, as its reader means it: a line of the kernel's own file, or of one beside or
//! below it. What a library's header holds (CUDA's, C++'s) counts as the line that it was inlined at.

use super::builder::Builder;
use std::path::Path;

/// The files of a kernel that its writer knows.
#[derive(Default)]
pub(super) struct SourceFiles {
    /// The file that the kernel begins in, by its number.
    home: Option<u32>,
    /// Whether a file is one of its writer's, as far as that was asked.
    own: Vec<(u32, bool)>,
}

impl Builder<'_> {
    /// A `.loc`: what follows comes from there.
    pub(super) fn locate(&mut self, file: u32, line: u32, rest: &str) {
        let own = self.is_own(file);
        let call = inlined_at(rest).filter(|_| !own);
        let call = call.filter(|(file, _)| self.is_own(*file));
        // Compilers that do not say where it was inlined come from there.
        let before = self.source.filter(|_| !own);
        let before = before.filter(|(file, _)| self.is_own(*file));
        self.source = call.or(before).or(Some((file, line)));
    }

    fn is_own(&mut self, file: u32) -> bool {
        let home = *self.sources.home.get_or_insert(file);
        if let Some((_, own)) = self.sources.own.iter().find(|(known, _)| *known == file) {
            return *own;
        }
        let path = |number| {
            let mut files = self.table.files.iter();
            files
                .find(|(n, _)| *n == number)
                .map(|(_, path)| Path::new(path))
        };
        let own = match (path(home).and_then(Path::parent), path(file)) {
            (Some(folder), Some(path)) if folder.as_os_str().is_empty() => path.is_relative(),
            (Some(folder), Some(path)) => path.starts_with(folder),
            _ => file == home,
        };
        self.sources.own.push((file, own));
        own
    }
}

/// File and line behind `inlined_at`.
fn inlined_at(rest: &str) -> Option<(u32, u32)> {
    let (_, place) = rest.rsplit_once("inlined_at ")?;
    let mut numbers = place.split_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    /// What each of four instructions comes from: the kernel's file, a header of a library with and without where it was
    /// inlined, and a header beside the kernel.
    fn sources(files: [&str; 3]) -> Vec<String> {
        let [own, library, beside] = files;
        let text = format!(
            ".version 7.2\n.target sm_75\n.address_size 64\n.visible .entry k()\n{{\n.reg .b32 %r<3>;\n\
             .loc 1 5 1\nmov.u32 %r1, 1;\n\
             .loc 2 90 1, function_name $name, inlined_at 1 7 3\nadd.u32 %r2, %r1, %r1;\n\
             .loc 2 91 1\nadd.u32 %r2, %r2, %r1;\n\
             .loc 3 2 1, function_name $name, inlined_at 1 8 3\nadd.u32 %r2, %r2, %r1;\nret;\n}}\n\
             .file 1 \"{own}\"\n.file 2 \"{library}\"\n.file 3 \"{beside}\"\n\
             .section .debug_str\n{{\n$name:\n.b8 107,0\n}}\n"
        );
        let program = crate::lower(&crate::parse(&text).expect("valid")).expect("valid");
        let kernel = &program.kernels[0];
        let sources = (0..4).map(|pc| kernel.origin(pc).source().expect("a source"));
        sources.collect()
    }

    #[test]
    fn a_librarys_lines_count_as_where_they_were_inlined() {
        let there = sources(["/k/a.cu", "/usr/include/array", "/k/lib/b.cuh"]);
        assert_eq!(
            there,
            ["/k/a.cu:5", "/k/a.cu:7", "/k/a.cu:7", "/k/lib/b.cuh:2"]
        );
        let here = sources(["a.cu", "/usr/include/array", "b.cuh"]);
        assert_eq!(here, ["a.cu:5", "a.cu:7", "a.cu:7", "b.cuh:2"]);
    }
}
