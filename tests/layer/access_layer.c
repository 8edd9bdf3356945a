/* See access_layer.h. */
#include "access_layer.h"

#include "compile_client/client.h"
#include "compile_client/compile.h"

#include <CL/cl_layer.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { MAX_ARGS = 64 };

/* What is known of a kernel, and what it was given. Kept after its release: the same handle may come again. */
struct watched {
    cl_kernel kernel;
    char name[128];
    cl_uint n_args;
    bool reads_only[MAX_ARGS], takes_memory[MAX_ARGS];
    cl_mem args[MAX_ARGS]; /* NULL: no memory object */
    struct watched *next;
};

/* A buffer that is to stay as it is. */
struct kept {
    cl_mem buffer;
    cl_uint arg;
    size_t size;
    void *before;
};

static const cl_icd_dispatch *real;
static cl_icd_dispatch table;
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* over all_watched and what it holds; nobody is called under it */
static struct watched *all_watched;
static struct access_counts unread, *counts = &unread;

/* ---- Access ------------------------------------------------------------------------------------------------------ */

/* Heap; NULL: there is none, or memory. */
static char *source_of(cl_program program)
{
    size_t size = 0;
    char *source = NULL;

    if (real->clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &size) == CL_SUCCESS && size > 1)
        source = calloc(1, size + 1);
    if (source)
        real->clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, source, NULL);
    return source;
}

/* Of the first device's build: in `options`. False: not all are the same, or none. */
static bool options_of(cl_program program, char *options, size_t size)
{
    cl_device_id devices[64];
    char others[4096];
    cl_uint n = 0;

    if (real->clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof n, &n, NULL) || n < 1 || n > 64 ||
        real->clGetProgramInfo(program, CL_PROGRAM_DEVICES, n * sizeof devices[0], devices, NULL) ||
        real->clGetProgramBuildInfo(program, devices[0], CL_PROGRAM_BUILD_OPTIONS, size, options, NULL))
        return false;
    for (cl_uint i = 1; i < n; i++)
        if (real->clGetProgramBuildInfo(program, devices[i], CL_PROGRAM_BUILD_OPTIONS, sizeof others, others, NULL) ||
            strcmp(options, others) != 0)
            return false;
    return true;
}

static void take_facts(struct watched *w, const struct tsl_kernel_facts *facts)
{
    if (strcmp(facts->name, w->name) != 0 || facts->n_args != w->n_args || facts->opaque)
        return;
    for (cl_uint i = 0; i < w->n_args; i++) {
        enum tsl_fact_kind kind = facts->args[i].kind;

        w->takes_memory[i] = kind == TSL_FACT_GLOBAL || kind == TSL_FACT_CONSTANT || kind == TSL_FACT_IMAGE;
        w->reads_only[i] = kind == TSL_FACT_GLOBAL && (getenv("ACCESS_LIE") || !(facts->args[i].may & TSL_MAY_WRITE));
    }
}

static bool reads_any(const struct watched *w)
{
    for (cl_uint i = 0; i < w->n_args; i++)
        if (w->reads_only[i])
            return true;
    return false;
}

static void ask(cl_program program, struct watched *w)
{
    char options[4096] = "";
    char *source = source_of(program);
    struct tsl_wire_build request = {.target = TSL_WIRE_ACCESS, .source = source, .options = options};
    struct tsl_compiled compiled;

    if (source && options_of(program, options, sizeof options)) {
        tsl_compile(&request, &compiled);
        for (uint32_t i = 0; i < compiled.built.n_kernels; i++)
            take_facts(w, &compiled.built.kernels[i].facts);
        tsl_compiled_finish(&compiled);
    }
    free(source);
    atomic_fetch_add(reads_any(w) ? &counts->known : &counts->unknown, 1);
}

static struct watched *find_locked(cl_kernel kernel)
{
    struct watched *w = all_watched;

    while (w && w->kernel != kernel)
        w = w->next;
    return w;
}

/* Takes the place of what had that handle. */
static void add(struct watched *w)
{
    struct watched *old;

    pthread_mutex_lock(&lock);
    old = find_locked(w->kernel);
    if (old) {
        w->next = old->next;
        *old = *w;
        free(w);
    } else {
        w->next = all_watched;
        all_watched = w;
    }
    pthread_mutex_unlock(&lock);
}

static void watch(cl_program program, cl_kernel kernel)
{
    struct watched *w = calloc(1, sizeof *w);

    if (!w)
        return;
    w->kernel = kernel;
    if (real->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof w->name - 1, w->name, NULL) == CL_SUCCESS &&
        real->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof w->n_args, &w->n_args, NULL) == CL_SUCCESS &&
        w->n_args <= MAX_ARGS)
        ask(program, w);
    else
        w->n_args = 0;
    add(w);
}

/* {.n_args = 0} for one that isn't known. */
static struct watched copy_of(cl_kernel kernel)
{
    struct watched *found, w = {.n_args = 0};

    pthread_mutex_lock(&lock);
    found = find_locked(kernel);
    if (found)
        w = *found;
    pthread_mutex_unlock(&lock);
    return w;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error)
{
    cl_kernel kernel = real->clCreateKernel(program, name, error);

    if (kernel)
        watch(program, kernel);
    return kernel;
}

static cl_int CL_API_CALL create_kernels(cl_program program, cl_uint n, cl_kernel *kernels, cl_uint *n_ret)
{
    cl_uint made = 0;
    cl_int error = real->clCreateKernelsInProgram(program, n, kernels, &made);

    for (cl_uint i = 0; error == CL_SUCCESS && kernels && i < made; i++)
        watch(program, kernels[i]);
    if (n_ret)
        *n_ret = made;
    return error;
}

static cl_kernel CL_API_CALL clone_kernel(cl_kernel source, cl_int *error)
{
    cl_kernel kernel = real->clCloneKernel(source, error);
    struct watched *w = kernel ? malloc(sizeof *w) : NULL;

    if (w) {
        *w = copy_of(source);
        w->kernel = kernel;
        add(w);
    }
    return kernel;
}

static cl_int CL_API_CALL set_arg(cl_kernel kernel, cl_uint arg, size_t size, const void *value)
{
    cl_int error = real->clSetKernelArg(kernel, arg, size, value);
    struct watched *w;

    pthread_mutex_lock(&lock);
    w = find_locked(kernel);
    if (w && arg < MAX_ARGS && error == CL_SUCCESS) {
        w->args[arg] = NULL;
        if (size == sizeof(cl_mem) && value && w->takes_memory[arg])
            memcpy(&w->args[arg], value, size);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* Is all done that was enqueued, and that the launch waits for? User events may still be set by who would wait here. */
static bool settles(cl_command_queue queue, cl_uint n, const cl_event *list)
{
    cl_event marker;
    cl_int status = CL_QUEUED;

    for (cl_uint i = 0; i < n; i++)
        if (real->clGetEventInfo(list[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) ||
            status > 0)
            return false;
    if (real->clEnqueueMarker(queue, &marker))
        return false;
    real->clFlush(queue);
    for (unsigned i = 0; i < 20000; i++) {
        if (real->clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) ||
            status <= CL_COMPLETE)
            break;
        usleep(100);
    }
    real->clReleaseEvent(marker);
    return status <= CL_COMPLETE;
}

/* A copy on the device first: some buffers may not be read by the host. NULL: it can't be had. */
static void *bytes_of(cl_command_queue queue, cl_mem buffer, size_t size)
{
    cl_context context = NULL;
    cl_mem copy;
    cl_int error;
    void *bytes = malloc(size + 1);

    real->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
    copy = real->clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, &error);
    if (!error)
        error = real->clEnqueueCopyBuffer(queue, buffer, copy, 0, 0, size, 0, NULL, NULL);
    if (!error)
        error = real->clFinish(queue);
    if (!error && bytes)
        error = real->clEnqueueReadBuffer(queue, copy, CL_TRUE, 0, size, bytes, 0, NULL, NULL);
    if (copy)
        real->clReleaseMemObject(copy);
    if (!error)
        return bytes;
    free(bytes);
    return NULL;
}

/* Whose memory it is. */
static cl_mem root_of(cl_mem object)
{
    cl_mem parent = NULL;

    real->clGetMemObjectInfo(object, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(cl_mem), &parent, NULL);
    return parent ? parent : object;
}

static bool is_memory(cl_mem object)
{
    size_t size;

    return object && real->clGetMemObjectInfo(object, CL_MEM_SIZE, sizeof size, &size, NULL) == CL_SUCCESS;
}

/* Is it also an argument that may be written? */
static bool is_shared(const struct watched *w, cl_uint arg)
{
    for (cl_uint i = 0; i < w->n_args; i++)
        if (!w->reads_only[i] && is_memory(w->args[i]) && root_of(w->args[i]) == root_of(w->args[arg]))
            return true;
    return false;
}

/* How many of `kept` there are. */
static unsigned keep(cl_command_queue queue, const struct watched *w, struct kept *kept)
{
    unsigned n = 0;

    for (cl_uint i = 0; i < w->n_args; i++) {
        struct kept one = {.buffer = w->args[i], .arg = i};

        if (!w->reads_only[i] || !is_memory(one.buffer))
            continue;
        if (is_shared(w, i)) {
            atomic_fetch_add(&counts->shared, 1);
            continue;
        }
        real->clGetMemObjectInfo(one.buffer, CL_MEM_SIZE, sizeof one.size, &one.size, NULL);
        one.before = bytes_of(queue, one.buffer, one.size);
        if (one.before)
            kept[n++] = one;
    }
    return n;
}

static void look(cl_command_queue queue, const struct watched *w, const struct kept *kept)
{
    char *after = bytes_of(queue, kept->buffer, kept->size), *before = kept->before;
    size_t at = 0;

    if (!after)
        return;
    atomic_fetch_add(&counts->copies, 1);
    if (memcmp(before, after, kept->size) != 0) {
        while (before[at] == after[at])
            at++;
        atomic_fetch_add(&counts->differences, 1);
        fprintf(stderr, "ACCESS: kernel %s writes argument %u, which it is said to read only: byte %zu of %zu\n",
                w->name, kept->arg, at, kept->size);
        abort();
    }
    free(after);
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dim, const size_t *offset,
                                 const size_t *global, const size_t *local, cl_uint n, const cl_event *list,
                                 cl_event *event)
{
    struct kept kept[MAX_ARGS];
    struct watched w = copy_of(kernel);
    unsigned n_kept = 0;
    cl_int error;

    if (reads_any(&w)) {
        if (settles(queue, n, list))
            n_kept = keep(queue, &w, kept);
        atomic_fetch_add(n_kept ? &counts->launches : &counts->skipped, 1);
    }
    error = real->clEnqueueNDRangeKernel(queue, kernel, dim, offset, global, local, n, list, event);
    for (unsigned i = 0; i < n_kept; i++) {
        if (error == CL_SUCCESS)
            look(queue, &w, &kept[i]);
        free(kept[i].before);
    }
    return error;
}

static cl_int CL_API_CALL task(cl_command_queue queue, cl_kernel kernel, cl_uint n, const cl_event *list,
                               cl_event *event)
{
    const size_t one = 1;

    return launch(queue, kernel, 1, NULL, &one, &one, n, list, event);
}

/* ---- The layer --------------------------------------------------------------------------------------------------- */

static void open_counts(void)
{
    const char *path = getenv("ACCESS_COUNTS");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    void *map = MAP_FAILED;

    if (file >= 0 && ftruncate(file, sizeof *counts) == 0)
        map = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (map != MAP_FAILED)
        counts = map;
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param, size_t size, void *value, size_t *size_ret)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

    if (param != CL_LAYER_API_VERSION)
        return CL_INVALID_VALUE;
    if (value && size >= sizeof version)
        memcpy(value, &version, sizeof version);
    if (size_ret)
        *size_ret = sizeof version;
    return CL_SUCCESS;
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ret,
                                                   const cl_icd_dispatch **layer)
{
    const char *build = getenv("TESELA_BUILD");
    char *compiler;

    if (!build || n < sizeof table / sizeof(void *) || asprintf(&compiler, "%s/kc/tesela-kc", build) < 0)
        return CL_INVALID_VALUE;
    tsl_client_set_program(compiler, NULL);
    open_counts();
    real = target;
    table.clCreateKernel = create_kernel;
    table.clCreateKernelsInProgram = create_kernels;
    table.clCloneKernel = clone_kernel;
    table.clSetKernelArg = set_arg;
    table.clEnqueueNDRangeKernel = launch;
    table.clEnqueueTask = task;
    *n_ret = sizeof table / sizeof(void *);
    *layer = &table;
    return CL_SUCCESS;
}
