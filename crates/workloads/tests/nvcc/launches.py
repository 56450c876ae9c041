#!/usr/bin/env python3
"""Writes the launch files of this folder, with what NumPy computes as the result."""

import numpy as np

random = np.random.default_rng(3)
NAMES = {"i4": "i32", "u4": "u32", "f4": "f32", "f8": "f64", "i1": "i8", "u2": "u16"}


def numbers(array):
    return "[" + ", ".join(repr(x) for x in array.reshape(-1).tolist()) + "]"


def write(file, kernel, inputs, result, block=64, arguments=None, more="", name=None):
    text = f'schema = 1\nptx = "{file}.ptx"\n{more}'
    for buffer, array in inputs.items():
        text += f'\n[buffers.{buffer}]\ntype = "{NAMES[array.dtype.str[1:]]}"\nvalues = {numbers(array)}\n'
    text += f'\n[buffers.out]\ntype = "{NAMES[result.dtype.str[1:]]}"\ncount = {result.size}\n'
    arguments = arguments or ", ".join(f'"{buffer}"' for buffer in [*inputs, "out"])
    text += f'\n[[steps]]\nlaunch = "{kernel}"\ngrid = 1\nblock = {block}\nargs = [{arguments}]\n'
    text += f'\n[[outputs]]\nbuffer = "out"\nexpect = {numbers(result)}\n'
    with open(f"{name or kernel}.toml", "w") as out:
        out.write(text)


def half(a):
    return a.astype(np.float16).view(np.uint16)


def brain(a):
    return (a.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def packed(a, bits):
    """Rows of small numbers in words, the first lowest."""
    each = 32 // bits
    words = a.reshape(a.shape[0], -1, each).astype(np.uint64)
    shifts = np.arange(each, dtype=np.uint64) * np.uint64(bits)
    return (words << shifts).sum(axis=2).astype(np.uint32)


def product(kernel, m, n, k, low, high, store, result, columns=False):
    a, b = random.integers(low, high, (m, k)), random.integers(low, high, (k, n))
    right = np.ascontiguousarray(b.T) if columns else b
    write("wmma", kernel, {"a": store(a), "b": store(right)}, (a @ b).astype(result), block=32)


def parts(word, count, signed):
    bits = 32 // count
    all = [word >> bits * i & (1 << bits) - 1 for i in range(count)]
    return [x - (1 << bits) if signed and x >> bits - 1 else x for x in all]


def whole(list):
    bits = 32 // len(list)
    return sum((x & (1 << bits) - 1) << bits * i for i, x in enumerate(list))


def video(a, b):
    bytes = [*zip(parts(a, 4, False), parts(b, 4, False))]
    sums, differences = whole([x + y for x, y in bytes]), whole([abs(x - y) for x, y in bytes])
    largest = whole([max(x, y) for x, y in zip(parts(a, 2, True), parts(b, 2, True))])
    return (sums ^ differences ^ largest) + (a >> 8 & 255) + (b & 255) & 0xFFFFFFFF


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def ints(function, count=64):
    return np.array([function(t) for t in range(count)], dtype=np.int32)


product("half_16x16x16", 16, 16, 16, -8, 8, half, np.float32, columns=True)
product("bf16_32x8x16", 32, 8, 16, -8, 8, brain, np.float32)
product("tf32_16x16x8", 16, 16, 8, -8, 8, lambda a: a.astype(np.float32), np.float32)
product("s8_8x32x16", 8, 32, 16, -128, 128, lambda a: a.astype(np.int8), np.int32)
product("u4_8x8x32", 8, 8, 32, 0, 16, lambda a: packed(a, 4), np.int32, columns=True)
product("b1_8x8x128", 8, 8, 128, 0, 2, lambda a: packed(a, 1), np.int32, columns=True)
product("f64_8x8x4", 8, 8, 4, -9, 9, lambda a: a.astype(float), float, columns=True)

write("calls", "recursion", {}, ints(lambda t: fibonacci(t % 12)))
write("calls", "heap", {}, ints(lambda t: sum(i + t for i in range(t % 5 + 1))))
write("calls", "indirect", {}, ints(lambda t: [t + 3, t * 5, -t][t % 3]))
write("calls", "virtuals", {}, ints(lambda t: t * t if t & 1 else 2 * t))

image = np.arange(16, dtype=np.float32) * np.float32(1.5)
at = lambda x, y: image[min(y, 3) * 4 + min(x, 3)]
four = [sum(at(t % 4 + i, t // 4 + j) for i in (0, 1) for j in (0, 1)) for t in range(16)]
result = np.stack([4 * image, np.array(four)], axis=1).astype(np.float32)
planes = "".join(
    f'\n[textures.{name}]\nbuffer = "{buffer}"\nsize = [4, 4]\n' for name, buffer in (("t", "image"), ("s", "plane"))
)
arguments = '{ texture = "t" }, { texture = "s" }, "out"'
write("textures", "fetches", {"image": image, "plane": image}, result, 16, arguments, planes)

data = random.integers(0, 1000, 128).astype(np.int32)
write("async", "groups", {"in": data}, ints(lambda t: data[63 - t] + data[64 + (t + 1) % 64]))
write("async", "barriers", {"in": data}, ints(lambda t: data[63 - t]))

matrix = random.integers(0, 65536, (8, 8)).astype(np.uint16)
write("fragments", "moves", {"in": matrix}, np.ascontiguousarray(matrix.T).reshape(-1).view(np.uint32), 32)
words = random.integers(0, 2**32, 64, dtype=np.uint64).astype(np.uint32)
seen = [video(int(words[t]), int(words[t + 32])) for t in range(32)]
write("fragments", "video", {"in": words}, np.array(seen, dtype=np.uint32), 32)

floats = (random.integers(-64, 64, (32, 2)) / 8).astype(np.float32)
both = (floats * floats + floats + floats) * floats
write("pairs", "pairs", {"in": floats}, np.maximum(both.max(axis=1), floats[:, 0]), 32)

write("externs", "alone", {}, ints(lambda t: t))
write("externs", "needs", {}, ints(lambda t: t + 100), more='link = ["other.ptx"]\n')
