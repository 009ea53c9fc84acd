//! VBIF: bus interface; the kernel's.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    0x3000 VBIF_VERSION { 0..31 VALUE: Hex; }
    0x3001 VBIF_CLKON { 0..0 FORCE_ON_TESTBUS: Bool; }
    0x301c VBIF_ABIT_SORT { 0..31 VALUE: Hex; }
    0x301d VBIF_ABIT_SORT_CONF { 0..31 VALUE: Hex; }
    0x302a VBIF_GATE_OFF_WRREQ_EN { 0..31 VALUE: Hex; }
    0x302c VBIF_IN_RD_LIM_CONF0 { 0..31 VALUE: Hex; }
    0x302d VBIF_IN_RD_LIM_CONF1 { 0..31 VALUE: Hex; }
    0x3030 VBIF_IN_WR_LIM_CONF0 { 0..31 VALUE: Hex; }
    0x3031 VBIF_IN_WR_LIM_CONF1 { 0..31 VALUE: Hex; }
    0x3049 VBIF_ROUND_ROBIN_QOS_ARB { 0..31 VALUE: Hex; }
    0x30c0 VBIF_PERF_CNT_EN0 { 0..31 VALUE: Hex; }
    0x30c1 VBIF_PERF_CNT_EN1 { 0..31 VALUE: Hex; }
    0x30c2 VBIF_PERF_CNT_EN2 { 0..31 VALUE: Hex; }
    0x30c3 VBIF_PERF_CNT_EN3 { 0..31 VALUE: Hex; }
    0x30d0 VBIF_PERF_CNT_SEL0 { 0..31 VALUE: VbifPerfcounterSelect; }
    0x30d1 VBIF_PERF_CNT_SEL1 { 0..31 VALUE: VbifPerfcounterSelect; }
    0x30d2 VBIF_PERF_CNT_SEL2 { 0..31 VALUE: VbifPerfcounterSelect; }
    0x30d3 VBIF_PERF_CNT_SEL3 { 0..31 VALUE: VbifPerfcounterSelect; }
    0x30d8 VBIF_PERF_CNT_LOW0 { 0..31 VALUE: Hex; }
    0x30d9 VBIF_PERF_CNT_LOW1 { 0..31 VALUE: Hex; }
    0x30da VBIF_PERF_CNT_LOW2 { 0..31 VALUE: Hex; }
    0x30db VBIF_PERF_CNT_LOW3 { 0..31 VALUE: Hex; }
    0x30e0 VBIF_PERF_CNT_HIGH0 { 0..31 VALUE: Hex; }
    0x30e1 VBIF_PERF_CNT_HIGH1 { 0..31 VALUE: Hex; }
    0x30e2 VBIF_PERF_CNT_HIGH2 { 0..31 VALUE: Hex; }
    0x30e3 VBIF_PERF_CNT_HIGH3 { 0..31 VALUE: Hex; }
    0x3100 VBIF_PERF_PWR_CNT_EN0 { 0..31 VALUE: Hex; }
    0x3101 VBIF_PERF_PWR_CNT_EN1 { 0..31 VALUE: Hex; }
    0x3102 VBIF_PERF_PWR_CNT_EN2 { 0..31 VALUE: Hex; }
}
