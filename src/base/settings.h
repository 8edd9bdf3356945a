/*
 * The settings: every TESELA_ variable, read once into one struct.
 *
 * The environment is read at the first call of tsl_settings(), never when the library is loaded and never while a
 * loader enumerates platforms: code that clIcdGetPlatformIDsKHR reaches must not call it (nor tsl_log, nor
 * tsl_trace_on). In programs that run with raised rights (set-user-id, file capabilities) all variables, HOME and
 * XDG_CACHE_HOME among them, are taken as unset.
 *
 * A value that cannot be understood, and a setting whose part of Tesela does not exist yet, is reported once on
 * standard error, in a sentence that says what to do; the default is used instead.
 * The table for users is docs/user/settings.md; keep the two equal.
 */
#ifndef TSL_BASE_SETTINGS_H
#define TSL_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which member a command goes to (TESELA_POLICY). */
enum tsl_policy {
    TSL_POLICY_AUTO,          /* "auto", the default: earliest finish, estimated from what was measured */
    TSL_POLICY_EAGER,         /* "eager": the member with the least waiting */
    TSL_POLICY_MODEL,         /* "model": another name of auto */
    TSL_POLICY_FASTEST,       /* "fastest": everything on the fastest member */
    TSL_POLICY_ROUND_ROBIN,   /* "round-robin": one member after the other */
    TSL_POLICY_WEIGHTS,       /* "weights=1,3,...": static shares of each launch, see weights and n_weights */
    TSL_POLICY_WEIGHTS_WHOLE, /* "weights-whole=1,3,...": whole launches, so many to each */
};

/* Which launches are cut over several members (TESELA_SPLIT). */
enum tsl_split {
    TSL_SPLIT_AUTO,         /* "auto", the default: those that are expected to gain */
    TSL_SPLIT_ALIKE,        /* "alike": the same, over members of one kind only */
    TSL_SPLIT_DOMAIN,       /* "domain": as auto, and launches that may write anywhere, over members of one domain */
    TSL_SPLIT_OFF,          /* "off" */
    TSL_SPLIT_ALWAYS,       /* "always": all for which that is legal, also on one member; for tests. The same … */
    TSL_SPLIT_ALWAYS_EXACT, /* "always:exact": … by one rung alone (graph/cut.h), also where a better one is legal */
    TSL_SPLIT_ALWAYS_DOMAIN,
    TSL_SPLIT_ALWAYS_MERGE,
    TSL_SPLIT_ALWAYS_REDUCE,
};

static inline bool tsl_split_always(enum tsl_split split)
{
    return split >= TSL_SPLIT_ALWAYS;
}

/* The papers' two execution policies (TESELA_ORDER). */
enum tsl_order {
    TSL_ORDER_ASYNC, /* "async", the default: independent commands of a queue overlap */
    TSL_ORDER_SYNC,  /* "sync": an enqueue returns when its command is complete */
};

/* What the virtual device's limits are made of (TESELA_LIMITS). */
enum tsl_limits {
    TSL_LIMITS_ALL,     /* "all", the default: what every counted member can do */
    TSL_LIMITS_FASTEST, /* "fastest": what the fastest member can do */
};

/* Are programs told of more memory than any launch can use run whole (TESELA_LARGER)? */
enum tsl_larger {
    TSL_LARGER_NO,  /* "no", the default */
    TSL_LARGER_YES, /* "yes": of the host's, where all members can run launches window by window */
};

/* The type that the virtual device reports (TESELA_DEVICE_TYPE). */
enum tsl_device_type {
    TSL_DEVICE_TYPE_AUTO,        /* "auto", the default: the fastest member's, as programs tune themselves by it */
    TSL_DEVICE_TYPE_GPU,         /* "gpu": for programs that take nothing else */
    TSL_DEVICE_TYPE_CPU,         /* "cpu" */
    TSL_DEVICE_TYPE_ACCELERATOR, /* "accelerator" */
};

/* Whose name and vendor the virtual device reports (TESELA_DEVICE_NAME). */
enum tsl_device_name {
    TSL_DEVICE_NAME_OWN,     /* "own", the default */
    TSL_DEVICE_NAME_FASTEST, /* "fastest": the fastest member's, for programs that have parameters for known devices */
};

/* What happens to in-order commands on queues with profiling (TESELA_PROFILING). */
enum tsl_profiling {
    TSL_PROFILING_SERIAL,  /* "serial", the default: they do not overlap, as their times would show it */
    TSL_PROFILING_OVERLAP, /* "overlap": they may overlap as on any other queue */
};

/* Is each kernel pinned to one kind of member, so that its results don't depend on placement (TESELA_REPRODUCIBLE)? */
enum tsl_reproducible {
    TSL_REPRODUCIBLE_NO,  /* "no", the default */
    TSL_REPRODUCIBLE_YES, /* "yes" */
};

/* May members work on the host's memory itself (TESELA_ZERO_COPY)? */
enum tsl_zero_copy {
    TSL_ZERO_COPY_ON,  /* "on", the default: those that can */
    TSL_ZERO_COPY_OFF, /* "off": each has its own copy */
};

/* Do a member's commands wait for another member's work by gates in their queue (TESELA_GATES), or are they submitted
 * when that work is done? */
enum tsl_gates {
    TSL_GATES_AUTO, /* "auto", the default: by gates where they are safe */
    TSL_GATES_ON,   /* "on": also where a failure behind a gate breaks the vendor; for measurements and tests */
    TSL_GATES_OFF,  /* "off" */
};

/* Is the host's memory pinned for members that transfer pinned memory faster (TESELA_PINNED)? */
enum tsl_pinned {
    TSL_PINNED_AUTO, /* "auto", the default: for GPUs */
    TSL_PINNED_ON,   /* "on": for all */
    TSL_PINNED_OFF,  /* "off" */
};

/* How do NVIDIA's GPUs mix pixels for linear samplers (TESELA_FILTER)? */
enum tsl_filter {
    TSL_FILTER_HARDWARE, /* "hardware": by their texture units, whose weights have eight bits, where these can */
    TSL_FILTER_EXACT,    /* "exact": as the specification's formulas do, and the built-in CPU */
};

/* Do GPUs reach each other's memory where the machine lets them (TESELA_PEERS)? */
enum tsl_peers {
    TSL_PEERS_ON,  /* "on" */
    TSL_PEERS_OFF, /* "off": copies between GPUs go through pinned memory of the host */
};

/* Do data go through memory in common with a node of this machine (TESELA_NODES_COMMON)? */
enum tsl_nodes_common {
    TSL_NODES_COMMON_ON,  /* "on" */
    TSL_NODES_COMMON_OFF, /* "off": by way of the head, as to other machines */
};

/* Which devices are opened before a program's first command (TESELA_OPEN)? */
enum tsl_open {
    TSL_OPEN_AUTO, /* "auto", the default: the fastest; the others follow when there is work for them */
    TSL_OPEN_ALL,  /* "all" */
};

/* Do threads of ours submit the shares of a launch (TESELA_SENDERS)? */
enum tsl_senders {
    TSL_SENDERS_AUTO,   /* "auto", the default: several GPUs', where there are processors enough */
    TSL_SENDERS_ALWAYS, /* "always": all members'; for tests */
    TSL_SENDERS_OFF,    /* "off": the thread that enqueues does it */
};

/* What is offered of shared virtual memory (TESELA_SVM)? */
enum tsl_svm_use {
    TSL_SVM_AUTO,   /* "auto", the default: what the members can */
    TSL_SVM_COARSE, /* "coarse": vendors' memory counts as coarse-grained; for tests, or where fine grain fails */
    TSL_SVM_OFF,    /* "off": nothing */
};

/* Do large transfers of pageable memory go through pinned memory of ours, chunk by chunk (TESELA_STAGING)? */
enum tsl_staging {
    TSL_STAGING_OFF,  /* "off", the default until it is tried on GPUs */
    TSL_STAGING_AUTO, /* "auto": on GPUs, where it is measured to be faster */
    TSL_STAGING_ON,   /* "on": on all members that can */
};

/* Is our kernel compiler asked which arguments vendors' kernels only read (TESELA_VENDOR_ROLES)? */
enum tsl_vendor_roles {
    TSL_VENDOR_ROLES_AUTO, /* "auto", the default: for programs that are the same for any compiler
                              (docs/dev/compiler.md), on vendors whose compilers were compared with ours
                              (opencl/quirks.h) */
    TSL_VENDOR_ROLES_ON,   /* "on": for all vendors */
    TSL_VENDOR_ROLES_OFF,  /* "off": vendors' kernels count as writing every buffer that they are given */
};

/* The driver of those NVIDIA GPUs that both reach (TESELA_NVIDIA). */
enum tsl_nvidia {
    TSL_NVIDIA_CUDA,   /* "cuda", the default */
    TSL_NVIDIA_OPENCL, /* "opencl" */
};

/* The driver of the host's processors where another vendor's OpenCL has them, too (TESELA_CPU). */
enum tsl_cpu {
    TSL_CPU_BUILT_IN, /* "built-in", the default */
    TSL_CPU_OPENCL,   /* "opencl" */
};

/* Bits of tsl_settings.check (TESELA_CHECK). */
#define TSL_CHECK_ACCESS    1u /* "access": compare what the built-in CPU's kernels touch with their footprints */
#define TSL_CHECK_COHERENCE 2u /* "coherence": compare copies that count as equal (graph/coherence.h) */
#define TSL_CHECK_SPLIT     4u /* "split": run cut launches also whole, and compare (graph/split_check.h) */
#define TSL_CHECK_VARIANTS  8u /* "variants": compare variants of kernels with the originals (graph/variants.h) */

/* One item of TESELA_MEMORY. */
struct tsl_memory_bound {
    char *member;  /* as an item of TESELA_MEMBERS names it */
    uint64_t size; /* bytes, > 0 */
};

struct tsl_settings {
    char **members; /* TESELA_MEMBERS: its items, blanks around them dropped, none empty; NULL if n_members is 0 */
    size_t n_members;
    struct tsl_memory_bound *memory; /* TESELA_MEMORY: its items; NULL if n_memory is 0 */
    size_t n_memory;
    char *vendors; /* TESELA_VENDORS: folder of .icd files; never NULL, default TSL_VENDORS_DEFAULT */

    enum tsl_cpu cpu;
    enum tsl_nvidia nvidia;
    char *cuda_library; /* TESELA_CUDA_LIBRARY: what to load in place of libcuda.so.1, or NULL; for tests */

    enum tsl_policy policy;
    double *weights; /* one per member in member order, each >= 0, at least one > 0; NULL unless the
                        policy is by weights */
    size_t n_weights;

    enum tsl_split split;
    enum tsl_order order;
    enum tsl_limits limits;
    enum tsl_larger larger;
    enum tsl_device_type device_type;
    enum tsl_device_name device_name;
    enum tsl_profiling profiling;
    enum tsl_reproducible reproducible;
    enum tsl_zero_copy zero_copy;
    enum tsl_pinned pinned;
    enum tsl_filter filter;
    enum tsl_staging staging;
    enum tsl_peers peers;
    enum tsl_nodes_common nodes_common;
    enum tsl_open open;
    enum tsl_senders senders;
    enum tsl_svm_use svm;
    enum tsl_gates gates;
    enum tsl_vendor_roles vendor_roles;
    unsigned check; /* TSL_CHECK_ bits */

    char *nodes;     /* TESELA_NODES: socket of the head of a nodes' job (docs/dev/nodes.md), or NULL */
    char *config;    /* TESELA_CONFIG: file in the Controller's form (driver/config.h), or NULL */
    char *binaries;  /* TESELA_BINARIES: folder of prebuilt binaries (docs/user/fpga.md), or NULL */
    char *variants;  /* TESELA_VARIANTS: folder of other implementations of kernels (docs/user/variants.md), or NULL */
    char *processor; /* TESELA_PROCESSOR: LLVM's name of the processor that the built-in CPU compiles for; NULL: this
                        one */
    char *spirv;     /* TESELA_SPIRV: path of the SPIR-V translator for our kernel compiler, or "off"; NULL: Debian's */
    char *cache;     /* TESELA_CACHE: folder, perhaps not created yet; NULL: nothing may be cached */
    bool cache_off;  /* TESELA_CACHE=off: the reason why cache is NULL */
    char *trace;     /* TESELA_TRACE: file, with %p not yet replaced, or NULL: no timeline */
    uint64_t log;    /* TESELA_LOG: bits of log.h */

    char *complaints; /* what to tell the user: sentences, each with its newline; NULL if there is nothing to say */
};

/* Where Debian and most others keep the vendors' .icd files. */
#define TSL_VENDORS_DEFAULT "/etc/OpenCL/vendors"

/*
 * The settings in force, never NULL, valid until the process ends, never changed after the first call.
 * The first call reads the environment and writes the complaints to standard error; any thread may make it, and
 * the others wait. Takes no lock of ours afterwards.
 */
const struct tsl_settings *tsl_settings(void);

/*
 * Fills *settings from get(name, data), which returns a variable's value or NULL; the values are copied. Pure: touches
 * neither the environment nor standard error. An empty value counts as unset. Complaints are left in
 * settings->complaints; a setting for which memory lacks stays at its default. Free with tsl_settings_finish.
 */
void tsl_settings_parse(struct tsl_settings *settings, const char *(*get)(const char *name, void *data), void *data);
void tsl_settings_finish(struct tsl_settings *settings);

/* NULL if the value would be accepted, else what could be written instead. For the tool's options. */
const char *tsl_settings_hint(const char *name, const char *value);

/*
 * Visits each setting that tsl_settings_parse read: its variable's name and its value in the words of
 * docs/user/settings.md ("round-robin", "weights=1,3"; "" for none), in the order of the table.
 */
void tsl_settings_each(const struct tsl_settings *settings,
                       void (*visit)(const char *name, const char *value, void *data), void *data);

#endif
