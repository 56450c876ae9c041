//! Any text is imported, or refused with a message: no panic. `WARPSIM_FUZZ` says how many texts are made.

use super::{file_text, gpgpusim};
use warpsim_fuzz_targets::mutate::{Random, mutate};
use warpsim_present::Source;
use warpsim_sim::config::read::load::from_source;

const SEEDS: [&str; 2] = [
    "-gpgpu_n_clusters 8\n-gpgpu_n_cores_per_cluster 2 # two each\n-gpgpu_shader_core_pipeline 1024:32\n\
     -gpgpu_clock_domains 1000.0:1000.0:1000.0:1500.0\n-gpgpu_cache:dl1  N:16:128:8,L:L:m:N:L,A:40:6,9\n\
     -gpgpu_scheduler two_level_active:6:0:1\n-ptx_opcode_latency_fp 4,13,4,5,39\n\
     -ptx_opcode_initiation_fp 1,2,1,1,4\n",
    "-gpgpu_dram_timing_opt \"nbk=8:CCD=2:RRD=5:RCD=11:\n RAS=27:RP=11\"\n-gpgpu_cache:dl2 64:128:8,L:B:m:W:L,A:32:4,4:0,32\n\
     -gpgpu_n_mem 6\n-gpgpu_n_sub_partition_per_mchannel 2\n-gpgpu_shmem_size 49152\n-gpgpu_num_sched_per_core 2\n\
     -gpgpu_shader_registers 32768\n-gpgpu_operand_collector_num_units_sp 6\n",
];

#[test]
fn any_text_is_imported_or_refused() {
    let given = std::env::var("WARPSIM_FUZZ").ok();
    let count = given.map_or(2000, |text| text.parse().expect("a number"));
    let random = &mut Random::new(1);
    let (mut machines, mut refused) = (0, 0);
    for _ in 0..count {
        let [text, other] = [0; 2].map(|_| SEEDS[random.below(SEEDS.len())].as_bytes());
        let bytes = mutate(random, text, other);
        let text = String::from_utf8_lossy(&bytes);
        let machine =
            gpgpusim::import(&Source::new("any", &text)).map(|all| file_text("made.config", &all));
        let source = machine.map(|machine| Source::new("the machine file", &machine));
        let read = source.and_then(|s| from_source(&s, &[]));
        match read {
            Ok(_) => machines += 1,
            Err(why) => {
                assert!(!why.to_string().trim().is_empty(), "{text}");
                refused += 1;
            }
        }
    }
    assert!(
        machines > count / 50 && refused > count / 50,
        "{machines} {refused}"
    );
}
