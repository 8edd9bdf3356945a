/*
 * A device, a queue, and short ways to run kernels on it, for tests that compare kernels' results with the right ones.
 */
#ifndef TEST_CPU_RIG_H
#define TEST_CPU_RIG_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

struct cpu_rig {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};

/* For cmocka: *state is a struct cpu_rig of the first device. */
int cpu_rig_setup(void **state);
int cpu_rig_teardown(void **state);

/* Does the device answer CL_TRUE? */
bool cpu_rig_has(const struct cpu_rig *rig, cl_device_info param);

/* The value of an environment variable, by which a test can run more cases, or `otherwise`. */
unsigned cpu_rig_count(const char *variable, unsigned otherwise);

/* 64 pseudo-random bits, the same in each run of a test. */
uint64_t cpu_rig_random(void);

/* The error in units of the last place, for numbers of that type near the right one. */
double cpu_rig_ulps(long double got, long double want, bool is_double);

/* Each fails the test if OpenCL fails. The caller releases the results. */
cl_program cpu_rig_program(struct cpu_rig *rig, const char *source, const char *options);
cl_mem cpu_rig_buffer(struct cpu_rig *rig, size_t size, void *data); /* data: copied; NULL: none */
/* Runs the kernel with the buffers as its first arguments and, unless value_size is 0, a value as the next. */
void cpu_rig_run(struct cpu_rig *rig, cl_program program, const char *kernel, unsigned n_buffers, const cl_mem *buffers,
                 size_t value_size, const void *value, size_t global_size);
void cpu_rig_read(struct cpu_rig *rig, cl_mem buffer, size_t size, void *data);

/*
 * Collects values for a function of up to three arguments until there are enough for a launch. The function is tried
 * with vectors of each width by kernels called NAME and that width, which take three arrays of elements of so many bits
 * and one of 64-bit results. Incomplete vectors at the end are filled with zeros.
 */
struct cpu_rig_values {
    unsigned n;
    uint64_t args[3][1 << 20], results[1 << 20];
};

struct cpu_rig_block {
    struct cpu_rig *rig;
    cl_program program;
    const char *name;
    unsigned bits;
    const unsigned *widths; /* each divides the last one */
    unsigned n_widths;
    /* The number of wrong results of vectors of that width; prints the first few. */
    unsigned (*count_wrong)(const struct cpu_rig_values *values, const void *data, unsigned width);
    const void *data;
    struct cpu_rig_values *values; /* empty at first */
    unsigned wrong;
};

/* Adds a value; its lowest bits count. */
void cpu_rig_take(struct cpu_rig_block *block, uint64_t x, uint64_t y, uint64_t z);
void cpu_rig_flush(struct cpu_rig_block *block);

/* Runs a kernel `(global const uchar *table, global uint *out)` over n work-items; out has room for twice as many.
 * Fails the test where out[item] is another number than `right` says. */
void cpu_rig_check_items(struct cpu_rig *rig, cl_program program, const char *name, uint8_t *table, size_t size,
                         uint32_t n, uint32_t (*right)(const uint8_t *table, uint32_t item));

/* Programs with n things to check in each. */
struct cpu_rig_checks {
    unsigned n_programs, n;
    /* NULL: the program is left out. */
    cl_program (*make)(struct cpu_rig *rig, unsigned program);
    /* The number of wrong results. */
    unsigned (*check)(struct cpu_rig *rig, cl_program made, unsigned program, unsigned k);
};

/* Fails the test if anything is wrong. */
void cpu_rig_check_all(struct cpu_rig *rig, const struct cpu_rig_checks *checks);

#endif
