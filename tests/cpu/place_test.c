/*
 * The lines CPU of TESELA_CONFIG: groups of threads, processors of NUMA nodes, memory of their own. What this machine
 * lacks is told with file and line.
 */
/* variant: shared TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl PLACE_LINE="CPU 1 0-0 0" */
/* variant: groups TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl PLACE_LINE="CPU 1 0-0 0 + CPU 1 0-0 1" N_TEAMS=2 */
/* variant: copying TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl PLACE_LINE="CPU 1 0-0 1" */
#include "build_folder.h"
#include "test.h"

#include <CL/cl.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 4096

static char config[] = "/tmp/tesela-place-XXXXXX";
static char said[65536];

/* Several lines have a + between. */
static void write_config(const char *lines)
{
    char host[256] = "";
    FILE *file = fopen(config, "w");

    gethostname(host, sizeof host - 1);
    assert_non_null(file);
    assert_true(fprintf(file, "NODE %s\n", host) > 0);
    for (const char *at = lines; *at; at++)
        fputc(*at == '+' ? '\n' : *at, file);
    assert_int_equal(fclose(file), 0);
}

/* What `tesela info --json` says under these lines. */
static void info(const char *lines, const char *before)
{
    char command[512];
    FILE *out;

    write_config(lines);
    snprintf(command, sizeof command, "TESELA_CONFIG=%s %s %s/tesela info --json 2>&1", config, before, build_folder());
    out = popen(command, "r");
    assert_non_null(out);
    said[fread(said, 1, sizeof said - 1, out)] = '\0';
    assert_int_equal(pclose(out), 0);
}

static void says(const char *text)
{
    if (!strstr(said, text))
        fail_msg("\"%s\" is missing in: %s", text, said);
}

static void the_line_is_followed(void **state)
{
    (void)state;
    info("CPU 1 0-0 0", "");
    says("\"compute_units\":\t1,");
    says("\"zero_copy\":\ttrue,");
    info("CPU 1 0-0 1", "");
    says("\"zero_copy\":\tfalse,");
    assert_null(strstr(said, "more than"));
}

/* How often a text is there. */
static unsigned count(const char *text)
{
    unsigned n = 0;

    for (const char *at = said; (at = strstr(at, text)); at++)
        n++;
    return n;
}

static void each_line_is_a_member(void **state)
{
    char expected[512];

    (void)state;
    info("CPU 1 0-0 0 + CPU 1 0-0 1", "taskset -c 0,1");
    says("\"cpu:0\"");
    says("\"cpu:1\"");
    assert_true(strstr(said, "\"cpu:0\"") < strstr(said, "\"cpu:1\""));
    assert_int_equal(count("\"compute_units\":\t1,"), 2);
    assert_int_equal(count("\"zero_copy\":\tfalse,"), 1);
    says(", 1 thread\"");
    assert_null(strstr(said, "have taken"));
    info("CPU 1 0-0 0 + CPU 2 0-0 0", "taskset -c 0,1");
    says(", 2 threads\"");
    snprintf(expected, sizeof expected,
             "%s:3: lines CPU before this one have taken 1 of the 2 processors on which its threads run", config);
    says(expected);
}

static void what_lacks_is_told(void **state)
{
    char expected[512];

    (void)state;
    info("CPU 5 0-0 0", "taskset -c 0");
    says("\"compute_units\":\t1,");
    snprintf(expected, sizeof expected,
             "%s:2: 5 threads are more than the 1 processors that this process may use there", config);
    says(expected);
    info("CPU 1 0-900 0", "");
    says("of the NUMA nodes 0-900 this system lacks ");
    info("CPU 1 900-901 0", "");
    says("this system lacks 2");
}

/* Threads of this process. */
static unsigned n_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    unsigned n = 0;

    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

/* Teams of one thread. */
static unsigned n_teams(void)
{
    const char *text = getenv("N_TEAMS");

    return text ? (unsigned)strtoul(text, NULL, 10) : 1;
}

/* One thread of each group does the work: no team besides it, and what is computed is right. */
static void kernels_run_so(void **state)
{
    static const char *source = "kernel void f(global int *x) { x[get_global_id(0)] *= 3; }";
    unsigned before = n_threads();
    cl_platform_id platform;
    cl_device_id device;
    cl_command_queue queue;
    cl_context context;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffer;
    int values[N];
    const size_t n = N;
    cl_int error;

    (void)state;
    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    queue = clCreateCommandQueue(context, device, 0, &error);
    program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(program, "f", &error);
    for (int i = 0; i < N; i++)
        values[i] = i;
    buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < N; i++)
        assert_int_equal(values[i], 27 * i);
    /* The teams', and those of ours: the bridge, calls, host copies. */
    assert_in_range(n_threads() - before, n_teams(), n_teams() + 3);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

/* Bytes of memory that this process has, in MiB. */
static unsigned resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long all, pages;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &all, &pages), 2);
    fclose(file);
    return (unsigned)(pages * (unsigned long)sysconf(_SC_PAGESIZE) >> 20);
}

/* Who writes a buffer's memory first gets it near to itself: nobody else has touched it before. */
static void memory_is_first_touched_by_its_user(void **state)
{
    static const char *source = "kernel void f(global uchar16 *x) { x[get_global_id(0)] = (uchar16)(7); }";
    const size_t mib = 256, n = mib << 16;
    unsigned before = resident();
    cl_platform_id platform;
    cl_device_id device;
    cl_command_queue queue;
    cl_context context;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffer;
    cl_int error;

    (void)state;
    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    queue = clCreateCommandQueue(context, device, 0, &error);
    program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(program, "f", &error);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, mib << 20, NULL, &error);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_in_range(resident(), 0, before + mib / 2);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_in_range(resident(), before + mib - 1, before + mib + mib / 2);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

static int prepare(void **state)
{
    int file = mkstemp(config);

    (void)state;
    assert_true(file >= 0);
    close(file);
    write_config(getenv("PLACE_LINE"));
    return setenv("TESELA_CONFIG", config, 1);
}

static int clean(void **state)
{
    (void)state;
    return unlink(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_run_so),       cmocka_unit_test(memory_is_first_touched_by_its_user),
        cmocka_unit_test(the_line_is_followed), cmocka_unit_test(each_line_is_a_member),
        cmocka_unit_test(what_lacks_is_told),
    };

    return cmocka_run_group_tests_name("place", tests, prepare, clean);
}
