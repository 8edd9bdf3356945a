#include "cuda_bridge/module.h"
#include "cuda_bridge/member.h"

#include "compile_client/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_SIZE 8192

struct tsl_cuda_module {
    LIST_ENTRY(tsl_cuda_module) link;
    struct tsl_cuda_member *member;
    uint8_t digest[TSL_DIGEST_SIZE]; /* of the PTX */
    unsigned refs;                   /* guarded by the lock, as all that follows until it is loaded */
    bool runs;                       /* a program has it for its own */
    bool loading;
    CUmodule module;
    cl_int error;
    char *log; /* what CUDA said, where it failed */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf; guards the list */
static pthread_cond_t loaded = PTHREAD_COND_INITIALIZER;
static LIST_HEAD(, tsl_cuda_module) modules = LIST_HEAD_INITIALIZER(modules);

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* CUDA takes option values as they are where they fit into a pointer. */
static CUresult load_data(CUmodule *module, const char *ptx, char *said)
{
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {said, (void *)(uintptr_t)LOG_SIZE};

    said[0] = '\0';
    return tsl_cu.cuModuleLoadDataEx(module, ptx, 2, options, values);
}

/* Says in m->log what CUDA's own compiler said. */
static cl_int load(struct tsl_cuda_module *m, const struct tsl_cuda_image *image)
{
    char *said = calloc(1, LOG_SIZE);
    const char *name = "";
    CUresult result;
    cl_int error = said ? tsl_cuda_enter(m->member) : CL_OUT_OF_HOST_MEMORY;

    if (!error) {
        result = load_data(&m->module, image->data, said);
        tsl_cuda_leave(m->member);
        error = tsl_cuda_error(m->member, result);
        tsl_cu.cuGetErrorName(result, &name);
        if (error && result != CUDA_ERROR_OUT_OF_MEMORY && !tsl_member_is_lost(&m->member->base))
            error = CL_BUILD_PROGRAM_FAILURE;
    }
    if (error && asprintf(&m->log, "CUDA could not load the program: %s%s%s", name ? name : "",
                          said && *said ? "\n" : "", said ? said : "") < 0)
        m->log = NULL;
    free(said);
    return error;
}

/* ---- Sharing ----------------------------------------------------------------------------------------------------- */

static struct tsl_cuda_module *find_locked(const struct tsl_cuda_member *member, const uint8_t *digest, bool runs)
{
    struct tsl_cuda_module *m;

    LIST_FOREACH(m, &modules, link)
    if (m->member == member && !m->error && !(runs && m->runs) && memcmp(m->digest, digest, TSL_DIGEST_SIZE) == 0)
        return m;
    return NULL;
}

/* In the list, to be loaded by the caller. NULL without memory. */
static struct tsl_cuda_module *add_locked(struct tsl_cuda_member *member, const uint8_t *digest)
{
    struct tsl_cuda_module *m = calloc(1, sizeof(*m));

    if (!m)
        return NULL;
    m->member = member;
    memcpy(m->digest, digest, TSL_DIGEST_SIZE);
    m->loading = true;
    LIST_INSERT_HEAD(&modules, m, link);
    return m;
}

static void load_found(struct tsl_cuda_module *m, const struct tsl_cuda_image *image)
{
    cl_int error = load(m, image);

    pthread_mutex_lock(&lock);
    m->error = error;
    m->loading = false;
    pthread_cond_broadcast(&loaded);
    pthread_mutex_unlock(&lock);
}

static void digest_of(const struct tsl_cuda_image *image, uint8_t result[TSL_DIGEST_SIZE])
{
    struct tsl_digest digest;

    tsl_digest_begin(&digest);
    tsl_digest_add(&digest, image->data, image->size);
    tsl_digest_end(&digest, result);
}

cl_int tsl_cuda_module_get(struct tsl_cuda_member *member, const struct tsl_cuda_image *image, bool runs,
                           struct tsl_cuda_module **module, char **log)
{
    uint8_t digest[TSL_DIGEST_SIZE];
    struct tsl_cuda_module *m;
    bool is_new;
    cl_int error;

    /* Whoever makes the member ready may load the same: so it is ready before others find that this thread loads it. */
    error = tsl_cuda_enter(member);
    if (error)
        return error;
    tsl_cuda_leave(member);
    digest_of(image, digest);
    pthread_mutex_lock(&lock);
    m = find_locked(member, digest, runs);
    is_new = !m;
    if (is_new)
        m = add_locked(member, digest);
    if (m) {
        m->refs++;
        m->runs |= runs;
    }
    while (m && !is_new && m->loading)
        pthread_cond_wait(&loaded, &lock);
    pthread_mutex_unlock(&lock);
    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    if (is_new)
        load_found(m, image);
    error = m->error;
    if (error) {
        *log = m->log ? strdup(m->log) : NULL;
        tsl_cuda_module_put(m);
    } else {
        *module = m;
    }
    return error;
}

struct tsl_cuda_module *tsl_cuda_module_ref(struct tsl_cuda_module *module)
{
    pthread_mutex_lock(&lock);
    module->refs++;
    pthread_mutex_unlock(&lock);
    return module;
}

void tsl_cuda_module_put(struct tsl_cuda_module *module)
{
    bool last;

    if (!module)
        return;
    pthread_mutex_lock(&lock);
    last = --module->refs == 0;
    if (last)
        LIST_REMOVE(module, link);
    pthread_mutex_unlock(&lock);
    if (!last)
        return;
    if (!module->error && !tsl_cuda_enter(module->member)) {
        tsl_cuda_error(module->member, tsl_cu.cuModuleUnload(module->module));
        tsl_cuda_leave(module->member);
    }
    free(module->log);
    free(module);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static CUresult ask(CUfunction function, CUfunction_attribute attribute, int *value)
{
    *value = 0;
    return tsl_cu.cuFuncGetAttribute(value, attribute, function);
}

static CUresult ask_all(const struct tsl_cuda_module *module, const char *name, struct tsl_cuda_about *about)
{
    CUresult result = tsl_cu.cuModuleGetFunction(&about->function, module->module, name);

    if (!result)
        result = ask(about->function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &about->max_threads);
    if (!result)
        result = ask(about->function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &about->shared_size);
    if (!result)
        result = ask(about->function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &about->local_size);
    return result;
}

CUresult tsl_cuda_module_ask(const struct tsl_cuda_module *module, const char *name, const char *twin,
                             struct tsl_cuda_about *about)
{
    struct tsl_cuda_about other;
    CUresult result = ask_all(module, name, about);

    about->by_textures = NULL;
    if (result || !twin || ask_all(module, twin, &other))
        return result;
    about->by_textures = other.function;
    about->max_threads = other.max_threads < about->max_threads ? other.max_threads : about->max_threads;
    about->shared_size = other.shared_size > about->shared_size ? other.shared_size : about->shared_size;
    about->local_size = other.local_size > about->local_size ? other.local_size : about->local_size;
    return CUDA_SUCCESS;
}

struct tsl_cuda_member *tsl_cuda_module_member(const struct tsl_cuda_module *module)
{
    return module->member;
}
