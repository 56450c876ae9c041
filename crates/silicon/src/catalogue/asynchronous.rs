//! Copies to shared memory and barriers in it: every thread has its own place and barrier, so that
//! results do not depend on who comes first.

use super::List;
use crate::form::Form;
use crate::kind::Kind;

fn new(form: &mut Form) {
    form.on(80);
    form.brief = true;
    form.module = ".shared .align 16 .b8 here[4096];\n.shared .align 8 .b8 gates[2048];\n".into();
    form.locals = "\t.reg .b32 %place, %gate;\n\t.reg .b64 %state;\n\t.reg .pred %p;\n".into();
}

const HEAD: &str = "mov.u32 %place, %tid.x;\n\tmov.u32 %word, gates;\n\tmad.lo.u32 %gate, %place, 8, %word;\n\t\
                    mov.u32 %word, here;\n\tmad.lo.u32 %place, %place, 16, %word;\n\t";

pub(super) fn add(list: &mut List) {
    for (kind, bytes) in [(Kind::I32, 4), (Kind::I64, 8)] {
        let from = format!("ld.param.u64 %at, [ps0];\n\tmad.wide.u32 %at, %n, {bytes}, %at;\n\t");
        let load = format!("ld.shared.b{} %d0, [%place];", bytes * 8);
        let name = format!("cp.async.ca.shared.global({bytes})");
        let copy = format!("cp.async.ca.shared.global [%place], [%at], {bytes}");
        let body = format!("{HEAD}{from}{copy};\n\tcp.async.wait_all;\n\t{load}");
        new(list.body(&name, body, &[kind], &[kind]));
        let name = format!("cp.async.ca.shared.global({bytes}, fewer)");
        let body = format!(
            "{HEAD}{from}and.b32 %s1, %s1, {};\n\t{copy}, %s1;\n\tcp.async.commit_group;\n\t\
             cp.async.wait_group 0;\n\t{load}",
            bytes - 1
        );
        new(list.body(&name, body, &[kind], &[kind, Kind::Amount]));
        let name = format!("cp.async.mbarrier.arrive.noinc.shared.b64({bytes})");
        let body = format!(
            "{HEAD}{from}mbarrier.init.shared.b64 [%gate], 1;\n\t{copy};\n\t\
             cp.async.mbarrier.arrive.noinc.shared.b64 [%gate];\nwait:\n\t\
             mbarrier.test_wait.parity.shared.b64 %p, [%gate], 0;\n\t@!%p bra wait;\n\t{load}"
        );
        new(list.body(&name, body, &[kind], &[kind]));
    }
    // How many arrivals are pending, and whether the phase is over, before each of some arrivals.
    let body = format!(
        "{HEAD}and.b32 %s0, %s0, 7;\n\tadd.u32 %s0, %s0, 2;\n\tmbarrier.init.shared.b64 [%gate], %s0;\n\t\
         mbarrier.arrive.noComplete.shared.b64 %state, [%gate], 1;\n\t\
         mbarrier.pending_count.b64 %d0, %state;\n\tmbarrier.test_wait.shared.b64 %d1, [%gate], %state;\n\t\
         sub.u32 %s0, %s0, 1;\n\tmbarrier.arrive.shared.b64 %state, [%gate], %s0;\n\t\
         mbarrier.pending_count.b64 %d2, %state;\n\tmbarrier.test_wait.shared.b64 %d3, [%gate], %state;\n\t\
         mbarrier.test_wait.parity.shared.b64 %d4, [%gate], 1;"
    );
    let (w, p) = (Kind::I32, Kind::Pred);
    let form = list.body("mbarrier.arrive.shared.b64", body, &[w, p, w, p, p], &[w]);
    new(form);
    // A count without `.noComplete`.
    form.on(90);
    form.awaited = true;
    // Nothing but time passes.
    let body = "and.b32 %word, %s0, 255;\n\tnanosleep.u32 %word;\n\tadd.u32 %d0, %s0, %word;";
    let form = list.body("nanosleep.u32", body.into(), &[w], &[w]);
    form.on(70);
    form.awaited = true;
}
