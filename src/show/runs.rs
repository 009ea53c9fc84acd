//! `show --runs-of`: how the geometry shader of an A4xx runs again and again for one primitive, until a run kills.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anyhow::ensure;
use serde::Serialize;

use a4emu_gpu::draw::gs::runs::{self, Made, Run as Ran};

/// The runs of the geometry shader for a primitive.
#[derive(Serialize)]
pub struct GeometryRuns {
    /// Number of the primitive in the draw, from 0.
    primitive: usize,
    /// Number of primitives of the draw.
    primitives: usize,
    /// Vertices that an invocation may make.
    max_vertices: u32,
    /// The runs, by invocation and vertex.
    runs: Vec<Run>,
}

/// A run of the program.
#[derive(Serialize)]
struct Run {
    invocation: u32,
    /// Number of the vertex that r0.x asks for.
    vertex: u32,
    /// The warp, from 0 for the first one with the primitive.
    warp: u64,
    lane: usize,
    /// Whether the run executed `kill`.
    kills: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<Vertex>,
}

/// A vertex that a run makes.
#[derive(Serialize)]
struct Vertex {
    position: [f32; 4],
    varyings: Vec<f32>,
    /// Whether a new strip begins with it.
    cut: bool,
    /// The primitive word.
    word: u32,
}

impl GeometryRuns {
    /// The rows of `runs`.
    ///
    /// # Errors
    /// The call fails if the draw has no such primitive.
    pub fn new(runs: runs::GeometryRuns) -> anyhow::Result<Self> {
        let runs::GeometryRuns { primitive, primitives, most, runs } = runs;
        ensure!(
            primitive < primitives,
            "the draw has {primitives} primitives, and none with number {primitive}"
        );
        let first = runs.iter().map(|run| run.warp).min().unwrap_or(0);
        let run = |ran: Ran| {
            let made = ran.made.map(|Made { position, varyings, word }| Vertex {
                position,
                varyings,
                cut: word.cut,
                word: word.word,
            });
            let Ran { invocation, vertex, warp, lane, kills, .. } = ran;
            Run { invocation, vertex, warp: warp - first, lane, kills, made }
        };
        Ok(Self { primitive, primitives, max_vertices: most, runs: runs.into_iter().map(run).collect() })
    }

    /// Writes a line for each run.
    ///
    /// # Errors
    /// The call fails if `out` cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { primitive, primitives, max_vertices, runs } = self;
        let vertices = runs.iter().filter(|run| run.made.is_some()).count();
        writeln!(
            out,
            "  runs       {} for primitive {primitive} of {primitives} make {vertices} vertices (at most {max_vertices} an \
             invocation)",
            runs.len()
        )?;
        writeln!(out, "    invocation vertex  warp  lane  ends  makes")?;
        for Run { invocation, vertex, warp, lane, kills, made } in runs {
            let ends = if *kills { "kill" } else { "end" };
            write!(out, "    {invocation:10} {vertex:6} {warp:5} {lane:5}  {ends:4}  ")?;
            match made {
                None => writeln!(out, "no vertex")?,
                Some(Vertex { position, varyings, cut, .. }) => {
                    let strip = if *cut { "new strip, " } else { "" };
                    let varyings = if varyings.is_empty() {
                        String::new()
                    } else {
                        format!(" varyings {}", row(varyings))
                    };
                    writeln!(out, "{strip}position {}{varyings}", row(position))?;
                }
            }
        }
        let invocations: BTreeSet<u32> = runs.iter().map(|run| run.invocation).collect();
        let killed = runs.iter().filter(|run| run.kills).count();
        match invocations.len() - killed {
            0 => Ok(()),
            open => writeln!(
                out,
                "    without a kill: {open} of {} invocations, which end at the limit",
                invocations.len()
            ),
        }
    }
}

/// Floats as text.
fn row(values: &[f32]) -> String {
    values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(" ")
}
