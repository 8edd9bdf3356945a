/*
 * The numbers of clGetDeviceInfo, each computed from the members' by one rule.
 */
#include "base/settings.h"
#include "device/device_facts.h"
#include "device/shared_memory.h"
#include "driver/ask.h"

#include <string.h>
#include <unistd.h>

enum rule {
    FIXED, /* value, whatever the members are */
    MIN,   /* the smallest: no member is asked for more than it has */
    MAX,   /* the largest: it suits all (alignments), or is a hint */
    SUM,   /* all work at once */
    /* Over the members with a compiler alone, as the others run no source. */
    LEAST_OF_C, /* the smallest */
    ALL,        /* the bits that all of them have */
    /* What the fastest says, as programs tune themselves by it; 0 if one says 0, which has no such type. */
    FASTEST_OF_C,
    /* Over the members with such images alone (not 0), as kernels that use images go there. Without any: value. */
    LEAST_IMAGE,
    COMMON_IMAGE, /* an alignment that suits all of them */
    SHARED,       /* what the members offer whose kernels know the host's addresses (device/shared_memory.h) */
};

struct tsl_number_row {
    cl_device_info param;
    size_t size; /* bytes of the answer */
    enum rule rule;
    cl_ulong value;     /* of FIXED; else the value of a member that doesn't answer, and the answer without members */
    cl_ulong only_bits; /* of ALL: the bits that Tesela supports; 0: every bit */
};

#define UINT  sizeof(cl_uint) /* cl_bool and the enumerations, too */
#define ULONG sizeof(cl_ulong)
#define SIZE  sizeof(size_t)
#define KIB   1024ul

/* Memory sizes and alignments come from what the drivers report, as allocation goes by the same numbers. */
#define ATOMIC_ORDERS (CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_ORDER_SEQ_CST)
#define ATOMIC_SCOPES \
    (CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE)

/* For double and half; PoCL 3.1 reports for double what has a meaning for float only. */
#define FP_BITS                                                                                                     \
    (CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA | \
     CL_FP_SOFT_FLOAT)

/* In the order of CL/cl.h. Pipes, sub-groups and queues on the device are not supported: their numbers are 0. */
static const struct tsl_number_row rows[] = {
    {CL_DEVICE_VENDOR_ID, UINT, FIXED, 0x54534c, 0}, /* "TSL": nobody's PCI vendor id */
    {CL_DEVICE_MAX_COMPUTE_UNITS, UINT, SUM, 1, 0},
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, UINT, FIXED, 3, 0},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, SIZE, MIN, 1, 0},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, UINT, FASTEST_OF_C, 1, 0},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, UINT, FASTEST_OF_C, 1, 0},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, UINT, FASTEST_OF_C, 1, 0},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, UINT, FASTEST_OF_C, 1, 0},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, UINT, FASTEST_OF_C, 1, 0},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, UINT, FASTEST_OF_C, 0, 0},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, UINT, FASTEST_OF_C, 0, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, UINT, FASTEST_OF_C, 1, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, UINT, FASTEST_OF_C, 1, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, UINT, FASTEST_OF_C, 1, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, UINT, FASTEST_OF_C, 1, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, UINT, FASTEST_OF_C, 1, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, UINT, FASTEST_OF_C, 0, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, UINT, FASTEST_OF_C, 0, 0},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, UINT, MAX, 0, 0},
    {CL_DEVICE_ADDRESS_BITS, UINT, FIXED, 8 * sizeof(void *), 0}, /* members with other sizes don't count */
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, ULONG, MIN, 0, 0},
    {CL_DEVICE_IMAGE_SUPPORT, UINT, MAX, CL_FALSE, 0},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, UINT, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, UINT, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, UINT, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_IMAGE2D_MAX_WIDTH, SIZE, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_IMAGE2D_MAX_HEIGHT, SIZE, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_IMAGE3D_MAX_WIDTH, SIZE, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_IMAGE3D_MAX_HEIGHT, SIZE, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_IMAGE3D_MAX_DEPTH, SIZE, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, SIZE, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, SIZE, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, UINT, COMMON_IMAGE, 0, 0},
    {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, UINT, COMMON_IMAGE, 0, 0},
    {CL_DEVICE_MAX_SAMPLERS, UINT, LEAST_IMAGE, 0, 0},
    {CL_DEVICE_MAX_PARAMETER_SIZE, SIZE, MIN, 1024, 0},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, UINT, MAX, 1024, 0}, /* bits */
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, UINT, MAX, 128, 0},
    {CL_DEVICE_SINGLE_FP_CONFIG, ULONG, ALL, CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN, 0},
    {CL_DEVICE_DOUBLE_FP_CONFIG, ULONG, ALL, 0, FP_BITS},
    {CL_DEVICE_HALF_FP_CONFIG, ULONG, ALL, 0, FP_BITS},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, UINT, MIN, CL_NONE, 0}, /* none, read only, read and write */
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, UINT, MAX, 0, 0},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, ULONG, MIN, 0, 0},
    {CL_DEVICE_GLOBAL_MEM_SIZE, ULONG, MIN, 0, 0},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, ULONG, MIN, 64 * KIB, 0},
    {CL_DEVICE_MAX_CONSTANT_ARGS, UINT, MIN, 8, 0},
    {CL_DEVICE_LOCAL_MEM_TYPE, UINT, MAX, CL_GLOBAL, 0}, /* local only if all are */
    {CL_DEVICE_LOCAL_MEM_SIZE, ULONG, MIN, 32 * KIB, 0},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, UINT, MIN, CL_FALSE, 0},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, UINT, MIN, CL_FALSE, 0},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, SIZE, MAX, 1, 0},
    {CL_DEVICE_ENDIAN_LITTLE, UINT, FIXED, CL_TRUE, 0}, /* members with another byte order don't count */
    {CL_DEVICE_AVAILABLE, UINT, MIN, CL_FALSE, 0},
    /* Programs of source run on the members that can compile them. */
    {CL_DEVICE_COMPILER_AVAILABLE, UINT, MAX, CL_FALSE, 0},
    {CL_DEVICE_LINKER_AVAILABLE, UINT, MAX, CL_FALSE, 0},
    {CL_DEVICE_EXECUTION_CAPABILITIES, ULONG, FIXED, CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL, 0}, /* host tasks: ours */
    {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, ULONG, FIXED,
     CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, 0},
    {CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, ULONG, FIXED, 0, 0},
    {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, UINT, FIXED, 0, 0},
    {CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, UINT, FIXED, 0, 0},
    {CL_DEVICE_MAX_ON_DEVICE_QUEUES, UINT, FIXED, 0, 0},
    {CL_DEVICE_MAX_ON_DEVICE_EVENTS, UINT, FIXED, 0, 0},
    {CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, ULONG, FIXED, 0, 0},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, UINT, FIXED, CL_TRUE, 0},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, SIZE, MIN, 1024 * KIB, 0},
    {CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, SIZE, LEAST_OF_C, 0, 0},
    {CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, SIZE, LEAST_OF_C, 0, 0},
    {CL_DEVICE_SVM_CAPABILITIES, ULONG, SHARED, 0, 0},
    {CL_DEVICE_PIPE_SUPPORT, UINT, FIXED, CL_FALSE, 0},
    {CL_DEVICE_MAX_PIPE_ARGS, UINT, FIXED, 0, 0},
    {CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, UINT, FIXED, 0, 0},
    {CL_DEVICE_PIPE_MAX_PACKET_SIZE, UINT, FIXED, 0, 0},
    {CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, UINT, MAX, 0, 0},
    {CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, UINT, MAX, 0, 0},
    {CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, UINT, MAX, 0, 0},
    {CL_DEVICE_MAX_NUM_SUB_GROUPS, UINT, FIXED, 0, 0},
    {CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, UINT, FIXED, CL_FALSE, 0},
    {CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, ULONG, ALL,
     CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP, ATOMIC_ORDERS | ATOMIC_SCOPES},
    {CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, ULONG, ALL,
     CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP,
     ATOMIC_ORDERS | ATOMIC_SCOPES},
    {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, UINT, LEAST_OF_C, CL_FALSE, 0},
    {CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, SIZE, MAX, 1, 0},
    {CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, UINT, LEAST_OF_C, CL_FALSE, 0},
    {CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, UINT, LEAST_OF_C, CL_FALSE, 0},
    {CL_DEVICE_LUID_VALID_KHR, UINT, FIXED, CL_FALSE, 0},
    {CL_DEVICE_NODE_MASK_KHR, UINT, FIXED, 0, 0},
};
#define N_ROWS (sizeof rows / sizeof *rows)
_Static_assert(N_ROWS <= TSL_MAX_DEVICE_NUMBERS, "make TSL_MAX_DEVICE_NUMBERS larger");

const struct tsl_number_row *tsl_number_row(cl_device_info param)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].param == param)
            return &rows[i];
    return NULL;
}

bool tsl_number_fixed(const struct tsl_number_row *row, cl_ulong *value)
{
    *value = row->value;
    return row->rule == FIXED;
}

cl_ulong tsl_number_value(const struct tsl_number_row *row, const struct tsl_device_facts *facts)
{
    return facts->numbers[row - rows];
}

cl_int tsl_number_answer(const struct tsl_number_row *row, cl_ulong value, const struct tsl_info *info)
{
    return row->size == UINT ? tsl_info_uint(info, (cl_uint)value) : tsl_info_ulong(info, value);
}

/* ---- Asking ---- */

static bool has_images(const struct tsl_member *member)
{
    return member->caps.images.n_read_args > 0;
}

/* What one member reports; row->value if it doesn't answer. Sizes and alignments for our allocation are the
 * driver's. */
static cl_ulong ask(const struct tsl_number_row *row, const struct tsl_member *member)
{
    cl_uint narrow;
    cl_ulong wide;
    bool is_narrow = row->size == UINT;

    switch (row->param) {
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return member->caps.max_alloc_size;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return member->caps.memory_size;
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        return member->caps.base_align * 8;
    case CL_DEVICE_IMAGE_SUPPORT:
        return has_images(member);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        if (!member->caps.zero_copy)
            return CL_FALSE;
        break;
    case CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE:
    case CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE:
        if (!tsl_member_has_variables(member))
            return 0;
    }
    if (member->driver->info(member->path, row->param, row->size, is_narrow ? (void *)&narrow : (void *)&wide, NULL))
        return row->value;
    return is_narrow ? narrow : wide;
}

static cl_ulong combine(const struct tsl_number_row *row, cl_ulong a, cl_ulong b)
{
    switch (row->rule) {
    case MIN:
    case LEAST_OF_C:
    case LEAST_IMAGE:
        return a < b ? a : b;
    case MAX:
    case COMMON_IMAGE: /* powers of two */
        return a > b ? a : b;
    case SUM:
        return a + b;
    case ALL:
        return a & b;
    case FIXED:
    case SHARED:
    case FASTEST_OF_C:
        break;
    }
    return row->value;
}

static cl_ulong evaluate(const struct tsl_number_row *row, struct tsl_member *const *members, unsigned n)
{
    bool images_only = row->rule == LEAST_IMAGE || row->rule == COMMON_IMAGE, any = false;
    cl_ulong value = row->value;

    if (row->rule == FIXED)
        return row->value;
    if (row->rule == SHARED)
        return tsl_shared_memory_capabilities(members, n);
    for (unsigned i = 0; i < n; i++) {
        cl_ulong own = images_only && !has_images(members[i]) ? 0 : ask(row, members[i]);

        if (images_only && own == 0)
            continue;
        value = any ? combine(row, value, own) : own;
        any = true;
    }
    return any && row->only_bits ? value & row->only_bits : value;
}

static cl_ulong of_fastest(const struct tsl_number_row *row, struct tsl_member *const *members, unsigned n)
{
    cl_ulong value = n ? ask(row, members[tsl_fastest_member(members, n)]) : row->value;

    for (unsigned i = 0; i < n && value; i++)
        if (ask(row, members[i]) == 0)
            value = 0;
    return value;
}

/* Devices may have more dimensions than we report. */
#define MAX_DIMENSIONS 16

static void fill_work_item_sizes(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n)
{
    for (int d = 0; d < 3; d++)
        facts->work_item_sizes[d] = n == 0 ? 1 : SIZE_MAX;
    for (unsigned i = 0; i < n; i++) {
        size_t sizes[MAX_DIMENSIONS] = {1, 1, 1};

        members[i]->driver->info(members[i]->path, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
        for (int d = 0; d < 3; d++)
            if (sizes[d] < facts->work_item_sizes[d])
                facts->work_item_sizes[d] = sizes[d];
    }
}

/* No GPU takes larger groups, and programs that tune themselves for GPUs are written by that: given larger ones, some
 * leave out the work-items beyond. */
#define GPU_GROUP 1024u

static void limit_groups(struct tsl_device_facts *facts)
{
    cl_ulong *group = &facts->numbers[tsl_number_row(CL_DEVICE_MAX_WORK_GROUP_SIZE) - rows];

    if (*group > GPU_GROUP)
        *group = GPU_GROUP;
    for (int d = 0; d < 3; d++)
        if (facts->work_item_sizes[d] > GPU_GROUP)
            facts->work_item_sizes[d] = GPU_GROUP;
}

static cl_ulong memory_of(const struct tsl_member *member)
{
    return member->caps.memory_size;
}

static cl_ulong largest_of(const struct tsl_member *member)
{
    return member->caps.max_alloc_size;
}

/* Do the two share their memory, so that a launch that neither holds runs on both (graph/spread_room.h)? */
static bool are_of_one_domain(const struct tsl_member *a, const struct tsl_member *b)
{
    return tsl_member_shares_domain(a, b) && a->caps.domain_atomics && b->caps.domain_atomics;
}

/* The most that members of one domain have together; 0: there is no domain. */
static cl_ulong size_of_domain(struct tsl_member *const *members, unsigned n,
                               cl_ulong (*size_of)(const struct tsl_member *member))
{
    cl_ulong most = 0;
    for (unsigned i = 0; i < n; i++) {
        cl_ulong size = 0;
        for (unsigned k = 0; k < n; k++)
            size += k == i || are_of_one_domain(members[i], members[k]) ? size_of(members[k]) : 0;
        if (size > size_of(members[i]) && size > most)
            most = size;
    }
    return most;
}

static void at_least(cl_ulong *size, cl_ulong least)
{
    *size = *size < least ? least : *size;
}

static bool runs_larger(const struct tsl_member *member)
{
    return member->caps.takes_parts || member->caps.zero_copy;
}

/* By default what any launch can use run whole: what all members have, or, as these take any launch, what a host's CPU
 * that compiles has, or a domain. By TESELA_LARGER the host's memory, of which launches use parts, and a domain's as
 * one buffer. */
static void fill_memory(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n,
                        struct tsl_member *const *compiling, unsigned n_compiling)
{
    cl_ulong *size = &facts->numbers[tsl_number_row(CL_DEVICE_GLOBAL_MEM_SIZE) - rows];
    cl_ulong *most = &facts->numbers[tsl_number_row(CL_DEVICE_MAX_MEM_ALLOC_SIZE) - rows];
    cl_ulong host = (cl_ulong)sysconf(_SC_PHYS_PAGES) * (cl_ulong)sysconf(_SC_PAGESIZE);
    cl_ulong domain = size_of_domain(members, n, memory_of);
    bool larger = n > 0 && tsl_settings()->larger == TSL_LARGER_YES;

    for (unsigned i = 0; i < n_compiling; i++)
        if (compiling[i]->path->identity.is_host_cpu)
            at_least(size, compiling[i]->caps.memory_size);
    at_least(size, domain);
    at_least(most, size_of_domain(members, n, largest_of));
    if (larger)
        at_least(most, domain);
    for (unsigned i = 0; i < n; i++)
        larger = larger && runs_larger(members[i]);
    if (larger) {
        at_least(size, host);
        at_least(most, host / 2);
    }
}

void tsl_numbers_fill(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n)
{
    struct tsl_member *some[TSL_MAX_MEMBERS];
    unsigned n_some = tsl_members_that_compile(members, n, some);

    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].rule == FASTEST_OF_C)
            facts->numbers[i] = of_fastest(&rows[i], some, n_some);
        else if (rows[i].rule == LEAST_OF_C || rows[i].rule == ALL)
            facts->numbers[i] = evaluate(&rows[i], some, n_some);
        else
            facts->numbers[i] = evaluate(&rows[i], members, n);
    if (!facts->in_place) /* Programs that are told so look into buffers without a map. */
        facts->numbers[tsl_number_row(CL_DEVICE_HOST_UNIFIED_MEMORY) - rows] = CL_FALSE;
    fill_memory(facts, members, n, some, n_some);
    fill_work_item_sizes(facts, members, n);
    if (facts->type == CL_DEVICE_TYPE_GPU)
        limit_groups(facts);
}
