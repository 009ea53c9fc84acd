//! TPL1: texture pipe.
use crate::a6xx::enums::*;
use crate::bits::*;

register_rows! {
    0xb600 TPL1_DBG_ECO_CNTL {}
    0xb601 TPL1_ADDR_MODE_CNTL { 0..31 VALUE: AddressMode; }
    0xb602 TPL1_DBG_ECO_CNTL1 { 18..18 TP_UBWC_FLAG_HINT: Bool; }
    0xb604 TPL1_NC_MODE_CNTL {
        0..0 MODE: Bool; 1..2 LOWER_BIT: Uint; 3..3 MIN_ACCESS_LENGTH: Bool; 4..4 UPPER_BIT: Uint;
        6..7 UNK6: Hex;
    }
    0xb605 TPL1_UNKNOWN_B605 { 0..31 VALUE: Uint; }
    0xb608 TPL1_BICUBIC_WEIGHTS_TABLE_0 {}
    0xb609 TPL1_BICUBIC_WEIGHTS_TABLE_1 {}
    0xb60a TPL1_BICUBIC_WEIGHTS_TABLE_2 {}
    0xb60b TPL1_BICUBIC_WEIGHTS_TABLE_3 {}
    0xb60c TPL1_BICUBIC_WEIGHTS_TABLE_4 {}
    0xb610 TPL1_PERFCTR_TP_SEL[12 x 1] { 0..31 VALUE: TpPerfcounterSelect; }
}
