//! Launch files that run: steps, repetition, outputs, comparison.

use crate::common;

use common::{Mock, compile, mock, pointer, set_word, word};
use std::path::{Path, PathBuf};
use warpsim_present::Source;
use warpsim_workloads::launchfile;
use warpsim_workloads::{Category, DeviceError, Outcome, Session, npy};

struct Scratch(PathBuf);
impl Scratch {
    fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("warpsim-run-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("k.ptx"), PTX).unwrap();
        Scratch(dir)
    }
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&self.0)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}
impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const PTX: &str = "
.const .align 4 .b8 table[16];
.global .texref image;
.visible .entry increment(
.param .u64 p,
)
.visible .entry countdown(
.param .u64 p,
)
.visible .entry structured(
.param .u64 p,
.param .align 4 .b8 s[6],
.param .f32 x,
)
";

/// `increment` adds 1 to a word, `countdown` subtracts 1 from the word after it.
fn device() -> Mock {
    Mock::default()
        .with("increment", |m, p, _| {
            let at = pointer(p, 0);
            let v = word(m, at);
            set_word(m, at, v + 1);
            Ok(())
        })
        .with("countdown", |m, p, _| {
            let at = pointer(p, 0) + 4;
            let v = word(m, at);
            set_word(m, at, v - 1);
            Ok(())
        })
}

fn run_in(dir: &Path, text: &str, device: &mut Mock) -> Result<Outcome, DeviceError> {
    let file = launchfile::parse(&Source::new("t.toml", text))?;
    let mut session = Session {
        device,
        compiler: &compile,
    };
    launchfile::run(&file, dir, None, &mut session)
}

#[test]
fn the_examples_are_correct() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (name, checked) in [("vector-add", 1004), ("bfs", 8)] {
        let directory = examples.join(name);
        let file = launchfile::read(&directory.join(format!("{name}.toml"))).unwrap();
        let mut device = mock();
        let mut session = Session {
            device: &mut device,
            compiler: &compile,
        };
        let outcome = launchfile::run(&file, &directory, None, &mut session);
        assert_eq!(outcome, Ok(Outcome::Correct { checked }), "{name}");
    }
}

const HEAD: &str = "schema = 1\nptx = \"k.ptx\"\n[buffers.n]\ntype = \"u32\"\nvalues = [0, 3]\n";
const INCREMENT: &str = "launch = \"increment\", grid = 1, block = 1, args = [\"n\"]";
const COUNTDOWN: &str = "launch = \"countdown\", grid = 1, block = 1, args = [\"n\"]";

#[test]
fn repetitions_nest_and_whiles_end() {
    let dir = Scratch::new("nest");
    let text = format!(
        "{HEAD}[[steps]]\nwhile = {{ buffer = \"n\", offset = 1 }}\nsteps = [\n\
         {{ repeat = 5, steps = [{{ {INCREMENT} }}] }},\n{{ {COUNTDOWN} }} ]\n\
         [[outputs]]\nbuffer = \"n\"\nexpect = [15, 0]\n"
    );
    let mut d = device();
    assert_eq!(
        run_in(&dir.0, &text, &mut d),
        Ok(Outcome::Correct { checked: 2 })
    );
    assert_eq!(d.launches.len(), 18);
}

#[test]
fn a_while_that_does_not_end_is_stopped_at_its_limit() {
    let dir = Scratch::new("limit");
    let text = format!(
        "{HEAD}[[steps]]\nwhile = {{ buffer = \"n\", offset = 1 }}\nlimit = 7\nsteps = [{{ {INCREMENT} }}]\n\
         [[outputs]]\nbuffer = \"n\"\nwrite = \"out.bin\"\n"
    );
    let mut d = device();
    let error = run_in(&dir.0, &text, &mut d).unwrap_err();
    assert_eq!(error.category, Category::ProgramFailed);
    assert!(
        error.text.contains("t.toml:7") && error.text.contains("7 passes"),
        "{error}"
    );
    assert_eq!(d.launches.len(), 7);
    assert_eq!(dir.names(), ["k.ptx"], "no output of a failed run");
}

#[test]
fn outputs_replace_no_input_and_stay_in_the_folder() {
    let dir = Scratch::new("destinations");
    std::fs::create_dir(dir.0.join("inner")).unwrap();
    let inner = dir.0.join("inner");
    std::fs::write(inner.join("k.ptx"), PTX).unwrap();
    std::fs::write(inner.join("in.bin"), [1, 0, 0, 0]).unwrap();
    let text = |outputs: &str| {
        format!(
            "schema = 1\nptx = \"k.ptx\"\n[buffers.n]\ntype = \"u32\"\nvalues = [0, 3]\n\
             [buffers.m]\ntype = \"u32\"\nfile = \"in.bin\"\n\
             [[steps]]\n{}\n{outputs}",
            INCREMENT.replace(", ", "\n")
        )
    };
    let write = |name: &str| format!("[[outputs]]\nbuffer = \"n\"\nwrite = \"{name}\"\n");
    let refused = |outputs: &str, why: &str| {
        let error = run_in(&inner, &text(outputs), &mut device()).unwrap_err();
        assert_eq!(error.category, Category::BadInput);
        assert!(error.text.contains(why), "{error}");
    };
    refused(&write("k.ptx"), "would replace an input");
    refused(&write("./in.bin"), "would replace an input");
    refused(&write("../inner/in.bin"), "would replace an input");
    refused(&(write("a.bin") + &write("./a.bin")), "two outputs");
    refused(&write("../a.bin"), "is not in the launch file's folder");
    let absolute = dir.0.join("a.bin").display().to_string();
    refused(&write(&absolute), "--allow-outside");
    let source = Source::new("t.toml", &text(&write("../a.bin")));
    let mut file = launchfile::parse(&source).unwrap();
    file.allow_outside = true;
    let mut d = device();
    let mut session = Session {
        device: &mut d,
        compiler: &compile,
    };
    launchfile::run(&file, &inner, None, &mut session).unwrap();
    assert_eq!(dir.names(), ["a.bin", "inner", "k.ptx"]);
}

#[test]
fn a_failing_kernel_names_its_step_and_leaves_no_output() {
    let dir = Scratch::new("fail");
    let text = format!(
        "{HEAD}[[steps]]\nlaunch = \"increment\"\ngrid = 1\nblock = 1\nargs = [\"n\"]\n\
         [[outputs]]\nbuffer = \"n\"\nwrite = \"out.npy\"\n"
    );
    let mut d = Mock::default().with("increment", |_, _, _| {
        Err(DeviceError::program_failed("trap"))
    });
    let error = run_in(&dir.0, &text, &mut d).unwrap_err();
    assert_eq!(error.text, "t.toml:7: increment: trap");
    assert_eq!(dir.names(), ["k.ptx"]);
}

#[test]
fn fill_copy_and_ranges() {
    let dir = Scratch::new("fill");
    let text = "schema = 1\nptx = \"k.ptx\"\n\
        [buffers.a]\ntype = \"u16\"\ncount = 6\nsequence = { start = 10, step = -2 }\n\
        [buffers.b]\ntype = \"u16\"\ncount = 6\nfill = 7\n\
        [[steps]]\nfill = \"b\"\nvalue = 258\noffset = 4\n\
        [[steps]]\ncopy = \"a\"\nto = \"b\"\noffset = 1\ncount = 2\nto_offset = 1\n\
        [[steps]]\nfill = \"a\"\nvalue = 0\ncount = 1\n\
        [[outputs]]\nbuffer = \"a\"\nexpect = [0, 8, 6, 4, 2, 0]\n\
        [[outputs]]\nbuffer = \"b\"\nexpect = [7, 8, 6, 7, 258, 258]\nwrite = \"b.bin\"\n\
        [[outputs]]\nbuffer = \"b\"\noffset = 3\ncount = 2\nwrite = \"b.npy\"\n";
    assert_eq!(
        run_in(&dir.0, text, &mut device()),
        Ok(Outcome::Correct { checked: 12 })
    );
    assert_eq!(
        std::fs::read(dir.0.join("b.bin")).unwrap(),
        [7, 0, 8, 0, 6, 0, 7, 0, 2, 1, 2, 1]
    );
    let array = npy::read(&std::fs::read(dir.0.join("b.npy")).unwrap()).unwrap();
    assert_eq!(array.data, [7, 0, 2, 1]);
}

#[test]
fn wrong_results_say_where_and_still_write() {
    let dir = Scratch::new("wrong");
    let text = format!(
        "{HEAD}[[steps]]\nrepeat = 2\nsteps = [{{ {INCREMENT} }}]\n\
         [[outputs]]\nbuffer = \"n\"\nexpect = [2, 4]\nwrite = \"n.bin\"\n\
         [[outputs]]\nbuffer = \"n\"\nexpect = [3, 3]\ntolerance = {{ absolute = 1 }}\n"
    );
    let Ok(Outcome::Wrong(mismatches)) = run_in(&dir.0, &text, &mut device()) else {
        panic!("the result is wrong");
    };
    let shown: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        ["n: 1 of 2 values differ, first at [1]: expected 4, got 3"]
    );
    assert_eq!(dir.names(), ["k.ptx", "n.bin"]);
}

#[test]
fn nothing_to_compare_is_unchecked() {
    let dir = Scratch::new("unchecked");
    let text = format!("{HEAD}[[steps]]\nrepeat = 0\nsteps = []\n");
    assert_eq!(run_in(&dir.0, &text, &mut device()), Ok(Outcome::Unchecked));
}

#[test]
fn symbols_textures_and_struct_arguments_reach_the_device() {
    let dir = Scratch::new("symbols");
    let text = "schema = 1\nptx = \"k.ptx\"\n\
        [buffers.a]\ntype = \"f32\"\ncount = 32\nrandom = [1, 2]\n\
        [symbols.table]\ntype = \"u32\"\nvalues = [5, 6]\n\
        [textures.image]\nbuffer = \"a\"\nsize = [4, 4]\nchannels = 2\nfilter = \"linear\"\n\
        [textures.other]\nbuffer = \"a\"\nsize = 32\nlinear_memory = true\n\
        [[steps]]\nlaunch = \"struct\"\ngrid = [2, 3]\nblock = [4, 5, 6]\nshared = 64\nregisters = 20\n\
        args = [{ texture = \"other\" }, { bytes = \"0102 0304 0506\" }, { f32 = 1.5 }]\n";
    let mut d = device();
    assert_eq!(run_in(&dir.0, text, &mut d), Ok(Outcome::Unchecked));
    let (address, _) = d.symbols["table"];
    let at = (address - common::BASE) as usize;
    assert_eq!((word(&d.memory, at), word(&d.memory, at + 4)), (5, 6));
    assert_eq!(d.textures[0].0.as_deref(), Some("image"));
    assert!(d.textures[0].1.filter_linear && d.textures[0].1.dimensions == 2);
    assert_eq!(
        (d.textures[1].0.as_deref(), d.textures[1].1.size),
        (None, [32, 1, 1])
    );
    let launch = &d.launches[0].1;
    assert_eq!((launch.grid, launch.block), ([2, 3, 1], [4, 5, 6]));
    assert_eq!((launch.dynamic_shared, launch.registers), (64, Some(20)));
    // The handle is 8 bytes, the struct 6 behind it.
    let handle = u64::from_le_bytes(launch.params[..8].try_into().unwrap());
    assert_eq!(handle, 2);
    assert!(launch.params.windows(6).any(|w| w == [1, 2, 3, 4, 5, 6]));
    assert!(launch.params.ends_with(&1.5f32.to_le_bytes()));
}

#[test]
fn handles_and_addresses_go_into_symbols() {
    let dir = Scratch::new("handles");
    let file = |symbol: &str| {
        format!(
            "schema = 1\nptx = \"k.ptx\"\n[buffers.a]\ntype = \"f32\"\ncount = 32\n\
             [textures.t]\nbuffer = \"a\"\nsize = 8\n[textures.u]\nbuffer = \"a\"\nbyte_offset = 32\nsize = 8\n\
             [symbols.table]\n{symbol}\n[[steps]]\nrepeat = 0\nsteps = []\n"
        )
    };
    let held = |symbol: &str| {
        let mut d = device();
        assert_eq!(
            run_in(&dir.0, &file(symbol), &mut d),
            Ok(Outcome::Unchecked)
        );
        let at = (d.symbols["table"].0 - common::BASE) as usize;
        let long = |at: usize| u64::from_le_bytes(d.memory[at..at + 8].try_into().unwrap());
        let textures: Vec<u64> = d.textures.iter().map(|t| t.1.address).collect();
        ([long(at), long(at + 8)], textures)
    };
    let (handles, places) = held("texture = [\"u\", \"t\"]");
    assert_eq!(handles, [2, 1]);
    assert_eq!(places[1] - places[0], 32, "an offset in bytes");
    assert_eq!(held("texture = \"u\"").0, [2, 0]);
    assert_eq!(held("address = \"a\"").0, [places[0], 0]);
    for (symbol, message) in [
        ("texture = \"x\"", "there is no texture `x`"),
        ("address = [\"b\"]", "there is no buffer `b`"),
        ("address = 3", "a name, or a list of names"),
        ("address = [\"a\", \"a\", \"a\"]", "between 1 and 2"),
    ] {
        let error = run_in(&dir.0, &file(symbol), &mut device()).unwrap_err();
        assert!(error.to_string().contains(message), "{symbol}: {error}");
    }
}

#[test]
fn offsets_are_in_elements_or_in_bytes_as_said() {
    let dir = Scratch::new("offsets");
    let file = |argument: &str| {
        format!(
            "schema = 1\nptx = \"k.ptx\"\n[buffers.a]\ntype = \"u32\"\ncount = 16\n\
             [[steps]]\nfill = \"a\"\nvalue = 7\n{argument}\n\
             [[outputs]]\nbuffer = \"a\"\nwrite = \"o.bin\"\n"
        )
    };
    let filled = |argument: &str| -> Vec<usize> {
        let mut d = device();
        run_in(&dir.0, &file(argument), &mut d).unwrap();
        let out = std::fs::read(dir.0.join("o.bin")).unwrap();
        let words = out
            .chunks(4)
            .map(|w| u32::from_le_bytes(w.try_into().unwrap()));
        let places = words.enumerate().filter(|(_, w)| *w == 7);
        places.map(|(place, _)| place).collect()
    };
    assert_eq!(filled("offset = 8\ncount = 2"), [8, 9]);
    assert_eq!(filled("byte_offset = 8\ncount = 2"), [2, 3]);
    assert_eq!(filled("byte_offset = \"4 * 14\""), [14, 15]);
    for (argument, message) in [
        ("offset = 1\nbyte_offset = 4", "not both"),
        ("byte_offset = 68", "from byte 68 on: `a` has only 16"),
    ] {
        let error = run_in(&dir.0, &file(argument), &mut device()).unwrap_err();
        assert!(error.to_string().contains(message), "{argument}: {error}");
    }
}

#[test]
fn random_buffers_depend_on_seed_and_name_alone() {
    let dir = Scratch::new("random");
    let text = |seed: u64| {
        format!(
            "schema = 1\nptx = \"k.ptx\"\nseed = {seed}\n[buffers.a]\ntype = \"u8\"\ncount = 64\nrandom = [10, 20]\n\
             [buffers.b]\ntype = \"u8\"\ncount = 64\nrandom = [10, 20]\n[[steps]]\nrepeat = 0\nsteps = []\n"
        )
    };
    let memory = |seed| {
        let mut d = device();
        run_in(&dir.0, &text(seed), &mut d).unwrap();
        d.memory
    };
    let first = memory(1);
    assert_eq!(first, memory(1));
    assert_ne!(first, memory(2));
    // The 16-byte symbol lies first; buffers start at multiples of 256.
    let (a, b) = (&first[256..320], &first[512..576]);
    assert!(a.iter().all(|v| (10..=20).contains(v)) && a != b);
}

/// Every TOML block of the manual that starts like a launch file is one.
#[test]
fn the_manual_s_examples_are_launch_files() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/launch-files.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> = manual
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 7);
    for whole in &blocks[..2] {
        launchfile::parse(&Source::new("manual", whole)).unwrap();
    }
    // The others are parts of examples, which their first line names: every setting must still
    // be there (comments aside).
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for block in &blocks[2..] {
        let name = block
            .trim_start_matches("# ")
            .split([',', ':'])
            .next()
            .unwrap();
        let example = std::fs::read_to_string(root.join(name)).unwrap();
        let settings = block
            .lines()
            .map(|l| l.split('#').next().unwrap().trim_end());
        for line in settings.filter(|l| !l.is_empty()) {
            assert!(example.contains(line), "{name}: {line}");
        }
    }
}

#[test]
fn parameters_decide_sizes_and_arguments() {
    let scratch = Scratch::new("parameters");
    let text = r#"schema = 1
ptx = "k.ptx"
[param]
n = 4
twice = "n * 2"
[buffers.a]
type = "u32"
count = "twice"
fill = "n"
[[steps]]
repeat = "twice - 1"
steps = [{ launch = "increment", grid = 1, block = "min(n, 32)", args = ["a"] }]
[[outputs]]
buffer = "a"
count = 1
expect = ["n + twice - 1"]
[[outputs]]
buffer = "a"
offset = 1
count = "twice - 1"
expect = "n"
"#;
    let outcome = run_in(&scratch.0, text, &mut device()).expect("runs");
    assert_eq!(outcome, Outcome::Correct { checked: 8 });
    let source = Source::new("t.toml", text);
    let changed = launchfile::parse_with(&source, &["n=10".to_string()]).expect("a launch file");
    let names: Vec<(&str, String)> = changed
        .parameters
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_string()))
        .collect();
    assert_eq!(
        names,
        [("n", "10".to_string()), ("twice", "20".to_string())]
    );
    let mut device = device();
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let outcome = launchfile::run(&changed, &scratch.0, None, &mut session).expect("runs");
    assert_eq!(outcome, Outcome::Correct { checked: 20 });
}

#[test]
fn files_are_written_between_launches() {
    let scratch = Scratch::new("writes");
    std::fs::write(scratch.0.join("seven.bin"), 7u32.to_le_bytes()).unwrap();
    let text = r#"schema = 1
ptx = "k.ptx"
[buffers.a]
type = "u32"
count = 2
[[steps]]
launch = "increment"
grid = 1
block = 1
args = ["a"]
[[steps]]
write = "a"
offset = 1
file = "seven.bin"
[[steps]]
launch = "increment"
grid = 1
block = 1
args = ["a"]
[[outputs]]
buffer = "a"
expect = [2, 7]
"#;
    let outcome = run_in(&scratch.0, text, &mut device()).expect("runs");
    assert_eq!(outcome, Outcome::Correct { checked: 2 });
}
