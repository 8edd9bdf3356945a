#include "compile_client/work_group.h"
#include "compiler/workgroup/emit.h"
#include "compiler/workgroup/transform/metadata.h"

#include <stddef.h>
#include <stdio.h>

/* The number of work-items of a strip: one, the number of lanes, or twice that. */
enum width { NARROW, WIDE, PAIR };

/* A loop under construction: while index < end, in steps. */
struct loop {
    LLVMBasicBlockRef head, exit;
    LLVMValueRef index, step; /* i64 */
};

static enum width widest(const struct kc_emit *emit)
{
    return emit->pairs ? PAIR : emit->wide ? WIDE : NARROW;
}

LLVMValueRef kc_variable(struct kc_emit *emit, LLVMTypeRef type, uint64_t n, const char *name)
{
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMValueRef variable;

    LLVMPositionBuilderBefore(b, emit->variables_end);
    variable = LLVMBuildAlloca(b, n == 1 ? type : LLVMArrayType(type, (unsigned)n), name);
    if (n > 1)
        LLVMSetAlignment(variable, 64);
    LLVMPositionBuilderAtEnd(b, here);
    return variable;
}

LLVMBasicBlockRef kc_new_block(struct kc_emit *emit, const char *name)
{
    return LLVMAppendBasicBlockInContext(emit->wg->context, emit->run, name);
}

unsigned kc_phase_number(const struct kc_plan *plan, int bound)
{
    unsigned number = 0;

    while (number < plan->n_phases && (bound == KC_EXIT || plan->phases[number].start != bound))
        number++;
    return number;
}

LLVMValueRef kc_build_min(struct kc_emit *emit, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(emit->wg->builder, LLVMBuildICmp(emit->wg->builder, LLVMIntULT, a, b, ""), a, b, "");
}

static void loop_begin(struct kc_emit *emit, struct loop *loop, LLVMValueRef begin, LLVMValueRef end, uint64_t step)
{
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), body = kc_new_block(emit, "");

    loop->head = kc_new_block(emit, "");
    loop->exit = kc_new_block(emit, "");
    loop->step = kc_i64(emit->wg, step);
    LLVMBuildBr(b, loop->head);
    LLVMPositionBuilderAtEnd(b, loop->head);
    loop->index = LLVMBuildPhi(b, emit->wg->i64, "");
    LLVMAddIncoming(loop->index, &begin, &before, 1);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, loop->index, end, ""), body, loop->exit);
    LLVMPositionBuilderAtEnd(b, body);
}

/* Returns the branch of the back edge. */
static LLVMValueRef loop_end(struct kc_emit *emit, struct loop *loop)
{
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMValueRef next = LLVMBuildAdd(b, loop->index, loop->step, ""), back;

    LLVMSetNUW(next, 1);
    LLVMAddIncoming(loop->index, &next, &here, 1);
    back = LLVMBuildBr(b, loop->head);
    LLVMPositionBuilderAtEnd(b, loop->exit);
    return back;
}

/* ---- The launch -------------------------------------------------------------------------------------------------- */

static LLVMValueRef load_field(struct kc_emit *emit, unsigned parameter, LLVMTypeRef type, size_t offset)
{
    LLVMValueRef place = kc_byte_offset(emit->wg, LLVMGetParam(emit->run, parameter), kc_i64(emit->wg, offset), "");

    return LLVMBuildLoad2(emit->wg->builder, type, place, "");
}

static void load_launch(struct kc_emit *emit)
{
    const uint64_t *only = emit->input->local_size;
    struct kc_wg *wg = emit->wg;

    for (unsigned d = 0; d < 3; d++) {
        size_t at = kc_dimension(wg, d) * sizeof(uint64_t);

        emit->global_offset[d] = load_field(emit, 0, wg->i64, offsetof(struct tsl_wg_launch, global_offset) + at);
        emit->global_size[d] = load_field(emit, 0, wg->i64, offsetof(struct tsl_wg_launch, global_size) + at);
        emit->num_groups[d] = load_field(emit, 0, wg->i64, offsetof(struct tsl_wg_launch, num_groups) + at);
        emit->enqueued[d] = only[0] ? kc_i64(wg, only[kc_dimension(wg, d)])
                                    : load_field(emit, 0, wg->i64, offsetof(struct tsl_wg_launch, local_size) + at);
    }
    emit->work_dim = load_field(emit, 0, wg->i32, offsetof(struct tsl_wg_launch, work_dim));
    emit->local = load_field(emit, 1, wg->ptr, offsetof(struct tsl_wg_thread, local));
    emit->scratch = load_field(emit, 1, wg->ptr, offsetof(struct tsl_wg_thread, scratch));
    emit->items = LLVMBuildMul(wg->builder, LLVMBuildMul(wg->builder, emit->enqueued[0], emit->enqueued[1], ""),
                               emit->enqueued[2], "");
    emit->items = LLVMBuildAnd(wg->builder, LLVMBuildAdd(wg->builder, emit->items, kc_i64(wg, 63), ""),
                               kc_i64(wg, ~(uint64_t)63), "items");
}

static LLVMValueRef load_argument(struct kc_emit *emit, unsigned p, LLVMValueRef block)
{
    LLVMBuilderRef b = emit->wg->builder;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(emit->wg->function, p));
    LLVMValueRef place = kc_byte_offset(emit->wg, block, kc_i64(emit->wg, emit->input->args[p].offset), "");
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMValueRef value;

    if (LLVMGetEnumAttributeAtIndex(emit->wg->function, p + 1, byval))
        return place;
    if (emit->input->args[p].kind == TSL_WG_LOCAL) {
        value = LLVMBuildLoad2(b, emit->wg->i64, place, "");
        return LLVMBuildAddrSpaceCast(b, kc_byte_offset(emit->wg, emit->local, value, ""), type, "");
    }
    value = LLVMBuildLoad2(b, type, place, "");
    LLVMSetAlignment(value, emit->input->args[p].align);
    return value;
}

static void load_arguments(struct kc_emit *emit)
{
    unsigned n = LLVMCountParams(emit->wg->function);
    LLVMValueRef block = load_field(emit, 0, emit->wg->ptr, offsetof(struct tsl_wg_launch, args));

    emit->arguments = kc_alloc(n, sizeof(*emit->arguments));
    for (unsigned p = 0; p < n; p++)
        emit->arguments[p] = load_argument(emit, p, block);
}

/* ---- A group ----------------------------------------------------------------------------------------------------- */

static void begin_group(struct kc_emit *emit)
{
    struct kc_wg *wg = emit->wg;
    LLVMBuilderRef b = wg->builder;
    LLVMValueRef last, fits;

    for (unsigned d = 0; d < 3; d++) {
        LLVMValueRef begin = LLVMBuildMul(b, emit->group[d], emit->enqueued[d], "");

        emit->base[d] = LLVMBuildAdd(b, begin, emit->global_offset[d], "base");
        emit->size[d] = emit->enqueued[d];
        if (emit->input->remainders && !emit->input->local_size[0])
            emit->size[d] = kc_build_min(emit, LLVMBuildSub(b, emit->global_size[d], begin, ""), emit->enqueued[d]);
    }
    if (!emit->wide)
        return;
    last = LLVMBuildAdd(b, emit->base[0], emit->size[0], "");
    fits = LLVMBuildICmp(b, LLVMIntULE, last, kc_i64(wg, KC_WIDE_LIMIT), "");
    emit->wide_end = LLVMBuildAnd(b, emit->size[0], kc_i64(wg, ~(uint64_t)(emit->lanes - 1)), "");
    emit->wide_end = LLVMBuildSelect(b, fits, emit->wide_end, kc_i64(wg, 0), "wide_end");
    if (emit->pairs)
        emit->pair_end = LLVMBuildAnd(b, emit->wide_end, kc_i64(wg, ~(uint64_t)emit->lanes), "pair_end");
}

/* Marks the loops in the blocks behind `last`, which belong to the strip of a row's remaining work-items. Taking
 * another branch for a back edge is harmless: the mark is a hint. */
static void mark_remainder(struct kc_emit *emit, LLVMBasicBlockRef last)
{
    struct kc_map seen = {.n = 0};

    for (LLVMBasicBlockRef block = LLVMGetNextBasicBlock(last); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(block);

        kc_map_set(&seen, block, 1);
        for (unsigned s = 0; branch && s < LLVMGetNumSuccessors(branch); s++)
            if (kc_map_get(&seen, LLVMGetSuccessor(branch, s)))
                kc_mark_plain_loop(emit->wg, branch);
    }
    kc_map_clear(&seen);
}

/* Does the kernel ask for ids in a dimension other than 0? */
static bool has_rows(const struct kc_emit *emit)
{
    const struct kc_flow *flow = &emit->wg->flow;

    for (unsigned n = 0; n < flow->n_blocks; n++)
        for (KC_EACH_INSTRUCTION(i, flow->blocks[n].block)) {
            enum kc_call call = kc_call_of(i);

            if ((call == KC_CALL_LOCAL_ID || call == KC_CALL_GLOBAL_ID) &&
                !(LLVMIsAConstantInt(LLVMGetOperand(i, 0)) && LLVMIsNull(LLVMGetOperand(i, 0))))
                return true;
        }
    return false;
}

static unsigned lanes_of(const struct kc_emit *emit, enum width width)
{
    return width == NARROW ? 1 : width == WIDE ? emit->lanes : 2 * emit->lanes;
}

/* A loop over the part of a row that wider strips leave. */
static void strips_begin(struct kc_emit *emit, struct loop *loop, enum width width)
{
    LLVMValueRef from = kc_i64(emit->wg, 0);
    LLVMValueRef end = width == NARROW ? emit->size[0] : width == WIDE ? emit->wide_end : emit->pair_end;

    if (width == NARROW && emit->wide)
        from = emit->wide_end;
    else if (width == WIDE && emit->pairs)
        from = emit->pair_end;
    loop_begin(emit, loop, from, end, lanes_of(emit, width));
}

static void strips_end(struct kc_emit *emit, struct loop *loop, enum width width)
{
    LLVMValueRef back = loop_end(emit, loop);

    if (width < widest(emit) || (emit->wg->flow.n_loops && emit->narrow->n_phases == 1))
        kc_mark_plain_loop(emit->wg, back);
}

static void emit_strip(struct kc_emit *emit, unsigned phase, enum width width, LLVMValueRef x, LLVMValueRef y,
                       LLVMValueRef z)
{
    struct kc_wg *wg = emit->wg;
    LLVMBuilderRef b = wg->builder;
    struct kc_strip strip = {.emit = emit, .x = x, .y = y, .z = z, .lanes = lanes_of(emit, width)};
    LLVMValueRef row = LLVMBuildAdd(b, LLVMBuildMul(b, z, emit->enqueued[1], ""), y, "");
    LLVMBasicBlockRef last = LLVMGetLastBasicBlock(emit->run);

    strip.phase = &emit->narrow->phases[phase];
    if (width != NARROW)
        strip.phase = &emit->wide->phases[kc_phase_number(emit->wide, strip.phase->start)];
    strip.item = LLVMBuildAdd(b, LLVMBuildMul(b, row, emit->enqueued[0], ""), x, "item");
    kc_emit_strip(&strip);
    if (width == NARROW && emit->wide)
        mark_remainder(emit, last);
}

/* Row by row: narrow strips, after wider ones if wanted. */
static void emit_rows(struct kc_emit *emit, unsigned phase, enum width most)
{
    struct loop z, y, x;

    loop_begin(emit, &z, kc_i64(emit->wg, 0), emit->size[2], 1);
    loop_begin(emit, &y, kc_i64(emit->wg, 0), emit->size[1], 1);
    for (int now = (int)most; now >= NARROW; now--) {
        strips_begin(emit, &x, (enum width)now);
        emit_strip(emit, phase, (enum width)now, x.index, y.index, z.index);
        strips_end(emit, &x, (enum width)now);
    }
    kc_mark_plain_loop(emit->wg, loop_end(emit, &y));
    kc_mark_plain_loop(emit->wg, loop_end(emit, &z));
}

/* Wide strips with dimension 0 as the outer loop: values of a column of a tile in local memory can stay in registers
 * for all rows. */
static void emit_columns(struct kc_emit *emit, unsigned phase)
{
    struct loop x, z, y;

    strips_begin(emit, &x, WIDE);
    loop_begin(emit, &z, kc_i64(emit->wg, 0), emit->size[2], 1);
    loop_begin(emit, &y, kc_i64(emit->wg, 0), emit->size[1], 1);
    emit_strip(emit, phase, WIDE, x.index, y.index, z.index);
    kc_mark_plain_loop(emit->wg, loop_end(emit, &y));
    kc_mark_plain_loop(emit->wg, loop_end(emit, &z));
    kc_mark_plain_loop(emit->wg, loop_end(emit, &x));
}

/* The rest of each row behind the wide strips, if there is any. */
static void emit_rest(struct kc_emit *emit, unsigned phase)
{
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef rest = kc_new_block(emit, ""), after = kc_new_block(emit, "");

    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, emit->wide_end, emit->size[0], ""), rest, after);
    LLVMPositionBuilderAtEnd(b, rest);
    emit_rows(emit, phase, NARROW);
    LLVMBuildBr(b, after);
    LLVMPositionBuilderAtEnd(b, after);
}

static void take_snapshots(struct kc_emit *emit, const struct kc_phase *phase)
{
    for (unsigned s = 0; s < emit->slots->n; s++)
        if (emit->places[s].group && kc_bits_get(&phase->in, s))
            emit->places[s].snapshot =
                LLVMBuildLoad2(emit->wg->builder, emit->slots->slots[s].type, emit->places[s].group, "");
}

/* All work-items of the group run a phase; next_phase then has the next one. */
static void emit_phase(struct kc_emit *emit, unsigned phase)
{
    struct kc_wg *wg = emit->wg;

    LLVMBuildStore(wg->builder, kc_i32(wg, emit->narrow->n_phases), emit->next_phase);
    take_snapshots(emit, &emit->narrow->phases[phase]);
    if (emit->wide && emit->narrow->n_phases > 1 && has_rows(emit)) {
        emit_columns(emit, phase);
        emit_rest(emit, phase);
    } else {
        emit_rows(emit, phase, widest(emit));
    }
}

static void emit_group(struct kc_emit *emit)
{
    const struct kc_plan *plan = emit->narrow;
    LLVMBuilderRef b = emit->wg->builder;
    LLVMBasicBlockRef *starts = kc_alloc(plan->n_phases + 1, sizeof(*starts));
    LLVMValueRef way;

    begin_group(emit);
    for (unsigned p = 0; p <= plan->n_phases; p++)
        starts[p] = kc_new_block(emit, p < plan->n_phases ? "phase" : "group_end");
    LLVMBuildBr(b, starts[0]);
    for (unsigned p = 0; p < plan->n_phases; p++) {
        const struct kc_phase *phase = &plan->phases[p];

        LLVMPositionBuilderAtEnd(b, starts[p]);
        emit_phase(emit, p);
        if (phase->n_exits == 1 && phase->exits[0] == KC_EXIT) {
            LLVMBuildBr(b, starts[plan->n_phases]);
            continue;
        }
        way = LLVMBuildSwitch(b, LLVMBuildLoad2(b, emit->wg->i32, emit->next_phase, ""), starts[plan->n_phases],
                              phase->n_exits);
        for (unsigned e = 0; e < phase->n_exits; e++)
            if (phase->exits[e] != KC_EXIT)
                LLVMAddCase(way, kc_i32(emit->wg, kc_phase_number(plan, phase->exits[e])),
                            starts[kc_phase_number(plan, phase->exits[e])]);
    }
    LLVMPositionBuilderAtEnd(b, starts[plan->n_phases]);
    free(starts);
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

static void add_function(struct kc_emit *emit)
{
    struct kc_wg *wg = emit->wg;
    LLVMTypeRef parameters[] = {wg->ptr, wg->ptr, wg->i64, wg->i64, wg->i64, wg->i64};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(wg->context), parameters, 6, 0);
    char name[1024];
    size_t length;

    snprintf(name, sizeof(name), "tsl_wg.%s", LLVMGetValueName2(wg->kernel, &length));
    emit->run = LLVMAddFunction(wg->module, name, type);
    LLVMSetLinkage(emit->run, LLVMInternalLinkage);
    kc_wg_add_attribute(wg, emit->run, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
    for (unsigned p = 1; p <= 2; p++) {
        kc_wg_add_attribute(wg, emit->run, p, "noalias");
        kc_wg_add_attribute(wg, emit->run, p, "readonly");
    }
}

static void begin_function(struct kc_emit *emit)
{
    LLVMBasicBlockRef variables = kc_new_block(emit, "variables"), entry = kc_new_block(emit, "entry");
    LLVMBuilderRef b = emit->wg->builder;

    LLVMPositionBuilderAtEnd(b, variables);
    emit->variables_end = LLVMBuildBr(b, entry);
    LLVMPositionBuilderAtEnd(b, entry);
    load_launch(emit);
    load_arguments(emit);
    kc_place_variables(emit);
    kc_find_local_variables(emit);
    emit->next_phase = kc_variable(emit, emit->wg->i32, 1, "next_phase");
}

void kc_emit_group_function(struct kc_emit *emit)
{
    LLVMValueRef begin, end;
    struct loop loop;

    add_function(emit);
    begin_function(emit);
    begin = LLVMGetParam(emit->run, 2);
    end = LLVMBuildAdd(emit->wg->builder, begin, LLVMGetParam(emit->run, 3), "");
    loop_begin(emit, &loop, begin, end, 1);
    emit->group[kc_dimension(emit->wg, 0)] = loop.index;
    emit->group[kc_dimension(emit->wg, 1)] = LLVMGetParam(emit->run, 4);
    emit->group[2] = LLVMGetParam(emit->run, 5);
    emit_group(emit);
    kc_mark_plain_loop(emit->wg, loop_end(emit, &loop));
    LLVMBuildRetVoid(emit->wg->builder);
    free(emit->arguments);
    free(emit->places);
    kc_map_clear(&emit->local_variables);
}
