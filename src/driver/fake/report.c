/* What the fake driver tells its test: violations, records, counts; and what begins every call: failures on order. */
#include "driver/fake/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* > 0 while this thread runs a notification. */
static _Thread_local int in_notify;

void tsl_fake_in_notify(int enter_or_leave)
{
    in_notify += enter_or_leave;
}

/* ---- Violations ---- */

static void note(enum tsl_fake_fault fault, const char *format, va_list arguments)
{
    char *text = NULL;

    if (vasprintf(&text, format, arguments) < 0)
        abort();
    tsl_fake.violations =
        tsl_fake_grow(tsl_fake.violations, tsl_fake.n_violations, &tsl_fake.violations_room, sizeof text);
    tsl_fake.violations[tsl_fake.n_violations++] = text;
    tsl_fake.n_faults[fault]++;
    if (tsl_fake.setup.abort_on_violation) {
        fprintf(stderr, "%s\n", text);
        abort();
    }
}

void tsl_fake_violate_locked(enum tsl_fake_fault fault, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    note(fault, format, arguments);
    va_end(arguments);
}

void tsl_fake_violate(enum tsl_fake_fault fault, const char *format, ...)
{
    va_list arguments;

    pthread_mutex_lock(&tsl_fake.lock);
    va_start(arguments, format);
    note(fault, format, arguments);
    va_end(arguments);
    pthread_mutex_unlock(&tsl_fake.lock);
}

unsigned tsl_fake_violations(enum tsl_fake_fault fault)
{
    unsigned n;

    pthread_mutex_lock(&tsl_fake.lock);
    n = fault == TSL_FAKE_N_FAULTS ? (unsigned)tsl_fake.n_violations : tsl_fake.n_faults[fault];
    pthread_mutex_unlock(&tsl_fake.lock);
    return n;
}

const char *tsl_fake_violation(unsigned i)
{
    const char *text;

    pthread_mutex_lock(&tsl_fake.lock);
    text = i < tsl_fake.n_violations ? tsl_fake.violations[i] : NULL;
    pthread_mutex_unlock(&tsl_fake.lock);
    return text;
}

void tsl_fake_forget(void)
{
    pthread_mutex_lock(&tsl_fake.lock);
    for (size_t i = 0; i < tsl_fake.n_violations; i++)
        free(tsl_fake.violations[i]);
    tsl_fake.n_violations = 0;
    memset(tsl_fake.n_faults, 0, sizeof tsl_fake.n_faults);
    pthread_mutex_unlock(&tsl_fake.lock);
}

static void check_lane_end_locked(const struct fake_lane *lane)
{
    if (lane->first)
        tsl_fake_violate_locked(TSL_FAKE_UNFINISHED, "the setup ended before %s did", tsl_fake_op_name(lane->first));
}

void tsl_fake_check_end(void)
{
    pthread_mutex_lock(&tsl_fake.lock);
    for (struct fake_fence *gate = tsl_fake.gates; gate; gate = gate->next_gate)
        if (!gate->opened && !gate->freed)
            tsl_fake_violate_locked(TSL_FAKE_GATE_UNOPENED, "a gate of fake:%u was never opened",
                                    fake_member(gate->base.member)->number);
    for (unsigned i = 0; i < tsl_fake.setup.n_members; i++)
        for (struct fake_lane *lane = tsl_fake.members[i].lanes; lane; lane = lane->next)
            check_lane_end_locked(lane);
    pthread_mutex_unlock(&tsl_fake.lock);
}

/* ---- Records and counts ---- */

static const char *const kind_names[TSL_FAKE_N_KINDS] = {
    [TSL_FAKE_DID_WRITE] = "write", [TSL_FAKE_DID_READ] = "read",       [TSL_FAKE_DID_COPY] = "copy",
    [TSL_FAKE_DID_PEER] = "peer",   [TSL_FAKE_DID_FILL] = "fill",       [TSL_FAKE_DID_LAUNCH] = "launch",
    [TSL_FAKE_DID_MARK] = "mark",   [TSL_FAKE_DID_COMBINE] = "combine",
};

const char *tsl_fake_op_name(const struct fake_op *op)
{
    static _Thread_local char texts[3][128];
    static _Thread_local unsigned next;
    char *text = texts[next++ % 3];
    const char *kernel = op->launch.kernel ? op->launch.kernel->body->name : "";

    snprintf(text, sizeof texts[0], "%s %llu%s%.64s%s on fake:%u lane %u", kind_names[op->kind],
             (unsigned long long)op->id, *kernel ? " (" : "", kernel, *kernel ? ")" : "",
             fake_lane_member(op->lane)->number, op->lane->number);
    return text;
}

void tsl_fake_write_down_locked(const struct fake_op *op)
{
    struct fake_member *member = fake_lane_member(op->lane), *from = member;
    struct tsl_fake_record *record;

    if (op->kind == TSL_FAKE_DID_PEER) {
        member = fake_member(op->copy.dst.mem->member);
        from = fake_member(op->copy.src.mem->member);
    }
    tsl_fake.records = tsl_fake_grow(tsl_fake.records, tsl_fake.n_records, &tsl_fake.records_room, sizeof *record);
    record = &tsl_fake.records[tsl_fake.n_records++];
    *record = (struct tsl_fake_record){
        .kind = op->kind,
        .id = op->id,
        .member = member->number,
        .from = from->number,
        .lane = op->lane->number,
        .size = op->size,
        .kernel = op->launch.kernel ? op->launch.kernel->body->name : NULL,
        .status = op->status,
        .start_ns = op->start_ns,
        .end_ns = op->end_ns,
    };
    if (op->status == CL_COMPLETE) {
        member->counts.did[op->kind]++;
        member->counts.did_size[op->kind] += op->size;
    }
}

bool tsl_fake_record(size_t i, struct tsl_fake_record *record)
{
    bool there;

    pthread_mutex_lock(&tsl_fake.lock);
    there = i < tsl_fake.n_records;
    if (there)
        *record = tsl_fake.records[i];
    pthread_mutex_unlock(&tsl_fake.lock);
    return there;
}

size_t tsl_fake_n_records(void)
{
    size_t n;

    pthread_mutex_lock(&tsl_fake.lock);
    n = tsl_fake.n_records;
    pthread_mutex_unlock(&tsl_fake.lock);
    return n;
}

struct tsl_fake_counts tsl_fake_counts(unsigned member)
{
    struct tsl_fake_counts counts;

    pthread_mutex_lock(&tsl_fake.lock);
    counts = tsl_fake.members[member].counts;
    pthread_mutex_unlock(&tsl_fake.lock);
    return counts;
}

void tsl_fake_reset_counts(void)
{
    pthread_mutex_lock(&tsl_fake.lock);
    for (unsigned i = 0; i < TSL_FAKE_MAX_MEMBERS; i++)
        tsl_fake.members[i].counts = (struct tsl_fake_counts){0};
    tsl_fake.n_records = 0;
    pthread_mutex_unlock(&tsl_fake.lock);
}

struct tsl_fake_live tsl_fake_live(void)
{
    struct tsl_fake_live live;

    pthread_mutex_lock(&tsl_fake.lock);
    live = tsl_fake.live;
    pthread_mutex_unlock(&tsl_fake.lock);
    return live;
}

char *tsl_fake_leaks(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        abort();
    pthread_mutex_lock(&tsl_fake.lock);
    for (struct fake_fence *fence = tsl_fake.fences; fence; fence = fence->next_fence)
        if (!fence->freed)
            fprintf(out, "the fence of %s (%u references)\n", tsl_fake_op_name(fence->op), fence->base.refs);
    for (struct fake_fence *gate = tsl_fake.gates; gate; gate = gate->next_gate)
        if (!gate->freed)
            fprintf(out, "a gate of fake:%u (%u references, %sopened)\n", fake_member(gate->base.member)->number,
                    gate->base.refs, gate->opened ? "" : "not ");
    for (struct fake_mem *mem = tsl_fake.mems; mem; mem = mem->next)
        if (!mem->freed)
            fprintf(out, "%zu bytes of fake:%u%s\n", mem->base.size, fake_member(mem->base.member)->number,
                    mem->root == mem ? "" : " (a sub)");
    pthread_mutex_unlock(&tsl_fake.lock);
    fclose(out);
    return text;
}

/* ---- Failures ---- */

static void order_failure(struct fake_failure *failures, unsigned k, cl_int code)
{
    for (unsigned i = 0; i < FAKE_N_FAILURES; i++) {
        if (!failures[i].k) {
            failures[i] = (struct fake_failure){.k = k, .code = code};
            return;
        }
    }
    fputs("tsl_fake_fail: too many failures of one kind\n", stderr);
    abort();
}

/* Counts one call; the code of the failure whose turn it is, else 0. */
static cl_int due_failure(struct fake_failure *failures)
{
    cl_int code = CL_SUCCESS;

    for (unsigned i = 0; i < FAKE_N_FAILURES; i++)
        if (failures[i].k && !--failures[i].k)
            code = failures[i].code;
    return code;
}

void tsl_fake_fail_call(unsigned member, enum tsl_fake_call call, unsigned k, cl_int code)
{
    pthread_mutex_lock(&tsl_fake.lock);
    order_failure(tsl_fake.members[member].fail_calls[call], k, code);
    pthread_mutex_unlock(&tsl_fake.lock);
}

void tsl_fake_fail_work(unsigned member, enum tsl_fake_call call, unsigned k, cl_int code)
{
    pthread_mutex_lock(&tsl_fake.lock);
    order_failure(tsl_fake.members[member].fail_work[call], k, code);
    pthread_mutex_unlock(&tsl_fake.lock);
}

cl_int tsl_fake_work_failure_locked(struct fake_member *member, enum tsl_fake_call call)
{
    return due_failure(member->fail_work[call]);
}

void tsl_fake_sabotage(enum tsl_fake_sabotage what, unsigned k)
{
    pthread_mutex_lock(&tsl_fake.lock);
    tsl_fake.sabotage_in[what] = k;
    pthread_mutex_unlock(&tsl_fake.lock);
}

bool tsl_fake_sabotage_locked(enum tsl_fake_sabotage what)
{
    if (!tsl_fake.sabotage_in[what] || --tsl_fake.sabotage_in[what])
        return false;
    tsl_fake.sabotaged = true;
    return true;
}

bool tsl_fake_sabotaged(void)
{
    bool done;

    pthread_mutex_lock(&tsl_fake.lock);
    done = tsl_fake.sabotaged;
    pthread_mutex_unlock(&tsl_fake.lock);
    return done;
}

void tsl_fake_lose(unsigned member, uint64_t at_ns)
{
    pthread_mutex_lock(&tsl_fake.lock);
    tsl_fake.members[member].lose_ns = at_ns ? at_ns : 1;
    pthread_cond_broadcast(&tsl_fake.changed);
    pthread_mutex_unlock(&tsl_fake.lock);
}

/* It goes on for a moment. Only with threads: without them no other thread takes the lock meanwhile. */
static void await_end(const struct fake_op *op)
{
    while (op->acting)
        pthread_cond_wait(&tsl_fake.changed, &tsl_fake.lock);
}

static void forget_uses(struct fake_op *op)
{
    await_end(op);
    if (op->observed)
        return;
    for (unsigned i = 0; i < op->n_uses; i++)
        op->uses[i]->n_unknown--;
    op->n_uses = 0;
}

/* No work of the lost member, or between it and another, uses any memory any more. */
static void let_go_locked(const struct fake_member *lost)
{
    for (unsigned i = 0; i < tsl_fake.setup.n_members; i++)
        for (struct fake_lane *lane = tsl_fake.members[i].lanes; lane; lane = lane->next)
            for (struct fake_op *op = lane->last; op; op = op->lane_prev)
                if (&tsl_fake.members[i] == lost || op->peer == lost)
                    forget_uses(op);
                else if (op->acting && tsl_fake_spread_is_lost_locked(op, lost))
                    await_end(op);
}

bool tsl_fake_lost_locked(struct fake_member *member)
{
    if (tsl_member_is_lost(&member->base) || !member->lose_ns || tsl_fake_now_locked() < member->lose_ns)
        return tsl_member_is_lost(&member->base);
    let_go_locked(member);
    if (tsl_member_is_lost(&member->base)) /* Another thread was faster. */
        return true;
    tsl_member_lose(&member->base, NULL);
    for (struct fake_mem *mem = tsl_fake.mems; mem; mem = mem->next)
        if (mem->base.member == &member->base && mem->root == mem && mem->bytes && !mem->hosts && !mem->spread)
            tsl_fake_poison(mem->bytes, mem->base.size, 0x105e);
    tsl_fake_spread_poison_locked(member);
    return true;
}

/* ---- Members that aren't ready ---- */

static void pass(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

    if (!tsl_fake.setup.threads)
        tsl_fake_advance(ns);
    while (tsl_fake.setup.threads && ns && nanosleep(&left, &left))
        ;
}

static cl_int make_ready(struct fake_member *member)
{
    cl_int rc = tsl_fake_enter_locked(member, TSL_FAKE_PREPARE, "prepare");

    if (rc) {
        tsl_member_lose(&member->base, "the test says so");
        return CL_DEVICE_NOT_AVAILABLE;
    }
    tsl_fake_leave_locked();
    pass(member->is.opens_ns);
    tsl_member_set_ready(&member->base);
    return CL_SUCCESS;
}

cl_int tsl_fake_prepare(struct fake_member *member)
{
    cl_int rc = CL_SUCCESS;

    pthread_mutex_lock(&member->prepare_lock);
    if (!tsl_member_is_ready(&member->base))
        rc = tsl_member_is_lost(&member->base) ? CL_DEVICE_NOT_AVAILABLE : make_ready(member);
    pthread_mutex_unlock(&member->prepare_lock);
    return rc;
}

/* The calls that need a context, in other technologies. */
static bool needs_ready(enum tsl_fake_call call)
{
    return call != TSL_FAKE_OPEN && call != TSL_FAKE_BUILD && call != TSL_FAKE_KERNEL && call != TSL_FAKE_PREPARE &&
           call != TSL_FAKE_N_CALLS;
}

/* Counted, so that tests see that the core gives such work to others. */
void tsl_fake_need_ready(struct fake_member *member)
{
    if (tsl_member_is_ready(&member->base))
        return;
    pthread_mutex_lock(&tsl_fake.lock);
    member->counts.calls[TSL_FAKE_STUMBLE]++;
    pthread_mutex_unlock(&tsl_fake.lock);
    tsl_fake_prepare(member);
}

/* ---- Calls ---- */

cl_int tsl_fake_enter_locked(struct fake_member *member, enum tsl_fake_call call, const char *operation)
{
    cl_int rc = CL_SUCCESS;

    if (tsl_fake.setup.on_call)
        tsl_fake.setup.on_call(tsl_fake.setup.on_call_arg, operation);
    if (needs_ready(call))
        tsl_fake_need_ready(member);
    pthread_mutex_lock(&tsl_fake.lock);
    if (in_notify) {
        tsl_fake_violate_locked(TSL_FAKE_IN_NOTIFY, "%s was called from a notification", operation);
        rc = CL_INVALID_OPERATION;
    } else if (call != TSL_FAKE_N_CALLS) {
        member->counts.calls[call]++;
        rc = due_failure(member->fail_calls[call]);
        if (tsl_fake_lost_locked(member))
            rc = CL_DEVICE_NOT_AVAILABLE;
    }
    if (rc)
        pthread_mutex_unlock(&tsl_fake.lock);
    return rc;
}

void tsl_fake_leave_locked(void)
{
    pthread_mutex_unlock(&tsl_fake.lock);
}
