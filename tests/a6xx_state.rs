//! What `show` and `diff` say of the state of draws and dispatches of an A6xx. The expected values are what cffdump of
//! Mesa 25.0.7 prints for the same streams.

use std::fs;
use std::path::{Path, PathBuf};

use a4emu_inspect::asm::{Disk, capture_of};
use a4emu_support::folders::Folders;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::a6xx::recorded;
use crate::captures::root;
use crate::other_chips::run;
use crate::picture::Picture;

/// A capture of `captures/a6xx-draw.a4`, with `edit` done to the source.
fn made(folder: &Path, edit: [&str; 2]) -> PathBuf {
    edited(folder, &[edit])
}

/// A capture of `captures/a6xx-draw.a4`, with `edits` done to the source.
fn edited(folder: &Path, edits: &[[&str; 2]]) -> PathBuf {
    let mut source = fs::read_to_string(root().join("captures/a6xx-draw.a4")).unwrap();
    for edit in edits {
        assert!(source.contains(edit[0]), "{edit:?}");
        source = source.replacen(edit[0], edit[1], 1);
    }
    let (own, path) = (folder.join("own.a4"), folder.join("own.rd"));
    fs::write(&own, source).unwrap();
    let capture = capture_of(&own, &mut Disk::new(Folders::around(&own, &[]))).unwrap();
    fs::write(&path, capture).unwrap();
    path
}

const AS_IT_IS: [&str; 2] = ["", ""];

fn shown(capture: &Path, draw: &str) -> Value {
    let folder = TempDir::new().unwrap();
    let ended = run(&format!("show IT --draw {draw} --json"), capture, folder.path());
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended}"))
}

/// The object `value` without the keys that are not in `like`.
fn alike(value: &Value, like: &Value) -> Value {
    match (value, like) {
        (Value::Object(value), Value::Object(like)) => {
            let found =
                like.iter().filter_map(|(key, like)| Some((key.clone(), alike(value.get(key)?, like))));
            Value::Object(found.collect())
        }
        (Value::Array(value), Value::Array(like)) if value.len() == like.len() => {
            value.iter().zip(like).map(|(value, like)| alike(value, like)).collect()
        }
        _ => value.clone(),
    }
}

fn holds(value: &Value, expected: &Value) {
    assert_eq!(&alike(value, expected), expected);
}

#[test]
fn targets_are_in_memory_or_in_a_tile() {
    let folder = TempDir::new().unwrap();
    let capture = made(folder.path(), AS_IT_IS);
    let blend = json!({
        "rgb": { "op": "BLEND_DST_PLUS_SRC", "src": "FACTOR_SRC_ALPHA", "dst": "FACTOR_ONE" },
        "alpha": { "op": "BLEND_MAX_DST_SRC", "src": "FACTOR_ZERO", "dst": "FACTOR_CONSTANT_COLOR" },
    });
    let face = |func: &str, ops: [&str; 3], values: [u32; 3]| {
        json!({ "func": func, "fail": ops[0], "zfail": ops[1], "zpass": ops[2],
            "reference": values[0], "mask": values[1], "write_mask": values[2] })
    };
    let expected = |place: &dyn Fn(u64, u64) -> Value| {
        let at = |memory: u64, tile: u64, mut value: Value| {
            let place = place(memory, tile).as_object().unwrap().clone();
            value.as_object_mut().unwrap().extend(place);
            value
        };
        json!({
            "targets": [
                at(0x1_0020_0000, 0, json!({ "index": 0, "format": "FMT6_8_8_8_8_UNORM", "swap": "WZYX",
                    "tile_mode": "TILE6_3", "srgb": false, "pitch": 256, "register": "r0.x", "write_mask": "rgb",
                    "blend": blend, "rop": null })),
                at(0x1_0021_0000, 0x3000, json!({ "index": 1, "format": "FMT6_16_16_16_16_FLOAT", "swap": "WXYZ",
                    "tile_mode": "TILE6_LINEAR", "srgb": true, "pitch": 512, "register": "r2.x", "write_mask": "rb",
                    "blend": null, "rop": "ROP_XOR" })),
            ],
            "depth": at(0x1_0022_0000, 0x5000, json!({ "format": "DEPTH6_32", "pitch": 256, "test": true, "write": true,
                "func": "FUNC_GEQUAL" })),
            "stencil": {
                "separate": at(0x1_0023_0000, 0x7000, json!({ "pitch": 64 })),
                "front": face("FUNC_EQUAL", ["STENCIL_KEEP", "STENCIL_KEEP", "STENCIL_REPLACE"], [3, 5, 7]),
                "back": face("FUNC_ALWAYS", ["STENCIL_ZERO", "STENCIL_INVERT", "STENCIL_KEEP"], [4, 6, 8]),
            },
            "alpha_test": { "func": "FUNC_GREATER", "reference": 0.2 },
            "blend_constant": [0.0, 0.5, 0.0, 0.0],
        })
    };
    let in_memory = shown(&capture, "f0");
    holds(&in_memory, &expected(&|memory, _| json!({ "address": memory })));
    holds(
        &in_memory,
        &json!({ "tile": null, "frame": [64, 32], "pass": "bypass",
        "viewport": { "scale": [31.0, 15.0, 0.25], "offset": [32.0, 16.0, 0.5] },
        "scissors": { "screen": [8, 4, 32, 16], "window": [0, 0, 64, 32], "effective": [8, 4, 32, 16] } }),
    );
    let in_tile = shown(&capture, "f1");
    holds(&in_tile, &expected(&|_, tile| json!({ "gmem": tile })));
    holds(
        &in_tile,
        &json!({ "tile": { "x": 32, "y": 16, "width": 32, "height": 16 }, "frame": null,
        "pass": "gmem", "scissors": { "effective": [32, 16, 8, 4] } }),
    );
}

#[test]
fn vertex_buffers_and_indices_have_wide_addresses() {
    let folder = TempDir::new().unwrap();
    let draw = shown(&made(folder.path(), AS_IT_IS), "f0");
    holds(
        &draw,
        &json!({
            "vertex_inputs": [
                { "index": 0, "address": 0x1_0024_0000_u64, "bytes": 48, "stride": 12, "divisor": 0,
                  "format": "FMT6_32_32_32_FLOAT", "element_bytes": 12, "swap": "WZYX", "integer": false,
                  "register": "r0.x", "components": "xyz" },
                { "index": 1, "address": 0x1_0024_1004_u64, "bytes": 12, "stride": 4, "divisor": 2,
                  "format": "FMT6_8_8_8_8_UINT", "element_bytes": 4, "swap": "ZYXW", "integer": true,
                  "register": "r1.x", "components": "xyzw" },
            ],
            "indices": { "base_vertex": -2, "first_instance": 5, "restart": 0xffff,
                "buffer": { "address": 0x1_0024_2000_u64, "bytes": 16, "width": 2, "first": 1 } },
            "packet": 0x1_002a_0284_u64,
        }),
    );
}

#[test]
fn descriptors_are_found_by_what_programs_name() {
    let folder = TempDir::new().unwrap();
    let capture = made(folder.path(), AS_IT_IS);
    let fragment = &shown(&capture, "f0")["shaders"][1];
    let bindless = json!({ "base": 1, "slot": 2, "address": 0x1_0025_2000_u64, "kind": "cube", "format": "FMT6_ASTC_4x4",
        "width": 64, "height": 64, "depth": 1, "levels": 1, "pitch": 1024, "layer_bytes": 0x4000, "bytes": 6 * 0x4000,
        "tiling": "linear", "srgb": false, "swap": "WZYX", "swizzle": "xyzw", "samplers": [] });
    holds(
        fragment,
        &json!({
            "stage": "FS",
            "textures": [
                { "slot": 1, "address": 0x1_0025_0000_u64, "kind": "2D", "format": "FMT6_8_8_8_8_UNORM", "width": 32,
                  "height": 16, "depth": 2, "levels": 3, "pitch": 256, "layer_bytes": 0x2000, "bytes": 0x4000,
                  "tiling": "tiled", "srgb": true, "swap": "WXYZ", "swizzle": "zyx1", "samplers": [0] },
                bindless,
            ],
            "samplers": [
                { "slot": 0, "mag": "A6XX_TEX_LINEAR", "min": "A6XX_TEX_NEAREST", "mip": "NEAREST",
                  "wrap": ["A6XX_TEX_CLAMP_TO_EDGE", "A6XX_TEX_MIRROR_REPEAT", "A6XX_TEX_REPEAT"],
                  "compare": "FUNC_LESS", "lod_bias": 0.5, "min_lod": 1.0, "max_lod": 3.0, "unnormalized": false },
                { "base": 1, "slot": 3, "mag": "A6XX_TEX_NEAREST", "min": "A6XX_TEX_LINEAR", "mip": "LINEAR",
                  "wrap": ["A6XX_TEX_REPEAT", "A6XX_TEX_REPEAT", "A6XX_TEX_CLAMP_TO_BORDER"], "unnormalized": true },
            ],
            "buffers": [
                { "slot": 1, "kind": "buffer", "address": 0x1_0026_0000_u64, "format": "FMT6_32_32_UINT",
                  "size": [0x8005, 1, 1], "cpp": 8, "pitch": 0, "bytes": 8 * 0x8005 },
                { "base": 0, "slot": 1, "kind": "3D", "address": 0x1_0025_1000_u64, "format": "FMT6_32_FLOAT",
                  "size": [12, 7, 3], "cpp": 4, "pitch": 64, "layer_bytes": 0x1000, "bytes": 3 * 0x1000 },
                { "slot": 2, "kind": "constants", "address": 0x1_0027_0000_u64, "size": [6, 1, 1], "bytes": 96 },
            ],
        }),
    );
    // The same program as a dispatch has other bindings, and nothing is prefetched.
    let compute = &shown(&capture, "f2")["shaders"][0];
    holds(
        compute,
        &json!({
            "stage": "CS",
            "textures": [bindless],
            "buffers": [
                { "slot": 1, "address": 0x1_0026_0100_u64, "format": "FMT6_16_SINT", "size": [77, 1, 1], "cpp": 2 },
                { "base": 0, "slot": 1, "kind": "2D", "address": 0x1_0025_3000_u64, "format": "FMT6_8_UINT",
                  "size": [21, 9, 1], "bytes": 128 * 9 },
                { "slot": 2, "kind": "constants", "address": 0, "size": [0, 1, 1] },
            ],
        }),
    );
}

/// Texels in rows are read as the texture unit reads them: `show` writes a picture, and `memory` their values and places.
/// Texels in tiles are not read.
#[test]
fn texels_in_rows_are_shown() {
    let folder = TempDir::new().unwrap();
    let texels = [
        "texels @ 0x100250000 { zero 0x4000 }",
        "texels @ 0x100250000 { u32 0x04030201, 0x08070605 zero 0x3ff8 }",
    ];
    let linear = ["TILE_MODE = TILE6_3 | SRGB", "SRGB"];
    let capture = edited(folder.path(), &[texels, linear]);
    let texture = &shown(&capture, "f0")["shaders"][1]["textures"][0];
    assert_eq!((&texture["tiling"], &texture["unsupported"]), (&json!("linear"), &Value::Null));
    let ended = run("show IT --draw f0 --textures FOLDER -q", &capture, folder.path());
    let file = folder.path().join("FS1-level0-layer0.png");
    assert!(file.exists(), "{ended}");
    // B, G, R and A in memory; the descriptor exchanges red and blue again, and makes alpha one.
    let picture = Picture::read(&file);
    assert_eq!([picture.pixel([0, 0]), picture.pixel([1, 0])], [[1, 2, 3, 255], [5, 6, 7, 255]]);
    // A name with spaces is one argument.
    let memory = |rest: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_a4emu"));
        let output = command.arg("memory").arg(&capture).args(rest).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let listed = memory(&["texture FS 1+8", "--draw", "f0", "--before", "--json"]);
    assert_eq!(listed["form"], "FMT6_8_8_8_8_UNORM");
    let bytes = |row: &Value| -> Vec<f32> {
        let values = row["values"].as_array().unwrap().iter();
        values.map(|value| (value.as_str().unwrap().parse::<f32>().unwrap() * 255.0).round()).collect()
    };
    let rows: Vec<(Value, Vec<f32>)> =
        listed["rows"].as_array().unwrap().iter().map(|row| (row["element"].clone(), bytes(row))).collect();
    let expected = [("0,0 layer 0", [3.0, 2.0, 1.0, 4.0]), ("1,0 layer 0", [7.0, 6.0, 5.0, 8.0])];
    assert_eq!(rows, expected.map(|(element, values)| (json!(element), values.to_vec())));
    // Vertices are read by the formats of the chip, too.
    let vertices = memory(&["vertex 0+12", "--draw", "f0", "--json"]);
    assert_eq!(vertices["rows"][0]["values"], json!(["0.0", "0.0", "0.5"]));
    // Tiles whose order is not known, and those of a chip that are compressed, are not read.
    let unsupported = |word: &str| {
        let capture = edited(folder.path(), &[["TILE_MODE = TILE6_3 | SRGB", word]]);
        shown(&capture, "f0")["shaders"][1]["textures"][0]["unsupported"].clone()
    };
    assert_eq!(unsupported("TILE_MODE = TILE6_3 | SRGB"), Value::Null);
    assert_eq!(unsupported("TILE_MODE = TILE6_2 | SRGB"), json!("TILE6_2 tiles, not read"));
}

/// The same addresses with and without the bits above 32 are two draws.
#[test]
fn differences_of_state_are_found() {
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let first = made(one.path(), AS_IT_IS);
    let edits = [
        (["RB_MRT[1].PITCH = 512", "RB_MRT[1].PITCH = 576"], "576"),
        (["MIPLVLS = 2", "MIPLVLS = 1"], "texture 1"),
        (["FMT6_ASTC_4x4", "FMT6_ASTC_5x5"], "texture base1.2"),
        (["WIDTH = 12 |", "WIDTH = 13 |"], "buffer base0.1"),
        (["u32 uniforms & 0xffffffff, 6 << 17", "u32 uniforms & 0xffffffff, 7 << 17"], "constant buffer 2"),
        (["OFFSET = 4", "OFFSET = 8"], "VFD_DECODE[1].INSTR.OFFSET"),
    ];
    for (edit, what) in edits {
        let second = made(other.path(), edit);
        let ended = run(&format!("diff IT {}", second.display()), &first, one.path());
        assert!(ended.code == Some(1) && ended.stdout.contains(what), "{edit:?}: {ended}");
    }
}

#[test]
fn recorded_draws_have_the_state_that_cffdump_prints() {
    let of = |name: &str, draw: &str, expected: Value| {
        let path = recorded().into_iter().find(|path| path.to_str().unwrap().contains(name));
        let Some(path) = path else { return eprintln!("\n*** SKIPPED: no capture {name} of an A630 ***\n") };
        holds(&shown(&path, draw), &expected);
    };
    let tiles = json!([{ "index": 0, "format": "FMT6_8_8_8_8_UNORM", "gmem": 0, "pitch": 2560, "tile_mode": "TILE6_3" }]);
    let first_tile = json!({ "x": 0, "y": 0, "width": 640, "height": 160 });
    // The runs before these only find the bins.
    of(
        "glmark2-ideas",
        "230",
        json!({
            "frame_draw": 1,
            "tile": first_tile,
            "vertex_inputs": [{ "address": 0xff7f_2500_u64, "bytes": 2076, "stride": 12, "format": "FMT6_32_32_32_FLOAT",
                "register": "r0.x", "components": "xyz" }],
            "indices": { "buffer": { "address": 0xff7f_2280_u64, "width": 2, "bytes": 0x270, "first": 0 } },
            "depth": { "format": "DEPTH6_24_8", "gmem": 0x64000, "pitch": 2560, "test": false },
            "targets": tiles,
        }),
    );
    let texture = json!({ "slot": 0, "address": 0xfec6_c000_u64, "format": "FMT6_Z24_UNORM_S8_UINT", "width": 1280,
        "height": 960, "depth": 1, "levels": 1, "pitch": 5120, "layer_bytes": 4_915_200, "tiling": "tiled",
        "swizzle": "xxx1", "samplers": [0] });
    let sampler = json!({ "slot": 0, "mag": "A6XX_TEX_NEAREST", "max_lod": 8.0, "min_lod": 0.0,
        "wrap": ["A6XX_TEX_CLAMP_TO_EDGE", "A6XX_TEX_CLAMP_TO_EDGE", "A6XX_TEX_REPEAT"] });
    of(
        "glmark2-shadow",
        "25",
        json!({
            "frame_draw": 5,
            "tile": first_tile,
            "depth": { "format": "DEPTH6_24_8", "gmem": 0x64000, "pitch": 2560, "write": true },
            "targets": tiles,
            "shaders": [{ "stage": "VS", "textures": [] },
                { "stage": "FS", "textures": [texture], "samplers": [sampler] }],
        }),
    );
    of(
        "zink-turnip-a630-0",
        "f1",
        json!({
            "pass": "bypass",
            "frame": [96, 64],
            "vertex_inputs": [{ "address": 0x1_003b_2000_u64, "bytes": 1_048_576, "stride": 8,
                "format": "FMT6_32_32_FLOAT", "register": "r0.x", "components": "xy" }],
            "targets": [{ "format": "FMT6_8_8_8_8_UNORM", "address": 0x1_0011_7000_u64, "pitch": 512 }],
        }),
    );
}
