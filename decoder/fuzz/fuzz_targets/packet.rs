//! Any dwords: packets advance, none reaches past the end, and every body,
//! register and loaded state prints.
#![no_main]

use a4emu_decoder::packet::{Packet, Packets};
use a4emu_decoder::pm4::{Pm4, row};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let (dwords, _) = input.as_chunks();
    let dwords: Vec<u32> = dwords.iter().map(|&dword| u32::from_le_bytes(dword)).collect();
    let mut packets = Packets::new(&dwords);
    let mut before = 0;
    while let Some(packet) = packets.next() {
        let Ok(packet) = packet else { break };
        assert!(packets.offset() > before && packets.offset() <= dwords.len());
        before = packets.offset();
        let _ = packet.writes().count();
        let Packet::Type3 { opcode, payload, .. } = packet else { continue };
        let body = Pm4::parse(opcode, payload);
        let _ = (format!("{body:?}"), body.call(), body.register_values());
        assert_eq!(row(opcode).is_none(), matches!(body, Pm4::Unknown { .. }));
        if let Pm4::LoadState4(load) = body {
            let _ = (load.source(), load.kind().words());
        }
    }
});
