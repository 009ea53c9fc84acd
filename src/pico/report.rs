//! `pico report`: a page that shows a scene: its picture, its draws with their programs, and what each lane of a
//! warp does, step by step, for chosen vertices and pixels.
use std::fmt::Write;
use std::path::PathBuf;

use a4emu_decoder::isa::pico::{LANES, REGISTERS, Shader};
use anyhow::{Context, ensure};

use super::cut_status;
use super::draw::{Framebuffer, MOST_NOTED, Noted, load};
use super::scene::{Loaded, Scene};
use super::unit::{Unit, interface_of};
use crate::flags::Flags;
use a4emu_gpu::budget::{BASE, Budget};
use a4emu_inspect::report::html::{escaped, still};
use a4emu_inspect::report::pack::base64;
use a4emu_inspect::selection::Position;
use a4emu_shader::{Lanes, Program, Warp, step};
use a4emu_support::limits::WorkLimits;
use a4emu_support::options::Shared;
use a4emu_support::out_file::OutFile;
use a4emu_support::status::{Failure, Status, WithErrors};

/// The most pixels that a page explains.
const MOST_PIXELS: usize = 16;

/// Lanes that the table of a warp shows.
const SHOWN: usize = 8;

/// Components of all registers.
const SCALARS: usize = 4 * REGISTERS as usize;

/// The most lanes of a triangle's vertices.
const CORNERS: usize = 3;

/// Arguments of `pico report`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Scene description (TOML)
    scene: PathBuf,
    /// The page to write (- for stdout)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Explain this pixel: each fragment that covers it, with the steps of its warp (repeatable; default: the middle)
    #[arg(long, value_name = "X,Y")]
    pixel: Vec<Position>,
    /// Show the steps of the triangle with this vertex of each draw
    #[arg(long, value_name = "N", default_value_t = 0)]
    vertex: usize,
    /// A folder, beside that of the scene, where its shaders may be (repeatable)
    #[arg(long, value_name = "DIR")]
    include: Vec<PathBuf>,
    #[command(flatten)]
    limits: Flags<WorkLimits>,
}

/// Writes the page.
///
/// # Errors
/// The call fails if the scene or a shader cannot be used, if a pixel is outside of the picture, or on I/O errors.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let (scene, draws) = load(&args.scene, &args.include, shared)?;
    let mut pixels: Vec<[u32; 2]> = args.pixel.iter().map(|pixel| pixel.0).collect();
    if pixels.is_empty() {
        pixels.push([scene.width / 2, scene.height / 2]);
    }
    ensure!(pixels.len() <= MOST_PIXELS, "a page explains at most {MOST_PIXELS} pixels");
    let outside = pixels.iter().find(|[x, y]| *x >= scene.width || *y >= scene.height);
    if let Some([x, y]) = outside {
        anyhow::bail!("pixel {x},{y} is outside of the {}x{} picture", scene.width, scene.height);
    }
    let mut budget = args.limits.budget(BASE);
    let mut page = Page { args, pixels, sections: String::new(), stopped: None };
    let picture = page.draws(&scene, &draws, &mut budget)?;
    let name = args.scene.file_name().unwrap_or_default().to_string_lossy();
    let mut out = OutFile::create(&args.output, &shared.inputs)?;
    let written = std::io::Write::write_all(&mut out, page.html(&name, &scene, &picture).as_bytes());
    written.with_context(|| format!("cannot write {}", args.output.display()))?;
    out.finish()?;
    let status = cut_status(&budget, shared);
    let Some(why) = page.stopped else { return Ok(status) };
    let message = format!("{}: {why}", args.scene.display());
    Ok(status.and(Err(Failure { status: Status::Damaged, message })))
}

/// The page while it is made.
struct Page<'a> {
    args: &'a Args,
    pixels: Vec<[u32; 2]>,
    /// A section for each draw, as HTML.
    sections: String,
    /// Why a draw ended early.
    stopped: Option<String>,
}

impl Page<'_> {
    /// Draws the scene and writes the section of each draw. Returns the picture, as PNG.
    fn draws(&mut self, scene: &Scene, draws: &[Loaded], budget: &mut Budget) -> anyhow::Result<Vec<u8>> {
        let mut target = Framebuffer::new(scene);
        target.asked.clone_from(&self.pixels);
        for (number, draw) in draws.iter().enumerate() {
            let (before, fragments) = (target.color.clone(), target.fragments);
            let result = target.draw(draw, budget);
            let changed = before.iter().zip(&target.color).filter(|(before, after)| before != after).count();
            let covered = target.fragments - fragments;
            let noted = std::mem::take(&mut target.noted);
            self.draw(number, draw, [covered, changed as u64], &noted)?;
            if let Err(why) = result {
                self.stopped = Some(format!("draw {number}, {why}"));
                break;
            }
        }
        let mut png = Vec::new();
        target.write_png(&mut png)?;
        Ok(png)
    }

    fn draw(
        &mut self,
        number: usize,
        draw: &Loaded,
        [covered, changed]: [u64; 2],
        noted: &[Noted],
    ) -> anyhow::Result<()> {
        let unit = Unit::in_a_draw(&draw.vertex);
        let vertices = draw.vertices.len() / unit.input_dwords().max(1);
        let depth = if draw.depth { "tested and written" } else { "not used" };
        write!(
            self.sections,
            "<h2>Draw {number}</h2><table><tr><th>Vertices<td>{vertices}<tr><th>Triangles<td>{}<tr><th>Fragments\
             <td>{covered}<tr><th>Pixels changed<td>{changed}<tr><th>Depth<td>{depth}</table>",
            vertices / CORNERS
        )?;
        self.listing("Vertex shader", &draw.vertex)?;
        self.vertices(draw, &unit, vertices)?;
        self.listing("Fragment shader", &draw.fragment)?;
        for pixel in self.pixels.clone() {
            let of_pixel: Vec<_> = noted.iter().filter(|noted| noted.pixels[noted.lane] == pixel).collect();
            let [x, y] = pixel;
            writeln!(self.sections, "<h3>Pixel {x},{y}</h3>")?;
            if of_pixel.is_empty() {
                writeln!(self.sections, "<p>No triangle of this draw covers it.</p>")?;
            }
            of_pixel.into_iter().try_for_each(|noted| self.fragment(draw, noted))?;
        }
        if noted.len() == MOST_NOTED {
            writeln!(self.sections, "<p>Further fragments of these pixels are left out.</p>")?;
        }
        Ok(())
    }

    /// The program, instruction by instruction, with the lines of its source.
    fn listing(&mut self, title: &str, shader: &Shader) -> anyhow::Result<()> {
        let words = shader.binary().len();
        writeln!(
            self.sections,
            "<details><summary>{title}: {} instructions, {words} dwords with the command that stores it</summary>\
             <table><thead><tr><th>#<th>Line<th>Instruction</thead>",
            shader.code.len()
        )?;
        for (index, (instr, line)) in shader.code.iter().enumerate() {
            writeln!(
                self.sections,
                "<tr><td>{index}<td>{}<td><code>{}</code>",
                source(*line),
                escaped(&instr.to_string())
            )?;
        }
        writeln!(self.sections, "</table></details>")?;
        Ok(())
    }

    /// The steps of the three vertices of a triangle.
    fn vertices(&mut self, draw: &Loaded, unit: &Unit, count: usize) -> anyhow::Result<()> {
        let first = self.args.vertex / CORNERS * CORNERS;
        if first >= count {
            writeln!(self.sections, "<p>There is no vertex {}.</p>", self.args.vertex)?;
            return Ok(());
        }
        let last = (first + CORNERS).min(count);
        let stride = unit.input_dwords();
        let inputs = &draw.vertices[first * stride..last * stride];
        let program = Program::pico_stepwise(&draw.vertex.instrs(), &interface_of(&draw.vertex))?;
        let warp = unit.launch(&program, &draw.vertex_uniforms, &[], inputs);
        let names: Vec<String> = (first..last).map(|vertex| format!("vertex {vertex}")).collect();
        writeln!(self.sections, "<h3>Vertices {first} to {}</h3>", last - 1)?;
        let lanes = (0..names.len()).collect();
        self.steps(&draw.vertex, &program, warp, &Shown { lanes, names, chosen: None })
    }

    /// A fragment: what became of it, and the steps of its warp.
    fn fragment(&mut self, draw: &Loaded, noted: &Noted) -> anyhow::Result<()> {
        let Noted { triangle, pixels, lane, output: [r, g, b, a, z], before, after, .. } = noted;
        let (color, depth) = before;
        let became = match after {
            Some(after) => format!("written: {color:?} becomes {after:?}"),
            None => format!("not written: its depth {z:?} is not less than {depth:?}"),
        };
        writeln!(
            self.sections,
            "<p>Triangle {triangle}, lane {lane} of a warp of {}: the shader puts out {r:?} {g:?} {b:?} {a:?}, depth {z:?}; \
             {became}.</p>",
            pixels.len()
        )?;
        let unit = Unit::in_a_draw(&draw.fragment);
        let program = Program::pico_stepwise(&draw.fragment.instrs(), &interface_of(&draw.fragment))?;
        let places: Vec<u32> = pixels.iter().flatten().map(|place| (*place as f32).to_bits()).collect();
        let warp = unit.launch(&program, &draw.fragment_uniforms, &noted.corners, &places);
        let first = lane / SHOWN * SHOWN;
        let mut lanes: Vec<usize> = (first..(first + SHOWN).min(pixels.len())).collect();
        // The chosen lane is in sight without scrolling.
        lanes.sort_by_key(|other| other != lane);
        let names = lanes.iter().map(|lane| format!("{},{}", pixels[*lane][0], pixels[*lane][1])).collect();
        self.steps(&draw.fragment, &program, warp, &Shown { lanes, names, chosen: Some(*lane) })
    }

    /// A row for each instruction, with the registers that it changes in each lane.
    fn steps(
        &mut self,
        shader: &Shader,
        program: &Program,
        mut warp: Warp,
        shown: &Shown,
    ) -> anyhow::Result<()> {
        let out = &mut self.sections;
        write!(
            out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Steps\"><table><thead><tr><th>Line<th>Instruction"
        )?;
        for (lane, name) in shown.lanes.iter().zip(&shown.names) {
            write!(out, "<th{}>lane {lane}: {name}", shown.class(*lane))?;
        }
        writeln!(out, "</thead>")?;
        let none = registers(&warp).map(|_| Lanes::ZERO);
        row(out, "", "inputs", changes(&none, &warp, shown), shown)?;
        while let Some((index, _)) = warp.next_instruction(program) {
            let before = registers(&warp);
            let ended = step(program, &mut warp, &mut ()).is_some();
            let (instr, line) = &shader.code[index as usize];
            row(out, &source(*line), &instr.to_string(), changes(&before, &warp, shown), shown)?;
            if ended {
                break;
            }
        }
        writeln!(out, "</table></div>")?;
        Ok(())
    }

    fn html(&self, name: &str, scene: &Scene, png: &[u8]) -> String {
        let Scene { width, height, draw, .. } = scene;
        let pixels: Vec<String> = self.pixels.iter().map(|[x, y]| format!("{x},{y}")).collect();
        let body = format!(
            "<h1>{name}</h1><p>PicoGpu: {width}x{height} pixels. Draws: {count}. Explained pixels: {pixels}.</p>\
             <figure><img alt=\"The picture of the scene\" width=\"{width}\" height=\"{height}\" \
             src=\"data:image/png;base64,{png}\"></figure>\n{sections}",
            name = escaped(name),
            count = draw.len(),
            pixels = pixels.join("; "),
            png = base64(png),
            sections = self.sections,
        );
        still(&format!("{name}: PicoGpu"), &body)
    }
}

/// The lanes that a table shows.
struct Shown {
    lanes: Vec<usize>,
    /// What each of them runs for.
    names: Vec<String>,
    chosen: Option<usize>,
}

impl Shown {
    fn class(&self, lane: usize) -> &'static str {
        if self.chosen == Some(lane) { " class=\"chosen\"" } else { "" }
    }
}

/// The values of all registers.
fn registers(warp: &Warp) -> [Lanes; SCALARS] {
    std::array::from_fn(|id| *warp.full(id as u32))
}

/// For each shown lane, the registers that differ from `before`.
fn changes(before: &[Lanes; SCALARS], warp: &Warp, shown: &Shown) -> Vec<String> {
    let after = registers(warp);
    let text = |lane: &usize| {
        let differ = (0..after.len()).filter(|id| before[*id][*lane] != after[*id][*lane]);
        let all = differ.map(|id| {
            let component = ["x", "y", "z", "w"][id % 4];
            format!("r{}.{component} {:?}", id / 4, f32::from_bits(after[id][*lane]))
        });
        all.collect::<Vec<_>>().join("<br>")
    };
    debug_assert!(shown.lanes.iter().all(|lane| *lane < LANES));
    shown.lanes.iter().map(text).collect()
}

/// Writes a row of a table of steps.
fn row(out: &mut String, line: &str, instr: &str, cells: Vec<String>, shown: &Shown) -> std::fmt::Result {
    write!(out, "<tr><td>{line}<td><code>{}</code>", escaped(instr))?;
    for (lane, cell) in shown.lanes.iter().zip(cells) {
        write!(out, "<td{}>{cell}", shown.class(*lane))?;
    }
    writeln!(out)
}

/// The line of the source; nothing for instructions that the assembler adds.
fn source(line: usize) -> String {
    if line > 0 { line.to_string() } else { String::new() }
}
