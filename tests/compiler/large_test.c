/*
 * The time of a build grows with the program, and not much faster: of long ways without branches, for the CPU and as
 * PTX, and of bytes from anywhere behind branches. Processor time of the compiler counts, so that the machine's other
 * work doesn't.
 */
/* timeout: 300 */
#include "kc_env.h"

#include <sys/resource.h>
#include <unistd.h>

/* A quarter of the program takes a quarter of the time, or a little more: at least so many parts of it. Time that grew
 * by the square would be a sixteenth. */
#define QUARTER 9.0

static char folder[] = "/tmp/tesela-large-XXXXXX";

static void write_straight(FILE *file, unsigned n)
{
    unsigned x = 1;

    fprintf(file, "kernel void k(global const uint *s, global uint *d) { size_t g = get_global_id(0); uint v[16];\n"
                  "for (int i = 0; i < 16; i++) v[i] = s[g * 16 + i];\n");
    for (unsigned k = 0; k < n; k++) {
        x = x * 1103515245u + 12345u;
        fprintf(file, "v[%u] = rotate(v[%u] ^ %uu, %uu) + (v[%u] & v[%u]);\n", x >> 8 & 15, x >> 12 & 15, x, 1 + x % 31,
                x >> 16 & 15, x >> 8 & 15);
        if (k % 8 == 7)
            fprintf(file, "d[g * %u + %u] = v[%u];\n", n, k / 8, x >> 8 & 15);
    }
    fprintf(file, "for (int i = 0; i < 16; i++) d[g * %u + %u + i] = v[i]; }\n", n, n / 2);
}

static void write_bytes(FILE *file, unsigned n)
{
    fprintf(file, "kernel void k(global const uchar *t, global uint *d) { uint x = get_global_id(0) * 77u;\n");
    for (unsigned k = 0; k < n; k++)
        fprintf(file, "if (x & %uu) x = x * 3u + t[x >> 24]; else x ^= x >> 5 | %uu << (x & 31u);\n", 1u << k % 32, k);
    fprintf(file, "d[get_global_id(0)] = x; }\n");
}

static double children_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

/* The processor time of the build of a text with n parts. */
static double seconds(void (*write)(FILE *, unsigned), unsigned n, const char *target)
{
    char path[64], command[3 * 4096];
    double before = children_seconds();
    FILE *file;

    snprintf(path, sizeof(path), "%s/k.cl", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    write(file, n);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof(command), "ASAN_OPTIONS=detect_leaks=0 %s/kc/tesela-kc --emit %s -o /dev/null %s",
             getenv("TESELA_BUILD"), target, path);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
    unlink(path);
    return children_seconds() - before;
}

static void check(void (*write)(FILE *, unsigned), unsigned n, const char *target)
{
    double quarter = seconds(write, n, target), whole = seconds(write, 4 * n, target);

    if (whole > QUARTER * quarter)
        fail_msg("a quarter takes %.2f s, the whole program %.2f s", quarter, whole);
}

static void long_ways_for_the_cpu(void **state)
{
    (void)state;
    check(write_straight, 1500, "so");
}

static void long_ways_as_ptx(void **state)
{
    (void)state;
    check(write_straight, 1500, "ptx");
}

static void bytes_behind_branches(void **state)
{
    (void)state;
    check(write_bytes, 400, "so");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_ways_for_the_cpu), cmocka_unit_test(long_ways_as_ptx),
                                       cmocka_unit_test(bytes_behind_branches)};
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests_name("large", tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
