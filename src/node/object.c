/* What programs made: found by number, counted, and freed by the driver when nothing uses it any more. */
#include "node/internal.h"
#include "variant/variant.h"

#include <stdlib.h>

struct node_object *node_find(struct node_session *session, uint64_t id, enum node_kind kind)
{
    struct node_object *object;

    HASH_FIND(hh, session->objects, &id, sizeof(id), object);
    return object && object->kind == kind ? object : NULL;
}

void *node_create(struct node_session *session, size_t size, enum node_kind kind, uint64_t id,
                  struct tsl_member *member)
{
    struct node_object *object, *same;

    HASH_FIND(hh, session->objects, &id, sizeof(id), same);
    object = id && !same ? calloc(1, size) : NULL;
    if (!object)
        return NULL;
    object->kind = kind;
    object->id = id;
    object->refs = 1;
    object->session = session;
    object->member = member;
    HASH_ADD(hh, session->objects, id, sizeof(object->id), object);
    return object;
}

void node_ref(struct node_object *object)
{
    object->refs++;
}

static void free_mem(struct node_mem *mem)
{
    if (mem->mem)
        mem->object.member->driver->mem_free(mem->mem);
    node_free_svm(mem);
    if (mem->of)
        node_unref(&mem->of->object);
    free(mem);
}

static void free_program(struct node_program *program)
{
    if (program->built)
        node_built_unref(&program->object.session->server->builts, program->built);
    else if (program->program)
        program->object.member->driver->program_free(program->program);
    free(program);
}

static void free_kernel(struct node_kernel *kernel)
{
    node_args_unref(kernel->args);
    if (kernel->kernel) {
        kernel->object.member->driver->kernel_free(kernel->kernel);
        if (!kernel->original)
            tsl_kernel_facts_finish(&kernel->facts);
    }
    tsl_variant_unref(kernel->variant);
    if (kernel->original)
        node_unref(&kernel->original->object);
    if (kernel->program)
        node_unref(&kernel->program->object);
    free(kernel);
}

static void free_lane(struct node_lane *lane)
{
    TAILQ_REMOVE(&lane->object.session->lanes, lane, link);
    lane->object.member->driver->lane_free(lane->lane);
    free(lane);
}

void node_unref(struct node_object *object)
{
    if (!object || --object->refs)
        return;
    switch (object->kind) {
    case NODE_LANE:
        free_lane((struct node_lane *)object);
        break;
    case NODE_MEM:
        free_mem((struct node_mem *)object);
        break;
    case NODE_PROGRAM:
        free_program((struct node_program *)object);
        break;
    case NODE_KERNEL:
        free_kernel((struct node_kernel *)object);
        break;
    case NODE_WORK:
        node_free_work((struct node_work *)object);
        break;
    }
}

bool node_forget(struct node_session *session, uint64_t id, enum node_kind kind)
{
    struct node_object *object = node_find(session, id, kind);

    if (!object)
        return false;
    HASH_DELETE(hh, session->objects, object);
    node_unref(object);
    return true;
}

void node_args_unref(struct node_args *args)
{
    if (!args || --args->refs)
        return;
    for (cl_uint i = 0; i < args->bound.n; i++)
        if (args->mems[i])
            node_unref(&args->mems[i]->object);
    for (cl_uint i = 0; i < args->bound.n_svm; i++)
        node_unref(&args->svm_mems[i]->object);
    free(args->svm);
    free(args->svm_mems);
    node_bytes_unref(args->bytes);
    free(args->args);
    free(args->mems);
    free(args->said);
    free(args);
}

struct node_bytes *node_bytes_ref(struct node_bytes *bytes)
{
    bytes->refs++;
    return bytes;
}

void node_bytes_unref(struct node_bytes *bytes)
{
    if (!bytes || --bytes->refs)
        return;
    free(bytes->data);
    free(bytes);
}
