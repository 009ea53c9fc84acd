/*
 * Queries of primitives where geometry shaders or tessellation make them, so that the CPU cannot count them.
 * SPDX-License-Identifier: MIT
 *
 * While a query runs, each such draw records a counter of the PC and the place in the first stream-out buffer,
 * before and after it. The records are read when a query begins or ends.
 */

#include "freedreno_batch.h"
#include "freedreno_resource.h"

#include "fd4_context.h"
#include "fd4_draw.h"
#include "fd4_emit.h"
#include "fd4_format.h"
#include "fd4_stages.h"

#define RECORDS 1024

/* What the chip stores for a draw: before and behind it. */
struct record {
   struct {
      uint64_t primitives;
      uint32_t streamout, pad;
   } at[2];
};

/* VPC_SO_BUFFER_OFFSET of the first buffer: see fd4_stages_program.h. */
#define REG_A4XX_VPC_SO_BUFFER_OFFSET_0 0x215e

static unsigned
vertices_of_primitive(const struct ir3_shader_variant *last)
{
   enum mesa_prim primitive;
   if (last->type == MESA_SHADER_GEOMETRY)
      primitive = last->gs.output_primitive;
   else if (last->tess.point_mode)
      primitive = MESA_PRIM_POINTS;
   else
      primitive = last->tess.primitive_mode == TESS_PRIMITIVE_ISOLINES ? MESA_PRIM_LINES : MESA_PRIM_TRIANGLES;
   return mesa_vertices_per_prim(primitive);
}

static void
store_register(struct fd4_context *fd4_ctx, struct fd_ringbuffer *ring, unsigned reg, unsigned dwords,
               uint32_t offset)
{
   OUT_PKT3(ring, CP_REG_TO_MEM, 2);
   OUT_RING(ring, CP_REG_TO_MEM_0_REG(reg) | COND(dwords == 2, CP_REG_TO_MEM_0_64B) |
                     CP_REG_TO_MEM_0_CNT(dwords == 2 ? 2 : 0));
   OUT_RELOC(ring, fd4_ctx->primitives.bo, offset, 0, 0);
}

static void
store_counters(struct fd_context *ctx, struct fd_ringbuffer *ring, unsigned when)
{
   struct fd4_context *fd4_ctx = fd4_context(ctx);
   uint32_t offset = fd4_ctx->primitives.count * sizeof(struct record) + when * sizeof(struct record) / 2;

   fd_wfi(ctx->batch, ring);
   store_register(fd4_ctx, ring, REG_A4XX_RBBM_PERFCTR_PC_7_LO, 2, offset);
   store_register(fd4_ctx, ring, REG_A4XX_VPC_SO_BUFFER_OFFSET_0, 1, offset + 8);
}

static bool
counts(struct fd_context *ctx, struct fd4_emit *emit)
{
   return ctx->stats_users > 0 && emit->info && fd4_has_middle(emit->prog);
}

void
fd4_primitives_before(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit)
{
   struct fd4_context *fd4_ctx = fd4_context(ctx);
   if (!counts(ctx, emit))
      return;

   if (!fd4_ctx->primitives.bo)
      fd4_ctx->primitives.bo = fd_bo_new(ctx->dev, RECORDS * sizeof(struct record), 0, "primitives");

   /* A draw that is repeated for each tile would count for each. */
   ctx->batch->tessellation = true;
   OUT_PKT0(ring, REG_A4XX_PC_PERFCTR_PC_SEL_7, 1);
   OUT_RING(ring, emit->prog->gs ? PC_GS_PRIMITIVES : PC_DS_PRIMITIVES);
   store_counters(ctx, ring, 0);
}

void
fd4_primitives_behind(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit)
{
   struct fd4_context *fd4_ctx = fd4_context(ctx);
   if (!counts(ctx, emit))
      return;

   const struct ir3_shader_variant *last = fd4_last_stage(emit->prog);
   const struct ir3_stream_output_info *info = &last->stream_output;
   bool streams = info->num_outputs && ctx->streamout.num_targets && ctx->streamout.targets[0];

   store_counters(ctx, ring, 1);
   fd4_ctx->primitives.bytes[fd4_ctx->primitives.count++] =
      streams ? info->stride[0] * 4 * vertices_of_primitive(last) : 0;
}

/* Adds what the chip counted to what the CPU did. */
static void
resolve(struct fd_context *ctx)
{
   struct fd4_context *fd4_ctx = fd4_context(ctx);
   const struct record *records = fd_bo_map(fd4_ctx->primitives.bo);

   fd_bo_cpu_prep(fd4_ctx->primitives.bo, ctx->pipe, FD_BO_PREP_READ);
   for (unsigned i = 0; i < fd4_ctx->primitives.count; i++) {
      const struct record *record = &records[i];
      uint32_t bytes = record->at[1].streamout - record->at[0].streamout;

      ctx->stats.prims_generated += record->at[1].primitives - record->at[0].primitives;
      if (fd4_ctx->primitives.bytes[i])
         ctx->stats.prims_emitted += bytes / fd4_ctx->primitives.bytes[i];
   }
   fd4_ctx->primitives.count = 0;
}

void
fd4_primitives_resolve(struct fd_context *ctx)
{
   if (ctx->screen->gen != 4 || !fd4_context(ctx)->primitives.count)
      return;

   ctx->base.flush(&ctx->base, NULL, 0);
   resolve(ctx);
}

/* Makes room for a draw. To be called where the batch may still change. */
void
fd4_primitives_make_room(struct fd_context *ctx)
{
   if (fd4_context(ctx)->primitives.count == RECORDS)
      fd4_primitives_resolve(ctx);
}

void
fd4_primitives_fini(struct fd_context *ctx)
{
   if (fd4_context(ctx)->primitives.bo)
      fd_bo_del(fd4_context(ctx)->primitives.bo);
}
