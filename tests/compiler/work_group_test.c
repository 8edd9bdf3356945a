/* timeout: 300 */
/*
 * Work-group functions against an interpreter: random kernels with barriers in loops and conditionals, private arrays
 * and loops that work-items leave at different times (support/barrier_program.h), at many local sizes.
 *
 * BARRIER_SEED and BARRIER_COUNT run others than the usual ones: thousands, before a release.
 */
/* variant: own */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 BARRIER_COUNT=12 */
/* variant: sse TESELA_PROCESSOR=x86-64 BARRIER_COUNT=12 */
#include "barrier_program.h"
#include "build_folder.h"
#include "compile_client/client.h"
#include "compile_client/compile.h"
#include "compile_client/work_group.h"
#include "test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROGRAMS_AT_ONCE 8

static const unsigned sizes[][6] = {
    {64, 1, 1, 64, 1, 1}, {48, 1, 1, 16, 1, 1}, {66, 1, 1, 33, 1, 1}, {20, 6, 1, 10, 3, 1},   {16, 8, 2, 16, 4, 2},
    {7, 6, 3, 7, 1, 3},   {3, 1, 1, 1, 1, 1},   {64, 6, 1, 32, 2, 1}, {256, 1, 1, 256, 1, 1}, {34, 1, 1, 17, 1, 1},
};

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

static void *load(const struct tsl_wire_built *built)
{
    int file = memfd_create("kernels", MFD_CLOEXEC);
    char path[64];
    void *handle;

    assert_int_equal(write(file, built->artefact, built->artefact_size), built->artefact_size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    handle = dlopen(path, RTLD_NOW);
    close(file);
    assert_non_null(handle);
    return handle;
}

static void *room(uint64_t size)
{
    void *memory;

    assert_int_equal(posix_memalign(&memory, TSL_WG_ALIGN, size + TSL_WG_ALIGN), 0);
    memset(memory, 0xcd, size + TSL_WG_ALIGN);
    return memory;
}

static void run_kernel(const struct tsl_wg_kernel *kernel, const struct bp_launch *like, uint32_t *out)
{
    uint64_t local_offset = kernel->local_size, items = 1;
    struct tsl_wg_launch launch = {.abi = TSL_WG_ABI, .work_dim = 3};
    char *args = room(kernel->args_size);
    struct tsl_wg_thread thread = {.scratch = NULL};
    const void *values[] = {&like->in, &out, &like->n, &like->m, &local_offset};

    for (unsigned a = 0; a < 5; a++)
        memcpy(args + kernel->args[a].offset, values[a], kernel->args[a].size);
    for (unsigned d = 0; d < 3; d++) {
        launch.global_size[d] = like->global_size[d];
        launch.local_size[d] = like->local_size[d];
        launch.num_groups[d] = like->global_size[d] / like->local_size[d];
        items *= like->local_size[d];
    }
    launch.args = args;
    thread.local = room(kernel->local_size + BP_MAX_ITEMS * sizeof(uint32_t));
    thread.scratch = room(kernel->scratch_size + kernel->scratch_item_size * ((items + 63) / 64 * 64));
    for (uint64_t z = 0; z < launch.num_groups[2]; z++)
        for (uint64_t y = 0; y < launch.num_groups[1]; y++)
            kernel->run(&launch, &thread, 0, launch.num_groups[0], y, z);
    free(thread.local);
    free(thread.scratch);
    free(args);
}

static void compare(uint64_t seed, const struct bp_program *program, const struct tsl_wg_kernel *kernel,
                    const unsigned size[6])
{
    unsigned n = size[0] * size[1] * size[2];
    uint32_t in[BP_N_IN], *got = calloc(n, sizeof(*got)), *right = calloc(n, sizeof(*right));
    struct bp_launch launch = {.n = (uint32_t)(seed + size[3]) % 11, .m = (uint32_t)(seed * 7 + size[0]) % 13};

    for (unsigned i = 0; i < BP_N_IN; i++)
        in[i] = i * 2654435761u >> 7;
    memcpy(launch.global_size, size, sizeof(launch.global_size));
    memcpy(launch.local_size, size + 3, sizeof(launch.local_size));
    launch.in = in;
    launch.out = right;
    bp_run(program, &launch);
    run_kernel(kernel, &launch, got);
    if (memcmp(got, right, n * sizeof(*got))) {
        bp_print(program, "wrong", stderr);
        fail_msg("seed %lu, local size %u %u %u, n %u, m %u", (unsigned long)seed, size[3], size[4], size[5], launch.n,
                 launch.m);
    }
    free(got);
    free(right);
}

/* The k-th program's; those of a module are in any order. */
static const struct tsl_wg_kernel *kernel_of(const struct tsl_wg_module *module, unsigned k)
{
    char name[32];

    snprintf(name, sizeof(name), "k%u", k);
    for (unsigned i = 0; i < module->n_kernels; i++)
        if (strcmp(module->kernels[i].name, name) == 0)
            return &module->kernels[i];
    fail_msg("the kernel %s isn't there", name);
    return NULL;
}

static void compare_some(uint64_t seed, unsigned n)
{
    struct bp_program *programs[PROGRAMS_AT_ONCE];
    struct tsl_wire_build build = {.target = TSL_WIRE_CPU, .options = (char *)"-w"};
    struct tsl_compiled compiled;
    const struct tsl_wg_module *module;
    size_t size;
    FILE *source = open_memstream(&build.source, &size);
    void *handle;

    for (unsigned i = 0; i < n; i++) {
        char name[32];

        programs[i] = bp_create(seed + i);
        snprintf(name, sizeof(name), "k%u", i);
        bp_print(programs[i], name, source);
    }
    fclose(source);
    if (tsl_compile(&build, &compiled))
        fail_msg("seeds from %lu: %s", (unsigned long)seed, compiled.built.log);
    handle = load(&compiled.built);
    module = dlsym(handle, TSL_WG_SYMBOL);
    assert_int_equal(module->n_kernels, n);
    for (unsigned i = 0; i < n; i++)
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
            compare(seed + i, programs[i], kernel_of(module, i), sizes[s]);
    for (unsigned i = 0; i < n; i++)
        bp_free(programs[i]);
    dlclose(handle);
    tsl_compiled_finish(&compiled);
    free(build.source);
}

static void random_kernels_do_what_they_say(void **state)
{
    unsigned long seed = from_environment("BARRIER_SEED", 1), count = from_environment("BARRIER_COUNT", 32);

    (void)state;
    for (unsigned long i = 0; i < count; i += PROGRAMS_AT_ONCE)
        compare_some(seed + i, count - i < PROGRAMS_AT_ONCE ? (unsigned)(count - i) : PROGRAMS_AT_ONCE);
}

#ifdef __x86_64__
/* Processors before 2012 have no instructions that convert halves. */
static void halves_need_no_new_processor(void **state)
{
    struct tsl_wire_build build = {
        .target = TSL_WIRE_CPU,
        .processor = (char *)"x86-64",
        .options = (char *)"",
        .source = (char *)"kernel void f(global half *o, float x) { vstore_half(x + vload_half(0, o), 0, o); }"};
    struct tsl_wg_launch launch = {
        .abi = TSL_WG_ABI, .work_dim = 1, .global_size = {1, 1, 1}, .local_size = {1, 1, 1}, .num_groups = {1, 1, 1}};
    const struct tsl_wg_thread thread = {.scratch = NULL};
    const struct tsl_wg_module *module;
    struct tsl_compiled compiled;
    uint16_t half = 0x3c00, *o = &half;
    float x = 2;
    char *args;
    void *handle;

    (void)state;
    assert_int_equal(tsl_compile(&build, &compiled), CL_SUCCESS);
    handle = load(&compiled.built);
    module = dlsym(handle, TSL_WG_SYMBOL);
    args = room(module->kernels[0].args_size);
    memcpy(args + module->kernels[0].args[0].offset, &o, sizeof(o));
    memcpy(args + module->kernels[0].args[1].offset, &x, sizeof(x));
    launch.args = args;
    module->kernels[0].run(&launch, &thread, 0, 1, 0, 0);
    assert_int_equal(half, 0x4200);
    free(args);
    dlclose(handle);
    tsl_compiled_finish(&compiled);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef __x86_64__
        cmocka_unit_test(halves_need_no_new_processor),
#endif
        cmocka_unit_test(random_kernels_do_what_they_say),
    };
    char path[4096];

    build_compiler(path, sizeof(path));
    tsl_client_set_program(path, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
