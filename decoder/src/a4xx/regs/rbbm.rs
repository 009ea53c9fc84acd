//! RBBM: register bus, reset, power, interrupts and status. None of it changes what is drawn.
use crate::bits::*;

registers! {
    0x0000 RBBM_HW_VERSION { 0..31 VALUE: Hex; }
    0x0002 RBBM_HW_CONFIGURATION { 0..31 VALUE: Hex; }
    0x0021 RBBM_SP_HYST_CNT { 0..31 VALUE: Hex; }
    0x0022 RBBM_SW_RESET_CMD { 0..31 VALUE: Hex; }
    0x0023 RBBM_AHB_CTL0 { 0..31 VALUE: Hex; }
    0x0024 RBBM_AHB_CTL1 { 0..31 VALUE: Hex; }
    0x0025 RBBM_AHB_CMD { 0..31 VALUE: Hex; }
    0x0026 RBBM_RB_SUB_BLOCK_SEL_CTL { 0..31 VALUE: Hex; }
    0x0028 RBBM_RAM_ACC_63_32 { 0..31 VALUE: Hex; }
    0x002b RBBM_WAIT_IDLE_CLOCKS_CTL { 0..31 VALUE: Hex; }
    0x002f RBBM_INTERFACE_HANG_INT_CTL { 0..31 VALUE: Hex; }
    0x0034 RBBM_INTERFACE_HANG_MASK_CTL4 { 0..31 VALUE: Hex; }
    /// Interrupts to acknowledge.
    0x0036 RBBM_INT_CLEAR_CMD {
        0..0 RBBM_GPU_IDLE: Bool;
        1..1 RBBM_AHB_ERROR: Bool;
        2..2 RBBM_REG_TIMEOUT: Bool;
        3..3 RBBM_ME_MS_TIMEOUT: Bool;
        4..4 RBBM_PFP_MS_TIMEOUT: Bool;
        5..5 RBBM_ATB_BUS_OVERFLOW: Bool;
        6..6 VFD_ERROR: Bool;
        7..7 CP_SW_INT: Bool;
        8..8 CP_T0_PACKET_IN_IB: Bool;
        9..9 CP_OPCODE_ERROR: Bool;
        10..10 CP_RESERVED_BIT_ERROR: Bool;
        11..11 CP_HW_FAULT: Bool;
        12..12 CP_DMA: Bool;
        13..13 CP_IB2_INT: Bool;
        14..14 CP_IB1_INT: Bool;
        15..15 CP_RB_INT: Bool;
        16..16 CP_REG_PROTECT_FAULT: Bool;
        17..17 CP_RB_DONE_TS: Bool;
        18..18 CP_VS_DONE_TS: Bool;
        19..19 CP_PS_DONE_TS: Bool;
        20..20 CACHE_FLUSH_TS: Bool;
        21..21 CP_AHB_ERROR_HALT: Bool;
        24..24 MISC_HANG_DETECT: Bool;
        25..25 UCHE_OOB_ACCESS: Bool;
    }
    /// Interrupts that are enabled.
    0x0037 RBBM_INT_0_MASK { like RBBM_INT_CLEAR_CMD }
    0x003e RBBM_RBBM_CTL { 0..31 VALUE: Hex; }
    0x003f RBBM_AHB_DEBUG_CTL { 0..31 VALUE: Hex; }
    0x0041 RBBM_VBIF_DEBUG_CTL { 0..31 VALUE: Hex; }
    0x0045 RBBM_BLOCK_SW_RESET_CMD { 0..31 VALUE: Hex; }
    0x0047 RBBM_RESET_CYCLES { 0..31 VALUE: Hex; }
    0x0049 RBBM_EXT_TRACE_BUS_CTL { 0..31 VALUE: Hex; }
    0x004a RBBM_CFG_DEBBUS_SEL_A { 0..31 VALUE: Hex; }
    0x004b RBBM_CFG_DEBBUS_SEL_B { 0..31 VALUE: Hex; }
    0x004c RBBM_CFG_DEBBUS_SEL_C { 0..31 VALUE: Hex; }
    0x004d RBBM_CFG_DEBBUS_SEL_D { 0..31 VALUE: Hex; }
    0x0098 RBBM_POWER_CNTL_IP { 0..0 SW_COLLAPSE: Bool; 20..20 SP_TP_PWR_ON: Bool; }
    0x0099 RBBM_SP_REGFILE_SLEEP_CNTL_0 { 0..31 VALUE: Hex; }
    0x009a RBBM_SP_REGFILE_SLEEP_CNTL_1 { 0..31 VALUE: Hex; }
    0x017a RBBM_GPU_BUSY_MASKED { 0..31 VALUE: Hex; }
    /// Interrupts that are pending.
    0x017d RBBM_INT_0_STATUS { like RBBM_INT_CLEAR_CMD }
    0x0189 RBBM_AHB_STATUS { 0..31 VALUE: Hex; }
    0x018c RBBM_AHB_ME_SPLIT_STATUS { 0..31 VALUE: Hex; }
    0x018d RBBM_AHB_PFP_SPLIT_STATUS { 0..31 VALUE: Hex; }
    0x018f RBBM_AHB_ERROR_STATUS { 0..31 VALUE: Hex; }
    0x0191 RBBM_STATUS {
        0..0 HI_BUSY: Bool;
        1..1 CP_ME_BUSY: Bool;
        2..2 CP_PFP_BUSY: Bool;
        14..14 CP_NRT_BUSY: Bool;
        15..15 VBIF_BUSY: Bool;
        16..16 TSE_BUSY: Bool;
        17..17 RAS_BUSY: Bool;
        18..18 RB_BUSY: Bool;
        19..19 PC_DCALL_BUSY: Bool;
        20..20 PC_VSD_BUSY: Bool;
        21..21 VFD_BUSY: Bool;
        22..22 VPC_BUSY: Bool;
        23..23 UCHE_BUSY: Bool;
        24..24 SP_BUSY: Bool;
        25..25 TPL1_BUSY: Bool;
        26..26 MARB_BUSY: Bool;
        27..27 VSC_BUSY: Bool;
        28..28 ARB_BUSY: Bool;
        29..29 HLSQ_BUSY: Bool;
        30..30 GPU_BUSY_NOHC: Bool;
        31..31 GPU_BUSY: Bool;
    }
    0x019f RBBM_INTERFACE_RRDY_STATUS5 { 0..31 VALUE: Hex; }
    0x01b0 RBBM_POWER_STATUS { 20..20 SP_TP_PWR_ON: Bool; }
    0x01b8 RBBM_WAIT_IDLE_CLOCKS_CTL2 { 0..31 VALUE: Hex; }
}
