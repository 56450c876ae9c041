//! The suite as a whole: PTX belongs to its source, host code drives the kernels rightly.

use crate::common;

use common::{Mock, compile, mock};
use std::path::Path;
use warpsim_workloads::suite::{Parameters, Size, WORKLOADS, find};
use warpsim_workloads::{DeviceError, Outcome, Session};

/// The POSIX `cksum` of some bytes: what `kernels/build.sh` puts in the first line.
fn cksum(bytes: &[u8]) -> u32 {
    let length = std::iter::successors(Some(bytes.len()), |n| Some(n >> 8))
        .take_while(|n| *n > 0)
        .map(|n| n as u8);
    let mut crc = 0u32;
    for byte in bytes.iter().copied().chain(length) {
        crc ^= u32::from(byte) << 24;
        for _ in 0..8 {
            crc = crc << 1 ^ if crc >> 31 == 1 { 0x04c1_1db7 } else { 0 };
        }
    }
    !crc
}

#[test]
fn every_ptx_belongs_to_its_source() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let read =
        |name: String| std::fs::read(kernels.join(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    for workload in WORKLOADS {
        let info = workload.info();
        let source = read(format!("{}.cu", info.kernel.name));
        let headers = String::from_utf8_lossy(&source)
            .lines()
            .filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'))
            .map(|name| read(name.into()))
            .collect::<Vec<_>>()
            .concat();
        let text = [headers, source].concat();
        let stamp = format!("// source cksum: {} {}", cksum(&text), text.len());
        assert_eq!(
            info.kernel.ptx.lines().next(),
            Some(stamp.as_str()),
            "run kernels/build.sh {}",
            info.kernel.name
        );
    }
}

#[test]
fn ptx_stays_readable_by_older_tools() {
    for workload in WORKLOADS {
        let ptx = workload.info().kernel.ptx;
        let version = ptx
            .lines()
            .find_map(|l| l.strip_prefix(".version "))
            .expect("a version");
        assert!(
            version
                .split('.')
                .next()
                .and_then(|v| v.parse().ok())
                .is_some_and(|v: u32| v <= 6)
        );
        assert!(ptx.contains(".target sm_35"));
    }
}

fn run(name: &str, size: Size, device: &mut Mock) -> Result<Outcome, DeviceError> {
    let workload = find(name)?;
    let parameters = Parameters::resolve(workload.info().parameters, size, &[])?;
    let mut session = Session {
        device,
        compiler: &compile,
    };
    workload.run(&parameters, 1, &mut session)
}

#[test]
fn right_results_are_correct() {
    assert_eq!(
        run("vecadd", Size::Tiny, &mut mock()),
        Ok(Outcome::Correct { checked: 5000 })
    );
    let mut device = mock();
    assert_eq!(
        run("bfs", Size::Tiny, &mut device),
        Ok(Outcome::Correct { checked: 1024 })
    );
    assert!(device.launches.len() >= 6 && device.launches.len().is_multiple_of(2));
}

#[test]
fn kernels_that_do_nothing_are_caught_in_every_workload() {
    for workload in WORKLOADS {
        let name = workload.info().name;
        let mut device = Mock::default();
        match run(name, Size::Tiny, &mut device) {
            Ok(Outcome::Wrong(m)) => assert!(m[0].differing > 0),
            other => panic!("{name}: {other:?}"),
        }
        assert!(!device.launches.is_empty());
    }
}

#[test]
fn errors_of_the_device_pass_through() {
    let mut device = Mock::default().with("collatz", |_, _, _| {
        Err(DeviceError::program_failed("trap"))
    });
    assert_eq!(
        run("collatz", Size::Tiny, &mut device),
        Err(DeviceError::program_failed("trap"))
    );
    let error = run("vecad", Size::Tiny, &mut mock()).unwrap_err();
    assert!(error.text.contains("did you mean `vecadd`?"));
}

#[test]
fn a_bfs_that_never_ends_is_stopped() {
    let mut device = Mock::default().with("bfs_advance", |m, p, _| {
        common::set_word(m, common::pointer(p, 24), 1);
        Ok(())
    });
    let error = run("bfs", Size::Tiny, &mut device).unwrap_err();
    assert_eq!(error.category, warpsim_workloads::Category::ProgramFailed);
}
