//! CP: command processor.
//!
//! Mostly the kernel's business; streams use the scratch registers and the NRT port.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    0x0200 CP_RB_BASE { 0..31 VALUE: Hex; }
    0x0201 CP_RB_CNTL { 0..31 VALUE: Hex; }
    0x0203 CP_RB_RPTR_ADDR { 0..31 VALUE: Hex; }
    0x0204 CP_RB_RPTR { 0..31 VALUE: Hex; }
    0x0205 CP_RB_WPTR { 0..31 VALUE: Hex; }
    0x0206 CP_IB1_BASE { 0..31 VALUE: Hex; }
    0x0207 CP_IB1_BUFSZ { 0..31 VALUE: Hex; }
    0x0208 CP_IB2_BASE { 0..31 VALUE: Hex; }
    0x0209 CP_IB2_BUFSZ { 0..31 VALUE: Hex; }
    /// Address that the next write of CP_ME_NRT_DATA goes to.
    0x020c CP_ME_NRT_ADDR { 0..31 VALUE: Addr<0>; }
    /// Writing stores the value at CP_ME_NRT_ADDR, which then advances by 4.
    0x020d CP_ME_NRT_DATA { 0..31 VALUE: Hex; }
    0x0217 CP_ME_RB_DONE_DATA { 0..31 VALUE: Hex; }
    0x0219 CP_QUEUE_THRESH2 { 0..31 VALUE: Hex; }
    0x021b CP_MERCIU_SIZE { 0..31 VALUE: Hex; }
    0x021c CP_ROQ_ADDR { 0..31 VALUE: Hex; }
    0x021d CP_ROQ_DATA { 0..31 VALUE: Hex; }
    0x021e CP_MEQ_ADDR { 0..31 VALUE: Hex; }
    0x021f CP_MEQ_DATA { 0..31 VALUE: Hex; }
    0x0220 CP_MERCIU_ADDR { 0..31 VALUE: Hex; }
    0x0221 CP_MERCIU_DATA { 0..31 VALUE: Hex; }
    0x0222 CP_MERCIU_DATA2 { 0..31 VALUE: Hex; }
    0x0223 CP_PFP_UCODE_ADDR { 0..31 VALUE: Hex; }
    0x0224 CP_PFP_UCODE_DATA { 0..31 VALUE: Hex; }
    0x0225 CP_ME_RAM_WADDR { 0..31 VALUE: Hex; }
    0x0226 CP_ME_RAM_RADDR { 0..31 VALUE: Hex; }
    0x0227 CP_ME_RAM_DATA { 0..31 VALUE: Hex; }
    0x0228 CP_SCRATCH_UMASK { 0..31 VALUE: Hex; }
    0x0229 CP_SCRATCH_ADDR { 0..31 VALUE: Hex; }
    0x022a CP_PREEMPT { 0..31 VALUE: Hex; }
    0x022c CP_CNTL { 0..31 VALUE: Hex; }
    0x022d CP_ME_CNTL { 0..31 VALUE: Hex; }
    0x022e CP_DEBUG { 0..31 VALUE: Hex; }
    0x0231 CP_DEBUG_ECO_CONTROL { 0..31 VALUE: Hex; }
    /// Where CP_SET_DRAW_STATE last pointed.
    0x0232 CP_DRAW_STATE_ADDR { 0..31 VALUE: Hex; }
    /// Register ranges that a command stream may not touch.
    0x0240 CP_PROTECT[16 x 1] as CP_PROTECT {
        0..16 BASE_ADDR: Hex;
        24..28 MASK_LEN: Hex;
        29..29 TRAP_WRITE: Bool;
        30..30 TRAP_READ: Bool;
    }
    0x0250 CP_PROTECT_CTRL { 0..31 VALUE: Hex; }
    0x04c0 CP_ST_BASE { 0..31 VALUE: Hex; }
    0x04ce CP_STQ_AVAIL { 0..31 VALUE: Hex; }
    0x04d0 CP_MERCIU_STAT { 0..31 VALUE: Hex; }
    0x04d2 CP_WFI_PEND_CTR { 0..31 VALUE: Hex; }
    0x04d8 CP_HW_FAULT { 0..31 VALUE: Hex; }
    0x04da CP_PROTECT_STATUS { 0..31 VALUE: Hex; }
    0x04dd CP_EVENTS_IN_FLIGHT { 0..31 VALUE: Hex; }
    flat 0x0500 CP_PERFCTR_CP_SEL[8 x 1] as CP_PERFCTR_CP_SEL { 0..31 VALUE: CpPerfcounterSelect; }
    0x050b CP_PERFCOMBINER_SELECT { 0..31 VALUE: Hex; }
    /// Plain storage, read by CP_REG_TO_MEM. Drivers use 2 for the fence, 4 for the query
    /// base and 5 to 7 as markers.
    0x0578 CP_SCRATCH[23 x 1] as CP_SCRATCH { 0..31 VALUE: Hex; }
}
