/* The test FPGA's platform, devices and objects, and the way in. See fpga.h. */
#include "fpga_inside.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t fpga_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned n_alive; /* guarded by the lock */

static struct _cl_platform_id platform = {{&fpga_dispatch, FPGA_PLATFORM, 1}};
static struct _cl_device_id devices[] = {
    {{&fpga_dispatch, FPGA_DEVICE, 1}, "test board", "hardware", false, TAILQ_HEAD_INITIALIZER(devices[0].queues)},
    {{&fpga_dispatch, FPGA_DEVICE, 1}, "test emulator", "emulation", false, TAILQ_HEAD_INITIALIZER(devices[1].queues)},
};

#define N_DEVICES ((cl_uint)(sizeof devices / sizeof devices[0]))

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

__attribute__((visibility("default"))) fpga_alive_fn fpga_alive;

unsigned fpga_alive(void)
{
    unsigned n;

    pthread_mutex_lock(&fpga_lock);
    n = n_alive;
    pthread_mutex_unlock(&fpga_lock);
    return n;
}

void *fpga_create(enum fpga_kind kind, size_t size)
{
    struct fpga_head *head = calloc(1, size);

    if (!head)
        return NULL;
    *head = (struct fpga_head){&fpga_dispatch, kind, 1};
    pthread_mutex_lock(&fpga_lock);
    n_alive++;
    pthread_mutex_unlock(&fpga_lock);
    return head;
}

bool fpga_is(const void *object, enum fpga_kind kind)
{
    const struct fpga_head *head = object;

    return head && head->dispatch == &fpga_dispatch && head->kind == kind;
}

void fpga_ref_locked(void *object)
{
    ((struct fpga_head *)object)->refs++;
}

static void finish_mem(cl_mem mem)
{
    if (!mem->parent)
        free(mem->data);
    fpga_unref_locked(mem->parent);
    fpga_unref_locked(mem->context);
}

static void finish_kernel(cl_kernel kernel)
{
    fpga_unref_locked(kernel->program);
}

static void finish_queue(cl_command_queue queue)
{
    TAILQ_REMOVE(&queue->context->device->queues, queue, link);
    fpga_unref_locked(queue->context);
}

static void finish_event(cl_event event)
{
    fpga_unref_locked(event->queue);
    fpga_unref_locked(event->context);
}

static void finish(struct fpga_head *head)
{
    void *object = head;

    switch (head->kind) {
    case FPGA_MEM:
        finish_mem(object);
        break;
    case FPGA_PROGRAM:
        free(((cl_program)object)->binary);
        fpga_unref_locked(((cl_program)object)->context);
        break;
    case FPGA_KERNEL:
        finish_kernel(object);
        break;
    case FPGA_QUEUE:
        finish_queue(object);
        break;
    case FPGA_EVENT:
        finish_event(object);
        break;
    default:
        break;
    }
    head->dispatch = NULL;
    n_alive--;
    free(object);
}

void fpga_unref_locked(void *object)
{
    struct fpga_head *head = object;

    if (head && --head->refs == 0)
        finish(head);
}

static cl_int release(void *object, enum fpga_kind kind, cl_int error)
{
    if (!fpga_is(object, kind))
        return error;
    pthread_mutex_lock(&fpga_lock);
    fpga_unref_locked(object);
    pthread_mutex_unlock(&fpga_lock);
    return CL_SUCCESS;
}

static void ref(void *object)
{
    pthread_mutex_lock(&fpga_lock);
    fpga_ref_locked(object);
    pthread_mutex_unlock(&fpga_lock);
}

/* The object with its error, as calls that create give both. */
static void *made(void *object, cl_int error, cl_int *error_ret)
{
    if (error_ret)
        *error_ret = error ? error : object ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    return error ? NULL : object;
}

static cl_int give(const void *answer, size_t answer_size, size_t size, void *value, size_t *size_ret)
{
    if (size_ret)
        *size_ret = answer_size;
    if (value && size < answer_size)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, answer_size);
    return CL_SUCCESS;
}

#define GIVE(type, ...) give(&(type){__VA_ARGS__}, sizeof(type), size, value, size_ret)

static cl_int give_text(const char *text, size_t size, void *value, size_t *size_ret)
{
    return give(text, strlen(text) + 1, size, value, size_ret);
}

/* ---- Platform and devices ---------------------------------------------------------------------------------------- */

static cl_int CL_API_CALL get_platform_ids(cl_uint n, cl_platform_id *ids, cl_uint *n_ret)
{
    if (ids && n)
        ids[0] = &platform;
    if (n_ret)
        *n_ret = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id id, cl_platform_info param, size_t size, void *value,
                                            size_t *size_ret)
{
    (void)id;
    switch (param) {
    case CL_PLATFORM_NAME:
        return give_text("Tesela test FPGA", size, value, size_ret);
    case CL_PLATFORM_VENDOR:
        return give_text("Tesela's tests", size, value, size_ret);
    case CL_PLATFORM_VERSION: /* FPGA_PLATFORM_VERSION: what it says instead. */
        return give_text(getenv("FPGA_PLATFORM_VERSION") ? getenv("FPGA_PLATFORM_VERSION") : "OpenCL 1.2 test FPGA",
                         size, value, size_ret);
    case CL_PLATFORM_PROFILE:
        return give_text("FULL_PROFILE", size, value, size_ret);
    case CL_PLATFORM_EXTENSIONS:
        return give_text("cl_khr_icd", size, value, size_ret);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return give_text("TSLFPGA", size, value, size_ret);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_device_ids(cl_platform_id id, cl_device_type type, cl_uint n, cl_device_id *ids,
                                         cl_uint *n_ret)
{
    (void)id;
    if (!(type & (CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_DEFAULT)) || getenv("FPGA_WITHOUT_DEVICES"))
        return CL_DEVICE_NOT_FOUND;
    for (cl_uint i = 0; ids && i < n && i < N_DEVICES; i++)
        ids[i] = &devices[i];
    if (n_ret)
        *n_ret = N_DEVICES;
    return CL_SUCCESS;
}

static cl_int device_text(cl_device_id device, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    switch (param) {
    case CL_DEVICE_NAME:
        return give_text(device->name, size, value, size_ret);
    case CL_DEVICE_VENDOR:
        return give_text("Tesela's tests", size, value, size_ret);
    case CL_DEVICE_VERSION: /* FPGA_VERSION: what it says instead. */
        return give_text(getenv("FPGA_VERSION") ? getenv("FPGA_VERSION") : "OpenCL 1.2 test FPGA", size, value,
                         size_ret);
    case CL_DRIVER_VERSION:
        return give_text("1", size, value, size_ret);
    case CL_DEVICE_PROFILE:
        return give_text("FULL_PROFILE", size, value, size_ret);
    case CL_DEVICE_OPENCL_C_VERSION:
        return give_text("OpenCL C 1.2 ", size, value, size_ret);
    case CL_DEVICE_EXTENSIONS:
        return give_text("cl_khr_byte_addressable_store", size, value, size_ret);
    case CL_DEVICE_BUILT_IN_KERNELS:
        return give_text(FPGA_BUILT_IN, size, value, size_ret);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info param, size_t size, void *value,
                                          size_t *size_ret)
{
    switch (param) {
    case CL_DEVICE_TYPE:
        return GIVE(cl_device_type, CL_DEVICE_TYPE_ACCELERATOR);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
        return GIVE(cl_uint, 1);
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
    case CL_DEVICE_IMAGE_SUPPORT:
        return GIVE(cl_bool, CL_FALSE);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        return GIVE(cl_uint, 3);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return GIVE(size_t, 256);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return give((size_t[]){256, 256, 256}, 3 * sizeof(size_t), size, value, size_ret);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return GIVE(cl_uint, 200);
    case CL_DEVICE_ADDRESS_BITS:
        return GIVE(cl_uint, 64);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        return GIVE(cl_uint, 128); /* bits; less than what its DMA wants */
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return GIVE(cl_ulong, FPGA_MEMORY);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return GIVE(cl_ulong, FPGA_MEMORY / 4);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return GIVE(cl_ulong, 32768);
    case CL_DEVICE_LOCAL_MEM_TYPE:
        return GIVE(cl_device_local_mem_type, CL_LOCAL);
    case CL_DEVICE_MAX_PARAMETER_SIZE:
        return GIVE(size_t, 1024);
    case CL_DEVICE_QUEUE_PROPERTIES:
        return GIVE(cl_command_queue_properties, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return GIVE(cl_device_fp_config, CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST);
    case CL_DEVICE_PLATFORM:
        return GIVE(cl_platform_id, &platform);
    default:
        return device_text(device, param, size, value, size_ret);
    }
}

/* ---- Contexts, queues, memory ------------------------------------------------------------------------------------ */

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint n,
                                             const cl_device_id *ids,
                                             void(CL_CALLBACK *fn)(const char *, const void *, size_t, void *),
                                             void *arg, cl_int *error)
{
    cl_context context;

    (void)properties, (void)fn, (void)arg;
    if (n != 1 || !fpga_is(ids[0], FPGA_DEVICE))
        return made(NULL, CL_INVALID_DEVICE, error);
    context = fpga_create(FPGA_CONTEXT, sizeof *context);
    if (context)
        context->device = ids[0];
    return made(context, CL_SUCCESS, error);
}

static cl_int CL_API_CALL release_context(cl_context context)
{
    return release(context, FPGA_CONTEXT, CL_INVALID_CONTEXT);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties, cl_int *error)
{
    cl_command_queue queue;

    if (!fpga_is(context, FPGA_CONTEXT) || context->device != device)
        return made(NULL, CL_INVALID_CONTEXT, error);
    queue = fpga_create(FPGA_QUEUE, sizeof *queue);
    if (!queue)
        return made(NULL, CL_OUT_OF_HOST_MEMORY, error);
    pthread_mutex_lock(&fpga_lock);
    fpga_ref_locked(context);
    queue->context = context;
    queue->properties = properties;
    TAILQ_INIT(&queue->commands);
    TAILQ_INSERT_TAIL(&device->queues, queue, link);
    fpga_start_thread_locked(device);
    pthread_mutex_unlock(&fpga_lock);
    return made(queue, CL_SUCCESS, error);
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue)
{
    if (fpga_flush(queue))
        return CL_INVALID_COMMAND_QUEUE;
    return release(queue, FPGA_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

/* As from the factory: nobody may count on zeros. */
static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
    cl_mem mem;

    if (!fpga_is(context, FPGA_CONTEXT))
        return made(NULL, CL_INVALID_CONTEXT, error);
    /* Tesela asks for no host's memory where there is none to share. */
    if (host || flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR))
        return made(NULL, CL_INVALID_HOST_PTR, error);
    if (!size || size > FPGA_MEMORY / 4)
        return made(NULL, CL_INVALID_BUFFER_SIZE, error);
    mem = fpga_create(FPGA_MEM, sizeof *mem);
    if (!mem)
        return made(NULL, CL_OUT_OF_HOST_MEMORY, error);
    ref(context);
    mem->context = context;
    mem->size = size;
    mem->data = aligned_alloc(FPGA_DMA_ALIGN, (size + FPGA_DMA_ALIGN - 1) / FPGA_DMA_ALIGN * FPGA_DMA_ALIGN);
    if (mem->data)
        memset(mem->data, 0xa5, size);
    else
        release(mem, FPGA_MEM, 0);
    return made(mem->data ? mem : NULL, mem->data ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE, error);
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                            const void *info, cl_int *error)
{
    const cl_buffer_region *region = info;
    cl_mem mem;

    (void)flags;
    if (!fpga_is(parent, FPGA_MEM) || parent->parent)
        return made(NULL, CL_INVALID_MEM_OBJECT, error);
    if (type != CL_BUFFER_CREATE_TYPE_REGION || region->origin % 16 || region->origin > parent->size ||
        region->size > parent->size - region->origin)
        return made(NULL, CL_INVALID_VALUE, error);
    mem = fpga_create(FPGA_MEM, sizeof *mem);
    if (!mem)
        return made(NULL, CL_OUT_OF_HOST_MEMORY, error);
    ref(parent);
    ref(parent->context);
    mem->context = parent->context;
    mem->parent = parent;
    mem->data = parent->data + region->origin;
    mem->size = region->size;
    return made(mem, CL_SUCCESS, error);
}

static cl_int CL_API_CALL release_mem(cl_mem mem)
{
    return release(mem, FPGA_MEM, CL_INVALID_MEM_OBJECT);
}

static cl_sampler CL_API_CALL create_sampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                                             cl_filter_mode filter, cl_int *error)
{
    (void)context, (void)normalized, (void)addressing, (void)filter;
    return made(NULL, CL_INVALID_OPERATION, error);
}

static cl_int CL_API_CALL release_sampler(cl_sampler sampler)
{
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

/* ---- Programs and kernels ---------------------------------------------------------------------------------------- */

static cl_program new_program(cl_context context)
{
    cl_program program = fpga_is(context, FPGA_CONTEXT) ? fpga_create(FPGA_PROGRAM, sizeof *program) : NULL;

    if (program) {
        ref(context);
        program->context = context;
    }
    return program;
}

static cl_program CL_API_CALL program_with_source(cl_context context, cl_uint n, const char **strings,
                                                  const size_t *lengths, cl_int *error)
{
    (void)n, (void)strings, (void)lengths;
    return made(new_program(context), CL_SUCCESS, error);
}

static cl_program CL_API_CALL program_with_binary(cl_context context, cl_uint n, const cl_device_id *ids,
                                                  const size_t *sizes, const unsigned char **binaries, cl_int *status,
                                                  cl_int *error)
{
    cl_program program = n == 1 && ids[0] == context->device ? new_program(context) : NULL;
    cl_int result = CL_INVALID_BINARY;

    if (!program)
        return made(NULL, CL_INVALID_DEVICE, error);
    program->binary = malloc(sizes[0] + 1);
    if (program->binary && sizes[0]) {
        memcpy(program->binary, binaries[0], sizes[0]);
        program->size = sizes[0];
        result = fpga_parse(context->device->mode, program) ? CL_SUCCESS : CL_INVALID_BINARY;
    }
    if (status)
        *status = result;
    if (result)
        release(program, FPGA_PROGRAM, 0);
    return made(program, result, error);
}

/* Executable at once, as the specification says. */
static cl_program CL_API_CALL program_with_built_ins(cl_context context, cl_uint n, const cl_device_id *ids,
                                                     const char *names, cl_int *error)
{
    cl_program program;

    if (n != 1 || ids[0] != context->device)
        return made(NULL, CL_INVALID_DEVICE, error);
    if (strcmp(names, FPGA_BUILT_IN) != 0)
        return made(NULL, CL_INVALID_VALUE, error);
    program = new_program(context);
    if (program) {
        program->designs[program->n_designs++] = fpga_design_of(names);
        program->built = true;
    }
    return made(program, CL_SUCCESS, error);
}

static cl_int CL_API_CALL release_program(cl_program program)
{
    return release(program, FPGA_PROGRAM, CL_INVALID_PROGRAM);
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint n, const cl_device_id *ids, const char *options,
                                        void(CL_CALLBACK *fn)(cl_program, void *), void *arg)
{
    (void)n, (void)ids, (void)options, (void)fn, (void)arg;
    if (!fpga_is(program, FPGA_PROGRAM))
        return CL_INVALID_PROGRAM;
    if (program->built && !program->binary)
        return CL_INVALID_OPERATION; /* built-in kernels */
    program->built = program->binary != NULL;
    return program->built ? CL_SUCCESS : CL_COMPILER_NOT_AVAILABLE;
}

static cl_int CL_API_CALL compile_program(cl_program program, cl_uint n, const cl_device_id *ids, const char *options,
                                          cl_uint n_headers, const cl_program *headers, const char **names,
                                          void(CL_CALLBACK *fn)(cl_program, void *), void *arg)
{
    (void)program, (void)n, (void)ids, (void)options, (void)n_headers, (void)headers, (void)names, (void)fn, (void)arg;
    return CL_COMPILER_NOT_AVAILABLE;
}

static cl_int give_names(cl_program program, size_t size, void *value, size_t *size_ret)
{
    char names[512] = "";

    if (!program->built)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    for (unsigned i = 0; i < program->n_designs; i++) {
        if (i)
            strcat(names, ";");
        strcat(names, program->designs[i]->name);
    }
    return give_text(names, size, value, size_ret);
}

static cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info param, size_t size, void *value,
                                           size_t *size_ret)
{
    switch (param) {
    case CL_PROGRAM_BINARY_SIZES:
        return GIVE(size_t, program->size);
    case CL_PROGRAM_BINARIES:
        if (program->size)
            memcpy(*(unsigned char **)value, program->binary, program->size);
        return CL_SUCCESS;
    case CL_PROGRAM_NUM_KERNELS:
        return GIVE(size_t, program->n_designs);
    case CL_PROGRAM_KERNEL_NAMES:
        return give_names(program, size, value, size_ret);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_build_info(cl_program program, cl_device_id device, cl_program_build_info param,
                                         size_t size, void *value, size_t *size_ret)
{
    (void)device;
    if (param == CL_PROGRAM_BUILD_STATUS)
        return GIVE(cl_build_status, program->built ? CL_BUILD_SUCCESS : CL_BUILD_ERROR);
    return param == CL_PROGRAM_BUILD_LOG ? give_text("", size, value, size_ret) : CL_INVALID_VALUE;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error)
{
    const struct fpga_design *design = NULL;
    cl_kernel kernel;

    if (!fpga_is(program, FPGA_PROGRAM) || !program->built)
        return made(NULL, CL_INVALID_PROGRAM_EXECUTABLE, error);
    for (unsigned i = 0; i < program->n_designs; i++)
        if (!strcmp(program->designs[i]->name, name))
            design = program->designs[i];
    if (!design)
        return made(NULL, CL_INVALID_KERNEL_NAME, error);
    kernel = fpga_create(FPGA_KERNEL, sizeof *kernel);
    if (kernel) {
        ref(program);
        kernel->program = program;
        kernel->design = design;
    }
    return made(kernel, CL_SUCCESS, error);
}

static cl_int CL_API_CALL create_kernels(cl_program program, cl_uint n, cl_kernel *kernels, cl_uint *n_ret)
{
    if (!fpga_is(program, FPGA_PROGRAM) || !program->built)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    for (unsigned i = 0; kernels && i < n && i < program->n_designs; i++)
        kernels[i] = create_kernel(program, program->designs[i]->name, NULL);
    if (n_ret)
        *n_ret = program->n_designs;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel)
{
    return release(kernel, FPGA_KERNEL, CL_INVALID_KERNEL);
}

/* An argument is the kernel's own copy, so that launches have theirs. Buffers aren't kept alive by kernels. */
static cl_int CL_API_CALL set_kernel_arg(cl_kernel kernel, cl_uint i, size_t size, const void *value)
{
    size_t expected;

    if (!fpga_is(kernel, FPGA_KERNEL))
        return CL_INVALID_KERNEL;
    if (i >= kernel->design->n_args)
        return CL_INVALID_ARG_INDEX;
    expected = kernel->design->sizes[i];
    if (size != (expected ? expected : sizeof(cl_mem)))
        return CL_INVALID_ARG_SIZE;
    if (expected && !value)
        return CL_INVALID_ARG_VALUE;
    if (expected)
        memcpy(kernel->args[i].value, value, size);
    else
        kernel->args[i].mem = value ? *(const cl_mem *)value : NULL;
    kernel->args[i].set = true;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info param, size_t size, void *value,
                                          size_t *size_ret)
{
    if (param == CL_KERNEL_NUM_ARGS)
        return GIVE(cl_uint, kernel->design->n_args);
    if (param == CL_KERNEL_FUNCTION_NAME)
        return give_text(kernel->design->name, size, value, size_ret);
    return param == CL_KERNEL_ATTRIBUTES ? give_text("", size, value, size_ret) : CL_INVALID_VALUE;
}

/* A bitstream doesn't tell. */
static cl_int CL_API_CALL get_arg_info(cl_kernel kernel, cl_uint i, cl_kernel_arg_info param, size_t size, void *value,
                                       size_t *size_ret)
{
    (void)kernel, (void)i, (void)param, (void)size, (void)value, (void)size_ret;
    return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
}

static cl_int CL_API_CALL get_work_group_info(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info param,
                                              size_t size, void *value, size_t *size_ret)
{
    (void)kernel, (void)device;
    switch (param) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        return GIVE(size_t, 256);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return GIVE(size_t, 1);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return give((size_t[]){0, 0, 0}, 3 * sizeof(size_t), size, value, size_ret);
    case CL_KERNEL_GLOBAL_WORK_SIZE: /* asked of built-in kernels alone */
        return give((size_t[]){1 << 20, 16, 1}, 3 * sizeof(size_t), size, value, size_ret);
    case CL_KERNEL_LOCAL_MEM_SIZE:
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        return GIVE(cl_ulong, 0);
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info param, size_t size, void *value,
                                         size_t *size_ret)
{
    cl_int status;

    if (!fpga_is(event, FPGA_EVENT))
        return CL_INVALID_EVENT;
    if (param != CL_EVENT_COMMAND_EXECUTION_STATUS)
        return CL_INVALID_VALUE;
    pthread_mutex_lock(&fpga_lock);
    status = event->status;
    pthread_mutex_unlock(&fpga_lock);
    return GIVE(cl_int, status);
}

static cl_int CL_API_CALL get_profiling_info(cl_event event, cl_profiling_info param, size_t size, void *value,
                                             size_t *size_ret)
{
    cl_ulong time = 0;
    bool known;

    if (!fpga_is(event, FPGA_EVENT) || param < CL_PROFILING_COMMAND_QUEUED || param > CL_PROFILING_COMMAND_END)
        return fpga_is(event, FPGA_EVENT) ? CL_INVALID_VALUE : CL_INVALID_EVENT;
    pthread_mutex_lock(&fpga_lock);
    known = event->queue && event->queue->properties & CL_QUEUE_PROFILING_ENABLE && event->status == CL_COMPLETE;
    time = event->times[param - CL_PROFILING_COMMAND_QUEUED];
    pthread_mutex_unlock(&fpga_lock);
    return known ? GIVE(cl_ulong, time) : CL_PROFILING_INFO_NOT_AVAILABLE;
}

static cl_int CL_API_CALL release_event(cl_event event)
{
    return release(event, FPGA_EVENT, CL_INVALID_EVENT);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static cl_event new_command(cl_command_queue queue, cl_command_type type)
{
    cl_event command = fpga_is(queue, FPGA_QUEUE) ? fpga_create(FPGA_EVENT, sizeof *command) : NULL;

    if (!command)
        return NULL;
    ref(queue);
    ref(queue->context);
    command->queue = queue;
    command->context = queue->context;
    command->type = type;
    command->region[0] = command->region[1] = command->region[2] = 1;
    return command;
}

struct waits {
    cl_uint n;
    const cl_event *events;
    cl_event *event;
};

static struct fpga_side mem_side(cl_mem mem, size_t offset)
{
    return (struct fpga_side){.mem = mem, .origin = {offset, 0, 0}};
}

static struct fpga_side rect_side(cl_mem mem, const void *host, const size_t *origin, size_t row, size_t slice)
{
    struct fpga_side side = {.mem = mem, .host = (char *)(uintptr_t)host, .row_pitch = row, .slice_pitch = slice};

    memcpy(side.origin, origin, sizeof side.origin);
    return side;
}

static bool fits(const struct fpga_side *side, const size_t region[3])
{
    size_t last = (side->origin[2] + region[2] - 1) * side->slice_pitch +
                  (side->origin[1] + region[1] - 1) * side->row_pitch + side->origin[0] + region[0];

    return !side->mem || (fpga_is(side->mem, FPGA_MEM) && last <= side->mem->size);
}

static cl_int transfer(cl_command_queue queue, cl_command_type type, const struct fpga_side *dst,
                       const struct fpga_side *src, const size_t region[3], bool blocking, struct waits waits)
{
    cl_int error = fpga_check_waits(waits.n, waits.events);
    cl_event command;

    if (error)
        return error;
    if (!region[0] || !region[1] || !region[2] || !fits(dst, region) || !fits(src, region))
        return CL_INVALID_VALUE;
    command = new_command(queue, type);
    if (!command)
        return CL_INVALID_COMMAND_QUEUE;
    command->dst = *dst;
    command->src = *src;
    if (dst->mem)
        ref(dst->mem);
    if (src->mem)
        ref(src->mem);
    memcpy(command->region, region, sizeof command->region);
    return fpga_enqueue(command, waits.n, waits.events, blocking, waits.event);
}

static cl_int CL_API_CALL enqueue_read(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                                       void *host, cl_uint n, const cl_event *waits, cl_event *event)
{
    struct fpga_side dst = {.host = host}, src = mem_side(mem, offset);

    return transfer(queue, CL_COMMAND_READ_BUFFER, &dst, &src, (size_t[]){size, 1, 1}, blocking,
                    (struct waits){n, waits, event});
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset,
                                        size_t size, const void *host, cl_uint n, const cl_event *waits,
                                        cl_event *event)
{
    struct fpga_side dst = mem_side(mem, offset), src = {.host = (char *)(uintptr_t)host};

    return transfer(queue, CL_COMMAND_WRITE_BUFFER, &dst, &src, (size_t[]){size, 1, 1}, blocking,
                    (struct waits){n, waits, event});
}

static cl_int CL_API_CALL enqueue_copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                       size_t to_offset, size_t size, cl_uint n, const cl_event *waits, cl_event *event)
{
    struct fpga_side dst = mem_side(to, to_offset), src = mem_side(from, from_offset);

    return transfer(queue, CL_COMMAND_COPY_BUFFER, &dst, &src, (size_t[]){size, 1, 1}, false,
                    (struct waits){n, waits, event});
}

static cl_int CL_API_CALL enqueue_read_rect(cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t *origin,
                                            const size_t *host_origin, const size_t *region, size_t row, size_t slice,
                                            size_t host_row, size_t host_slice, void *host, cl_uint n,
                                            const cl_event *waits, cl_event *event)
{
    struct fpga_side dst = rect_side(NULL, host, host_origin, host_row, host_slice);
    struct fpga_side src = rect_side(mem, NULL, origin, row, slice);

    return transfer(queue, CL_COMMAND_READ_BUFFER_RECT, &dst, &src, region, blocking, (struct waits){n, waits, event});
}

static cl_int CL_API_CALL enqueue_write_rect(cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t *origin,
                                             const size_t *host_origin, const size_t *region, size_t row, size_t slice,
                                             size_t host_row, size_t host_slice, const void *host, cl_uint n,
                                             const cl_event *waits, cl_event *event)
{
    struct fpga_side dst = rect_side(mem, NULL, origin, row, slice);
    struct fpga_side src = rect_side(NULL, host, host_origin, host_row, host_slice);

    return transfer(queue, CL_COMMAND_WRITE_BUFFER_RECT, &dst, &src, region, blocking, (struct waits){n, waits, event});
}

static cl_int CL_API_CALL enqueue_copy_rect(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                                            const size_t *to_origin, const size_t *region, size_t from_row,
                                            size_t from_slice, size_t to_row, size_t to_slice, cl_uint n,
                                            const cl_event *waits, cl_event *event)
{
    struct fpga_side dst = rect_side(to, NULL, to_origin, to_row, to_slice);
    struct fpga_side src = rect_side(from, NULL, from_origin, from_row, from_slice);

    return transfer(queue, CL_COMMAND_COPY_BUFFER_RECT, &dst, &src, region, false, (struct waits){n, waits, event});
}

static cl_int CL_API_CALL enqueue_fill(cl_command_queue queue, cl_mem mem, const void *pattern, size_t pattern_size,
                                       size_t offset, size_t size, cl_uint n, const cl_event *waits, cl_event *event)
{
    struct fpga_side dst = mem_side(mem, offset);
    cl_int error = fpga_check_waits(n, waits);
    cl_event command;

    if (error)
        return error;
    if (!pattern_size || pattern_size > 128 || size % pattern_size || !fits(&dst, (size_t[]){size, 1, 1}))
        return CL_INVALID_VALUE;
    command = new_command(queue, CL_COMMAND_FILL_BUFFER);
    if (!command)
        return CL_INVALID_COMMAND_QUEUE;
    ref(mem);
    command->dst = dst;
    command->region[0] = size;
    memcpy(command->pattern, pattern, pattern_size);
    command->pattern_size = pattern_size;
    return fpga_enqueue(command, n, waits, false, event);
}

static cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_uint n, const cl_event *waits, cl_event *event)
{
    cl_int error = fpga_check_waits(n, waits);
    cl_event command;

    if (error)
        return error;
    command = new_command(queue, CL_COMMAND_MARKER);
    return command ? fpga_enqueue(command, n, waits, false, event) : CL_INVALID_COMMAND_QUEUE;
}

/* As OpenCL 1.0 has them: queues are in order, so what follows waits, too. */
static cl_int CL_API_CALL enqueue_marker_10(cl_command_queue queue, cl_event *event)
{
    return enqueue_marker(queue, 0, NULL, event);
}

static cl_int CL_API_CALL enqueue_waits(cl_command_queue queue, cl_uint n, const cl_event *waits)
{
    return enqueue_marker(queue, n, waits, NULL);
}

static cl_int check_launch(cl_kernel kernel, cl_uint dimensions, const size_t *global, const size_t *local)
{
    if (!fpga_is(kernel, FPGA_KERNEL))
        return CL_INVALID_KERNEL;
    if (dimensions != 1)
        return CL_INVALID_WORK_DIMENSION; /* the designs have one */
    if (local && (!local[0] || global[0] % local[0]))
        return CL_INVALID_WORK_GROUP_SIZE;
    for (cl_uint i = 0; i < kernel->design->n_args; i++)
        if (!kernel->args[i].set)
            return CL_INVALID_KERNEL_ARGS;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t *offset, const size_t *global, const size_t *local, cl_uint n,
                                         const cl_event *waits, cl_event *event)
{
    cl_int error = check_launch(kernel, dimensions, global, local);
    cl_event command;

    if (!error)
        error = fpga_check_waits(n, waits);
    if (error)
        return error;
    command = new_command(queue, CL_COMMAND_NDRANGE_KERNEL);
    if (!command)
        return CL_INVALID_COMMAND_QUEUE;
    ref(kernel);
    command->kernel = kernel;
    command->range.begin = offset ? offset[0] : 0;
    command->range.end = command->range.begin + global[0];
    memcpy(command->args, kernel->args, sizeof command->args);
    for (cl_uint i = 0; i < kernel->design->n_args; i++)
        if (command->args[i].mem)
            ref(command->args[i].mem);
    return fpga_enqueue(command, n, waits, false, event);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

NAMED(create_sub_buffer, clCreateSubBuffer);
NAMED(enqueue_read_rect, clEnqueueReadBufferRect);
NAMED(enqueue_write_rect, clEnqueueWriteBufferRect);
NAMED(enqueue_copy_rect, clEnqueueCopyBufferRect);

/* ---- The table --------------------------------------------------------------------------------------------------- */

const cl_icd_dispatch fpga_dispatch = {
    .clGetPlatformIDs = get_platform_ids,
    .clGetPlatformInfo = get_platform_info,
    .clGetDeviceIDs = get_device_ids,
    .clGetDeviceInfo = get_device_info,
    .clCreateContext = create_context,
    .clReleaseContext = release_context,
    .clCreateCommandQueue = create_queue,
    .clReleaseCommandQueue = release_queue,
    .clCreateBuffer = create_buffer,
    .clCreateSubBuffer = create_sub_buffer,
    .clReleaseMemObject = release_mem,
    .clCreateSampler = create_sampler,
    .clReleaseSampler = release_sampler,
    .clCreateProgramWithSource = program_with_source,
    .clCreateProgramWithBinary = program_with_binary,
    .clCreateProgramWithBuiltInKernels = program_with_built_ins,
    .clReleaseProgram = release_program,
    .clBuildProgram = build_program,
    .clCompileProgram = compile_program,
    .clGetProgramInfo = get_program_info,
    .clGetProgramBuildInfo = get_build_info,
    .clCreateKernel = create_kernel,
    .clCreateKernelsInProgram = create_kernels,
    .clReleaseKernel = release_kernel,
    .clSetKernelArg = set_kernel_arg,
    .clGetKernelInfo = get_kernel_info,
    .clGetKernelArgInfo = get_arg_info,
    .clGetKernelWorkGroupInfo = get_work_group_info,
    .clWaitForEvents = fpga_wait_for_events,
    .clGetEventInfo = get_event_info,
    .clReleaseEvent = release_event,
    .clSetEventCallback = fpga_set_event_callback,
    .clCreateUserEvent = fpga_create_user_event,
    .clSetUserEventStatus = fpga_set_user_event_status,
    .clGetEventProfilingInfo = get_profiling_info,
    .clFlush = fpga_flush,
    .clFinish = fpga_finish,
    .clEnqueueReadBuffer = enqueue_read,
    .clEnqueueWriteBuffer = enqueue_write,
    .clEnqueueCopyBuffer = enqueue_copy,
    .clEnqueueReadBufferRect = enqueue_read_rect,
    .clEnqueueWriteBufferRect = enqueue_write_rect,
    .clEnqueueCopyBufferRect = enqueue_copy_rect,
    .clEnqueueFillBuffer = enqueue_fill,
    .clEnqueueMarker = enqueue_marker_10,
    .clEnqueueWaitForEvents = enqueue_waits,
    .clEnqueueMarkerWithWaitList = enqueue_marker,
    .clEnqueueNDRangeKernel = enqueue_kernel,
};

/* A function as an address, as POSIX promises that it works. */
#define ADDRESS(function) (*(void **)&(function))

__attribute__((visibility("default"))) void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    static cl_int(CL_API_CALL * ids)(cl_uint, cl_platform_id *, cl_uint *) = get_platform_ids;
    static cl_int(CL_API_CALL * info)(cl_platform_id, cl_platform_info, size_t, void *, size_t *) = get_platform_info;

    if (!strcmp(name, "clIcdGetPlatformIDsKHR"))
        return ADDRESS(ids);
    return strcmp(name, "clGetPlatformInfo") ? NULL : ADDRESS(info);
}
