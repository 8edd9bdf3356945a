#include "device/partition.h"

#include "device/device_facts.h"

#include <CL/cl_tesela.h>
#include <stdlib.h>
#include <string.h>

/* ---- Cuts -------------------------------------------------------------------------------------------------------- */

/* The members of one sub-device. */
struct cut {
    unsigned n;
    struct tsl_member *members[TSL_MAX_MEMBERS];
};

/* A device has at most as many parts as members. */
struct cuts {
    unsigned n;
    struct cut cuts[TSL_MAX_MEMBERS];
    cl_device_partition_property type[3];
};

static void cut_by_member(struct tsl_member *const *members, unsigned n, struct cuts *cuts)
{
    *cuts = (struct cuts){.n = n, .type = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0}};
    for (unsigned i = 0; i < n; i++)
        cuts->cuts[i] = (struct cut){.n = 1, .members = {members[i]}};
}

static unsigned node_of(const struct cut *cut)
{
    return cut->members[0]->path->identity.numa_node;
}

/* The node's cut; a new one is inserted in the order of nodes. */
static struct cut *cut_of_node(struct cuts *cuts, unsigned node)
{
    unsigned i = 0;

    while (i < cuts->n && node_of(&cuts->cuts[i]) < node)
        i++;
    if (i == cuts->n || node_of(&cuts->cuts[i]) != node) {
        memmove(&cuts->cuts[i + 1], &cuts->cuts[i], (cuts->n - i) * sizeof cuts->cuts[0]);
        cuts->cuts[i].n = 0;
        cuts->n++;
    }
    return &cuts->cuts[i];
}

static void cut_by_node(struct tsl_member *const *members, unsigned n, struct cuts *cuts)
{
    *cuts = (struct cuts){.type = {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NUMA, 0}};
    for (unsigned i = 0; i < n; i++)
        if (members[i]->path->identity.has_numa) {
            struct cut *cut = cut_of_node(cuts, members[i]->path->identity.numa_node);

            cut->members[cut->n++] = members[i];
        }
}

/* Only the virtual device is cut by node, and only if that makes a difference. */
static bool is_cut_by_node(const struct tsl_device *device, struct tsl_member *const *members, unsigned n)
{
    struct cuts cuts;

    cut_by_node(members, n, &cuts);
    return !device->parent && cuts.n > 1;
}

/* ---- Sub-devices ------------------------------------------------------------------------------------------------- */

static void destroy(struct tsl_object *object)
{
    struct tsl_device *device = (struct tsl_device *)object;

    tsl_device_facts_destroy(atomic_load(&device->facts));
    free(device->members);
}

static struct tsl_device *create(struct tsl_device *parent, const struct cut *cut,
                                 const cl_device_partition_property *type)
{
    struct tsl_device *device = tsl_object_create(TSL_DEVICE, sizeof *device, &parent->object, destroy);

    if (!device)
        return NULL;
    device->parent = parent;
    memcpy(device->partition, type, sizeof device->partition);
    device->members = calloc(cut->n, sizeof(struct tsl_member *));
    if (!device->members) {
        tsl_object_release(&device->object);
        return NULL;
    }
    memcpy(device->members, cut->members, cut->n * sizeof(struct tsl_member *));
    device->n_members = cut->n;
    if (type[0] == CL_DEVICE_PARTITION_BY_MEMBER_TESELA)
        device->member = cut->members[0];
    return device;
}

static cl_int create_all(struct tsl_device *parent, const struct cuts *cuts, struct tsl_device **out)
{
    for (unsigned i = 0; i < cuts->n; i++) {
        out[i] = create(parent, &cuts->cuts[i], cuts->type);
        if (out[i])
            continue;
        while (i > 0)
            tsl_object_release(&out[--i]->object);
        return CL_OUT_OF_HOST_MEMORY;
    }
    return CL_SUCCESS;
}

static bool asks_for_members(const cl_device_partition_property *properties)
{
    return properties[0] == CL_DEVICE_PARTITION_BY_MEMBER_TESELA && properties[1] == 0;
}

/* NUMA nodes are the only affinity domain, so they are also the next partitionable one. */
static bool asks_for_nodes(const cl_device_partition_property *properties)
{
    return properties[0] == CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN &&
           (properties[1] == CL_DEVICE_AFFINITY_DOMAIN_NUMA ||
            properties[1] == CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE) &&
           properties[2] == 0;
}

cl_int tsl_partition(struct tsl_device *device, const cl_device_partition_property *properties, cl_uint n,
                     struct tsl_device **out, cl_uint *n_ret)
{
    struct tsl_member *const *members;
    struct cuts cuts;
    unsigned n_members;

    if (device->member || !properties || (!asks_for_members(properties) && !asks_for_nodes(properties)))
        return CL_INVALID_VALUE;
    members = tsl_device_members(device, &n_members);
    if (asks_for_members(properties))
        cut_by_member(members, n_members, &cuts);
    else if (is_cut_by_node(device, members, n_members))
        cut_by_node(members, n_members, &cuts);
    else
        return CL_INVALID_VALUE;
    if (cuts.n == 0)
        return CL_DEVICE_PARTITION_FAILED;
    *n_ret = cuts.n;
    if (!out)
        return CL_SUCCESS;
    return n < cuts.n ? CL_INVALID_VALUE : create_all(device, &cuts, out);
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

static cl_int answer_properties(bool members, bool nodes, const struct tsl_info *info)
{
    static const cl_device_partition_property all[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA,
                                                       CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN},
                                              none = 0;

    return members ? tsl_info_bytes(info, all, (nodes ? 2 : 1) * sizeof all[0])
                   : tsl_info_bytes(info, &none, sizeof none);
}

/* With the closing 0; only that if the device isn't a sub-device. */
static cl_int answer_type(const struct tsl_device *device, const struct tsl_info *info)
{
    unsigned n = 1;

    while (device->partition[n - 1])
        n++;
    return tsl_info_bytes(info, device->partition, n * sizeof device->partition[0]);
}

cl_int tsl_partition_info(struct tsl_device *device, cl_device_info param, const struct tsl_info *info)
{
    struct tsl_member *const *members;
    unsigned n = 0;
    bool nodes;

    if (param == CL_DEVICE_PARTITION_TYPE)
        return answer_type(device, info);
    members = tsl_device_members(device, &n);
    nodes = is_cut_by_node(device, members, n);
    switch (param) {
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
        return tsl_info_uint(info, device->member ? 0 : n);
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
        return tsl_info_ulong(
            info, nodes ? CL_DEVICE_AFFINITY_DOMAIN_NUMA | CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE : 0);
    default:
        return answer_properties(!device->member && n, nodes, info);
    }
}
