use super::*;
use crate::host::simulated::compile;
use warpsim_ptx::isa::{Op, Space};
use warpsim_ptx::kernel::Kernel;

#[test]
fn the_nearest_of_two_triangles_is_hit() {
    let at = |z: f32| Triangle {
        corner: [0.0, 0.0, z],
        edges: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
    };
    let scene = [at(3.0), at(2.0), at(2.0), at(-1.0)];
    let ray = |x: f32| Ray::new([x, 0.25, 0.0], [0.0, 0.0, 1.0]);
    let (t, number) = closest(&ray(0.25), &scene);
    assert!((t - 2.0).abs() < 1e-5 && number == 1);
    assert_eq!(closest(&ray(0.9), &scene), (100.0, MISS));
}

#[test]
fn a_closed_room_stops_every_ray_and_rays_scatter_within() {
    let mut random = Random::new(3, "raytrace-persistent");
    let scene = scene::conference(6, &mut random);
    let rays = camera(32, 16);
    assert_eq!(rays.len(), 512);
    let mut numbers = Vec::new();
    let mut stopped = 0;
    for ray in &rays {
        let hit = closest(ray, &scene);
        assert_ne!(hit.1, MISS, "{ray:?}");
        numbers.push(hit.1);
        let next = scattered(ray, hit, &scene, &mut random);
        stopped += u32::from(closest(&next, &scene).1 != MISS);
    }
    // A scattered ray with a very short direction may end before it meets anything.
    assert!(
        stopped > 500,
        "{stopped} of 512 scattered rays hit something"
    );
    // More than the twelve triangles of the walls.
    numbers.sort_unstable();
    numbers.dedup();
    assert!(
        numbers.len() > 15,
        "the camera sees {} triangles",
        numbers.len()
    );
}

#[test]
fn something_between_a_place_and_the_lamp_stops_a_shadow_ray() {
    let scene = [Triangle {
        corner: [0.0, 0.0, 1.0],
        edges: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
    }];
    let result = |z| {
        let ray = Ray::shadow([0.25, 0.25, 0.0], [0.25, 0.25, z]);
        expected(&ray, closest(&ray, &scene))[1]
    };
    assert_eq!((result(2.0), result(0.9)), (1, 0));
}

/// Where shared memory is accessed by one kind of instruction.
fn shared(kernel: &Kernel, op: Op) -> Vec<usize> {
    (0..kernel.code.len())
        .filter(|&pc| kernel.code[pc].op == op && kernel.code[pc].mods.space == Some(Space::Shared))
        .collect()
}

/// The leader writes the index between the branches that leave the other lanes out and the place
/// where these branches reconverge; the first read that all lanes make comes behind that place,
/// and nothing synchronises them but the warp.
#[test]
fn the_warp_reconverges_between_the_leaders_write_and_the_reads() {
    let program = compile("raytrace-persistent.ptx", INFO.kernel.ptx).unwrap();
    let kernel = &program.kernels[0];
    let fetch = (0..kernel.code.len())
        .find(|&pc| kernel.code[pc].op == Op::Atom)
        .expect("the leader takes work");
    let write = shared(kernel, Op::St).into_iter().find(|&pc| pc > fetch);
    let write = write.expect("the leader leaves the index in shared memory");
    let read = shared(kernel, Op::Ld).into_iter().find(|&pc| pc > write);
    let read = read.expect("all lanes read the index");
    let leaving_out: Vec<usize> = (0..fetch)
        .filter(|&pc| {
            let i = &kernel.code[pc];
            i.op == Op::Bra
                && i.guard.is_some()
                && (i.target as usize) > fetch
                && (i.target as usize) <= read
        })
        .collect();
    assert_eq!(leaving_out.len(), 1, "all but the leader");
    for pc in leaving_out {
        let at = kernel.code[pc].reconverge as usize;
        assert!(
            write < at && at <= read,
            "{pc} reconverges at {at}, write {write}, read {read}"
        );
        assert!(!kernel.code[pc].uniform);
    }
    let volatile = |pc: usize| {
        INFO.kernel
            .ptx
            .lines()
            .nth(kernel.code[pc].line as usize - 1)
    };
    assert!(volatile(write).is_some_and(|l| l.contains("st.volatile.shared")));
    assert!(volatile(read).is_some_and(|l| l.contains("ld.volatile.shared")));
    assert!(kernel.code.iter().all(|i| i.op != Op::Bar));
}
