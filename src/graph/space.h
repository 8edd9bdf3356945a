/* In which space a port works on an object. */
#ifndef TSL_GRAPH_SPACE_H
#define TSL_GRAPH_SPACE_H

#include "graph/copies.h"
#include "graph/port.h"
#include "graph/spread.h"
#include "object/svm.h"

/* Is the object spread over that member, among others? */
static inline bool tsl_space_is_spread(const struct tsl_data *data, unsigned member)
{
    return data->spread && tsl_members_has(data->spread->members, member);
}

/* A member that works on the host's memory may have a memory of its own for images (zero_copy_images), and has none for
 * those that it can't hold. Of a spread object its members have one space. A member that knows the addresses of shared
 * virtual memory works on that where it is. */
static inline unsigned tsl_space_of(const struct tsl_port *port, const struct tsl_data *data)
{
    if (data->svm && !tsl_port_is_host(port) && tsl_members_has(data->svm->members, port->index))
        return TSL_SPACE_HOST;
    if (!tsl_port_is_host(port) && tsl_space_is_spread(data, port->index))
        return TSL_SPACE_MEMBER(data->spread->home);
    if (!data->image || port->space != TSL_SPACE_HOST || tsl_port_is_host(port))
        return port->space;
    bool shared = port->member->caps.zero_copy_images && tsl_members_has(data->members, port->index);
    return shared ? TSL_SPACE_HOST : TSL_SPACE_MEMBER(port->index);
}

/* Where the copy is that a residence is of. What a member had of its own before the object was spread stays in that
 * member's space until it is freed; the spread memory is its home's. */
static inline unsigned tsl_space_of_copy(const struct tsl_port *port, const struct tsl_data *data)
{
    return tsl_space_is_spread(data, port->index) ? TSL_SPACE_MEMBER(port->index) : tsl_space_of(port, data);
}

#endif
