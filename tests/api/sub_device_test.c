/*
 * Sub-devices are members: each answers for itself, its queues run on it alone, and all of a context's devices share
 * buffers, whatever their vendors. The timeline shows where work really ran.
 */
/* variant: three TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off */
/* variant: one TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_ZERO_COPY=off */
/* timeout: 200 */
#include "begin.h"
#include "proof.h"

#include <CL/cl_tesela.h>

enum { max_devices = 8, n_ints = 1024, size = n_ints * sizeof(cl_int) };

static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
static const char *const source = "kernel void add(global int *x, int n) { x[get_global_id(0)] += n; }\n"
                                  "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }\n";

static cl_device_id root, subs[max_devices];
static cl_uint n_subs;

static int partition(void **state)
{
    (void)state;
    root = proof_root();
    proof_ok(clCreateSubDevices(root, by_member, max_devices, subs, &n_subs));
    return 0;
}

static int release(void **state)
{
    (void)state;
    for (cl_uint i = 0; i < n_subs; i++)
        proof_ok(clReleaseDevice(subs[i]));
    return 0;
}

static cl_ulong number(cl_device_id device, cl_device_info param)
{
    cl_ulong value = 0;
    size_t n;

    proof_ok(clGetDeviceInfo(device, param, sizeof value, &value, &n));
    return n == sizeof(cl_uint) ? (cl_uint)value : value;
}

static const char *text(cl_device_id device, cl_device_info param, char *to, size_t room)
{
    proof_ok(clGetDeviceInfo(device, param, room, to, NULL));
    return to;
}

/* ---- Partitioning ------------------------------------------------------------------------------------------------ */

static void one_for_each_member(void **state)
{
    cl_device_id some[max_devices];
    cl_uint n = 0;

    (void)state;
    assert_int_equal(number(root, CL_DEVICE_PARTITION_PROPERTIES), CL_DEVICE_PARTITION_BY_MEMBER_TESELA);
    assert_int_equal(number(root, CL_DEVICE_PARTITION_MAX_SUB_DEVICES), n_subs);
    assert_int_equal(number(root, CL_DEVICE_PARTITION_TYPE), 0);
    assert_int_equal(number(root, CL_DEVICE_PARTITION_AFFINITY_DOMAIN), 0);
    assert_int_equal(clCreateSubDevices(root, by_member, 0, NULL, &n), CL_SUCCESS);
    assert_int_equal(n, n_subs);
    assert_int_equal(clCreateSubDevices(root, by_member, n_subs, some, NULL), CL_SUCCESS);
    for (cl_uint i = 0; i < n_subs; i++) {
        assert_ptr_not_equal(some[i], subs[i]);
        assert_int_equal(clReleaseDevice(some[i]), CL_SUCCESS);
    }
    assert_int_equal(clGetDeviceIDs(our_platform(), CL_DEVICE_TYPE_ALL, max_devices, some, &n), CL_SUCCESS);
    assert_int_equal(n, 1);
    assert_ptr_equal(some[0], root);
}

static void other_ways_are_refused(void **state)
{
    static const cl_device_partition_property none[] = {0}, equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0},
                                              numa[] = {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
                                                        CL_DEVICE_AFFINITY_DOMAIN_NUMA, 0},
                                              more[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 1, 0};
    cl_device_id some[max_devices];
    cl_uint n = 77;

    (void)state;
    assert_int_equal(clCreateSubDevices(NULL, by_member, 0, NULL, &n), CL_INVALID_DEVICE);
    assert_int_equal(clCreateSubDevices((cl_device_id)our_platform(), by_member, 0, NULL, &n), CL_INVALID_DEVICE);
    assert_int_equal(clCreateSubDevices(root, NULL, 0, NULL, &n), CL_INVALID_VALUE);
    assert_int_equal(clCreateSubDevices(root, none, 0, NULL, &n), CL_INVALID_VALUE);
    assert_int_equal(clCreateSubDevices(root, equally, 0, NULL, &n), CL_INVALID_VALUE);
    assert_int_equal(clCreateSubDevices(root, numa, 0, NULL, &n), CL_INVALID_VALUE);
    assert_int_equal(clCreateSubDevices(root, more, 0, NULL, &n), CL_INVALID_VALUE);
    assert_int_equal(clCreateSubDevices(root, by_member, n_subs - 1, some, &n), CL_INVALID_VALUE);
    assert_int_equal(clCreateSubDevices(subs[0], by_member, max_devices, some, &n), CL_INVALID_VALUE);
    assert_int_equal(n, 77);
}

static void lives_are_counted(void **state)
{
    cl_device_id some[max_devices];
    cl_context context;
    cl_int error;

    (void)state;
    assert_int_equal(clCreateSubDevices(root, by_member, max_devices, some, NULL), CL_SUCCESS);
    for (cl_uint i = 1; i < n_subs; i++)
        assert_int_equal(clReleaseDevice(some[i]), CL_SUCCESS);
    assert_int_equal(number(some[0], CL_DEVICE_REFERENCE_COUNT), 1);
    assert_int_equal(clRetainDevice(some[0]), CL_SUCCESS);
    assert_int_equal(number(some[0], CL_DEVICE_REFERENCE_COUNT), 2);
    context = clCreateContext(NULL, 1, some, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clReleaseDevice(some[0]), CL_SUCCESS);
    assert_int_equal(clReleaseDevice(some[0]), CL_SUCCESS);
    /* Its context still shows it. */
    assert_int_equal(number(some[0], CL_DEVICE_REFERENCE_COUNT), 0);
    assert_int_equal(clReleaseDevice(some[0]), CL_INVALID_DEVICE);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    assert_int_equal(clRetainDevice(some[0]), CL_INVALID_DEVICE);
    assert_int_equal(clReleaseDevice(some[0]), CL_INVALID_DEVICE);
    assert_int_equal(clGetDeviceInfo(some[0], CL_DEVICE_NAME, 0, NULL, NULL), CL_INVALID_DEVICE);
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

static void each_says_which_member_it_is(void **state)
{
    char id[64], name[256], other[64];
    cl_ulong units = 0;

    (void)state;
    assert_string_equal(text(root, CL_DEVICE_MEMBER_TESELA, id, sizeof id), "");
    for (cl_uint i = 0; i < n_subs; i++) {
        text(subs[i], CL_DEVICE_MEMBER_TESELA, id, sizeof id);
        text(subs[i], CL_DEVICE_NAME, name, sizeof name);
        assert_non_null(strchr(id, ':'));
        assert_non_null(strstr(name, id));
        assert_string_not_equal(text(subs[i], CL_DEVICE_VENDOR, name, sizeof name), "Tesela");
        for (cl_uint j = 0; j < i; j++)
            assert_string_not_equal(id, text(subs[j], CL_DEVICE_MEMBER_TESELA, other, sizeof other));
        assert_ptr_equal((void *)number(subs[i], CL_DEVICE_PARENT_DEVICE), root);
        assert_int_equal(number(subs[i], CL_DEVICE_PARTITION_PROPERTIES), 0);
        assert_int_equal(number(subs[i], CL_DEVICE_PARTITION_MAX_SUB_DEVICES), 0);
        assert_false(number(subs[i], CL_DEVICE_TYPE) & CL_DEVICE_TYPE_DEFAULT);
        assert_ptr_equal((void *)number(subs[i], CL_DEVICE_PLATFORM), our_platform());
        units += number(subs[i], CL_DEVICE_MAX_COMPUTE_UNITS);
    }
    assert_int_equal(units, number(root, CL_DEVICE_MAX_COMPUTE_UNITS));
}

static void the_type_of_partition_is_told(void **state)
{
    cl_device_partition_property type[4] = {0};
    size_t n;

    (void)state;
    assert_int_equal(clGetDeviceInfo(subs[0], CL_DEVICE_PARTITION_TYPE, sizeof type, type, &n), CL_SUCCESS);
    assert_int_equal(n, sizeof by_member);
    assert_memory_equal(type, by_member, n);
}

/* ---- Work by hand ------------------------------------------------------------------------------------------------ */

static cl_command_queue queue_of(const struct proof *p, cl_device_id device)
{
    cl_int error;
    cl_command_queue queue = clCreateCommandQueue(p->context, device, 0, &error);

    proof_ok(error);
    return queue;
}

/* The timeline's name of where a command's kernel ran. */
static void assert_ran_on(struct proof *p, uint64_t command, cl_device_id device)
{
    char id[64];

    assert_string_equal(proof_work(proof_trace(p), command)->member,
                        text(device, CL_DEVICE_MEMBER_TESELA, id, sizeof id));
}

/* One buffer goes through all members, to and fro, each time where the program says. */
static void a_program_places_work_by_hand(void **state)
{
    static cl_int data[n_ints];
    cl_command_queue queues[max_devices];
    uint64_t commands[2 * max_devices];
    const size_t n = n_ints;
    cl_int expected = 0, two = 2;
    struct proof p;
    cl_kernel add, twice;
    cl_mem buffer;

    (void)state;
    proof_open_on(&p, source, n_subs, subs);
    for (cl_uint i = 0; i < n_subs; i++)
        queues[i] = queue_of(&p, subs[i]);
    add = proof_kernel(&p, "add");
    twice = proof_kernel(&p, "twice");
    buffer = proof_buffer(&p, CL_MEM_READ_WRITE, size, NULL);
    proof_set(twice, 1, &buffer, 0, NULL);
    proof_set(add, 1, &buffer, 0, NULL);
    proof_ok(clSetKernelArg(add, 1, sizeof two, &two));
    proof_did(&p, clEnqueueWriteBuffer(queues[0], buffer, CL_TRUE, 0, size, data, 0, NULL, NULL));
    for (cl_uint i = 0; i < 2 * n_subs; i++) {
        cl_command_queue queue = queues[i % n_subs];

        proof_did(&p, clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, NULL, 0, NULL, NULL));
        commands[i] = proof_did(&p, clEnqueueNDRangeKernel(queue, twice, 1, NULL, &n, NULL, 0, NULL, NULL));
        proof_ok(clFinish(queue));
        expected = 2 * (expected + 2);
    }
    proof_did(&p, clEnqueueReadBuffer(queues[0], buffer, CL_TRUE, 0, size, data, 0, NULL, NULL));
    for (int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], expected);
    for (cl_uint i = 0; i < 2 * n_subs; i++)
        assert_ran_on(&p, commands[i], subs[i % n_subs]);
    for (cl_uint i = 0; i < n_subs; i++)
        proof_ok(clReleaseCommandQueue(queues[i]));
    memset(data, 0, sizeof data);
    proof_ok(clReleaseKernel(add));
    proof_ok(clReleaseKernel(twice));
    proof_ok(clReleaseMemObject(buffer));
    proof_close(&p);
}

/* Events order the queues of different vendors. */
static void events_wait_across_vendors(void **state)
{
    static cl_int data[n_ints];
    const size_t n = n_ints;
    cl_event before = NULL, event;
    cl_int one = 1;
    struct proof p;
    cl_kernel add;
    cl_mem buffer;

    (void)state;
    proof_open_on(&p, source, n_subs, subs);
    buffer = proof_buffer(&p, CL_MEM_COPY_HOST_PTR, size, data);
    add = proof_kernel(&p, "add");
    proof_set(add, 1, &buffer, 0, NULL);
    proof_ok(clSetKernelArg(add, 1, sizeof one, &one));
    for (cl_uint i = 0; i < 4 * n_subs; i++) {
        cl_command_queue queue = queue_of(&p, subs[i % n_subs]);

        proof_did(
            &p, clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, NULL, before ? 1 : 0, before ? &before : NULL, &event));
        if (before)
            proof_ok(clReleaseEvent(before));
        before = event;
        proof_ok(clReleaseCommandQueue(queue));
    }
    proof_did(&p, clEnqueueReadBuffer(p.queue, buffer, CL_TRUE, 0, size, data, 1, &before, NULL));
    for (int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], 4 * (cl_int)n_subs);
    memset(data, 0, sizeof data);
    proof_ok(clReleaseEvent(before));
    proof_ok(clReleaseKernel(add));
    proof_ok(clReleaseMemObject(buffer));
    proof_close(&p);
}

/* The virtual device and its members in one context: the one chooses, the others are told. */
static void a_context_of_both(void **state)
{
    cl_device_id devices[max_devices + 1] = {root};
    const size_t n = n_ints;
    static cl_int data[n_ints];
    uint64_t command;
    cl_kernel twice;
    cl_mem buffer;
    struct proof p;
    cl_uint n_devices;

    (void)state;
    memcpy(devices + 1, subs, n_subs * sizeof *subs);
    proof_open_on(&p, source, n_subs + 1, devices);
    proof_ok(clGetContextInfo(p.context, CL_CONTEXT_NUM_DEVICES, sizeof n_devices, &n_devices, NULL));
    assert_int_equal(n_devices, n_subs + 1);
    for (int i = 0; i < n_ints; i++)
        data[i] = i;
    buffer = proof_buffer(&p, CL_MEM_COPY_HOST_PTR, size, data);
    twice = proof_kernel(&p, "twice");
    proof_set(twice, 1, &buffer, 0, NULL);
    for (cl_uint i = 0; i < n_subs; i++) {
        cl_command_queue queue = queue_of(&p, subs[n_subs - 1 - i]);

        proof_did(&p, clEnqueueNDRangeKernel(p.queue, twice, 1, NULL, &n, NULL, 0, NULL, NULL));
        command = proof_did(&p, clEnqueueNDRangeKernel(queue, twice, 1, NULL, &n, NULL, 0, NULL, NULL));
        proof_ok(clFinish(queue));
        assert_ran_on(&p, command, subs[n_subs - 1 - i]);
        proof_ok(clReleaseCommandQueue(queue));
    }
    proof_did(&p, clEnqueueReadBuffer(p.queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL));
    for (int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], i << (2 * n_subs));
    proof_ok(clReleaseKernel(twice));
    proof_ok(clReleaseMemObject(buffer));
    proof_close(&p);
}

/* What a sub-device's queue moves goes to its member, and to the host if asked. */
static void moves_go_where_the_queue_is(void **state)
{
    static cl_int data[n_ints];
    cl_device_id last = subs[n_subs - 1];
    struct proof p;
    cl_command_queue queue;
    uint64_t to_member, to_host;
    const cl_int pattern = 5;
    char id[64];
    cl_mem buffer;

    (void)state;
    proof_open_on(&p, source, n_subs, subs);
    queue = queue_of(&p, last);
    text(last, CL_DEVICE_MEMBER_TESELA, id, sizeof id);
    buffer = proof_buffer(&p, CL_MEM_COPY_HOST_PTR, size, data);
    to_member = proof_did(&p, clEnqueueMigrateMemObjects(queue, 1, &buffer, 0, 0, NULL, NULL));
    proof_ok(clFinish(queue));
    assert_string_equal(proof_move(proof_trace(&p), to_member, true)->to, id);
    proof_did(&p, clEnqueueFillBuffer(queue, buffer, &pattern, sizeof pattern, 0, size, 0, NULL, NULL));
    to_host = proof_did(&p, clEnqueueMigrateMemObjects(queue, 1, &buffer, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    proof_ok(clFinish(queue));
    assert_string_equal(proof_move(proof_trace(&p), to_host, false)->from, id);
    proof_did(&p, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL));
    for (int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], 5);
    memset(data, 0, sizeof data);
    proof_ok(clReleaseCommandQueue(queue));
    proof_ok(clReleaseMemObject(buffer));
    proof_close(&p);
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static cl_build_status status_of(cl_program program, cl_device_id device)
{
    cl_build_status status = 77;

    proof_ok(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
    return status;
}

static void programs_are_built_for_the_devices_given(void **state)
{
    const size_t n = n_ints;
    char options[64];
    cl_kernel kernel;
    cl_program program;
    cl_command_queue queue;
    cl_mem buffer;
    size_t group_size;
    cl_int error;
    struct proof p;

    (void)state;
    if (n_subs < 2)
        return;
    proof_open_on(&p, NULL, n_subs, subs);
    program = clCreateProgramWithSource(p.context, 1, (const char *[]){source}, NULL, &error);
    proof_ok(error);
    assert_int_equal(clBuildProgram(program, 1, &root, "", NULL, NULL), CL_INVALID_DEVICE);
    proof_ok(clBuildProgram(program, 1, &subs[1], "-DA=1", NULL, NULL));
    assert_int_equal(status_of(program, subs[0]), CL_BUILD_NONE);
    assert_int_equal(status_of(program, subs[1]), CL_BUILD_SUCCESS);
    proof_ok(clGetProgramBuildInfo(program, subs[1], CL_PROGRAM_BUILD_OPTIONS, sizeof options, options, NULL));
    assert_string_equal(options, "-DA=1");
    proof_ok(clGetProgramBuildInfo(program, subs[0], CL_PROGRAM_BUILD_OPTIONS, sizeof options, options, NULL));
    assert_string_equal(options, "");
    kernel = clCreateKernel(program, "twice", &error);
    proof_ok(error);
    buffer = proof_buffer(&p, CL_MEM_READ_WRITE, size, NULL);
    proof_set(kernel, 1, &buffer, 0, NULL);
    proof_ok(
        clGetKernelWorkGroupInfo(kernel, subs[1], CL_KERNEL_WORK_GROUP_SIZE, sizeof group_size, &group_size, NULL));
    assert_true(group_size > 0);
    assert_int_equal(
        clGetKernelWorkGroupInfo(kernel, NULL, CL_KERNEL_WORK_GROUP_SIZE, sizeof group_size, &group_size, NULL),
        CL_INVALID_DEVICE);
    assert_int_equal(clEnqueueNDRangeKernel(p.queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL),
                     CL_INVALID_PROGRAM_EXECUTABLE);
    queue = queue_of(&p, subs[1]);
    proof_ok(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
    proof_ok(clFinish(queue));
    assert_int_equal(clBuildProgram(program, 1, &subs[0], "", NULL, NULL), CL_INVALID_OPERATION);
    proof_ok(clReleaseKernel(kernel));
    /* The other one keeps what it has. */
    proof_ok(clBuildProgram(program, 1, &subs[0], "", NULL, NULL));
    assert_int_equal(status_of(program, subs[0]), CL_BUILD_SUCCESS);
    assert_int_equal(status_of(program, subs[1]), CL_BUILD_SUCCESS);
    proof_ok(clReleaseCommandQueue(queue));
    proof_ok(clReleaseMemObject(buffer));
    proof_ok(clReleaseProgram(program));
    proof_close(&p);
}

/* To be linked. */
static const char *const link_texts[] = {"int f(int x);\nkernel void k(global int *x) { *x = f(1); }\n",
                                         "int f(int x) { return x + 1; }\n"};

static cl_program object_for(const struct proof *p, const char *text, cl_uint n, const cl_device_id *devices)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(p->context, 1, &text, NULL, &error);

    proof_ok(error);
    proof_ok(clCompileProgram(program, n, devices, "", 0, NULL, NULL, NULL, NULL));
    return program;
}

/* What is linked for a device is compiled for it, all of it; where nothing is, nothing is linked (OpenCL 3.0, 5.8.6).
 */
static void a_device_has_all_to_be_linked_or_nothing(void **state)
{
    cl_program parts[2], linked;
    struct proof p;
    cl_int error;

    (void)state;
    if (n_subs < 2)
        return;
    proof_open_on(&p, NULL, n_subs, subs);
    parts[0] = object_for(&p, link_texts[0], 1, &subs[1]);
    parts[1] = object_for(&p, link_texts[1], 1, &subs[1]);
    linked = clLinkProgram(p.context, 0, NULL, "", 2, parts, NULL, NULL, &error);
    proof_ok(error);
    assert_int_equal(status_of(linked, subs[0]), CL_BUILD_NONE);
    assert_int_equal(status_of(linked, subs[1]), CL_BUILD_SUCCESS);
    proof_ok(clReleaseProgram(linked));
    linked = clLinkProgram(p.context, 1, &subs[0], "", 2, parts, NULL, NULL, &error);
    proof_ok(error);
    assert_int_equal(status_of(linked, subs[0]), CL_BUILD_NONE);
    proof_ok(clReleaseProgram(linked));
    proof_ok(clCompileProgram(parts[1], 1, &subs[0], "", 0, NULL, NULL, NULL, NULL));
    assert_null(clLinkProgram(p.context, 0, NULL, "", 2, parts, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_OPERATION);
    linked = clLinkProgram(p.context, 1, &subs[1], "", 2, parts, NULL, NULL, &error);
    proof_ok(error);
    proof_ok(clReleaseProgram(linked));
    proof_ok(clReleaseProgram(parts[0]));
    proof_ok(clReleaseProgram(parts[1]));
    proof_close(&p);
}

/* What another device has of a program doesn't matter to a link for this one. */
static void other_devices_have_no_say_in_a_link(void **state)
{
    const char *text = "kernel void k(global int *x) { *x = 2; }\n";
    cl_program program, linked;
    struct proof p;
    cl_int error;

    (void)state;
    if (n_subs < 2)
        return;
    proof_open_on(&p, NULL, n_subs, subs);
    for (unsigned built = 0; built < 2; built++) {
        program = object_for(&p, text, 1, &subs[1 - built]);
        proof_ok(clBuildProgram(program, 1, &subs[built], "", NULL, NULL));
        linked = clLinkProgram(p.context, 1, &subs[1 - built], "", 1, &program, NULL, NULL, &error);
        proof_ok(error);
        assert_int_equal(status_of(linked, subs[1 - built]), CL_BUILD_SUCCESS);
        proof_ok(clReleaseProgram(linked));
        linked = clLinkProgram(p.context, 0, NULL, "", 1, &program, NULL, NULL, &error);
        proof_ok(error);
        assert_int_equal(status_of(linked, subs[built]), CL_BUILD_NONE);
        assert_int_equal(status_of(linked, subs[1 - built]), CL_BUILD_SUCCESS);
        proof_ok(clReleaseProgram(linked));
        assert_null(
            clLinkProgram(p.context, 1, &subs[1 - built], "-enable-link-options", 1, &program, NULL, NULL, &error));
        assert_int_equal(error, CL_INVALID_LINKER_OPTIONS);
        proof_ok(clReleaseProgram(program));
    }
    proof_close(&p);
}

/* The virtual device is linked for where one of its members has all. */
static void a_link_for_all_members_needs_one_that_has_all(void **state)
{
    cl_program parts[2], linked;
    cl_device_id all[3];
    struct proof p;
    cl_int error;

    (void)state;
    if (n_subs < 2)
        return;
    all[0] = root;
    all[1] = subs[0];
    all[2] = subs[1];
    proof_open_on(&p, NULL, 3, all);
    for (unsigned i = 0; i < 2; i++)
        parts[i] = object_for(&p, link_texts[i], 1, &subs[0]);
    linked = clLinkProgram(p.context, 0, NULL, "", 2, parts, NULL, NULL, &error);
    proof_ok(error);
    assert_int_equal(status_of(linked, root), CL_BUILD_SUCCESS);
    assert_int_equal(status_of(linked, subs[0]), CL_BUILD_SUCCESS);
    assert_int_equal(status_of(linked, subs[1]), CL_BUILD_NONE);
    proof_ok(clReleaseProgram(linked));
    proof_ok(clReleaseProgram(parts[1]));
    parts[1] = object_for(&p, link_texts[1], 1, &subs[1]);
    assert_null(clLinkProgram(p.context, 1, &root, "", 2, parts, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_OPERATION);
    proof_ok(clReleaseProgram(parts[0]));
    proof_ok(clReleaseProgram(parts[1]));
    proof_close(&p);
}

/* One binary for each device, and each goes back to where it came from, and to no other. */
static void binaries_are_those_of_each_device(void **state)
{
    size_t sizes[max_devices] = {0}, n;
    unsigned char *binaries[max_devices] = {NULL};
    cl_int error, status[max_devices];
    cl_program program;
    struct proof p;
    cl_uint n_devices = 0;

    (void)state;
    proof_open_on(&p, source, n_subs, subs);
    proof_ok(clGetProgramInfo(p.program, CL_PROGRAM_NUM_DEVICES, sizeof n_devices, &n_devices, NULL));
    assert_int_equal(n_devices, n_subs);
    proof_ok(clGetProgramInfo(p.program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, &n));
    assert_int_equal(n, n_subs * sizeof *sizes);
    for (cl_uint i = 0; i < n_subs; i++)
        binaries[i] = test_malloc(sizes[i]);
    proof_ok(clGetProgramInfo(p.program, CL_PROGRAM_BINARIES, sizeof binaries, binaries, NULL));
    program =
        clCreateProgramWithBinary(p.context, n_subs, subs, sizes, (const unsigned char **)binaries, status, &error);
    proof_ok(error);
    proof_ok(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    for (cl_uint i = 0; i < n_subs; i++) {
        assert_int_equal(status[i], CL_SUCCESS);
        assert_int_equal(status_of(program, subs[i]), CL_BUILD_SUCCESS);
    }
    proof_ok(clReleaseProgram(program));
    program = clCreateProgramWithBinary(p.context, 1, &subs[n_subs - 1], &sizes[0], (const unsigned char **)binaries,
                                        status, &error);
    assert_int_equal(error, n_subs > 1 ? CL_INVALID_BINARY : CL_SUCCESS);
    if (program)
        proof_ok(clReleaseProgram(program));
    for (cl_uint i = 0; i < n_subs; i++)
        test_free(binaries[i]);
    proof_close(&p);
}

/* A program that one device's compiler refuses fails, as that device was asked for; it still runs on the others. */
static void a_device_that_fails_is_told(void **state)
{
    /* oclgrind compiles for SPIR. */
    const char *strings[] = {"#ifdef __SPIR__\n#error not here\n#endif\nkernel void k(global int *x) { *x = 1; }\n"};
    struct proof p;
    cl_program program;
    char name[256];
    cl_kernel kernel;
    cl_int error;

    (void)state;
    if (n_subs < 3)
        return;
    proof_open_on(&p, NULL, n_subs, subs);
    program = clCreateProgramWithSource(p.context, 1, strings, NULL, &error);
    proof_ok(error);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    for (cl_uint i = 0; i < n_subs; i++) {
        bool fails = strstr(text(subs[i], CL_DEVICE_NAME, name, sizeof name), "Oclgrind");

        assert_int_equal(status_of(program, subs[i]), fails ? CL_BUILD_ERROR : CL_BUILD_SUCCESS);
    }
    kernel = clCreateKernel(program, "k", &error);
    proof_ok(error);
    proof_ok(clReleaseKernel(kernel));
    proof_ok(clReleaseProgram(program));
    proof_close(&p);
}

/* One kernel must be the same on every device; the virtual device leaves out the member where it isn't. */
static void kernels_must_be_alike(void **state)
{
    const char *strings[] = {"#ifdef __SPIR__\n#define MORE , int y\n#else\n#define MORE\n#endif\n"
                             "kernel void k(global int *x MORE) { *x = 1; }\n"
                             "kernel void same(global int *x) { *x = 1; }\n"};
    cl_device_id devices[max_devices] = {root};
    char name[16];

    (void)state;
    if (n_subs < 3)
        return;
    for (int whole = 0; whole < 2; whole++) {
        struct proof p;
        cl_program program;
        cl_kernel kernel, all[2] = {NULL, NULL};
        cl_uint n = 0;
        cl_int error;

        proof_open_on(&p, NULL, whole ? 1 : n_subs, whole ? devices : subs);
        program = clCreateProgramWithSource(p.context, 1, strings, NULL, &error);
        proof_ok(error);
        proof_ok(clBuildProgram(program, 0, NULL, "", NULL, NULL));
        kernel = clCreateKernel(program, "k", &error);
        assert_int_equal(error, whole ? CL_SUCCESS : CL_INVALID_KERNEL_DEFINITION);
        if (kernel)
            proof_ok(clReleaseKernel(kernel));
        /* Of all, those are made that are alike. */
        proof_ok(clCreateKernelsInProgram(program, 2, all, &n));
        assert_int_equal(n, whole ? 2 : 1);
        assert_int_equal(all[1] != NULL, whole);
        for (cl_uint i = 0; i < n; i++) {
            proof_ok(clGetKernelInfo(all[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
            assert_true(whole || strcmp(name, "same") == 0);
            proof_ok(clReleaseKernel(all[i]));
        }
        proof_ok(clReleaseProgram(program));
        proof_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_for_each_member),
        cmocka_unit_test(other_ways_are_refused),
        cmocka_unit_test(lives_are_counted),
        cmocka_unit_test(each_says_which_member_it_is),
        cmocka_unit_test(the_type_of_partition_is_told),
        cmocka_unit_test(a_program_places_work_by_hand),
        cmocka_unit_test(events_wait_across_vendors),
        cmocka_unit_test(a_context_of_both),
        cmocka_unit_test(moves_go_where_the_queue_is),
        cmocka_unit_test(programs_are_built_for_the_devices_given),
        cmocka_unit_test(a_device_has_all_to_be_linked_or_nothing),
        cmocka_unit_test(other_devices_have_no_say_in_a_link),
        cmocka_unit_test(a_link_for_all_members_needs_one_that_has_all),
        cmocka_unit_test(binaries_are_those_of_each_device),
        cmocka_unit_test(a_device_that_fails_is_told),
        cmocka_unit_test(kernels_must_be_alike),
    };

    return cmocka_run_group_tests(tests, partition, release);
}
