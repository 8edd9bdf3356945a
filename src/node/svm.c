/*
 * Shared virtual memory of programs: memory of this process at the address that a program has, too. Members that take
 * any address work on memory that is mapped where the program wants it, which is one for all of them; others' drivers
 * give it, at an address of theirs.
 *
 * It is storage of ordinary memory as well: by that it is read and written.
 */
#include "node/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum tsl_remote_svm node_svm_of(const struct tsl_member *member)
{
    const struct tsl_member_caps *caps = &member->caps;

    if (!(caps->svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER))
        return TSL_REMOTE_SVM_NONE;
    if (caps->svm_anywhere)
        return caps->zero_copy ? TSL_REMOTE_SVM_ANYWHERE : TSL_REMOTE_SVM_NONE;
    return caps->svm_is_mem ? TSL_REMOTE_SVM_OWN : TSL_REMOTE_SVM_NONE;
}

/* ---- What is mapped ---------------------------------------------------------------------------------------------- */

static struct node_region *find_region(struct node_session *session, uint64_t address, size_t size)
{
    struct node_region *region;

    LIST_FOREACH(region, &session->regions, link)
    {
        if ((uint64_t)(uintptr_t)region->begin == address && region->size == size)
            return region;
    }
    return NULL;
}

/* NULL: something else is there. */
static struct node_region *map_region(struct node_session *session, uint64_t address, size_t size)
{
    struct node_region *region = calloc(1, sizeof(*region));
    void *found = region ? mmap((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0)
                         : MAP_FAILED;

    if (found != MAP_FAILED && found != (void *)(uintptr_t)address) {
        munmap(found, size);
        found = MAP_FAILED;
    }
    if (found == MAP_FAILED) {
        free(region);
        return NULL;
    }
    region->begin = found;
    region->size = size;
    LIST_INSERT_HEAD(&session->regions, region, link);
    return region;
}

static void drop_region(struct node_region *region)
{
    if (!region || --region->refs)
        return;
    LIST_REMOVE(region, link);
    munmap(region->begin, region->size);
    free(region);
}

/* ---- A member's -------------------------------------------------------------------------------------------------- */

static cl_int take_region(struct node_mem *mem, const struct tsl_remote_request *request)
{
    struct node_session *session = mem->object.session;
    struct node_region *region = find_region(session, request->offset, request->size);

    if (!region)
        region = map_region(session, request->offset, request->size);
    if (!region)
        return CL_INVALID_HOST_PTR;
    region->refs++;
    mem->region = region;
    mem->shared_at = region->begin;
    return CL_SUCCESS;
}

static cl_int take_driver_s(struct node_mem *mem, const struct tsl_remote_request *request)
{
    const struct tsl_svm_request wanted = {
        .flags = CL_MEM_READ_WRITE, .size = request->size, .alignment = (size_t)request->of};
    struct tsl_member *member = mem->object.member;
    void *host = NULL;
    cl_int error = member->driver->svm_alloc(member, &wanted, &host, &mem->shared);

    if (error)
        mem->shared = NULL;
    else
        mem->shared_at = host;
    return error;
}

bool node_make_svm(struct node_session *session, const struct tsl_remote_request *request, struct tsl_member *member)
{
    enum tsl_remote_svm kind = node_svm_of(member);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), align = request->of, at;
    struct node_mem *mem;

    if (!request->answer || kind == TSL_REMOTE_SVM_NONE || request->size == 0 || align < page ||
        (align & (align - 1)) || (kind == TSL_REMOTE_SVM_ANYWHERE && (request->offset == 0 || request->offset % page)))
        return false;
    mem = node_create(session, sizeof(*mem), NODE_MEM, request->id, member);
    if (!mem)
        return false;
    mem->size = request->size;
    mem->error = request->size > member->caps.max_alloc_size ? CL_INVALID_BUFFER_SIZE
                 : kind == TSL_REMOTE_SVM_ANYWHERE           ? take_region(mem, request)
                                                             : take_driver_s(mem, request);
    if (!mem->error)
        mem->error = member->driver->mem_alloc(member, mem->size, CL_MEM_READ_WRITE, mem->shared_at, &mem->mem);
    if (mem->error)
        mem->mem = NULL;
    at = (uint64_t)(uintptr_t)mem->shared_at;
    node_answer(session, request->answer, mem->error, &at, mem->error ? 0 : sizeof(at));
    if (mem->error)
        node_forget(session, request->id, NODE_MEM);
    return true;
}

void node_free_svm(struct node_mem *mem)
{
    if (mem->shared)
        mem->object.member->driver->mem_free(mem->shared);
    drop_region(mem->region);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* args->svm and svm_mems are made; false: something isn't such memory of that member's. */
bool node_bind_svm(struct node_session *session, const struct tsl_remote_request *r, const struct tsl_member *member,
                   struct node_args *args)
{
    args->svm = calloc(r->n_svm + 1, sizeof(*args->svm));
    args->svm_mems = calloc(r->n_svm + 1, sizeof(struct node_mem *));
    for (uint32_t i = 0; args->svm && args->svm_mems && i < r->n_svm; i++) {
        struct node_mem *mem = (struct node_mem *)node_find(session, r->svm[i].mem, NODE_MEM);

        if (!mem || mem->object.member != member || !mem->shared_at)
            return false;
        node_ref(&mem->object);
        args->svm_mems[i] = mem;
        args->svm[i] = (struct tsl_bound_svm){
            .host = mem->shared_at, .size = mem->size, .mem = mem->shared, .unnamed = r->svm[i].unnamed};
        args->bound.n_svm++;
    }
    args->bound.svm = args->svm;
    return args->svm && args->svm_mems;
}

/* An address is in one of the launch's regions, or NULL. */
bool node_has_address(const struct node_args *args, const struct tsl_remote_arg *arg)
{
    uintptr_t address;

    if (arg->size != sizeof(address))
        return false;
    memcpy(&address, arg->value, sizeof(address));
    for (cl_uint i = 0; address && i < args->bound.n_svm; i++)
        if (address - (uintptr_t)args->svm[i].host < args->svm[i].size)
            return true;
    return !address;
}
