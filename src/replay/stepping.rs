//! `replay --debug`: one warp of a draw's shader under the stepper.

use std::io;
use std::str::FromStr;

use a4emu_decoder::isa::ir3::Instr;
use anyhow::{Context, anyhow, bail};

use crate::cp::{Call, Engine, Flow, Renderer};
use crate::debug::{Debugger, Line};
use crate::draw::DrawCall;
use crate::draw::fs::inspect::Chosen;
use crate::draw::pipeline::{Launch, inspect_fragments, inspect_vertices};
use crate::draw::stop::Stop;
use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::selection::{Draws, Selection};

/// The shader to step through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shader {
    /// Vertex shader
    Vs,
    /// Fragment shader
    Fs,
}

/// What `--debug` is about.
#[derive(clap::Args, Clone, Debug)]
pub struct Choice {
    /// Step through this shader of the draw that --draw names; commands come from stdin
    #[arg(long, value_name = "STAGE")]
    pub debug: Option<Shader>,
    /// Lane to look at first (default: the first that runs, or that of --pixel)
    #[arg(long, value_name = "N", requires = "debug", value_parser = clap::value_parser!(u8).range(..32))]
    pub lane: Option<u8>,
    /// Which warp: 32 vertices, or the 8x4 pixels of a primitive, counted over the draw
    #[arg(long, value_name = "N", requires = "debug", default_value_t = 0)]
    pub warp: u32,
    /// The first warp that covers this pixel of the render target
    #[arg(long, value_name = "X,Y", requires = "debug", conflicts_with = "warp")]
    pub pixel: Option<Pixel>,
}

/// A pixel: column and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixel([u16; 2]);

impl FromStr for Pixel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not X,Y");
        let (x, y) = text.split_once(',').ok_or_else(wrong)?;
        Ok(Self([x.parse().map_err(|_| wrong())?, y.parse().map_err(|_| wrong())?]))
    }
}

/// Runs draws up to one, and steps through one of its warps.
pub struct Stepping {
    shader: Shader,
    draw: Draws,
    chosen: Chosen,
    lane: Option<usize>,
    result: anyhow::Result<()>,
}

impl Stepping {
    /// What the arguments ask for, if they do.
    ///
    /// # Errors
    /// `--draw` names no draw.
    pub fn new(args: &Choice, selection: Selection) -> anyhow::Result<Option<Self>> {
        let Some(shader) = args.debug else { return Ok(None) };
        let draw = selection.draw.context("--debug needs --draw N")?;
        let chosen = match args.pixel {
            Some(_) if shader == Shader::Vs => bail!("--pixel is for fragment shaders"),
            Some(Pixel(at)) => Chosen::Pixel(at.map(i32::from)),
            None => Chosen::Warp(args.warp),
        };
        let result = Err(anyhow!("the capture has no draw {draw}"));
        Ok(Some(Self { shader, draw, chosen, lane: args.lane.map(usize::from), result }))
    }

    /// How it went.
    ///
    /// # Errors
    /// There was no such draw or warp, or I/O.
    pub fn finish(self) -> anyhow::Result<()> {
        self.result
    }

    fn step(&self, gpu: &mut Gpu, call: &DrawCall) -> anyhow::Result<()> {
        let mut told = Ok(());
        let look = |launch: Launch<'_, '_, '_, '_>| told = self.interact(launch);
        let found = match (self.shader, self.chosen) {
            (Shader::Vs, Chosen::Warp(number)) => inspect_vertices(gpu, call, number, look),
            (Shader::Vs, Chosen::Pixel(_)) => {
                Err(Stop::Fault(Fault::Draw("a vertex shader has no pixels".into())))
            }
            (Shader::Fs, chosen) => inspect_fragments(gpu, call, chosen, look),
        };
        found.map_err(|stop| anyhow!("draw {}: {stop}", call.number))?;
        Ok(told?)
    }

    fn interact(&self, launch: Launch<'_, '_, '_, '_>) -> io::Result<()> {
        let Launch { words, program, warp, environment, pixels } = launch;
        let line = |word: &u64| Line { text: Instr::decode(*word).to_string(), trap: false };
        let used = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let lines: Vec<Line> = words[..used].iter().map(line).collect();
        let pixel = |lane: usize| pixels.map(|group| group.pixel(lane));
        let first = warp.covered().trailing_zeros() as usize;
        let wanted = match self.chosen {
            Chosen::Pixel(at) => (0..crate::shader::LANES).find(|lane| pixel(*lane) == Some(at)),
            Chosen::Warp(_) => None,
        };
        let lane = self.lane.or(wanted).unwrap_or(first);
        match (pixel(lane), pixels) {
            (Some([x, y]), Some(group)) => {
                eprintln!("primitive {}, lane {lane} is pixel ({x}, {y})", group.primitive);
            }
            _ => eprintln!("lane {lane}"),
        }
        Debugger::new(program, &lines, warp, environment, lane)
            .interact(io::stdin().lock(), &mut io::stdout().lock())
    }
}

impl Engine for Stepping {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        if !self.draw.is_reached(call.number(), call.frame_draw()) {
            return Renderer.run(gpu, call);
        }
        self.result = match call {
            Call::Draw(call) => self.step(gpu, call),
            Call::Dispatch(_) => Err(anyhow!("draw {} is a dispatch", call.number())),
            Call::Uncounted(call) => Err(anyhow!("draw {} is a {}", call.number, call.packet)),
        };
        Flow::Stop
    }
}
