"""Kernels on arrays, workloads, launch files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import warpsim
from conftest import ROOT, VECADD


def vectors(n: int = 1000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a = np.arange(n, dtype=np.float32)
    return a, 2 * a + 1, np.zeros(n, np.float32)


def test_a_kernel_writes_into_the_arrays_it_is_given(vecadd: warpsim.Kernel) -> None:
    a, b, c = vectors()
    result = warpsim.run(vecadd, 4, 256, [a, b, c, 1000])
    np.testing.assert_array_equal(c, a + b)
    assert result.cycles > 100
    assert result.result == "unchecked"
    [launch] = result.launches
    assert launch.kernel == vecadd.name and launch.grid == (4, 1, 1)
    assert launch.stats["thread_instructions"] == result.stats["thread_instructions"]
    assert 0 < result.stats["warp_states.issued"] < result.stats["warp_cycles"]
    assert result.profile is None and result.timeline is None


def test_arrays_of_any_layout(vecadd: warpsim.Kernel) -> None:
    a, b, c = vectors()
    wide = np.zeros((1000, 2), np.float32)
    warpsim.run(vecadd, 4, 256, [np.asfortranarray(a), b[::1], wide[:, 1], 1000])
    np.testing.assert_array_equal(wide[:, 1], a + b)
    assert not wide[:, 0].any()
    # The same array twice is one buffer; one that cannot be written is an input.
    a.flags.writeable = False
    warpsim.run(vecadd, 4, 256, [a, a, c, 1000])
    np.testing.assert_array_equal(c, a + a)
    c.flags.writeable = False
    warpsim.run(vecadd, 4, 256, [b, b, c, 1000])
    np.testing.assert_array_equal(c, a + a)
    whole = np.zeros(2000, np.float32)
    with pytest.raises(warpsim.BadInput, match="share memory"):
        warpsim.run(vecadd, 4, 256, [a, whole[:1000], whole[500:1500], 1000])
    with pytest.raises(warpsim.BadInput, match="Python objects"):
        warpsim.run(vecadd, 4, 256, [a, b, np.array([None]), 1000])


def test_numbers_take_the_parameters_type(vecadd: warpsim.Kernel) -> None:
    a, b, c = vectors()
    for n in (1000, np.uint32(1000), np.int32(1000), (1000).to_bytes(4, "little")):
        c[:] = 0
        warpsim.run(vecadd, 4, 256, [a, b, c, n], functional=True)
        np.testing.assert_array_equal(c, a + b)
    bad = {
        "does not fit into 32 bits": 2**40,
        "no whole number": 0.5,
        "takes 4 bytes": np.float64(1),
        "no argument of a kernel": "1000",
    }
    for text, n in bad.items():
        with pytest.raises(warpsim.BadInput, match=text):
            warpsim.run(vecadd, 4, 256, [a, b, c, n])
    with pytest.raises(warpsim.BadInput, match="takes 4 arguments and got 3"):
        warpsim.run(vecadd, 4, 256, [a, b, c])


def test_launches_share_their_arrays(vecadd: warpsim.Kernel) -> None:
    a, b, c = vectors()
    first = vecadd.launch(4, 256, a, b, c, 1000)
    second = vecadd.launch(4, 256, c, c, c, 1000)
    result = warpsim.run([first, second])
    np.testing.assert_array_equal(c, 2 * (a + b))
    assert len(result.launches) == 2
    assert result.cycles >= sum(launch.stats["cycles"] for launch in result.launches) > 0


def test_a_run_that_fails_leaves_arrays_as_they_were(vecadd: warpsim.Kernel) -> None:
    a, b, c = vectors()
    c[:] = 7
    with pytest.raises(warpsim.ProgramFailed, match="out of bounds|outside"):
        warpsim.run(vecadd, 8, 256, [a, b, c, 2000])
    assert (c == 7).all()
    with pytest.raises(RuntimeError, match="did not end within 1000 cycles"):
        warpsim.run(ROOT / "crates/cli/tests/data/endless.toml", max_cycles=1000)


def test_errors_have_the_text_of_the_command_line(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(warpsim.BadInput) as error:
        warpsim.Kernel(VECADD.replace("ld.param", "ld.parm"), file="bad.ptx")
    assert "bad.ptx:" in str(error.value) and "^" in str(error.value)
    with pytest.raises(ValueError, match="did you mean `matmul`"):
        warpsim.run("matmull")
    with pytest.raises(warpsim.BadInput, match="did you mean `gto`"):
        warpsim.run("matmul", scheduler="gtoo")
    with pytest.raises(warpsim.BadInput, match="no size is called"):
        warpsim.run("matmul", size="huge")  # type: ignore[arg-type]
    with pytest.raises(warpsim.BadInput, match="cannot read"):
        warpsim.Kernel.from_file(tmp_path / "none.ptx")
    for bad in (0, (1, 2, 3, 4), -1):
        with pytest.raises(warpsim.BadInput, match="one, two or three numbers"):
            warpsim.run(warpsim.Kernel(VECADD), bad, 256)


def test_workloads_and_launch_files_are_checked() -> None:
    result = warpsim.run("matmul", size="tiny", scheduler="lrr", parameters={"n": 32})
    assert result.result == "correct" and result.scheduler == "lrr"
    example = ROOT / "examples/vector-add/vector-add.toml"
    result = warpsim.run(example)
    assert result.result == "correct"
    other = warpsim.run(str(example), machine=warpsim.Machine(set={"sm.schedulers": 1}))
    assert other.cycles != result.cycles


def test_the_same_statistics_as_on_the_command_line(tmp_path) -> None:  # type: ignore[no-untyped-def]
    command = os.environ.get("WARPSIM_COMMAND") or str(ROOT / "target/debug/warpsim")
    if not os.path.exists(command):
        pytest.skip("no warpsim command to compare with: WARPSIM_COMMAND names one")
    stats = tmp_path / "stats.json"
    arguments = ["run", "reduction", "--size", "tiny", "--scheduler", "gto", "-q", "--stats", str(stats)]
    subprocess.run([command, *arguments], check=True)
    told = json.loads(stats.read_text())
    result = warpsim.run("reduction", size="tiny", scheduler="gto")
    assert result.stats["cycles"] == told["totals"]["cycles"]
    assert result.stats["warp_states.barrier"] == told["totals"]["warp_states"]["barrier"]
    assert len(result.launches) == len(told["launches"])


def test_a_view_is_a_page_of_its_own(tmp_path: Path) -> None:
    result = warpsim.run("reduction", size="tiny", view=True, timeline=True)
    view = result.view()
    assert "<title>" in view.page and '"schema":1' in view.page
    file = view.save(tmp_path / "view.html")
    assert file.read_text(encoding="utf-8") == view.page
    shown = view._repr_html_()
    assert shown.startswith("<iframe") and "<script" not in shown
    assert "_view" not in json.loads(result.to_json())
    assert result.cycles == warpsim.run("reduction", size="tiny").cycles
    with pytest.raises(warpsim.BadInput, match="no SM 15"):
        warpsim.run("reduction", size="tiny", view=15)
    with pytest.raises(warpsim.BadInput, match="without timing"):
        warpsim.run("reduction", size="tiny", view=True, functional=True)
    with pytest.raises(warpsim.BadInput, match="run with view=True"):
        warpsim.run("reduction", size="tiny").view()


def test_profile_and_timeline() -> None:
    result = warpsim.run("reduction", size="tiny", profile=True, timeline=True)
    profile = result.profile
    assert profile is not None
    assert sum(row["issues"] for row in profile) == result.stats["warp_instructions"]
    waited = sum(row["waited.barrier"] for row in profile)
    assert 0 < waited <= result.stats["warp_states.barrier"]
    assert max(profile, key=lambda row: row["waited.data_memory"])["waited.data_memory"] > 0
    rows = result.rows("timeline")
    assert {row["state"] for row in rows} >= {"issued", "barrier", "data_memory"}
    plain = warpsim.run("reduction", size="tiny")
    assert plain.stats == result.stats, "listening changes nothing"
    with pytest.raises(warpsim.BadInput, match="profile=True"):
        plain.rows("profile")


def test_tables() -> None:
    result = warpsim.run("reduction", size="tiny", profile=True)
    frame = result.to_pandas()
    assert len(frame) == len(result.launches)
    assert frame["cycles"].sum() <= result.cycles
    assert frame["warp_states.barrier"].dtype.kind == "i"
    polars = result.to_polars("profile")
    assert polars["issues"].sum() == result.stats["warp_instructions"]
    assert json.loads(result.to_json())["result"] == "correct"


def test_a_run_shows_itself() -> None:
    result = warpsim.run("reduction", size="tiny", timeline=True)
    html = result._repr_html_()
    assert html.count("<svg") == 2 and "reduction on gtx480" in html
    assert "data_memory: " in html and "block 0 warp 0" in html
    assert f"{result.cycles:,}" in str(result)
    evil = warpsim.run("reduction", size="tiny")
    evil.what = "<script>"
    assert "<script>" not in evil._repr_html_()


def test_progress_and_the_lock(vecadd: warpsim.Kernel) -> None:
    seen: list[tuple[str, int, int, int, int]] = []
    other = {"turns": 0, "stop": False}

    def work() -> None:
        while not other["stop"]:
            other["turns"] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        warpsim.run("matmul", parameters={"n": 160}, progress=lambda *told: seen.append(told))
    finally:
        other["stop"] = True
        thread.join()
    assert other["turns"] > 20, "another thread runs meanwhile"
    assert seen and seen[-1][0] and seen == sorted(seen, key=lambda told: told[3])

    def fails(*_: object) -> None:
        raise KeyError("from the callback")

    with pytest.raises(KeyError, match="from the callback"):
        warpsim.run("matmul", parameters={"n": 160}, progress=fails)


@pytest.mark.parametrize("how", ["", ", functional=True"])
def test_ctrl_c_stops_a_run(how: str) -> None:
    endless = ROOT / "crates/cli/tests/data/endless.toml"
    program = f"import warpsim; print('begun', flush=True); warpsim.run({str(endless)!r}{how})"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None and child.stderr is not None
    assert child.stdout.readline() == b"begun\n"
    time.sleep(0.5)
    assert child.poll() is None, "it would go on forever"
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=20) != 0
    assert b"KeyboardInterrupt" in child.stderr.read()


def test_variables_of_a_module() -> None:
    ptx = (ROOT / "examples/symbols/symbols.ptx").read_text()
    with pytest.raises(warpsim.BadInput, match="kernels: convolve, read_count"):
        warpsim.Kernel(ptx)
    convolve, read_count = warpsim.Kernel(ptx, "convolve"), warpsim.Kernel(ptx, "read")
    squares = np.arange(8, dtype=np.float32) ** 2
    out, counted = np.zeros(6, np.float32), np.zeros(1, np.uint32)
    first = convolve.launch(1, 32, squares, out, 6)
    first.symbols = {"taps": np.array([1, -2, 1], np.float32), "count": np.uint32(100)}
    warpsim.run([first, read_count.launch(1, 1, counted)])
    assert (out == 2).all() and counted[0] == 106
    with pytest.raises(warpsim.BadInput, match="no variable `tapss`"):
        warpsim.run(convolve, 1, 32, [squares, out, 6], symbols={"tapss": np.ones(3, np.float32)})


def test_races_are_found() -> None:
    ptx = """.version 7.0
.target sm_70
.address_size 64
.visible .entry racy(.param .u64 out) {
    .reg .u64 %a; .reg .u32 %t;
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    st.global.u32 [%a], %t;
    ret;
}
"""
    out = np.zeros(1, np.uint32)
    result = warpsim.run(warpsim.Kernel(ptx), 1, 64, [out], check_races=True)
    assert result.races and "racy" in result.races[0]


#: `my::scale<float>(float const*, float*, float, int)`, which does nothing.
SCALE = """.version 8.0
.target sm_75
.address_size 64
.visible .entry _ZN2my5scaleIfEEvPKT_PS1_S1_i(.param .u64 a, .param .u64 b, .param .f32 c, .param .u32 d)
{ ret; }
"""


def test_arrays_have_the_type_that_the_kernel_takes(vecadd: warpsim.Kernel) -> None:
    a, b, c = vectors()
    scale = warpsim.Kernel(SCALE)
    # C++ says what it takes.
    with pytest.raises(warpsim.BadInput) as error:
        warpsim.run(scale, 1, 32, [a, b.astype(np.float64), 2.0, 1000])
    text = str(error.value)
    assert "argument 2: an array of float64" in text and "takes float*" in text and 'astype("float32")' in text
    with pytest.raises(warpsim.BadInput, match=r"an array of int32, but the kernel takes float const\*"):
        warpsim.run(scale, 1, 32, [a.astype(np.int32), b, 2.0, 1000])
    with pytest.raises(warpsim.BadInput, match=r'array.view\("float32"\) if its bytes are meant'):
        warpsim.run(scale, 1, 32, [a.view(np.uint8), b, 2.0, 1000])
    for right in (a, a.view(np.complex64), a.view([("x", "f4")])):
        warpsim.run(scale, 1, 32, [right, b, 2.0, 1000])
    # Else the PTX: it reads numbers of .f32.
    with pytest.raises(warpsim.BadInput, match="an array of float64, but the kernel takes it as numbers of .f32"):
        warpsim.run(vecadd, 4, 256, [a.astype(np.float64), b, c, 1000])


def test_names_are_those_of_cpp() -> None:
    a, b, _ = vectors()
    scale = warpsim.Kernel(SCALE)
    assert scale.name.startswith("_ZN2my") and scale.shown == "my::scale<float>"
    result = warpsim.run(scale, 1, 32, [a, b, 2.0, 1000], profile=True)
    assert result.what == "my::scale<float>"
    assert [launch.kernel for launch in result.launches] == ["my::scale<float>"]
    assert {row["kernel"] for row in result.rows("profile")} == {"my::scale<float>"}
    assert "my::scale<float>(" in repr(scale) and "_ZN" not in repr(scale)


def test_colours_are_those_of_the_reports() -> None:
    colours = warpsim._native.state_colours()
    assert colours["issued"] != colours["barrier"] and all(c.startswith("#") for c in colours.values())
    html = warpsim.run("reduction", size="tiny", timeline=True)._repr_html_()
    assert html.count(f'fill="{colours["barrier"]}"') > 1
