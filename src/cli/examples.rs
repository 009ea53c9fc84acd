//! The examples at the end of each command's `--help`. A test parses each of them.

/// Examples of `info`.
pub const INFO: &str = "Examples:
  a4emu info captures/cube.rd.gz
  zcat trace.rd.gz | a4emu info -";

/// Examples of `decode`.
pub const DECODE: &str = "Examples:
  a4emu decode captures/cube.rd.gz --draw 1
  a4emu decode captures/cube.rd.gz --format summary
  a4emu decode captures/cube.rd.gz --dump-shaders shaders
  a4emu decode captures/cube.rd.gz --query 'RB_MRT[0].*' --query rb_depth_control.z_test_enable --query-mode delta
  a4emu decode captures/cube.rd.gz --format jsonl --shaders | grep '\"kind\":\"instr\"'";

/// Examples of `replay`.
pub const REPLAY: &str = "Examples:
  a4emu replay captures/cube.rd.gz --png cube.png
  a4emu replay captures/cube.rd.gz --out pictures
  a4emu replay captures/cube.rd.gz --stats --threads 1
  a4emu replay captures/cube.rd.gz --list-draws
  a4emu replay captures/cube.rd.gz --fidelity
  a4emu replay captures/cube.rd.gz --edit f1:RB_DEPTH_CONTROL.ZFUNC=FUNC_ALWAYS
  a4emu replay captures/cube.rd.gz --edit f1:RB_DEPTH_CONTROL.ZFUNC=FUNC_ALWAYS --save edited.rd.gz
  a4emu replay captures/cube.rd.gz --coverage coverage.json
  a4emu replay captures/cube.rd.gz --timeline cube.json  # for ui.perfetto.dev
  a4emu replay captures/cube.rd.gz --loop 100
  a4emu replay captures/cube.rd.gz --jit on --dump-jit code";

/// Examples of `show`.
pub const SHOW: &str = "Examples:
  a4emu show captures/many.rd.gz
  a4emu show captures/cube.rd.gz --draw f1
  a4emu show captures/cube.rd.gz --draw f1 --before before.png --after after.png --opaque
  a4emu show captures/cube.rd.gz --draw f1 --textures pictures --mesh cube.obj
  a4emu show geometry.rd --draw f1 --runs-of 0
  a4emu show captures/many.rd.gz --overlay overdraw=overdraw.png --overlay cost=cost.png";

/// Examples of `report`.
pub const REPORT: &str = "Examples:
  a4emu report captures/many.rd.gz -o many.html";

/// Examples of `serve`.
pub const SERVE: &str = "Examples:
  a4emu serve captures/many.rd.gz
  a4emu serve captures/many.rd.gz --port 8080";

/// Examples of `pixel`.
pub const PIXEL: &str = "Examples:
  a4emu pixel captures/many.rd.gz 128,128
  a4emu pixel captures/many.rd.gz 128,128 --json";

/// Examples of `memory`.
pub const MEMORY: &str = "Examples:
  a4emu memory captures/cube.rd.gz VFD_FETCH[0] --draw f1
  a4emu memory captures/compute.rd.gz 0x1040000+64 --as floats
  a4emu memory captures/cube.rd.gz 0x1040000..0x1040040 --who
  a4emu memory captures/compute.rd.gz 0x1040000+4K --draw f0 --changed f0
  a4emu memory captures/cube.rd.gz RB_COPY_DEST_BASE --out picture.bin";

/// Examples of `diff`.
pub const DIFF: &str = "Examples:
  a4emu diff before.rd.gz after.rd.gz
  a4emu diff before.rd.gz after.rd.gz --draw f5
  a4emu diff before.rd.gz:5 after.rd.gz:f9
  a4emu diff before.rd.gz after.rd.gz --first
  a4emu diff before.rd.gz after.rd.gz --images difference";

/// Examples of `debug`.
pub const DEBUG: &str = "Examples:
  a4emu debug captures/cube.rd.gz --draw f1 --stage fs --pixel 100,100
  a4emu debug captures/cube.rd.gz --draw 1 --stage vs --vertex 7
  a4emu debug captures/compute.rd.gz --draw 0 --stage cs --invocation 8,8,0
  a4emu debug --dap";

/// Examples of `validate`.
pub const VALIDATE: &str = "Examples:
  a4emu validate captures/cube.rd.gz
  a4emu validate captures/cube.rd.gz captures/depth.rd.gz --json
  a4emu validate captures/cube.rd.gz --rule D --rule Y
  a4emu validate captures/cube.rd.gz --no-rule S8
  a4emu explain D1";

/// Examples of `check`.
pub const CHECK: &str = "Examples:
  a4emu check
  a4emu check cube depth --json
  a4emu check --shard 0/4 --junit report.xml
  a4emu check --gtest_filter=fixtures.cube
  a4emu check cube --bless";

/// Examples of `corpus`.
pub const CORPUS: &str = "Examples:
  a4emu corpus run captures -o run
  a4emu corpus run captures -o new --earlier run --pictures
  a4emu corpus run captures -o part --shard 0/8
  a4emu corpus merge part0 part1 -o run
  a4emu corpus compare run new --html difference.html --junit difference.xml
  a4emu corpus run captures -o used --coverage
  a4emu corpus coverage used --unused
  a4emu corpus reduce used > few.txt
  a4emu corpus run few.txt --root captures -o few";

/// Examples of `export`.
pub const EXPORT: &str = "Examples:
  a4emu export captures --parquet tables
  a4emu export captures/cube.rd.gz --parquet tables --replace
  a4emu export captures --parquet tables --shard 0/8";

/// Examples of `reduce`.
pub const REDUCE: &str = "Examples:
  a4emu reduce captures/many.rd.gz -o small.rd --while-differs old/a4emu
  a4emu reduce captures/many.rd.gz -o small.a4 --while-faults missing
  a4emu reduce captures/many.rd.gz -o small.rd --while './still-wrong'{}";

/// Examples of `bisect`.
pub const BISECT: &str = "Examples:
  a4emu bisect old/a4emu new/a4emu captures/many.rd.gz";

/// Examples of `asm`.
pub const ASM: &str = "Examples:
  a4emu asm captures/triangle-by-hand.a4 -o triangle.rd
  a4emu asm captures/geometry/gs-many.a4 --include captures -o - | a4emu replay - --png many.png";

/// Examples of `disasm`.
pub const DISASM: &str = "Examples:
  a4emu disasm captures/cube.rd.gz -o cube.a4
  a4emu disasm captures/many.rd.gz --draw 5 -o cut.a4       # only what draw 5 needs";

/// Examples of `explain`.
pub const EXPLAIN: &str = "Examples:
  a4emu explain RB_DEPTH_CONTROL
  a4emu explain rb_depth_control 0x80000076
  a4emu explain 20a4
  a4emu explain 'VPC_SO*'
  a4emu explain RB_DEPTH_CONTROL.ZFUNC
  a4emu explain CP_LOAD_STATE4
  a4emu explain FUNC_LESS
  a4emu explain bary.f
  a4emu explain level-of-detail
  a4emu explain warp
  a4emu explain a0c01f04_00000005
  a4emu explain pm4 c0023800 00000084 00000001 00000003
  a4emu explain --gpu 630 SP_CS_CNTL_1
  a4emu explain --gpu 630 pm4 70e50001 00000008
  a4emu explain pico 21 3c09e
  a4emu explain 0xfff60000 --capture captures/cube.rd.gz";

/// Examples of `pico`.
pub const PICO: &str = "Examples:
  a4emu pico asm shader.pico -o shader.bin
  a4emu pico run shader.pico --as f32 < threads.txt
  a4emu pico draw scene.toml --png scene.png
  a4emu pico report scene.toml -o scene.html --pixel 128,100";

/// Examples of `run`.
#[cfg(target_os = "linux")]
pub const RUN: &str = "Examples:
  a4emu run -- glmark2-es2-drm --off-screen
  a4emu run --record out.rd.gz --record-range 3..5 -- eglinfo -B
  a4emu run --validate --findings found.jsonl -- glmark2-es2-drm --off-screen
  a4emu run --validate --no-rule S --suppress known.toml -- neverball
  a4emu run --window -- neverball";

/// Examples of `completions`.
pub const COMPLETIONS: &str = "Examples:
  a4emu completions bash > ~/.local/share/bash-completion/completions/a4emu
  a4emu completions zsh > ~/.zfunc/_a4emu
  a4emu completions fish > ~/.config/fish/completions/a4emu.fish";

/// Examples of `man`.
pub const MAN: &str = "Examples:
  a4emu man | man -l -
  a4emu man -o ~/.local/share/man/man1";
