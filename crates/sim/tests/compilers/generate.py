#!/usr/bin/env python3
"""Compiles the kernels of this folder with every compiler to be had.

    python3 generate.py WORK [--commit] [--only NAME]

WORK is a folder for what is fetched (with `pip` and `apt-get download`: nothing is installed) and for
WORK/ptx, where all results go. `--commit` also copies the few that are kept here,
`--only` leaves out compilers whose name does not begin like this. A compiler that cannot
be had is named and left out.
"""

import ctypes
import pathlib
import re
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
CLANGS = ["14", "15", "16", "17", "18", "19"]
NVRTCS = [
    ("nvrtc-11.8", "nvidia-cuda-nvrtc-cu11==11.8.89"),
    ("nvrtc-12.1", "nvidia-cuda-nvrtc-cu12==12.1.105"),
    ("nvrtc-12.4", "nvidia-cuda-nvrtc-cu12==12.4.127"),
    ("nvrtc-12.9", "nvidia-cuda-nvrtc-cu12==12.9.86"),
    ("nvrtc-13", "nvidia-cuda-nvrtc"),
]
# The wheels of CUDA 11 and 12 have the assembler but not nvcc; those of 13 have all of it.
NVCCS = [("nvcc-13.0", "13.0"), ("nvcc-13.2", "13.2"), ("nvcc-13.4", "13.4")]
CLANG_WAYS = {
    "O0": ["-O0"],
    "O1": ["-O1"],
    "O2": ["-O2"],
    "O3": ["-O3"],
    "fast": ["-O3", "-ffast-math", "-fcuda-flush-denormals-to-zero"],
    "g": ["-O0", "-g"],
    "lineinfo": ["-O2", "-gline-tables-only"],
}
NVRTC_WAYS = {
    "plain": [],
    "fast": ["--use_fast_math"],
    "G": ["--device-debug"],
    "lineinfo": ["--generate-line-info"],
}
NVCC_WAYS = {
    "plain": [],
    "O0": ["-Xcicc", "-O0"],
    "O1": ["-Xcicc", "-O1"],
    "fast": ["-use_fast_math"],
    "G": ["-G"],
    "lineinfo": ["-lineinfo"],
    "sm_90": ["-arch=compute_90"],
}
KEPT = [
    "clang-15.O0",
    "clang-16.fast",
    "clang-19.O0",
    "clang-19.O2",
    "clang-19.g",
    "nvrtc-11.8.plain",
    "nvrtc-11.8.G",
    "nvrtc-12.4.fast",
    "nvrtc-12.9.plain",
    "nvrtc-13.lineinfo",
    "nvrtc-13.G",
    "nvcc-13.0.fast",
    "nvcc-13.4.O0",
    "nvcc-13.4.G",
    "nvcc-13.4.sm_90",
    "rust.O0",
    "rust.O3",
    "numba.plain",
    "numba.debug",
    "triton.sm_80",
    "triton.sm_90",
]


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def neutral(text, work):
    """The text without the folders of this machine."""
    for folder in (str(work), str(HERE), str(pathlib.Path.cwd())):
        text = text.replace(folder, "/corpus")
    text = re.sub(r'(\.file\s+\d+\s+")[^"]*/', r"\1/corpus/", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.M)


def write(work, name, text):
    (work / "ptx" / f"{name}.ptx").write_text(neutral(text, work))
    print("made", name, flush=True)


def clang(work, version):
    root = work / "debian"
    program = root / f"usr/lib/llvm-{version}/bin/clang"
    if not program.exists():
        packages = [f"clang-{version}", f"libllvm{version}", f"libclang-cpp{version}"]
        packages.append(f"libclang-common-{version}-dev")
        fetched = work / "deb"
        fetched.mkdir(exist_ok=True)
        run("apt-get", "download", *packages, cwd=fetched)
        for file in fetched.glob(f"*{version}*.deb"):
            run("dpkg", "-x", str(file), str(root))
    libraries = f"{root}/usr/lib/llvm-{version}/lib:{root}/usr/lib/x86_64-linux-gnu"
    for way, options in CLANG_WAYS.items():
        text = run(
            str(program), "-x", "cuda", "--cuda-device-only", "-S", "-nocudainc", "-nocudalib",
            "--cuda-gpu-arch=sm_70", "-Wno-unknown-cuda-version", "-Xclang", "-target-feature",
            "-Xclang", "+ptx64", f"-fdebug-prefix-map={HERE}=/corpus", "-fdebug-compilation-dir=/corpus",
            *options, str(HERE / "kernels.cu"), "-o", "-",
            env={"LD_LIBRARY_PATH": libraries, "PATH": "/usr/bin:/bin"},
        )
        write(work, f"clang-{version}.{way}", text)


def wheel(work, package):
    folder = work / "wheels" / package
    if not folder.exists():
        run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), package)
        for file in folder.glob("*.whl"):
            zipfile.ZipFile(file).extractall(folder)
    return folder


def nvrtc(work, name, package):
    library = next(
        p for p in sorted(wheel(work, package).rglob("libnvrtc.so*")) if "alt" not in p.name
    )
    api = ctypes.CDLL(str(library), mode=ctypes.RTLD_LOCAL)
    source = (HERE / "kernels.cu").read_bytes()
    arch = b"--gpu-architecture=compute_75"
    for way, options in NVRTC_WAYS.items():
        program = ctypes.c_void_p()
        listed = [arch, b"-default-device"] + [o.encode() for o in options]
        check = lambda status: status and sys.exit(f"{name}: error {status}")
        check(api.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels.cu", 0, None, None))
        array = (ctypes.c_char_p * len(listed))(*listed)
        status = api.nvrtcCompileProgram(program, len(listed), array)
        size = ctypes.c_size_t()
        if status:
            api.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            api.nvrtcGetProgramLog(program, log)
            raise RuntimeError(log.value.decode())
        check(api.nvrtcGetPTXSize(program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        check(api.nvrtcGetPTX(program, text))
        write(work, f"{name}.{way}", text.value.decode())


def nvcc(work, name, version):
    folder = work / name
    program = folder / "nvidia/cu13/bin/nvcc"
    if not program.exists():
        parts = ["cuda-nvcc", "nvvm", "cuda-crt", "cuda-runtime"]
        packages = [f"nvidia-{part}=={version}.*" for part in parts]
        fetched = work / "wheels" / name
        run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(fetched), *packages)
        for file in fetched.glob("*.whl"):
            zipfile.ZipFile(file).extractall(folder)
        for tool in [*program.parent.iterdir(), *(folder / "nvidia/cu13/nvvm/bin").iterdir()]:
            tool.chmod(0o755)
    for way, options in NVCC_WAYS.items():
        out = work / f"{name}.{way}.ptx"
        arch = [] if way.startswith("sm_") else ["-arch=compute_75"]
        run(str(program), "-ptx", *arch, *options, "-o", str(out), str(HERE / "kernels.cu"))
        write(work, f"{name}.{way}", out.read_text())


def rust(work):
    for level in ("0", "1", "2", "3"):
        out = work / f"rust{level}.ptx"
        run(
            "rustc", "+nightly", "--target", "nvptx64-nvidia-cuda", "--crate-type", "cdylib",
            f"--emit=asm={out}", "-C", f"opt-level={level}", "-C", "target-cpu=sm_70", "-C",
            "panic=abort", "-C", "debug-assertions=no", str(HERE / "kernels.rs"), cwd=work,
        )
        write(work, f"rust.O{level}", out.read_text())


def environment(work, name, packages):
    folder = work / name
    if not folder.exists():
        run(sys.executable, "-m", "venv", str(folder))
        run(str(folder / "bin/python"), "-m", "pip", "install", "-q", *packages)
    return str(folder / "bin/python")


NUMBA = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
from numba import cuda, int32, types
import numba_kernels
array = types.Array(int32, 1, "C")
for f in numba_kernels.KERNELS:
    for way, more in (("plain", {}), ("debug", {"debug": True, "opt": False}), ("fast", {"fastmath": True})):
        text, _ = cuda.compile_ptx(f, (array, array, int32), cc=(7, 5), **more)
        print(f"@@{f.__name__} {way}")
        print(text)
"""

TRITON = """
import sys
sys.path.insert(0, sys.argv[1])
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
import triton_kernels
for f in triton_kernels.KERNELS:
    for target in (75, 80, 90):
        source = ASTSource(f, signature={"inp": "*i32", "out": "*i32", "n": "i32", "BLOCK": "constexpr"},
                           constexprs={"BLOCK": 64})
        made = triton.compile(source, target=GPUTarget("cuda", target, 32), options={"num_warps": 2})
        print(f"@@{f.__name__} sm_{target}")
        print(made.asm["ptx"])
"""


def python(work, name, packages, program):
    """Compilers that are Python packages give one module for each kernel: they are kept in one file,
    one after the other, with a line `//@@ KERNEL` before each."""
    interpreter = environment(work, name, packages)
    text = run(interpreter, "-", str(HERE), input=program)
    ways = {}
    for part in text.split("@@")[1:]:
        first, ptx = part.split("\n", 1)
        kernel, way = first.split()
        ways[way] = ways.get(way, "") + f"//@@ {kernel}\n{ptx.strip(chr(0))}\n"
    for way, ptx in ways.items():
        write(work, f"{name}.{way}", ptx)


def main():
    arguments = sys.argv[1:]
    only = ""
    if "--only" in arguments:
        at = arguments.index("--only")
        only = "".join(arguments[at + 1 : at + 2])
        del arguments[at : at + 2]
    arguments = [a for a in arguments if not a.startswith("-")]
    if len(arguments) != 1:
        sys.exit(__doc__)
    work = pathlib.Path(arguments[0]).resolve()
    (work / "ptx").mkdir(parents=True, exist_ok=True)
    jobs = [(f"clang {v}", clang, (v,)) for v in CLANGS]
    jobs += [(name, nvrtc, (name, package)) for name, package in NVRTCS]
    jobs += [(name, nvcc, (name, version)) for name, version in NVCCS]
    jobs.append(("Rust", rust, ()))
    numba = ["numba", "numba-cuda[cu12]", "nvidia-cuda-runtime-cu12"]
    jobs.append(("Numba", python, ("numba", numba, NUMBA)))
    jobs.append(("Triton", python, ("triton", ["triton", "numpy"], TRITON)))
    for name, job, more in jobs:
        if not name.startswith(only):
            continue
        try:
            job(work, *more)
        except (subprocess.CalledProcessError, RuntimeError, OSError, StopIteration) as e:
            said = getattr(e, "stderr", None) or str(e)
            print(f"left out: {name}: {said.strip()[-400:]}", flush=True)
    if "--commit" in sys.argv:
        for name in KEPT:
            made = work / "ptx" / f"{name}.ptx"
            if made.exists():
                (HERE / made.name).write_bytes(made.read_bytes())


main()
