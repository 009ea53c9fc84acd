//! An independent reader of captures: sections, calls and register writes, without code of the emulator. It
//! has the value of every register at every draw.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// Registers written between the previous draw and this one, with their last value.
pub type Writes = BTreeMap<u32, u32>;

/// The contents of a capture's stream.
#[derive(Default)]
pub struct Walk {
    buffers: Vec<(u32, Vec<u8>)>,
    registers: BTreeMap<u32, u32>,
    since: Writes,
    /// One entry for each draw and dispatch.
    pub draws: Vec<Writes>,
    /// Number of dwords of packets that were executed.
    pub dwords: usize,
}

fn word(bytes: &[u8], index: usize) -> u32 {
    u32::from_le_bytes(bytes[index * 4..index * 4 + 4].try_into().unwrap())
}

/// The unpacked bytes of a capture.
pub fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = File::open(path).unwrap();
    MultiGzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

impl Walk {
    /// Walks through a whole capture.
    pub fn of(bytes: &[u8]) -> Self {
        let mut walk = Self::default();
        let (mut rest, mut announced, mut executed) = (bytes, 0, true);
        while rest.len() >= 8 {
            let (id, size) = (word(rest, 0), word(rest, 1) as usize);
            let payload = &rest[8..8 + size];
            match id {
                3 if std::mem::take(&mut executed) => {
                    walk.buffers.clear();
                    announced = word(payload, 0);
                }
                3 => announced = word(payload, 0),
                12 => walk.buffers.push((announced, payload.to_vec())),
                6 => {
                    executed = true;
                    walk.call(word(payload, 0), word(payload, 1) as usize);
                }
                _ => {}
            }
            rest = &rest[8 + size..];
        }
        walk
    }

    fn bytes_at(&self, address: u32, dwords: usize) -> &[u8] {
        let holds = |(base, bytes): &&(u32, Vec<u8>)| {
            (u64::from(*base)..u64::from(*base) + bytes.len() as u64).contains(&u64::from(address))
        };
        let (base, bytes) = self.buffers.iter().find(holds).expect("a buffer");
        &bytes[(address - base) as usize..][..dwords * 4]
    }

    fn call(&mut self, address: u32, dwords: usize) {
        let words: Vec<u32> = {
            let bytes = self.bytes_at(address, dwords);
            (0..dwords).map(|index| word(bytes, index)).collect()
        };
        self.dwords += dwords;
        let mut at = 0;
        while at < dwords {
            let header = words[at];
            let count = match header >> 30 {
                2 => 0,
                _ => (header >> 16 & 0x3fff) as usize + 1,
            };
            let payload = &words[at + 1..at + 1 + count];
            match header >> 30 {
                0 => self.type_0(header & 0x7fff, header >> 15 & 1, payload),
                3 => self.type_3(header >> 8 & 0x7f, payload),
                _ => {}
            }
            at += 1 + count;
        }
    }

    fn set(&mut self, register: u32, value: u32) {
        self.registers.insert(register, value);
        self.since.insert(register, value);
    }

    fn get(&self, register: u32) -> u32 {
        self.registers.get(&register).copied().unwrap_or(0)
    }

    fn type_0(&mut self, register: u32, one: u32, values: &[u32]) {
        for (index, value) in values.iter().enumerate() {
            self.set(register + if one == 1 { 0 } else { index as u32 }, *value);
        }
    }

    fn type_3(&mut self, opcode: u32, payload: &[u32]) {
        match opcode {
            0x3f | 0x37 => self.call(payload[0], payload[1] as usize),
            0x2d if payload[0] >> 31 == 1 => {
                self.set(0x2000 + (payload[0] & 0xffff), self.get(payload[1]).wrapping_add(payload[2]));
            }
            0x2d => self.type_0(0x2000 + (payload[0] & 0xffff), 0, &payload[1..]),
            0x21 => {
                let kept = self.get(payload[0] & 0x3_ffff) & payload[1];
                assert_eq!(payload[0] >> 24, 0, "only the plain form occurs");
                self.set(payload[0] & 0x3_ffff, kept | payload[2]);
            }
            0x22 | 0x28 | 0x29 | 0x33 | 0x36 | 0x38 | 0x41 => {
                self.draws.push(std::mem::take(&mut self.since))
            }
            0x42 | 0x45 | 0x4d | 0x74 | 0x78 => panic!("packet {opcode:#x} writes registers too"),
            _ => {}
        }
    }
}
