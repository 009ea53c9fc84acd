//! What registers of draws hold.

enum_tables! {
    [STATE_ENUMS]

    a5xx_address_mode => AddressMode { ADDR_32B = 0, ADDR_64B = 1 }

    a5xx_line_mode => LineMode { BRESENHAM = 0, RECTANGULAR = 1 }

    a6xx_ztest_mode => ZtestMode {
        A6XX_EARLY_Z = 0, A6XX_LATE_Z = 1, A6XX_EARLY_LRZ_LATE_Z = 2, A6XX_INVALID_ZTEST = 3,
    }

    a6xx_shift_amount => ShiftAmount { NO_SHIFT = 0, HALF_PIXEL_SHIFT = 1, FULL_PIXEL_SHIFT = 2 }

    a6xx_single_prim_mode => SinglePrimMode {
        NO_FLUSH = 0, FLUSH_PER_OVERLAP_AND_OVERWRITE = 1, FLUSH_PER_OVERLAP = 3,
    }

    a6xx_raster_mode => RasterMode { TYPE_TILED = 0, TYPE_WRITER = 1 }

    a6xx_raster_direction => RasterDirection { LR_TB = 0, RL_TB = 1, LR_BT = 2, RB_BT = 3 }

    a6xx_sequenced_thread_dist => SequencedThreadDist { DIST_SCREEN_COORD = 0, DIST_ALL_TO_RB0 = 1 }

    a6xx_render_mode => RenderMode { RENDERING_PASS = 0, BINNING_PASS = 1 }

    a6xx_lrz_feedback_mask => LrzFeedbackMask {
        LRZ_FEEDBACK_NONE = 0, LRZ_FEEDBACK_EARLY_Z = 1, LRZ_FEEDBACK_EARLY_LRZ_LATE_Z = 2,
        LRZ_FEEDBACK_EARLY_Z_OR_EARLY_LRZ_LATE_Z = 3, LRZ_FEEDBACK_LATE_Z = 4,
    }

    a6xx_lrz_dir_status => LrzDirStatus { LRZ_DIR_LE = 1, LRZ_DIR_GE = 2, LRZ_DIR_INVALID = 3 }

    a6xx_fragcoord_sample_mode => FragcoordSampleMode { FRAGCOORD_CENTER = 0, FRAGCOORD_SAMPLE = 3 }

    a6xx_polygon_mode => PolygonMode { POLYMODE6_POINTS = 1, POLYMODE6_LINES = 2, POLYMODE6_TRIANGLES = 3 }

    a6xx_tess_spacing => TessSpacing { TESS_EQUAL = 0, TESS_FRACTIONAL_ODD = 2, TESS_FRACTIONAL_EVEN = 3 }

    a6xx_tess_output => TessOutput { TESS_POINTS = 0, TESS_LINES = 1, TESS_CW_TRIS = 2, TESS_CCW_TRIS = 3 }

    a6xx_tex_prefetch_cmd => TexPrefetchCmd {
        TEX_PREFETCH_UNK0 = 0, TEX_PREFETCH_SAM = 1, TEX_PREFETCH_GATHER4R = 2, TEX_PREFETCH_GATHER4G = 3,
        TEX_PREFETCH_GATHER4B = 4, TEX_PREFETCH_GATHER4A = 5, TEX_PREFETCH_UNK6 = 6, TEX_PREFETCH_UNK7 = 7,
    }
}
