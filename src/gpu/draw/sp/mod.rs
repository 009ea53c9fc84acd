//! SP, the shader processor: programs, constants, shader environment, and the launcher of all stages.
//!
//! 1. [`state`] reads what a stage runs with: its program, constants and descriptors. [`stage_cache`] keeps it between draws,
//!    and [`programs`] keeps lowered programs.
//! 2. A stage (`vs`, `hs`, `ds`, `gs`, `fs`, `cs`) divides its work into jobs. [`launch`] runs them, in warps of 32 lanes, on
//!    threads, within the budget. [`groups`] does it for workgroups, whose stores [`journal`] keeps. [`spare`] keeps warps
//!    for the next draw with the same program.
//! 3. [`environment`] is what a shader asks while it runs: [`memory`] (global, local and private; [`load`] reads
//!    global memory for a whole warp), [`buffer`] (storage buffers and images), [`sampling`] of textures (`tpl1`;
//!    [`named`]: those that registers name), [`descriptors`] in memory,
//!    [`primitive_inputs`] (vertices that geometry and hull shaders read).
//! 4. [`log`] collects work, faults, guesses and [`used`] buffers of the jobs, [`catch`] stops at the warp that a debugger wants,
//!    and [`stores`] are those of each lane.
pub mod buffer;
pub mod catch;
pub mod descriptors;
pub mod environment;
pub mod groups;
pub mod journal;
pub mod launch;
pub mod load;
pub mod log;
pub mod memory;
pub mod named;
pub mod primitive_inputs;
pub mod programs;
pub mod sampling;
pub mod spare;
pub mod stage_cache;
pub mod state;
pub mod stores;
pub mod used;
