/*
 * Geometry shaders of the driver, for programs that have none: one that passes all on, with gl_PrimitiveID and
 * point sizes, and one that clears all layers.
 * SPDX-License-Identifier: MIT
 */

#include "compiler/nir/nir_builder.h"

#include "ir3/ir3_gallium.h"

#include "fd4_context.h"
#include "fd4_stages.h"

/* Such a shader depends on the outputs of the stage before, on what of them is stored, on the vertices of a
 * primitive, and on whether two primitives are a quad. One that clears has no outputs here, and the number of layers
 * instead of vertices.
 */
struct passthrough {
   uint64_t outputs;
   unsigned vertices_in;
   bool quads;
   struct pipe_stream_output_info stored;
   void *state;
};

struct corners {
   unsigned first, step, count;
};

/* The vertices of a primitive that are no neighbours. */
static struct corners
corners_of(unsigned vertices_in)
{
   switch (vertices_in) {
   case 4:
      return (struct corners){1, 1, 2};
   case 6:
      return (struct corners){0, 2, 3};
   default:
      return (struct corners){0, 1, vertices_in};
   }
}

static enum mesa_prim
input_primitive(unsigned vertices_in)
{
   static const enum mesa_prim primitives[] = {
      [1] = MESA_PRIM_POINTS,          [2] = MESA_PRIM_LINES,
      [3] = MESA_PRIM_TRIANGLES,       [4] = MESA_PRIM_LINES_ADJACENCY,
      [6] = MESA_PRIM_TRIANGLES_ADJACENCY,
   };
   return primitives[vertices_in];
}

static enum mesa_prim
output_primitive(unsigned corners)
{
   return corners == 1 ? MESA_PRIM_POINTS : corners == 2 ? MESA_PRIM_LINE_STRIP : MESA_PRIM_TRIANGLE_STRIP;
}

static nir_variable *
variable(nir_shader *s, nir_variable_mode mode, const struct glsl_type *type, unsigned slot)
{
   nir_variable *var = nir_variable_create(s, mode, type, NULL);
   var->data.location = slot;
   var->data.driver_location = mode == nir_var_shader_in ? s->num_inputs++ : s->num_outputs++;
   return var;
}

static nir_shader *
build_passthrough(const nir_shader_compiler_options *options, uint64_t outputs, unsigned vertices_in,
                  bool quads)
{
   struct corners corners = corners_of(vertices_in);
   nir_builder b = nir_builder_init_simple_shader(MESA_SHADER_GEOMETRY, options, "primitive id");
   nir_shader *s = b.shader;
   nir_variable *in[64] = {}, *out[64] = {};

   s->info.gs.input_primitive = input_primitive(vertices_in);
   s->info.gs.output_primitive = output_primitive(corners.count);
   s->info.gs.vertices_in = vertices_in;
   s->info.gs.vertices_out = corners.count;
   s->info.gs.invocations = 1;
   s->info.gs.active_stream_mask = 1;

   u_foreach_bit64 (slot, outputs) {
      const struct glsl_type *type = slot == VARYING_SLOT_PSIZ ? glsl_float_type() : glsl_vec4_type();
      in[slot] = variable(s, nir_var_shader_in, glsl_array_type(type, vertices_in, 0), slot);
      out[slot] = variable(s, nir_var_shader_out, type, slot);
   }
   nir_variable *id = variable(s, nir_var_shader_out, glsl_int_type(), VARYING_SLOT_PRIMITIVE_ID);
   nir_def *number = nir_ushr_imm(&b, nir_load_primitive_id(&b), quads);

   for (unsigned i = 0; i < corners.count; i++) {
      u_foreach_bit64 (slot, outputs)
         nir_store_var(&b, out[slot], nir_load_array_var_imm(&b, in[slot], corners.first + corners.step * i),
                       slot == VARYING_SLOT_PSIZ ? 0x1 : 0xf);
      nir_store_var(&b, id, number, 0x1);
      nir_emit_vertex(&b, .stream_id = 0);
   }
   nir_end_primitive(&b, .stream_id = 0);
   nir_shader_gather_info(s, nir_shader_get_entrypoint(s));
   return s;
}

static void *
create_state(struct fd_context *ctx, nir_shader *s, const struct pipe_stream_output_info *stored)
{
   struct pipe_screen *pscreen = &ctx->screen->base;
   free(pscreen->finalize_nir(pscreen, s));

   struct pipe_shader_state cso = {.type = PIPE_SHADER_IR_NIR, .ir.nir = s, .stream_output = *stored};
   return ctx->base.create_gs_state(&ctx->base, &cso);
}

/* For each layer a strip that covers all of it. Invocations share the layers. */
static nir_shader *
build_layered_clear(const nir_shader_compiler_options *options, unsigned layers)
{
   nir_builder b = nir_builder_init_simple_shader(MESA_SHADER_GEOMETRY, options, "layered clear");
   nir_shader *s = b.shader;
   unsigned each = DIV_ROUND_UP(layers, 32);

   s->info.gs.input_primitive = MESA_PRIM_POINTS;
   s->info.gs.output_primitive = MESA_PRIM_TRIANGLE_STRIP;
   s->info.gs.vertices_in = 1;
   s->info.gs.vertices_out = 4 * each;
   s->info.gs.invocations = DIV_ROUND_UP(layers, each);
   s->info.gs.active_stream_mask = 1;

   nir_variable *position = variable(s, nir_var_shader_out, glsl_vec4_type(), VARYING_SLOT_POS);
   nir_variable *layer = variable(s, nir_var_shader_out, glsl_int_type(), VARYING_SLOT_LAYER);

   for (unsigned i = 0; i < 4 * each; i++) {
      nir_def *number = nir_iadd_imm(&b, nir_imul_imm(&b, nir_load_invocation_id(&b), each), i / 4);
      nir_store_var(&b, layer, nir_umin(&b, number, nir_imm_int(&b, layers - 1)), 0x1);
      nir_store_var(&b, position, nir_imm_vec4(&b, i % 2 ? 1 : -1, i % 4 / 2 ? 1 : -1, 1, 1), 0xf);
      nir_emit_vertex(&b, .stream_id = 0);
      if (i % 4 == 3)
         nir_end_primitive(&b, .stream_id = 0);
   }
   nir_shader_gather_info(s, nir_shader_get_entrypoint(s));
   return s;
}

void *
fd4_layered_clear_gs(struct fd_context *ctx, unsigned layers)
{
   struct util_dynarray *all = &fd4_context(ctx)->passthrough;

   util_dynarray_foreach (all, struct passthrough, known) {
      if (!known->outputs && known->vertices_in == layers)
         return known->state;
   }
   nir_shader *s = build_layered_clear(ir3_get_compiler_options(ctx->screen->compiler), layers);
   struct passthrough made = {.vertices_in = layers};
   made.state = create_state(ctx, s, &made.stored);
   util_dynarray_append(all, struct passthrough, made);
   return made.state;
}

/* What an evaluation shader stores, of the outputs of the shader behind it. Both number theirs in the order of
 * slots. A vertex shader stores by itself.
 */
static void
store_same(struct pipe_stream_output_info *stored, struct ir3_shader_state *before, uint64_t outputs)
{
   const struct shader_info *info = ir3_get_shader_info(before);
   const struct ir3_stream_output_info *wanted = &ir3_get_shader(before)->stream_output;

   if (info->stage != MESA_SHADER_TESS_EVAL)
      return;

   stored->num_outputs = wanted->num_outputs;
   for (unsigned i = 0; i < PIPE_MAX_SO_BUFFERS; i++)
      stored->stride[i] = wanted->stride[i];

   for (unsigned i = 0; i < wanted->num_outputs; i++) {
      uint64_t written = info->outputs_written;
      for (unsigned k = 0; k < wanted->output[i].register_index; k++)
         written &= written - 1;
      uint64_t below = (written & -written) - 1;

      stored->output[i].register_index = util_bitcount64(outputs & below);
      stored->output[i].start_component = wanted->output[i].start_component;
      stored->output[i].num_components = wanted->output[i].num_components;
      stored->output[i].output_buffer = wanted->output[i].output_buffer;
      stored->output[i].dst_offset = wanted->output[i].dst_offset;
      stored->output[i].stream = wanted->output[i].stream;
   }
}

struct ir3_shader_state *
fd4_passthrough_gs(struct fd_context *ctx, struct ir3_shader_state *before, unsigned vertices_in, bool quads)
{
   struct util_dynarray *all = &fd4_context(ctx)->passthrough;
   struct passthrough made;

   memset(&made, 0, sizeof(made));
   made.vertices_in = vertices_in;
   made.quads = quads;
   made.outputs = VARYING_BIT_POS |
      (ir3_get_shader_info(before)->outputs_written &
       ~(VARYING_BIT_LAYER | VARYING_BIT_VIEWPORT | VARYING_BIT_EDGE));
   store_same(&made.stored, before, made.outputs);

   util_dynarray_foreach (all, struct passthrough, known) {
      if (known->outputs == made.outputs && known->vertices_in == vertices_in && known->quads == quads &&
          !memcmp(&known->stored, &made.stored, sizeof(made.stored)))
         return known->state;
   }

   nir_shader *s =
      build_passthrough(ir3_get_compiler_options(ctx->screen->compiler), made.outputs, vertices_in, quads);
   made.state = create_state(ctx, s, &made.stored);
   util_dynarray_append(all, struct passthrough, made);
   return made.state;
}

void
fd4_passthrough_fini(struct fd_context *ctx)
{
   util_dynarray_foreach (&fd4_context(ctx)->passthrough, struct passthrough, known)
      ctx->base.delete_gs_state(&ctx->base, known->state);
   util_dynarray_fini(&fd4_context(ctx)->passthrough);
}
