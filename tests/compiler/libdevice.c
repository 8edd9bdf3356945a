/*
 * Our functions for NVIDIA GPUs against those of the CUDA Toolkit's libdevice: the same kernels, compiled by the same
 * compiler once with these and once with those (build/functions), and assembled by ptxas. What ours take more of is
 * known, and must not grow.
 */
#include "build_folder.h"
#include "test.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const processors[] = {"sm_75", "sm_80", "sm_90"};

/* At most so many instructions of ours for each of theirs. Both are padded to multiples of eight. */
static const struct function {
    const char *name, *type, *arguments;
    double most;
} functions[] = {
    {"exp", "float", "x[i]", 1.3},    {"exp2", "float", "x[i]", 1.4},           {"exp10", "float", "x[i]", 1.3},
    {"log", "float", "x[i]", 1.2},    {"log2", "float", "x[i]", 1.2},           {"log10", "float", "x[i]", 1.2},
    {"sin", "float", "x[i]", 1.25},   {"cos", "float", "x[i]", 1.25},           {"tan", "float", "x[i]", 2.2},
    {"rsqrt", "double", "x[i]", 1.1}, {"pow", "float", "x[i], x[i + 1]", 1.75}, {"asin", "float", "x[i]", 1.2},
    {"acos", "float", "x[i]", 1.2},   {"atan", "float", "x[i]", 1.4},           {"sinh", "float", "x[i]", 1.3},
    {"cosh", "float", "x[i]", 1.4},   {"tanh", "float", "x[i]", 1.6},           {"asinh", "float", "x[i]", 1.7},
    {"acosh", "float", "x[i]", 1.5},  {"atanh", "float", "x[i]", 1.3},          {"log1p", "float", "x[i]", 1.2},
    {"cbrt", "float", "x[i]", 1.4},
};

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static char folder[] = "/tmp/tesela-libdevice-XXXXXX";

static void run(const char *command)
{
    if (system(command))
        fail_msg("this failed: %s", command);
}

static void write_kernels(void)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/k.cl", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        fprintf(file, "kernel void use_%s(global %s *x) { size_t i = get_global_id(0); x[i] = %s(%s); }\n",
                functions[i].name, functions[i].type, functions[i].name, functions[i].arguments);
    assert_int_equal(fclose(file), 0);
}

/* What ptxas makes of them, with the functions of the compiler in that folder of the build's; heap. */
static unsigned char *assemble(const char *functions_of, const char *processor)
{
    unsigned char *code;
    char text[1024];
    FILE *file;
    size_t size;

    /* Clang leaves its memory to the end of the process, which a sanitizer would call leaks. */
    snprintf(text, sizeof(text),
             "ASAN_OPTIONS=detect_leaks=0 %s/%s/tesela-kc --emit ptx --processor %s -o %s/k.ptx %s/k.cl",
             build_folder(), functions_of, processor, folder, folder);
    run(text);
    snprintf(text, sizeof(text), "%s -arch %s -o %s/k.cubin %s/k.ptx", LIBDEVICE_PTXAS, processor, folder, folder);
    run(text);
    snprintf(text, sizeof(text), "%s/k.cubin", folder);
    file = fopen(text, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size = (size_t)ftell(file);
    rewind(file);
    code = malloc(size);
    assert_int_equal(fread(code, 1, size, file), size);
    fclose(file);
    return code;
}

/* Instructions of a kernel, of 16 bytes each. */
static unsigned count(const unsigned char *code, const char *function)
{
    const Elf64_Ehdr *head = (const void *)code;
    const Elf64_Shdr *sections = (const void *)(code + head->e_shoff);
    const char *names = (const char *)code + sections[head->e_shstrndx].sh_offset;
    char name[64];

    snprintf(name, sizeof(name), ".text.use_%s", function);
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (!strcmp(names + sections[i].sh_name, name))
            return (unsigned)(sections[i].sh_size / 16);
    fail_msg("no code of %s", function);
    return 0;
}

static void ours_take_no_more_than_is_known(void **state)
{
    unsigned n_failed = 0;

    (void)state;
    for (size_t p = 0; p < sizeof(processors) / sizeof(processors[0]); p++) {
        unsigned char *ours = assemble("functions/own", processors[p]),
                      *theirs = assemble("functions/libdevice", processors[p]);

        for (size_t i = 0; i < N_FUNCTIONS; i++) {
            unsigned n = count(ours, functions[i].name), m = count(theirs, functions[i].name);
            bool good = n > 0 && m > 0 && n <= functions[i].most * m;

            n_failed += !good;
            print_message("%s %-6s %4u instructions, libdevice %4u%s\n", processors[p], functions[i].name, n, m,
                          good ? "" : "  TOO MANY");
        }
        free(ours);
        free(theirs);
    }
    assert_int_equal(n_failed, 0);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    write_kernels();
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"k.cl", "k.ptx", "k.cubin"};
    char path[64];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_take_no_more_than_is_known),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
