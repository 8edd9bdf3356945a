#include "variant/call.h"

#include "base/log.h"
#include "base/worker.h"
#include "variant/trial.h"
#include "variant/variant.h"

#include <CL/cl_tesela.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FEW_ARGS 16u

/* Who refused so many launches and took none lacks something, most likely the library that it calls. */
#define MOST_REFUSED 4u

/* ---- In another process ------------------------------------------------------------------------------------------ */

bool tsl_variant_file(const struct tsl_variant *variant, struct tsl_call_file *file)
{
    *file = (struct tsl_call_file){variant->name, variant->file, variant->function, variant->align, variant->trial};
    return variant->kind == TSL_VARIANT_FUNCTION;
}

struct tsl_variant *tsl_variant_of_file(const struct tsl_call_file *file)
{
    struct tsl_variant *v = calloc(1, sizeof(*v));

    if (!v)
        return NULL;
    atomic_init(&v->refs, 1);
    tsl_lock_init(&v->calls);
    v->kind = TSL_VARIANT_FUNCTION;
    v->name = strdup(file->name);
    v->kernel = strdup(file->function);
    v->file = strdup(file->library);
    v->function = strdup(file->function);
    v->align = file->align;
    v->trial = file->trial;
    if (v->name && v->kernel && v->file && v->function)
        return v;
    tsl_variant_unref(v);
    return NULL;
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

bool tsl_variant_look(const struct tsl_variant *variant, const char **why)
{
    *why = "its file is not there, or can't be read";
    return variant->kind == TSL_VARIANT_GIVEN || access(variant->file, R_OK) == 0;
}

/* The function; NULL: the variant is out. Its library stays loaded. */
static cl_variant_function_tesela find(struct tsl_variant *v)
{
    cl_variant_function_tesela function = NULL;
    const char *why = NULL;

    if (!v->library) {
        v->library = dlopen(v->file, RTLD_NOW | RTLD_LOCAL);
        why = v->library ? NULL : dlerror();
    }
    if (v->library)
        function = (cl_variant_function_tesela)(uintptr_t)dlsym(v->library, v->function);
    if (!function)
        tsl_variant_put_out(v, why ? why : "its library has no such function");
    return function;
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static cl_uint kind_of(enum tsl_arg_kind kind)
{
    if (kind == TSL_ARG_MEM)
        return CL_VARIANT_MEMORY_TESELA;
    return kind == TSL_ARG_LOCAL ? CL_VARIANT_LOCAL_TESELA : CL_VARIANT_VALUE_TESELA;
}

static void set_sizes(const struct tsl_window *window, cl_variant_launch_tesela *l)
{
    l->work_dim = window->work_dim;
    for (unsigned d = 0; d < 3; d++) {
        bool used = d < window->work_dim;

        l->global_offset[d] = used ? window->global_offset[d] : 0;
        l->global_size[d] = used ? window->global_size[d] : 1;
        l->local_size[d] = window->local_size[0] ? used ? window->local_size[d] : 1 : 0;
        l->begin[d] = used && !window->whole ? window->group_begin[d] * window->local_size[d] : 0;
        l->end[d] = l->begin[d] + (used ? tsl_window_items_of(window, d) : 1);
    }
}

static cl_int call(struct tsl_variant *v, cl_variant_function_tesela function, const struct tsl_call_launch *launch)
{
    cl_variant_argument_tesela few[FEW_ARGS];
    cl_variant_argument_tesela *args = launch->n_args <= FEW_ARGS ? few : calloc(launch->n_args, sizeof(*args));
    cl_variant_launch_tesela l = {.structure_size = sizeof(l),
                                  .n_arguments = launch->n_args,
                                  .arguments = args,
                                  .stream = launch->stream,
                                  .n_threads = launch->n_threads};
    cl_int result;

    if (!args)
        return TSL_CALL_REFUSED;
    for (unsigned i = 0; i < launch->n_args; i++)
        args[i] = (cl_variant_argument_tesela){kind_of(launch->args[i].kind), launch->args[i].size, launch->args[i].at};
    set_sizes(launch->window, &l);
    result = function(&l, v->given_data);
    if (args != few)
        free(args);
    return result ? TSL_CALL_REFUSED : CL_SUCCESS;
}

/* Addresses are known here alone. */
static bool is_aligned(const struct tsl_variant *v, const struct tsl_call_launch *launch)
{
    for (unsigned i = 0; i < launch->n_args; i++)
        if (launch->args[i].kind == TSL_ARG_MEM && (uintptr_t)launch->args[i].at % v->align)
            return false;
    return true;
}

/* Otherwise each launch of a function that can't work would pay for a trial. Under the lock of calls. */
static void note_refusal(struct tsl_variant *v)
{
    if (!v->took_one && ++v->n_refused == MOST_REFUSED)
        tsl_variant_put_out(v, "it refused all of its first 4 launches");
}

/* False: this launch is the original's. */
static bool has_passed(struct tsl_variant *v, const struct tsl_call_launch *launch)
{
    const char *why = "";

    if (tsl_variant_state(v) == TSL_VARIANT_FRESH && v->kind == TSL_VARIANT_FUNCTION && v->trial && !launch->stream)
        switch (tsl_trial(v, launch, &why)) {
        case TSL_TRIAL_FAILED:
            tsl_variant_put_out(v, why);
            return false;
        case TSL_TRIAL_WELL:
            tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "the variant %s was tried in a process of its own", v->name);
            break;
        case TSL_TRIAL_REFUSED:
            note_refusal(v);
            return false;
        default:
            return false;
        }
    int fresh = TSL_VARIANT_FRESH;
    atomic_compare_exchange_strong(&v->state, &fresh, TSL_VARIANT_SERVES);
    return tsl_variant_state(v) != TSL_VARIANT_OUT;
}

static cl_int run(struct tsl_variant *v, const struct tsl_call_launch *launch)
{
    cl_variant_function_tesela function = NULL;
    cl_int result = TSL_CALL_REFUSED;

    if (tsl_variant_state(v) == TSL_VARIANT_OUT || !is_aligned(v, launch))
        return TSL_CALL_REFUSED;
    tsl_lock_take(&v->calls);
    if (has_passed(v, launch))
        function = v->kind == TSL_VARIANT_GIVEN ? v->given : find(v);
    if (function) {
        result = call(v, function, launch);
        v->took_one |= !result;
        if (result)
            note_refusal(v);
    }
    tsl_lock_give(&v->calls);
    return result;
}

/* ---- Its thread -------------------------------------------------------------------------------------------------- */

static struct tsl_worker caller = TSL_WORKER("tesela-variant");

struct call_job {
    struct tsl_job job;
    struct tsl_variant *variant;
    const struct tsl_call_launch *launch;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t ended;
    bool done;
    cl_int result;
};

/* The thread may have begun on one processor alone, which the threads that it makes would share. */
static void run_job(struct tsl_job *job)
{
    struct call_job *j = (struct call_job *)job;
    cl_int result;

    if (j->launch->processors)
        sched_setaffinity(0, sizeof(cpu_set_t), j->launch->processors);
    result = run(j->variant, j->launch);
    pthread_mutex_lock(&j->lock);
    j->result = result;
    j->done = true;
    pthread_cond_signal(&j->ended);
    pthread_mutex_unlock(&j->lock);
}

static cl_int run_here_or_there(void *self, const struct tsl_call_launch *launch)
{
    struct call_job j = {.job = {.run = run_job},
                         .variant = self,
                         .launch = launch,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .ended = PTHREAD_COND_INITIALIZER,
                         .result = TSL_CALL_REFUSED};

    if (launch->stream)
        return run(j.variant, launch);
    if (!tsl_worker_post(&caller, &j.job))
        return TSL_CALL_REFUSED;
    pthread_mutex_lock(&j.lock);
    while (!j.done)
        pthread_cond_wait(&j.ended, &j.lock);
    pthread_mutex_unlock(&j.lock);
    pthread_mutex_destroy(&j.lock);
    pthread_cond_destroy(&j.ended);
    return j.result;
}

struct tsl_call tsl_variant_call(struct tsl_variant *variant)
{
    return (struct tsl_call){.run = run_here_or_there, .self = variant};
}
