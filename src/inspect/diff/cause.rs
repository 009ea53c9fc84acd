//! Finds the packet that made a difference.

use std::collections::HashMap;

use a4emu_decoder::adreno::load_state::StateKind;
use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::generation::{DEFAULT, Generation};

use super::player::Player;
use super::report::Report;
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::cp::{Call, Flow, Observer, Skip};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Running;
use a4emu_support::options::Shared;

/// A packet and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    /// Number of packets before it.
    order: u64,
    text: String,
}

/// An observer that records the last packet that set each register and each state.
struct Origins {
    generation: &'static Generation,
    /// Number of the draw to stop at.
    until: u32,
    packets: u64,
    name: String,
    registers: HashMap<u32, Origin>,
    /// Packets of loads, by kind of state with its stage.
    loads: HashMap<String, Origin>,
    /// The packet of the draw itself.
    call: Option<Origin>,
}

impl Origins {
    fn new(until: u32) -> Self {
        Self {
            generation: DEFAULT,
            until,
            packets: 0,
            name: String::new(),
            registers: HashMap::new(),
            loads: HashMap::new(),
            call: None,
        }
    }

    fn here(&self, gpu: &Gpu) -> Origin {
        let text = format!("{} at {} in submit {}", self.name, gpu.at.address, gpu.at.submit);
        Origin { order: self.packets, text }
    }

    /// The packet that made the difference called `what`.
    fn of(&self, what: &str) -> Option<&Origin> {
        let registers = self.generation.registers;
        let register = what.split('.').next().unwrap_or(what);
        let known = registers.by_name(register).or_else(|| registers.by_name(what));
        let by_field = what.rsplit_once('.').and_then(|(name, _)| registers.by_name(name));
        if let Some(offset) = known.or(by_field) {
            return self.registers.get(&offset);
        }
        let mut words = what.split(' ');
        let (stage, rest) = (words.next()?, words.next().unwrap_or_default());
        let kind = match rest {
            "instruction" | "program" => "Instructions",
            "texture" => "Textures",
            "sampler" => "Samplers",
            "buffer" => "Ssbo",
            constant if constant.starts_with('c') => "Constants",
            _ => return None,
        };
        self.loads.get(&format!("{kind} {stage}"))
    }
}

impl Observer for Origins {
    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        self.packets += 1;
        self.generation = gpu.chip.generation();
        let register = |offset| self.generation.registers.name(offset);
        self.name = match packet {
            Packet::Command { opcode, .. } => self.generation.packets.name(*opcode).to_string(),
            Packet::Registers { reg, .. } => format!("the write of {}", register(*reg)),
            Packet::TwoRegisters { regs: [first, _], .. } => {
                format!("the write of {}", register(*first))
            }
            Packet::Filler => "a filler".to_owned(),
        };
    }

    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, _: Option<u32>) {
        let here = self.here(gpu);
        self.registers.insert(offset, here);
    }

    fn load(&mut self, gpu: &mut Running<'_>, load: Load<'_>) {
        let key = match load.kind {
            StateKind::Instructions(stage) => format!("Instructions {stage:?}"),
            StateKind::Constants(stage) => format!("Constants {stage:?}"),
            StateKind::Samplers(stage) => format!("Samplers {stage:?}"),
            StateKind::Textures(stage) => format!("Textures {stage:?}"),
            other => format!("{other:?}"),
        };
        let here = self.here(gpu);
        self.loads.insert(key, here);
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        if call.number() < self.until {
            return Flow::Continue;
        }
        self.call = Some(self.here(gpu));
        Flow::Stop
    }
}

/// Adds the packets that made the first difference to `report`, which has the differences of one draw.
///
/// # Errors
/// The call fails if a capture can no longer be opened.
pub fn add(report: &mut Report<'_>, players: &mut [Player; 2], shared: &Shared) -> anyhow::Result<()> {
    let Some(draws) = report.first_draws() else { return Ok(()) };
    let mut causes = Vec::new();
    for (player, draw) in players.iter_mut().zip(draws) {
        let Some(until) = draw else {
            causes.push("none: it has no such draw".to_owned());
            continue;
        };
        let mut origins = Origins::new(until);
        player.run(&mut Skip::default(), &mut origins, shared)?;
        let known = report.names().filter_map(|what| Some((origins.of(what)?, what)));
        let first = known.min_by_key(|(origin, _)| origin.order);
        let call = origins.call.as_ref();
        causes.push(match first {
            Some((origin, what)) => format!("{} ({what})", origin.text),
            None => {
                call.map_or_else(String::new, |call| format!("{} and the memory that it reads", call.text))
            }
        });
    }
    report.set_causes(causes);
    Ok(())
}
