/* The table, paths and members, lanes. */
#include "driver/report.h"
#include "remote/svm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

/* A path takes precedence only where nothing nearer leads to the device. */
#define PREFERENCE (-10)

static void report(struct remote_path *path, tsl_found_fn *found, void *arg)
{
    const struct tsl_remote_member *is = &path->is;
    struct remote_node *node = path->node;
    struct tsl_path said = {.driver = &tsl_remote_driver,
                            .type = is->type,
                            .identity = is->identity,
                            .preference = PREFERENCE,
                            .kind_name = is->platform_name, /* the same on all nodes */
                            .priv = path};

    snprintf(said.id, sizeof(said.id), "remote:%u.%u", node->index, path->index);
    if (said.identity.host_id == node->connection->host_id) {
        said.identity.host_id = 0;
    } else {
        /* What these say holds on that machine alone. */
        said.identity.is_host_cpu = said.identity.has_numa = false;
    }
    if (asprintf(&said.platform_name, "Node %u: %s", node->index, is->platform_name) < 0)
        said.platform_name = NULL;
    said.device_name = strdup(is->device_name);
    said.driver_version = strdup(is->driver_version);
    found(arg, &said);
}

/* The answer to MEMBERS: one behind the other. */
static bool read_members(struct remote_node *node, const void *data, size_t size)
{
    struct tsl_reader reader = tsl_reader_of(data, size);
    uint32_t n = tsl_read_u32_max(&reader, 32); /* peers: a bit each */

    node->paths = calloc(n + 1, sizeof(node->paths[0]));
    if (!node->paths)
        return false;
    while (node->n_members < n && tsl_remote_get_member(&reader, &node->paths[node->n_members].is)) {
        node->paths[node->n_members].node = node;
        node->paths[node->n_members].index = node->n_members;
        node->n_members++;
    }
    return tsl_read_end(&reader);
}

/* So close to each other that the clocks are mapped well from the start. */
#define N_PINGS 8

static void ask_members(struct remote_node *node, tsl_found_fn *found, void *arg)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_MEMBERS};
    void *data;
    size_t size;
    cl_int error = remote_ask(node, &request, &data, &size);

    if (error || !read_members(node, data, size))
        tsl_driver_report_error("node %u doesn't tell its members (error %d), so none of them serves", node->index,
                                error);
    free(data);
    for (unsigned i = 0; !error && i < N_PINGS; i++)
        remote_ask(node, &(struct tsl_remote_request){.kind = TSL_REMOTE_PING}, NULL, NULL);
    remote_share_memory(node);
    for (unsigned i = 0; i < node->n_members; i++)
        report(&node->paths[i], found, arg);
}

static cl_int probe(tsl_found_fn *found, void *arg)
{
    struct remote_connection *c = remote_connect();

    for (unsigned i = 0; c && i < c->n_nodes; i++)
        if (!c->nodes[i].paths)
            ask_members(&c->nodes[i], found, arg);
        else
            for (unsigned j = 0; j < c->nodes[i].n_members; j++)
                report(&c->nodes[i].paths[j], found, arg);
    return CL_SUCCESS;
}

static struct remote_fact *find_fact(struct remote_path *path, cl_device_info param)
{
    struct remote_fact *fact;

    remote_lock(path->node->connection);
    SLIST_FOREACH(fact, &path->facts, link)
    {
        if (fact->param == param)
            break;
    }
    remote_unlock(path->node->connection);
    return fact;
}

/* Two threads may ask at once: both answers stay. NULL: *error says why. What may be otherwise the next time isn't
 * kept.
 */
static struct remote_fact *ask_fact(struct remote_path *path, cl_device_info param, cl_int *error)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_INFO, .member = path->index, .param = param};
    struct remote_fact *fact = calloc(1, sizeof(*fact));

    *error = CL_OUT_OF_HOST_MEMORY;
    if (!fact)
        return NULL;
    fact->param = param;
    fact->error = *error = remote_ask(path->node, &request, &fact->data, &fact->size);
    if (*error && *error != CL_INVALID_VALUE) {
        free(fact->data);
        free(fact);
        return NULL;
    }
    remote_lock(path->node->connection);
    SLIST_INSERT_HEAD(&path->facts, fact, link);
    remote_unlock(path->node->connection);
    return fact;
}

/* By its own conventions. What a device says of itself doesn't change, so it is asked once. */
static cl_int info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    struct remote_path *p = path->priv;
    const struct remote_fact *fact = p->node->lost ? NULL : find_fact(p, param);
    cl_int error = CL_SUCCESS;

    if (!fact)
        fact = ask_fact(p, param, &error);
    if (!fact)
        return error;
    if (fact->error)
        return fact->error;
    if (value && size < fact->size)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, fact->data, fact->size);
    if (size_ret)
        *size_ret = fact->size;
    return CL_SUCCESS;
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

static cl_int open_member(const struct tsl_path *path, struct tsl_member **member)
{
    struct remote_path *p = path->priv;
    struct remote_member *m;

    if (p->node->lost)
        return CL_DEVICE_NOT_AVAILABLE;
    m = calloc(1, sizeof(*m));
    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    m->base.driver = &tsl_remote_driver;
    m->base.path = path;
    m->base.caps = p->is.caps;
    m->base.caps.gates = m->base.caps.ordered_lanes = true;
    m->base.caps.svm = p->is.svm ? CL_DEVICE_SVM_COARSE_GRAIN_BUFFER : 0;
    m->base.caps.svm_is_copied = p->is.svm;
    m->path = p;
    m->node = p->node;
    m->combines = -1;
    pthread_mutex_init(&m->asking, NULL);
    remote_lock(p->node->connection);
    p->member = m;
    remote_unlock(p->node->connection);
    *member = &m->base;
    return CL_SUCCESS;
}

static void close_member(struct tsl_member *member)
{
    struct remote_member *m = remote_member_of(member);

    remote_lock(m->node->connection);
    m->node->paths[m->path->index].member = NULL;
    remote_send_locked(m->node);
    remote_unlock(m->node->connection);
    pthread_mutex_destroy(&m->asking);
    free(m);
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

static void say(struct remote_node *node, const struct tsl_remote_request *request, bool send)
{
    remote_lock(node->connection);
    if (!node->lost)
        remote_say_locked(node, request);
    if (send && !node->lost)
        remote_send_locked(node);
    remote_unlock(node->connection);
}

static cl_int lane_create(struct tsl_member *member, unsigned use, struct tsl_lane **lane)
{
    struct remote_member *m = remote_member_of(member);
    struct remote_lane *l;

    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    l = calloc(1, sizeof(*l));
    if (!l)
        return CL_OUT_OF_HOST_MEMORY;
    l->base.member = member;
    l->profile = use & TSL_LANE_PROFILES;
    remote_lock(m->node->connection);
    l->id = remote_new_id_locked(m->node->connection);
    remote_unlock(m->node->connection);
    say(m->node,
        &(struct tsl_remote_request){.kind = TSL_REMOTE_LANE, .id = l->id, .member = m->path->index, .flags = use},
        false);
    *lane = &l->base;
    return CL_SUCCESS;
}

static void lane_free(struct tsl_lane *lane)
{
    struct remote_lane *l = (struct remote_lane *)lane;
    struct remote_node *node = remote_member_of(lane->member)->node;

    remote_lock(node->connection);
    if (l->unflushed)
        LIST_REMOVE(l, link);
    remote_unlock(node->connection);
    say(node, &(struct tsl_remote_request){.kind = TSL_REMOTE_LANE_FREE, .id = l->id}, true);
    if (l->last_held)
        tsl_fence_unref(&l->last_held->base);
    free(l);
}

static cl_int flush(struct tsl_lane *lane)
{
    struct remote_node *node = remote_member_of(lane->member)->node;

    remote_lock(node->connection);
    remote_flush_all_locked(node->connection);
    remote_unlock(node->connection);
    return CL_SUCCESS;
}

static cl_int finish(struct tsl_lane *lane)
{
    struct tsl_remote_request request = {.kind = TSL_REMOTE_FINISH, .id = ((struct remote_lane *)lane)->id};

    return remote_ask(remote_member_of(lane->member)->node, &request, NULL, NULL);
}

const struct tsl_driver tsl_remote_driver = {
    .asks_access = true,
    .flushes_all = true,
    .name = "remote",
    .probe = probe,
    .open = open_member,
    .close = close_member,
    .info = info,
    .lane_create = lane_create,
    .lane_free = lane_free,
    .flush = flush,
    .finish = finish,
    .mem_alloc = remote_mem_alloc,
    .svm_alloc = remote_svm_alloc,
    .svm_reaches = remote_svm_reaches,
    .mem_sub = remote_mem_sub,
    .mem_free = remote_mem_free,
    .image_formats = remote_image_formats,
    .image_alloc = remote_image_alloc,
    .image_of = remote_image_of,
    .can_copy_peer = remote_can_copy_peer,
    .copy = remote_copy,
    .gather = remote_gather,
    .fill = remote_fill,
    .combine = remote_combine,
    .can_combine = remote_can_combine,
    .launch = remote_launch,
    .mark = remote_mark,
    .fence_status = remote_fence_status,
    .fence_wait = remote_fence_wait,
    .fence_notify = remote_fence_notify,
    .fence_times = remote_fence_times,
    .fence_free = remote_fence_free,
    .can_wait = remote_can_wait,
    .gate_create = remote_gate_create,
    .gate_open = remote_gate_open,
    .gate_by = remote_gate_by,
    .build = remote_build,
    .compile = remote_compile,
    .link = remote_link,
    .program_binary = remote_program_binary,
    .program_free = remote_program_free,
    .program_variables = remote_program_variables,
    .program_of_text = remote_program_of_text,
    .program_kernels = remote_program_kernels,
    .kernel_create = remote_kernel_create,
    .substitute = remote_substitute,
    .kernel_free = remote_kernel_free,
    .windows_by = remote_windows_by,
    .windows_ok = remote_windows_ok,
};
