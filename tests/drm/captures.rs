//! Runs recorded command streams on the device. Its memory must then equal that of `replay`.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use a4emu_decoder::a4xx::regs::vfd::VFD_FETCH_INSTR_1;
use a4emu_decoder::adreno::capture::{AddressRecord, Body, Sections};
use a4emu_decoder::bits::Register;
use a4emu_gpu::cp::{Call, Flow, Observer, Renderer, Silent};
use a4emu_gpu::gpu::Model;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Running;

use crate::client::*;
use crate::with_device;

/// A capture of one submit: buffers by address, and the command buffers.
#[derive(Default)]
pub struct Capture {
    buffers: BTreeMap<u32, Vec<u8>>,
    commands: Vec<AddressRecord>,
}

fn sections(name: &str) -> Sections<File> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures").join(format!("{name}.rd.gz"));
    Sections::new(File::open(path).unwrap()).unwrap()
}

impl Capture {
    /// Reads a capture of the repository.
    pub fn read(name: &str) -> Self {
        let (mut capture, mut announced) = (Self::default(), 0);
        for section in sections(name) {
            match section.unwrap().body().unwrap() {
                Body::GpuAddr(record) => announced = record.address as u32,
                Body::BufferContents(bytes) => _ = capture.buffers.insert(announced, bytes.to_vec()),
                Body::CmdstreamAddr(record) => capture.commands.push(record),
                _ => {}
            }
        }
        capture
    }

    /// The lowest address of a buffer.
    fn base(&self) -> u32 {
        *self.buffers.first_key_value().unwrap().0
    }
}

/// Uploads the capture into one buffer. Its contents keep their addresses, because the buffer ends at the top
/// of the address space.
fn upload(capture: &Capture, node: &File) -> Buffer {
    let base = capture.base();
    let buffer = Buffer::new(node, ((1u64 << 32) - u64::from(base)) as usize);
    assert_eq!(buffer.address, base);
    for (address, bytes) in &capture.buffers {
        let words: Vec<u32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        buffer.map.put((address - base) as usize / 4, &words);
    }
    buffer
}

fn submit(capture: &Capture, node: &File, buffer: &Buffer) {
    let cmd = |record: &AddressRecord| Cmd {
        kind: 1,
        offset: record.address as u32 - capture.base(),
        size: record.length * 4,
        ..Cmd::default()
    };
    let cmds: Vec<Cmd> = capture.commands.iter().map(cmd).collect();
    let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }];
    Submit::new(&mut bos, &cmds).go(node).unwrap();
}

/// Submits the capture. Returns the buffer that holds it.
pub fn run(capture: &Capture) -> Mapping {
    let node = open();
    let buffer = upload(capture, &node);
    submit(capture, &node, &buffer);
    buffer.map
}

/// Plays a capture as `replay` does.
pub fn replayed(name: &str, model: Model) -> Playback {
    let mut playback = Playback::default();
    playback.gpu.model = model;
    playback.run(sections(name), &mut Renderer, &mut Silent);
    playback
}

/// Compares every byte of every buffer, including the frame.
pub fn same_as_replay(name: &str, model: Model) {
    let capture = Capture::read(name);
    let map = run(&capture);
    let mut playback = replayed(name, model);
    let mut changed = 0;
    for (address, before) in &capture.buffers {
        let replayed = playback.gpu.settle().memory().slice(*address, before.len()).unwrap();
        let first = (address - capture.base()) as usize / 4;
        for (index, word) in replayed.chunks_exact(4).enumerate() {
            let word: u32 = bytemuck::pod_read_unaligned(word);
            assert_eq!(map.get(first + index), word, "{name}: word {index} of the buffer at {address:#x}");
        }
        changed += replayed.iter().zip(before).filter(|(now, before)| now != before).count();
    }
    assert!(changed > 0, "{name}: nothing was drawn");
}

#[test]
fn a_triangle() {
    with_device("captures::a_triangle", || same_as_replay("triangle", Model::Board));
}

/// Address of the first attribute in the last draw that is not a resolve.
#[derive(Default)]
struct Vertices(u32);

impl Observer for Vertices {
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        if matches!(call, Call::Draw(draw) if draw.pass == Pass::Gmem) {
            self.0 = gpu.regs.read(VFD_FETCH_INSTR_1::ROW.offset);
        }
        Flow::Continue
    }
}

/// The device caches the transformed vertices of a draw until the program changes them.
#[test]
fn vertices_that_change_between_submits() {
    with_device("captures::vertices_that_change_between_submits", || {
        let (capture, mut vertices) = (Capture::read("triangle"), Vertices::default());
        Playback::default().run(sections("triangle"), &mut Renderer, &mut vertices);
        let node = open();
        let buffer = upload(&capture, &node);
        let words = || -> Vec<u32> { (0..buffer.map.words()).map(|index| buffer.map.get(index)).collect() };
        submit(&capture, &node, &buffer);
        let first = words();
        submit(&capture, &node, &buffer);
        assert!(words() == first, "the same again");
        buffer.map.put((vertices.0 - capture.base()) as usize / 4, &[0; 3]);
        submit(&capture, &node, &buffer);
        let changed = words().iter().zip(&first).filter(|(now, then)| now != then).count();
        assert!(changed > 100, "{changed} words changed");
    });
}

#[test]
fn blending() {
    with_device("captures::blending", || same_as_replay("blend", Model::Board));
}
