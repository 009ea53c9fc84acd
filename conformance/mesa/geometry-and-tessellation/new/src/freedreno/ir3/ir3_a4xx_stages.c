/*
 * Geometry and tessellation shaders of the A4xx.
 * SPDX-License-Identifier: MIT
 *
 * Where the A4xx differs from the A6xx, for which ir3_nir_lower_tess.c is written:
 *
 * - The stage before a geometry or hull shader does not store its outputs. They go through a map of
 *   registers, as outputs for the rasterizer do, and the hardware puts them into local memory. With V
 *   vertices in a primitive, vertex v has its position at 0x40 * v, its point size at 0x40 * v + 0x10, and
 *   output N at 0x40 * V + 0x10 * (N * V + v). No register of a domain shader's point size is known, so it
 *   is one of the outputs there.
 * - Each stage is launched on its own. It finds a word in r0.x (4:0 place of the primitive in local memory,
 *   14:10 invocation, 24:15 vertex), the primitive's number in r0.y and the patch's number in r0.z.
 * - A word of a geometry shader says where a primitive begins (bit 2), the stream (1:0), the viewport (from
 *   bit 3) and the layer (from bit 7). The register behind it has the point size.
 *
 * Source: the freedreno wiki, A4xx-Geometry-Shaders and A4xx-Tessellation-Shaders.
 */

#include "compiler/nir/nir_builder.h"
#include "ir3_a4xx_stages.h"
#include "ir3_context.h"
#include "ir3_nir.h"
#include "ir3_ra.h"

unsigned
ir3_a4xx_slot_index(gl_varying_slot slot)
{
   if (slot >= VARYING_SLOT_VAR0)
      return 13 + (slot - VARYING_SLOT_VAR0);

   static const uint8_t legacy[] = {
      VARYING_SLOT_COL0, VARYING_SLOT_COL1, VARYING_SLOT_BFC0, VARYING_SLOT_BFC1,
      VARYING_SLOT_FOGC, VARYING_SLOT_CLIP_DIST0, VARYING_SLOT_CLIP_DIST1,
      VARYING_SLOT_CLIP_VERTEX, VARYING_SLOT_LAYER, VARYING_SLOT_VIEWPORT, VARYING_SLOT_PSIZ,
   };
   for (unsigned i = 0; i < ARRAY_SIZE(legacy); i++) {
      if (legacy[i] == slot)
         return i;
   }
   return 12;
}

static nir_def *
header(nir_builder *b)
{
   return b->shader->info.stage == MESA_SHADER_GEOMETRY ? nir_load_gs_header_ir3(b)
                                                        : nir_load_tcs_header_ir3(b);
}

/* The number of vertices of the primitive that the shader reads. */
static nir_def *
vertices_in(nir_builder *b)
{
   if (b->shader->info.stage == MESA_SHADER_GEOMETRY)
      return nir_imm_int(b, b->shader->info.gs.vertices_in);
   return nir_load_patch_vertices_in(b);
}

/* Whether an input is in the block of its vertex, and not among the outputs of the stage before. */
static bool
in_system_block(const struct ir3_shader_variant *so, unsigned slot)
{
   bool behind_domain = so->type == MESA_SHADER_GEOMETRY && so->key.tessellation;
   return slot == VARYING_SLOT_POS || (slot == VARYING_SLOT_PSIZ && !behind_domain);
}

/* Where a component of an input lies in local memory. */
static nir_def *
input_address(nir_builder *b, nir_intrinsic_instr *intr, const struct ir3_shader_variant *so)
{
   unsigned slot = nir_intrinsic_io_semantics(intr).location;
   nir_def *vertex = intr->src[0].ssa, *index = intr->src[1].ssa;
   nir_def *place = nir_imul24(b, nir_iand_imm(b, header(b), 0x1f), nir_load_vs_primitive_stride_ir3(b));
   nir_def *at;

   if (in_system_block(so, slot)) {
      at = nir_iadd_imm(b, nir_ishl_imm(b, vertex, 6), slot == VARYING_SLOT_PSIZ ? 0x10 : 0);
   } else {
      nir_def *first = nir_load_primitive_location_ir3(b, ir3_a4xx_slot_index(slot));
      nir_def *attribute = nir_imul24(b, index, vertices_in(b));
      at = nir_iadd(b, first, nir_ishl_imm(b, nir_iadd(b, attribute, vertex), 4));
   }
   return nir_iadd(b, place, nir_iadd_imm(b, at, 4 * nir_intrinsic_component(intr)));
}

static bool
lower_input(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
   b->cursor = nir_before_instr(&intr->instr);

   switch (intr->intrinsic) {
   case nir_intrinsic_load_per_vertex_input: {
      nir_def *value = nir_load_shared_ir3(b, intr->def.num_components, intr->def.bit_size,
                                           input_address(b, intr, data));
      nir_def_replace(&intr->def, value);
      return true;
   }
   case nir_intrinsic_load_invocation_id:
      nir_def_replace(&intr->def, nir_iand_imm(b, nir_ushr_imm(b, header(b), 10), 0x1f));
      return true;
   default:
      return false;
   }
}

/* The passes for the A6xx look for the invocation and the vertex one bit higher. */
static bool
shift_header(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
   if (intr->intrinsic != nir_intrinsic_load_gs_header_ir3 &&
       intr->intrinsic != nir_intrinsic_load_tcs_header_ir3)
      return false;

   b->cursor = nir_after_instr(&intr->instr);
   nir_def *shifted = nir_ishl_imm(b, &intr->def, 1);
   nir_def_rewrite_uses_after(&intr->def, shifted, shifted->parent_instr);
   return true;
}

struct vertex_outputs {
   nir_intrinsic_instr *flags, *layer, *viewport, *size, *position, *last;
};

static bool
find_output(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
   struct vertex_outputs *found = data;

   if (intr->intrinsic != nir_intrinsic_store_output)
      return false;

   found->last = intr;
   switch (nir_intrinsic_io_semantics(intr).location) {
   case VARYING_SLOT_GS_VERTEX_FLAGS_IR3:
      found->flags = intr;
      break;
   case VARYING_SLOT_LAYER:
      found->layer = intr;
      break;
   case VARYING_SLOT_VIEWPORT:
      found->viewport = intr;
      break;
   case VARYING_SLOT_PSIZ:
      found->size = intr;
      break;
   case VARYING_SLOT_POS:
      found->position = intr;
      break;
   }
   return false;
}

static nir_def *
with_field(nir_builder *b, nir_def *word, nir_intrinsic_instr *field, unsigned bits, unsigned shift)
{
   if (!field)
      return word;
   nir_def *value = nir_iand_imm(b, field->src[0].ssa, BITFIELD_MASK(bits));
   return nir_ior(b, word, nir_ishl_imm(b, value, shift));
}

/* Makes the flags the word that the hardware wants, with the point size behind it. All outputs are
 * stored at the end of the shader, outside of control flow (ir3_nir_lower_gs).
 */
static void
build_primitive_word(nir_shader *s)
{
   struct vertex_outputs found = {};

   nir_shader_intrinsics_pass(s, find_output, nir_metadata_all, &found);
   if (!found.flags)
      return;

   nir_builder b = nir_builder_at(nir_after_instr(&found.last->instr));
   nir_def *word = with_field(&b, found.flags->src[0].ssa, found.viewport, 4, 3);
   word = with_field(&b, word, found.layer, 11, 7);
   nir_def *size = found.size ? found.size->src[0].ssa : nir_imm_float(&b, 1.0f);

   nir_store_output(&b, nir_vec2(&b, word, size), nir_imm_int(&b, 0),
                    .base = nir_intrinsic_base(found.flags), .write_mask = 0x3,
                    .component = 0, .src_type = nir_type_uint32,
                    .io_semantics = nir_intrinsic_io_semantics(found.flags));
   if (!found.position) {
      nir_store_output(&b, nir_imm_vec4(&b, 0, 0, 0, 1), nir_imm_int(&b, 0),
                       .base = s->num_outputs++, .write_mask = 0xf, .component = 0,
                       .src_type = nir_type_float32,
                       .io_semantics = {.location = VARYING_SLOT_POS, .num_slots = 1});
   }
   nir_instr_remove(&found.flags->instr);
}

/* How many entries of the map the shader needs in its constants. */
static unsigned
input_map_size(nir_shader *s, const struct ir3_shader_variant *so)
{
   unsigned size = 0;
   u_foreach_bit64 (slot, s->info.inputs_read) {
      if (!in_system_block(so, slot))
         size = MAX2(size, ir3_a4xx_slot_index(slot) + 1);
   }
   return size;
}

static void
lower_inputs(nir_shader *s, struct ir3_shader_variant *so)
{
   nir_shader_intrinsics_pass(s, lower_input, nir_metadata_control_flow, so);
   so->input_size = input_map_size(s, so);
}

bool
ir3_a4xx_lower_stages(nir_shader *s, struct ir3_shader_variant *so)
{
   switch (so->type) {
   case MESA_SHADER_TESS_CTRL:
      NIR_PASS_V(s, nir_lower_io_to_scalar, nir_var_shader_in | nir_var_shader_out, NULL, NULL);
      NIR_PASS_V(s, ir3_nir_lower_tess_ctrl, so, so->key.tessellation);
      NIR_PASS_V(s, nir_shader_intrinsics_pass, shift_header, nir_metadata_control_flow, NULL);
      lower_inputs(s, so);
      return true;
   case MESA_SHADER_TESS_EVAL:
      NIR_PASS_V(s, ir3_nir_lower_tess_eval, so, so->key.tessellation);
      return true;
   case MESA_SHADER_GEOMETRY:
      /* ir3_nir_lower_gs has run; inputs and the word need the header as it is. */
      NIR_PASS_V(s, nir_shader_intrinsics_pass, shift_header, nir_metadata_control_flow, NULL);
      lower_inputs(s, so);
      build_primitive_word(s);
      return true;
   default:
      return false;
   }
}

/* Addresses have 32 bits here; the offset counts dwords. */
static struct ir3_instruction *
global_address(struct ir3_context *ctx, nir_src *base, nir_src *offset, int *bytes)
{
   struct ir3_builder *b = &ctx->build;
   struct ir3_instruction *addr = ir3_get_src(ctx, base)[0];

   *bytes = 0;
   if (nir_src_is_const(*offset)) {
      int constant = nir_src_as_int(*offset) * 4;
      if (constant >= 0 && constant < 1024) {
         *bytes = constant;
         return addr;
      }
   }
   struct ir3_instruction *scaled =
      ir3_SHL_B(b, ir3_get_src(ctx, offset)[0], 0, create_immed(b, 2), 0);
   return ir3_ADD_U(b, addr, 0, scaled, 0);
}

void
ir3_a4xx_load_global(struct ir3_context *ctx, nir_intrinsic_instr *intr,
                     struct ir3_instruction **dst)
{
   struct ir3_builder *b = &ctx->build;
   unsigned components = nir_intrinsic_dest_components(intr);
   int bytes;
   struct ir3_instruction *addr = global_address(ctx, &intr->src[0], &intr->src[1], &bytes);

   struct ir3_instruction *load =
      ir3_LDG(b, addr, 0, create_immed(b, bytes), 0, create_immed(b, components), 0);
   load->cat6.type = TYPE_U32;
   load->dsts[0]->wrmask = MASK(components);
   load->barrier_class = IR3_BARRIER_BUFFER_R;
   load->barrier_conflict = IR3_BARRIER_BUFFER_W;

   ir3_split_dest(b, dst, load, 0, components);
}

void
ir3_a4xx_store_global(struct ir3_context *ctx, nir_intrinsic_instr *intr)
{
   struct ir3_builder *b = &ctx->build;
   unsigned components = nir_intrinsic_src_components(intr, 0);
   struct ir3_instruction *value =
      ir3_create_collect(b, ir3_get_src(ctx, &intr->src[0]), components);
   int bytes;
   struct ir3_instruction *addr = global_address(ctx, &intr->src[1], &intr->src[2], &bytes);

   struct ir3_instruction *store = ir3_STG(b, addr, 0, create_immed(b, bytes), 0, value, 0,
                                           create_immed(b, components), 0);
   store->cat6.type = TYPE_U32;
   store->barrier_class = IR3_BARRIER_BUFFER_W;
   store->barrier_conflict = IR3_BARRIER_BUFFER_R | IR3_BARRIER_BUFFER_W;

   array_insert(ctx->block, ctx->block->keeps, store);
}

static void
fix_register(struct ir3_instruction *input, unsigned reg)
{
   if (input)
      input->dsts[0]->num = reg;
}

/* No field is known that names the registers of what a stage finds at its start. */
void
ir3_a4xx_fix_entry_registers(struct ir3_context *ctx)
{
   fix_register(ctx->gs_header, regid(0, 0));
   fix_register(ctx->tcs_header, regid(0, 0));
   fix_register(ctx->primitive_id, regid(0, 1));
   fix_register(ctx->rel_patch_id, regid(0, 2));
   fix_register(ctx->tess_coord, regid(1, 0));
}

/* A run that kills is to make no vertex. Whether the hardware takes the vertex of such a run may depend on
 * what it wrote before the kill, so the position gets registers of its own, written right before the end.
 */
void
ir3_a4xx_write_position_last(struct ir3_context *ctx, struct ir3_instruction *end)
{
   struct ir3_shader_variant *so = ctx->so;
   unsigned top = 0;
   int position = -1;

   foreach_block (block, &so->ir->block_list) {
      foreach_instr (instr, &block->instr_list) {
         foreach_dst (reg, instr) {
            if (reg->flags & IR3_REG_HALF)
               continue;
            if (reg->flags & IR3_REG_RELATIV)
               top = MAX2(top, reg->array.base + reg->size - 1);
            else if (is_reg_gpr(reg))
               top = MAX2(top, reg->num + util_last_bit(reg->wrmask) - 1);
         }
      }
   }
   unsigned fresh = align(top + 1, 4);
   if (fresh + 4 > RA_HALF_SIZE)
      return; /* ir3_a4xx_reserved_registers keeps some */

   for (unsigned i = 0; i < end->srcs_count; i++) {
      if (so->outputs[end->end.outidxs[i]].slot == VARYING_SLOT_POS)
         position = i;
   }
   if (position < 0)
      return;

   struct ir3_register *src = end->srcs[position];
   struct ir3_builder b = ir3_builder_at(ir3_before_instr(end));
   for (unsigned c = 0; c < util_last_bit(src->wrmask); c++) {
      struct ir3_instruction *mov = ir3_build_instr(&b, OPC_MOV, 1, 1);
      ir3_dst_create(mov, fresh + c, 0);
      ir3_src_create(mov, src->num + c, 0);
      mov->cat1.src_type = TYPE_U32;
      mov->cat1.dst_type = TYPE_U32;
   }
   src->num = fresh;
}
