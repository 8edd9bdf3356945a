#include "cpu_rig.h"

#include "test.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cmocka handles the signals of faults in each test; kernels' faults are the driver's, whose handlers were set
 * before. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction drivers[sizeof(faults) / sizeof(faults[0])];

static void keep_handlers(void)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigaction(faults[i], NULL, &drivers[i]);
}

static void bring_handlers_back(void)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigaction(faults[i], &drivers[i], NULL);
}

/* By hand, without the variables that ctest sets, the loader's first platform may be another. */
static bool is_ours(cl_platform_id platform)
{
    char name[64] = "";

    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, NULL);
    if (strcmp(name, "Tesela") == 0)
        return true;
    fprintf(stderr,
            "The first platform is \"%s\", and this tests Tesela: OCL_ICD_VENDORS=BUILD/icd makes it the first.\n",
            name);
    return false;
}

int cpu_rig_setup(void **state)
{
    struct cpu_rig *rig = calloc(1, sizeof(*rig));
    cl_platform_id platform;
    cl_int error;

    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    if (!is_ours(platform)) {
        free(rig);
        return -1;
    }
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &rig->device, NULL), CL_SUCCESS);
    rig->context = clCreateContext(NULL, 1, &rig->device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    rig->queue = clCreateCommandQueue(rig->context, rig->device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    keep_handlers();
    *state = rig;
    return 0;
}

int cpu_rig_teardown(void **state)
{
    struct cpu_rig *rig = *state;

    if (!rig) /* the setup failed */
        return 0;
    clReleaseCommandQueue(rig->queue);
    clReleaseContext(rig->context);
    free(rig);
    return 0;
}

bool cpu_rig_has(const struct cpu_rig *rig, cl_device_info param)
{
    cl_bool answer = CL_FALSE;

    assert_int_equal(clGetDeviceInfo(rig->device, param, sizeof(answer), &answer, NULL), CL_SUCCESS);
    return answer == CL_TRUE;
}

unsigned cpu_rig_count(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);

    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

uint64_t cpu_rig_random(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

double cpu_rig_ulps(long double got, long double want, bool is_double)
{
    int bits = is_double ? 53 : 24, least = is_double ? -1022 : -126, most = is_double ? 1024 : 128, exponent;
    long double rounded = is_double ? (double)want : (float)want;

    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (got == rounded)
        return signbit(got) == signbit(rounded) || want != 0 ? 0 : INFINITY;
    if (isinf(want))
        return INFINITY;
    if (isinf(got)) /* infinity counts as the number after the largest */
        got = copysignl(ldexpl(1, most), got);
    exponent = want == 0 ? least : ilogbl(want);
    if (exponent < least)
        exponent = least;
    return (double)fabsl((got - want) / ldexpl(1, exponent - bits + 1));
}

cl_program cpu_rig_program(struct cpu_rig *rig, const char *source, const char *options)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(rig->context, 1, &source, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    if (clBuildProgram(program, 0, NULL, options, NULL, NULL)) {
        char log[4000] = "";

        clGetProgramBuildInfo(program, rig->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fail_msg("the program doesn't build: %s", log);
    }
    return program;
}

cl_mem cpu_rig_buffer(struct cpu_rig *rig, size_t size, void *data)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(rig->context, data ? CL_MEM_COPY_HOST_PTR : 0, size, data, &error);

    assert_int_equal(error, CL_SUCCESS);
    return mem;
}

void cpu_rig_run(struct cpu_rig *rig, cl_program program, const char *kernel, unsigned n_buffers, const cl_mem *buffers,
                 size_t value_size, const void *value, size_t global_size)
{
    cl_int error;
    cl_kernel k = clCreateKernel(program, kernel, &error);

    bring_handlers_back();
    assert_int_equal(error, CL_SUCCESS);
    for (unsigned i = 0; i < n_buffers; i++)
        assert_int_equal(clSetKernelArg(k, i, sizeof(buffers[i]), &buffers[i]), CL_SUCCESS);
    if (value_size)
        assert_int_equal(clSetKernelArg(k, n_buffers, value_size, value), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, k, 1, NULL, &global_size, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(rig->queue), CL_SUCCESS);
    clReleaseKernel(k);
}

void cpu_rig_read(struct cpu_rig *rig, cl_mem buffer, size_t size, void *data)
{
    assert_int_equal(clEnqueueReadBuffer(rig->queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL), CL_SUCCESS);
}

/* The elements as the kernel reads them, in a new buffer. */
static cl_mem load(const struct cpu_rig_block *block, const uint64_t *values)
{
    size_t size = block->bits / 8, n = block->values->n;
    char *bytes = malloc(n * size);
    cl_mem mem;

    for (size_t i = 0; i < n; i++)
        memcpy(bytes + i * size, &values[i], size); /* little-endian */
    mem = cpu_rig_buffer(block->rig, n * size, bytes);
    free(bytes);
    return mem;
}

static void apply(struct cpu_rig_block *block, const cl_mem memory[4], unsigned width)
{
    struct cpu_rig_values *values = block->values;
    char kernel[32];

    snprintf(kernel, sizeof(kernel), "%s%u", block->name, width);
    cpu_rig_run(block->rig, block->program, kernel, 4, memory, 0, NULL, values->n / width);
    cpu_rig_read(block->rig, memory[3], values->n * sizeof(values->results[0]), values->results);
    block->wrong += block->count_wrong(values, block->data, width);
}

void cpu_rig_take(struct cpu_rig_block *block, uint64_t x, uint64_t y, uint64_t z)
{
    struct cpu_rig_values *values = block->values;
    uint64_t mask = ~UINT64_C(0) >> (64 - block->bits);

    values->args[0][values->n] = x & mask;
    values->args[1][values->n] = y & mask;
    values->args[2][values->n] = z & mask;
    if (++values->n == sizeof(values->results) / sizeof(values->results[0]))
        cpu_rig_flush(block);
}

void cpu_rig_flush(struct cpu_rig_block *block)
{
    struct cpu_rig_values *values = block->values;
    cl_mem memory[4];

    while (values->n % block->widths[block->n_widths - 1])
        cpu_rig_take(block, 0, 0, 0);
    if (!values->n)
        return;
    for (int k = 0; k < 3; k++)
        memory[k] = load(block, values->args[k]);
    memory[3] = cpu_rig_buffer(block->rig, values->n * sizeof(values->results[0]), NULL);
    for (unsigned w = 0; w < block->n_widths; w++)
        apply(block, memory, block->widths[w]);
    for (int k = 0; k < 4; k++)
        clReleaseMemObject(memory[k]);
    values->n = 0;
}

void cpu_rig_check_all(struct cpu_rig *rig, const struct cpu_rig_checks *checks)
{
    unsigned wrong = 0;

    for (unsigned p = 0; p < checks->n_programs; p++) {
        cl_program made = checks->make(rig, p);

        for (unsigned k = 0; made && k < checks->n; k++)
            wrong += checks->check(rig, made, p, k);
        if (made)
            clReleaseProgram(made);
    }
    assert_int_equal(wrong, 0);
}

void cpu_rig_check_items(struct cpu_rig *rig, cl_program program, const char *name, uint8_t *table, size_t size,
                         uint32_t n, uint32_t (*right)(const uint8_t *table, uint32_t item))
{
    uint32_t *got = malloc(n * sizeof(*got));
    cl_mem buffers[2] = {cpu_rig_buffer(rig, size, table), cpu_rig_buffer(rig, 2 * n * sizeof(*got), NULL)};

    assert_non_null(got);
    cpu_rig_run(rig, program, name, 2, buffers, 0, NULL, n);
    cpu_rig_read(rig, buffers[1], n * sizeof(*got), got);
    for (uint32_t i = 0; i < n; i++)
        if (got[i] != right(table, i))
            fail_msg("%s of %u: %#x, not %#x", name, i, got[i], right(table, i));
    for (size_t k = 0; k < 2; k++)
        clReleaseMemObject(buffers[k]);
    free(got);
}
