//! The opcodes, one row each.

use super::words::*;
use crate::adreno::pm4::{DwordRow, PacketRow, joined, packets, whole};
use crate::bits::*;

packets! {
    /// Does nothing. Mesa puts debug strings and address lists in it.
    0x10 CP_NOP: Nop {}
    0x11 CP_RECORD_PFP_TIMESTAMP: RecordPfpTimestamp {}
    0x12 CP_WAIT_MEM_WRITES: WaitMemWrites {}
    0x13 CP_WAIT_FOR_ME: WaitForMe {}
    0x17 IN_IB_PREFETCH_END: IbPrefetchEnd {}
    /// Also resets the predicate to pass and the local switch to on.
    0x19 CP_DRAW_PRED_ENABLE_GLOBAL: DrawPredEnableGlobal { enable as CP_DRAW_PRED_ENABLE }
    0x1a CP_DRAW_PRED_ENABLE_LOCAL: DrawPredEnableLocal { enable as CP_DRAW_PRED_ENABLE }
    0x1c CP_PREEMPT_ENABLE: PreemptEnable {}
    0x1e CP_PREEMPT_TOKEN: PreemptToken {}
    0x1f IN_SUBBLK_PREFETCH: SubblkPrefetch {}
    0x20 IN_INSTR_PREFETCH: InstrPrefetch {}
    /// `dst = rotl(dst & src0, rotate) | src1`, or `+ src1`.
    0x21 CP_REG_RMW: RegRmw { control as CP_REG_RMW_0, SRC0: Hex, SRC1: Hex }
    /// Draw of A3xx and before.
    0x22 CP_DRAW_INDX: DrawIndx { VIZ_QUERY: Hex, initiator as VGT_DRAW_INITIATOR, NUM_INDICES: Uint }
        ? { INDX_BASE: Hex, INDX_SIZE: Uint }
    0x23 CP_VIZ_QUERY: VizQuery {}
    /// Draw whose vertex count comes from a stream-out counter. Its layout is guess `draw-auto`.
    0x24 CP_DRAW_AUTO: DrawAuto { initiator as VGT_DRAW_INITIATOR_A4XX, NUM_INSTANCES: Uint }
        ? { DWORD2: Hex, ADDR0: Hex, ADDR1: Hex, STRIDE: Uint }
    0x25 CP_SET_STATE: SetState {}
    0x26 CP_WAIT_FOR_IDLE: WaitForIdle {}
    /// Shader load of A2xx.
    0x27 CP_IM_LOAD: ImLoad {}
    /// Memory at INDIRECT: vertex count, instances, first vertex, first instance.
    0x28 CP_DRAW_INDIRECT: DrawIndirect { initiator as VGT_DRAW_INITIATOR_A4XX, INDIRECT: Hex }
    /// Memory at INDIRECT: index count, instances, first index, base vertex, first instance.
    0x29 CP_DRAW_INDX_INDIRECT: DrawIndxIndirect {
        initiator as VGT_DRAW_INITIATOR_A4XX, INDX_BASE: Hex, INDX_SIZE: Uint, INDIRECT: Hex
    }
    /// Shader load of A2xx, code in the packet.
    0x2b CP_IM_LOAD_IMMEDIATE: ImLoadImmediate {}
    /// Writes context registers: values, or with ADD the sum of a register and a constant.
    0x2d CP_SET_CONSTANT: SetConstant { control as CP_SET_CONSTANT_0 }
    /// Where the visibility stream of the bin is.
    0x2f CP_SET_BIN_DATA: SetBinData { BIN_DATA_ADDR: Hex, BIN_SIZE_ADDRESS: Hex }
    /// Loads shader code, constants, textures, samplers or buffers.
    0x30 CP_LOAD_STATE4: LoadState4 { dst as CP_LOAD_STATE4_0, src as CP_LOAD_STATE4_1 }
    /// Dispatch whose group counts are in registers.
    0x31 CP_RUN_OPENCL: RunOpencl {}
    /// A flag, then address and size; treated as unconditional (guess `conditional-buffer`).
    0x32 CP_COND_INDIRECT_BUFFER_PFD: CondIndirectBufferPfd { FLAG: Hex, IB_BASE: Hex, size as CP_INDIRECT_BUFFER_1 }
    0x33 CP_EXEC_CS: ExecCs { ZERO: Hex, NGROUPS_X: Uint, NGROUPS_Y: Uint, NGROUPS_Z: Uint }
    0x34 CP_DRAW_INDX_BIN: DrawIndxBin {}
    0x35 CP_DRAW_INDX_2_BIN: DrawIndx2Bin {}
    /// Draw of A3xx and before; the indices follow.
    0x36 CP_DRAW_INDX_2: DrawIndx2 { VIZ_QUERY: Hex, initiator as VGT_DRAW_INITIATOR, NUM_INDICES: Uint }
    /// Calls a buffer, prefetch disabled.
    0x37 CP_INDIRECT_BUFFER_PFD: IndirectBufferPfd { IB_BASE: Hex, size as CP_INDIRECT_BUFFER_1 }
    /// The draw of A4xx. Without the optional dwords indices count up from 0.
    0x38 CP_DRAW_INDX_OFFSET: DrawIndxOffset {
        initiator as VGT_DRAW_INITIATOR_A4XX, NUM_INSTANCES: Uint, NUM_INDICES: Uint
    } ? { FIRST_INDX: Uint, INDX_BASE: Hex, INDX_SIZE: Uint }
    /// A flag, then address and size; treated as unconditional (guess `conditional-buffer`).
    0x3a CP_COND_INDIRECT_BUFFER_PFE: CondIndirectBufferPfe { FLAG: Hex, IB_BASE: Hex, size as CP_INDIRECT_BUFFER_1 }
    /// Drops cached state pointers; the bits are not public.
    0x3b CP_INVALIDATE_STATE: InvalidateState {} ? { MASK: Hex }
    0x3c CP_WAIT_REG_MEM: WaitRegMem { control as CP_WAIT_REG_MEM_0, POLL_ADDR: Hex, REF: Hex, MASK: Hex }
        ? { DELAY_LOOP_CYCLES: Uint }
    /// The dwords to write follow.
    0x3d CP_MEM_WRITE: MemWrite { ADDR: Hex }
    0x3e CP_REG_TO_MEM: RegToMem { control as CP_REG_TO_MEM_0, DEST: Hex }
    /// Calls a buffer.
    0x3f CP_INDIRECT_BUFFER: IndirectBuffer { IB_BASE: Hex, size as CP_INDIRECT_BUFFER_1 }
    0x40 CP_INTERRUPT: Interrupt {}
    /// Memory at ADDR: groups in x, y, z.
    0x41 CP_EXEC_CS_INDIRECT: ExecCsIndirect { ZERO: Hex, ADDR: Hex, local_size as CP_EXEC_CS_INDIRECT_2 }
    0x42 CP_MEM_TO_REG: MemToReg { control as CP_MEM_TO_REG_0, SRC: Hex }
    /// State buffers to execute before the next draw.
    0x43 CP_SET_DRAW_STATE: SetDrawState {} * { control as CP_SET_DRAW_STATE_0, ADDR: Hex }
    /// Executes the next DWORDS only if *ADDR0 is not 0 and *ADDR1 is less than REF (signed).
    0x44 CP_COND_EXEC: CondExec { ADDR0: Hex, ADDR1: Hex, REF: Hex, DWORDS: Uint }
    0x45 CP_COND_WRITE: CondWrite {
        control as CP_COND_WRITE_0, POLL_ADDR: Hex, REF: Hex, MASK: Hex, WRITE_ADDR: Hex, WRITE_DATA: Hex
    }
    0x46 CP_EVENT_WRITE: EventWrite { event as CP_EVENT_WRITE_0 } ? { ADDR: Hex, DATA: Hex }
    /// Executes the next dwords only if a predicate or two equal registers say so.
    0x47 CP_COND_REG_EXEC: CondRegExec { control as CP_COND_REG_EXEC_0 }
    0x48 CP_ME_INIT: MeInit {}
    /// The same number was CP_SET_SHADER_BASES on earlier chips.
    0x4a CP_REG_TO_SCRATCH: RegToScratch { control as CP_REG_TO_SCRATCH_0 }
    /// MASK is or-ed into later draw initiators.
    0x4b CP_SET_DRAW_INIT_FLAGS: SetDrawInitFlags { MASK: Hex }
    /// Screen rectangle of the bin, lower right inclusive.
    0x4c CP_SET_BIN: SetBin { ZERO: Hex, first as CP_SET_BIN_1, last as CP_SET_BIN_2 }
    0x4d CP_SCRATCH_TO_REG: ScratchToReg { control as CP_SCRATCH_TO_REG_0 }
    0x4e CP_DRAW_PRED_SET: DrawPredSet { control as CP_DRAW_PRED_SET_0 } ? { MEM_ADDR: Hex }
    /// Writes the CP's program counter to memory; layout not public.
    0x4f CP_MEM_WRITE_CNTR: MemWriteCntr {}
    0x50 CP_SET_BIN_MASK: SetBinMask { LO: Hex, HI: Hex }
    0x51 CP_SET_BIN_SELECT: SetBinSelect { LO: Hex, HI: Hex }
    0x52 CP_WAIT_REG_EQ: WaitRegEq { REG: Hex, REF: Hex, MASK: Hex } ? { DELAY_LOOP_CYCLES: Uint }
    0x53 CP_WAIT_REG_GTE: WaitRegGte { REG: Hex, REF: Hex, MASK: Hex } ? { DELAY_LOOP_CYCLES: Uint }
    0x55 IN_INCR_UPDT_STATE: IncrUpdtState {}
    0x56 IN_INCR_UPDT_CONST: IncrUpdtConst {}
    0x57 IN_INCR_UPDT_INSTR: IncrUpdtInstr {}
    0x58 CP_EVENT_WRITE_SHD: EventWriteShd { event as CP_EVENT_WRITE_0, ADDR: Hex, DATA: Hex }
    0x59 CP_EVENT_WRITE_CFL: EventWriteCfl { event as CP_EVENT_WRITE_0, ADDR: Hex, DATA: Hex }
    0x5b CP_EVENT_WRITE_ZPD: EventWriteZpd { event as CP_EVENT_WRITE_0, ADDR: Hex, DATA: Hex }
    0x5c CP_WAIT_UNTIL_READ: WaitUntilRead {}
    0x5d CP_WAIT_IB_PFD_COMPLETE: WaitIbPfdComplete {}
    0x5e CP_CONTEXT_UPDATE: ContextUpdate {}
    0x5f CP_SET_PROTECTED_MODE: SetProtectedMode {}
    0x66 CP_SET_SECURE_MODE: SetSecureMode {}
    0x6f CP_BOOTSTRAP_UCODE: BootstrapUcode {}
    /// Compares two memory dwords; layout from a one-line description, unverified.
    0x71 CP_TEST_TWO_MEMS: TestTwoMems { ADDR0: Hex, REF0: Hex, ADDR1: Hex, REF1: Hex } ? { DWORDS: Uint }
    /// `*DST` = sum of `*SRC`, each negated if its NEG bit is set.
    0x73 CP_MEM_TO_MEM: MemToMem { control as CP_MEM_TO_MEM_0, DST: Hex } * { SRC: Hex }
    /// Register writes above the reach of type 0; the values follow.
    0x74 CP_WIDE_REG_WRITE: WideRegWrite { reg as CP_WIDE_REG_WRITE_0 } * { VALUE: Hex }
    /// Register write that ignores banking.
    0x78 CP_REG_WR_NO_CTXT: RegWrNoCtxt { REG: Hex, VALUE: Hex }
}
