//! Prints one draw as text, in the order of the pipeline.

use std::fmt::Display;
use std::io::{self, Write};

use a4emu_decoder::bits::value::{Show, WordText};
use a4emu_gpu::pass::Pass;

use super::draw::{Answer, Register};
use super::table::{command, short};
use a4emu_inspect::describe::{
    Blend, Blit, BlitSurface, Constant, Depth, Draw, Indices, Raster, Resolve, Sampler, ShaderStage,
    StageCounts, StencilFace, SurfacePlace, Target, Texture, Tile, VertexInput,
};
use a4emu_inspect::describe::{PatchFactors, Tessellation};
use a4emu_rules::Finding;

/// Width of the names on the left.
const LABEL: usize = 12;

/// Maximum number of indices in a packet that are listed.
const INLINE: usize = 16;

/// A writer of text.
struct Text<'a, W>(&'a mut W);

/// Writes the description of a draw.
///
/// # Errors
/// The call fails if `out` cannot be written.
pub fn write(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    let (draw, mut text) = (&answer.state, Text(out));
    text.heading(answer)?;
    draw.vertex_inputs.iter().try_for_each(|input| text.row("input", input_text(input)))?;
    draw.indices.iter().try_for_each(|indices| text.row("indices", indices_text(indices)))?;
    let (before, behind): (Vec<_>, Vec<_>) = draw.shaders.iter().partition(|stage| stage.name() != "FS");
    before.into_iter().try_for_each(|stage| text.stage(stage, answer.counts(stage)))?;
    answer.geometry_runs.iter().try_for_each(|runs| runs.write(text.0))?;
    text.raster(draw)?;
    behind.into_iter().try_for_each(|stage| text.stage(stage, answer.counts(stage)))?;
    text.output(draw)?;
    text.cost(answer)?;
    answer.findings.iter().try_for_each(|finding| text.finding(finding))?;
    answer.overlays.iter().try_for_each(|legend| text.row("overlay", legend))?;
    answer.registers.iter().flatten().try_for_each(|register| text.register(register))
}

impl<W: Write> Text<'_, W> {
    fn row(&mut self, label: &str, text: impl Display) -> io::Result<()> {
        writeln!(self.0, "{label:LABEL$} {text}")
    }

    /// Writes a finding, and how to correct it.
    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        self.row("finding", finding)?;
        self.row("  mend", finding.broken.rule.rule().mend)
    }

    /// Writes the draw's numbers, and where it runs.
    fn heading(&mut self, answer: &Answer) -> io::Result<()> {
        let draw = &answer.state;
        let names: Vec<String> = answer.frame_draws.iter().map(|number| format!("f{number}")).collect();
        let other = if draw.blit.is_some() { "blit" } else { "compute" };
        let pass = draw.pass.map_or(other, Pass::name);
        let asked = command(&draw.command);
        self.row(
            "draw",
            format_args!("{} {} submit {} {pass} {asked}", draw.draw, names.join("+"), draw.submit),
        )?;
        self.row("packet", draw.packet)?;
        match answer.run {
            Some(run) if answer.runs > 1 => {
                self.row("run", format_args!("{} of {}", run + 1, answer.runs))?
            }
            None if answer.runs > 1 => self.row("runs", answer.runs)?,
            _ => {}
        }
        let tile = |tile: &Tile| rectangle([tile.x, tile.y, tile.width, tile.height]);
        let tiles: Vec<String> = answer.tiles.iter().map(tile).collect();
        if tiles.is_empty() { Ok(()) } else { self.row("tiles", tiles.join("; ")) }
    }

    /// Writes a shader with the resources it names.
    fn stage(&mut self, stage: &ShaderStage, counts: Option<&StageCounts>) -> io::Result<()> {
        let Some(shader) = &stage.shader else {
            return self
                .row(stage.name(), format_args!("program at {} is not in the capture", stage.address));
        };
        let (hash, count) = (shader.short_hash(), shader.words.len());
        let plural = if count == 1 { "" } else { "s" };
        self.row(stage.name(), format_args!("{hash} at {}, {count} instruction{plural}", stage.address))?;
        self.program(&shader.text(), counts)?;
        stage.constants.iter().try_for_each(|constant| self.row("  constant", constant_text(constant)))?;
        stage.textures.iter().try_for_each(|texture| self.row("  texture", texture_text(texture)))?;
        stage.samplers.iter().try_for_each(|sampler| self.row("  sampler", sampler_text(sampler)))?;
        for buffer in &stage.buffers {
            let a4emu_inspect::describe::Buffer { address, format, size: [width, height, depth], .. } =
                buffer;
            let rest = format_args!("{} pitch {} cpp {}", short(format), buffer.pitch, buffer.cpp);
            let slot = buffer.slot_name();
            let kind = if buffer.kind() == "buffer" { "  buffer" } else { "  constants" };
            self.row(kind, format_args!("{slot}  {address} {width}x{height}x{depth} {rest}"))?;
        }
        Ok(())
    }

    /// Writes the instructions; if they were counted, with the warps and lanes that ran each.
    fn program(&mut self, text: &str, counts: Option<&StageCounts>) -> io::Result<()> {
        if counts.is_some() {
            writeln!(self.0, "{:>LABEL$} {:>10}", "warps", "lanes")?;
        }
        let mut index = 0;
        for line in text.lines() {
            match (line.ends_with(':'), counts) {
                (true, _) => writeln!(self.0, "    {line}")?,
                (false, None) => writeln!(self.0, "      {line}")?,
                (false, Some(counts)) => {
                    let [warps, lanes] = counts.at(index);
                    writeln!(self.0, "{warps:LABEL$} {lanes:10}  {line}")?;
                    index += 1;
                }
            }
        }
        Ok(())
    }

    /// Writes the rasteriser state.
    fn raster(&mut self, draw: &Draw) -> io::Result<()> {
        if let Some(viewport) = &draw.viewport {
            let ([sx, sy, sz], [x, y, z]) = (viewport.scale, viewport.offset);
            self.row("viewport", format_args!("scale {sx} {sy} {sz} offset {x} {y} {z}"))?;
        }
        if let Some(scissors) = &draw.scissors {
            let [all, window, screen] = [scissors.effective, scissors.window, scissors.screen].map(rectangle);
            self.row("scissor", format_args!("{all} (window {window}, screen {screen})"))?;
        }
        if let Some(tessellation) = &draw.tessellation {
            self.tessellation(tessellation)?;
        }
        draw.raster.iter().try_for_each(|raster| self.row("raster", raster_text(raster)))
    }

    /// Writes the state of the tessellator, and the factors of the first patches. Equal ones share a line.
    fn tessellation(&mut self, it: &Tessellation) -> io::Result<()> {
        let Tessellation { domain, spacing, output, vertices_in, vertices_out, address, factors } = it;
        let patches = format_args!("patches of {vertices_in} to {vertices_out}, factors at {address}");
        self.row("tessellate", format_args!("{domain}, spacing {spacing}, makes {output}; {patches}"))?;
        let numbered: Vec<(usize, &PatchFactors)> = factors.iter().enumerate().collect();
        for same in numbered.chunk_by(|(_, one), (_, other)| one == other) {
            let [first, last] = [same[0].0, same[same.len() - 1].0];
            let name =
                if first == last { format!("patch {first}") } else { format!("patches {first}-{last}") };
            let [outer, inner] = [&same[0].1.outer, &same[0].1.inner]
                .map(|all| all.iter().map(f32::to_string).collect::<Vec<_>>().join(" "));
            let inner = if inner.is_empty() { String::new() } else { format!(", inner {inner}") };
            self.row("", format_args!("{name}: outer {outer}{inner}"))?;
        }
        Ok(())
    }

    /// Writes the output state.
    fn output(&mut self, draw: &Draw) -> io::Result<()> {
        if let Some(test) = &draw.alpha_test {
            self.row("alpha test", format_args!("{} {}", enumerator(&test.func), test.reference))?;
        }
        draw.depth.iter().try_for_each(|depth| self.row("depth", depth_text(depth)))?;
        if let Some(stencil) = &draw.stencil {
            self.row("stencil", format_args!("front {}", face_text(&stencil.front)))?;
            self.row("", format_args!("back  {}", face_text(&stencil.back)))?;
        }
        draw.targets.iter().try_for_each(|target| self.row("target", target_text(target)))?;
        if let Some([r, g, b, a]) = draw.blend_constant.filter(|_| uses_constant(draw)) {
            self.row("blend const", format_args!("{r} {g} {b} {a}"))?;
        }
        draw.resolve.iter().try_for_each(|resolve| self.row("resolve", resolve_text(resolve)))?;
        draw.blit.iter().try_for_each(|blit| self.blit(blit))
    }

    /// Writes the surfaces of a blit.
    fn blit(&mut self, blit: &Blit) -> io::Result<()> {
        blit.source.iter().try_for_each(|source| self.row("source", surface_text(source)))?;
        if let Some(color) = blit.color {
            self.row("color", color.map(|bits| format!("{bits:#010x}")).join(" "))?;
        }
        self.row("destination", surface_text(&blit.destination))
    }

    /// Writes the cost and the changes of the draw.
    fn cost(&mut self, answer: &Answer) -> io::Result<()> {
        let stages = answer.cost.by_stage().map(|(stage, count)| format!("{stage} {count}"));
        let stages: Vec<String> = stages.collect();
        let instructions = if stages.is_empty() { "none".to_owned() } else { stages.join(", ") };
        self.row("cost", format_args!("{} pixels; warp instructions: {instructions}", answer.cost.pixels))?;
        let changed = answer.changes.iter().filter_map(|change| Some((change, change.changes.bounds?)));
        for (change, bounds) in changed.clone() {
            let (count, bounds) = (change.changes.pixels, rectangle(bounds));
            self.row("changed", format_args!("{}: {count} pixels in {bounds}", change.target))?;
        }
        for written in &answer.written {
            let lines = written.lines();
            self.row("written", &lines[0])?;
            lines[1..].iter().try_for_each(|line| self.row("", line))?;
        }
        let has_changed = changed.count() > 0 || answer.written.iter().any(|written| written.changed > 0);
        let nothing = match answer.written.is_empty() {
            true => "nothing",
            false => "nothing: what was stored is what was there before",
        };
        let nothing = if answer.state.runs { nothing } else { "not known: it is not rendered" };
        if has_changed { Ok(()) } else { self.row("changed", nothing) }
    }

    fn register(&mut self, register: &Register) -> io::Result<()> {
        let Register { reg, name, value, fields } = register;
        let is_known = !fields.rows.is_empty();
        let fields = is_known.then_some(WordText { rows: fields.rows, word: *value, show: Show::Full });
        let fields = fields.map_or_else(String::new, |fields| fields.to_string());
        writeln!(self.0, "{reg:#06x} {name} = {value:08x} {fields}")
    }
}

/// Formats a rectangle as `x,y widthxheight`.
fn rectangle([x, y, width, height]: [u32; 4]) -> String {
    format!("{x},{y} {width}x{height}")
}

/// A name of the register database without the prefix of its kind.
fn enumerator(name: &str) -> &str {
    let prefixes = ["FUNC_", "FACTOR_", "STENCIL_", "ROP_", "A4XX_TEX_", "A6XX_TEX_", "BLEND_"];
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

fn place_text(place: SurfacePlace) -> String {
    match place {
        SurfacePlace::Gmem(offset) => format!("tile memory {offset:#x}"),
        SurfacePlace::Address(address) => address.to_string(),
    }
}

fn input_text(input: &VertexInput) -> String {
    let VertexInput { index, address, bytes, stride, divisor, format, register, components, .. } = input;
    let rate = match divisor {
        0 => "each vertex".to_owned(),
        1 => "each instance".to_owned(),
        divisor => format!("each {divisor} instances"),
    };
    let register = register.split('.').next().unwrap_or_default();
    let format = short(format);
    format!("{index}  {register}.{components:4} {format:16} {address} stride {stride} {rate}, {bytes} bytes")
}

fn indices_text(indices: &Indices) -> String {
    let mut text = match (&indices.inline, &indices.buffer) {
        (Some(inline), _) => {
            let shown: Vec<String> = inline.iter().take(INLINE).map(u32::to_string).collect();
            let more = if inline.len() > INLINE { " .." } else { "" };
            format!("in the packet: {}{more}", shown.join(" "))
        }
        (None, Some(buffer)) => {
            let a4emu_inspect::describe::IndexBuffer { address, bytes, width, first } = buffer;
            format!("{address} {width} bytes each, first {first}, {bytes} bytes")
        }
        (None, None) => "0, 1, 2, ..".to_owned(),
    };
    if indices.base_vertex != 0 {
        text += &format!(", base vertex {}", indices.base_vertex);
    }
    if indices.first_instance != 0 {
        text += &format!(", first instance {}", indices.first_instance);
    }
    if let Some(restart) = indices.restart {
        text += &format!(", restart at {restart:#x}");
    }
    text
}

fn constant_text(constant: &Constant) -> String {
    let Constant { index, components, bits, .. } = constant;
    let named = |c: &usize| components.contains(['x', 'y', 'z', 'w'][*c]);
    let values: Vec<String> =
        (0..4).filter(named).map(|c| constant.number(c).text_with_bits(bits[c])).collect();
    format!("c{index}.{components:4} {}", values.join("  "))
}

fn texture_text(texture: &Texture) -> String {
    let Texture { address, kind, format, width, height, depth, levels, pitch, .. } = texture;
    let mut size = format!("{width}x{height}");
    if *depth > 1 {
        size += &format!("x{depth}");
    }
    let samplers: Vec<String> = texture.samplers.iter().map(|sampler| format!(" s{sampler}")).collect();
    let rest = format!("pitch {pitch} {} {} .{}", texture.tiling, texture.swap, texture.swizzle);
    let srgb = if texture.srgb { " sRGB" } else { "" };
    let why = texture.unsupported.as_ref().map_or(String::new(), |why| format!(" (not supported: {why})"));
    let format = short(format);
    let levels = if *levels == 1 { "1 level".to_owned() } else { format!("{levels} levels") };
    format!(
        "{}  {kind} {size} {format}{srgb} {levels} {address} {rest}{}{why}",
        texture.slot_name(),
        samplers.concat()
    )
}

fn sampler_text(sampler: &Sampler) -> String {
    let [s, t, r] = sampler.wrap.each_ref().map(|wrap| enumerator(wrap));
    let (mag, min, mip) = (enumerator(&sampler.mag), enumerator(&sampler.min), sampler.mip);
    let mut text = format!("{}  mag {mag} min {min} mip {mip} wrap {s} {t} {r}", sampler.slot_name());
    let (bias, least, most) = (sampler.lod_bias, sampler.min_lod, sampler.max_lod);
    text += &format!(" lod {least} to {most}");
    if bias != 0.0 {
        text += &format!(" bias {bias}");
    }
    if sampler.compare != "FUNC_NEVER" {
        text += &format!(" compare {}", enumerator(&sampler.compare));
    }
    if sampler.unnormalized {
        text += " unnormalized";
    }
    text
}

fn raster_text(raster: &Raster) -> String {
    let Raster { cull, front, fill: [front_fill, back_fill], provoking, line_width, point_size, .. } = raster;
    let fill = match front_fill == back_fill {
        true => (*front_fill).to_owned(),
        false => format!("{front_fill} front, {back_fill} back"),
    };
    let mut text = format!("cull {cull}, front {front}, {fill}, provoking {provoking}");
    text += &format!(", line {line_width}, point {point_size}");
    let clip = match (raster.near_clip, raster.far_clip) {
        (true, true) => "near and far",
        (true, false) => "near",
        (false, true) => "far",
        (false, false) => "no depth",
    };
    text += &format!(", {clip} clip z {} to w", if raster.zero_to_one { "0" } else { "-w" });
    if let Some(offset) = &raster.offset {
        text += &format!(", offset scale {} units {} clamp {}", offset.scale, offset.units, offset.clamp);
    }
    if raster.discard {
        text += ", discard";
    }
    text
}

fn depth_text(depth: &Depth) -> String {
    let (format, place) = (short(&depth.format), place_text(depth.place));
    let test = match (depth.test, depth.write) {
        (false, _) => "no test".to_owned(),
        (true, true) => format!("test {}, write", enumerator(&depth.func)),
        (true, false) => format!("test {}, no write", enumerator(&depth.func)),
    };
    format!("{format} in {place} pitch {}, {test}", depth.pitch)
}

fn face_text(face: &StencilFace) -> String {
    let [func, fail, zfail, zpass] =
        [&face.func, &face.fail, &face.zfail, &face.zpass].map(|name| enumerator(name));
    let StencilFace { reference, mask, write_mask, .. } = face;
    format!(
        "{func} {reference:#04x} mask {mask:#04x}, fail {fail}, zfail {zfail}, pass {zpass}, write mask {write_mask:#04x}"
    )
}

fn blend_text(blend: &Blend) -> String {
    let equation = |it: &a4emu_inspect::describe::Equation| {
        let [src, dst] = [&it.src, &it.dst].map(|name| enumerator(name));
        match it.op.as_str() {
            "BLEND_DST_PLUS_SRC" => format!("src*{src} + dst*{dst}"),
            "BLEND_SRC_MINUS_DST" => format!("src*{src} - dst*{dst}"),
            "BLEND_DST_MINUS_SRC" => format!("dst*{dst} - src*{src}"),
            "BLEND_MIN_DST_SRC" => "min(src, dst)".to_owned(),
            "BLEND_MAX_DST_SRC" => "max(src, dst)".to_owned(),
            other => format!("{other} src*{src} dst*{dst}"),
        }
    };
    let (rgb, alpha) = (equation(&blend.rgb), equation(&blend.alpha));
    if rgb == alpha { format!("blend {rgb}") } else { format!("blend {rgb}, alpha {alpha}") }
}

fn uses_constant(draw: &Draw) -> bool {
    let blends = draw.targets.iter().filter_map(|target| target.blend.as_ref());
    let equations = blends.flat_map(|blend| [&blend.rgb, &blend.alpha]);
    equations.flat_map(|equation| [&equation.src, &equation.dst]).any(|factor| factor.contains("CONSTANT"))
}

fn target_text(target: &Target) -> String {
    let Target { index, format, swap, pitch, register, write_mask, .. } = target;
    let (format, place) = (short(format), place_text(target.place));
    let written =
        if write_mask.is_empty() { "writes nothing".to_owned() } else { format!("writes {write_mask}") };
    let srgb = if target.srgb { " sRGB" } else { "" };
    let mut text =
        format!("{index}  {format}{srgb} {swap} in {place} pitch {pitch}, {written} from {register}");
    if let Some(mode) = &target.tile_mode {
        text += if mode == "TILE6_LINEAR" { ", linear" } else { ", tiled" };
    }
    if let Some(blend) = &target.blend {
        text += &format!(", {}", blend_text(blend));
    }
    if let Some(rop) = &target.rop {
        text += &format!(", logic {}", enumerator(rop));
    }
    text
}

fn surface_text(surface: &BlitSurface) -> String {
    let BlitSurface { register, format, swap, tile_mode, ubwc, place, pitch, rectangle: area, .. } = surface;
    let Tile { x, y, width, height } = *area;
    let ubwc = if *ubwc { " with UBWC" } else { "" };
    let place = match place {
        SurfacePlace::Gmem(offset) => format!("tile memory {offset:#x}"),
        SurfacePlace::Address(address) => format!("{address} pitch {pitch}, {tile_mode}{ubwc}"),
    };
    let area = rectangle([x, y, width, height]);
    format!("{area} of {} {swap} in {place} ({register})", short(format))
}

fn resolve_text(resolve: &Resolve) -> String {
    let Resolve { content, gmem, address, pitch, format, swap, .. } = resolve;
    let format = short(format);
    format!("{content} {format} {swap} from tile memory {gmem:#x} to {address} pitch {pitch}")
}
