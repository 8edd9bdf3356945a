/* Programs and kernels: questions to the node, which compiles. */
#include "remote/internal.h"

#include <stdlib.h>
#include <string.h>

void remote_describe(struct tsl_remote_build *build, const struct tsl_program_input *input)
{
    *build = (struct tsl_remote_build){.kind = input->kind,
                                       .foreign = input->foreign,
                                       .data = input->data,
                                       .size = input->size,
                                       .options = (char *)input->options,
                                       .has_text = input->text != NULL,
                                       .text = input->text,
                                       .text_size = input->text_size,
                                       .text_options = (char *)input->text_options,
                                       .n_specials = input->n_specials,
                                       .specials = (struct tsl_program_special *)input->specials};
    if (build->has_text && !build->text_options)
        build->text_options = (char *)"";
}

static cl_int finish_build(struct remote_program *program, struct tsl_remote_built *built, cl_int error, char **log)
{
    *log = built->log ? built->log : strdup("");
    built->log = NULL;
    program->kernels = built->kernels;
    built->kernels = NULL;
    program->has_variables = built->has_variables;
    program->of_text = built->of_text;
    program->variables_size = (size_t)built->variables_size;
    return *log ? error : CL_OUT_OF_HOST_MEMORY;
}

/* What makes a program and answers with struct tsl_remote_built. */
static cl_int ask_built(struct remote_node *node, struct tsl_remote_request *request, struct remote_program *made,
                        char **log)
{
    struct tsl_remote_built built = {.log = NULL};
    struct tsl_reader reader;
    void *data = NULL;
    size_t size = 0;
    cl_int error = remote_ask(node, request, &data, &size);

    reader = tsl_reader_of(data, size);
    if (error != TSL_REMOTE_LACKS) {
        if (data && !tsl_remote_get_built(&reader, &built) && !error)
            error = CL_OUT_OF_RESOURCES;
        error = finish_build(made, &built, error, log);
    }
    free(data);
    return error;
}

/* *content is said if the node lacks it; NULL: there is none. */
static cl_int make(struct tsl_member *member, struct tsl_remote_request *request, const struct tsl_writer *content,
                   struct tsl_dprogram **program, char **log)
{
    struct remote_member *m = remote_member_of(member);
    struct remote_program *made = calloc(1, sizeof(*made));
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    request->member = m->path->index;
    if (made) {
        made->base.member = member;
        memcpy(made->content, request->digest, sizeof(made->content));
        remote_lock(m->node->connection);
        request->id = made->id = remote_new_id_locked(m->node->connection);
        remote_unlock(m->node->connection);
        error = ask_built(m->node, request, made, log);
        if (error == TSL_REMOTE_LACKS && content) {
            request->data = content->data;
            request->data_size = content->size;
            error = ask_built(m->node, request, made, log);
        }
        if (error > CL_SUCCESS)
            error = CL_OUT_OF_RESOURCES;
    }
    if (!error) {
        *program = &made->base;
        return CL_SUCCESS;
    }
    if (made)
        free(made->kernels);
    free(made);
    *log = *log ? *log : strdup("");
    return error;
}

static cl_int make_of_content(struct tsl_member *member, struct tsl_remote_request *request,
                              struct tsl_dprogram **program, char **log)
{
    struct tsl_writer content = {.size = 0};
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    tsl_remote_put_content(&content, request);
    if (!content.failed) {
        tsl_remote_digest(content.data, content.size, request->digest);
        error = make(member, request, &content, program, log);
    }
    free(content.data);
    *log = *log ? *log : strdup("");
    return error;
}

cl_int remote_build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                    char **log)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_BUILD};

    *log = NULL;
    remote_describe(&request.build, input);
    return make_of_content(member, &request, program, log);
}

cl_int remote_compile(struct tsl_member *member, const struct tsl_program_input *input,
                      const struct tsl_program_headers *headers, struct tsl_dprogram **program, char **log)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_COMPILE, .n_headers = headers->n};
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    *log = NULL;
    if (!remote_member_of(member)->path->is.links)
        error = CL_COMPILER_NOT_AVAILABLE;
    else
        request.headers = calloc(headers->n + 1, sizeof(*request.headers));
    if (request.headers) {
        remote_describe(&request.build, input);
        for (unsigned i = 0; i < headers->n; i++)
            request.headers[i] = (struct tsl_remote_header){(char *)headers->headers[i].name, headers->headers[i].text,
                                                            headers->headers[i].size};
        error = make_of_content(member, &request, program, log);
    }
    free(request.headers);
    *log = *log ? *log : strdup("");
    return error;
}

/* A linked program is made of what its parts are made of, and of the options. */
static void digest_link(const struct tsl_link_input *input, uint8_t digest[TSL_DIGEST_SIZE])
{
    struct tsl_digest sum;

    tsl_digest_begin(&sum);
    tsl_digest_add(&sum, "link", 5);
    tsl_digest_add(&sum, input->options, strlen(input->options) + 1);
    for (unsigned i = 0; i < input->n; i++)
        tsl_digest_add(&sum, ((struct remote_program *)input->programs[i])->content, TSL_DIGEST_SIZE);
    tsl_digest_end(&sum, digest);
}

cl_int remote_link(struct tsl_member *member, const struct tsl_link_input *input, struct tsl_dprogram **program,
                   char **log)
{
    struct tsl_remote_request request = {
        .kind = TSL_REMOTE_LINK, .text = (char *)input->options, .n_programs = input->n};
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    *log = NULL;
    if (!remote_member_of(member)->path->is.links)
        error = CL_LINKER_NOT_AVAILABLE;
    else
        request.programs = calloc(input->n + 1, sizeof(*request.programs));
    if (request.programs) {
        for (unsigned i = 0; i < input->n; i++)
            request.programs[i] = ((struct remote_program *)input->programs[i])->id;
        digest_link(input, request.digest);
        error = make(member, &request, NULL, program, log);
    }
    free(request.programs);
    *log = *log ? *log : strdup("");
    return error;
}

cl_int remote_program_binary(struct tsl_dprogram *program, void **data, size_t *size)
{
    struct remote_program *p = (struct remote_program *)program;
    struct tsl_remote_request request = {.kind = TSL_REMOTE_BINARY, .of = p->id};
    cl_int error = remote_ask_known(p, &request, data, size);

    if (error || *size == 0) {
        free(*data);
        *data = NULL;
        *size = 0;
    }
    return error;
}

static void say_free(struct tsl_member *member, enum tsl_remote_request_kind kind, uint64_t id)
{
    struct remote_node *node = remote_member_of(member)->node;

    remote_lock(node->connection);
    if (!node->lost)
        remote_say_locked(node, &(struct tsl_remote_request){.kind = kind, .id = id});
    remote_unlock(node->connection);
}

void remote_program_free(struct tsl_dprogram *program)
{
    struct remote_program *p = (struct remote_program *)program;

    say_free(program->member, TSL_REMOTE_PROGRAM_FREE, p->id);
    free(p->kernels);
    free(p);
}

bool remote_program_variables(struct tsl_dprogram *program, size_t *size)
{
    const struct remote_program *p = (const struct remote_program *)program;

    *size = p->variables_size;
    return p->has_variables;
}

bool remote_program_of_text(struct tsl_dprogram *program)
{
    return ((const struct remote_program *)program)->of_text;
}

cl_int remote_program_kernels(struct tsl_dprogram *program, char **names)
{
    const struct remote_program *p = (const struct remote_program *)program;

    *names = strdup(p->kernels ? p->kernels : "");
    return *names ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

cl_int remote_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                            struct tsl_kernel_facts *facts)
{
    struct remote_program *p = (struct remote_program *)program;
    struct remote_node *node = remote_member_of(program->member)->node;
    struct tsl_remote_request request = {.kind = TSL_REMOTE_KERNEL, .of = p->id, .text = (char *)name};
    struct remote_kernel *made = calloc(1, sizeof(*made));
    struct tsl_reader reader;
    void *data;
    size_t size;
    cl_int error;

    if (!made)
        return CL_OUT_OF_HOST_MEMORY;
    made->base.program = program;
    remote_lock(node->connection);
    request.id = made->id = remote_new_id_locked(node->connection);
    remote_unlock(node->connection);
    error = remote_ask_known(p, &request, &data, &size);
    reader = tsl_reader_of(data, size);
    if (!error && !tsl_remote_get_facts(&reader, facts)) {
        say_free(program->member, TSL_REMOTE_KERNEL_FREE, made->id);
        error = CL_OUT_OF_RESOURCES;
    }
    free(data);
    if (error)
        free(made);
    else
        *kernel = &made->base;
    return error;
}

void remote_kernel_free(struct tsl_dkernel *kernel)
{
    struct remote_kernel *k = (struct remote_kernel *)kernel;

    say_free(kernel->program->member, TSL_REMOTE_KERNEL_FREE, k->id);
    free(k);
}

bool remote_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_WINDOWS, .of = ((struct remote_kernel *)kernel)->id};
    struct tsl_writer writer = {.size = 0};
    void *data = NULL;
    size_t size = 0;
    bool ok = false;

    tsl_remote_put_facts(&writer, facts);
    request.data = writer.data;
    request.data_size = writer.size;
    if (!writer.failed && !remote_ask(remote_member_of(kernel->program->member)->node, &request, &data, &size))
        ok = size == 1 && *(const char *)data;
    free(data);
    free(writer.data);
    return ok;
}

bool remote_can_combine(struct tsl_member *member)
{
    struct remote_member *m = remote_member_of(member);
    struct tsl_remote_request request = {.kind = TSL_REMOTE_CAN_COMBINE, .member = m->path->index};
    void *data = NULL;
    size_t size = 0;
    bool can;

    pthread_mutex_lock(&m->asking);
    if (m->combines < 0) {
        m->combines =
            m->path->is.combines && !remote_ask(m->node, &request, &data, &size) && size == 1 && *(const char *)data;
        free(data);
    }
    can = m->combines > 0;
    pthread_mutex_unlock(&m->asking);
    return can;
}
