/* Other code for programs and kernels that a node has: a text for windows, and what stands in a kernel's place. */
#include "remote/internal.h"

#include <stdlib.h>
#include <string.h>

/* Asks; the content is said if the node lacks it. */
static cl_int ask_with(struct remote_node *node, struct tsl_remote_request *request, const void *content, size_t size,
                       void **answer)
{
    size_t answer_size;
    cl_int error = remote_ask(node, request, answer, &answer_size);

    if (error == TSL_REMOTE_LACKS) {
        free(*answer);
        request->data = content;
        request->data_size = size;
        error = remote_ask(node, request, answer, &answer_size);
    }
    return error > CL_SUCCESS ? CL_OUT_OF_RESOURCES : error;
}

/* ---- Texts for windows ------------------------------------------------------------------------------------------- */

/* Its kernels are others from then on. */
static void add_to_content(struct remote_program *program, const uint8_t text[TSL_DIGEST_SIZE])
{
    struct tsl_digest sum;

    tsl_digest_begin(&sum);
    tsl_digest_add(&sum, program->content, TSL_DIGEST_SIZE);
    tsl_digest_add(&sum, text, TSL_DIGEST_SIZE);
    tsl_digest_end(&sum, program->content);
}

cl_int remote_windows_by(struct tsl_dprogram *program, const struct tsl_program_input *text)
{
    struct remote_program *p = (struct remote_program *)program;
    struct remote_member *m = remote_member_of(program->member);
    struct tsl_remote_request request = {.kind = TSL_REMOTE_WINDOWS_BY, .of = p->id};
    struct tsl_writer content = {.size = 0};
    void *answer = NULL;
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    if (!m->path->is.windows_by)
        return CL_INVALID_OPERATION;
    remote_describe(&request.build, text);
    tsl_remote_put_content(&content, &request);
    if (!content.failed) {
        tsl_remote_digest(content.data, content.size, request.digest);
        error = ask_with(m->node, &request, content.data, content.size, &answer);
    }
    if (!error)
        add_to_content(p, request.digest);
    free(answer);
    free(content.data);
    return error;
}

/* ---- What stands in a kernel's place ----------------------------------------------------------------------------- */

/* Of a call: the file that the node has, too. After an error *log tells why. */
static cl_int describe_file(struct tsl_remote_request *request, const struct tsl_substitute *what, char **log)
{
    const struct tsl_call_file *file = what->file;

    if (!file) {
        *log = strdup("the function is the program's own, which other processes don't have");
        return CL_INVALID_OPERATION;
    }
    request->is_file = true;
    request->trial = file->trial;
    request->size = file->align;
    request->name = (char *)file->name;
    request->library = (char *)file->library;
    request->text = (char *)file->function;
    if (tsl_remote_digest_file(file->library, request->digest))
        return CL_SUCCESS;
    *log = strdup("its library can't be read");
    return CL_INVALID_BINARY;
}

static cl_int describe_code(struct tsl_remote_request *request, const struct tsl_substitute *what)
{
    request->text = (char *)what->function;
    tsl_remote_digest(what->code, what->code_size, request->digest);
    return what->code_size ? CL_SUCCESS : CL_INVALID_BINARY;
}

static cl_int make(struct remote_kernel *original, const struct tsl_substitute *what, struct remote_kernel *made,
                   char **log)
{
    struct remote_node *node = remote_member_of(original->base.program->member)->node;
    struct tsl_remote_request request = {.kind = TSL_REMOTE_SUBSTITUTE, .of = original->id};
    cl_int error = what->call ? describe_file(&request, what, log) : describe_code(&request, what);
    void *answer = NULL;

    if (error)
        return error;
    made->base.program = original->base.program;
    remote_lock(node->connection);
    request.id = made->id = remote_new_id_locked(node->connection);
    remote_unlock(node->connection);
    error = ask_with(node, &request, what->code, what->code_size, &answer);
    *log = answer;
    return error;
}

cl_int remote_substitute(struct tsl_dkernel *original, const struct tsl_substitute *what, struct tsl_dkernel **kernel,
                         char **log)
{
    struct remote_member *m = remote_member_of(original->program->member);
    struct remote_kernel *made = calloc(1, sizeof(*made));
    cl_int error = made ? CL_INVALID_OPERATION : CL_OUT_OF_HOST_MEMORY;

    *log = NULL;
    if (made && m->path->is.substitutes)
        error = make((struct remote_kernel *)original, what, made, log);
    *log = *log ? *log : strdup("");
    if (error)
        free(made);
    else
        *kernel = &made->base;
    return error;
}
