/* Questions that may take long, by threads of a crew: builds, kernels, what devices say of themselves. */
#include "base/crew.h"
#include "base/log.h"
#include "compile_client/compile.h"
#include "node/internal.h"
#include "node/other_code.h"

#include <stdlib.h>
#include <string.h>

static struct tsl_crew crew = TSL_CREW("tesela-node");

/* ---- In the crew ------------------------------------------------------------------------------------------------- */

static void answer_info(struct node_job *job)
{
    struct tsl_member *member = job->member;
    size_t size = 0;
    void *value;

    job->status = member->driver->info(member->path, job->request.param, 0, NULL, &size);
    value = job->status ? NULL : calloc(1, size + 1);
    if (!job->status && !value)
        job->status = CL_OUT_OF_HOST_MEMORY;
    if (value && size)
        job->status = member->driver->info(member->path, job->request.param, size, value, NULL);
    if (!job->status)
        tsl_write_raw(&job->answer, value, size);
    free(value);
}

static void answer_formats(struct node_job *job)
{
    const struct tsl_driver *driver = job->member->driver;
    struct tsl_format_query query = {.flags = job->request.flags, .type = job->request.param};
    cl_uint n = 0;

    if (!driver->image_formats)
        return;
    job->status = driver->image_formats(job->member, &query, &n);
    query.formats = calloc(n + 1, sizeof(*query.formats));
    query.n = n;
    if (!job->status && query.formats && n)
        job->status = driver->image_formats(job->member, &query, NULL);
    if (!job->status && query.formats)
        tsl_write_raw(&job->answer, query.formats, n * sizeof(*query.formats));
    free(query.formats);
}

struct tsl_program_input node_input_of(const struct tsl_remote_build *build)
{
    return (struct tsl_program_input){.kind = (enum tsl_program_kind)build->kind,
                                      .data = build->data,
                                      .size = build->size,
                                      .options = build->options,
                                      .text = build->has_text ? build->text : NULL,
                                      .text_size = build->text_size,
                                      .text_options = build->text_options,
                                      .n_specials = build->n_specials,
                                      .specials = build->specials,
                                      .foreign = build->foreign};
}

bool node_take_bytes(struct node_job *job, const void **bytes, size_t *size)
{
    struct tsl_remote_request *r = &job->request;
    struct node_contents *contents = &job->server->contents;

    *size = r->data_size;
    if (*size)
        job->status = node_content_keep(contents, r->digest, r->data, *size) ? CL_SUCCESS : CL_INVALID_VALUE;
    else
        job->content = node_content_get(contents, r->digest, size);
    if (!r->data_size && !job->content)
        job->status = TSL_REMOTE_LACKS;
    if (!job->status)
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "%zu bytes that a program is made of %s", *size,
                job->content ? "were here" : "came");
    *bytes = job->content ? job->content : r->data;
    return !job->status;
}

bool node_take_content(struct node_job *job)
{
    const void *bytes;
    size_t size;

    if (node_take_bytes(job, &bytes, &size) && !tsl_remote_get_content(bytes, size, &job->request))
        job->status = CL_INVALID_VALUE;
    return !job->status;
}

/* What a program with kernels says of itself. */
static void describe(const struct tsl_driver *driver, struct tsl_dprogram *program, struct tsl_remote_built *built)
{
    size_t size = 0;

    if (driver->program_kernels(program, &built->kernels))
        built->kernels = NULL;
    built->has_variables = driver->program_variables && driver->program_variables(program, &size);
    built->variables_size = size;
    built->of_text = driver->program_of_text && driver->program_of_text(program);
}

/* Of a compilation or a link that ended with job->status. */
static void answer_built(struct node_job *job, struct tsl_remote_built *built)
{
    struct node_program *program = (struct node_program *)job->made;

    if (job->status)
        program->program = NULL;
    else if (!program->linkable)
        describe(job->member->driver, program->program, built);
    tsl_remote_put_built(&job->answer, built);
    tsl_remote_built_finish(built);
}

/* What the files hold isn't part of the content by which programs are shared. */
static bool reads_files(const struct tsl_program_input *input)
{
    return input->kind == TSL_PROGRAM_SOURCE && tsl_compile_reads_files(input->data, input->size);
}

static void build(struct node_job *job, struct node_built *built)
{
    const struct tsl_program_input input = node_input_of(&job->request.build);
    struct tsl_remote_built said = {.log = NULL};

    job->status = job->member->driver->build(job->member, &input, &built->program, &said.log);
    if (job->status)
        built->program = NULL;
    else
        describe(job->member->driver, built->program, &said);
    tsl_remote_put_built(&built->answer, &said);
    built->content_size = input.size + input.text_size;
    if (built->answer.failed && !job->status)
        job->status = CL_OUT_OF_HOST_MEMORY;
    node_built_end(&job->server->builts, built, !job->status && !said.has_variables && !reads_files(&input));
    tsl_remote_built_finish(&said);
}

static void answer_build(struct node_job *job)
{
    struct node_program *program = (struct node_program *)job->made;
    struct node_built *built;
    bool is_new;

    if (!node_take_content(job))
        return;
    built = node_built_take(&job->server->builts, job->member, job->request.digest, &is_new);
    if (!built) {
        job->status = CL_OUT_OF_HOST_MEMORY;
        return;
    }
    program->built = built;
    if (is_new)
        build(job, built);
    else
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "a program was built before");
    program->program = built->program;
    if (!built->answer.failed)
        tsl_write_raw(&job->answer, built->answer.data, built->answer.size);
}

static void compile(struct node_job *job)
{
    const struct tsl_remote_request *r = &job->request;
    const struct tsl_program_input input = node_input_of(&r->build);
    struct tsl_program_header *headers = calloc(r->n_headers + 1, sizeof(*headers));
    const struct tsl_program_headers list = {r->n_headers, headers};
    struct node_program *program = (struct node_program *)job->made;
    struct tsl_remote_built built = {.log = NULL};

    job->status = CL_OUT_OF_HOST_MEMORY;
    program->linkable = true;
    for (uint32_t i = 0; headers && i < r->n_headers; i++)
        headers[i] = (struct tsl_program_header){r->headers[i].name, r->headers[i].text, r->headers[i].size};
    if (headers)
        job->status = job->member->driver->compile(job->member, &input, &list, &program->program, &built.log);
    answer_built(job, &built);
    free(headers);
}

static void answer_compile(struct node_job *job)
{
    if (node_take_content(job))
        compile(job);
}

static void answer_link(struct node_job *job)
{
    const struct tsl_link_input input = {job->request.text, job->n_inputs, job->inputs};
    struct node_program *program = (struct node_program *)job->made;
    struct tsl_remote_built built = {.log = NULL};

    program->linkable = strstr(input.options, "-create-library") != NULL;
    job->status = job->member->driver->link(job->member, &input, &program->program, &built.log);
    answer_built(job, &built);
}

static void answer_binary(struct node_job *job)
{
    struct node_program *program = (struct node_program *)job->of;
    void *data = NULL;
    size_t size = 0;

    job->status = job->member->driver->program_binary(program->program, &data, &size);
    if (!job->status && data)
        tsl_write_raw(&job->answer, data, size);
    if (!job->status)
        free(data);
}

static void answer_kernel(struct node_job *job)
{
    struct node_kernel *kernel = (struct node_kernel *)job->made;

    if (kernel->program->built)
        node_built_begin_kernel(&job->server->builts, kernel->program->built);
    job->status = job->member->driver->kernel_create(kernel->program->program, job->request.text, &kernel->kernel,
                                                     &kernel->facts);
    if (job->status)
        kernel->kernel = NULL;
    else
        tsl_remote_put_facts(&job->answer, &kernel->facts);
}

static void answer_windows(struct node_job *job)
{
    struct node_kernel *kernel = (struct node_kernel *)job->of;
    struct tsl_reader reader = tsl_reader_of(job->request.data, job->request.data_size);
    struct tsl_kernel_facts facts;

    if (!tsl_remote_get_facts(&reader, &facts)) {
        job->status = CL_INVALID_VALUE;
        return;
    }
    tsl_write_u8(&job->answer, job->member->driver->windows_ok(kernel->kernel, &facts));
    tsl_kernel_facts_finish(&facts);
}

/* Has the program had that answer before? */
static bool is_known(const struct node_job *job)
{
    uint8_t digest[TSL_DIGEST_SIZE];

    if (job->status || job->answer.failed || !job->answer.size ||
        (job->request.kind != TSL_REMOTE_BINARY && job->request.kind != TSL_REMOTE_KERNEL))
        return false;
    tsl_remote_digest(job->answer.data, job->answer.size, digest);
    return memcmp(digest, job->request.digest, sizeof(digest)) == 0;
}

static void answer(struct node_job *job)
{
    switch (job->request.kind) {
    case TSL_REMOTE_INFO:
        answer_info(job);
        break;
    case TSL_REMOTE_FORMATS:
        answer_formats(job);
        break;
    case TSL_REMOTE_BUILD:
        answer_build(job);
        break;
    case TSL_REMOTE_COMPILE:
        answer_compile(job);
        break;
    case TSL_REMOTE_LINK:
        answer_link(job);
        break;
    case TSL_REMOTE_BINARY:
        answer_binary(job);
        break;
    case TSL_REMOTE_KERNEL:
        answer_kernel(job);
        break;
    case TSL_REMOTE_WINDOWS:
        answer_windows(job);
        break;
    case TSL_REMOTE_WINDOWS_BY:
        node_answer_windows_by(job);
        break;
    case TSL_REMOTE_SUBSTITUTE:
        node_answer_substitute(job);
        break;
    default:
        tsl_write_u8(&job->answer, job->member->driver->can_combine && job->member->driver->can_combine(job->member));
    }
}

static void run(struct tsl_job *base)
{
    struct node_job *job = (struct node_job *)base;
    struct node_server *server = job->server;

    answer(job);
    job->is_same = is_known(job);
    pthread_mutex_lock(&server->lock);
    job->next = server->jobs;
    server->jobs = job;
    pthread_cond_signal(&server->wake);
    pthread_mutex_unlock(&server->lock);
    node_wake(server);
}

/* ---- In the server's thread -------------------------------------------------------------------------------------- */

/* The programs that are linked: compiled on that member, each there. */
static bool find_inputs(struct node_job *job)
{
    const struct tsl_remote_request *r = &job->request;

    job->inputs = calloc(r->n_programs + 1, sizeof(*job->inputs));
    job->input_objects = calloc(r->n_programs + 1, sizeof(*job->input_objects));
    for (uint32_t i = 0; job->inputs && job->input_objects && i < r->n_programs; i++) {
        struct node_program *program = (struct node_program *)node_find(job->session, r->programs[i], NODE_PROGRAM);

        if (!program || !program->linkable || program->object.member != job->member)
            return false;
        node_ref(&program->object);
        job->input_objects[i] = &program->object;
        job->inputs[i] = program->program;
        job->n_inputs++;
    }
    return job->inputs && job->input_objects;
}

/* The kernel that the question is about, or the program. A text for windows comes before all kernels, and while it is
 * given nothing else is asked of that program. */
static bool find_object(struct node_job *job)
{
    const struct tsl_remote_request *r = &job->request;
    bool is_kernel = r->kind == TSL_REMOTE_WINDOWS || r->kind == TSL_REMOTE_SUBSTITUTE;
    struct node_object *of = node_find(job->session, r->of, is_kernel ? NODE_KERNEL : NODE_PROGRAM);
    struct node_program *program = is_kernel ? NULL : (struct node_program *)of;

    if (!of)
        return false;
    if (program && (program->changes || (program->linkable && r->kind != TSL_REMOTE_BINARY) ||
                    (r->kind == TSL_REMOTE_WINDOWS_BY && (program->n_jobs || program->has_kernels))))
        return false;
    if (r->kind == TSL_REMOTE_SUBSTITUTE && ((struct node_kernel *)of)->original)
        return false;
    if (program) {
        program->changes = r->kind == TSL_REMOTE_WINDOWS_BY;
        program->has_kernels |= r->kind == TSL_REMOTE_KERNEL;
        program->n_jobs++;
    }
    job->of = of;
    job->member = of->member;
    node_ref(of);
    return true;
}

/* Nothing but what its driver has is asked of a member. */
static bool find_subject(struct node_job *job)
{
    const struct tsl_driver *driver = job->member->driver;

    switch (job->request.kind) {
    case TSL_REMOTE_COMPILE:
        return driver->compile && driver->link;
    case TSL_REMOTE_LINK:
        return driver->compile && driver->link && find_inputs(job);
    case TSL_REMOTE_BINARY:
    case TSL_REMOTE_KERNEL:
    case TSL_REMOTE_WINDOWS:
    case TSL_REMOTE_WINDOWS_BY:
    case TSL_REMOTE_SUBSTITUTE:
        return find_object(job);
    default:
        return true;
    }
}

static bool make_kernel(struct node_job *job)
{
    struct node_kernel *original = job->request.kind == TSL_REMOTE_SUBSTITUTE ? (struct node_kernel *)job->of : NULL;
    struct node_kernel *kernel = node_create(job->session, sizeof(*kernel), NODE_KERNEL, job->request.id, job->member);

    job->made = kernel ? &kernel->object : NULL;
    if (!kernel)
        return false;
    kernel->program = original ? original->program : (struct node_program *)job->of;
    node_ref(&kernel->program->object);
    kernel->original = original;
    if (original)
        node_ref(&original->object);
    return true;
}

/* And what its answer makes. */
static bool find(struct node_job *job)
{
    struct tsl_remote_request *r = &job->request;

    job->member = job->server->members[r->member];
    if (!find_subject(job))
        return false;
    if ((r->kind == TSL_REMOTE_WINDOWS_BY && !job->member->driver->windows_by) ||
        (r->kind == TSL_REMOTE_SUBSTITUTE && !job->member->driver->substitute))
        return false;
    if (r->kind == TSL_REMOTE_BUILD || r->kind == TSL_REMOTE_COMPILE || r->kind == TSL_REMOTE_LINK)
        job->made = node_create(job->session, sizeof(struct node_program), NODE_PROGRAM, r->id, job->member);
    else if (r->kind != TSL_REMOTE_KERNEL && r->kind != TSL_REMOTE_SUBSTITUTE)
        return true;
    else
        make_kernel(job);
    if (!job->made)
        return false;
    /* Nobody finds it before it is there. */
    HASH_DELETE(hh, job->session->objects, job->made);
    return true;
}

static void free_job(struct node_job *job)
{
    if (job->of && job->of->kind == NODE_PROGRAM)
        ((struct node_program *)job->of)->n_jobs--;
    node_unref(job->of);
    node_unref(job->made);
    for (uint32_t i = 0; i < job->n_inputs; i++)
        node_unref(job->input_objects[i]);
    free(job->inputs);
    free(job->input_objects);
    node_bytes_unref(job->bytes);
    tsl_remote_request_finish(&job->request);
    free(job->content);
    free(job->answer.data);
    free(job);
}

bool node_post_job(struct node_session *session, struct tsl_remote_request *request, struct node_bytes *bytes)
{
    struct node_job *job = calloc(1, sizeof(*job));

    if (!job)
        return false;
    job->job.run = run;
    job->server = session->server;
    job->session = session;
    job->request = *request;
    request->text = request->name = request->library = NULL;
    request->n_programs = 0;
    request->programs = NULL;
    job->bytes = node_bytes_ref(bytes);
    if (!find(job) || !tsl_crew_post(&crew, &job->job)) {
        free_job(job);
        return false;
    }
    session->n_jobs++;
    return true;
}

/* Of what was made while it was not there, the number may have been taken. */
static void publish(struct node_job *job)
{
    struct node_object *same;

    if (job->status || !job->made)
        return;
    HASH_FIND(hh, job->session->objects, &job->made->id, sizeof(job->made->id), same);
    if (same) {
        job->status = CL_INVALID_VALUE;
        return;
    }
    HASH_ADD(hh, job->session->objects, id, sizeof(job->made->id), job->made);
    node_ref(job->made);
}

void node_end_job(struct node_job *job)
{
    struct node_session *session = job->session;
    struct node_kernel *kernel = job->request.kind == TSL_REMOTE_WINDOWS ? (struct node_kernel *)job->of : NULL;

    session->n_jobs--;
    publish(job);
    if (job->request.kind == TSL_REMOTE_WINDOWS_BY)
        node_end_windows_by(job);
    if (job->answer.failed && !job->status)
        job->status = CL_OUT_OF_HOST_MEMORY;
    if (kernel && !job->status)
        kernel->windows = job->answer.size == 1 && job->answer.data[0];
    if (job->is_same && !job->status)
        node_answer(session, job->request.answer, TSL_REMOTE_SAME, NULL, 0);
    else
        node_answer(session, job->request.answer, job->status, job->answer.data, job->answer.size);
    free_job(job);
}
