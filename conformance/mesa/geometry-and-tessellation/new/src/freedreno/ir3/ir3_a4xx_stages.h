/*
 * Geometry and tessellation shaders of the A4xx.
 * SPDX-License-Identifier: MIT
 */

#ifndef IR3_A4XX_STAGES_H_
#define IR3_A4XX_STAGES_H_

#include "compiler/nir/nir.h"
#include "ir3_compiler.h"
#include "ir3_shader.h"

struct ir3_context;
struct ir3_instruction;

/* Bytes of local memory that a vertex takes for position and point size, and for each other output. */
#define IR3_A4XX_SYSTEM_BLOCK 0x40
#define IR3_A4XX_ATTRIBUTE    0x10

/* Index of an output in ir3_shader_variant::output_loc, and in the map in the constants of the next stage. */
unsigned ir3_a4xx_slot_index(gl_varying_slot slot);

/* Arrays of more bytes go to private memory; others stay in registers. */
#define IR3_A4XX_LARGE_ARRAY 640

/* The registers of private memory have a name in all stages. Mesa's A4xx driver does not set it up for compute. */
static inline bool
ir3_a4xx_spills(const struct ir3_shader_variant *so)
{
   return so->compiler->gen == 4 && so->type != MESA_SHADER_COMPUTE;
}

/* Halves of registers that ir3_a4xx_write_position_last needs. */
static inline unsigned
ir3_a4xx_reserved_registers(const struct ir3_shader_variant *so)
{
   return so->compiler->gen == 4 && so->type == MESA_SHADER_GEOMETRY ? 8 : 0;
}

bool ir3_a4xx_lower_stages(nir_shader *s, struct ir3_shader_variant *so);

void ir3_a4xx_load_global(struct ir3_context *ctx, nir_intrinsic_instr *intr,
                          struct ir3_instruction **dst);
void ir3_a4xx_store_global(struct ir3_context *ctx, nir_intrinsic_instr *intr);

void ir3_a4xx_fix_entry_registers(struct ir3_context *ctx);
void ir3_a4xx_write_position_last(struct ir3_context *ctx, struct ir3_instruction *end);

#endif
