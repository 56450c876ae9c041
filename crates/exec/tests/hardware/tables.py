"""Runs the tables of tests/ptx/tables on a real NVIDIA GPU through the CUDA driver.

The tables say what the PTX manual says; this asks the hardware. Needs libcuda and nothing
else: python3 crates/exec/tests/hardware/tables.py [FILE…]
Prints every row on which hardware and table differ; the exit status is 1 if there is one.
"""

import ctypes
import pathlib
import re
import struct
import sys

SIZES = {"pred": 1}


def size(ty):
    return SIZES.get(ty) or int(re.sub(r"\D", "", ty)) // 8


def half(text, brain):
    """Bits of an fp16 or bf16 written in decimal; the tables' decimals are exact."""
    if brain:
        bits = struct.unpack("<I", struct.pack("<f", float(text)))[0]
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 if text not in ("inf", "-inf") else bits >> 16
    return struct.unpack("<H", struct.pack("<e", float(text)))[0]


def bits(ty, text):
    n = size(ty)
    if "f" in ty and "0x" not in text:
        if n == 2:
            return half(text, ty == "bf16")
        kind = {4: ("<f", "<I"), 8: ("<d", "<Q")}[n]
        return struct.unpack(kind[1], struct.pack(kind[0], float(text)))[0]
    return int(text, 0) & ((1 << 8 * n) - 1)


def is_nan(ty, value):
    mantissa = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[ty]
    total = 8 * size(ty)
    magnitude = value & ((1 << (total - 1)) - 1)
    return magnitude > ((1 << (total - 1 - mantissa)) - 1) << mantissa


def accepted(ty, wanted, got, ulp):
    if wanted == "?":
        return True
    if wanted == "nan" and "f" in ty:
        return is_nan(ty, got)
    wanted = bits(ty, wanted)
    if ulp and "f" in ty:
        sign = 1 << (8 * size(ty) - 1)
        order = lambda x: -(x & ~sign) if x & sign else x
        return not is_nan(ty, got) and abs(order(wanted) - order(got)) <= ulp
    return wanted == got


def paragraphs(text):
    lines = []
    for number, line in enumerate(text.split("\n") + [""], 1):
        line = line.split("#")[0].strip()
        if line:
            lines.append((number, line))
        elif lines:
            yield lines
            lines = []


class Case:
    def __init__(self, lines):
        self.line, self.ulp, self.operands = lines[0][0], 0, {}
        self.rows = [(n, *(part.split() for part in l.split("->"))) for n, l in lines if "->" in l]
        code = "\n".join(l for _, l in lines if "->" not in l)
        if match := re.match(r"ulp=(\d+) ", code):
            self.ulp, code = int(match[1]), code[match.end():]

        def register(match):
            if match[2]:
                self.operands.setdefault(match[1], match[2])
            return "%" + match[1]

        self.code = re.sub(r"\{([A-Za-z]\w*)(?::(\w+))?\}", register, code)
        self.results = [o for o in self.operands if o.startswith("d")]
        self.inputs = [o for o in self.operands if not o.startswith("d")]

    def ptx(self, target):
        loads = stores = regs = ""
        for name, ty in self.operands.items():
            n = size(ty)
            regs += f".reg .{'b16' if ty in ('f16', 'bf16') else ty} %{name};\n"
            at = f"ld.param.u64 %at, [at_{name}];\nmad.wide.u32 %at, %i, {n}, %at;\n"
            if ty == "pred":
                load = f"ld.global.u8 %byte, [%at];\nsetp.ne.u16 %{name}, %byte, 0;\n"
                store = f"selp.u16 %byte, 1, 0, %{name};\nst.global.u8 [%at], %byte;\n"
            else:
                load = f"ld.global.b{8 * n} %{name}, [%at];\n"
                store = f"st.global.b{8 * n} [%at], %{name};\n"
            if name in self.results:
                stores += at + store
            else:
                loads += at + load
        params = ", ".join(f".param .u64 at_{name}" for name in self.operands)
        return (
            f".version 8.6\n.target {target}\n.address_size 64\n.visible .entry k({params})\n{{\n"
            f".reg .b32 %i;\n.reg .b64 %at;\n.reg .b16 %byte;\n{regs}mov.u32 %i, %tid.x;\n"
            f"{loads}{self.code}\n{stores}ret;\n}}\n"
        )


class Driver:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        number = ctypes.c_int()
        version = []
        for attribute in (75, 76):
            self.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, device)
            version.append(number.value)
        self.target = "sm_%d%d" % tuple(version)

    def call(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")

    def load(self, ptx):
        log = ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(5, 6)  # error log and its size
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 4096)
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), ptx.encode(), 2, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log.value.decode()}") from None
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, b"k")
        return module, kernel

    def run(self, case):
        module, kernel = self.load(case.ptx(self.target))
        count = len(case.rows)
        pointers = {}
        for name, ty in case.operands.items():
            n = size(ty)
            data = bytearray(b"\xa5" * (n * count))
            if name in case.inputs:
                column = case.inputs.index(name)
                for row, (_, given, _) in enumerate(case.rows):
                    data[row * n:row * n + n] = bits(ty, given[column]).to_bytes(n, "little")
            pointer = ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(len(data)))
            self.call("cuMemcpyHtoD_v2", pointer, bytes(data), ctypes.c_size_t(len(data)))
            pointers[name] = pointer
        arguments = (ctypes.c_void_p * len(pointers))(*(ctypes.addressof(p) for p in pointers.values()))
        self.call("cuLaunchKernel", kernel, 1, 1, 1, count, 1, 1, 0, None, arguments, None)
        self.call("cuCtxSynchronize")
        got = {}
        for name in case.results:
            n = size(case.operands[name])
            data = ctypes.create_string_buffer(n * count)
            self.call("cuMemcpyDtoH_v2", data, pointers[name], ctypes.c_size_t(n * count))
            got[name] = [int.from_bytes(data.raw[i * n:i * n + n], "little") for i in range(count)]
        for pointer in pointers.values():
            self.call("cuMemFree_v2", pointer)
        self.call("cuModuleUnload", module)
        return got


def main():
    here = pathlib.Path(__file__).resolve().parent
    paths = [pathlib.Path(p) for p in sys.argv[1:]] or sorted((here.parent / "ptx/tables").glob("*.table"))
    driver = Driver()
    cases = rows = wrong = refused = 0
    for path in paths:
        for lines in paragraphs(path.read_text()):
            case = Case(lines)
            cases += 1
            name = f"{path.name}:{case.line}"
            first = case.code.strip().split("\n")[0]
            try:
                got = driver.run(case)
            except RuntimeError as error:
                refused += 1
                print(f"{name} {first}\n    refused: {str(error)[:300]}")
                continue
            for row, (number, given, wanted) in enumerate(case.rows):
                rows += 1
                for column, result in enumerate(case.results):
                    ty, value = case.operands[result], got[result][row]
                    if not accepted(ty, wanted[column], value, case.ulp):
                        wrong += 1
                        print(f"{name} {first}\n    {number}: {' '.join(given)} -> {result} {value:#x}, table {wanted[column]}")
    print(f"{cases} paragraphs, {rows} rows on {driver.target}: {wrong} differ, {refused} refused")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
