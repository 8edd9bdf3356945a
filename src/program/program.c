/*
 * Programs: creation, queries, binaries. build.c builds them.
 */
#include "base/fork.h"
#include "base/log.h"
#include "device/device.h"
#include "facts/il.h"
#include "program/build.h"
#include "program/container.h"
#include "program/idle.h"
#include "program/variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Life -------------------------------------------------------------------------------------------------------- */

void tsl_program_part_clear(struct tsl_program_part *part, struct tsl_member *member)
{
    /* In a forked child no driver is called. */
    if (part->program && !tsl_forked())
        member->driver->program_free(part->program);
    free(part->log);
    free(part->kernel_names);
    free(part->options);
    tsl_text_access_unref(part->access);
    part->program = NULL;
    part->access = NULL;
    part->has_variables = false;
    part->variables_size = 0;
    part->log = part->kernel_names = part->options = NULL;
}

static void destroy_program(struct tsl_object *object)
{
    struct tsl_program *program = (struct tsl_program *)object;

    if (tsl_forked())
        return; /* A thread of the parent process may have been under the lock. */
    tsl_idle_free(tsl_idle_take_all(program));
    for (unsigned i = 0; program->parts && i < program->context->n_members; i++) {
        tsl_program_part_clear(&program->parts[i], program->context->members[i]);
        free(program->parts[i].binary);
    }
    if (program->parts)
        tsl_variants_end(program, true);
    free(program->parts);
    for (cl_uint i = 0; program->told && i < program->n_devices; i++)
        free(program->told[i].data);
    free(program->told);
    free(program->devices);
    free(program->source);
    free(program->kept);
    free(program->kept_options);
    tsl_il_destroy(program->il);
    free(program->kernel_names);
    pthread_cond_destroy(&program->no_readers);
    tsl_lock_finish(&program->lock);
    tsl_object_hide(&program->context->object);
}

/* A program without a source, not built, with room for n_devices. */
static struct tsl_program *create_program(struct tsl_context *context, cl_uint n_devices)
{
    struct tsl_program *program = tsl_object_create(TSL_PROGRAM, sizeof(*program), &context->object, destroy_program);

    if (!program)
        return NULL;
    tsl_object_show(&context->object);
    program->context = context;
    tsl_lock_init(&program->lock);
    pthread_cond_init(&program->no_readers, NULL);
    program->parts = calloc(context->n_members, sizeof(program->parts[0]));
    program->devices = calloc(n_devices, sizeof(program->devices[0]));
    program->told = calloc(n_devices, sizeof(program->told[0]));
    program->n_devices = n_devices;
    for (unsigned i = 0; program->parts && i < context->n_members; i++)
        program->parts[i].status = CL_BUILD_NONE;
    if (program->parts && program->devices && program->told)
        return program;
    tsl_object_release(&program->object);
    return NULL;
}

cl_int tsl_program_create_empty(struct tsl_context *context, cl_uint n_devices, struct tsl_device *const *devices,
                                struct tsl_program **result)
{
    *result = create_program(context, n_devices);
    if (!*result)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy((*result)->devices, devices, n_devices * sizeof(devices[0]));
    return CL_SUCCESS;
}

static bool join_strings(struct tsl_program *program, cl_uint n, const char *const *strings, const size_t *lengths)
{
    size_t size = 0;
    char *to;

    for (cl_uint i = 0; i < n; i++)
        size += lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
    to = program->source = malloc(size + 1);
    if (!to)
        return false;
    for (cl_uint i = 0; i < n; i++) {
        size_t length = lengths && lengths[i] ? lengths[i] : strlen(strings[i]);

        memcpy(to, strings[i], length);
        to += length;
    }
    *to = 0;
    /* A NUL within a counted string ends the program for every compiler: the text behind it was never meant. */
    program->source_size = strlen(program->source);
    return true;
}

cl_int tsl_program_create_source(struct tsl_context *context, cl_uint n, const char *const *strings,
                                 const size_t *lengths, struct tsl_program **result)
{
    struct tsl_program *program;
    cl_int error = tsl_program_create_empty(context, context->n_devices, context->devices, &program);

    if (error != CL_SUCCESS)
        return error;
    if (!join_strings(program, n, strings, lengths)) {
        tsl_object_release(&program->object);
        return CL_OUT_OF_HOST_MEMORY;
    }
    *result = program;
    return CL_SUCCESS;
}

/* Does one of the context's devices take intermediate languages? */
static bool takes_il(const struct tsl_context *context)
{
    for (cl_uint i = 0; i < context->n_devices; i++)
        if (tsl_device_takes_il(context->devices[i]))
            return true;
    return false;
}

cl_int tsl_program_create_il(struct tsl_context *context, const void *module, size_t size, struct tsl_program **result)
{
    struct tsl_program *program;
    cl_int error;

    if (!takes_il(context))
        return CL_INVALID_OPERATION;
    if (!tsl_il_is(module, size))
        return CL_INVALID_VALUE;
    error = tsl_program_create_empty(context, context->n_devices, context->devices, &program);
    if (error != CL_SUCCESS)
        return error;
    program->il = tsl_il_create(module, size);
    if (!program->il) {
        tsl_object_release(&program->object);
        return CL_OUT_OF_HOST_MEMORY;
    }
    *result = program;
    return CL_SUCCESS;
}

cl_int tsl_program_set_special(struct tsl_program *program, cl_uint id, size_t size, const void *value)
{
    cl_int error;

    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    if (!takes_il(program->context))
        return CL_INVALID_OPERATION;
    if (!program->il)
        return CL_INVALID_PROGRAM;
    tsl_lock_take(&program->lock);
    error = tsl_il_set(program->il, id, size, value);
    tsl_lock_give(&program->lock);
    return error;
}

static cl_int keep_binary(struct tsl_program_part *part, cl_program_binary_type type, const void *binary, size_t size)
{
    void *copy = malloc(size + 1);

    if (!copy)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(copy, binary, size);
    free(part->binary);
    part->binary = copy;
    part->binary_size = size;
    part->type = type;
    return CL_SUCCESS;
}

/* Has the container the text and the options that the program has, which are the first one's? Each device's container
 * may have others. */
static bool is_of_kept(struct tsl_program *program, const struct tsl_program_load *load)
{
    char *text, *options;
    bool same;

    if (!tsl_container_text(load->binary, load->size, &text, &options))
        return false;
    if (!program->kept) {
        program->kept = text;
        program->kept_options = options;
        return true;
    }
    same = !strcmp(text, program->kept) && !strcmp(options, program->kept_options);
    free(text);
    free(options);
    return same;
}

/* Loads one member's entry of a container. */
static cl_int load_contained(struct tsl_program *program, unsigned i, const struct tsl_program_load *load)
{
    struct tsl_container_entry entry;
    bool damaged;

    if (!tsl_container_find(load->binary, load->size, program->context->members[i]->path, &entry, &damaged))
        return CL_INVALID_BINARY;
    program->parts[i].non_uniform = entry.non_uniform;
    program->parts[i].of_text = entry.of_text && is_of_kept(program, load);
    return keep_binary(&program->parts[i], entry.type, entry.binary, entry.size);
}

/* Does the member take these bytes? Loading them tells, if the driver can load without building. */
static cl_int try_binary(struct tsl_member *member, const struct tsl_program_load *load)
{
    const struct tsl_program_input input = {
        .kind = TSL_PROGRAM_BINARY, .data = load->binary, .size = load->size, .options = "", .foreign = true};
    const struct tsl_program_headers none = {.n = 0};
    struct tsl_dprogram *loaded = NULL;
    char *log = NULL;
    cl_int error = CL_COMPILER_NOT_AVAILABLE;

    if (member->driver->compile)
        error = member->driver->compile(member, &input, &none, &loaded, &log);
    free(log);
    log = NULL;
    if (error == CL_COMPILER_NOT_AVAILABLE)
        error = member->driver->build(member, &input, &loaded, &log);
    free(log);
    if (error == CL_SUCCESS)
        member->driver->program_free(loaded);
    return error;
}

/* Not a container: a vendor's own binary, loaded on every member that takes it. */
static cl_int load_bare(struct tsl_program *program, unsigned i, const struct tsl_program_load *load)
{
    struct tsl_member *member = program->context->members[i];
    cl_int error = try_binary(member, load);

    tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_INFO, "a binary of %zu bytes offered to %s: %d", load->size, member->path->id,
            error);
    return error == CL_SUCCESS
               ? keep_binary(&program->parts[i], CL_PROGRAM_BINARY_TYPE_EXECUTABLE, load->binary, load->size)
               : CL_INVALID_BINARY;
}

/* Loads for the members behind one device: it is enough if one of them takes something. */
static cl_int load(struct tsl_program *program, const struct tsl_program_load *load)
{
    tsl_members members = tsl_context_members_of(program->context, load->device);
    bool ours = tsl_container_is(load->binary, load->size);
    cl_int status = CL_INVALID_BINARY;

    for (unsigned i = 0; tsl_members_reach(members, i); i++) {
        cl_int error;

        if (!tsl_members_has(members, i))
            continue;
        error = ours ? load_contained(program, i, load) : load_bare(program, i, load);
        if (error == CL_SUCCESS || (error != CL_INVALID_BINARY && status != CL_SUCCESS))
            status = error;
    }
    return status;
}

cl_int tsl_program_create_binary(struct tsl_context *context, cl_uint n, struct tsl_program_load *loads,
                                 struct tsl_program **result)
{
    struct tsl_program *program = tsl_forked() ? NULL : create_program(context, n);
    cl_int error = CL_SUCCESS;

    if (!program)
        return tsl_forked() ? CL_OUT_OF_RESOURCES : CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < n; i++) {
        program->devices[i] = loads[i].device;
        loads[i].status = load(program, &loads[i]);
        if (error == CL_SUCCESS)
            error = loads[i].status;
    }
    if (error == CL_SUCCESS)
        *result = program;
    else
        tsl_object_release(&program->object);
    return error;
}

/* ---- Devices and members ----------------------------------------------------------------------------------------- */

bool tsl_program_has_device(const struct tsl_program *program, const struct tsl_device *device)
{
    for (cl_uint i = 0; i < program->n_devices; i++)
        if (program->devices[i] == device)
            return true;
    return false;
}

/* ---- Readers ----------------------------------------------------------------------------------------------------- */

cl_build_status tsl_program_status_locked(const struct tsl_program *program, tsl_members members)
{
    cl_build_status status = CL_BUILD_NONE;

    if (tsl_members_meet(program->building, members))
        return CL_BUILD_IN_PROGRESS;
    for (unsigned i = 0; tsl_members_reach(members, i); i++) {
        if (!tsl_members_has(members, i))
            continue;
        if (program->parts[i].status == CL_BUILD_SUCCESS)
            return CL_BUILD_SUCCESS;
        if (program->parts[i].status == CL_BUILD_ERROR)
            status = CL_BUILD_ERROR;
    }
    return status;
}

cl_program_binary_type tsl_program_type_locked(const struct tsl_program *program, tsl_members members)
{
    for (unsigned i = 0; tsl_members_reach(members, i); i++)
        if (tsl_members_has(members, i) && program->parts[i].type != CL_PROGRAM_BINARY_TYPE_NONE)
            return program->parts[i].type;
    return CL_PROGRAM_BINARY_TYPE_NONE;
}

bool tsl_program_is_executable_locked(const struct tsl_program *program)
{
    for (unsigned i = 0; tsl_members_is_empty(program->building) && i < program->context->n_members; i++)
        if (program->parts[i].status == CL_BUILD_SUCCESS && program->parts[i].type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
            return true;
    return false;
}

bool tsl_program_begin_read(struct tsl_program *program)
{
    bool built;

    tsl_lock_take(&program->lock);
    built = tsl_program_is_executable_locked(program);
    if (built)
        program->n_readers++;
    tsl_lock_give(&program->lock);
    return built;
}

bool tsl_program_begin_any_read(struct tsl_program *program)
{
    bool idle;

    tsl_lock_take(&program->lock);
    idle = tsl_members_is_empty(program->building);
    if (idle)
        program->n_readers++;
    tsl_lock_give(&program->lock);
    return idle;
}

void tsl_program_end_read(struct tsl_program *program)
{
    tsl_lock_take(&program->lock);
    if (--program->n_readers == 0)
        pthread_cond_broadcast(&program->no_readers);
    tsl_lock_give(&program->lock);
}

cl_uint tsl_program_count_kernels(const char *names)
{
    cl_uint n = names[0] != 0;

    for (; *names; names++)
        n += *names == ';';
    return n;
}

bool tsl_program_names_have(const char *names, const char *name)
{
    size_t n = strlen(name);

    while (names) {
        if (strncmp(names, name, n) == 0 && (names[n] == ';' || names[n] == 0))
            return true;
        names = strchr(names, ';');
        names = names ? names + 1 : NULL;
    }
    return false;
}

/* ---- The log ----------------------------------------------------------------------------------------------------- */

static void put(struct tsl_writer *log, const char *text)
{
    tsl_write_raw(log, text, strlen(text));
}

static bool is_blank(const char *text)
{
    return !text || !text[strspn(text, " \t\r\n")];
}

/* "[opencl:0.1 pthread-…] failed, error -11\n", then what its compiler said. */
static void put_section(struct tsl_writer *log, const struct tsl_path *path, const struct tsl_program_part *part)
{
    const char *text = part->log ? part->log : "";
    char error[40];

    if (part->late || (part->error == CL_SUCCESS && is_blank(text)))
        return;
    put(log, "[");
    put(log, path->id);
    put(log, " ");
    put(log, path->device_name ? path->device_name : "");
    snprintf(error, sizeof(error), "] failed, error %d\n", (int)part->error);
    put(log, part->error == CL_SUCCESS ? "] built\n" : error);
    put(log, text);
    if (text[0] && text[strlen(text) - 1] != '\n')
        put(log, "\n");
}

char *tsl_program_log(struct tsl_program *program, tsl_members members)
{
    bool several = tsl_members_count(members) > 1;
    struct tsl_writer log = {0};

    tsl_lock_take(&program->lock);
    for (unsigned i = 0; tsl_members_reach(members, i) && !tsl_members_meet(program->building, members); i++) {
        const struct tsl_program_part *part = &program->parts[i];

        if (!tsl_members_has(members, i))
            continue;
        if (several || (part->error != CL_SUCCESS && is_blank(part->log)))
            put_section(&log, program->context->members[i]->path, part);
        else if (part->log)
            put(&log, part->log);
    }
    tsl_lock_give(&program->lock);
    tsl_write_u8(&log, 0);
    if (!log.failed)
        return (char *)log.data;
    free(log.data);
    return NULL;
}

/* ---- Binaries ---------------------------------------------------------------------------------------------------- */

/* Was the part made of the program's text alone, with the options that are told? Files that the text includes may be
 * others when the binary comes back. *options: NULL until some part was. */
static bool is_of_text(const struct tsl_program *program, const struct tsl_program_part *part,
                       const struct tsl_driver *driver, const char **options)
{
    const char *own = program->source ? part->options : program->kept_options;

    if (!own || (*options && strcmp(*options, own) != 0) ||
        (program->source && !(part->access && tsl_text_access_stands_alone(part->access))) ||
        !(part->program ? driver->program_of_text && driver->program_of_text(part->program) : part->of_text))
        return false;
    *options = own;
    return true;
}

/* Adds one member's binary, if there is one: the built one, else the loaded one. The error is that of a driver that
 * can't give it. */
static cl_int add_binary(struct tsl_writer *writer, const struct tsl_program_part *part, struct tsl_member *member,
                         bool of_text, bool *added)
{
    struct tsl_container_entry entry = {.type = part->type,
                                        .binary = part->binary,
                                        .size = part->binary_size,
                                        .non_uniform = part->non_uniform || part->unpromised,
                                        .of_text = of_text};
    void *built = NULL;

    if (part->program) {
        cl_int error =
            tsl_forked() ? CL_OUT_OF_RESOURCES : member->driver->program_binary(part->program, &built, &entry.size);

        if (error != CL_SUCCESS)
            return error;
        entry.binary = built;
    }
    if (entry.binary)
        tsl_container_add(writer, member->path, &entry);
    *added |= entry.binary != NULL;
    free(built);
    return CL_SUCCESS;
}

/* The container of the members in the set; no data: none of them has a binary. */
static cl_int make_binary(struct tsl_program *program, tsl_members members, struct tsl_told_binary *binary)
{
    const char *options = NULL;
    struct tsl_writer writer = {0};
    cl_int error = CL_SUCCESS;
    bool some = false;

    tsl_container_begin(&writer);
    for (unsigned i = 0; tsl_members_reach(members, i); i++) {
        const struct tsl_program_part *part = &program->parts[i];
        struct tsl_member *member = program->context->members[i];

        if (!tsl_members_has(members, i))
            continue;
        cl_int own = add_binary(&writer, part, member, is_of_text(program, part, member->driver, &options), &some);
        if (own != CL_SUCCESS)
            error = own;
    }
    if (options)
        tsl_container_add_text(&writer, program->source ? program->source : program->kept, options);
    tsl_container_end(&writer);
    /* A member that can't give its binary is left out, like one that can't build. */
    if (some)
        error = writer.failed ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (error != CL_SUCCESS || !some) {
        free(writer.data);
        return error;
    }
    *binary = (struct tsl_told_binary){.data = writer.data, .size = writer.size};
    return CL_SUCCESS;
}

void tsl_program_forget_binaries_locked(struct tsl_program *program)
{
    for (cl_uint i = 0; i < program->n_devices; i++) {
        free(program->told[i].data);
        program->told[i] = (struct tsl_told_binary){.data = NULL};
    }
}

/* A copy of the binary that was told before, else of *made, which is kept for the next calls. */
static cl_int tell_locked(struct tsl_program *program, cl_uint i, struct tsl_told_binary *made,
                          struct tsl_told_binary *copy) TSL_REQUIRES(program->lock)
{
    struct tsl_told_binary *told = &program->told[i];

    if (!told->data) {
        *told = *made;
        made->data = NULL;
    }
    copy->size = told->size;
    copy->data = malloc(told->size);
    if (!copy->data)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(copy->data, told->data, told->size);
    return CL_SUCCESS;
}

cl_int tsl_program_binary(struct tsl_program *program, cl_uint i, void **data, size_t *size)
{
    struct tsl_told_binary made = {.data = NULL}, copy = {.data = NULL};
    tsl_members members = tsl_context_members_of(program->context, program->devices[i]);
    cl_program_binary_type type;
    cl_int error = CL_SUCCESS;
    bool is_told;

    *data = NULL;
    *size = 0;
    if (!tsl_program_begin_any_read(program))
        return CL_SUCCESS;
    tsl_lock_take(&program->lock);
    is_told = program->told[i].data;
    type = tsl_program_type_locked(program, members);
    tsl_lock_give(&program->lock);
    if (!is_told && type != CL_PROGRAM_BINARY_TYPE_NONE && !program->built_in)
        error = make_binary(program, members, &made);
    if (error == CL_SUCCESS && (is_told || made.data)) {
        tsl_lock_take(&program->lock);
        error = tell_locked(program, i, &made, &copy);
        tsl_lock_give(&program->lock);
    }
    tsl_program_end_read(program);
    free(made.data);
    *data = copy.data;
    *size = copy.data ? copy.size : 0;
    return error;
}
