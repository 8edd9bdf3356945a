/*
 * Shared virtual memory on other nodes, coarse-grained: memory of this process at an address at which the nodes have
 * memory of their own. A launch that names it takes the bytes there first and brings them back, all of them: kernels
 * may go by any address that they find there, and the host writes without a word to us.
 */
#include "remote/svm.h"
#include "remote/work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* Between what programs and heaps, and what libraries and stacks take on Linux: nodes' processes have nothing there,
 * and two programs on one node seldom meet. */
#define FIRST_ADDRESS 0x200000000000u
#define N_PLACES      0x2000000u /* of STEP bytes each */
#define STEP          0x100000u
#define N_TRIES       16

static uintptr_t pick_address(void)
{
    static atomic_uint_fast64_t n;
    uint64_t x = tsl_clock_ns() + ((uint64_t)getpid() << 32) + atomic_fetch_add(&n, 1);

    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    return FIRST_ADDRESS + (uintptr_t)(x % N_PLACES) * STEP;
}

/* Exactly there; NULL: something else is. */
static void *map_at(uintptr_t address, size_t size)
{
    void *found = mmap((void *)address, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (found == MAP_FAILED)
        return NULL;
    if (found == (void *)address)
        return found;
    munmap(found, size); /* A kernel that doesn't know the flag. */
    return NULL;
}

/* ---- What nodes have there --------------------------------------------------------------------------------------- */

static struct remote_mem *find_mirror(const struct remote_svm *svm, const struct tsl_member *member)
{
    for (unsigned i = 0; i < svm->n; i++)
        if (svm->mirrors[i]->base.member == member)
            return svm->mirrors[i];
    return NULL;
}

/* address 0: the node chooses, and *chosen is written. CL_INVALID_HOST_PTR: something else is there. */
static cl_int add_mirror(struct remote_svm *svm, struct remote_member *m, uintptr_t address, uint64_t *chosen)
{
    struct tsl_remote_request request = {
        .kind = TSL_REMOTE_SVM, .member = m->path->index, .size = svm->size, .offset = address, .of = svm->alignment};
    struct remote_mem *mem = calloc(1, sizeof(*mem));
    void *data = NULL;
    size_t size = 0;
    cl_int error;

    if (!mem)
        return CL_OUT_OF_HOST_MEMORY;
    mem->base.member = &m->base;
    mem->base.size = svm->size;
    remote_lock(m->node->connection);
    request.id = mem->id = remote_new_id_locked(m->node->connection);
    remote_unlock(m->node->connection);
    error = remote_ask(m->node, &request, &data, &size);
    if (!error && size == sizeof(*chosen))
        memcpy(chosen, data, sizeof(*chosen));
    else if (!error)
        error = CL_OUT_OF_RESOURCES;
    free(data);
    if (error)
        free(mem);
    else
        svm->mirrors[svm->n++] = mem;
    return error;
}

static void free_mirrors(struct remote_svm *svm)
{
    while (svm->n)
        remote_mem_free(&svm->mirrors[--svm->n]->base);
}

/* Members that take any address share the memory: so all that are open get it. */
static cl_int add_others(struct remote_svm *svm, struct remote_member *first)
{
    struct remote_connection *c = first->node->connection;
    cl_int error = CL_SUCCESS;
    uint64_t at;

    for (unsigned i = 0; i < c->n_nodes; i++) {
        struct remote_node *node = &c->nodes[i];

        for (unsigned j = 0; j < node->n_members && !error; j++) {
            struct remote_member *m = node->paths[j].member;

            if (!m || m == first || node->paths[j].is.svm != TSL_REMOTE_SVM_ANYWHERE)
                continue;
            error = add_mirror(svm, m, (uintptr_t)svm->host, &at);
            if (error == CL_DEVICE_NOT_AVAILABLE)
                error = CL_SUCCESS; /* A lost one does nothing with it. */
        }
    }
    return error;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

/* At an address that all can have; CL_INVALID_HOST_PTR: this one not. */
static cl_int try_anywhere(struct remote_svm *svm, struct remote_member *m)
{
    uintptr_t address = (pick_address() + svm->alignment - 1) / svm->alignment * svm->alignment;
    uint64_t chosen;
    cl_int error;

    svm->host = map_at(address, svm->size);
    if (!svm->host)
        return CL_INVALID_HOST_PTR;
    error = add_mirror(svm, m, address, &chosen);
    if (!error)
        error = add_others(svm, m);
    if (error) {
        free_mirrors(svm);
        munmap(svm->host, svm->size);
        svm->host = NULL;
    }
    return error;
}

/* At the one that the node's driver has. Those that can't be had here are kept meanwhile, or it would give them again.
 */
static cl_int try_theirs(struct remote_svm *svm, struct remote_member *m)
{
    uint64_t chosen = 0;
    cl_int error = add_mirror(svm, m, 0, &chosen);

    if (error)
        return error;
    svm->host = chosen % (uint64_t)sysconf(_SC_PAGESIZE) ? NULL : map_at((uintptr_t)chosen, svm->size);
    return svm->host ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

static cl_int find_place(struct remote_svm *svm, struct remote_member *m)
{
    bool anywhere = m->path->is.svm == TSL_REMOTE_SVM_ANYWHERE;
    cl_int error = CL_INVALID_HOST_PTR;

    for (unsigned i = 0; i < N_TRIES && error == CL_INVALID_HOST_PTR; i++)
        error = (anywhere ? try_anywhere : try_theirs)(svm, m);
    /* Of several the last is the one. */
    while (!error && !anywhere && svm->n > 1) {
        remote_mem_free(&svm->mirrors[0]->base);
        svm->mirrors[0] = svm->mirrors[--svm->n];
    }
    return error == CL_INVALID_HOST_PTR ? CL_MEM_OBJECT_ALLOCATION_FAILURE : error;
}

static void destroy(struct remote_svm *svm)
{
    free_mirrors(svm);
    if (svm->host)
        munmap(svm->host, svm->size);
    free(svm->mirrors);
    free(svm);
}

static size_t count_members(const struct remote_connection *c)
{
    size_t n = 0;

    for (unsigned i = 0; i < c->n_nodes; i++)
        n += c->nodes[i].n_members;
    return n;
}

cl_int remote_svm_alloc(struct tsl_member *member, const struct tsl_svm_request *request, void **host,
                        struct tsl_mem **mem)
{
    struct remote_member *m = remote_member_of(member);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = count_members(m->node->connection) + N_TRIES;
    struct remote_svm *svm;
    struct remote_mem *made;
    cl_int error;

    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    if (request->size == 0 || request->size > member->caps.max_alloc_size)
        return CL_INVALID_BUFFER_SIZE;
    svm = calloc(1, sizeof(*svm));
    made = calloc(1, sizeof(*made));
    if (svm)
        svm->mirrors = calloc(n, sizeof(struct remote_mem *));
    error = svm && made && svm->mirrors ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!error) {
        svm->size = request->size;
        svm->alignment = request->alignment > page ? request->alignment : page;
        error = find_place(svm, m);
    }
    if (error) {
        if (svm)
            destroy(svm);
        free(made);
        return error;
    }
    made->base.member = member;
    made->base.size = svm->size;
    made->svm = svm;
    *host = svm->host;
    *mem = &made->base;
    return CL_SUCCESS;
}

void remote_svm_free(struct remote_mem *mem)
{
    destroy(mem->svm);
    free(mem);
}

bool remote_svm_reaches(struct tsl_member *from, struct tsl_member *to)
{
    return from == to || (remote_member_of(from)->path->is.svm == TSL_REMOTE_SVM_ANYWHERE &&
                          remote_member_of(to)->path->is.svm == TSL_REMOTE_SVM_ANYWHERE);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

struct remote_mem *remote_svm_mirror(const struct tsl_bound_svm *bound, const struct tsl_member *member)
{
    if (!bound->mem || bound->mem->member->driver != &tsl_remote_driver || !remote_mem_of(bound->mem)->svm)
        return NULL;
    return find_mirror(remote_mem_of(bound->mem)->svm, member);
}

static cl_int take_there(struct tsl_lane *lane, const struct tsl_bound_svm *bound, const struct tsl_waits *waits)
{
    struct tsl_copy copy = {.dst.mem = &remote_svm_mirror(bound, lane->member)->base,
                            .src.host = bound->host,
                            .region = {bound->size, 1, 1}};

    return remote_copy(lane, &copy, waits, NULL);
}

static cl_int bring_back(struct tsl_lane *lane, const struct tsl_bound_svm *bound, struct tsl_fence *launched,
                         struct tsl_fence **fence)
{
    const struct tsl_waits behind = {1, &launched};
    struct tsl_copy copy = {.dst.host = bound->host,
                            .src.mem = &remote_svm_mirror(bound, lane->member)->base,
                            .region = {bound->size, 1, 1}};

    return remote_copy(lane, &copy, &behind, fence);
}

/* Behind all copies; its times and its error are the launch's. */
static cl_int end_with(struct tsl_lane *lane, struct tsl_fence **fences, unsigned n, struct tsl_fence **fence)
{
    const struct tsl_waits all = {n, fences};
    cl_int error = remote_mark(lane, &all, fence);

    if (error)
        return error;
    remote_lock(remote_lane_connection(lane));
    remote_fence_of(*fence)->launch = remote_fence_of(tsl_fence_ref(fences[0]));
    remote_unlock(remote_lane_connection(lane));
    return CL_SUCCESS;
}

/* fences has room for one more than there are regions: the launch's, and those of the copies behind it. */
static cl_int say(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                  struct tsl_fence **fences, unsigned *n)
{
    const struct tsl_bound_args *args = launch->args;
    cl_int error = CL_SUCCESS;

    for (cl_uint i = 0; i < args->n_svm && !error; i++)
        error = take_there(lane, &args->svm[i], waits);
    if (!error)
        error = remote_launch_alone(lane, launch, waits, &fences[0]);
    for (cl_uint i = 0; i < args->n_svm && !error; i++) {
        ++*n;
        error = bring_back(lane, &args->svm[i], fences[0], &fences[*n]);
    }
    *n += error ? 0 : 1;
    return error;
}

cl_int remote_svm_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                         struct tsl_fence **fence)
{
    struct tsl_fence **fences;
    cl_int error = CL_SUCCESS;
    unsigned n = 0;

    for (cl_uint i = 0; i < launch->args->n_svm; i++)
        if (!remote_svm_mirror(&launch->args->svm[i], lane->member))
            return CL_INVALID_OPERATION;
    fences = calloc(launch->args->n_svm + 1, sizeof(struct tsl_fence *));
    if (!fences)
        return CL_OUT_OF_HOST_MEMORY;
    error = say(lane, launch, waits, fences, &n);
    if (!error && fence)
        error = end_with(lane, fences, n, fence);
    if (error)
        tsl_remote_driver.finish(lane); /* What was said uses the memory: it ends first. */
    for (unsigned i = 0; i < n; i++)
        tsl_fence_unref(fences[i]);
    free(fences);
    return error;
}
