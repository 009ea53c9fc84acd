/*
 * Geometry and tessellation shaders of the A4xx: constants, textures, viewports. Part of fd4_emit.c.
 * SPDX-License-Identifier: MIT
 */

/* Fifteen more viewports follow the first one. */
#define REG_A4XX_GRAS_CL_VPORT(i) (REG_A4XX_GRAS_CL_VPORT_XOFFSET_0 + 6 * (i))

/* Patches that a draw may have whose number only the chip knows. */
#define UNKNOWN_PATCHES 8192

static void
emit_primitive_param(struct fd_ringbuffer *ring, const struct ir3_shader_variant *v, const uint32_t strides[4],
                     const struct fd4_patches *patches)
{
   const struct ir3_const_state *const_state = ir3_const_state(v);
   if (!ir3_const_can_upload(&const_state->allocs, IR3_CONST_ALLOC_PRIMITIVE_PARAM, v->constlen))
      return;
   uint32_t first = const_state->allocs.consts[IR3_CONST_ALLOC_PRIMITIVE_PARAM].offset_vec4;
   bool both = patches->bo && first + 1 < v->constlen;

   OUT_PKT3(ring, CP_LOAD_STATE4, 2 + (both ? 8 : 4));
   OUT_RING(ring, CP_LOAD_STATE4_0_DST_OFF(first) | CP_LOAD_STATE4_0_STATE_SRC(SS4_DIRECT) |
                     CP_LOAD_STATE4_0_STATE_BLOCK(fd4_stage2shadersb(v->type)) |
                     CP_LOAD_STATE4_0_NUM_UNIT(both ? 2 : 1));
   OUT_RING(ring, CP_LOAD_STATE4_1_EXT_SRC_ADDR(0) | CP_LOAD_STATE4_1_STATE_TYPE(ST4_CONSTANTS));
   for (unsigned i = 0; i < 4; i++)
      OUT_RING(ring, strides[i]);
   if (both) {
      OUT_RELOC(ring, patches->bo, patches->param_offset, 0, 0);
      OUT_RING(ring, 0);
      OUT_RELOC(ring, patches->bo, 0, 0, 0);
      OUT_RING(ring, 0);
   }
}

static void
emit_primitive_map(struct fd_ringbuffer *ring, const struct ir3_shader_variant *v, const uint32_t *map)
{
   const struct ir3_const_state *const_state = ir3_const_state(v);
   if (!ir3_const_can_upload(&const_state->allocs, IR3_CONST_ALLOC_PRIMITIVE_MAP, v->constlen))
      return;
   uint32_t first = const_state->allocs.consts[IR3_CONST_ALLOC_PRIMITIVE_MAP].offset_vec4;
   uint32_t size = MIN2(DIV_ROUND_UP(v->input_size, 4) + first, v->constlen) - first;

   if (v->input_size > 0)
      fd4_emit_const_user(ring, v, first * 4, size * 4, map);
}

/* Bytes of a primitive of `vertices` vertices of `v` in local memory. */
static uint32_t
primitive_stride(const struct ir3_shader_variant *v, unsigned vertices)
{
   return vertices * (IR3_A4XX_SYSTEM_BLOCK + IR3_A4XX_ATTRIBUTE * fd4_attributes(v));
}

static unsigned
patches_of(struct fd_context *ctx, struct fd4_emit *emit)
{
   if (emit->indirect && emit->indirect->buffer)
      return UNKNOWN_PATCHES;
   return MAX2(1, emit->draw->count / ctx->patch_vertices * emit->info->instance_count);
}

/* Each draw has memory of its own for the factors and outputs of its patches. */
static void
emit_patch_memory(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit,
                  struct fd4_patches *patches)
{
   const struct ir3_shader_variant *hs = emit->prog->hs;
   uint32_t count = patches_of(ctx, emit);
   uint32_t factors = align(count * ir3_tess_factor_stride(emit->prog->ds->key.tessellation), 0x1000);

   patches->param_offset = factors;
   patches->bo = fd_bo_new(ctx->dev, align(factors + count * hs->output_size * 4, 0x1000), 0, "patches");

   fd_wfi(ctx->batch, ring);
   OUT_PKT0(ring, REG_A4XX_PC_TESSFACTOR_ADDR, 1);
   OUT_RELOC(ring, patches->bo, 0, 0, 0);
}

static void
emit_tess_consts(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit)
{
   const struct fd4_program_state *prog = emit->prog;
   struct fd4_patches patches = {};
   uint32_t map[64];

   emit_patch_memory(ctx, ring, emit, &patches);

   emit_common_consts(prog->hs, ring, ctx, PIPE_SHADER_TESS_CTRL);
   emit_primitive_param(ring, prog->hs,
                        (uint32_t[4]){primitive_stride(prog->vs, ctx->patch_vertices), 0,
                                      prog->hs->output_size, ctx->patch_vertices},
                        &patches);
   fd4_input_map(map, prog->vs, ctx->patch_vertices);
   emit_primitive_map(ring, prog->hs, map);
   if (prog->hs->need_driver_params)
      ir3_emit_hs_driver_params(prog->hs, ring, ctx);

   emit_common_consts(prog->ds, ring, ctx, PIPE_SHADER_TESS_EVAL);
   emit_primitive_param(ring, prog->ds,
                        (uint32_t[4]){0, 0, prog->hs->output_size, prog->hs->tess.tcs_vertices_out}, &patches);
   emit_primitive_map(ring, prog->ds, prog->hs->output_loc);

   fd_bo_del(patches.bo);
}

static void
emit_gs_consts(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit)
{
   const struct ir3_shader_variant *gs = emit->prog->gs;
   const struct ir3_shader_variant *before = emit->prog->ds ? emit->prog->ds : emit->prog->vs;
   uint32_t map[64];

   emit_common_consts(gs, ring, ctx, PIPE_SHADER_GEOMETRY);
   emit_primitive_param(ring, gs, (uint32_t[4]){primitive_stride(before, gs->gs.vertices_in), 0, 0, 0},
                        &(struct fd4_patches){});
   fd4_input_map(map, before, gs->gs.vertices_in);
   emit_primitive_map(ring, gs, map);
}

/* Clip planes are parameters of the last stage. */
static void
emit_last_driver_params(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit)
{
   const struct ir3_shader_variant *last = fd4_last_stage(emit->prog);
   if (!last->need_driver_params || !emit->info)
      return;
   struct ir3_driver_params_vs params =
      ir3_build_driver_params_vs(ctx, emit->info, emit->draw, 0, last->key.ucp_enables);
   params.vtxcnt_max = 0;
   ir3_emit_driver_params(last, ring, ctx, emit->info, emit->indirect, &params);
}

static void
emit_middle_consts(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit)
{
   if (!fd4_has_middle(emit->prog))
      return;

   fd_wfi(ctx->batch, ring);
   if (emit->prog->ds)
      emit_tess_consts(ctx, ring, emit);
   if (emit->prog->gs)
      emit_gs_consts(ctx, ring, emit);
   emit_last_driver_params(ctx, ring, emit);
}

/* Private memory is for registers that are spilled and for large arrays. Mesa's word for a shader without any is
 * 0x08000001. The A5xx has the memory of a fiber in 7:0, in units of 512 bytes. It has that of a core in 23:8, in
 * units of 2048.
 */
#define PVT_MEM_PARAM(fiber, core) (0x08000000 | (core) >> 11 << 8 | (fiber) >> 9)

static void
emit_private_memory(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit)
{
   const struct {
      const struct ir3_shader_variant *v;
      uint32_t reg;
   } stages[] = {
      {emit->prog->vs, REG_A4XX_SP_VS_PVT_MEM_PARAM}, {emit->prog->hs, REG_A4XX_SP_HS_PVT_MEM_PARAM},
      {emit->prog->ds, REG_A4XX_SP_DS_PVT_MEM_PARAM}, {emit->prog->gs, REG_A4XX_SP_GS_PVT_MEM_PARAM},
      {emit->prog->fs, REG_A4XX_SP_FS_PVT_MEM_PARAM},
   };

   for (unsigned i = 0; i < ARRAY_SIZE(stages); i++) {
      if (!stages[i].v || !stages[i].v->pvtmem_size)
         continue;
      ir3_get_private_mem(ctx, stages[i].v);

      fd_wfi(ctx->batch, ring);
      OUT_PKT0(ring, stages[i].reg, 2);
      OUT_RING(ring, PVT_MEM_PARAM(ctx->pvtmem[0].per_fiber_size, ctx->pvtmem[0].per_sp_size));
      OUT_RELOC(ring, ctx->pvtmem[0].bo, 0, 0, 0);
   }
}

static void
emit_middle_textures(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit)
{
   const struct {
      enum pipe_shader_type type;
      enum a4xx_state_block block;
      const struct ir3_shader_variant *v;
   } stages[] = {
      {PIPE_SHADER_TESS_CTRL, SB4_HS_TEX, emit->prog->hs},
      {PIPE_SHADER_TESS_EVAL, SB4_DS_TEX, emit->prog->ds},
      {PIPE_SHADER_GEOMETRY, SB4_GS_TEX, emit->prog->gs},
   };

   for (unsigned i = 0; i < ARRAY_SIZE(stages); i++) {
      if (stages[i].v && (ctx->dirty_shader[stages[i].type] & FD_DIRTY_SHADER_TEX))
         emit_textures(ctx, ring, stages[i].block, &ctx->tex[stages[i].type], stages[i].v);
   }
}

/* All viewports but the first. */
static void
emit_more_viewports(struct fd_context *ctx, struct fd_ringbuffer *ring)
{
   for (unsigned i = 1; i < PIPE_MAX_VIEWPORTS; i++) {
      const struct pipe_viewport_state *viewport = &ctx->viewport[i];

      OUT_PKT0(ring, REG_A4XX_GRAS_CL_VPORT(i), 6);
      for (unsigned axis = 0; axis < 3; axis++) {
         OUT_RING(ring, fui(viewport->translate[axis]));
         OUT_RING(ring, fui(viewport->scale[axis]));
      }
   }
}

/* Registers of stream-out: see fd4_stages_program.h. */
#define REG_A4XX_VPC_SO_BUF_CNTL         0x2155
#define REG_A4XX_VPC_SO_BUFFER_BASE(i)   (0x215b + 5 * (i))
#define REG_A4XX_VPC_SO_BUFFER_OFFSET(i) (0x215e + 5 * (i))
#define REG_A4XX_VPC_SO_FLUSH_WADDR(i)   (0x215f + 5 * (i))

static void
emit_streamout_buffer(struct fd_context *ctx, struct fd_ringbuffer *ring, unsigned i)
{
   struct fd_streamout_stateobj *so = &ctx->streamout;
   struct fd_stream_output_target *target = fd_stream_output_target(so->targets[i]);
   struct fd_bo *offset_bo = fd_resource(target->offset_buf)->bo;

   OUT_PKT0(ring, REG_A4XX_VPC_SO_BUFFER_BASE(i), 2);
   OUT_RELOC(ring, fd_resource(target->base.buffer)->bo, 0, 0, 0);
   OUT_RING(ring, target->base.buffer_size + target->base.buffer_offset);

   if (so->reset & (1 << i)) {
      uint32_t first = target->base.buffer_offset + so->offsets[i];

      OUT_PKT3(ring, CP_MEM_WRITE, 2);
      OUT_RELOC(ring, offset_bo, 0, 0, 0);
      OUT_RING(ring, first);
      OUT_PKT0(ring, REG_A4XX_VPC_SO_BUFFER_OFFSET(i), 1);
      OUT_RING(ring, first);
      so->reset &= ~(1 << i);
   } else {
      OUT_PKT3(ring, CP_MEM_TO_REG, 2);
      OUT_RING(ring, REG_A4XX_VPC_SO_BUFFER_OFFSET(i));
      OUT_RELOC(ring, offset_bo, 0, 0, 0);
   }

   OUT_PKT0(ring, REG_A4XX_VPC_SO_FLUSH_WADDR(i), 1);
   OUT_RELOC(ring, offset_bo, 0, 0, 0);
}

/* The stream of each buffer, plus 1. */
static uint32_t
streamout_streams(const struct ir3_stream_output_info *info, const struct fd_streamout_stateobj *so)
{
   uint32_t streams = 0;
   for (unsigned i = 0; i < info->num_outputs; i++) {
      unsigned buffer = info->output[i].output_buffer;
      if (buffer < so->num_targets && so->targets[buffer]) {
         streams &= ~(7 << (3 * buffer));
         streams |= (info->output[i].stream + 1) << (3 * buffer);
      }
   }
   return streams;
}

/* Stream-out takes place once, so that such a batch is not drawn tile by tile. */
static void
emit_streamout(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit)
{
   struct fd_streamout_stateobj *so = &ctx->streamout;
   const struct ir3_stream_output_info *info = &fd4_last_stage(emit->prog)->stream_output;
   uint32_t streams = fd4_has_middle(emit->prog) ? streamout_streams(info, so) : 0;

   if (streams) {
      ctx->batch->tessellation = true;
      fd_wfi(ctx->batch, ring);
      for (unsigned i = 0; i < so->num_targets; i++) {
         if (so->targets[i])
            emit_streamout_buffer(ctx, ring, i);
      }
   }
   OUT_PKT0(ring, REG_A4XX_VPC_SO_BUF_CNTL, 1);
   OUT_RING(ring, streams);
}
