#include "driver/spread.h"

static bool is_twice(const struct tsl_spread_request *request, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (request->members[k] == request->members[i])
            return true;
    return false;
}

static cl_int check_member(const struct tsl_spread_request *request, unsigned i)
{
    const struct tsl_member *first = request->members[0], *member = request->members[i];

    if (!tsl_member_shares_domain(member, first) || is_twice(request, i))
        return CL_INVALID_VALUE;
    return tsl_member_is_lost(member) ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;
}

/* begin: where the part begins in the memory. */
static cl_int check_part(const struct tsl_spread_request *request, unsigned i, size_t begin)
{
    const struct tsl_member_caps *caps = &request->members[i]->caps;
    size_t size = request->sizes[i];

    if (size && begin % caps->domain_granule)
        return CL_INVALID_VALUE;
    return size > caps->memory_size || size > SIZE_MAX / 2 - begin ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
}

cl_int tsl_spread_check(const struct tsl_spread_request *request, size_t *size)
{
    cl_int error = request->n ? CL_SUCCESS : CL_INVALID_VALUE;
    size_t sum = 0;

    for (unsigned i = 0; i < request->n && !error; i++)
        error = check_member(request, i);
    for (unsigned i = 0; i < request->n && !error; i++) {
        error = check_part(request, i, sum);
        sum += request->sizes[i];
    }
    if (!error && !sum)
        error = CL_INVALID_BUFFER_SIZE;
    if (!error)
        *size = sum;
    return error;
}
