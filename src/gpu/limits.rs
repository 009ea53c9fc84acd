//! The constants that tune scheduling and caches: what each is, what it trades, and what measures it.
//!
//! None of them changes a result (`tests/schedules`, `tests/fuzz/same.rs`). `replay --loop` is measured in turns with the
//! binary before the change, on the captures of `../shared/captures`. Those of the shader's compiler are in
//! `src/shader/limits.rs`. Bounds that make bad input harmless are where they are checked.

use std::time::Duration;

// Queues.
/// Draws with new primitives since the last batch that run at once, before later ones wait for workers. More: less to wait for in
/// frames of few draws. Fewer: workers start earlier. Measure: `replay --loop 100` of glmark2 `ideas` and of scenes/many.
pub(crate) const GEOMETRY_AT_ONCE: u32 = 16;

/// Most draws that wait for primitives. More: workers are idle less often. Fewer: less memory, and larger shares of the
/// budget. Measure: `replay --loop 100` of scenes/many.
pub(crate) const GEOMETRY_DRAWS: usize = 256;

/// Draws with known primitives that give the command processor about as much work as the threads that draw the batch, which
/// is submitted then. glmark2's ideas has 400 in a tile and is as quick with 384 as with 1024; scenes with a few are quicker
/// with all tiles in one batch, band by band. Measure: `replay --loop 100` of glmark2 `ideas` and `build`, on 2 threads and more.
pub(crate) const SUBMIT_WORK: u64 = 512;

/// Draws with known primitives that cost the command processor as much as one draw with new primitives. Measure:
/// `replay --stats` of glmark2 `ideas`: milliseconds of vertices and snapshots a draw, with and without `--reference`.
pub(crate) const KNOWN_DRAWS_PER_NEW: u64 = 3;

/// Most draws and copies of a batch. More: fewer waits. Fewer: less memory. Measure: `replay --loop 100` of games/etr.
pub(crate) const BATCH_JOBS: usize = 2048;

/// Most surfaces of a batch. Each new one is compared with all others. Measure: as for [`BATCH_JOBS`].
pub(crate) const BATCH_SURFACES: usize = 64;

/// Bytes of primitives and of copied textures from which on a batch is full. Bounds memory. Measure: `replay --loop 100` of a
/// capture with large meshes, and its peak of memory (`/usr/bin/time -v`).
pub(crate) const BATCH_BYTES: usize = 64 << 20;

/// Bytes of primitives from which on a list that several tiles share counts once for [`BATCH_BYTES`]. Smaller: more lists are
/// searched. Measure: `replay --loop 100` of glmark2 `build-720p`.
pub(crate) const SHARED_PRIMITIVES: usize = 64 << 10;

/// Most batches that workers have at a time. More: the command processor waits less. Fewer: less memory. Measure:
/// `replay --timeline` of glmark2 `ideas` on many threads: the time in "waits for draws".
pub(crate) const SUBMITTED_BATCHES: usize = 16;

/// How long a thread that waits for a batch, and finds no jobs, sleeps before it looks again. Shorter: quicker, and busier.
/// Measure: `replay --loop 100 --threads 2` of glmark2 `ideas`: milliseconds, and CPU seconds (`time`).
pub(crate) const WAIT_NAP: Duration = Duration::from_micros(50);

/// How long a thread without jobs keeps looking for some before it sleeps. Longer: jobs start sooner, and threads are busier.
/// Measure: as for [`WAIT_NAP`].
pub(crate) const POLL_TIME: Duration = Duration::from_micros(200);

// Division among threads.
/// Primitives that one job sorts into bands. Larger: less overhead. Smaller: more threads take part. Measure:
/// `replay --loop 100` of glmark2 `build-720p` on many threads.
pub(crate) const SORT_SHARE: usize = 1 << 15;

/// Primitives from which on several threads sort them. Measure: as for [`SORT_SHARE`].
pub(crate) const SORT_PARALLEL: usize = 1 << 13;

/// Jobs per thread into which a batch is divided: so many keep all threads busy until its end. More: more scratch memory to
/// copy. Measure: `replay --timeline` of games/etr on many threads: the time in "has no jobs".
pub(crate) const JOBS_PER_THREAD: usize = 4;

/// Most groups of segments that run at the same time. Each may need scratch memory as large as tile memory. Measure: peak of
/// memory of games/etr on many threads.
pub(crate) const SEGMENT_GROUPS: usize = 64;

/// Pixels to shade below which waking other threads costs more than it saves. Measure: `scripts/bench draws`.
pub(crate) const SMALL_DRAW: u64 = 1 << 13;

/// Pixels to fill or copy that take as long as one to shade, for the division of work. Measure: `scripts/bench draws`.
pub(crate) const FILLED_PER_SHADED: u64 = 16;

/// Pixels to shade that take as long as the start of one primitive, for the division of work. Measure: `scripts/bench draws`.
pub(crate) const SHADED_PER_PRIMITIVE: u64 = 16;

/// Bounds of primitives that are tested against a band together. Measure: `scripts/bench draws`.
pub(crate) const RECTS_TOGETHER: usize = 64;

/// Most vertices that a batch of geometry shader invocations may emit. Larger: fuller warps. Smaller: less memory. Measure:
/// `scripts/bench geometry`.
pub(crate) const GEOMETRY_BATCH_VERTICES: u32 = 1 << 13;

/// Batches of geometry shader invocations that are launched together. Measure: `scripts/bench geometry`.
pub(crate) const GEOMETRY_BATCHES: usize = 16;

/// Primitives that one job sets up. Measure: `scripts/bench draws`.
pub(crate) const SETUP_CHUNK: usize = 512;

/// Primitives from which on several threads compute the bounds. Measure: `scripts/bench draws`.
pub(crate) const BOUNDS_PARALLEL: usize = 4096;

/// Entries of a part of a draw that is too large to hold at once. Its results fit into memory, and the part into the
/// processor's caches. Measure: `scripts/bench draws`, and peak of memory of
/// tests/replay/parts.rs.
pub(crate) const DRAW_PART: u32 = 1 << 14;

/// Rows of a resolve that one job copies. Measure: `replay --stats` of glmark2 `texture-720p --reference`: milliseconds of
/// resolves.
pub(crate) const RESOLVE_ROWS: usize = 32;

// Caches.
/// Draw packets whose state is cached. When all are used, numbering starts over. More: more memory. Measure:
/// `replay --loop 100` of games/neverball.
pub(crate) const CACHE_SLOTS: usize = 4096;

/// Most bytes of cached primitives. A full cache drops heavy ones of earlier submits, or else all. A million small triangles
/// take 165 MB. Measure: `replay --loop 100` of glmark2 `build-720p`, and peak of memory.
pub(crate) const PRIMITIVE_CACHE: usize = 256 << 20;

/// Bytes of cached primitives from which on they are dropped [`HEAVY_SUBMITS`] submits after their last use. Measure: as for
/// [`PRIMITIVE_CACHE`].
pub(crate) const HEAVY_PRIMITIVES: usize = 1 << 20;

/// Submits without use after which heavy primitives are dropped: a frame seldom repeats them later. Measure: as for
/// [`PRIMITIVE_CACHE`].
pub(crate) const HEAVY_SUBMITS: u64 = 4;

/// Destinations of resolves whose contents are known. Measure: `replay --loop 100` of glmark2 `ideas`.
pub(crate) const COPY_SURFACES: usize = 16;

/// Copies per destination whose contents are known. Measure: as for [`COPY_SURFACES`].
pub(crate) const COPIES_PER_SURFACE: usize = 256;

/// Most lowered programs that are kept. When it is exceeded, all are dropped. Measure: `corpus run` of all captures.
pub(crate) const PROGRAMS: usize = 4096;

/// Most instructions of lowered programs that are kept. Each takes some hundreds of bytes. Measure: as for [`PROGRAMS`].
pub(crate) const PROGRAM_INSTRUCTIONS: usize = 1 << 19;

/// Most places of programs that the cache of stages knows. Measure: as for [`PROGRAMS`].
pub(crate) const PROGRAM_PLACES: usize = 4096;

/// Programs whose warps are kept for reuse. More: more memory. Measure: `replay --loop 100` of games/etr.
pub(crate) const SPARE_WARP_PROGRAMS: usize = 8;

/// Most warps that a shard of a program keeps. Measure: as for [`SPARE_WARP_PROGRAMS`].
pub(crate) const SPARE_WARPS: usize = 64;

/// Shards of a program's spare warps. More threads than that share them. Measure: `replay --timeline` of games/etr on many
/// threads: the time in "waits for a lock".
pub(crate) const SPARE_SHARDS: usize = 16;

/// Warps per job from which on it pays to check whether compiled code can read textures directly. Measure:
/// `scripts/bench texture`.
pub(crate) const DIRECT_READ_WARPS: u64 = 4;

/// Decoded blocks of compressed textures that a job keeps: more than a request of 8 quads usually needs on one level. Measure:
/// `scripts/bench texture`.
pub(crate) const DECODED_BLOCKS: usize = 8;

/// Fewest bytes of a list whose memory is kept. Shorter lists fit in the processor's caches anyway. Measure:
/// `replay --loop 100` of glmark2 `build-720p`.
pub(crate) const POOLED_BYTES: usize = 64 << 10;

/// Most bytes of lists whose memory is kept. Measure: as for [`POOLED_BYTES`].
pub(crate) const POOL_BYTES: usize = 64 << 20;

/// Most buffers that workgroups which run side by side read or store to. More: less waiting for dispatches with many buffers.
/// Fewer: less to compare. Measure: `replay --loop 20` of a recording of tinygrad, with `--threads 1` and `2`.
pub(crate) const JOURNAL_BUFFERS: usize = 32;

/// Most bytes that a chunk of workgroups stores before its stores are made. More: larger chunks. Fewer: less memory.
/// Measure: as for [`JOURNAL_BUFFERS`].
pub(crate) const JOURNAL_BYTES: usize = 16 << 20;

/// Warp instructions of a chunk of workgroups. More: fewer jobs for threads. Fewer: shorter waits at the end of a dispatch.
/// Measure: as for [`JOURNAL_BUFFERS`].
pub(crate) const CHUNK_INSTRUCTIONS: u64 = 8 << 10;

/// Buffers of global memory that loads of a job keep. More: kernels that read many in turns. Fewer: less to compare.
/// Measure: as for [`JOURNAL_BUFFERS`].
pub(crate) const FOUND_BUFFERS: usize = 4;

/// Time for which a wait for the program beside the GPU polls without a pause. More: a prompter end. Less: less of the processor
/// that the program may need. Measure: `run --gpu 630` of a call of tinygrad's TinyJit.
pub(crate) const HOST_POLL: Duration = Duration::from_micros(200);

/// Time between two looks at the memory after [`HOST_POLL`]. More: a later end. Less: as there. Measure: as there.
pub(crate) const HOST_PAUSE: Duration = Duration::from_micros(50);
