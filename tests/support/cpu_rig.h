/*
 * A device, a queue, and short ways to run kernels on it: for tests that compare what kernels compute with what is
 * right.
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

/* cmocka's: *state is a struct cpu_rig of the first device. */
int cpu_rig_setup(void **state);
int cpu_rig_teardown(void **state);

/* Whether the device says CL_TRUE. */
bool cpu_rig_has(const struct cpu_rig *rig, cl_device_info param);

/* What an environment variable says, so that a test can be run with more. */
unsigned cpu_rig_count(const char *variable, unsigned otherwise);

/* The same 64 bits in each run of a test. */
uint64_t cpu_rig_random(void);

/* The distance in units of the last place, of numbers of that type, around what is right. */
double cpu_rig_ulps(long double got, long double want, bool is_double);

/* Each fails the test where OpenCL does. The caller releases what it gets. */
cl_program cpu_rig_program(struct cpu_rig *rig, const char *source, const char *options);
cl_mem cpu_rig_buffer(struct cpu_rig *rig, size_t size, void *data); /* data: copied; NULL: none */
/* The kernel with the buffers as its first arguments and, unless value_size is 0, a value as the next. */
void cpu_rig_run(struct cpu_rig *rig, cl_program program, const char *kernel, unsigned n_buffers, const cl_mem *buffers,
                 size_t value_size, const void *value, size_t global_size);
void cpu_rig_read(struct cpu_rig *rig, cl_mem buffer, size_t size, void *data);

/*
 * Values for a function of up to three arguments, gathered until they are worth a launch. The function is tried with
 * vectors of each width by kernels called NAME and that width, which take three arrays of elements of so many bits and
 * one of 64-bit results. Vectors that aren't full at the end get zeros.
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
    const unsigned *widths; /* each divides the last */
    unsigned n_widths;
    /* How many results of vectors of that width are wrong; says of the first few which. */
    unsigned (*count_wrong)(const struct cpu_rig_values *values, const void *data, unsigned width);
    const void *data;
    struct cpu_rig_values *values; /* none yet */
    unsigned wrong;
};

/* The lowest bits count. */
void cpu_rig_take(struct cpu_rig_block *block, uint64_t x, uint64_t y, uint64_t z);
void cpu_rig_flush(struct cpu_rig_block *block);

/* Programs, each with n things to check. */
struct cpu_rig_checks {
    unsigned n_programs, n;
    /* NULL: that program is left out. */
    cl_program (*make)(struct cpu_rig *rig, unsigned program);
    /* How many results are wrong. */
    unsigned (*check)(struct cpu_rig *rig, cl_program made, unsigned program, unsigned k);
};

/* Fails the test if anything is wrong. */
void cpu_rig_check_all(struct cpu_rig *rig, const struct cpu_rig_checks *checks);

#endif
