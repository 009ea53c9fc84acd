//! For each shared capture: the `reg` events in execution order are exactly the register writes of the
//! stream.
//!
//! The expected writes come from a walk that shares no code with the decoder: no nom, no tables, no command
//! processor.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use a4emu_decoder::adreno::capture::Sections;
use a4emu_inspect::decode::{Format, Options, Output, decode};
use a4emu_inspect::options::Shared;
use a4emu_inspect::status::Status;
use flate2::read::GzDecoder;
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;

/// The results of the independent walk of a capture.
#[derive(Default)]
struct Plain {
    buffers: BTreeMap<u32, Vec<u8>>,
    submits: usize,
    type3: usize,
    /// Submit, packet address, register, value.
    writes: Vec<(usize, u32, u32, u32)>,
    registers: BTreeMap<u32, u32>,
}

fn dword(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

impl Plain {
    fn capture(bytes: &[u8]) -> Self {
        let mut plain = Self::default();
        let (mut at, mut announced, mut executed) = (0, 0, false);
        while at + 8 <= bytes.len() {
            let (id, size) = (dword(bytes, at), dword(bytes, at + 4) as usize);
            let payload = &bytes[at + 8..at + 8 + size];
            match id {
                3 => {
                    if std::mem::take(&mut executed) {
                        plain.buffers.clear();
                    }
                    announced = dword(payload, 0);
                }
                12 => drop(plain.buffers.insert(announced, payload.to_vec())),
                6 => {
                    executed = true;
                    plain.buffer(dword(payload, 0), dword(payload, 4));
                    plain.submits += 1;
                }
                _ => {}
            }
            at += 8 + size;
        }
        plain
    }

    fn buffer(&mut self, address: u32, dwords: u32) {
        let (start, bytes) = self.buffers.range(..=address).next_back().expect("a buffer");
        let from = (address - start) as usize;
        let stream = bytes[from..from + dwords as usize * 4].to_vec();
        let mut at = 0;
        while at < stream.len() {
            at += self.packet(address + at as u32, &stream[at..]);
        }
    }

    fn write(&mut self, address: u32, register: u32, value: u32) {
        self.writes.push((self.submits, address, register, value));
        self.registers.insert(register, value);
    }

    fn read(&self, register: u32) -> u32 {
        self.registers.get(&register).copied().unwrap_or(0)
    }

    /// Executes the commands that write registers, in the forms that occur in captures.
    fn command(&mut self, address: u32, opcode: u32, payload: [u32; 3]) {
        let [first, second, third] = payload;
        match opcode {
            0x2d => {
                assert_eq!(first >> 16, 1 << 15 | 4, "a sum");
                self.write(address, 0x2000 + (first & 0xffff), self.read(second).wrapping_add(third));
            }
            0x21 => {
                assert_eq!(first >> 24, 0, "the plain form");
                let register = first & 0x3_ffff;
                self.write(address, register, self.read(register) & second | third);
            }
            0x42 | 0x45 | 0x4d | 0x74 | 0x78 => panic!("packet {opcode:#x} writes registers too"),
            _ => {}
        }
    }

    /// Reads one packet. Returns its length in bytes.
    fn packet(&mut self, address: u32, stream: &[u8]) -> usize {
        let header = dword(stream, 0);
        let count = (header >> 16 & 0x3fff) as usize + 1;
        match header >> 30 {
            0 => {
                for i in 0..count {
                    let reg = (header & 0x7fff) + if header & 0x8000 == 0 { i as u32 } else { 0 };
                    self.write(address, reg, dword(stream, 4 + i * 4));
                }
            }
            2 => return 4,
            3 => {
                self.type3 += 1;
                let opcode = header >> 8 & 0xff;
                if matches!(opcode, 0x3f | 0x37) {
                    self.buffer(dword(stream, 4), dword(stream, 8));
                }
                if count >= 3 {
                    self.command(address, opcode, [4, 8, 12].map(|at| dword(stream, at)));
                }
            }
            _ => panic!("type 1 at {address:#x}"),
        }
        4 + count * 4
    }
}

/// The common fields of events; the others are ignored.
#[derive(Deserialize)]
struct Event {
    kind: String,
    submit: usize,
    #[serde(default)]
    address: u32,
    #[serde(default)]
    reg: u32,
    #[serde(default)]
    value: u32,
}

fn events(bytes: &[u8]) -> Vec<Event> {
    let options = Options { format: Format::Jsonl, ..Options::default() };
    let mut out = Vec::new();
    let sections = Sections::new(bytes).unwrap();
    let status =
        decode(sections, "x", &options, &Shared::default(), Output::new(Box::new(&mut out))).unwrap();
    assert_eq!(status, Status::Fine);
    let lines = out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn compare(path: &Path) -> Result<(), Failed> {
    let bytes = unpacked(path);
    let (plain, events) = (Plain::capture(&bytes), events(&bytes));
    let of = |kind: &'static str| events.iter().filter(move |event| event.kind == kind);
    let writes: Vec<_> = of("reg").map(|e| (e.submit, e.address, e.reg, e.value)).collect();
    assert_eq!(writes.len(), plain.writes.len());
    if let Some((shown, real)) = writes.iter().zip(&plain.writes).find(|(shown, real)| shown != real) {
        return Err(format!("shows {shown:x?} where the stream has {real:x?}").into());
    }
    assert_eq!(of("packet").count(), plain.type3);
    assert_eq!(of("submit").count(), plain.submits);
    if path.ends_with("hardware/glxgears-a420.rd.gz") {
        assert_eq!((plain.submits, plain.writes.len(), plain.type3), (245, 154_707, 9_957));
    }
    Ok(())
}

fn captures() -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("A4EMU_SHARED").map_or(beside, PathBuf::from).join("captures");
    let Ok(folders) = std::fs::read_dir(&shared) else {
        eprintln!("SKIPPED: no captures at {}: nothing was compared", shared.display());
        return Vec::new();
    };
    let files = folders.flatten().filter_map(|folder| std::fs::read_dir(folder.path()).ok());
    let mut paths: Vec<_> = files.flat_map(|files| files.flatten()).map(|file| file.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".rd.gz"));
    paths.sort();
    paths
}

fn main() {
    let trials = captures().into_iter().map(|path| {
        let name = path.components().rev().take(2).map(|part| part.as_os_str().to_string_lossy());
        let name = name.collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("/");
        Trial::test(name, move || compare(&path))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}
