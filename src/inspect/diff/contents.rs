//! Compares fetched bytes that differ: finds the index, vertex, texel or word.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::size_of;

use a4emu_decoder::a4xx::regs::vfd::VFD_DECODE_INSTR;

use super::Found;
use super::align::Pair;
use super::compare::{Comparison, Difference, Unread};
use super::player::Player;
use super::side::Side;
use super::visit::{Look, Play, visit};
use crate::describe::{Address, Draw, Read, Texels, Texture};
use a4emu_gpu::a4xx::enums::swap;
use a4emu_gpu::a4xx::formats;
use a4emu_gpu::budget::Work;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::memory::little_endian;
use a4emu_shader::format::{Codec, Transfer};
use a4emu_support::options::Shared;

/// Maximum size of the contents that are kept per capture, in bytes, with texels unpacked.
const MAX_BYTES: u64 = 1 << 28;

/// Maximum number of reported elements per fetched range. The others are only counted.
const MAX_REPORTED: usize = 16;

/// The contents of a fetched range.
enum Contents {
    /// Indices.
    Indices(Elements),
    /// Elements of a vertex buffer, and the codec of their format.
    Vertices(Option<Codec>, Elements),
    /// Texels by level and layer.
    Texels(BTreeMap<[u32; 2], Texels>),
    /// Words.
    Words(Vec<u8>),
}

/// A range of elements of equal size.
struct Elements {
    /// Number of the first element.
    first: u64,
    /// Bytes of an element.
    size: usize,
    /// Bytes from one element to the next.
    stride: usize,
    bytes: Vec<u8>,
}

impl Elements {
    fn get(&self, number: u64) -> Option<&[u8]> {
        let start = usize::try_from(number.checked_sub(self.first)?).ok()?.checked_mul(self.stride)?;
        self.bytes.get(start..start.checked_add(self.size)?)
    }

    /// The numbers of the elements in the range.
    fn numbers(&self) -> std::ops::Range<u64> {
        let count = match (self.bytes.len().checked_sub(self.size), self.stride) {
            (None, _) => 0,
            (Some(_), 0) => 1,
            (Some(room), stride) => room as u64 / stride as u64 + 1,
        };
        self.first..self.first + count
    }
}

/// Compares all unread contents and adds the differences to `comparison`.
///
/// # Errors
/// The call fails if a capture can no longer be opened.
pub fn resolve(
    comparison: &mut Comparison,
    play: Play,
    players: &mut [Player; 2],
    sides: [&Side; 2],
    shared: &Shared,
) -> anyhow::Result<()> {
    let unread = std::mem::take(&mut comparison.unread);
    if unread.is_empty() {
        return Ok(());
    }
    let [a, b] = players;
    let reader = || Reader { left: MAX_BYTES };
    let (_, old) = visit(reader(), play, &unread, (a, sides[0]), 0, shared)?;
    let (_, new) = visit(reader(), play, &unread, (b, sides[1]), 1, shared)?;
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    let mut before = std::mem::take(&mut comparison.found).into_iter().enumerate().peekable();
    for (it, contents) in unread.into_iter().zip(old.into_iter().zip(new)) {
        while let Some((_, known)) = before.next_if(|(at, _)| *at < it.at) {
            found.push(known);
        }
        let apart = differences(contents, sides, &it).into_iter().filter(|one| told.insert(one.clone()));
        found.extend(apart.map(|difference| Found { pair: it.pair, difference }));
    }
    found.extend(before.map(|(_, known)| known));
    comparison.found = found;
    Ok(())
}

/// Reads contents.
struct Reader {
    /// Bytes that may still be kept.
    left: u64,
}

impl Look for Reader {
    type Found = Contents;

    /// The contents of `read` of `draw`; none if there is no room.
    fn look(&mut self, gpu: &mut Gpu, draw: &Draw, read: &Read) -> Option<Contents> {
        if let Some(texels) = texture(draw, &read.what).and_then(|texture| self.texels(gpu, texture)) {
            return Some(texels);
        }
        self.left = self.left.checked_sub(read.bytes.into())?;
        if !gpu.budget.take(Work::Copy16, u64::from(read.bytes) / 16 + 1) {
            return None;
        }
        let bytes = read.contents(gpu.sync().memory()).into_owned();
        let elements = |bytes: Vec<u8>, start: Address, size: u32, stride: u32| {
            let offset = read.address.0.wrapping_sub(start.0);
            let first = offset.checked_div(stride.into()).unwrap_or(0);
            Elements { first, size: size as usize, stride: stride as usize, bytes }
        };
        let buffer = draw.indices.as_ref().and_then(|indices| indices.buffer);
        if let Some(buffer) = buffer.filter(|_| read.what == "indices") {
            return Some(Contents::Indices(elements(bytes, buffer.address, buffer.width, buffer.width)));
        }
        let number = |prefix: &str| read.what.strip_prefix(prefix)?.parse::<u32>().ok();
        if let Some(input) =
            number("vertex input ").and_then(|at| draw.vertex_inputs.iter().find(|it| it.index == at))
        {
            let decode = gpu.regs.at::<VFD_DECODE_INSTR>(input.index);
            let codec = formats::vertex(decode.FORMAT())
                .and_then(|it| it.codec(swap(decode.SWAP()), Transfer::Linear));
            let elements = elements(bytes, input.address, input.element_bytes, input.stride);
            return Some(Contents::Vertices(codec, elements));
        }
        Some(Contents::Words(bytes))
    }
}

impl Reader {
    /// All texels of `texture`, unless they cannot be read or there is no room.
    fn texels(&mut self, gpu: &mut Gpu, texture: &Texture) -> Option<Contents> {
        let mut all = BTreeMap::new();
        for level in 0..texture.levels {
            let [width, height] = texture.level_size(level);
            for layer in 0..texture.layers(level) {
                let bytes = u64::from(width) * u64::from(height) * size_of::<[u32; 4]>() as u64;
                self.left = self.left.checked_sub(bytes)?;
                all.insert([level, layer], texture.texels(level, layer, gpu).ok()?);
            }
        }
        Some(Contents::Texels(all))
    }
}

/// The texture with the name `what`.
fn texture<'d>(draw: &'d Draw, what: &str) -> Option<&'d Texture> {
    let (stage, slot) = what.split_once(" texture ")?;
    let slot: u32 = slot.parse().ok()?;
    let stage = draw.shaders.iter().find(|it| it.name() == stage)?;
    stage.textures.iter().find(|it| it.slot == slot)
}

/// The differences of two contents.
fn differences(
    contents: (Option<Contents>, Option<Contents>),
    sides: [&Side; 2],
    it: &Unread,
) -> Vec<Difference> {
    let Pair::Both(a, b) = it.pair else { return Vec::new() };
    let read = [(0, a), (1, b)].map(|(side, index)| &sides[side].commands[index].fetched[it.index[side]]);
    let what = &read[0].read.what;
    let mut told = Told { what, found: Vec::new(), more: 0 };
    match &contents {
        (Some(Contents::Indices(old)), Some(Contents::Indices(new))) => {
            for number in common(old, new) {
                let value = |it: &Elements| it.get(number).map(little_endian);
                told.compare(value(old), value(new), || format!("index {number}"), |it| it.to_string());
            }
        }
        (Some(Contents::Vertices(codec, old)), Some(Contents::Vertices(other, new))) => {
            for number in common(old, new) {
                let (old, new) = (old.get(number), new.get(number));
                if old != new && told.has_room() {
                    let [old, new] =
                        [(old, codec), (new, other)].map(|(it, codec)| element(it, codec.as_ref()));
                    told.tell(format!("{what} vertex {number}"), old, new);
                }
            }
        }
        (Some(Contents::Texels(old)), Some(Contents::Texels(new))) => {
            for ([level, layer], old) in old {
                if let Some(new) = new.get(&[*level, *layer]) {
                    compare_texels(&mut told, [*level, *layer], old, new);
                }
            }
        }
        (Some(Contents::Words(old)), Some(Contents::Words(new))) => {
            for (at, (old, new)) in old.chunks(4).zip(new.chunks(4)).enumerate() {
                let name = || format!("{what} +{:#x}", 4 * at);
                told.compare(Some(little_endian(old)), Some(little_endian(new)), name, word);
            }
        }
        _ if it.is_rendered => told.tell(what.clone(), "other".into(), "other".into()),
        _ => told.tell(what.clone(), format!("{:016x}", read[0].hash), format!("{:016x}", read[1].hash)),
    }
    told.finish()
}

/// The numbers of the elements that both have.
fn common(a: &Elements, b: &Elements) -> std::ops::Range<u64> {
    let (a, b) = (a.numbers(), b.numbers());
    a.start.max(b.start)..a.end.min(b.end)
}

fn compare_texels(told: &mut Told<'_>, [level, layer]: [u32; 2], old: &Texels, new: &Texels) {
    if old.size != new.size {
        return;
    }
    let pairs = old.values.iter().zip(&new.values).enumerate();
    for (at, (one, other)) in pairs.filter(|(_, (one, other))| one != other) {
        if !told.has_room() {
            continue;
        }
        let width = old.size[0].max(1) as usize;
        let place = [Some((" level ", level)), (layer > 0).then_some((" layer ", layer))];
        let place: String = place.iter().flatten().map(|(name, number)| format!("{name}{number}")).collect();
        let what = format!("{}{place} texel {},{}", told.what, at % width, at / width);
        let text = |it: &Texels, texel: &[u32; 4]| lanes(*texel, it.are_floats() || !is_integer(it));
        told.tell(what, text(old, one), text(new, other));
    }
}

fn is_integer(texels: &Texels) -> bool {
    matches!(texels.ty, a4emu_shader::format::Type::Uint | a4emu_shader::format::Type::Sint)
}

/// An element's components, or its bytes, as text.
fn element(bytes: Option<&[u8]>, codec: Option<&Codec>) -> String {
    match (bytes, codec) {
        (None, _) => "none".to_owned(),
        (Some(bytes), Some(codec)) => {
            let mut padded = [0; 16];
            let len = bytes.len().min(16);
            padded[..len].copy_from_slice(&bytes[..len]);
            let values = codec.decode_float(codec.load(&padded));
            format!("({})", values.map(|it| format!("{it:?}")).join(", "))
        }
        (Some(bytes), None) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

fn lanes(values: [u32; 4], as_floats: bool) -> String {
    let text = |bits: u32| match as_floats {
        true => format!("{:?}", f32::from_bits(bits)),
        false => bits.to_string(),
    };
    format!("({})", values.map(text).join(", "))
}

fn word(bits: &u32) -> String {
    format!("{bits:#010x} ({:?})", f32::from_bits(*bits))
}

/// The differences of one fetched range. The first ones are listed, the others are counted.
struct Told<'w> {
    what: &'w str,
    found: Vec<Difference>,
    more: u64,
}

impl Told<'_> {
    /// Whether another difference may be listed; if not, it is counted. The check comes before the text is
    /// made, since there can be millions.
    fn has_room(&mut self) -> bool {
        let has_room = self.found.len() < MAX_REPORTED;
        self.more += u64::from(!has_room);
        has_room
    }

    fn tell(&mut self, what: String, old: String, new: String) {
        self.found.push(Difference::new(what, old, new));
    }

    fn compare(
        &mut self,
        old: Option<u32>,
        new: Option<u32>,
        what: impl Fn() -> String,
        text: impl Fn(&u32) -> String,
    ) {
        if old != new && self.has_room() {
            let [old, new] = [old, new].map(|it| it.as_ref().map_or("none".into(), &text));
            self.tell(what(), old, new);
        }
    }

    fn finish(mut self) -> Vec<Difference> {
        if self.more > 0 {
            let what = format!("{} and {} more of it", self.what, self.more);
            self.found.push(Difference::new(what, "other", "other"));
        }
        self.found
    }
}
