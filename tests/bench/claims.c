/*
 * What is known, from their text alone, of the arguments that kernels read and write, and what it takes to find it out:
 * a program's kernels for a launch of 256 x 256 work-items in groups of 16 x 16, all integers 100, buffers far larger
 * than what is touched. Not a test; scripts/claimed makes a table of it.
 *
 *     TESELA_BUILD=build build/tests/claims FILE [OPTIONS [SCALAR]]
 *
 * A line of each kernel: "kernel NAME ACCESSES NANOSECONDS", of one evaluation. Lines of its arguments:
 * "NUMBER read|write known|unknown surely|partly|perhaps LINE WHY"; surely: all stores to it are sure.
 */
#include "compile_client/client.h"
#include "compile_client/compile.h"
#include "facts/kernel_facts.h"
#include "footprint/evaluate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_ARGUMENTS 128u
#define MEMORY        (UINT64_C(1) << 38)
#define ROUNDS        10u
#define TIMES         20u /* in a round: asking for the time takes as long as one */

static int scalars[1024];

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;

    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        text = calloc(1, (size_t)size + 1);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* ---- The launch ------------------------------------------------------------------------------------------------- */

static struct tsl_window window_of(const struct tsl_kernel_facts *facts)
{
    struct tsl_window window = {.work_dim = 2, .global_size = {256, 256, 1}, .local_size = {16, 16, 1}, .whole = true};

    for (unsigned d = 0; d < 3 && facts->reqd_size[0]; d++) {
        window.local_size[d] = facts->reqd_size[d];
        if (window.global_size[d] % window.local_size[d])
            window.global_size[d] = 4 * window.local_size[d];
        if (d == 2 && window.local_size[2] > 1)
            window.work_dim = 3;
    }
    return window;
}

static void set_arguments(const struct tsl_kernel_facts *facts, struct tsl_argument_value *values)
{
    static const struct tsl_pixel_layout pixels = {{512, 512, 1}, {16, 8192, 1 << 22}};

    for (unsigned i = 0; i < facts->n_args; i++) {
        if (facts->args[i].kind == TSL_FACT_VALUE && facts->args[i].size <= sizeof(scalars))
            values[i] = (struct tsl_argument_value){.value = scalars, .size = facts->args[i].size};
        else
            values[i] = (struct tsl_argument_value){.memory = MEMORY, .pixels = &pixels};
    }
}

/* ---- What comes of it ------------------------------------------------------------------------------------------- */

/* Bytes up to the end of so large a memory are touched where it isn't known how often a loop runs. */
static bool reaches_the_end(const struct tsl_byte_set *set)
{
    uint64_t begin, end;

    return set->n && tsl_byte_set_hull(set, MEMORY, &begin, &end) && end == MEMORY;
}

static const char *how_sure(const struct tsl_footprint *footprint, unsigned argument)
{
    bool some = false, all = true;

    for (uint32_t i = 0; i < footprint->n_accesses; i++) {
        const struct tsl_access *access = &footprint->accesses[i];

        if (access->argument != argument || access->kind == TSL_ACCESS_READ)
            continue;
        some |= (access->flags & TSL_ACCESS_SURE) != 0;
        all &= (access->flags & TSL_ACCESS_SURE) != 0;
    }
    return !some ? "perhaps" : all ? "surely" : "partly";
}

static void print_set(const struct tsl_footprint *footprint, unsigned argument, const char *direction,
                      const struct tsl_byte_set *set, uint32_t why)
{
    const struct tsl_access *access = why < footprint->n_accesses ? &footprint->accesses[why] : NULL;
    const char *reason = "";

    if (set->unknown)
        reason = access && access->why ? access->why : "it takes too many boxes";
    else if (reaches_the_end(set))
        reason = "how often a loop runs isn't known";
    printf("%u %s %s %s %u %s\n", argument, direction, reason[0] ? "unknown" : "known", how_sure(footprint, argument),
           access ? access->line : 0, reason);
}

static void print_kernel(const struct tsl_kernel_facts *facts)
{
    struct tsl_argument_value values[MAX_ARGUMENTS];
    static struct tsl_argument_touch touches[MAX_ARGUMENTS];
    const struct tsl_footprint *footprint = facts->footprint;
    const struct tsl_window window = window_of(facts);
    double best = 1e30;

    if (!footprint || facts->n_args > MAX_ARGUMENTS) {
        printf("kernel %s 0 0\n", facts->name);
        return;
    }
    set_arguments(facts, values);
    for (unsigned round = 0; round < ROUNDS; round++) {
        double start = now();

        for (unsigned i = 0; i < TIMES; i++)
            tsl_footprint_evaluate(footprint, &window, values, touches);
        if ((now() - start) / TIMES < best)
            best = (now() - start) / TIMES;
    }
    printf("kernel %s %u %.0f\n", facts->name, footprint->n_accesses, best);
    for (unsigned i = 0; i < facts->n_args; i++) {
        if (touches[i].reads)
            print_set(footprint, i, "read", &touches[i].read, touches[i].why_read);
        if (touches[i].writes)
            print_set(footprint, i, "write", &touches[i].write, touches[i].why_write);
    }
}

static int print_program(char *source, char *options, const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    struct tsl_wire_build build = {.source = source, .options = options, .folder = folder};
    struct tsl_compiled compiled;
    int status = 0;

    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (tsl_compile(&build, &compiled) != CL_SUCCESS) {
        printf("failed\n");
        fprintf(stderr, "%s: %s\n", path, compiled.built.log ? compiled.built.log : "");
        status = 1;
    }
    for (unsigned k = 0; !status && k < compiled.built.n_kernels; k++)
        print_kernel(&compiled.built.kernels[k].facts);
    tsl_compiled_finish(&compiled);
    return status;
}

int main(int n, char **arguments)
{
    char compiler[4096], none[] = "";
    char *absolute, *source = n > 1 ? read_file(arguments[1]) : NULL;
    int status;

    if (!source || !getenv("TESELA_BUILD")) {
        fprintf(stderr, "usage: TESELA_BUILD=build %s FILE [OPTIONS [SCALAR]]\n", arguments[0]);
        return 2;
    }
    for (unsigned i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
        scalars[i] = n > 3 ? atoi(arguments[3]) : 100;
    snprintf(compiler, sizeof(compiler), "%s/kc/tesela-kc", getenv("TESELA_BUILD"));
    absolute = realpath(compiler, NULL);
    setenv("TESELA_CACHE", "off", 1);
    tsl_client_set_program(absolute ? absolute : compiler, NULL);
    status = print_program(source, n > 2 ? arguments[2] : none, arguments[1]);
    free(absolute);
    free(source);
    return status;
}
