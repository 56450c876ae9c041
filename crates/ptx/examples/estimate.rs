use std::path::Path;
fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = std::fs::read_to_string(root.join("crates/ptx/tests/registers.tsv")).unwrap();
    let mut last = String::new();
    let mut program = None;
    for line in table.lines().skip(1) {
        let f: Vec<&str> = line.split('\t').collect();
        if f[0] != last {
            last = f[0].to_string();
            let text = std::fs::read_to_string(root.join(f[0])).unwrap();
            let module = warpsim_ptx::parse(&text).unwrap();
            program = Some(warpsim_ptx::lower(&module).unwrap());
        }
        let program = program.as_ref().unwrap();
        let Some(k) = program.kernels.iter().find(|k| k.name == f[1]) else {
            println!("missing {} {}", f[0], f[1]);
            continue;
        };
        let e = warpsim_ptx::analysis::registers::estimate(k);
        println!("{}\t{}\t{}\t{}\t{}\t{}\t{}", f[0], f[1], f[2], f[3], e.peak, e.fewest, e.registers);
    }
}
