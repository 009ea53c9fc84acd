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

bool ir3_a4xx_lower_stages(nir_shader *s, struct ir3_shader_variant *so);

void ir3_a4xx_load_global(struct ir3_context *ctx, nir_intrinsic_instr *intr,
                          struct ir3_instruction **dst);
void ir3_a4xx_store_global(struct ir3_context *ctx, nir_intrinsic_instr *intr);

void ir3_a4xx_fix_entry_registers(struct ir3_context *ctx);
void ir3_a4xx_write_position_last(struct ir3_context *ctx, struct ir3_instruction *end);

#endif
