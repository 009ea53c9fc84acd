/*
 * Geometry and tessellation shaders of the A4xx: state that needs neither the stages' registers nor constants.
 * SPDX-License-Identifier: MIT
 */

#ifndef FD4_STAGES_H_
#define FD4_STAGES_H_

#include "pipe/p_context.h"

#include "freedreno_context.h"

#include "ir3/ir3_shader.h"

#include "fd4_program.h"

/* Bits 24:20 of the draw initiator: the domain of patches in 21:20, and what else is on. */
#define FD4_TESS_MODE(mode) ((mode) << 20)
#define FD4_TESS_MODE_MASK  FD4_TESS_MODE(0x1f)

/* The hull shader's factors are in a record for each patch: the primitive's number, outer and inner factors. */
struct fd4_patches {
   struct fd_bo *bo;
   uint32_t param_offset;
};

static inline bool
fd4_has_middle(const struct fd4_program_state *prog)
{
   return prog->gs || prog->ds;
}

/* The stage whose vertices go to the rasterizer. */
static inline const struct ir3_shader_variant *
fd4_last_stage(const struct fd4_program_state *prog)
{
   return prog->gs ? prog->gs : prog->ds ? prog->ds : prog->vs;
}

void fd4_key_stages(struct fd_context *ctx, const struct pipe_draw_info *info,
                    struct ir3_cache_key *key) assert_dt;
void fd4_dirty_stages(struct fd_context *ctx, const struct fd4_program_state *prog) assert_dt;

/* The type of a draw: of patches, with the domain in the bits of FD4_TESS_MODE_MASK. */
enum pc_di_primtype fd4_stage_primtype(struct fd_context *ctx, const struct fd4_program_state *prog,
                                       enum pc_di_primtype primtype) assert_dt;

/* Outputs of a stage for which there are registers. */
#define FD4_STAGE_OUTPUTS 32

/* Registers of all outputs of a stage, each with four components, for the next geometry or hull shader. */
void fd4_link_next(struct ir3_shader_linkage *l, const struct ir3_shader_variant *v);
/* Where the next stage finds the outputs of `v` in the local memory of a primitive of `vertices` vertices. */
void fd4_input_map(uint32_t map[64], const struct ir3_shader_variant *v, unsigned vertices);
/* Number of outputs that fd4_link_next makes of `v`. */
unsigned fd4_attributes(const struct ir3_shader_variant *v);

/* The height that RB_FRAME_BUFFER_DIMENSION gets where tile memory is not used. */
unsigned fd4_frame_height(struct fd_batch *batch);
void fd4_emit_sysmem_depth(struct fd_batch *batch, struct fd_ringbuffer *ring);

/* A geometry shader that passes on the outputs of the stage `before`, and adds gl_PrimitiveID. Of `quads` each is two
 * primitives.
 */
struct ir3_shader_state *fd4_passthrough_gs(struct fd_context *ctx, struct ir3_shader_state *before,
                                            unsigned vertices_in, bool quads) assert_dt;
/* A geometry shader that makes a rectangle in each layer of one point. */
void *fd4_layered_clear_gs(struct fd_context *ctx, unsigned layers) assert_dt;
void fd4_passthrough_fini(struct fd_context *ctx);

struct fd4_emit;
void fd4_primitives_before(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit) assert_dt;
void fd4_primitives_behind(struct fd_context *ctx, struct fd_ringbuffer *ring, struct fd4_emit *emit) assert_dt;
void fd4_primitives_resolve(struct fd_context *ctx) assert_dt;
void fd4_primitives_make_room(struct fd_context *ctx) assert_dt;
void fd4_primitives_fini(struct fd_context *ctx);

#endif /* FD4_STAGES_H_ */
