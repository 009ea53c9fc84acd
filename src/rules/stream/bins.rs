//! Checks C27 to C29, C32 and C33: the bin whose visibility stream a draw reads.

use a4emu_decoder::a4xx::enums::VisCullMode;
use a4emu_decoder::a4xx::pm4::{Pm4, SetBin, SetBinData};
use a4emu_decoder::a4xx::regs::gras::{GRAS_SC_SCREEN_SCISSOR_BR, GRAS_SC_SCREEN_SCISSOR_TL};
use a4emu_decoder::a4xx::regs::pc::PC_VSTREAM_CONTROL;
use a4emu_decoder::a4xx::regs::rb::{RB_BIN_OFFSET, RB_MODE_CONTROL};
use a4emu_decoder::a4xx::regs::vsc::*;
use a4emu_decoder::bits::Register;

use crate::rules::Id;
use crate::state::Violations;
use a4emu_gpu::a4xx::pc::initiator;
use a4emu_gpu::draw::DrawCall;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;
use a4emu_gpu::settled::Synced;

/// Size of a pipe's size in memory, in bytes.
const SIZE_BYTES: u32 = 4;
/// Bytes at the end of a stream's buffer that LENGTH excludes.
const TAIL: u32 = 32;
/// Maximum number of bins of a pipe, in a row and in total.
const MOST: [u32; 2] = [15, 32];

/// The parameters of CP_SET_BIN and similar packets in this batch.
#[derive(Default)]
pub struct Bins {
    data: Option<[u32; 2]>,
    tile: Option<[u32; 4]>,
    binned: bool,
}

impl Bins {
    /// Records `packet`, which is about to execute.
    pub fn command(&mut self, packet: &Pm4<'_>) {
        match packet {
            Pm4::SetBinData(SetBinData { BIN_DATA_ADDR, BIN_SIZE_ADDRESS, .. }) => {
                self.data = Some([*BIN_DATA_ADDR, *BIN_SIZE_ADDRESS]);
            }
            Pm4::SetBin(SetBin { first, last, .. }) => {
                self.tile = Some([first.X1(), first.Y1(), last.X2(), last.Y2()]);
            }
            _ => {}
        }
    }

    /// Checks a draw with vertices that is about to run.
    pub fn draw(&mut self, gpu: Synced<'_>, call: &DrawCall, violations: &mut Violations) {
        match call.pass {
            Pass::Binning if !std::mem::replace(&mut self.binned, true) => {
                pipes(gpu, violations);
                empty(&gpu.regs, violations);
                origin(&gpu.regs, violations);
            }
            Pass::Gmem => {
                self.tile(&gpu.regs, violations);
                if initiator(call).VIS_CULL() == VisCullMode::USE_VISIBILITY {
                    self.stream(&gpu.regs, violations);
                }
            }
            _ => {}
        }
    }

    /// Checks C29.
    fn tile(&self, regs: &RegFile, violations: &mut Violations) {
        let (tl, br) = (regs.get::<GRAS_SC_SCREEN_SCISSOR_TL>(), regs.get::<GRAS_SC_SCREEN_SCISSOR_BR>());
        let scissor = [tl.X(), tl.Y(), br.X(), br.Y()];
        if let Some(tile) = self.tile {
            violations.unless(tile == scissor, Id::C29, || {
                "CP_SET_BIN names another tile than the screen scissor".to_owned()
            });
        }
    }

    /// Checks C27.
    fn stream(&self, regs: &RegFile, violations: &mut Violations) {
        violations.unless(self.binned, Id::C27, || "visibility is used, no binning pass ran".to_owned());
        let Some([data, size]) = self.data else {
            return violations.report(Id::C27, "visibility is used without CP_SET_BIN_DATA");
        };
        let named = |pipe: &u32| regs.at::<VSC_PIPE_DATA_ADDRESS>(*pipe).VALUE() == data;
        let Some(pipe) = (0..VSC_PIPE_CONFIG::ROW.len).find(named) else {
            return violations.report(Id::C27, "CP_SET_BIN_DATA names the stream of no pipe");
        };
        let sizes = regs.get::<VSC_SIZE_ADDRESS>().VALUE();
        violations.unless(size == sizes.wrapping_add(SIZE_BYTES * pipe), Id::C27, || {
            "CP_SET_BIN_DATA names the size of another pipe".to_owned()
        });
        let (config, stream) = (regs.at::<VSC_PIPE_CONFIG>(pipe), regs.get::<PC_VSTREAM_CONTROL>());
        let (mode, offset) = (regs.get::<RB_MODE_CONTROL>(), regs.get::<RB_BIN_OFFSET>());
        let bin = offset.X().checked_div(mode.WIDTH()).zip(offset.Y().checked_div(mode.HEIGHT()));
        let Some((x, y)) = bin else { return };
        let column = x.checked_sub(config.X()).filter(|column| *column < config.W());
        let row = y.checked_sub(config.Y()).filter(|row| *row < config.H());
        let slot = row.zip(column).map(|(row, column)| row * config.W() + column);
        violations.unless(slot == Some(stream.N()), Id::C27, || {
            "the draw reads the stream of another bin".to_owned()
        });
        violations.unless(stream.SIZE() == config.W() * config.H(), Id::C27, || {
            "PC_VSTREAM_CONTROL.SIZE is not the number of the pipe's bins".to_owned()
        });
    }
}

/// Checks C32.
fn origin(regs: &RegFile, violations: &mut Violations) {
    let (tl, offset) = (regs.get::<GRAS_SC_SCREEN_SCISSOR_TL>(), regs.get::<RB_BIN_OFFSET>());
    let first = [tl.X(), tl.Y()];
    violations.unless(first == [0; 2] && [offset.X(), offset.Y()] == [0; 2], Id::C32, || {
        format!(
            "the binning pass begins at {},{} with RB_BIN_OFFSET {},{}",
            first[0],
            first[1],
            offset.X(),
            offset.Y()
        )
    });
}

/// Checks C33. The driver writes 0 to both fields of a pipe without bins.
fn empty(regs: &RegFile, violations: &mut Violations) {
    let sizes = (0..VSC_PIPE_CONFIG::ROW.len).map(|pipe| regs.at::<VSC_PIPE_CONFIG>(pipe));
    let sizes: Vec<[u32; 2]> = sizes.map(|config| [config.W(), config.H()]).collect();
    for (pipe, [w, h]) in sizes.iter().enumerate().filter(|(_, [w, h])| (*w == 0) != (*h == 0)) {
        violations.report(Id::C33, format!("pipe {pipe} has {w}x{h} bins"));
    }
    violations.unless(sizes.iter().any(|size| *size != [0; 2]), Id::C33, || "no pipe has bins".to_owned());
}

/// Checks C28, and M7 for the streams' buffers.
fn pipes(gpu: Synced<'_>, violations: &mut Violations) {
    let regs = &gpu.regs;
    let mode = regs.get::<RB_MODE_CONTROL>();
    let [width, height] = [mode.WIDTH(), mode.HEIGHT()];
    let (tl, br) = (regs.get::<GRAS_SC_SCREEN_SCISSOR_TL>(), regs.get::<GRAS_SC_SCREEN_SCISSOR_BR>());
    let bins = |from: u32, to: u32, size: u32| (to + 1).saturating_sub(from).div_ceil(size.max(1));
    let [columns, rows] = [bins(tl.X(), br.X(), width), bins(tl.Y(), br.Y(), height)];
    let configs: Vec<VSC_PIPE_CONFIG> = (0..VSC_PIPE_CONFIG::ROW.len).map(|pipe| regs.at(pipe)).collect();
    let covers = |config: &VSC_PIPE_CONFIG, x: u32, y: u32| {
        let inside = |at: u32, first: u32, count: u32| at >= first && at < first + count;
        inside(x, config.X(), config.W()) && inside(y, config.Y(), config.H())
    };
    let first = [tl.X().checked_div(width).unwrap_or(0), tl.Y().checked_div(height).unwrap_or(0)];
    let places = (0..rows.min(1024)).flat_map(|y| (0..columns.min(1024)).map(move |x| [x, y]));
    let wrong = places
        .map(|[x, y]| [x + first[0], y + first[1]])
        .find(|[x, y]| configs.iter().filter(|config| covers(config, *x, *y)).count() != 1);
    if let Some([x, y]) = wrong {
        violations.report(Id::C28, format!("bin {x},{y} is not in one pipe"));
    }
    for (pipe, config) in configs.iter().enumerate().filter(|(_, config)| config.W() * config.H() > 0) {
        let (w, h) = (config.W(), config.H());
        violations.unless(w <= MOST[0] && h <= MOST[0] && w * h <= MOST[1], Id::C28, || {
            format!("pipe {pipe} has {w}x{h} bins")
        });
        let (address, length) = (
            regs.at::<VSC_PIPE_DATA_ADDRESS>(pipe as u32).VALUE(),
            regs.at::<VSC_PIPE_DATA_LENGTH>(pipe as u32),
        );
        let fits = gpu.memory().room(address) >= length.VALUE().saturating_add(TAIL);
        violations.unless(fits, Id::M7, || format!("the stream of pipe {pipe} is in no one buffer"));
    }
}
