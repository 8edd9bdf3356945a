/* Copies, fills and combines. */
#include "cuda_bridge/member.h"
#include "cuda_bridge/memory.h"
#include "cuda_bridge/operations.h"
#include "cuda_bridge/piece.h"
#include "cuda_bridge/pipeline.h"
#include "cuda_bridge/region.h"
#include "cuda_bridge/spread.h"

#include "driver/box.h"
#include "driver/combine.h"

#include <stdlib.h>
#include <string.h>

/* CUDA's own limit of a pitch (CU_DEVICE_ATTRIBUTE_MAX_PITCH of all devices). */
#define MAX_PITCH 2147483647u

/* Rows of one strided set; CUDA names no limit, so it stays far from any. */
#define SET_ROWS ((size_t)1 << 24)

/* ---- One box, asynchronously ------------------------------------------------------------------------------------- */

static CUdeviceptr address_of(const struct tsl_place *place)
{
    return tsl_cuda_mem(place->mem)->address + place->offset;
}

static char *host_of(const struct tsl_place *place)
{
    return (char *)place->host + place->offset;
}

static struct tsl_cuda_member *owner(const struct tsl_place *place)
{
    return tsl_cuda_member(place->mem->member);
}

static bool is_spread(const struct tsl_place *place)
{
    return place->mem && tsl_cuda_mem(place->mem)->spread;
}

static CUresult copy_linear(const struct tsl_place *dst, const struct tsl_place *src, size_t size, CUstream stream)
{
    if (!src->mem)
        return tsl_cu.cuMemcpyHtoDAsync_v2(address_of(dst), host_of(src), size, stream);
    if (!dst->mem)
        return tsl_cu.cuMemcpyDtoHAsync_v2(host_of(dst), address_of(src), size, stream);
    /* CUDA finds out by itself where spread memory is, which is in no one context. */
    if (src->mem->member == dst->mem->member || is_spread(src) || is_spread(dst))
        return tsl_cu.cuMemcpyDtoDAsync_v2(address_of(dst), address_of(src), size, stream);
    return tsl_cu.cuMemcpyPeerAsync(address_of(dst), owner(dst)->context, address_of(src), owner(src)->context, size,
                                    stream);
}

/* A box whose slices are whole rows apart. */
static CUresult copy_3d(const struct tsl_place *dst, const struct tsl_place *src, const size_t region[3],
                        CUstream stream)
{
    CUDA_MEMCPY3D c = {
        .srcMemoryType = src->mem ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST,
        .srcDevice = src->mem ? address_of(src) : 0,
        .srcHost = src->mem ? NULL : host_of(src),
        .srcPitch = src->row_pitch,
        .srcHeight = region[2] > 1 ? src->slice_pitch / src->row_pitch : region[1],
        .dstMemoryType = dst->mem ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST,
        .dstDevice = dst->mem ? address_of(dst) : 0,
        .dstHost = dst->mem ? NULL : host_of(dst),
        .dstPitch = dst->row_pitch,
        .dstHeight = region[2] > 1 ? dst->slice_pitch / dst->row_pitch : region[1],
        .WidthInBytes = region[0],
        .Height = region[1],
        .Depth = region[2],
    };

    return tsl_cu.cuMemcpy3DAsync_v2(&c, stream);
}

/* Can CUDA say the distance of this side's slices? */
static bool is_3d(const struct tsl_place *place, const size_t region[3])
{
    return place->slice_pitch % place->row_pitch == 0 && place->slice_pitch / place->row_pitch >= region[1];
}

static bool has_pitch(const struct tsl_place *place, const size_t region[3])
{
    return place->row_pitch >= region[0] && place->row_pitch <= MAX_PITCH;
}

static CUresult copy_rows(const struct tsl_place *dst, const struct tsl_place *src, const size_t region[3],
                          CUstream stream)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t row = 0; row < region[1] && !result; row++) {
        struct tsl_place to = *dst, from = *src;

        to.offset += row * dst->row_pitch;
        from.offset += row * src->row_pitch;
        result = copy_linear(&to, &from, region[0], stream);
    }
    return result;
}

static CUresult copy_slices(const struct tsl_place *dst, const struct tsl_place *src, const size_t region[3],
                            CUstream stream)
{
    const size_t slice_region[3] = {region[0], region[1], 1};
    CUresult result = CUDA_SUCCESS;

    for (size_t slice = 0; slice < region[2] && !result; slice++) {
        struct tsl_place to = *dst, from = *src;

        to.offset += slice * dst->slice_pitch;
        from.offset += slice * src->slice_pitch;
        result = has_pitch(dst, region) && has_pitch(src, region) ? copy_3d(&to, &from, slice_region, stream)
                                                                  : copy_rows(&to, &from, slice_region, stream);
    }
    return result;
}

CUresult tsl_cuda_copy_box(const struct tsl_place *dst, const struct tsl_place *src, const size_t region[3],
                           CUstream stream)
{
    struct tsl_place to = *dst, from = *src;
    size_t box[3] = {region[0], region[1], region[2]};

    if (tsl_place_is_linear(dst, region) && tsl_place_is_linear(src, region))
        return copy_linear(dst, src, region[0] * region[1] * region[2], stream);
    if (box[1] == 1) { /* Slices of one row are rows. */
        to.row_pitch = dst->slice_pitch;
        from.row_pitch = src->slice_pitch;
        box[1] = box[2];
        box[2] = 1;
    }
    if (box[2] > 1 && has_pitch(&to, box) && has_pitch(&from, box) && is_3d(&to, box) && is_3d(&from, box))
        return copy_3d(&to, &from, box, stream);
    return copy_slices(&to, &from, box, stream);
}

/* ---- Between host and device ------------------------------------------------------------------------------------- */

bool tsl_cuda_is_pinned_at(const void *at)
{
    CUmemorytype type = 0;

    return tsl_cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)at) ==
               CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_HOST;
}

/* Is the memory pinned for good, by the application or by us? Ranges are pinned as one, so both ends tell. */
static bool is_pinned(const struct tsl_place *place, const size_t region[3])
{
    const char *begin = host_of(place);
    size_t size = tsl_place_span(place, region);

    return !tsl_cuda_region_meets(begin, size) && tsl_cuda_is_pinned_at(begin) &&
           tsl_cuda_is_pinned_at(begin + size - 1);
}

static size_t bytes_of(const size_t region[3])
{
    return region[0] * region[1] * region[2];
}

/* The box as it lies packed in a piece. */
static struct tsl_place packed(void *host, const size_t region[3])
{
    return (struct tsl_place){.host = host, .row_pitch = region[0], .slice_pitch = region[0] * region[1]};
}

static struct tsl_cuda_due *new_due(struct tsl_cuda_member *member, const struct tsl_copy *copy)
{
    struct tsl_cuda_due *due = calloc(1, sizeof(*due));

    if (!due)
        return NULL;
    due->piece = tsl_cuda_piece_get(member, bytes_of(copy->region));
    if (!due->piece) {
        free(due);
        return NULL;
    }
    due->to_host = !copy->dst.mem;
    due->place = due->to_host ? copy->dst : copy->src;
    memcpy(due->region, copy->region, sizeof(due->region));
    return due;
}

/* Through a piece. CL_OUT_OF_HOST_MEMORY: there is none. */
static cl_int copy_small(struct tsl_cuda_lane *lane, const struct tsl_copy *copy)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);
    struct tsl_cuda_due *due = new_due(member, copy);
    struct tsl_place side;
    CUresult result;
    cl_int error;

    if (!due)
        return CL_OUT_OF_HOST_MEMORY;
    side = packed(due->piece->host, copy->region);
    if (due->to_host) {
        result = tsl_cuda_copy_box(&side, &copy->src, copy->region, lane->stream);
    } else {
        tsl_cuda_pack(due->piece->host, &copy->src, copy->region);
        result = tsl_cuda_copy_box(&copy->dst, &side, copy->region, lane->stream);
    }
    error = tsl_cuda_error(member, result);
    if (!error)
        error = tsl_cuda_due_add(lane, due);
    if (error) {
        tsl_cu.cuStreamSynchronize(lane->stream); /* Until then a part of it may use the piece. */
        tsl_cuda_piece_put(member, due->piece);
        free(due);
    }
    return error;
}

static const struct tsl_place *host_side(const struct tsl_copy *copy)
{
    return copy->src.mem ? &copy->dst : &copy->src;
}

bool tsl_cuda_copy_is_direct(const struct tsl_copy *copy)
{
    if (copy->dst.mem && copy->src.mem)
        return tsl_cuda_reaches(owner(&copy->src), owner(&copy->dst)) &&
               tsl_cuda_spread_reaches(tsl_cuda_mem(copy->src.mem), owner(&copy->dst)) &&
               tsl_cuda_spread_reaches(tsl_cuda_mem(copy->dst.mem), owner(&copy->src));
    return is_pinned(host_side(copy), copy->region);
}

static cl_int copy_directly(struct tsl_cuda_lane *lane, const struct tsl_copy *copy)
{
    return tsl_cuda_error(tsl_cuda_member(lane->base.member),
                          tsl_cuda_copy_box(&copy->dst, &copy->src, copy->region, lane->stream));
}

/* size bytes of a linear copy, from its `at`-th on. */
static struct tsl_copy part_of(const struct tsl_copy *copy, size_t at, size_t size)
{
    struct tsl_copy part = *copy;

    part.dst.offset += at;
    part.src.offset += at;
    part.region[0] = size;
    part.region[1] = part.region[2] = 1;
    return part;
}

static cl_int copy_end(struct tsl_cuda_lane *lane, const struct tsl_copy *copy, size_t at, size_t size)
{
    struct tsl_copy part = part_of(copy, at, size);

    return size ? copy_small(lane, &part) : CL_SUCCESS;
}

/* Waits for what the lane has submitted, and does what is due after it. */
static void stop_copies(struct tsl_cuda_lane *lane)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);

    tsl_cu.cuStreamSynchronize(lane->stream);
    tsl_cuda_dues_run(member, tsl_cuda_dues_now(member));
}

/* All but so many bytes at its ends goes straight. On error nothing is on its way any more. */
static cl_int copy_with_ends(struct tsl_cuda_lane *lane, const struct tsl_copy *copy, size_t before, size_t behind)
{
    size_t size = bytes_of(copy->region);
    struct tsl_copy most = part_of(copy, before, size - before - behind);
    cl_int error = copy_directly(lane, &most);

    if (!error)
        error = copy_end(lane, copy, 0, before);
    if (!error)
        error = copy_end(lane, copy, size - behind, behind);
    if (error)
        stop_copies(lane);
    return error;
}

/* What this thread copies to pinned pieces by itself: the pipeline's threads wake later than that ends. */
#define BY_PIECES_MAX ((size_t)768 << 10)

static bool is_short_write(const struct tsl_copy *copy)
{
    size_t size = bytes_of(copy->region);

    return !copy->src.mem && size > TSL_CUDA_PIECE_MAX && size <= BY_PIECES_MAX && tsl_copy_is_linear(copy);
}

/* While one piece is on the bus the next is filled. On error nothing is on its way any more. */
static cl_int copy_by_pieces(struct tsl_cuda_lane *lane, const struct tsl_copy *copy)
{
    size_t size = bytes_of(copy->region), part;
    cl_int error = CL_SUCCESS;

    for (size_t at = 0; at < size && !error; at += part) {
        part = size - at < TSL_CUDA_PIECE_MAX ? size - at : TSL_CUDA_PIECE_MAX;
        error = copy_end(lane, copy, at, part);
    }
    if (error)
        stop_copies(lane);
    return error;
}

/* More than that at an end isn't what is left of a page. */
#define END_MAX ((size_t)64 << 10)

static cl_int copy_in_region(struct tsl_cuda_lane *lane, const struct tsl_copy *copy, size_t before, size_t behind)
{
    if (!before && !behind)
        return copy_directly(lane, copy);
    if (before > END_MAX || behind > END_MAX || bytes_of(copy->region) <= TSL_CUDA_PIECE_MAX ||
        !tsl_copy_is_linear(copy))
        return CL_OUT_OF_HOST_MEMORY;
    return copy_with_ends(lane, copy, before, behind);
}

/* A copy from or to the application's memory where that is pinned. CL_OUT_OF_HOST_MEMORY: it isn't, or too little of
 * it. */
static cl_int copy_pinned(struct tsl_cuda_lane *lane, const struct tsl_copy *copy)
{
    const struct tsl_place *place = host_side(copy);
    size_t before, behind;
    struct tsl_cuda_region *region =
        tsl_cuda_region_use(host_of(place), tsl_place_span(place, copy->region), &before, &behind);
    cl_int error;

    if (!region)
        return CL_OUT_OF_HOST_MEMORY;
    error = copy_in_region(lane, copy, before, behind);
    tsl_cuda_region_used(region, lane, !error);
    return error;
}

bool tsl_cuda_copy_ready(struct tsl_cuda_member *member, const struct tsl_copy *copy)
{
    return !tsl_cuda_dues_meet(member, host_side(copy), copy->region);
}

static bool touches_host(const struct tsl_copy *copy)
{
    return !copy->dst.mem || !copy->src.mem;
}

/* Where no pinned memory can be had: CUDA's own way for pageable memory, which is slow, and is waited for. */
static cl_int copy_plainly(struct tsl_cuda_lane *lane, const struct tsl_copy *copy)
{
    CUresult result = tsl_cuda_copy_box(&copy->dst, &copy->src, copy->region, lane->stream);
    CUresult ended = tsl_cu.cuStreamSynchronize(lane->stream);

    return tsl_cuda_error(tsl_cuda_member(lane->base.member), result ? result : ended);
}

cl_int tsl_cuda_run_copy(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work)
{
    const struct tsl_copy *copy = &work->copy;
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    if (tsl_cuda_copy_is_direct(copy))
        return copy_directly(lane, copy);
    if (touches_host(copy))
        error = copy_pinned(lane, copy);
    if (error == CL_OUT_OF_HOST_MEMORY && touches_host(copy) && bytes_of(copy->region) <= TSL_CUDA_PIECE_MAX)
        error = copy_small(lane, copy);
    if (error == CL_OUT_OF_HOST_MEMORY && is_short_write(copy))
        error = copy_by_pieces(lane, copy);
    if (error == CL_OUT_OF_HOST_MEMORY)
        error = tsl_cuda_pipe(lane, copy);
    return error == CL_OUT_OF_HOST_MEMORY && touches_host(copy) ? copy_plainly(lane, copy) : error;
}

static bool is_reachable(const struct tsl_place *place)
{
    return !place->mem || place->mem->member->driver == &tsl_cuda_driver;
}

cl_int tsl_cuda_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                     struct tsl_fence **fence)
{
    struct tsl_cuda_work work = {.kind = TSL_CUDA_COPY, .copy = *copy};

    if (!is_reachable(&copy->dst) || !is_reachable(&copy->src) || (!copy->dst.mem && !copy->src.mem))
        return CL_INVALID_MEM_OBJECT;
    work.spread = is_spread(&copy->dst) || is_spread(&copy->src);
    return tsl_cuda_submit(lane, &work, waits, fence);
}

/* ---- Fills ------------------------------------------------------------------------------------------------------- */

static uint32_t word_of(const struct tsl_cuda_work *work, size_t index)
{
    uint32_t word;

    memcpy(&word, work->fill.pattern + 4 * index, sizeof(word));
    return word;
}

static CUdeviceptr row_of(const struct tsl_cuda_work *work, size_t row, size_t slice)
{
    return tsl_cuda_mem(work->fill.dst.mem)->address + tsl_place_row(&work->fill.dst, row, slice);
}

/* Each word of the pattern by itself, in one row of the box: a column of that memory seen as rows of one pattern. */
static CUresult set_columns(const struct tsl_cuda_work *work, CUdeviceptr address, CUstream stream)
{
    size_t size = work->fill.pattern_size, n_rows = work->fill.region[0] / size, n_words = size / 4;
    CUresult result = CUDA_SUCCESS;

    for (size_t row = 0; row < n_rows; row += SET_ROWS)
        for (size_t word = 0; word < n_words && !result; word++)
            result = tsl_cu.cuMemsetD2D32Async(address + row * size + 4 * word, size, word_of(work, word), 1,
                                               n_rows - row < SET_ROWS ? n_rows - row : SET_ROWS, stream);
    return result;
}

/* The pattern as a shorter one that it repeats, where it does. */
static size_t shortest(const struct tsl_cuda_work *work)
{
    size_t size = work->fill.pattern_size;

    while (size > 1 && !memcmp(work->fill.pattern, work->fill.pattern + size / 2, size / 2))
        size /= 2;
    return size;
}

/* Up to SET_ROWS rows of the box by a word of 1, 2 or 4 bytes. */
static CUresult set_some_rows(const struct tsl_cuda_work *work, CUdeviceptr address, size_t n_rows, size_t word_size,
                              CUstream stream)
{
    size_t n = work->fill.region[0] / word_size, pitch = work->fill.dst.row_pitch;
    uint16_t half;

    switch (word_size) {
    case 1:
        return n_rows == 1 ? tsl_cu.cuMemsetD8Async(address, work->fill.pattern[0], n, stream)
                           : tsl_cu.cuMemsetD2D8Async(address, pitch, work->fill.pattern[0], n, n_rows, stream);
    case 2:
        memcpy(&half, work->fill.pattern, sizeof(half));
        return n_rows == 1 ? tsl_cu.cuMemsetD16Async(address, half, n, stream)
                           : tsl_cu.cuMemsetD2D16Async(address, pitch, half, n, n_rows, stream);
    default:
        return n_rows == 1 ? tsl_cu.cuMemsetD32Async(address, word_of(work, 0), n, stream)
                           : tsl_cu.cuMemsetD2D32Async(address, pitch, word_of(work, 0), n, n_rows, stream);
    }
}

static CUresult set_slice(const struct tsl_cuda_work *work, size_t slice, size_t word_size, CUstream stream)
{
    size_t n_rows = work->fill.region[1], step = word_size > 4 ? 1 : SET_ROWS;
    CUresult result = CUDA_SUCCESS;

    for (size_t row = 0; row < n_rows && !result; row += step) {
        CUdeviceptr address = row_of(work, row, slice);

        result = word_size > 4
                     ? set_columns(work, address, stream)
                     : set_some_rows(work, address, n_rows - row < step ? n_rows - row : step, word_size, stream);
    }
    return result;
}

cl_int tsl_cuda_run_fill(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work)
{
    size_t word_size = shortest(work);
    CUresult result = CUDA_SUCCESS;

    for (size_t slice = 0; slice < work->fill.region[2] && !result; slice++)
        result = set_slice(work, slice, word_size, lane->stream);
    return tsl_cuda_error(tsl_cuda_member(lane->base.member), result);
}

cl_int tsl_cuda_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                     struct tsl_fence **fence)
{
    struct tsl_cuda_work work = {.kind = TSL_CUDA_FILL};
    const struct tsl_place *dst = &fill->dst;
    size_t size = fill->pattern_size;

    if (!dst->mem || dst->mem->member != lane->member)
        return CL_INVALID_MEM_OBJECT;
    if (size == 0 || size > sizeof(work.fill.pattern) || fill->region[0] % size)
        return CL_INVALID_VALUE;
    work.spread = is_spread(dst);
    work.fill.dst = *dst;
    memcpy(work.fill.region, fill->region, sizeof(work.fill.region));
    work.fill.pattern_size = size;
    memcpy(work.fill.pattern, fill->pattern, size);
    return tsl_cuda_submit(lane, &work, waits, fence);
}

/* ---- Gathering --------------------------------------------------------------------------------------------------- */

/* Copy engines are as fast for large pieces, and leave the rest of the GPU to kernels. In smaller units the kernel is
 * slower by as much. */
#define LARGE_PIECE ((uint64_t)4 << 20)

static bool are_large(const struct tsl_gather *gather, uint64_t size)
{
    return size / gather->n > LARGE_PIECE / TSL_GATHER_UNIT * tsl_gather_kernels_unit(gather);
}

static bool is_plain(const struct tsl_mem *mem)
{
    const struct tsl_cuda_mem *m = tsl_cuda_mem((struct tsl_mem *)mem);

    return !m->image && !m->host && !m->region && !m->svm && !m->spread && m->address % 16 == 0;
}

/* Do kernels of the member reach that memory? */
static bool reaches(struct tsl_cuda_member *m, const struct tsl_mem *mem)
{
    const struct tsl_cuda_member *other = tsl_cuda_member(mem->member);

    return is_plain(mem) && (other == m || (atomic_load(&m->peers) >> other->slot & 1));
}

cl_int tsl_cuda_gather(struct tsl_lane *lane, const struct tsl_gather *gather, const struct tsl_waits *waits,
                       struct tsl_fence **fence)
{
    struct tsl_cuda_member *m = tsl_cuda_member(lane->member);
    uint64_t size = 0;

    if (gather->dst->member != lane->member)
        return CL_INVALID_MEM_OBJECT;
    for (unsigned i = 0; i < gather->n; i++)
        size += gather->list[i].end - gather->list[i].begin;
    if (are_large(gather, size) || !reaches(m, gather->dst) || !reaches(m, gather->src))
        return CL_INVALID_OPERATION;
    return tsl_gather_kernels_run(&m->gather, lane, gather, waits, fence);
}

/* ---- Combining --------------------------------------------------------------------------------------------------- */

bool tsl_cuda_can_combine(struct tsl_member *member)
{
    return tsl_combine_kernels_make(&tsl_cuda_member(member)->combine, member);
}

cl_int tsl_cuda_combine(struct tsl_lane *lane, const struct tsl_combine *combine, const struct tsl_waits *waits,
                        struct tsl_fence **fence)
{
    if (!tsl_combine_is_of(combine, lane->member))
        return CL_INVALID_MEM_OBJECT;
    return tsl_combine_kernels_run(&tsl_cuda_member(lane->member)->combine, lane, combine, waits, fence);
}
