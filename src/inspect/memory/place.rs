//! What a user names as memory: an address, or what a register, a constant or a descriptor points to.

use std::str::FromStr;

use a4emu_decoder::a4xx::regs::tex::SSBO_1_0;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::load_state::Stage;
use a4emu_decoder::generation::Generation;
use anyhow::{Context, bail};

use super::layout::{Grid, Layout};
use crate::describe::canvas::Which;
use crate::describe::{Buffer, Draw, ShaderStage, SurfacePlace, Target, Texture, VertexInput};
use crate::edit::stage;
use crate::register_names::{self, halves_of, low_half};
use a4emu_gpu::a4xx::formats;
use a4emu_gpu::draw::rb::depth::DepthFormat;
use a4emu_gpu::settled::Synced;
use a4emu_shader::format::arrangement::Tiling;
use a4emu_shader::format::{Swap, Transfer};
use a4emu_support::status::{Failure, Status};

/// A place in memory, as a user writes it: `0x1040000+64`, `0x1040000..0x1040040`, `texture FS 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    what: What,
    extent: Extent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Address(Address),
    Name(Name),
}

/// How much of a place is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All that the name means, or the rest of the buffer.
    Rest,
    /// This many bytes.
    Bytes(u64),
    /// All before this address.
    End(Address),
}

/// What points to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// A vertex input of a draw, by its fetch entry.
    Vertex(u32),
    /// The indices of a draw.
    Indices,
    /// A texture of a stage.
    Texture(Stage, u32),
    /// A storage buffer or image of a stage.
    Buffer(Stage, u32),
    /// The program of a stage.
    Program(Stage),
    /// A constant of a stage: vec4 and component.
    Constant(Stage, u32, usize),
    /// A target that is rendered to in memory.
    Target(Which),
    /// A register that holds an address: its name, which the generation of the chip gives a meaning.
    Register(String),
}

/// How a user wants to see memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// As this says.
    Plain(Layout),
    /// As the state of the draw says of this name.
    Of(Name),
}

/// Where a place is.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// What it was found by; none for an address.
    pub name: Option<String>,
    /// Address of the first byte.
    pub start: Address,
    /// Number of bytes.
    pub bytes: u64,
    /// Whether the user said how many bytes.
    pub is_measured: bool,
    /// How the descriptor or register says that the bytes are laid out.
    pub layout: Option<Layout>,
}

/// What a name points to.
struct Pointed {
    start: Address,
    /// Its bytes; none if they end with the buffer.
    bytes: Option<u64>,
    layout: Option<Layout>,
}

impl Place {
    /// The address and the number of bytes, if it says both.
    pub fn range(&self) -> Option<(Address, u64)> {
        match (&self.what, self.extent) {
            (What::Address(start), Extent::Bytes(bytes)) => Some((*start, bytes)),
            (What::Address(start), Extent::End(end)) => Some((*start, end.get().checked_sub(start.get())?)),
            _ => None,
        }
    }
}

impl From<Name> for Place {
    fn from(name: Name) -> Self {
        Self { what: What::Name(name), extent: Extent::Rest }
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (head, extent) = match (text.split_once(".."), text.rsplit_once('+')) {
            (Some((head, end)), _) => {
                let end =
                    address(end.trim()).ok_or_else(|| format!("`{end}` is no address: write 0x1040000"))?;
                (head, Extent::End(end))
            }
            (None, Some((head, length))) => {
                let bytes = length_of(length.trim())
                    .ok_or_else(|| format!("`{length}` is no number of bytes such as 64, 0x40 or 4K"))?;
                (head, Extent::Bytes(bytes))
            }
            (None, None) => (text, Extent::Rest),
        };
        let head = head.trim();
        let what = match address(head) {
            Some(address) => What::Address(address),
            None => What::Name(head.parse()?),
        };
        Ok(Self { what, extent })
    }
}

/// An address: hexadecimal digits, with `0x` in front or without.
fn address(text: &str) -> Option<Address> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_plain).map(Address::new)
}

/// A number of bytes, with K or M for 1024s and their squares.
fn length_of(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().filter(|bytes| *bytes > 0);
    }
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' | b'k' => (&text[..text.len() - 1], 10),
        b'M' | b'm' => (&text[..text.len() - 1], 20),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match Layout::named(text) {
            Some(layout) => Ok(Self::Plain(layout)),
            None => text.parse().map(Self::Of).map_err(|_| {
                let names: Vec<&str> = Layout::NAMED.iter().map(|(name, _)| *name).collect();
                format!(
                    "`{text}` is none of {}, no format (VFMT4_32_32_FLOAT, TFMT4_5_6_5_UNORM, RB4_R8G8B8A8_UNORM) and \
                     nothing that the draw's state describes (`vertex 0`, `texture FS 0`)",
                    names.join(", ")
                )
            }),
        }
    }
}

/// What names may be, for messages.
const NAMES: &str = "an address (0x1040000), `vertex 0`, `indices`, `texture FS 0`, `buffer CS 0`, `program VS`, \
                     `target 0`, `depth`, a constant (`FS c4.x`) or a register that holds an address";

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        // The element of an array may stand in brackets: VFD_FETCH[0].
        let spaced = lower.replace(['[', ']'], " ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let slot = |text: &str| text.parse().ok();
        let found = match words[..] {
            ["indices"] => Some(Self::Indices),
            ["depth"] => Some(Self::Target(Which::Depth)),
            ["stencil"] => Some(Self::Target(Which::Stencil)),
            ["vertex" | "vfd_fetch", index] | ["vertex", "input", index] => slot(index).map(Self::Vertex),
            ["target", index] => slot(index).map(|index| Self::Target(Which::Color(index))),
            ["program", of] | [of, "program"] => stage(of).map(Self::Program),
            ["texture", of, index] | [of, "texture", index] => {
                stage(of).zip(slot(index)).map(|(stage, slot)| Self::Texture(stage, slot))
            }
            ["buffer", of, index] | [of, "buffer", index] => {
                stage(of).zip(slot(index)).map(|(stage, slot)| Self::Buffer(stage, slot))
            }
            [of, constant] => stage(of).and_then(|stage| constant_of(stage, constant)),
            [word] => word.split_once('.').and_then(|(of, rest)| constant_of(stage(of)?, rest)),
            _ => None,
        };
        match found {
            Some(found) => Ok(found),
            None => Self::register(text),
        }
    }
}

/// A constant such as `c4.x` of a stage.
fn constant_of(stage: Stage, text: &str) -> Option<Name> {
    let (number, component) = text.strip_prefix('c')?.split_once('.')?;
    let component = ["x", "y", "z", "w"].iter().position(|name| *name == component)?;
    Some(Name::Constant(stage, number.parse().ok()?, component))
}

impl Name {
    /// The register `text`, if a generation has it. The error is that of the default.
    fn register(text: &str) -> Result<Self, String> {
        Generation::first(|generation| register_of(generation, text)).map_err(|failure| failure.message)?;
        Ok(Self::Register(text.to_owned()))
    }

    /// What the name is called in answers.
    fn text(&self) -> String {
        match self {
            Self::Vertex(index) => format!("vertex input {index}"),
            Self::Indices => "indices".to_owned(),
            Self::Texture(stage, slot) => format!("{} texture {slot}", stage.name()),
            Self::Buffer(stage, slot) => format!("{} buffer {slot}", stage.name()),
            Self::Program(stage) => format!("{} program", stage.name()),
            Self::Constant(stage, number, c) => {
                format!("memory at {} c{number}.{}", stage.name(), COMPONENTS[*c])
            }
            Self::Target(which) => which.to_string(),
            Self::Register(name) => name.clone(),
        }
    }

    /// What the name is called in answers about `gpu`: registers by the name that its generation has.
    fn called(&self, gpu: Synced<'_>) -> String {
        let registers = gpu.chip.generation().registers;
        match self {
            Self::Register(name) => match register_of(gpu.chip.generation(), name).as_deref() {
                Ok([one]) => registers.name(*one).to_string(),
                _ => name.clone(),
            },
            other => other.text(),
        }
    }

    /// What it points to in the state of `draw`. Registers need no draw.
    pub(super) fn layout(&self, gpu: Synced<'_>, draw: Option<&Draw>) -> anyhow::Result<Option<Layout>> {
        Ok(self.pointed(gpu, draw)?.layout)
    }

    fn pointed(&self, gpu: Synced<'_>, draw: Option<&Draw>) -> anyhow::Result<Pointed> {
        if let Self::Register(name) = self {
            let start = held(gpu, name)?;
            return Ok(Pointed { start, bytes: None, layout: None });
        }
        let text = self.text();
        let draw =
            draw.with_context(|| format!("{text} is a part of the state of a draw: say which with --draw"))?;
        let none = || format!("draw f{} has no {text}", draw.frame_draw);
        match self {
            Self::Vertex(index) => {
                let input =
                    draw.vertex_inputs.iter().find(|input| input.index == *index).with_context(none)?;
                Ok(vertices(input))
            }
            Self::Indices => indices(draw).with_context(none),
            Self::Texture(of, slot) => {
                let texture = on(draw, *of).and_then(|it| it.textures.iter().find(|it| it.slot == *slot));
                Ok(texels(texture.with_context(none)?))
            }
            Self::Buffer(of, slot) => {
                let buffer = on(draw, *of).and_then(|it| it.buffers.iter().find(|it| it.slot == *slot));
                Ok(elements(buffer.with_context(none)?, gpu, *of))
            }
            Self::Program(of) => {
                let stage = on(draw, *of).with_context(none)?;
                let bytes = stage.shader.as_ref().map(|shader| 8 * shader.words.len() as u64);
                Ok(Pointed { start: stage.address.gpu(), bytes, layout: None })
            }
            Self::Constant(of, number, component) => {
                let constants = &gpu.loaded.stage(*of).constants;
                let constant = constants.get(*number as usize).with_context(none)?;
                let start = match constant[*component..] {
                    [low, high, ..] if gpu.chip.generation().address_bits > 32 => Address::wide(low, high),
                    _ => constant[*component].into(),
                };
                Ok(Pointed { start, bytes: None, layout: None })
            }
            Self::Target(which) => target(draw, *which),
            Self::Register(_) => bail!("a register needs no draw"),
        }
    }
}

/// The offsets of the register of `generation` that `text` names and that holds an address, the low half first.
fn register_of(generation: &'static Generation, text: &str) -> Result<Vec<u32>, Failure> {
    let wrong = |message| Failure { status: Status::Usage, message };
    let found = register_names::find(generation, text).map_err(|failure| {
        let hint = failure.message.find("; did you mean").map_or("", |at| &failure.message[at..]);
        wrong(format!("`{text}` names no memory{hint}: write {NAMES}"))
    })?;
    if let Some(halves) = halves_of(&found) {
        return Ok(halves.to_vec());
    }
    match found[..] {
        [one] if one.field.is_none_or(|field| field.width() >= 20) => {
            let both = [one.offset, one.offset + 1];
            let is_low = low_half(generation.registers, both[1]) == Some(both[0]);
            Ok(both[..if is_low && generation.address_bits > 32 { 2 } else { 1 }].to_vec())
        }
        [one] => Err(wrong(format!("`{}` has no address: write {NAMES}", one.register()))),
        _ => Err(wrong(format!("`{text}` names {} registers: write one of them", found.len()))),
    }
}

/// The address that the register `name` of the chip holds.
fn held(gpu: Synced<'_>, name: &str) -> anyhow::Result<Address> {
    let generation = gpu.chip.generation();
    let written = |offset: u32| {
        let name = || generation.registers.name(offset);
        gpu.regs.written(offset).with_context(|| format!("{} has not been written", name()))
    };
    match register_of(generation, name)?[..] {
        [low, high] => Ok(Address::wide(written(low)?, written(high)?)),
        [one] => Ok(written(one)?.into()),
        _ => bail!("`{name}` names no register"),
    }
}

const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

/// The stage `of` of `draw`.
fn on(draw: &Draw, of: Stage) -> Option<&ShaderStage> {
    draw.shaders.iter().find(|stage| stage.stage == of)
}

fn vertices(input: &VertexInput) -> Pointed {
    let stride = if input.stride == 0 { input.element_bytes } else { input.stride };
    let layout = input.codec.map(|codec| Layout::elements(&input.format, codec, stride));
    Pointed { start: input.address.gpu(), bytes: Some(input.bytes.into()), layout }
}

fn indices(draw: &Draw) -> Option<Pointed> {
    let buffer = draw.indices.as_ref()?.buffer?;
    let layout = Layout::indices(buffer.width);
    let start = buffer.address.gpu();
    Some(Pointed { start, bytes: Some(buffer.bytes.into()), layout: Some(layout) })
}

fn texels(texture: &Texture) -> Pointed {
    let layout = texture.state.as_ref().map(|state| {
        // An unknown order of texels is sampled as rows.
        let is_known = state.arrangement.tiling != Tiling::Linear || texture.tiling == "linear";
        let grid = is_known.then_some(Grid {
            tiling: state.arrangement.tiling,
            pitch: texture.pitch,
            size: [texture.width, texture.height],
            layer_bytes: if texture.depth > 1 || texture.kind == "cube" { texture.layer_bytes } else { 0 },
        });
        match state.format.codec(state.swap, Transfer::Linear) {
            Some(codec) => Layout::texels(&texture.format, codec, grid),
            None => Layout::blocks(&texture.format, state.format.block()),
        }
    });
    let start = texture.address.gpu();
    Pointed { start, bytes: Some(texture.bytes).filter(|bytes| *bytes > 0), layout }
}

fn elements(buffer: &Buffer, gpu: Synced<'_>, of: Stage) -> Pointed {
    let sizes = gpu.loaded.ssbo(of).sizes.get(buffer.slot as usize).copied();
    let format = formats::color(SSBO_1_0(sizes.unwrap_or_default()[0]).FMT());
    let codec = format.and_then(|format| format.codec(Swap::WZYX, Transfer::Linear));
    let layout = codec.map(|codec| Layout::elements(&buffer.format, codec, codec.bytes()));
    Pointed { start: buffer.address.gpu(), bytes: None, layout }
}

fn target(draw: &Draw, which: Which) -> anyhow::Result<Pointed> {
    let attachment = draw.attachments().into_iter().find(|it| it.which == which);
    let attachment = attachment.with_context(|| format!("draw f{} has no {which}", draw.frame_draw))?;
    let SurfacePlace::Address(start) = attachment.place else {
        bail!(
            "{which} of draw f{} is in tile memory, not in memory: `show --draw f{0} --after FILE` makes a picture of it, \
             and a draw of the resolve pass copies it to memory",
            draw.frame_draw
        );
    };
    let bytes = u64::from(attachment.pitch) * u64::from(attachment.size[1]);
    let color = draw.targets.iter().find(|target| Which::Color(target.index) == which);
    let layout = match (color, draw.depth.as_ref().map(|depth| depth.pixel)) {
        (Some(target), _) => pixels(target, attachment.pitch, attachment.size),
        (None, Some(DepthFormat::Float32)) if which == Which::Depth => Some(Layout::floats()),
        (None, Some(DepthFormat::Unorm16)) if which == Which::Depth => Some(Layout::shorts()),
        (None, _) => None,
    };
    Ok(Pointed { start: start.gpu(), bytes: Some(bytes), layout })
}

fn pixels(target: &Target, pitch: u32, size: [u32; 2]) -> Option<Layout> {
    let (format, swap) = target.pixel?;
    let codec = format.codec(swap, Transfer::Linear)?;
    let grid = Grid { tiling: target.tiling, pitch, size, layer_bytes: 0 };
    Some(Layout::texels(&target.format, codec, Some(grid)))
}

impl Place {
    /// Whether the place is named by the state of a draw.
    pub fn needs_draw(&self) -> bool {
        matches!(&self.what, What::Name(name) if !matches!(name, Name::Register(_)))
    }

    /// Where the place is, with the state of `gpu`, in which `draw` runs.
    ///
    /// # Errors
    /// The call fails if the state does not have what the place names, or if there is nothing in it.
    pub fn locate(&self, gpu: Synced<'_>, draw: Option<&Draw>) -> anyhow::Result<Located> {
        let (name, start, known, layout) = match &self.what {
            What::Address(address) => (None, *address, None, None),
            What::Name(name) => {
                let Pointed { start, bytes, layout } = name.pointed(gpu, draw)?;
                (Some(name.called(gpu)), start, bytes, layout)
            }
        };
        let rest = || match u64::from(gpu.memory().room(start)) {
            0 => NOTHING,
            room => room,
        };
        let (bytes, is_measured) = match self.extent {
            Extent::Bytes(bytes) => (bytes, true),
            Extent::Rest => (known.filter(|bytes| *bytes > 0).unwrap_or_else(rest), false),
            Extent::End(end) => {
                let bytes = end.get().checked_sub(start.get()).filter(|bytes| *bytes > 0);
                (bytes.with_context(|| format!("{end} is not behind {start}"))?, true)
            }
        };
        let room = u64::MAX - start.get();
        Ok(Located { name, start, bytes: bytes.min(room), is_measured, layout })
    }
}

/// Bytes of a place that is in no buffer.
const NOTHING: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Place {
        text.parse().unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn places_are_addresses_with_a_length_or_an_end() {
        let at = |address, extent| Place { what: What::Address(Address::new(address)), extent };
        for (text, place) in [
            ("0x1040000", at(0x104_0000, Extent::Rest)),
            ("1040000+64", at(0x104_0000, Extent::Bytes(64))),
            ("0x1040000 + 4K", at(0x104_0000, Extent::Bytes(4096))),
            ("0x1040000+0x10", at(0x104_0000, Extent::Bytes(16))),
            ("0x1040000..0x1040040", at(0x104_0000, Extent::End(Address::new(0x104_0040)))),
            ("0x123456789a+1", at(0x12_3456_789a, Extent::Bytes(1))),
        ] {
            assert_eq!(parsed(text), place, "{text}");
        }
        for text in ["", "0x", "0x10+0", "0x10+x", "0x10..", "0x10..zz", "0x10+99999999999999M", "qqq"] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_those_of_show_or_registers() {
        let name = |text: &str| match parsed(text).what {
            What::Name(name) => name,
            What::Address(address) => panic!("{text}: {address}"),
        };
        for (text, expected) in [
            ("vertex 3", Name::Vertex(3)),
            ("vertex input 3", Name::Vertex(3)),
            ("VFD_FETCH[3]", Name::Vertex(3)),
            ("texture FS 0", Name::Texture(Stage::FS, 0)),
            ("FS texture 0", Name::Texture(Stage::FS, 0)),
            ("cs buffer 1", Name::Buffer(Stage::CS, 1)),
            ("program vs", Name::Program(Stage::VS)),
            ("fs.c4.y", Name::Constant(Stage::FS, 4, 1)),
            ("VS c0.w+8", Name::Constant(Stage::VS, 0, 3)),
            ("target 1", Name::Target(Which::Color(1))),
            ("depth", Name::Target(Which::Depth)),
            ("indices", Name::Indices),
        ] {
            assert_eq!(name(text), expected, "{text}");
        }
        assert!(matches!(name("RB_MRT[0].BASE"), Name::Register(_)));
        for (text, says) in [
            ("texture FS", "names no memory"),
            ("RB_MRT[*].BASE", "8 registers"),
            ("RB_DEPTH_CONTROL.ZFUNC", "has no address"),
        ] {
            let why = text.parse::<Place>().unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }

    #[test]
    fn forms_are_names_formats_or_parts_of_the_state() {
        assert_eq!("texture FS 0".parse(), Ok(Form::Of(Name::Texture(Stage::FS, 0))));
        assert_eq!("words".parse(), Ok(Form::Plain(Layout::words())));
        for text in ["", "word", "TFMT4_", "7x"] {
            assert!(text.parse::<Form>().is_err(), "{text}");
        }
    }
}
