/*
 * Geometry and tessellation shaders of the A4xx: state that needs neither the stages' registers nor constants.
 * SPDX-License-Identifier: MIT
 */

#include "ir3/ir3_a4xx_stages.h"
#include "ir3/ir3_gallium.h"

#include "freedreno_batch.h"
#include "freedreno_resource.h"

#include "fd4_context.h"
#include "fd4_format.h"
#include "fd4_stages.h"

static bool
reads_primitive_id(struct ir3_shader_state *state)
{
   return state && BITSET_TEST(ir3_get_shader_info(state)->system_values_read, SYSTEM_VALUE_PRIMITIVE_ID);
}

static bool
needs_primitive_id(struct ir3_shader_state *fs)
{
   return ir3_get_shader_info(fs)->inputs_read & VARYING_BIT_PRIMITIVE_ID;
}

/* No field is known that names the register of an evaluation shader's point size. Geometry shaders have one. */
static bool
makes_sized_points(struct ir3_shader_state *ds)
{
   const struct shader_info *info = ir3_get_shader_info(ds);
   return info->tess.point_mode && (info->outputs_written & VARYING_BIT_PSIZ);
}

/* Vertices of a primitive that goes to a geometry shader. */
static unsigned
vertices_of_gs(const struct pipe_draw_info *info, struct ir3_shader_state *ds)
{
   if (!ds)
      return mesa_vertices_per_prim(info->mode);

   const struct shader_info *tess = ir3_get_shader_info(ds);
   if (tess->tess.point_mode)
      return 1;
   return tess->tess._primitive_mode == TESS_PRIMITIVE_ISOLINES ? 2 : 3;
}

void
fd4_key_stages(struct fd_context *ctx, const struct pipe_draw_info *info, struct ir3_cache_key *key)
{
   if (info->mode == MESA_PRIM_COUNT)
      return;

   key->gs = ctx->prog.gs;

   if (info->mode == MESA_PRIM_PATCHES && ctx->prog.ds) {
      struct ir3_shader_state *ds = ctx->prog.ds;

      key->hs = ctx->prog.hs;
      key->ds = ds;
      key->patch_vertices = ctx->patch_vertices;
      key->key.tessellation = ir3_tess_mode(ir3_get_shader_info(ds)->tess._primitive_mode);
   }
   if (!key->gs && (needs_primitive_id(key->fs) || (key->ds && makes_sized_points(key->ds))))
      key->gs = fd4_passthrough_gs(ctx, key->ds ? key->ds : key->vs, vertices_of_gs(info, key->ds),
                                   info->was_quads);
   key->key.has_gs = !!key->gs;
   if (key->ds)
      key->key.tcs_store_primid = reads_primitive_id(key->ds) || reads_primitive_id(key->gs);
}

/* The stages share the store of constants. Where its parts begin depends on all of them. */
void
fd4_dirty_stages(struct fd_context *ctx, const struct fd4_program_state *prog)
{
   struct fd4_context *fd4_ctx = fd4_context(ctx);
   bool middle = fd4_has_middle(prog);

   if (!middle && !fd4_ctx->had_middle)
      return;
   if (middle == fd4_ctx->had_middle && !(ctx->dirty & FD_DIRTY_PROG))
      return;

   fd4_ctx->had_middle = middle;
   fd_context_dirty(ctx, FD_DIRTY_PROG | FD_DIRTY_VTXSTATE | FD_DIRTY_VIEWPORT);
   for (unsigned t = PIPE_SHADER_VERTEX; t < PIPE_SHADER_COMPUTE; t++)
      ctx->dirty_shader[t] |= FD_DIRTY_SHADER_PROG | FD_DIRTY_SHADER_CONST | FD_DIRTY_SHADER_TEX;
}

enum pc_di_primtype
fd4_stage_primtype(struct fd_context *ctx, const struct fd4_program_state *prog, enum pc_di_primtype primtype)
{
   if (!prog->ds)
      return primtype;

   static const uint8_t modes[] = {
      [IR3_TESS_QUADS] = 0xc,
      [IR3_TESS_TRIANGLES] = 0xd,
      [IR3_TESS_ISOLINES] = 0xe,
   };
   uint32_t mode = modes[prog->ds->key.tessellation] + (prog->gs ? 4 : 0);
   return (DI_PT_PATCHES0 + ctx->patch_vertices) | FD4_TESS_MODE(mode);
}

/* An output that is no position and no point size. Those have a place of their own, but for the size of a
 * domain shader.
 */
static bool
is_attribute(const struct ir3_shader_variant *v, unsigned output)
{
   unsigned slot = v->outputs[output].slot;
   return VALIDREG(v->outputs[output].regid) && slot != VARYING_SLOT_POS &&
          (slot != VARYING_SLOT_PSIZ || v->type == MESA_SHADER_TESS_EVAL);
}

/* Outputs are numbered in the order of their slots, so that those of an array follow each other. */
static unsigned
attribute_number(const struct ir3_shader_variant *v, unsigned output)
{
   unsigned number = 0;
   for (unsigned i = 0; i < v->outputs_count; i++)
      number += is_attribute(v, i) && v->outputs[i].slot < v->outputs[output].slot;
   return number;
}

unsigned
fd4_attributes(const struct ir3_shader_variant *v)
{
   unsigned count = 0;
   for (unsigned i = 0; i < v->outputs_count; i++)
      count += is_attribute(v, i);
   return count;
}

void
fd4_link_next(struct ir3_shader_linkage *l, const struct ir3_shader_variant *v)
{
   l->cnt = MIN2(fd4_attributes(v), FD4_STAGE_OUTPUTS);
   for (unsigned i = 0; i < v->outputs_count; i++) {
      if (!is_attribute(v, i) || attribute_number(v, i) >= l->cnt)
         continue;
      unsigned number = attribute_number(v, i), reg = v->outputs[i].regid;
      unsigned registers = 4 * (v->info.max_reg + 1) - reg;

      l->var[number].slot = v->outputs[i].slot;
      l->var[number].regid = reg;
      l->var[number].compmask = BITFIELD_MASK(MIN2(4, registers));
      l->var[number].loc = 4 * number;
   }
   l->max_loc = 4 * l->cnt;
}

void
fd4_input_map(uint32_t map[64], const struct ir3_shader_variant *v, unsigned vertices)
{
   memset(map, 0, 64 * sizeof(map[0]));
   for (unsigned i = 0; i < v->outputs_count; i++) {
      if (!is_attribute(v, i))
         continue;
      map[ir3_a4xx_slot_index(v->outputs[i].slot)] =
         vertices * (IR3_A4XX_SYSTEM_BLOCK + IR3_A4XX_ATTRIBUTE * attribute_number(v, i));
   }
}

/* Rows from one layer to the next, in the dimensions of the frame buffer: nothing else is known to say it. */
static unsigned
layer_rows(const struct pipe_surface *surface)
{
   if (!surface || surface->u.tex.first_layer == surface->u.tex.last_layer)
      return 0;
   struct fd_resource *rsc = fd_resource(surface->texture);
   uint32_t bytes = fd_resource_layer_stride(rsc, surface->u.tex.level);
   uint32_t pitch = fd_resource_pitch(rsc, surface->u.tex.level);
   return bytes % pitch ? 0 : bytes / pitch;
}

unsigned
fd4_frame_height(struct fd_batch *batch)
{
   struct pipe_framebuffer_state *pfb = &batch->framebuffer;
   unsigned rows = layer_rows(pfb->zsbuf);

   for (unsigned i = 0; i < pfb->nr_cbufs; i++)
      rows = MAX2(rows, layer_rows(pfb->cbufs[i]));
   return rows ? rows : pfb->height;
}

/* Depth and stencil in memory. Without geometry and tessellation such a batch is drawn in tile memory. */
void
fd4_emit_sysmem_depth(struct fd_batch *batch, struct fd_ringbuffer *ring)
{
   struct pipe_surface *zsbuf = batch->framebuffer.zsbuf;
   if (!zsbuf)
      return;

   struct fd_resource *rsc = fd_resource(zsbuf->texture);
   unsigned level = zsbuf->u.tex.level, layer = zsbuf->u.tex.first_layer;
   enum a4xx_depth_format format = fd4_pipe2depth(zsbuf->format);

   OUT_PKT0(ring, REG_A4XX_RB_DEPTH_INFO, 3);
   OUT_RELOC(ring, rsc->bo, fd_resource_offset(rsc, level, layer), A4XX_RB_DEPTH_INFO_DEPTH_FORMAT(format), 0);
   OUT_RING(ring, A4XX_RB_DEPTH_PITCH(fd_resource_pitch(rsc, level)));
   OUT_RING(ring, A4XX_RB_DEPTH_PITCH2(fd_resource_pitch(rsc, level)));

   OUT_PKT0(ring, REG_A4XX_RB_STENCIL_INFO, 2);
   if (rsc->stencil) {
      OUT_RELOC(ring, rsc->stencil->bo, fd_resource_offset(rsc->stencil, level, layer),
                A4XX_RB_STENCIL_INFO_SEPARATE_STENCIL, 0);
      OUT_RING(ring, A4XX_RB_STENCIL_PITCH(fd_resource_pitch(rsc->stencil, level)));
   } else {
      OUT_RING(ring, 0);
      OUT_RING(ring, 0);
   }

   OUT_PKT0(ring, REG_A4XX_GRAS_DEPTH_CONTROL, 1);
   OUT_RING(ring, A4XX_GRAS_DEPTH_CONTROL_FORMAT(format));
}
