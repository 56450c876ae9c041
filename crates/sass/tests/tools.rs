//! NVIDIA's tools, where they are installed.

use warpsim_sass::front::tools::Tools;
use warpsim_sass::front::{assemble, listing};
use warpsim_sass::run::Code;

const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n\
    .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1;\n\
    mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1; ret; }\n";

#[test]
fn ptx_becomes_machine_code_by_the_users_tools() {
    let tools = match Tools::for_ptx() {
        Ok(tools) => tools,
        Err(why) => {
            assert!(why.contains("pip install"), "{why}");
            return;
        }
    };
    let program = assemble(&tools, "k.ptx", PTX, 90).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.architecture, 90);
    let kernel = program.kernel("k").expect("it is there");
    assert_eq!((kernel.parameters, kernel.parameter_bytes), (0x210, 8));
    Code::new(&program, kernel)
        .map(drop)
        .unwrap_or_else(|e| panic!("{e}"));
    let text = listing::write(&program);
    let read = listing::read("k", &text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read.kernels[0].code, kernel.code);
    let wrong = assemble(&tools, "k.ptx", &PTX.replace("mov.u32", "mov.frob"), 90);
    assert!(wrong.is_err_and(|e| e.starts_with("k.ptx: ") && e.contains("says")));
}
