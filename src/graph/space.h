/* In which space a port works on an object, and what is in a space. */
#ifndef TSL_GRAPH_SPACE_H
#define TSL_GRAPH_SPACE_H

#include "graph/copies.h"
#include "graph/port.h"
#include "graph/spread.h"
#include "graph/state.h"
#include "object/svm.h"

/* Has the member a part of the object's spread memory, which may be leaving? */
static inline bool tsl_space_has_part(const struct tsl_data *data, unsigned member)
{
    return data->spread && tsl_members_has(data->spread->members, member);
}

/* Is a member lost that has a part of it? */
static inline bool tsl_space_has_lost_part(const struct tsl_graph *graph, const struct tsl_data *data)
{
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (tsl_space_has_part(data, i) && tsl_member_is_lost(graph->ports[i].member))
            return true;
    return false;
}

/* Is the object spread over that member, among others, as planned? */
static inline bool tsl_space_is_spread(const struct tsl_data *data, unsigned member)
{
    return tsl_spread_is(data->spread) && tsl_space_has_part(data, member);
}

/* A member that works on the host's memory may have a memory of its own for images (zero_copy_images), and has none for
 * those that it can't hold. Of a spread object its members have one space. A member that knows the addresses of shared
 * virtual memory works on that where it is. */
static inline unsigned tsl_space_of(const struct tsl_port *port, const struct tsl_data *data)
{
    if (data->svm && !tsl_port_is_host(port) && tsl_members_has(data->svm->members, port->index))
        return TSL_SPACE_HOST;
    if (!tsl_port_is_host(port) && tsl_space_is_spread(data, port->index))
        return TSL_SPACE_SPREAD;
    if (!data->image || port->space != TSL_SPACE_HOST || tsl_port_is_host(port))
        return port->space;
    bool shared = port->member->caps.zero_copy_images && tsl_members_has(data->members, port->index);
    return shared ? TSL_SPACE_HOST : TSL_SPACE_MEMBER(port->index);
}

/* Bytes of the object's on the member where its kernels work on it. */
static inline size_t tsl_space_size_on(const struct tsl_data *data, unsigned member)
{
    return tsl_space_is_spread(data, member) ? data->spread->sizes[member] : data->size;
}

/* The port of the object's copy in that space: the host's, the member's whose memory that is, or a spread object's
 * home. */
static inline struct tsl_port *tsl_space_port(struct tsl_graph *graph, const struct tsl_data *data, unsigned space)
{
    if (space == TSL_SPACE_SPREAD)
        return &graph->ports[data->spread->home];
    return space == TSL_SPACE_HOST ? &graph->host : &graph->ports[space - 1];
}

/* The object's space as the placer knows it, which learns of links between members and the host alone. */
static inline unsigned tsl_space_of_link(const struct tsl_data *data, unsigned space)
{
    return space == TSL_SPACE_SPREAD ? TSL_SPACE_MEMBER(data->spread->home) : space;
}

/* The residence of the copy in a space that isn't the host's. */
static inline struct tsl_residence *tsl_space_residence(struct tsl_data *data, unsigned space)
{
    return space == TSL_SPACE_SPREAD ? &data->spread->residence : &data->residences[space - 1];
}

/* The residence of the copy on which the member's kernels work, if they work on one in a member's memory. */
static inline struct tsl_residence *tsl_space_residence_on(struct tsl_data *data, unsigned member)
{
    return tsl_space_is_spread(data, member) ? &data->spread->residence : &data->residences[member];
}

static inline bool tsl_residence_is_spread(const struct tsl_residence *residence)
{
    const struct tsl_spread *spread = residence->data->spread;
    return spread && residence == &spread->residence;
}

/* Where the copy is that a residence is of. What a member had of its own before the object was spread stays in that
 * member's space until it is freed. */
static inline unsigned tsl_space_of_residence(const struct tsl_residence *residence)
{
    if (tsl_residence_is_spread(residence))
        return TSL_SPACE_SPREAD;
    return TSL_SPACE_MEMBER((unsigned)(residence - residence->data->residences));
}

#endif
