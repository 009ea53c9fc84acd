/*
 * Geometry and tessellation shaders of the A4xx: registers of the stages. Part of fd4_program.c.
 * SPDX-License-Identifier: MIT
 */

/* Registers without a name in a4xx.xml, by their place beside those that have one. */
#define REG_A4XX_SP_HS_CTRL_REG0 0x230b
#define REG_A4XX_SP_DS_CTRL_REG0 0x2318
#define REG_A4XX_SP_GS_CTRL_REG0 0x233f

/* Units that the stores of constants and of instructions have. */
#define CONST_UNITS 128
#define INSTR_UNITS 64

static const uint8_t stage_order[] = {VS, HS, DS, GS, FS};

/* One after the other; no instructions in the store if it cannot hold all. */
static void
place_stages(struct stage *s)
{
   unsigned constoff = 0, instroff = 0, instructions = 0;

   for (unsigned i = 0; i < MAX_STAGES; i++)
      instructions += s[i].v ? s[i].v->instrlen : 0;

   for (unsigned i = 0; i < ARRAY_SIZE(stage_order); i++) {
      struct stage *stage = &s[stage_order[i]];
      stage->constlen = stage->v ? DIV_ROUND_UP(stage->v->constlen, 4) : 0;
      stage->instrlen = stage->v && instructions <= INSTR_UNITS ? stage->v->instrlen : 0;
      stage->constoff = constoff;
      stage->instroff = instroff;
      constoff += stage->constlen;
      instroff += stage->instrlen;
   }
   assert(constoff <= CONST_UNITS);
}

static const struct ir3_shader_variant *
last_stage(struct stage *s)
{
   return s[GS].v ? s[GS].v : s[DS].v ? s[DS].v : s[VS].v;
}

static bool
has_middle(struct stage *s)
{
   return s[GS].v || s[DS].v;
}

/* Number of outputs of the vertex shader. */
static unsigned
vs_total_out(struct stage *s)
{
   return has_middle(s) ? fd4_attributes(s[VS].v) : s[FS].v->varying_in;
}

static void
link_vs(struct ir3_shader_linkage *l, struct stage *s)
{
   if (has_middle(s))
      fd4_link_next(l, s[VS].v);
   else
      ir3_link_shaders(l, s[VS].v, s[FS].v, false);
}

/* The three registers in front of a stage's outputs are like those of the vertex shader. */
static void
emit_stage_control(struct fd_ringbuffer *ring, const struct stage *stage, unsigned reg, unsigned inputs)
{
   OUT_PKT0(ring, reg, 2);
   OUT_RING(ring, A4XX_SP_VS_CTRL_REG0_THREADMODE(MULTI) |
                     A4XX_SP_VS_CTRL_REG0_HALFREGFOOTPRINT(stage->i->max_half_reg + 1) |
                     A4XX_SP_VS_CTRL_REG0_FULLREGFOOTPRINT(stage->i->max_reg + 1) |
                     A4XX_SP_VS_CTRL_REG0_THREADSIZE(TWO_QUADS) |
                     A4XX_SP_VS_CTRL_REG0_SUPERTHREADMODE |
                     COND(stage->v->need_pixlod, A4XX_SP_VS_CTRL_REG0_PIXLODENABLE));
   OUT_RING(ring, A4XX_SP_VS_CTRL_REG1_CONSTLENGTH(stage->constlen) |
                     A4XX_SP_VS_CTRL_REG1_INITIALOUTSTANDING(inputs));
}

static void
emit_stage_place(struct fd_ringbuffer *ring, const struct stage *stage, unsigned offset_reg,
                 unsigned length_reg)
{
   OUT_PKT0(ring, offset_reg, stage->v ? 2 : 1);
   OUT_RING(ring, A4XX_SP_GS_OBJ_OFFSET_REG_CONSTOBJECTOFFSET(stage->constoff) |
                     A4XX_SP_GS_OBJ_OFFSET_REG_SHADEROBJOFFSET(stage->instroff));
   if (!stage->v)
      return;
   OUT_RELOC(ring, stage->v->bo, 0, 0, 0);

   OUT_PKT0(ring, length_reg, 1);
   OUT_RING(ring, stage->v->instrlen);
}

/* The maps of outputs of DS and GS are like the vertex shader's, at other places. */
static void
emit_stage_outputs(struct fd_ringbuffer *ring, const struct ir3_shader_linkage *l, unsigned out_reg,
                   unsigned dst_reg)
{
   unsigned count = MIN2(l->cnt, FD4_STAGE_OUTPUTS);

   for (unsigned i = 0; i < count; i += 2) {
      OUT_PKT0(ring, out_reg + i / 2, 1);
      OUT_RING(ring, A4XX_SP_GS_OUT_REG_A_REGID(l->var[i].regid) |
                        A4XX_SP_GS_OUT_REG_A_COMPMASK(l->var[i].compmask) |
                        COND(i + 1 < count, A4XX_SP_GS_OUT_REG_B_REGID(l->var[i + 1].regid) |
                                                A4XX_SP_GS_OUT_REG_B_COMPMASK(l->var[i + 1].compmask)));
   }
   for (unsigned i = 0; i < count; i += 4) {
      uint32_t word = 0;
      for (unsigned k = i; k < MIN2(count, i + 4); k++)
         word |= (l->var[k].loc + 8) << (8 * (k - i));
      OUT_PKT0(ring, dst_reg + i / 4, 1);
      OUT_RING(ring, word);
   }
}

/* Registers of stream-out, by their places on the A5xx and the one name that is public
 * (VPC_SO_FLUSH_WADDR_3).
 */
#define REG_A4XX_VPC_SO_CNTL     0x2157
#define REG_A4XX_VPC_SO_PROG     0x2158
#define REG_A4XX_VPC_SO_NCOMP(i) (0x215d + 5 * (i))

/* First location behind position and point size. */
#define FIRST_VARYING 8

/* The location of an output that has `components` for stream-out. It gets one of its own unless the fragment
 * shader has it as a whole.
 */
static unsigned
streamout_location(struct ir3_shader_linkage *l, const struct ir3_shader_output *output, unsigned components)
{
   if (output->slot == VARYING_SLOT_POS)
      return 0;
   if (output->slot == VARYING_SLOT_PSIZ)
      return 4;

   unsigned mask = BITFIELD_MASK(components);
   for (unsigned k = 0; k < l->cnt; k++) {
      if (l->var[k].regid == output->regid && (l->var[k].compmask & mask) == mask)
         return l->var[k].loc + FIRST_VARYING;
   }
   unsigned loc = align(l->max_loc, 4);
   ir3_link_add(l, output->slot, output->regid, 0xf, loc);
   return loc + FIRST_VARYING;
}

/* The program of stream-out has half a word for each component that leaves the last stage. */
static void
emit_streamout_program(struct fd_ringbuffer *ring, const struct ir3_shader_variant *v,
                       struct ir3_shader_linkage *l)
{
   const struct ir3_stream_output_info *info = &v->stream_output;
   uint32_t words[(FIRST_VARYING + 256) / 2] = {};

   for (unsigned i = 0; i < info->num_outputs; i++) {
      const struct ir3_stream_output *out = &info->output[i];
      unsigned first = streamout_location(l, &v->outputs[out->register_index],
                                          out->start_component + out->num_components);

      for (unsigned c = 0; c < out->num_components; c++) {
         unsigned location = first + out->start_component + c;
         uint32_t half = out->output_buffer | (out->dst_offset + c) << 2 | 1 << 11;
         words[location / 2] |= half << (12 * (location % 2));
      }
   }

   for (unsigned i = 0; i < PIPE_MAX_SO_BUFFERS; i++) {
      OUT_PKT0(ring, REG_A4XX_VPC_SO_NCOMP(i), 1);
      OUT_RING(ring, info->stride[i]);
   }
   OUT_PKT0(ring, REG_A4XX_VPC_SO_CNTL, 1);
   OUT_RING(ring, 0);
   for (unsigned i = 0; i < (FIRST_VARYING + l->max_loc + 1) / 2; i++) {
      OUT_PKT0(ring, REG_A4XX_VPC_SO_PROG, 1);
      OUT_RING(ring, words[i]);
   }
}

/* The outputs of the last stage: what the fragment shader reads, and what stream-out stores. */
static void
link_last(struct fd_ringbuffer *ring, struct ir3_shader_linkage *l, const struct ir3_shader_variant *v,
          const struct ir3_shader_variant *fs)
{
   ir3_link_shaders(l, v, fs, false);
   if (v->stream_output.num_outputs)
      emit_streamout_program(ring, v, l);
}

static uint32_t
regid_or_first(const struct ir3_shader_variant *v, unsigned slot)
{
   uint32_t id = ir3_find_output_regid(v, slot);
   return id == regid(63, 0) ? regid(0, 0) : id;
}

static void
emit_hull(struct fd_ringbuffer *ring, const struct stage *hull, const struct ir3_shader_variant *ds)
{
   bool connected = !ds->tess.point_mode;
   bool isolines = ds->tess.primitive_mode == TESS_PRIMITIVE_ISOLINES;
   enum a4xx_tess_spacing spacing = ds->tess.spacing == TESS_SPACING_FRACTIONAL_ODD    ? ODD_SPACING
                                    : ds->tess.spacing == TESS_SPACING_FRACTIONAL_EVEN ? EVEN_SPACING
                                                                                       : EQUAL_SPACING;

   emit_stage_control(ring, hull, REG_A4XX_SP_HS_CTRL_REG0, 3);

   OUT_PKT0(ring, REG_A4XX_PC_HS_PARAM, 1);
   OUT_RING(ring, A4XX_PC_HS_PARAM_VERTICES_OUT(hull->v->tess.tcs_vertices_out) |
                     A4XX_PC_HS_PARAM_SPACING(spacing) |
                     COND(isolines ? connected : !ds->tess.ccw, A4XX_PC_HS_PARAM_CW) |
                     COND(connected, A4XX_PC_HS_PARAM_CONNECTED));
}

static void
emit_domain(struct fd_ringbuffer *ring, struct stage *s)
{
   struct ir3_shader_linkage l = {0};

   if (s[GS].v)
      fd4_link_next(&l, s[DS].v);
   else
      link_last(ring, &l, s[DS].v, s[FS].v);

   emit_stage_control(ring, &s[DS], REG_A4XX_SP_DS_CTRL_REG0, 2);
   OUT_PKT0(ring, REG_A4XX_SP_DS_PARAM_REG, 1);
   OUT_RING(ring, A4XX_SP_DS_PARAM_REG_POSREGID(regid_or_first(s[DS].v, VARYING_SLOT_POS)) |
                     A4XX_SP_DS_PARAM_REG_TOTALGSOUTVAR(l.cnt));
   emit_stage_outputs(ring, &l, REG_A4XX_SP_DS_OUT_REG(0), REG_A4XX_SP_DS_VPC_DST_REG(0));
}

static enum adreno_pa_su_sc_draw
gs_primtype(const struct ir3_shader_variant *gs)
{
   switch (gs->gs.output_primitive) {
   case MESA_PRIM_POINTS:
      return PC_DRAW_POINTS;
   case MESA_PRIM_LINE_STRIP:
      return PC_DRAW_LINES;
   default:
      return PC_DRAW_TRIANGLES;
   }
}

static void
emit_geometry(struct fd_ringbuffer *ring, const struct fd4_emit *emit, struct stage *s)
{
   const struct ir3_shader_variant *gs = s[GS].v;
   struct ir3_shader_linkage l = {0};

   link_last(ring, &l, gs, s[FS].v);

   emit_stage_control(ring, &s[GS], REG_A4XX_SP_GS_CTRL_REG0, 2);
   OUT_PKT0(ring, REG_A4XX_SP_GS_PARAM_REG, 1);
   OUT_RING(ring,
            A4XX_SP_GS_PARAM_REG_POSREGID(regid_or_first(gs, VARYING_SLOT_POS)) |
               A4XX_SP_GS_PARAM_REG_PRIMREGID(ir3_find_output_regid(gs, VARYING_SLOT_GS_VERTEX_FLAGS_IR3)) |
               A4XX_SP_GS_PARAM_REG_TOTALGSOUTVAR(l.cnt));
   emit_stage_outputs(ring, &l, REG_A4XX_SP_GS_OUT_REG(0), REG_A4XX_SP_GS_VPC_DST_REG(0));

   OUT_PKT0(ring, REG_A4XX_PC_GS_PARAM, 1);
   OUT_RING(ring, A4XX_PC_GS_PARAM_MAX_VERTICES(MAX2(1, gs->gs.vertices_out) - 1) |
                     A4XX_PC_GS_PARAM_INVOCATIONS(MAX2(1, gs->gs.invocations) - 1) |
                     A4XX_PC_GS_PARAM_PRIMTYPE(gs_primtype(gs)) |
                     COND(emit->layered && ir3_find_output(gs, VARYING_SLOT_LAYER) >= 0, A4XX_PC_GS_PARAM_LAYER));
}

static void
emit_middle_stages(struct fd_ringbuffer *ring, const struct fd4_emit *emit, struct stage *s)
{
   if (s[DS].v) {
      emit_hull(ring, &s[HS], s[DS].v);
      emit_domain(ring, s);
   }
   if (s[GS].v) {
      emit_geometry(ring, emit, s);
   } else {
      OUT_PKT0(ring, REG_A4XX_PC_GS_PARAM, 1);
      OUT_RING(ring, 0);
   }
   emit_stage_place(ring, &s[HS], REG_A4XX_SP_HS_OBJ_OFFSET_REG, REG_A4XX_SP_HS_LENGTH_REG);
   emit_stage_place(ring, &s[DS], REG_A4XX_SP_DS_OBJ_OFFSET_REG, REG_A4XX_SP_DS_LENGTH_REG);
   emit_stage_place(ring, &s[GS], REG_A4XX_SP_GS_OBJ_OFFSET_REG, REG_A4XX_SP_GS_LENGTH_REG);
}

static void
emit_middle_shaders(struct fd_ringbuffer *ring, struct stage *s)
{
   for (unsigned i = HS; i <= GS; i++) {
      if (s[i].v && s[i].instrlen)
         fd4_emit_shader(ring, s[i].v);
   }
}
