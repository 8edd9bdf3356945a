/* The driver of other nodes' members and a node's server in one process, with a head of the test's between them: bytes
 * take all ways there and back, and a connection that ends is a loss as the contract has it (driver/member.h). The
 * node's members are the fake driver's, which watches that the server keeps the contract. */
/* timeout: 120 */
#include "base/clock.h"
#include "driver/fake.h"
#include "members/members.h"
#include "node/server.h"
#include "remote/remote_driver.h"

#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MEMORY_SIZE (2 * TSL_REMOTE_N_SLOTS * TSL_REMOTE_PIECE)

/* ---- The head ---------------------------------------------------------------------------------------------------- */

/* What the server said; payloads wait for a slot. */
struct said {
    bool is_payload;
    uint8_t *data;
    size_t size;
    STAILQ_ENTRY(said) link;
};

static struct {
    char path[64];
    int listener, socket, memory;
    uint8_t *slots;
    bool taken[TSL_REMOTE_N_SLOTS];
    struct node_server *server;
    STAILQ_HEAD(, said) said;
    atomic_bool ends; /* the connection is cut */
    pthread_t thread;
} head = {.said = STAILQ_HEAD_INITIALIZER(head.said)};

static void send_all(const void *data, size_t size)
{
    for (const uint8_t *at = data; size;) {
        ssize_t n = send(head.socket, at, size, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        at += n;
        size -= (size_t)n;
    }
}

static void send_frame(const struct tsl_remote_frame *frame)
{
    uint8_t bytes[TSL_REMOTE_FRAME_SIZE];

    tsl_remote_put_frame(bytes, frame);
    send_all(bytes, sizeof(bytes));
}

static void keep(bool is_payload, uint8_t *data, size_t size)
{
    struct said *said = malloc(sizeof(*said));

    *said = (struct said){.is_payload = is_payload, .data = data, .size = size};
    STAILQ_INSERT_TAIL(&head.said, said, link);
}

static void keep_messages(void *arg, uint32_t program, uint8_t *data, size_t size)
{
    (void)arg;
    (void)program;
    keep(false, data, size);
}

static void keep_payload(void *arg, uint32_t program, void *data, size_t size)
{
    (void)arg;
    (void)program;
    keep(true, data, size);
}

static void hand_on(void)
{
    struct said *said;

    while ((said = STAILQ_FIRST(&head.said))) {
        struct tsl_remote_frame frame = {.kind = TSL_REMOTE_PAYLOAD, .size = (uint32_t)said->size};

        while (said->is_payload && frame.slot < TSL_REMOTE_N_SLOTS && head.taken[frame.slot])
            frame.slot++;
        if (frame.slot == TSL_REMOTE_N_SLOTS)
            return;
        if (said->is_payload) {
            head.taken[frame.slot] = true;
            memcpy(head.slots + (TSL_REMOTE_N_SLOTS + frame.slot) * TSL_REMOTE_PIECE, said->data, said->size);
            send_frame(&frame);
        } else {
            frame.kind = TSL_REMOTE_MESSAGES;
            frame.size -= TSL_REMOTE_FRAME_SIZE;
            tsl_remote_put_frame(said->data, &frame);
            send_all(said->data, said->size);
        }
        STAILQ_REMOVE_HEAD(&head.said, link);
        free(said->data);
        free(said);
    }
}

static bool receive_all(void *data, size_t size)
{
    return recv(head.socket, data, size, MSG_WAITALL) == (ssize_t)size;
}

static void send_hello(void)
{
    struct tsl_remote_hello hello = {
        .version = TSL_REMOTE_VERSION, .name = (char *)"x", .host = (char *)"", .n_nodes = 1};
    uint8_t none[TSL_REMOTE_FRAME_SIZE] = {0};
    struct tsl_writer writer = {.size = 0};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);

    tsl_write_raw(&writer, none, sizeof(none));
    tsl_remote_put_hello(&writer, &hello);
    tsl_remote_put_frame(
        writer.data,
        &(struct tsl_remote_frame){.kind = TSL_REMOTE_HELLO, .size = (uint32_t)(writer.size - TSL_REMOTE_FRAME_SIZE)});
    part = (struct iovec){writer.data, writer.size};
    *first = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(first), &head.memory, sizeof(int));
    sendmsg(head.socket, &message, MSG_NOSIGNAL);
    free(writer.data);
}

static bool take_payload(const struct tsl_remote_frame *frame)
{
    void *bytes;
    struct node_work *work = node_server_expect(head.server, 1, frame->size, &bytes);

    if (!work)
        return false;
    memcpy(bytes, head.slots + frame->slot * TSL_REMOTE_PIECE, frame->size);
    node_server_arrived(head.server, work);
    send_frame(&(struct tsl_remote_frame){.kind = TSL_REMOTE_SLOT, .slot = frame->slot});
    return true;
}

/* False: the connection is over. */
static bool take_frame(void)
{
    uint8_t bytes[TSL_REMOTE_FRAME_SIZE], *body;
    struct tsl_remote_frame frame;

    if (!receive_all(bytes, sizeof(bytes)) || !tsl_remote_get_frame(bytes, &frame))
        return false;
    if (frame.kind == TSL_REMOTE_PAYLOAD)
        return take_payload(&frame);
    if (frame.kind == TSL_REMOTE_SLOT)
        head.taken[frame.slot] = false;
    body = malloc(frame.size + 1);
    if (frame.size && !receive_all(body, frame.size)) {
        free(body);
        return false;
    }
    if (frame.kind == TSL_REMOTE_MESSAGES)
        return node_server_take(head.server, 1, body, 0, frame.size);
    if (frame.kind == TSL_REMOTE_HELLO)
        send_hello();
    free(body);
    return true;
}

static void *run_head(void *arg)
{
    struct node_out out = {.messages = keep_messages, .payload = keep_payload};
    struct pollfd poll_for = {.events = POLLIN};

    (void)arg;
    head.server = node_server_create(&out);
    head.socket = poll_for.fd = accept(head.listener, NULL, NULL);
    while (!atomic_load(&head.ends)) {
        if (poll(&poll_for, 1, 0) > 0 && !take_frame())
            break;
        if (!node_server_step(head.server))
            node_server_wait(head.server, 100);
        hand_on();
    }
    close(head.socket);
    node_server_bye(head.server, 1);
    while (!node_server_is_empty(head.server))
        if (!node_server_step(head.server))
            node_server_wait(head.server, 1000);
    node_server_destroy(head.server);
    return NULL;
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static struct tsl_path paths[4];
static unsigned n_paths;
static struct tsl_member *members[2];
static const struct tsl_driver *const driver = &tsl_remote_driver;

static void found(void *arg, const struct tsl_path *path)
{
    (void)arg;
    assert_true(n_paths < 4);
    paths[n_paths++] = *path;
}

static int begin(void **state)
{
    struct tsl_fake_setup setup = {.n_members = 2, .threads = true, .seed = 1};
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)state;
    alarm(100);
    setup.members[0].gates = true;
    setup.members[0].peer = setup.members[1].peer = true;
    setup.members[0].memory_size = setup.members[1].memory_size = 64 << 20;
    tsl_fake_begin(&setup);
    tsl_members_register_alone(&tsl_fake_driver);
    snprintf(head.path, sizeof(head.path), "/tmp/tesela-pair-%d", (int)getpid());
    strcpy(address.sun_path, head.path);
    head.memory = memfd_create("pair", MFD_CLOEXEC);
    assert_int_equal(ftruncate(head.memory, MEMORY_SIZE), 0);
    head.slots = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, head.memory, 0);
    head.listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(head.listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(head.listener, 1), 0);
    setenv("TESELA_NODES", head.path, 1);
    assert_int_equal(pthread_create(&head.thread, NULL, run_head, NULL), 0);
    assert_int_equal(driver->probe(found, NULL), CL_SUCCESS);
    assert_int_equal(n_paths, 2);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(driver->open(&paths[i], &members[i]), CL_SUCCESS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(head.path);
    for (unsigned i = 0; i < 2; i++)
        driver->close(members[i]);
    for (unsigned i = 0; i < n_paths; i++) {
        free(paths[i].platform_name);
        free(paths[i].device_name);
        free(paths[i].driver_version);
    }
    tsl_members_reset();
    tsl_fake_end();
    return 0;
}

static struct tsl_lane *new_lane(struct tsl_member *member)
{
    struct tsl_lane *lane;

    assert_int_equal(driver->lane_create(member, true, &lane), CL_SUCCESS);
    return lane;
}

static struct tsl_mem *new_mem(struct tsl_member *member, size_t size)
{
    struct tsl_mem *mem;

    assert_int_equal(driver->mem_alloc(member, size, CL_MEM_READ_WRITE, NULL, &mem), CL_SUCCESS);
    return mem;
}

static cl_int copy(struct tsl_lane *lane, struct tsl_place dst, struct tsl_place src, size_t size,
                   struct tsl_fence *wait, struct tsl_fence **fence)
{
    struct tsl_copy as = {.dst = dst, .src = src, .region = {size, 1, 1}};
    struct tsl_waits waits = {1, &wait};

    return driver->copy(lane, &as, wait ? &waits : NULL, fence);
}

static void no_violation(void)
{
    for (unsigned i = 0; tsl_fake_violation(i); i++)
        print_error("%s\n", tsl_fake_violation(i));
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
}

/* From the host to one member, on to its neighbour (which waits), and back; then, in the same lane, what was read is
 * written again before anybody has waited for it. */
static void bytes_take_all_ways(void **state)
{
    static const size_t sizes[] = {1, 8192, 8193, 100000, 1 << 20, (5 << 20) + 77, 20 << 20};

    (void)state;
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = sizes[i];
        struct tsl_lane *a = new_lane(members[0]), *b = new_lane(members[1]);
        struct tsl_mem *there = new_mem(members[0], size), *next = new_mem(members[1], size);
        uint8_t *in = malloc(size), *out = calloc(1, size), *again = calloc(1, size);
        struct tsl_fence *written, *copied;
        struct tsl_place mem_a = {.mem = there}, mem_b = {.mem = next};

        for (size_t j = 0; j < size; j++)
            in[j] = (uint8_t)(j * 31 + j / 1000 + i);
        assert_true(driver->can_copy_peer(members[0], members[1]));
        assert_int_equal(copy(a, mem_a, (struct tsl_place){.host = in}, size, NULL, &written), CL_SUCCESS);
        assert_true(driver->can_wait(members[1], written));
        assert_int_equal(copy(b, mem_b, mem_a, size, written, &copied), CL_SUCCESS);
        assert_int_equal(copy(b, (struct tsl_place){.host = out}, mem_b, size, NULL, NULL), CL_SUCCESS);
        assert_int_equal(copy(b, mem_b, (struct tsl_place){.host = out}, size, NULL, NULL), CL_SUCCESS);
        assert_int_equal(copy(b, (struct tsl_place){.host = again}, mem_b, size, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->finish(b), CL_SUCCESS);
        assert_memory_equal(out, in, size);
        assert_memory_equal(again, in, size);
        tsl_fence_unref(written);
        tsl_fence_unref(copied);
        driver->mem_free(there);
        driver->mem_free(next);
        driver->lane_free(a);
        driver->lane_free(b);
        free(in);
        free(out);
        free(again);
    }
    no_violation();
}

/* Books: what doesn't fit is refused here, and near the end the node is asked. */
static void memory_is_booked(void **state)
{
    size_t most = members[0]->caps.memory_size;
    struct tsl_mem *mems[8], *none;

    (void)state;
    for (unsigned i = 0; i < 7; i++)
        mems[i] = new_mem(members[0], most / 8);
    assert_int_equal(driver->mem_alloc(members[0], most / 4, CL_MEM_READ_WRITE, NULL, &none),
                     CL_MEM_OBJECT_ALLOCATION_FAILURE);
    mems[7] = new_mem(members[0], most / 8);
    for (unsigned i = 0; i < 8; i++)
        driver->mem_free(mems[i]);
    driver->mem_free(new_mem(members[0], most));
    no_violation();
}

static void note(void *arg, cl_int status)
{
    atomic_store((atomic_int *)arg, status);
}

/* Work behind a closed gate ends when that opens, in its turn; all else at once. */
static void a_cut_connection_is_a_loss(void **state)
{
    struct tsl_lane *free_lane = new_lane(members[0]), *held = new_lane(members[1]);
    struct tsl_mem *mem = new_mem(members[1], 4096);
    struct tsl_fence *gate, *behind, *last;
    uint8_t bytes[4096] = {0};
    atomic_int told = 1;
    struct tsl_mem *none;
    struct tsl_fence *refused;

    (void)state;
    assert_int_equal(driver->gate_create(members[1], &gate), CL_SUCCESS);
    assert_int_equal(copy(held, (struct tsl_place){.mem = mem}, (struct tsl_place){.host = bytes}, 4096, gate, &behind),
                     CL_SUCCESS);
    assert_int_equal(driver->mark(held, NULL, &last), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(last, note, &told), CL_SUCCESS);
    assert_int_equal(driver->flush(held), CL_SUCCESS);
    assert_int_equal(driver->finish(free_lane), CL_SUCCESS);
    atomic_store(&head.ends, true);
    for (int i = 0; i < 5000 && !tsl_member_is_lost(members[1]); i++)
        usleep(1000);
    assert_true(tsl_member_is_lost(members[0]) && tsl_member_is_lost(members[1]));
    assert_int_equal(driver->finish(free_lane), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->finish(held), CL_DEVICE_NOT_AVAILABLE);
    assert_true(driver->fence_status(behind) > 0 && driver->fence_status(last) > 0);
    assert_int_equal(atomic_load(&told), 1);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(behind), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->fence_wait(last), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(atomic_load(&told), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->mem_alloc(members[0], 64, 0, NULL, &none), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->mark(held, NULL, &refused), CL_DEVICE_NOT_AVAILABLE);
    tsl_fence_unref(gate);
    tsl_fence_unref(behind);
    tsl_fence_unref(last);
    driver->mem_free(mem);
    driver->lane_free(held);
    driver->lane_free(free_lane);
    /* The server lets go of all. */
    assert_int_equal(pthread_join(head.thread, NULL), 0);
    struct tsl_fake_live live = tsl_fake_live();
    assert_int_equal(live.lanes + live.mems + live.subs + live.fences + live.programs + live.kernels, 0);
    no_violation();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_take_all_ways),
        cmocka_unit_test(memory_is_booked),
        cmocka_unit_test(a_cut_connection_is_a_loss),
    };

    return cmocka_run_group_tests_name("pair", tests, begin, end);
}
