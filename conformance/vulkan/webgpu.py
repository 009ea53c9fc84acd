#!/usr/bin/env python3
"""Computes with WebGPU, and compares with numpy. Run it with a4emu as the GPU of turnip:

    pip install wgpu numpy
    VK_DRIVER_FILES=/usr/share/vulkan/icd.d/freedreno_icd.json a4emu run --gpu 630 -- python3 conformance/vulkan/webgpu.py
"""
import sys

import numpy as np
import wgpu

adapter = wgpu.gpu.enumerate_adapters_sync()[0]
device = adapter.request_device_sync(required_features=[f for f in adapter.features if f == "shader-int64"])
random = np.random.default_rng(5)
checks = []


def check(function):
    checks.append(function)
    return function


def buffer(data=None, words=0, usage=""):
    """A storage buffer of an array, or of zeros."""
    data = np.zeros(words, np.uint32) if data is None else data
    return device.create_buffer_with_data(data=np.ascontiguousarray(data), usage="STORAGE|COPY_SRC|COPY_DST" + usage)


def read(source, dtype):
    return np.frombuffer(device.queue.read_buffer(source), dtype=dtype)


def run(bindings, body, resources, groups, size="64", before=""):
    """Runs a shader of `bindings` (WGSL types) and `body`. `groups` are three numbers, or a buffer of them."""
    declared = "\n".join(f"@group(0) @binding({i}) {text};" for i, text in enumerate(bindings))
    inputs = "@builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>"
    code = f"{declared}\n{before}\n@compute @workgroup_size({size}) fn main({inputs}) {{ {body} }}"
    module = device.create_shader_module(code=code)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    whole = lambda it: {"buffer": it, "offset": 0, "size": it.size} if isinstance(it, wgpu.GPUBuffer) else it
    entries = [{"binding": i, "resource": whole(it)} for i, it in enumerate(resources)]
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
    encoder = device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, group)
    if isinstance(groups, wgpu.GPUBuffer):
        compute.dispatch_workgroups_indirect(groups, 0)
    else:
        compute.dispatch_workgroups(*groups)
    compute.end()
    device.queue.submit([encoder.finish()])


def of(ty, access="read"):
    return f"var<storage,{access}> {{}}: array<{ty}>"


A, B = (of("{ty}").format(name, ty="{ty}") for name in "ab")
OUT = of("{ty}", "read_write").format("o", ty="{ty}")


def bind(ty, *which):
    return [text.replace("{ty}", ty) for text in which]


def elementwise(ty, dtype, expressions, a, b=None):
    """The values of `expressions` of x and y, for each element of two arrays: one row an element."""
    stores = "".join(f"o[i+{k}u]={text};" for k, text in enumerate(expressions))
    b = a if b is None else b
    out = buffer(words=a.size * len(expressions) * np.dtype(dtype).itemsize // 4)
    body = f"let x=a[g.x]; let y=b[g.x]; let i=g.x*{len(expressions)}u; {stores}"
    run(bind(ty, A, B, OUT), body, [buffer(a), buffer(b), out], (a.size // 64, 1, 1))
    return read(out, dtype).reshape(a.size, -1)


@check
def products_of_matrices_through_shared_memory():
    n = 96
    a, b = random.standard_normal((2, n, n)).astype(np.float32)
    shared = "var<workgroup> p: array<array<f32,16>,16>; var<workgroup> q: array<array<f32,16>,16>;"
    body = """var s = 0.0;
        for (var t = 0u; t < 6u; t++) {
            p[l.y][l.x] = a[g.y*96u+t*16u+l.x]; q[l.y][l.x] = b[(t*16u+l.y)*96u+g.x];
            workgroupBarrier();
            for (var k = 0u; k < 16u; k++) { s += p[l.y][k]*q[k][l.x]; }
            workgroupBarrier();
        }
        o[g.y*96u+g.x] = s;"""
    out = buffer(words=n * n)
    run(bind("f32", A, B, OUT), body, [buffer(a), buffer(b), out], (6, 6, 1), "16,16", shared)
    return np.allclose(read(out, np.float32).reshape(n, n), a @ b, atol=1e-3)


@check
def atomics_of_shared_and_global_memory():
    values = random.integers(0, 256, 4096).astype(np.uint32)
    bindings = bind("u32", A) + [OUT.replace("{ty}", "atomic<u32>")]
    body = """let i = l.x; atomicStore(&h[i], 0u); workgroupBarrier(); atomicAdd(&h[a[g.x]], 1u); workgroupBarrier();
        atomicAdd(&o[i], atomicLoad(&h[i]));"""
    out = buffer(words=256)
    run(bindings, body, [buffer(values), out], (16, 1, 1), "256", "var<workgroup> h: array<atomic<u32>,256>;")
    return np.array_equal(read(out, np.uint32), np.bincount(values, minlength=256))


@check
def all_atomics():
    body = """let v = i32(g.x)-20; atomicMin(&o[0], v); atomicMax(&o[1], v); atomicAnd(&o[2], ~(1<<(g.x%32u)));
        atomicOr(&o[3], 1<<(g.x%32u)); atomicXor(&o[4], v); atomicSub(&o[5], v);
        let e = atomicCompareExchangeWeak(&o[6], 0, v+100); atomicAdd(&o[7], 1);"""
    out = buffer(np.array([0, 0, -1, 0, 0, 0, 0, 0], np.int32))
    run([OUT.replace("{ty}", "atomic<i32>")], body, [out], (2, 1, 1))
    values = np.arange(128) - 20
    expected = [-20, 107, 0, -1, np.bitwise_xor.reduce(values), -values.sum(), 80, 128]
    return np.array_equal(read(out, np.int32), expected)


@check
def functions_of_floats():
    x = np.linspace(-6, 6, 1024).astype(np.float32)
    near = abs(x) + np.float32(0.1)
    t = np.clip((x + 2) / 4, 0, 1)
    functions = {
        "sin(x)": np.sin(x), "cos(x)": np.cos(x), "exp(x)": np.exp(x), "exp2(x)": np.exp2(x), "log(abs(x)+0.1)": np.log(near),
        "log2(abs(x)+0.1)": np.log2(near), "sqrt(abs(x))": np.sqrt(abs(x)), "inverseSqrt(abs(x)+0.1)": 1 / np.sqrt(near),
        "floor(x)": np.floor(x), "ceil(x)": np.ceil(x), "round(x)": np.round(x), "trunc(x)": np.trunc(x), "fract(x)": x - np.floor(x),
        "sign(x)": np.sign(x), "atan(x)": np.arctan(x), "atan2(x,2.0)": np.arctan2(x, 2), "tanh(x)": np.tanh(x),
        "pow(abs(x),1.5)": abs(x)**1.5, "x%1.5": np.fmod(x, 1.5), "fma(x,2.0,1.0)": 2 * x + 1, "clamp(x,-1.0,1.0)": np.clip(x, -1, 1),
        "smoothstep(-2.0,2.0,x)": t * t * (3 - 2 * t), "step(0.5,x)": x >= 0.5, "mix(1.0,3.0,x)": 1 + 2 * x,
    }
    got = elementwise("f32", np.float32, list(functions), x)
    return np.allclose(got.T, list(functions.values()), rtol=2e-4, atol=2e-4)


@check
def functions_of_integers():
    x, y = random.integers(0, 2**32, 512).astype(np.uint32), random.integers(1, 2**16, 512).astype(np.uint32)
    wide, signed = x.astype(np.uint64), x.astype(np.int32).astype(np.int64)
    quotient = np.sign(signed) * (abs(signed) // y)
    of_bytes = lambda it: np.stack([it >> 8 * k & 255 for k in range(4)]).astype(np.int64)
    of_signed = lambda it: (of_bytes(it) ^ 128) - 128
    each = lambda function: np.array([function(int(it)) for it in x], np.int64)
    half = lambda it: it.astype(np.float32).astype(np.float16).view(np.uint16).astype(np.int64)
    functions = {
        "x/y": x // y, "x%y": x % y, "x*y": wide * y, "x<<(y%32u)": wide << y % 32, "x>>(y%32u)": x >> y % 32,
        "countOneBits(x)": each(int.bit_count), "countLeadingZeros(x)": each(lambda it: 32 - it.bit_length()),
        "countTrailingZeros(x)": each(lambda it: (it & -it).bit_length() - 1), "reverseBits(x)": each(lambda it: int(f"{it:032b}"[::-1], 2)),
        "firstLeadingBit(x)": each(lambda it: it.bit_length() - 1), "extractBits(x,5u,9u)": x >> 5 & 511,
        "insertBits(x,y,3u,7u)": x & ~np.uint32(127 << 3) | (y & 127) << 3, "u32(i32(x)/i32(y))": quotient,
        "u32(i32(x)%i32(y))": signed - quotient * y, "u32(i32(x)>>(y%32u))": signed >> y % 32,
        "dot4U8Packed(x,y)": (of_bytes(x) * of_bytes(y)).sum(0), "u32(dot4I8Packed(x,y))": (of_signed(x) * of_signed(y)).sum(0),
        "pack2x16float(vec2<f32>(f32(y),f32(y)*0.5))": half(y) | half(y * np.float32(0.5)) << 16,
    }
    got = elementwise("u32", np.uint32, list(functions), x, y)
    return np.array_equal(got.T, [np.asarray(it).astype(np.int64) & 0xFFFFFFFF for it in functions.values()])


@check
def integers_of_64_bits():
    if "shader-int64" not in device.features:
        return True
    x, y = random.integers(0, 2**63, 64).astype(np.uint64), random.integers(1, 2**40, 64).astype(np.uint64)
    got = elementwise("u64", np.uint64, ["x+y", "x*y", "x/y", "x>>(u32(y)&63u)", "x^(y<<7u)"], x, y)
    with np.errstate(over="ignore"):
        return np.array_equal(got.T, [x + y, x * y, x // y, x >> (y & np.uint64(63)), x ^ y << np.uint64(7)])


@check
def counts_of_groups_from_memory():
    out = buffer(words=192)
    run(bind("u32", OUT), "o[g.x+g.y*96u] = g.x+g.y*1000u+n.x*100000u+n.y*1000000u;", [out],
        buffer(np.array([3, 2, 1], np.uint32), usage="|INDIRECT"), "32")
    x, y = np.meshgrid(np.arange(96), np.arange(2))
    return np.array_equal(read(out, np.uint32), (x + y * 1000 + 2300000).ravel())


@check
def copies_and_clears_of_buffers():
    values = random.integers(0, 2**32, 5000).astype(np.uint32)
    source, target = buffer(values), buffer(words=5000)
    encoder = device.create_command_encoder()
    encoder.copy_buffer_to_buffer(source, 400, target, 148, 12004)
    encoder.clear_buffer(target, 200, 240)
    device.queue.submit([encoder.finish()])
    expected = np.zeros(5000, np.uint32)
    expected[37:3038] = values[100:3101]
    expected[50:110] = 0
    return np.array_equal(read(target, np.uint32), expected)


@check
def loops_that_lanes_leave_at_different_times():
    before = """fn f(n: u32) -> u32 { var s = 0u; var x = n;
        loop { if (x == 1u || s > 500u) { break; } if ((x&1u) == 0u) { x = x/2u; } else { x = 3u*x+1u; } s++; } return s; }"""
    body = """switch (g.x%4u) { case 0u: { o[g.x] = f(g.x+1u); } case 1u: { o[g.x] = f(g.x+7u)*2u; }
        default: { o[g.x] = f(g.x*3u+1u)+5u; } }"""
    out = buffer(words=512)
    run(bind("u32", OUT), body, [out], (4, 1, 1), "128", before)

    def steps(x):
        count = 0
        while x != 1 and count <= 500:
            x, count = (x // 2 if x % 2 == 0 else 3 * x + 1), count + 1
        return count

    expected = [steps(i + 1) if i % 4 == 0 else steps(i + 7) * 2 if i % 4 == 1 else steps(i * 3 + 1) + 5 for i in range(512)]
    return np.array_equal(read(out, np.uint32), expected)


@check
def arrays_of_an_invocation():
    body = """var t: array<u32,64>; for (var i = 0u; i < 64u; i++) { t[(i*7u+g.x)%64u] = i*g.x; }
        var s = 0u; for (var i = 0u; i < 64u; i++) { s = s*31u+t[(i*g.x)%64u]; } o[g.x] = s;"""
    out = buffer(words=256)
    run(bind("u32", OUT), body, [out], (4, 1, 1))
    expected = []
    for i in range(256):
        table = {(k * 7 + i) % 64: k * i for k in range(64)}
        total = 0
        for k in range(64):
            total = total * 31 + table[k * i % 64] & 0xFFFFFFFF
        expected.append(total)
    return np.array_equal(read(out, np.uint32), expected)


def texture(format, size, levels=1, dimension="2d", usage="TEXTURE_BINDING|COPY_SRC|COPY_DST"):
    return device.create_texture(size=size, format=format, mip_level_count=levels, dimension=dimension, usage=usage)


def upload(target, texels, level=0):
    depth, height, width = texels.shape[:3]
    layout = {"offset": 0, "bytes_per_row": texels.nbytes // (depth * height), "rows_per_image": height}
    place = {"texture": target, "mip_level": level, "origin": (0, 0, 0)}
    device.queue.write_texture(place, np.ascontiguousarray(texels), layout, (width, height, depth))


def fetched(format, ty, texels, dimension="2d"):
    """The texels as a shader reads them: x to w as 32-bit numbers."""
    depth, height, width = texels.shape[:3]
    target, out = texture(format, (width, height, depth), dimension=dimension), buffer(words=texels.shape[0] * height * width * 4)
    upload(target, texels)
    at = "vec3<i32>(g)" if dimension == "3d" else "vec2<i32>(g.xy)"
    body = f"if (g.x < {width}u && g.y < {height}u) {{ o[(g.z*{height}u+g.y)*{width}u+g.x] = textureLoad(t, {at}, 0); }}"
    run([f"var t: texture_{dimension}<{ty}>", "var<storage,read_write> o: array<vec4<%s>>" % ty], body, [target.create_view(), out],
        (width // 8 + 1, height // 8 + 1, depth), "8,8")
    return read(out, {"f32": np.float32, "u32": np.uint32, "i32": np.int32}[ty]).reshape(depth, height, width, 4)


# Format, type in the shader, type in memory, components, range, what one is.
for row in [("r8unorm", "f32", np.uint8, 1, 0, 256, 255), ("rg8unorm", "f32", np.uint8, 2, 0, 256, 255),
            ("rgba8unorm", "f32", np.uint8, 4, 0, 256, 255), ("rgba8uint", "u32", np.uint8, 4, 0, 256, 1),
            ("rgba8snorm", "f32", np.int8, 4, -127, 128, 127), ("r16uint", "u32", np.uint16, 1, 0, 65536, 1),
            ("rg16sint", "i32", np.int16, 2, -32768, 32768, 1), ("rgba16float", "f32", np.float16, 4, -4, 4, 1),
            ("r32float", "f32", np.float32, 1, -4, 4, 1), ("rg32uint", "u32", np.uint32, 2, 0, 2**31, 1),
            ("rgba32float", "f32", np.float32, 4, -4, 4, 1)]:
    def texels_of_a_format(row=row):
        format, ty, dtype, components, low, high, one = row
        shape = (1, 37, 70, components)
        texels = (random.integers(low, high, shape) if np.issubdtype(dtype, np.integer) else random.uniform(low, high, shape)).astype(dtype)
        return np.allclose(fetched(format, ty, texels)[..., :components], texels / np.float64(one), atol=1e-6)

    texels_of_a_format.__name__ += " " + row[0]
    check(texels_of_a_format)


@check
def slices():
    texels = random.integers(0, 256, (5, 20, 33, 4)).astype(np.uint8)
    return np.array_equal(fetched("rgba8uint", "u32", texels, "3d"), texels)


@check
def stores_to_layers():
    width, height, layers = 40, 24, 3
    target = texture("r32uint", (width, height, layers), usage="STORAGE_BINDING|TEXTURE_BINDING")
    view, out = target.create_view(dimension="2d-array"), buffer(words=width * height * layers)
    run(["var t: texture_storage_2d_array<r32uint, write>"],
        "textureStore(t, vec2<i32>(g.xy), i32(g.z), vec4<u32>(g.x+g.y*100u+g.z*10000u));", [view], (5, 3, layers), "8,8")
    run(["var t: texture_2d_array<u32>"] + bind("u32", OUT),
        "o[(g.z*24u+g.y)*40u+g.x] = textureLoad(t, vec2<i32>(g.xy), i32(g.z), 0).x;", [view, out], (5, 3, layers), "8,8")
    z, y, x = np.meshgrid(np.arange(layers), np.arange(height), np.arange(width), indexing="ij")
    return np.array_equal(read(out, np.uint32), (x + y * 100 + z * 10000).ravel())


@check
def filtered_samples():
    side = 16
    texels = random.integers(0, 256, (1, side, side, 4)).astype(np.uint8)
    target, out = texture("rgba8unorm", (side, side, 1)), buffer(words=32 * 32 * 4)
    upload(target, texels)
    sampler = device.create_sampler(mag_filter="linear", min_filter="linear", address_mode_u="repeat", address_mode_v="clamp-to-edge")
    run(["var t: texture_2d<f32>", "var s: sampler", "var<storage,read_write> o: array<vec4<f32>>"],
        "o[g.y*32u+g.x] = textureSampleLevel(t, s, (vec2<f32>(g.xy)+0.3)/24.0-0.2, 0.0);", [target.create_view(), sampler, out],
        (4, 4, 1), "8,8")
    place = ((np.arange(32) + 0.3) / 24 - 0.2) * side - 0.5
    first, share = np.floor(place).astype(int), place - np.floor(place)
    right, down = (first[:, None] + [0, 1]) % side, (first[:, None] + [0, 1]).clip(0, side - 1)
    weights = np.stack([1 - share, share], 1)
    expected = np.einsum("yj,xi,yjxic->yxc", weights, weights, texels[0][down[:, :, None, None], right] / 255)
    return np.allclose(read(out, np.float32).reshape(32, 32, 4), expected, atol=0.01)


@check
def levels():
    target, out = texture("rgba8uint", (64, 64, 1), 4), buffer(words=4 * 4096)
    texels = [random.integers(0, 256, (1, 64 >> level, 64 >> level, 4)).astype(np.uint8) for level in range(4)]
    for level, it in enumerate(texels):
        upload(target, it, level)
    body = """let w = 64u>>g.z; if (g.x < w && g.y < w) { let c = textureLoad(t, vec2<i32>(g.xy), i32(g.z));
        o[g.z*4096u+g.y*64u+g.x] = c.x|c.y<<8u|c.z<<16u|c.w<<24u; }"""
    run(["var t: texture_2d<u32>"] + bind("u32", OUT), body, [target.create_view(), out], (8, 8, 4), "8,8")
    got = read(out, np.uint32).reshape(4, 64, 64)
    return all(np.array_equal(got[n, :64 >> n, :64 >> n], it.view(np.uint32)[0, ..., 0]) for n, it in enumerate(texels))


failed = [function.__name__ for function in checks if not function()]
print(f"{adapter.info['device']}: {len(checks) - len(failed)} of {len(checks)} are right", *failed, sep="\n  ")
sys.exit(bool(failed))
