//! VFD: vertex fetch and decode.
use super::sets::*;
use crate::a6xx::enums::*;
use crate::bits::*;

register_rows! {
    0xa001 VFD_CONTROL_1 {
        0..7 REGID4VTX: RegId; 8..15 REGID4INST: RegId; 16..23 REGID4PRIMID: RegId;
        24..31 REGID4VIEWID: RegId;
    }
    0xa002 VFD_CONTROL_2 { 0..7 REGID_HSRELPATCHID: RegId; 8..15 REGID_INVOCATIONID: RegId; }
    0xa003 VFD_CONTROL_3 {
        0..7 REGID_DSPRIMID: RegId; 8..15 REGID_DSRELPATCHID: RegId; 16..23 REGID_TESSX: RegId;
        24..31 REGID_TESSY: RegId;
    }
    0xa004 VFD_CONTROL_4 { 0..7 UNK0: RegId; }
    0xa005 VFD_CONTROL_5 { 0..7 REGID_GSHEADER: RegId; 8..15 UNK8: RegId; }
    0xa006 VFD_CONTROL_6 { 0..0 PRIMID4PSEN: Bool; }
    0xa007 VFD_MODE_CNTL { 0..2 RENDER_MODE: RenderMode; }
    0xa008 VFD_MULTIVIEW_CNTL { like A6XX_MULTIVIEW_CNTL }
    0xa009 VFD_ADD_OFFSET { 0..0 VERTEX: Bool; 1..1 INSTANCE: Bool; }
    0xa0f8 VFD_POWER_CNTL {}
    0xa601 VFD_ADDR_MODE_CNTL { 0..31 VALUE: AddressMode; }
    0xa610 VFD_PERFCTR_VFD_SEL[8 x 1] { 0..31 VALUE: VfdPerfcounterSelect; }
}
