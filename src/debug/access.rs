//! Shows a memory or texture access of an instruction, with its result.

use a4emu_shader::{
    AtomicPlace, ImageAccess, Lanes, Mask, MemoryAccess, Number, Op, Sample, SampleKind, Slots, Space,
};

/// One operation of the environment for all lanes.
#[derive(Clone, Debug)]
pub struct Access {
    /// The operation.
    pub op: Op<Lanes>,
    /// The lanes that take part.
    pub mask: Mask,
    /// The result.
    pub answer: [Lanes; 4],
}

impl Access {
    /// The access of `lane` as text. `None` if the lane takes no part, or if the operation accesses neither
    /// memory nor a texture.
    pub fn text(&self, lane: usize) -> Option<String> {
        if self.mask >> lane & 1 == 0 {
            return None;
        }
        let answer = |count: usize| words(self.answer[..count].iter().map(|row| row[lane]));
        Some(match &self.op {
            Op::Load { from, components } => format!("{} -> {}", place(from, lane), answer(*components)),
            Op::Store { to, data } => {
                format!("{} <- {}", place(to, lane), words(data.iter().map(|row| row[lane])))
            }
            Op::ImageLoad { from, components } => {
                format!("{} -> {}", image(from, lane), answer(*components))
            }
            Op::ImageStore { to, data } => {
                format!("{} <- {}", image(to, lane), words(data.iter().map(|row| row[lane])))
            }
            Op::ImageSize { base, slot, .. } => {
                format!("size of {} -> {}", buffer(*base, slot[lane]), answer(3))
            }
            Op::UniformLoad(load) => {
                let block = buffer(load.base, load.block[lane]);
                format!("{block} c[{}] -> {}", load.vector[lane], answer(load.components.into()))
            }
            Op::Atomic(atomic) => {
                let at = match &atomic.place {
                    AtomicPlace::Local(address) => format!("l[{:#x}]", address[lane]),
                    AtomicPlace::Image(access) => image(access, lane),
                    AtomicPlace::Global([low, high]) => {
                        format!("g[{:#x}]", u64::from(high[lane]) << 32 | u64::from(low[lane]))
                    }
                };
                let data = words(atomic.data.iter().map(|row| row[lane]));
                format!("{at} {:?} {data} (was {})", atomic.op, answer(1))
            }
            Op::Sample(sample) => self.sample(sample, lane),
            Op::Query(query) => {
                let [_, texture] = slots(&query.slots, lane);
                format!("query of {texture} -> {}", integers(&self.answer, lane))
            }
            Op::Varying(_) | Op::FlatVarying { .. } => return None,
        })
    }

    fn sample(&self, sample: &Sample<Lanes>, lane: usize) -> String {
        let [sampler, texture] = slots(&sample.slots, lane);
        let coords = sample.coords.iter().map(|row| row[lane]);
        let coords: Vec<String> = match sample.kind {
            SampleKind::Fetch => coords.map(|bits| (bits as i32).to_string()).collect(),
            _ => coords.map(|bits| format!("{:?}", f32::from_bits(bits))).collect(),
        };
        let answer = match sample.number {
            Number::Float => words(self.answer.iter().map(|row| row[lane])),
            Number::Uint | Number::Sint => integers(&self.answer, lane),
        };
        format!("{texture}, {sampler} at ({}) -> {answer}", coords.join(", "))
    }
}

/// The text of an address.
fn place(access: &MemoryAccess<Lanes>, lane: usize) -> String {
    let space = match access.space {
        Space::Global => "g",
        Space::Local => "l",
        Space::Stage => "lw",
        Space::Private => "p",
    };
    format!("{space}[{:#x}]", access.address(lane))
}

fn image(access: &ImageAccess<Lanes>, lane: usize) -> String {
    let buffer = buffer(access.base, access.slot[lane]);
    match access.address {
        Some(address) => format!("{buffer} g[{:#x}]", address[lane]),
        None => {
            let axes = usize::from(if access.dimensions == 4 { 1 } else { access.dimensions });
            let mut at = access.position.map(|axis| axis[lane]);
            at[0] = at[0].wrapping_add(access.offset.into());
            format!("{buffer} at {:?}", &at[..axes])
        }
    }
}

/// The text of a descriptor's slot.
fn buffer(base: Option<u8>, slot: u32) -> String {
    match base {
        Some(base) => format!("buffer {slot} of base {base}"),
        None => format!("buffer {slot}"),
    }
}

/// The text of a lane's sampler and texture.
fn slots(slots: &Slots<Lanes>, lane: usize) -> [String; 2] {
    let (sampler, texture) = slots.as_ref().of(lane);
    let of = match slots {
        Slots::Bindless { bases, .. } => bases.map(|base| format!(" of base {base}")),
        Slots::Uniform { .. } | Slots::PerLane { .. } => Default::default(),
    };
    [format!("sampler {sampler}{}", of[0]), format!("texture {texture}{}", of[1])]
}

fn integers(answer: &[Lanes; 4], lane: usize) -> String {
    let values: Vec<String> = answer.iter().map(|row| (row[lane] as i32).to_string()).collect();
    format!("({})", values.join(", "))
}

/// The words as floats or integers, whichever they seem to be, and in hexadecimal.
fn words(bits: impl Iterator<Item = u32> + Clone) -> String {
    let number = a4emu_inspect::describe::Number::guess(bits.clone());
    let texts: Vec<String> = bits.clone().map(|bits| number.text(bits)).collect();
    let hex: Vec<String> = bits.map(|bits| format!("{bits:08x}")).collect();
    format!("({}) [{}]", texts.join(", "), hex.join(" "))
}
