/* One program: its requests, one after the other, and its replies. */
#include "base/clock.h"
#include "node/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

/* Bytes of replies from which on they make a frame: several of the longest would be none that a head takes. */
#define MOST_REPLIES ((size_t)1 << 20)
/* Room for the longest reply's other fields. */
#define LONGEST_DATA (TSL_REMOTE_MAX_FRAME - 4096)

void node_send_replies(struct node_session *session)
{
    const struct node_out *out = &session->server->out;

    if (session->out.size && !session->closing)
        out->messages(out->arg, session->program, session->out.data, session->out.size);
    else
        free(session->out.data);
    session->out = (struct tsl_writer){.size = 0};
}

static void put_reply(struct node_session *session, const struct tsl_remote_reply *reply)
{
    static const uint8_t none[TSL_REMOTE_FRAME_SIZE];
    struct tsl_remote_reply now = *reply;

    if (session->closing)
        return;
    if (session->out.size + reply->data_size > MOST_REPLIES)
        node_send_replies(session);
    if (session->out.size == 0)
        tsl_write_raw(&session->out, none, sizeof(none));
    now.now_ns = tsl_clock_ns();
    tsl_remote_put_reply(&session->out, &now);
}

/* A loss is told before the first error that comes of it. */
static void tell_losses(struct node_session *session)
{
    for (unsigned i = 0; i < session->server->n_members; i++) {
        if (!tsl_member_is_lost(session->server->members[i]) || (session->told_lost >> i & 1))
            continue;
        session->told_lost |= 1u << i;
        put_reply(session, &(struct tsl_remote_reply){
                               .kind = TSL_REMOTE_MEMBER, .id = i, .data = "it is lost", .data_size = 10});
    }
}

void node_reply(struct node_session *session, const struct tsl_remote_reply *reply)
{
    if (reply->status < 0)
        tell_losses(session);
    put_reply(session, reply);
}

void node_answer(struct node_session *session, uint32_t number, cl_int status, const void *data, size_t size)
{
    if (size > LONGEST_DATA) {
        status = CL_OUT_OF_RESOURCES;
        size = 0;
    }
    node_reply(session,
               &(struct tsl_remote_reply){
                   .kind = TSL_REMOTE_ANSWER, .id = number, .status = status, .data = data, .data_size = size});
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

static uint32_t peers_of(const struct node_server *server, struct tsl_member *member)
{
    uint32_t peers = 0;

    for (unsigned i = 0; i < server->n_members; i++) {
        struct tsl_member *other = server->members[i];

        if (other == member || (other->driver == member->driver && member->driver->can_copy_peer(member, other) &&
                                member->driver->can_copy_peer(other, member)))
            peers |= 1u << i;
    }
    return peers;
}

static void put_member(struct node_server *server, struct tsl_writer *writer, struct tsl_member *member)
{
    const struct tsl_path *path = member->path;
    const struct tsl_driver *driver = member->driver;
    struct tsl_remote_member is = {.driver = (char *)driver->name,
                                   .id = (char *)path->id,
                                   .platform_name = path->platform_name,
                                   .device_name = path->device_name,
                                   .driver_version = path->driver_version,
                                   .type = path->type,
                                   .identity = path->identity,
                                   .caps = member->caps,
                                   .windows = true,
                                   .combines = driver->can_combine != NULL,
                                   .images = driver->image_alloc != NULL,
                                   .variables = driver->program_variables != NULL,
                                   .links = driver->compile && driver->link,
                                   .windows_by = driver->windows_by != NULL,
                                   .substitutes = driver->substitute != NULL,
                                   .svm = node_svm_of(member),
                                   .peers = peers_of(server, member)};

    is.identity.host_id = tsl_remote_host_id();
    is.caps.access_holds = is.caps.access_holds && driver->asks_access;
    tsl_remote_put_member(writer, &is);
}

static bool answer_members(struct node_session *session, const struct tsl_remote_request *request)
{
    struct node_server *server = session->server;
    struct tsl_writer writer = {.size = 0};

    tsl_write_u32(&writer, server->n_members);
    for (unsigned i = 0; i < server->n_members; i++)
        put_member(server, &writer, server->members[i]);
    node_answer(session, request->answer, writer.failed ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS, writer.data, writer.size);
    free(writer.data);
    return true;
}

/* ---- Lanes and memory -------------------------------------------------------------------------------------------- */

bool node_make_lane(struct node_session *session, uint64_t id, uint64_t flags, struct tsl_member *member)
{
    struct node_lane *lane = node_create(session, sizeof(*lane), NODE_LANE, id, member);

    if (!lane)
        return false;
    TAILQ_INIT(&lane->works);
    if (member->driver->lane_create(member, flags & (TSL_LANE_PROFILES | TSL_LANE_MOVES), &lane->lane)) {
        /* Nothing can be done without; the program learns it by the loss of its session. */
        HASH_DELETE(hh, session->objects, &lane->object);
        free(lane);
        return false;
    }
    TAILQ_INSERT_TAIL(&session->lanes, lane, link);
    return true;
}

static bool free_lane(struct node_session *session, uint64_t id)
{
    struct node_lane *lane = (struct node_lane *)node_find(session, id, NODE_LANE);

    if (lane)
        node_flush(lane);
    return node_forget(session, id, NODE_LANE);
}

static bool flush_lane(struct node_session *session, uint64_t id)
{
    struct node_lane *lane = (struct node_lane *)node_find(session, id, NODE_LANE);

    /* One that was freed is flushed for good. */
    if (lane)
        node_flush(lane);
    return true;
}

/* False: too large. */
static bool add_product(size_t *sum, size_t a, size_t b)
{
    size_t product;

    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

/* Its span, whatever its type, is no number that has wrapped around. */
static bool image_is_sound(const struct tsl_image_desc *image)
{
    size_t pixel = tsl_image_element_size(&image->format), row = 0, end = 0;

    return pixel && pixel == image->element_size && image->width && image->height && image->depth &&
           image->array_size && !__builtin_mul_overflow(image->width, pixel, &row) && image->row_pitch >= row &&
           image->slice_pitch && add_product(&end, image->row_pitch, image->height) &&
           add_product(&end, image->slice_pitch, image->depth) &&
           add_product(&end, image->slice_pitch, image->array_size) && add_product(&end, row, 1);
}

static bool has_images(const struct tsl_member *member)
{
    return member->driver->image_alloc && member->caps.images.n_read_args;
}

static cl_int allocate(struct node_mem *mem, const struct tsl_remote_request *request, struct tsl_member *member)
{
    if (request->kind == TSL_REMOTE_IMAGE)
        return member->driver->image_alloc(member, &request->image, request->flags, NULL, &mem->mem);
    return member->driver->mem_alloc(member, mem->size, request->flags, NULL, &mem->mem);
}

static bool make_mem(struct node_session *session, const struct tsl_remote_request *request, struct tsl_member *member)
{
    bool is_image = request->kind == TSL_REMOTE_IMAGE;
    struct node_mem *mem;

    if (is_image && (!has_images(member) || !image_is_sound(&request->image)))
        return false;
    mem = node_create(session, sizeof(*mem), NODE_MEM, request->id, member);
    if (!mem)
        return false;
    mem->is_image = is_image;
    mem->size = is_image ? tsl_image_span(&request->image) : request->size;
    mem->error = mem->size ? allocate(mem, request, member) : CL_INVALID_BUFFER_SIZE;
    if (mem->error)
        mem->mem = NULL;
    if (!request->answer)
        return true;
    node_answer(session, request->answer, mem->error, NULL, 0);
    if (mem->error)
        node_forget(session, request->id, NODE_MEM);
    return true;
}

/* A part of other memory, or an image on it. */
static bool make_view(struct node_session *session, const struct tsl_remote_request *request)
{
    struct node_mem *of = (struct node_mem *)node_find(session, request->of, NODE_MEM), *mem;
    bool is_image = request->kind == TSL_REMOTE_IMAGE_OF;
    size_t size;

    if (!of || of->is_image || (is_image && (!has_images(of->object.member) || !image_is_sound(&request->image))))
        return false;
    size = is_image ? tsl_image_span(&request->image) : request->size;
    if (!is_image && request->offset % of->object.member->caps.base_align)
        return false;
    if (request->offset > of->size || size > of->size - request->offset || size == 0)
        return false;
    mem = node_create(session, sizeof(*mem), NODE_MEM, request->id, of->object.member);
    if (!mem)
        return false;
    mem->of = of;
    node_ref(&of->object);
    mem->size = size;
    mem->is_image = is_image;
    mem->error = of->error;
    if (!mem->error && is_image)
        mem->error = of->object.member->driver->image_of(of->mem, &request->image, &mem->mem);
    else if (!mem->error)
        mem->error = of->object.member->driver->mem_sub(of->mem, request->offset, size, &mem->mem);
    if (mem->error)
        mem->mem = NULL;
    return true;
}

/* ---- Common memory ----------------------------------------------------------------------------------------------- */

static bool answer_common(struct node_session *session, const struct tsl_remote_request *request)
{
    struct tsl_writer writer = {.size = 0};

    if (!session->common)
        session->common = node_common_create(session->server);
    if (session->common)
        tsl_put_memory_file(&writer, node_common_is(session->common));
    node_answer(session, request->answer, session->common && !writer.failed ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY,
                writer.data, writer.size);
    free(writer.data);
    return true;
}

static bool take_mapped(struct node_session *session)
{
    if (session->common)
        node_common_set_mapped(session->common);
    return session->common != NULL;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static bool free_fence(struct node_session *session, uint64_t id)
{
    struct node_work *work = (struct node_work *)node_find(session, id, NODE_WORK);

    if (!work)
        return false;
    work->stays = false;
    if (work->is_gate && work->state != NODE_DONE) {
        /* Nobody can open it any more. */
        work->state = NODE_DONE;
        work->status = CL_INVALID_EVENT;
    }
    if (work->state == NODE_DONE)
        node_forget(session, id, NODE_WORK);
    return true;
}

static bool take_object(struct node_session *session, struct tsl_remote_request *request, struct tsl_member *member)
{
    switch (request->kind) {
    case TSL_REMOTE_LANE:
        return node_make_lane(session, request->id, request->flags, member);
    case TSL_REMOTE_LANE_FREE:
        return free_lane(session, request->id);
    case TSL_REMOTE_FLUSH:
        return flush_lane(session, request->id);
    case TSL_REMOTE_ALLOC:
    case TSL_REMOTE_IMAGE:
        return make_mem(session, request, member);
    case TSL_REMOTE_SVM:
        return node_make_svm(session, request, member);
    case TSL_REMOTE_SUB:
    case TSL_REMOTE_IMAGE_OF:
        return make_view(session, request);
    case TSL_REMOTE_MEM_FREE:
        return node_forget(session, request->id, NODE_MEM);
    case TSL_REMOTE_GATE:
        return node_take_gate(session, request);
    case TSL_REMOTE_OPEN:
        return node_take_open(session, request);
    case TSL_REMOTE_FENCE_FREE:
        return free_fence(session, request->id);
    case TSL_REMOTE_DATA:
        return node_take_data(session, request);
    case TSL_REMOTE_OPENS:
        return node_take_opens(session, request);
    case TSL_REMOTE_OPENED_BY:
        return node_take_opened_by(session, request);
    case TSL_REMOTE_PROGRAM_FREE:
        return node_forget(session, request->id, NODE_PROGRAM);
    case TSL_REMOTE_KERNEL_FREE:
        return node_forget(session, request->id, NODE_KERNEL);
    default:
        return false;
    }
}

bool node_take_request(struct node_session *session, struct tsl_remote_request *request, struct node_bytes *bytes)
{
    struct node_server *server = session->server;

    if (session->expects)
        return false; /* The payload must come first. */
    if (request->kind == TSL_REMOTE_MEMBERS)
        return answer_members(session, request);
    if (request->kind == TSL_REMOTE_PING) {
        node_answer(session, request->answer, CL_SUCCESS, NULL, 0);
        return true;
    }
    if (request->kind == TSL_REMOTE_COMMON)
        return answer_common(session, request);
    if (request->kind == TSL_REMOTE_COMMON_IS_MAPPED)
        return take_mapped(session);
    if (request->kind == TSL_REMOTE_SLOT_IS_FREE)
        return node_common_give(session->common, request->slot);
    if (request->member >= server->n_members)
        return false;
    if (tsl_remote_is_work(request->kind) || request->kind == TSL_REMOTE_FINISH)
        return node_take_work(session, request, bytes);
    if (request->kind == TSL_REMOTE_INFO || request->kind == TSL_REMOTE_FORMATS || request->kind >= TSL_REMOTE_BUILD) {
        if (request->kind != TSL_REMOTE_PROGRAM_FREE && request->kind != TSL_REMOTE_KERNEL_FREE)
            return node_post_job(session, request, bytes);
    }
    return take_object(session, request, server->members[request->member]);
}

/* Nothing of it is at work. Views before what they view: references see to it. */
void node_finish_session(struct node_session *session)
{
    struct node_object *object, *next;

    if (session->expects)
        node_unref(&session->expects->object);
    HASH_ITER(hh, session->objects, object, next)
    {
        HASH_DELETE(hh, session->objects, object);
        node_unref(object);
    }
    node_common_destroy(session->common);
    free(session->out.data);
    free(session);
}
