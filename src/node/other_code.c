/* Jobs: other code for programs and kernels that are there. */
#include "node/other_code.h"
#include "base/log.h"
#include "node/internal.h"
#include "variant/call.h"
#include "variant/variant.h"

#include <stdlib.h>
#include <string.h>

/* ---- Texts for windows ------------------------------------------------------------------------------------------- */

/* A program that is shared, and has kernels already, stays as it is: this one gets another, of the same content. */
static cl_int build_again(struct node_job *job, struct node_built *built)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_BUILD};
    size_t size = 0;
    char *log = NULL;
    void *content = node_content_get(&job->server->contents, built->digest, &size);
    cl_int error = content ? CL_SUCCESS : CL_INVALID_OPERATION;

    if (!error && !tsl_remote_get_content(content, size, &request))
        error = CL_INVALID_OPERATION;
    if (!error) {
        const struct tsl_program_input input = node_input_of(&request.build);

        error = job->member->driver->build(job->member, &input, &built->program, &log);
    }
    if (error)
        built->program = NULL;
    tsl_remote_request_finish(&request);
    built->content_size = size;
    free(content);
    free(log);
    return error;
}

static cl_int give_text(struct node_job *job, struct tsl_dprogram *program)
{
    const struct tsl_program_input text = node_input_of(&job->request.build);

    return job->member->driver->windows_by(program, &text);
}

/* Another one, which nobody has yet. It is shared if the first one is: that has variables of its own, or is made of
 * files, or not. */
static cl_int make_other(struct node_job *job, struct node_built *other, const struct node_built *like)
{
    cl_int error = build_again(job, other);

    if (!error && like->answer.size)
        tsl_write_raw(&other->answer, like->answer.data, like->answer.size);
    if (!error && other->answer.failed)
        error = CL_OUT_OF_HOST_MEMORY;
    other->windows_status = error ? error : give_text(job, other->program);
    node_built_end(&job->server->builts, other, !error && like->listed);
    return other->windows_status;
}

static void give_to_shared(struct node_job *job, struct node_program *program)
{
    struct node_builts *builts = &job->server->builts;
    bool is_new;

    switch (node_built_claim_windows(builts, program->built, job->request.digest)) {
    case NODE_WINDOWS_ARE_THERE:
        job->status = program->built->windows_status;
        return;
    case NODE_WINDOWS_CLAIMED:
        job->status = give_text(job, program->built->program);
        node_built_end_windows(builts, program->built, job->status);
        return;
    case NODE_WINDOWS_CANNOT_BE:
        break;
    }
    job->other = node_built_take_with(builts, program->built, job->request.digest, &is_new);
    if (!job->other)
        job->status = CL_OUT_OF_HOST_MEMORY;
    else
        job->status = is_new ? make_other(job, job->other, program->built) : job->other->windows_status;
}

void node_answer_windows_by(struct node_job *job)
{
    struct node_program *program = (struct node_program *)job->of;

    if (!node_take_content(job))
        return;
    if (program->built)
        give_to_shared(job, program);
    else
        job->status = give_text(job, program->program);
}

/* In the server's thread. One that failed is dropped. */
void node_end_windows_by(struct node_job *job)
{
    struct node_program *program = (struct node_program *)job->of;
    struct node_builts *builts = &job->server->builts;

    program->changes = false;
    if (!job->other)
        return;
    if (job->other->program) {
        node_built_unref(builts, program->built);
        program->built = job->other;
        program->program = job->other->program;
    } else {
        node_built_unref(builts, job->other);
    }
    job->other = NULL;
}

/* ---- What stands in a kernel's place ----------------------------------------------------------------------------- */

static void substitute_file(struct node_job *job, struct node_kernel *kernel)
{
    const struct tsl_remote_request *r = &job->request;
    const struct tsl_call_file file = {r->name, r->library, r->text, (size_t)r->size, r->trial};
    struct tsl_substitute what = {.file = &file, .function = r->text};
    struct tsl_call call;
    const char *why = "";
    char *log = NULL;

    kernel->variant = node_function_take(&job->server->functions, &file, r->digest, &why);
    if (!kernel->variant) {
        job->status = CL_INVALID_BINARY;
        tsl_write_raw(&job->answer, why, strlen(why));
        return;
    }
    call = tsl_variant_call(kernel->variant);
    what.call = &call;
    job->status = job->member->driver->substitute(kernel->original->kernel, &what, &kernel->kernel, &log);
    tsl_write_raw(&job->answer, log ? log : "", log ? strlen(log) : 0);
    free(log);
}

static void substitute_code(struct node_job *job, struct node_kernel *kernel)
{
    struct tsl_substitute what = {.function = job->request.text};
    char *log = NULL;

    if (!node_take_bytes(job, &what.code, &what.code_size))
        return;
    job->status = job->member->driver->substitute(kernel->original->kernel, &what, &kernel->kernel, &log);
    tsl_write_raw(&job->answer, log ? log : "", log ? strlen(log) : 0);
    free(log);
}

void node_answer_substitute(struct node_job *job)
{
    struct node_kernel *kernel = (struct node_kernel *)job->made;

    if (job->request.is_file)
        substitute_file(job, kernel);
    else
        substitute_code(job, kernel);
    if (job->status)
        kernel->kernel = NULL;
    else
        kernel->facts = kernel->original->facts;
}
