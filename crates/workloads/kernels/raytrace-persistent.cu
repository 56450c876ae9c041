// Hits of rays with the triangles of a scene, through a bounding volume hierarchy, by
// persistent threads: the grid only fills the machine, and every warp fetches work until none is
// left. One lane takes the next 32 rays from the global counter for its whole warp and leaves
// the first one's index in shared memory; the other lanes read it there WITHOUT a barrier. That is
// right only where the warp reconverges between the leader's writes and everybody's reads, as
// static warps with a reconvergence stack do. Traversal alternates between a loop over inner
// nodes and a loop over leaves; both diverge. A shadow ray needs no more than one hit: it breaks
// out of the leaf's loop, which is why the sides of the tests in that loop only have to meet
// behind it.
// Without lifetime markers clang compiles that break to a jump; with them, to a flag that is tested
// where the loop closes, which no compiler of the time did.
// flags: -ffp-contract=off -Xclang -disable-lifetime-markers
#include "warpsim.cuh"
#define WIDTH 32u
#define LANE threadIdx.x
#define WARP threadIdx.y
#include "raytrace-persistent.cuh"
