#include "compiler/workgroup/workgroup.h"

#include "compile_client/work_group.h"
#include "compiler/support/llvm.h"
#include "compiler/support/target.h"
#include "compiler/workgroup/analysis/direction.h"
#include "compiler/workgroup/analysis/own_vectors.h"
#include "compiler/workgroup/analysis/profit.h"
#include "compiler/workgroup/analysis/rare_loops.h"
#include "compiler/workgroup/analysis/rows.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/emit.h"
#include "compiler/workgroup/transform/divisions.h"
#include "compiler/workgroup/transform/either.h"
#include "compiler/workgroup/transform/metadata.h"
#include "compiler/workgroup/transform/shape.h"
#include "compiler/workgroup/transform/widen.h"

#include <llvm-c/Analysis.h>
#include <stdio.h>
#include <string.h>

#define RUN_PREFIX "tsl_wg."

/* Work-items of a group along each dimension, or, where dimension 1 alone matters, along dimension 0. */
#define TILE    16u
#define COLUMNS 4u

/* The same where rows load the same again: two vectors and their lines of the caches, which come in pairs. */
#define AGAIN_ROW 32u

/* Machines with so many lanes have enough registers and units for two strips. */
#define PAIRED_LANES 8u

/* Does the machine have AVX-512: masks for all vector operations, scatters, good estimates? */
static bool has_masks(LLVMTargetMachineRef machine)
{
    return kc_has_feature(machine, "avx512f");
}

/* AMD's processors gather by many small steps. */
static bool gathers_slowly(LLVMTargetMachineRef machine)
{
    char *cpu = LLVMGetTargetMachineCPU(machine);
    bool slowly = strncmp(cpu, "znver", 5) == 0;

    LLVMDisposeMessage(cpu);
    return slowly;
}

/* Fewer aren't worth a strip. */
#define LEAST_LANES 4u

/* 1: nothing is vectorised. Of rows of a fixed size work-items may be left over, one by one, which take as long as a
 * strip each. */
static unsigned choose_lanes(const struct kc_wg *wg, const struct kc_wg_input *input)
{
    unsigned most = input->optimise ? kc_lanes(input->machine) : 1, best = 1;
    uint64_t only = input->local_size[kc_dimension(wg, 0)], least = only;

    if (!only)
        return most < LEAST_LANES ? 1 : most;
    for (unsigned lanes = most; lanes >= LEAST_LANES; lanes /= 2) {
        uint64_t rest = only % lanes, steps = only / lanes + rest;

        if (steps < least || (steps == least && !rest)) {
            best = lanes;
            least = steps;
        }
    }
    if (best == 1 && most > 1)
        kc_note(wg, NULL, "runs item by item, as rows of its size have no room for a strip");
    else if (only % best)
        kc_note(wg, NULL, "the last work-items of each row run one by one");
    return best;
}

static enum kc_form choose_form(struct kc_wg *wg, const struct kc_wg_input *input)
{
    if (!input->optimise)
        return KC_FORM_PLAIN;
    if (!kc_keeps_vectors(wg, kc_lanes(input->machine)))
        return KC_FORM_LANES;
    kc_note(wg, NULL, "keeps the program's vectors and runs item by item");
    return KC_FORM_OWN;
}

/* Does no query depend on the local size, and no argument? A fence may: what is ordered for a group alone is ordered
 * for one thread (builtins/work_item.cl). */
static bool asks_nothing(const struct kc_wg *wg, const struct kc_wg_input *input)
{
    for (unsigned p = 0; p < LLVMCountParams(wg->function); p++)
        if (input->args[p].kind == TSL_WG_LOCAL)
            return false;
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block)) {
            if (LLVMGetInstructionOpcode(i) == LLVMFence)
                return false;
            switch (kc_call_of(i)) {
            case KC_CALL_LOCAL_ID:
            case KC_CALL_GROUP_ID:
            case KC_CALL_LOCAL_SIZE:
            case KC_CALL_ENQUEUED_LOCAL_SIZE:
            case KC_CALL_NUM_GROUPS:
            case KC_CALL_BARRIER:
                return false;
            default:
                break;
            }
        }
    return true;
}

/* Without AVX-512, estimates have twelve bits, and a Newton step leaves an error of up to 3 ulps: a division may have
 * 2.5, relaxed mathematics or not. */
static void set_machine(LLVMValueRef function, LLVMTargetMachineRef machine)
{
    char *cpu = LLVMGetTargetMachineCPU(machine), *features = LLVMGetTargetMachineFeatureString(machine);

    LLVMAddTargetDependentFunctionAttr(function, "target-cpu", cpu);
    LLVMAddTargetDependentFunctionAttr(function, "target-features", features);
    if (has_masks(machine))
        LLVMAddTargetDependentFunctionAttr(function, "prefer-vector-width", "512");
    else
        LLVMAddTargetDependentFunctionAttr(function, "reciprocal-estimates", "none");
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
}

/* Where work-items run one after the other, everything waits for addresses. LLVM's schedule for AMD's Zen puts the
 * steps of loop counters before them, which makes the loop a tenth longer; the generic one doesn't. */
static bool emit(struct kc_emit *e, struct kc_wg_output *output, char **why)
{
    struct kc_wg *wg = e->wg;

    e->access_group = kc_access_group(wg);
    e->kept = kc_alias_scope(wg);
    kc_emit_group_function(e);
    set_machine(e->run, e->input->machine);
    if (e->lanes == 1)
        LLVMAddTargetDependentFunctionAttr(e->run, "tune-cpu", "generic");
    *output = (struct kc_wg_output){.run = e->run,
                                    .local_size = e->local_size,
                                    .scratch_size = e->scratch_size,
                                    .scratch_item_size = e->scratch_item_size,
                                    .flags = (e->narrow->n_phases > 1 ? TSL_WG_BARRIERS : 0) |
                                             (e->local_size == 0 && asks_nothing(wg, e->input) ? TSL_WG_FLAT : 0)};
    if (LLVMVerifyFunction(e->run, LLVMReturnStatusAction)) {
        LLVMVerifyModule(wg->module, LLVMReturnStatusAction, why);
        return false;
    }
    return true;
}

/* Four doubles at once (SSE2) take as long as four divisions. Without AVX-512's conversions of 64 bits they take
 * longer.
 */
static bool divide(struct kc_wg *wg, const struct kc_uniform *strip, LLVMTargetMachineRef machine)
{
    enum kc_divided which = kc_lanes(machine) > 4 ? KC_DIVIDED_SHORT : KC_DIVIDED_NONE;

    return kc_divide_by_floats(wg, strip, kc_has_feature(machine, "avx512dq") ? KC_DIVIDED_ALL : which);
}

/* Of what runs item by item calls make less code, if it is so long. */
#define LEAST_OF_CALLS 20000u

/* Much of what is written for strips is what regions carry for each other: where a kernel has many loops, and branches
 * around them, it may be fifty times the kernel's own code. */
#define MOST_OF_STRIPS 100000u

static unsigned size_of(LLVMValueRef function)
{
    unsigned n = 0;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (KC_EACH_INSTRUCTION(i, b))
            n++;
    return n;
}

/* Of what is written for a strip, about a half. Values that only pass by a region count, too: where ways meet LLVM
 * joins them. */
static uint64_t size_of_region(const struct kc_wg *wg, const struct kc_slots *slots, const struct kc_region *region)
{
    uint64_t n = 0;

    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        if (kc_bits_get(&region->blocks, b))
            for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block))
                n++;
    for (unsigned s = 0; s < slots->n; s++)
        n += 4 * (kc_bits_get(&region->in, s) || kc_bits_get(&slots->live[region->start], s)) +
             4 * kc_bits_get(&region->out, s);
    return n;
}

static uint64_t size_of_plan(const struct kc_wg *wg, const struct kc_slots *slots, const struct kc_plan *plan)
{
    uint64_t n = 0;

    for (unsigned p = 0; p < plan->n_phases; p++)
        for (unsigned r = 0; r < plan->phases[p].n_regions; r++)
            n += size_of_region(wg, slots, &plan->phases[p].regions[r]);
    return n;
}

/* Does the kernel run item by item, as vectors have no way, or don't pay? */
static bool is_by_item(struct kc_wg *wg, const struct kc_wg_input *input, const struct kc_uniform *strip,
                       unsigned lanes)
{
    if (input->by_item)
        return wg->large = true;
    return kc_is_scalar(wg, strip) || (wg->large = kc_is_large(wg, strip, lanes)) || !kc_part_serial_loops(wg, strip);
}

/* The bounds are those for strips, so a kernel that is too large for them is made anew. */
static bool emit_unless_large(struct kc_emit *e, struct kc_wg_output *output, char **why)
{
    if (!e->wide || size_of_plan(e->wg, e->slots, e->wide) <= MOST_OF_STRIPS)
        return emit(e, output, why);
    kc_note(e->wg, NULL, "runs item by item, as its strips would be too much code");
    *output = (struct kc_wg_output){.large = true};
    return true;
}

/* Takes the shaped copy through the steps. */
static bool transform(struct kc_wg *wg, const struct kc_wg_input *input, enum kc_form form, struct kc_wg_output *output,
                      char **why)
{
    struct kc_emit e = {.wg = wg, .input = input, .lanes = form == KC_FORM_LANES ? choose_lanes(wg, input) : 1};
    struct kc_uniform strip, group;
    struct kc_bounds bounds;
    struct kc_slots slots;
    struct kc_plan wide, narrow;
    bool done;

    kc_uniform_create(&strip, wg, KC_STRIP);
    if (e.lanes > 1 && is_by_item(wg, input, &strip, e.lanes))
        e.lanes = 1;
    if (e.lanes == 1 && input->ask && size_of(wg->function) > LEAST_OF_CALLS) {
        kc_uniform_finish(&strip);
        *output = (struct kc_wg_output){.large = true};
        return true;
    }
    if (e.lanes > 1)
        e.lanes = kc_lanes_of_rows(wg, &strip, e.lanes);
    if (e.lanes > 1) {
        kc_uniform_finish(&strip);
        kc_uniform_create(&strip, wg, KC_STRIP);
        kc_widen_indices(wg, &strip);
        kc_uniform_finish(&strip);
        kc_uniform_create(&strip, wg, KC_STRIP);
    }
    if (e.lanes > 1 && (divide(wg, &strip, input->machine) | kc_part_rare_loops(wg, &strip, e.lanes))) {
        kc_uniform_finish(&strip);
        kc_uniform_create(&strip, wg, KC_STRIP);
    }
    e.uneven = kc_uneven_ends(wg, &strip);
    kc_uniform_create(&group, wg, KC_GROUP);
    kc_bounds_create(&bounds, wg, &strip);
    kc_slots_create(&slots, wg, &strip, &group);
    kc_plan_create(&wide, wg, &bounds, &slots, &strip, &group, true);
    kc_plan_create(&narrow, wg, &bounds, &slots, &strip, &group, false);
    e.slots = &slots;
    e.bounds = &bounds;
    e.wide = e.lanes > 1 ? &wide : NULL;
    e.pairs = e.lanes >= PAIRED_LANES && e.lanes == kc_lanes(input->machine) &&
              kc_is_chain(wg, &slots, &wide, has_masks(input->machine) ? 12 : 5);
    e.narrow = &narrow;
    done = emit_unless_large(&e, output, why);
    kc_plan_finish(&wide);
    kc_plan_finish(&narrow);
    kc_slots_finish(&slots, wg);
    kc_bounds_finish(&bounds);
    kc_uniform_finish(&strip);
    kc_uniform_finish(&group);
    kc_bits_free(&e.uneven);
    return done;
}

/* ---- Ways to run a kernel ---------------------------------------------------------------------------------------- */

static void wg_begin(struct kc_wg *wg, const struct kc_wg_input *input)
{
    *wg = (struct kc_wg){.module = input->module, .notes = input->notes, .kernel = input->kernel};
    wg->context = LLVMGetModuleContext(input->module);
    wg->builder = LLVMCreateBuilderInContext(wg->context);
    wg->layout = LLVMCreateTargetDataLayout(input->machine);
    wg->i8 = LLVMInt8TypeInContext(wg->context);
    wg->i32 = LLVMInt32TypeInContext(wg->context);
    wg->i64 = LLVMInt64TypeInContext(wg->context);
    wg->ptr = LLVMPointerTypeInContext(wg->context, 0);
}

static void wg_end(struct kc_wg *wg)
{
    if (wg->function)
        LLVMDeleteFunction(wg->function);
    kc_flow_finish(&wg->flow);
    free(wg->serial_loops);
    free(wg->rare_entries);
    LLVMDisposeTargetData(wg->layout);
    LLVMDisposeBuilder(wg->builder);
}

/* Dimension 1 along which strips run, for launches whose groups have room for a strip there. */
static bool build_turned(const struct kc_wg_input *input, struct kc_wg_output *output, char **why)
{
    struct kc_wg wg;
    bool done;

    wg_begin(&wg, input);
    wg.notes = NULL; /* the same as for the other */
    done = kc_shape(&wg, input->machine, KC_FORM_LANES, why);
    if (done) {
        kc_turn(&wg);
        wg.turned = true;
        done = transform(&wg, input, KC_FORM_LANES, output, why);
    }
    wg_end(&wg);
    return done;
}

static void join_turned(const struct kc_wg_input *input, const struct kc_wg_output *turned, struct kc_wg_output *output)
{
    struct kc_wg wg;

    wg_begin(&wg, input);
    output->run = kc_build_either(&wg, output->run, turned->run, kc_lanes(input->machine));
    if (output->scratch_size < turned->scratch_size)
        output->scratch_size = turned->scratch_size;
    if (output->scratch_item_size < turned->scratch_item_size)
        output->scratch_item_size = turned->scratch_item_size;
    wg_end(&wg);
}

/* Where accesses of both dimensions are consecutive, a group is a tile: each line of the caches is used as a whole
 * before it goes. So it is where rows of work-items load the same again: it comes from a near cache then. */
static void recommend_tile(struct kc_direction direction, struct kc_wg_output *output)
{
    if (direction.mixed) {
        output->tile[0] = output->tile[1] = TILE;
    } else if (direction.turns) {
        output->tile[0] = COLUMNS;
        output->tile[1] = TILE * TILE / COLUMNS;
    } else if (direction.again) {
        output->tile[0] = AGAIN_ROW;
        output->tile[1] = TILE;
    }
}

bool kc_wg_build(const struct kc_wg_input *wanted, struct kc_wg_output *output, char **why)
{
    struct kc_wg_input as = *wanted, *input = &as;
    const uint64_t *only = input->local_size;
    struct kc_direction direction = {.turns = false};
    struct kc_wg_output turned;
    struct kc_wg wg;
    enum kc_form form;
    bool done;

    wg_begin(&wg, input);
    form = choose_form(&wg, input);
    done = kc_shape(&wg, input->machine, form, why);
    if (done && form == KC_FORM_LANES)
        direction = kc_find_direction(&wg, kc_lanes(input->machine));
    if (done && asks_nothing(&wg, input))
        memset(as.local_size, 0, sizeof(as.local_size)); /* Whoever asks for one size gets what runs with any. */
    done = done && transform(&wg, input, form, output, why);
    wg_end(&wg);
    if (!done || output->large)
        return done;
    recommend_tile(direction, output);
    if (direction.turns && !wg.large)
        kc_note(&wg, NULL, "runs along dimension 1 where groups have room for it");
    else if (direction.again)
        kc_note(&wg, NULL, "rows of work-items load the same again: groups have several rows");
    if (!direction.turns || wg.large || (only[0] && only[1] < kc_lanes(input->machine)))
        return true;
    if (!build_turned(input, &turned, why))
        return false;
    if (!turned.large)
        join_turned(input, &turned, output);
    return true;
}

void kc_wg_called(LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(function)));

    kc_shape_called(builder, function);
    LLVMDisposeBuilder(builder);
}

static bool is_kernel(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, KC_KERNEL_ATTRIBUTE,
                                         sizeof(KC_KERNEL_ATTRIBUTE) - 1) != NULL;
}

static void delete_kernels(LLVMModuleRef module)
{
    LLVMValueRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
        next = LLVMGetNextFunction(f);
        if (is_kernel(f) && !kc_name_begins(f, RUN_PREFIX))
            LLVMDeleteFunction(f);
    }
}

/* Checks the output of our own passes before LLVM's, which trust it. */
static bool is_sound(LLVMModuleRef module, char **why)
{
    bool sound = !LLVMVerifyModule(module, LLVMReturnStatusAction, why);

    if (sound) {
        LLVMDisposeMessage(*why);
        *why = NULL;
    }
    return sound;
}

static bool run_last_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, char **why)
{
    bool done;

    kc_wg_find_large(module);
    kc_wg_spare(module, KC_SPARE_OTHERS);
    done = kc_wg_run_passes(module, machine, KC_PASSES_FINISH_LARGE, why);
    kc_wg_spare(module, KC_SPARE_LARGE);
    done = done && kc_wg_run_passes(module, machine, KC_PASSES_FINISH, why);
    kc_wg_spare(module, KC_SPARE_NONE);
    return done;
}

static bool vectorise(LLVMModuleRef module, LLVMTargetMachineRef machine, char **why)
{
    if (!kc_wg_run_passes(module, machine, KC_PASSES_PREPARE, why))
        return false;
    kc_wg_sort_ways(module);
    kc_wg_name_stores(module);
    if (!kc_wg_run_passes(module, machine, KC_PASSES_VECTORISE, why))
        return false;
    kc_wg_join_ways(module);
    if (!kc_wg_run_passes(module, machine, KC_PASSES_VECTORISED, why))
        return false;
    kc_wg_end_forgotten(module);
    return kc_wg_run_passes(module, machine, KC_PASSES_FORGOTTEN, why);
}

static bool optimise_all(LLVMModuleRef module, LLVMTargetMachineRef machine, FILE *notes, char **why)
{
    if (!vectorise(module, machine, why))
        return false;
    if (notes)
        kc_wg_note_loops(module, notes);
    kc_wg_relax_local_atomics(module);
    kc_wg_halve_loads(module);
    kc_wg_guard_splats(module);
    kc_wg_narrow_sums(module);
    kc_wg_part_full_masks(module);
    if (!is_sound(module, why) || !run_last_passes(module, machine, why))
        return false;
    kc_wg_load_vectors(module, gathers_slowly(machine));
    kc_wg_sign_indices(module);
    kc_wg_shuffle_halves(module);
    if (kc_has_feature(machine, "avx512cd"))
        kc_wg_count_wide(module);
    if (gathers_slowly(machine)) {
        kc_wg_load_rows(module);
        kc_wg_store_vectors(module);
    }
    kc_wg_part_neighbours(module, !has_masks(machine));
    kc_wg_part_masked_stores(module, !has_masks(machine));
    if (!is_sound(module, why))
        return false;
    return has_masks(machine) || kc_wg_run_passes(module, machine, KC_PASSES_SINK, why);
}

bool kc_wg_finish(LLVMModuleRef module, LLVMTargetMachineRef machine, bool optimise, FILE *notes, char **why)
{
    bool done;

    delete_kernels(module);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (kc_is_called(f))
            set_machine(f, machine);
    done = optimise ? optimise_all(module, machine, notes, why)
                    : kc_wg_run_passes(module, machine, KC_PASSES_FINISH_PLAIN, why);
    if (done)
        kc_wg_stop_dead_ends(module);
    kc_wg_bound_emission(module);
    return done;
}
