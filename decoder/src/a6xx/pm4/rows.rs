//! The opcodes of type-7 packets, one row each.

use super::bodies::indirect_draws;
use super::words::*;
use crate::adreno::address::Address;
use crate::adreno::pm4::{DwordRow, PacketRow, joined, packets, whole};
use crate::bits::*;

packets! {
    0x04 PKT4: Pkt4 {}
    0x0a IN_IB_END: IbEnd {}
    0x0b IN_GMU_INTERRUPT: GmuInterrupt {}
    0x0f IN_PREEMPT: Preempt {}
    /// Does nothing. Mesa puts debug strings in it.
    0x10 CP_NOP: Nop {}
    0x11 CP_RECORD_PFP_TIMESTAMP: RecordPfpTimestamp {}
    0x12 CP_WAIT_MEM_WRITES: WaitMemWrites {}
    0x13 CP_WAIT_FOR_ME: WaitForMe {}
    /// Waits until a dword of memory is at least REF.
    0x14 CP_WAIT_MEM_GTE: WaitMemGte { RESERVED: Hex, POLL_ADDR: Wide, REF: Hex }
    0x19 CP_DRAW_PRED_ENABLE_GLOBAL: DrawPredEnableGlobal { enable as CP_DRAW_PRED_ENABLE }
    0x1a CP_DRAW_PRED_ENABLE_LOCAL: DrawPredEnableLocal { enable as CP_DRAW_PRED_ENABLE }
    /// With 1, buffers called at the second level are skipped.
    0x1d CP_SKIP_IB2_ENABLE_GLOBAL: SkipIb2EnableGlobal {} ? { ENABLE: Hex }
    /// `dst = rotl(dst & src0, rotate) | src1`, or `+ src1`.
    0x21 CP_REG_RMW: RegRmw { control as CP_REG_RMW_0, SRC0: Hex, SRC1: Hex }
    /// Draw of A3xx and before.
    0x22 CP_DRAW_INDX: DrawIndx { VIZ_QUERY: Hex, initiator as VGT_DRAW_INITIATOR, NUM_INDICES: Uint }
        ? { INDX_BASE: Hex, INDX_SIZE: Uint }
    /// With 1, buffers called at the second level by this one are skipped.
    0x23 CP_SKIP_IB2_ENABLE_LOCAL: SkipIb2EnableLocal {} ? { ENABLE: Hex }
    /// Draw whose vertex count comes from what stream-out wrote.
    0x24 CP_DRAW_AUTO: DrawAuto { initiator as VGT_DRAW_INITIATOR_A4XX, NUM_INSTANCES: Uint,
        NUM_VERTICES_BASE: Wide, NUM_VERTICES_OFFSET: Uint, STRIDE: Uint }
    0x25 CP_SET_STATE: SetState {}
    0x26 CP_WAIT_FOR_IDLE: WaitForIdle {}
    0x27 CP_IM_LOAD: ImLoad {}
    /// Memory at INDIRECT: vertex count, instances, first vertex, first instance.
    0x28 CP_DRAW_INDIRECT: DrawIndirect { initiator as VGT_DRAW_INITIATOR_A4XX, INDIRECT: Wide }
    /// Memory at INDIRECT: index count, instances, first index, base vertex, first instance.
    0x29 CP_DRAW_INDX_INDIRECT: DrawIndxIndirect { initiator as VGT_DRAW_INITIATOR_A4XX,
        INDX_BASE: Wide, MAX_INDICES: Uint, INDIRECT: Wide }
    /// Several indirect draws. OPCODE selects what follows DRAW_COUNT: with indices INDEX and MAX_INDICES come first;
    /// with a count in memory its address comes after INDIRECT; STRIDE is last.
    0x2a CP_DRAW_INDIRECT_MULTI: DrawIndirectMulti { initiator as VGT_DRAW_INITIATOR_A4XX,
        control as CP_DRAW_INDIRECT_MULTI_1, DRAW_COUNT: Uint } by indirect_draws
    0x2b CP_IM_LOAD_IMMEDIATE: ImLoadImmediate {}
    /// Starts the 2D engine, or writes an event with an address.
    0x2c CP_BLIT: Blit { control as CP_BLIT_0 }
        ? { source as CP_BLIT_1, source_end as CP_BLIT_2, destination as CP_BLIT_3, destination_end as CP_BLIT_4 }
    /// Visibility streams of a bin, as offsets of those that CP_SET_PSEUDO_REG set.
    0x2e CP_SET_BIN_DATA5_OFFSET: SetBinData5Offset { control as CP_SET_BIN_DATA5_0, BIN_DATA_OFFSET: Uint,
        BIN_SIZE_OFFSET: Uint, BIN_DATA2_OFFSET: Uint }
    /// Where the visibility streams of a bin are.
    0x2f CP_SET_BIN_DATA5: SetBinData5 { control as CP_SET_BIN_DATA5_0, BIN_DATA_ADDR: Wide, BIN_SIZE_ADDRESS: Wide }
        ? { BIN_PRIM_STRM: Wide }
    /// Dispatch whose group counts are in registers.
    0x31 CP_RUN_OPENCL: RunOpencl {} ? { ZERO: Hex }
    /// Loads state of the stages before the rasteriser.
    0x32 CP_LOAD_STATE6_GEOM: LoadState6Geom { dst as CP_LOAD_STATE6_0, src as CP_LOAD_STATE6_1, EXT_SRC_ADDR_HI: Hex }
    0x33 CP_EXEC_CS: ExecCs { ZERO: Hex, NGROUPS_X: Uint, NGROUPS_Y: Uint, NGROUPS_Z: Uint }
    /// Loads state of the fragment and the compute stage.
    0x34 CP_LOAD_STATE6_FRAG: LoadState6Frag { dst as CP_LOAD_STATE6_0, src as CP_LOAD_STATE6_1, EXT_SRC_ADDR_HI: Hex }
    /// Vertices in a part of a tessellated draw.
    0x35 CP_SET_SUBDRAW_SIZE: SetSubdrawSize {} ? { SIZE: Uint }
    /// Loads state that both halves of the pipeline share.
    0x36 CP_LOAD_STATE6: LoadState6 { dst as CP_LOAD_STATE6_0, src as CP_LOAD_STATE6_1, EXT_SRC_ADDR_HI: Hex }
    /// Calls a buffer, prefetch disabled.
    0x37 CP_INDIRECT_BUFFER_PFD: IndirectBufferPfd { IB_BASE: Wide, size as CP_INDIRECT_BUFFER_2 }
    /// The common draw. Without the optional dwords indices count up from 0.
    0x38 CP_DRAW_INDX_OFFSET: DrawIndxOffset {
        initiator as VGT_DRAW_INITIATOR_A4XX, NUM_INSTANCES: Uint, NUM_INDICES: Uint
    } ? { FIRST_INDX: Uint, INDX_BASE: Wide, MAX_INDICES: Uint }
    /// Sets a predicate from a bit of a register.
    0x39 CP_REG_TEST: RegTest { control as CP_REG_TEST_0 } ? { PRED_MASK: Hex, PRED_VAL: Hex }
    0x3b CP_INVALIDATE_STATE: InvalidateState {} ? { MASK: Hex }
    0x3c CP_WAIT_REG_MEM: WaitRegMem { control as CP_WAIT_REG_MEM_0, POLL_ADDR: Wide,
        REF: Hex, MASK: Hex } ? { DELAY_LOOP_CYCLES: Uint }
    /// The dwords to write follow.
    0x3d CP_MEM_WRITE: MemWrite { ADDR: Wide }
    0x3e CP_REG_TO_MEM: RegToMem { control as CP_REG_TO_MEM_0, DEST: Split }
    /// Calls a buffer.
    0x3f CP_INDIRECT_BUFFER: IndirectBuffer { IB_BASE: Wide, size as CP_INDIRECT_BUFFER_2 }
    0x40 CP_INTERRUPT: Interrupt {}
    /// Memory at ADDR: groups in x, y, z.
    0x41 CP_EXEC_CS_INDIRECT: ExecCsIndirect { ZERO: Hex, ADDR: Wide, local_size as CP_EXEC_CS_INDIRECT_3 }
    0x42 CP_MEM_TO_REG: MemToReg { control as CP_MEM_TO_REG_0, SRC: Split }
    /// Groups of commands to execute before the next draw, in the passes that each names.
    0x43 CP_SET_DRAW_STATE: SetDrawState {} * { control as CP_SET_DRAW_STATE_0, ADDR: Wide }
    /// Executes the next DWORDS only if *ADDR0 is not 0 and *ADDR1 is less than REF (signed).
    0x44 CP_COND_EXEC: CondExec { ADDR0: Wide, ADDR1: Wide, REF: Hex, DWORDS: Uint }
    0x45 CP_COND_WRITE5: CondWrite5 { control as CP_WAIT_REG_MEM_0, POLL_ADDR: Wide, REF: Hex,
        MASK: Hex, WRITE_ADDR: Wide, WRITE_DATA: Hex }
    0x46 CP_EVENT_WRITE: EventWrite { event as CP_EVENT_WRITE_0 } ? { ADDR_0: Wide, DATA: Hex }
    /// Executes the next dwords only if a predicate, two equal registers, or the current pass say so.
    0x47 CP_COND_REG_EXEC: CondRegExec { control as CP_COND_REG_EXEC_0, size as CP_COND_REG_EXEC_1 }
        ? { behind as CP_COND_REG_EXEC_2 }
    0x48 CP_ME_INIT: MeInit {}
    0x4a CP_REG_TO_SCRATCH: RegToScratch { control as CP_REG_TO_SCRATCH_0 }
    0x4b CP_SET_DRAW_INIT_FLAGS: SetDrawInitFlags {} ? { MASK: Hex }
    /// Writes scratch registers; the values follow.
    0x4c CP_SCRATCH_WRITE: ScratchWrite { control as CP_SCRATCH_WRITE_0 } * { VALUE: Hex }
    0x4d CP_SCRATCH_TO_REG: ScratchToReg { control as CP_SCRATCH_TO_REG_0 }
    0x4e CP_DRAW_PRED_SET: DrawPredSet { control as CP_DRAW_PRED_SET_0 } ? { MEM_ADDR: Wide }
    0x4f CP_MEM_WRITE_CNTR: MemWriteCntr {}
    /// Runs the commands after it once for each of BIN_COUNT bins, each time after PREFIX_DWORDS at PREFIX_ADDR.
    0x50 CP_START_BIN: StartBin { BIN_COUNT: Uint, PREFIX_ADDR: Wide, PREFIX_DWORDS: Uint,
        BODY_DWORDS: Uint }
    0x51 CP_END_BIN: EndBin {}
    0x52 CP_WAIT_REG_EQ: WaitRegEq {}
    /// Sets the page table.
    0x53 CP_SMMU_TABLE_UPDATE: SmmuTableUpdate { TTBR0_LO: Hex, table as CP_SMMU_TABLE_UPDATE_1, CONTEXTIDR: Hex }
        ? { CONTEXTBANK: Hex }
    0x54 CP_CONTEXT_SWITCH: ContextSwitch {}
    /// Buffers that are executed when a context is saved, restored, or left.
    0x55 CP_SET_AMBLE: SetAmble { ADDR: Wide, size as CP_SET_AMBLE_2 }
    /// Registers of the command processor that have no offset.
    0x56 CP_SET_PSEUDO_REG: SetPseudoReg {} * { reg as CP_SET_PSEUDO_REG_0, LO: Hex, HI: Hex }
    /// Goes on in another buffer, without a return.
    0x57 CP_INDIRECT_BUFFER_CHAIN: IndirectBufferChain { IB_BASE: Wide, size as CP_INDIRECT_BUFFER_2 }
    0x58 CP_EVENT_WRITE_SHD: EventWriteShd {}
    0x59 CP_EVENT_WRITE_CFL: EventWriteCfl {}
    0x5b CP_EVENT_WRITE_ZPD: EventWriteZpd {}
    /// Writes of registers, each as offset and value.
    0x5c CP_CONTEXT_REG_BUNCH: ContextRegBunch {} * { REG: Hex, VALUE: Hex }
    0x5e CP_CONTEXT_UPDATE: ContextUpdate {}
    0x5f CP_SET_PROTECTED_MODE: SetProtectedMode {} ? { MODE: Hex }
    0x62 CP_WHERE_AM_I: WhereAmI {}
    0x63 CP_SET_MODE: SetMode {} ? { MODE: Hex }
    0x64 CP_SET_VISIBILITY_OVERRIDE: SetVisibilityOverride {} ? { OVERRIDE: Hex }
    /// Says what the commands after it do: the pass, or whether the GPU may power down.
    0x65 CP_SET_MARKER: SetMarker { marker as CP_SET_MARKER_0 }
    0x66 CP_SET_SECURE_MODE: SetSecureMode {} ? { MODE: Hex }
    0x6b CP_CONTEXT_SWITCH_YIELD: ContextSwitchYield {}
    0x6c CP_PREEMPT_DISABLE: PreemptDisable {}
    /// Writes a register that the command processor tracks. The values follow REG.
    0x6d CP_REG_WRITE: RegWrite { control as CP_REG_WRITE_0, REG: Hex } * { VALUE: Hex }
    0x6f CP_BOOTSTRAP_UCODE: BootstrapUcode {}
    /// Waits until two registers differ by REF.
    0x70 CP_WAIT_TWO_REGS: WaitTwoRegs { first as CP_WAIT_TWO_REGS_0, second as CP_WAIT_TWO_REGS_1, REF: Uint }
    0x71 CP_TEST_TWO_MEMS: TestTwoMems {}
    0x72 CP_REG_TO_MEM_OFFSET_REG: RegToMemOffsetReg { control as CP_REG_TO_MEM_0, DEST: Split,
        offset as CP_REG_TO_MEM_OFFSET_REG_3 }
    /// `*DST` = sum of `*SRC`, each negated if its NEG bit is set.
    0x73 CP_MEM_TO_MEM: MemToMem { control as CP_MEM_TO_MEM_0, DST: Wide } * { SRC: Wide }
    0x74 CP_REG_TO_MEM_OFFSET_MEM: RegToMemOffsetMem { control as CP_REG_TO_MEM_0, DEST: Split,
        OFFSET: Wide }
    0x75 CP_MEMCPY: Memcpy { DWORDS: Uint, SRC: Wide, DST: Wide }
    0x78 CP_REG_WR_NO_CTXT: RegWrNoCtxt {}
}
