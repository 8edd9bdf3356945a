/* The driver of other nodes' members and two nodes' servers in one process, with a head of the test's between them:
 * bytes take all ways there and back, from node to node without the head, and a connection that ends is a loss as the
 * contract has it (driver/member.h). The node's members are the fake driver's, which watches that the server keeps the
 * contract. */
/* timeout: 120 */
/* variant: head TESELA_NODES_COMMON=off */
/* variant: common TESELA_NODES_COMMON=on */
#include "base/clock.h"
#include "base/settings.h"
#include "driver/fake.h"
#include "members/members.h"
#include "node/internal.h"
#include "node/server.h"
#include "node/stage.h"
#include "remote/internal.h"
#include "remote/remote_driver.h"

#include "hello.h"
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

#define N_NODES 2

/* What a server said; payloads wait for a slot. */
struct said {
    bool is_payload;
    unsigned node;
    uint8_t *data;
    size_t size;
    STAILQ_ENTRY(said) link;
};

static struct {
    char path[64];
    int listener, socket, memory;
    uint8_t *slots;
    bool taken[TSL_REMOTE_N_SLOTS];
    struct node_server *servers[N_NODES];
    STAILQ_HEAD(, said) said, said_to_peers; /* the latter's node: to whom */
    atomic_size_t n_through;                 /* bytes of programs' data that the head handed on */
    atomic_size_t n_frames;                  /* of requests */
    atomic_size_t n_asked, n_answered;       /* their bytes, and those of replies */
    atomic_size_t n_between;                 /* of nodes to each other */
    atomic_size_t n_reads;                   /* that nodes have told in slots */
    atomic_size_t n_held, n_most_held;       /* bytes of data that nodes have said and the head hasn't taken */
    atomic_bool loses; /* nodes learn that node 0 is lost, which says nothing to others any more */
    atomic_bool ends;  /* the connection is cut */
    atomic_bool holds; /* the program hears nothing of the nodes */
    pthread_t thread;
} head = {.said = STAILQ_HEAD_INITIALIZER(head.said), .said_to_peers = STAILQ_HEAD_INITIALIZER(head.said_to_peers)};

static const unsigned numbers[N_NODES] = {0, 1};

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

static struct said *keep(bool is_payload, const void *node, uint8_t *data, size_t size)
{
    struct said *said = malloc(sizeof(*said));

    *said = (struct said){.is_payload = is_payload, .node = *(const unsigned *)node, .data = data, .size = size};
    return said;
}

static void count_reads(const uint8_t *data, size_t size)
{
    struct tsl_reader reader = tsl_reader_of(data, size);
    struct tsl_remote_reply reply;

    while (reader.at < reader.size && tsl_remote_get_reply(&reader, &reply))
        atomic_fetch_add(&head.n_reads, reply.kind == TSL_REMOTE_READ_IS && reply.slot);
}

static void keep_messages(void *arg, uint32_t program, uint8_t *data, size_t size)
{
    struct said *said = keep(false, arg, data, size);

    count_reads(data + TSL_REMOTE_FRAME_SIZE, size - TSL_REMOTE_FRAME_SIZE);

    (void)program;
    STAILQ_INSERT_TAIL(&head.said, said, link);
}

static void keep_payload(void *arg, uint32_t program, void *data, size_t size)
{
    struct said *said = keep(true, arg, data, size);
    size_t held = atomic_fetch_add(&head.n_held, size) + size;

    (void)program;
    if (held > atomic_load(&head.n_most_held))
        atomic_store(&head.n_most_held, held);
    STAILQ_INSERT_TAIL(&head.said, said, link);
}

static void keep_for_peer(void *arg, unsigned node, uint32_t program, uint8_t *data, size_t size)
{
    struct said *said = keep(false, &numbers[node], data, size);

    assert_int_equal(program, 1);
    assert_int_not_equal(*(const unsigned *)arg, node);
    atomic_fetch_add(&head.n_between, 1);
    STAILQ_INSERT_TAIL(&head.said_to_peers, said, link);
}

static void tell_peers(void)
{
    struct said *said;

    while ((said = STAILQ_FIRST(&head.said_to_peers))) {
        unsigned from = 1 - said->node;

        STAILQ_REMOVE_HEAD(&head.said_to_peers, link);
        if (atomic_load(&head.loses))
            node_stage_give(said->data);
        else
            node_server_take_peer(head.servers[said->node], from, 1, said->data, TSL_REMOTE_FRAME_SIZE,
                                  said->size - TSL_REMOTE_FRAME_SIZE);
        free(said);
    }
}

static void drop_first(void)
{
    struct said *said = STAILQ_FIRST(&head.said);

    STAILQ_REMOVE_HEAD(&head.said, link);
    if (said->is_payload)
        atomic_fetch_sub(&head.n_held, said->size);
    (said->is_payload ? node_stage_give : free)(said->data);
    free(said);
}

static void hand_on(void)
{
    struct said *said;

    while ((said = STAILQ_FIRST(&head.said))) {
        struct tsl_remote_frame frame = {.kind = TSL_REMOTE_PAYLOAD, .peer = said->node, .size = (uint32_t)said->size};

        while (said->is_payload && frame.slot < TSL_REMOTE_N_SLOTS && head.taken[frame.slot])
            frame.slot++;
        if (frame.slot == TSL_REMOTE_N_SLOTS)
            return;
        if (said->is_payload) {
            head.taken[frame.slot] = true;
            atomic_fetch_add(&head.n_through, said->size);
            memcpy(head.slots + (TSL_REMOTE_N_SLOTS + frame.slot) * TSL_REMOTE_PIECE, said->data, said->size);
            send_frame(&frame);
        } else {
            frame.kind = TSL_REMOTE_MESSAGES;
            frame.size -= TSL_REMOTE_FRAME_SIZE;
            atomic_fetch_add(&head.n_answered, frame.size);
            tsl_remote_put_frame(said->data, &frame);
            send_all(said->data, said->size);
        }
        drop_first();
    }
}

static bool receive_all(void *data, size_t size)
{
    return recv(head.socket, data, size, MSG_WAITALL) == (ssize_t)size;
}

static bool take_payload(const struct tsl_remote_frame *frame)
{
    void *bytes;
    struct node_server *server = head.servers[frame->peer];
    struct node_work *work = node_server_expect(server, 1, frame->size, &bytes);

    if (!work)
        return false;
    memcpy(bytes, head.slots + frame->slot * TSL_REMOTE_PIECE, frame->size);
    node_server_arrived(server, work);
    atomic_fetch_add(&head.n_through, frame->size);
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
    if (frame.kind == TSL_REMOTE_MESSAGES) {
        atomic_fetch_add(&head.n_frames, 1);
        atomic_fetch_add(&head.n_asked, frame.size);
        return node_server_take(head.servers[frame.peer], 1, body, 0, frame.size);
    }
    if (frame.kind == TSL_REMOTE_HELLO)
        send_hello(head.socket, head.memory, N_NODES);
    free(body);
    return true;
}

static void *run_head(void *arg)
{
    struct node_out out = {
        .messages = keep_messages, .payload = keep_payload, .peer = keep_for_peer, .n_nodes = N_NODES};
    struct pollfd poll_for = {.events = POLLIN};
    bool lost = false;

    (void)arg;
    for (unsigned i = 0; i < N_NODES; i++) {
        out.index = i;
        out.arg = (void *)&numbers[i];
        head.servers[i] = node_server_create(&out);
    }
    head.socket = poll_for.fd = accept(head.listener, NULL, NULL);
    while (!atomic_load(&head.ends)) {
        if (poll(&poll_for, 1, 0) > 0 && !take_frame())
            break;
        if (atomic_load(&head.loses) && !lost)
            node_server_lose_peer(head.servers[1], 0);
        lost = atomic_load(&head.loses);
        for (unsigned i = 0; i < N_NODES; i++)
            if (!node_server_step(head.servers[i]))
                node_server_wait(head.servers[i], 100);
        tell_peers();
        if (!atomic_load(&head.holds))
            hand_on();
    }
    close(head.socket);
    while (!STAILQ_EMPTY(&head.said))
        drop_first();
    for (unsigned i = 0; i < N_NODES; i++) {
        node_server_bye(head.servers[i], 1);
        while (!node_server_is_empty(head.servers[i]))
            if (!node_server_step(head.servers[i]))
                node_server_wait(head.servers[i], 1000);
        node_server_destroy(head.servers[i]);
    }
    return NULL;
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static struct tsl_path paths[4];
static unsigned n_paths;
static struct tsl_member *members[4]; /* two of each node */
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
    alarm(300);
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
    setenv("TESELA_NODES_SILENCE", "3600", 1); /* This head says nothing by itself. */
    assert_int_equal(pthread_create(&head.thread, NULL, run_head, NULL), 0);
    assert_int_equal(driver->probe(found, NULL), CL_SUCCESS);
    assert_int_equal(n_paths, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(driver->open(&paths[i], &members[i]), CL_SUCCESS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(head.path);
    for (unsigned i = 0; i < 4; i++) {
        free(atomic_exchange(&members[i]->lost_why, NULL));
        driver->close(members[i]);
    }
    for (unsigned i = 0; i < n_paths; i++) {
        free(paths[i].platform_name);
        free(paths[i].device_name);
        free(paths[i].driver_version);
    }
    tsl_members_reset();
    tsl_fake_end();
    return 0;
}

static void touch_nothing(const struct tsl_fake_run *run)
{
    (void)run;
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

/* Do large data go through memory that program and node have in common, and not by the head? */
static bool by_common(void)
{
    return tsl_settings()->nodes_common == TSL_NODES_COMMON_ON;
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

static void wait_for_reads(void)
{
    size_t most = 2 * TSL_REMOTE_N_COMMON;

    if (!by_common()) {
        while (atomic_load(&head.n_held) < 2 * NODE_MOST_READING)
            usleep(1000);
    } else {
        while (atomic_load(&head.n_reads) < most)
            usleep(1000);
    }
    usleep(20000);
    if (by_common())
        assert_int_equal(atomic_load(&head.n_reads), most);
}

/* While the program takes nothing a node holds no more than it may, and the other one's are others. */
static void reads_wait_for_room(void **state)
{
    const size_t size = 3 * NODE_MOST_READING;
    struct tsl_member *const of[] = {members[0], members[2]};
    struct tsl_lane *lanes[] = {new_lane(of[0]), new_lane(of[1])};
    struct tsl_mem *mems[] = {new_mem(of[0], size), new_mem(of[1], size)};
    uint8_t *in = malloc(size), *out = calloc(2, size);

    (void)state;
    for (size_t i = 0; i < size; i++)
        in[i] = (uint8_t)(i * 31 + i / 1000);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(
            copy(lanes[i], (struct tsl_place){.mem = mems[i]}, (struct tsl_place){.host = in}, size, NULL, NULL),
            CL_SUCCESS);
        assert_int_equal(driver->finish(lanes[i]), CL_SUCCESS);
    }
    atomic_store(&head.n_most_held, 0);
    atomic_store(&head.n_reads, 0);
    atomic_store(&head.holds, true);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(copy(lanes[i], (struct tsl_place){.host = out + i * size}, (struct tsl_place){.mem = mems[i]},
                              size, NULL, NULL),
                         CL_SUCCESS);
        assert_int_equal(driver->flush(lanes[i]), CL_SUCCESS);
    }
    wait_for_reads();
    atomic_store(&head.holds, false);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(driver->finish(lanes[i]), CL_SUCCESS);
        assert_memory_equal(out + i * size, in, size);
        driver->mem_free(mems[i]);
        driver->lane_free(lanes[i]);
    }
    if (by_common())
        assert_int_equal(atomic_load(&head.n_most_held), 0);
    else
        assert_in_range(atomic_load(&head.n_most_held), 2 * NODE_MOST_READING,
                        2 * (NODE_MOST_READING + TSL_REMOTE_PIECE));
    free(in);
    free(out);
    no_violation();
}

/* Room for data that nobody takes is free again. */
static void data_of_failed_writes_hold_no_room(void **state)
{
    const size_t size = 3 * TSL_REMOTE_N_COMMON * TSL_REMOTE_PIECE;
    struct tsl_lane *lane = new_lane(members[0]);
    struct tsl_mem *mem = new_mem(members[0], size);
    uint8_t *in = malloc(size), *out = calloc(1, size);
    struct tsl_fence *gate, *written;

    (void)state;
    memset(in, 5, size);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(driver->gate_create(members[0], &gate), CL_SUCCESS);
        assert_int_equal(
            copy(lane, (struct tsl_place){.mem = mem}, (struct tsl_place){.host = out}, size, gate, &written),
            CL_SUCCESS);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        assert_int_equal(driver->gate_open(gate, CL_OUT_OF_RESOURCES), CL_SUCCESS);
        assert_true(driver->fence_wait(written) < 0);
        tsl_fence_unref(gate);
        tsl_fence_unref(written);
    }
    assert_int_equal(copy(lane, (struct tsl_place){.mem = mem}, (struct tsl_place){.host = in}, size, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(copy(lane, (struct tsl_place){.host = out}, (struct tsl_place){.mem = mem}, size, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(driver->finish(lane), CL_SUCCESS);
    assert_memory_equal(in, out, size);
    driver->mem_free(mem);
    driver->lane_free(lane);
    free(in);
    free(out);
    no_violation();
}

static size_t through(void)
{
    return atomic_load(&head.n_through);
}

/* From the host to one node, from there to another, both ways, and back: what goes from node to node is no piece of
 * what the head hands on. The memory is new each time, so that a node may be asked for what it has not heard of yet. */
static void bytes_go_from_node_to_node(void **state)
{
    static const size_t sizes[] = {1, 8193, 1 << 20, (5 << 20) + 77, 20 << 20};

    (void)state;
    assert_true(driver->can_copy_peer(members[0], members[2]) && driver->can_copy_peer(members[3], members[1]));
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = sizes[i], before = through();
        struct tsl_lane *a = new_lane(members[0]), *b = new_lane(members[3]);
        struct tsl_mem *there = new_mem(members[0], size), *next = new_mem(members[3], size),
                       *back = new_mem(members[0], size);
        struct tsl_place mem_there = {.mem = there}, mem_next = {.mem = next}, mem_back = {.mem = back};
        uint8_t *in = malloc(size), *out = calloc(1, size);
        struct tsl_fence *copied;

        for (size_t j = 0; j < size; j++)
            in[j] = (uint8_t)(j * 37 + j / 1000 + i);
        assert_int_equal(copy(a, mem_there, (struct tsl_place){.host = in}, size, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->finish(a), CL_SUCCESS);
        assert_int_equal(copy(b, mem_next, mem_there, size, NULL, &copied), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(copied), CL_COMPLETE);
        assert_int_equal(copy(a, mem_back, mem_next, size, NULL, NULL), CL_SUCCESS);
        assert_int_equal(copy(a, (struct tsl_place){.host = out}, mem_back, size, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->finish(a), CL_SUCCESS);
        assert_memory_equal(out, in, size);
        assert_true(through() - before <= (by_common() ? 0 : 2 * size));
        tsl_fence_unref(copied);
        driver->mem_free(there);
        driver->mem_free(next);
        driver->mem_free(back);
        driver->lane_free(a);
        driver->lane_free(b);
        free(in);
        free(out);
    }
    no_violation();
}

/* A box within others, in a lane with work before and after it, behind a gate of the same node: what the other node has
 * when the gate opens is what comes. */
static void a_pull_has_its_turn(void **state)
{
    struct tsl_lane *a = new_lane(members[2]), *b = new_lane(members[0]);
    struct tsl_mem *from = new_mem(members[2], 3 << 20), *to = new_mem(members[0], 3 << 20);
    uint8_t *bytes = malloc(3 << 20), *out = calloc(1, 3 << 20);
    struct tsl_copy box = {.dst = {.mem = to, .offset = 100, .row_pitch = 2000, .slice_pitch = 200000},
                           .src = {.mem = from, .offset = 7, .row_pitch = 1500, .slice_pitch = 300000},
                           .region = {1300, 90, 9}};
    struct tsl_fill fill = {.dst = {.mem = to}, .region = {3 << 20, 1, 1}, .pattern = "x", .pattern_size = 1};
    struct tsl_fence *gate, *pulled;
    struct tsl_waits waits = {1, &gate};

    (void)state;
    for (size_t i = 0; i < 3 << 20; i++)
        bytes[i] = (uint8_t)(i * 13 + i / 777);
    assert_int_equal(driver->gate_create(members[0], &gate), CL_SUCCESS);
    assert_int_equal(driver->fill(b, &fill, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->copy(b, &box, &waits, &pulled), CL_SUCCESS);
    assert_int_equal(copy(b, (struct tsl_place){.host = out}, (struct tsl_place){.mem = to}, 3 << 20, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(driver->flush(b), CL_SUCCESS);
    assert_int_equal(copy(a, (struct tsl_place){.mem = from}, (struct tsl_place){.host = bytes}, 3 << 20, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(driver->finish(a), CL_SUCCESS);
    assert_true(driver->fence_status(pulled) > CL_COMPLETE);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(driver->finish(b), CL_SUCCESS);
    assert_int_equal(driver->fence_status(pulled), CL_COMPLETE);
    for (size_t z = 0; z < 9; z++)
        for (size_t y = 0; y < 90; y++)
            assert_memory_equal(out + 100 + z * 200000 + y * 2000, bytes + 7 + z * 300000 + y * 1500, 1300);
    assert_int_equal(out[99], 'x');
    assert_int_equal(out[1400], 'x');
    tsl_fence_unref(gate);
    tsl_fence_unref(pulled);
    driver->mem_free(from);
    driver->mem_free(to);
    driver->lane_free(a);
    driver->lane_free(b);
    free(bytes);
    free(out);
    no_violation();
}

/* Ranges of a node's memory come to another's in one message, as far as a piece goes, and nothing else is touched. */
static void ranges_come_together(void **state)
{
    static const struct tsl_range_of_bytes few[] = {{0, 1}, {5, 2000}, {3000, 3001}, {65536, 131072}},
                                           many[] = {{1, 700000}, {700001, 2900000}, {2900010, 3145728}};
    static const struct tsl_gather gathers[] = {{.n = 4, .list = few}, {.n = 3, .list = many}};
    const size_t size = 3 << 20;
    struct tsl_lane *a = new_lane(members[1]), *b = new_lane(members[2]);
    struct tsl_mem *from = new_mem(members[1], size), *to = new_mem(members[2], size),
                   *near = new_mem(members[3], size);
    struct tsl_place mem_from = {.mem = from}, mem_to = {.mem = to};
    uint8_t *in = malloc(size), *out = malloc(size), *wanted = malloc(size);

    (void)state;
    for (size_t i = 0; i < size; i++)
        in[i] = (uint8_t)(i * 41 + i / 999);
    assert_int_equal(copy(a, mem_from, (struct tsl_place){.host = in}, size, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->finish(a), CL_SUCCESS);
    for (unsigned g = 0; g < 2; g++) {
        struct tsl_gather gather = gathers[g];
        struct tsl_fence *gathered;
        size_t before;

        gather.dst = to;
        gather.src = from;
        memset(wanted, 3, size);
        for (unsigned i = 0; i < gather.n; i++)
            memcpy(wanted + gather.list[i].begin, in + gather.list[i].begin,
                   (size_t)(gather.list[i].end - gather.list[i].begin));
        assert_int_equal(driver->fill(b, &(struct tsl_fill){mem_to, {size, 1, 1}, "\3", 1}, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->finish(b), CL_SUCCESS);
        before = atomic_load(&head.n_between);
        assert_int_equal(driver->gather(b, &gather, NULL, &gathered), CL_SUCCESS);
        assert_int_equal(copy(b, (struct tsl_place){.host = out}, mem_to, size, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->finish(b), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(gathered), CL_COMPLETE);
        assert_memory_equal(out, wanted, size);
        assert_int_equal(atomic_load(&head.n_between) - before, g == 0 ? 2 : 6);
        tsl_fence_unref(gathered);
    }
    assert_int_equal(driver->gather(b, &(struct tsl_gather){to, near, 4, few}, NULL, NULL), CL_INVALID_OPERATION);
    driver->mem_free(from);
    driver->mem_free(to);
    driver->mem_free(near);
    driver->lane_free(a);
    driver->lane_free(b);
    free(in);
    free(out);
    free(wanted);
    no_violation();
}

static void wait_for_between(size_t n)
{
    for (int i = 0; i < 20000 && atomic_load(&head.n_between) < n; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&head.n_between), n);
}

/* Two nodes, work on the first behind a gate of its own, and on the second a PULL of 100 bytes that comes after it, by
 * a gate that the first node opens. */
struct across {
    struct tsl_lane *first, *second;
    struct tsl_mem *from, *to;
    struct tsl_fence *start, *work, *gate, *pulled;
    uint8_t in[100], out[100];
    size_t between; /* messages of nodes to each other before */
};

static void begin_across(struct across *a)
{
    struct tsl_place from, to;

    *a = (struct across){.first = new_lane(members[0]), .second = new_lane(members[3])};
    a->from = new_mem(members[0], 100);
    a->to = new_mem(members[3], 100);
    from = (struct tsl_place){.mem = a->from};
    to = (struct tsl_place){.mem = a->to};
    for (unsigned i = 0; i < 100; i++)
        a->in[i] = (uint8_t)(3 * i + 1);
    assert_int_equal(driver->gate_create(members[0], &a->start), CL_SUCCESS);
    assert_int_equal(driver->gate_create(members[3], &a->gate), CL_SUCCESS);
    assert_int_equal(copy(a->first, from, (struct tsl_place){.host = a->in}, 100, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->finish(a->first), CL_SUCCESS);
    a->between = atomic_load(&head.n_between);
    assert_int_equal(driver->fill(a->first, &(struct tsl_fill){from, {50, 1, 1}, "y", 1},
                                  &(struct tsl_waits){1, &a->start}, &a->work),
                     CL_SUCCESS);
    driver->gate_by(a->gate, a->work);
    assert_int_equal(copy(a->second, to, from, 100, a->gate, &a->pulled), CL_SUCCESS);
    assert_int_equal(copy(a->second, (struct tsl_place){.host = a->out}, to, 100, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->flush(a->second), CL_SUCCESS);
}

static void end_across(struct across *a)
{
    assert_int_equal(driver->finish(a->first), CL_SUCCESS);
    tsl_fence_unref(a->start);
    tsl_fence_unref(a->work);
    tsl_fence_unref(a->gate);
    tsl_fence_unref(a->pulled);
    driver->mem_free(a->from);
    driver->mem_free(a->to);
    driver->lane_free(a->first);
    driver->lane_free(a->second);
    no_violation();
}

/* The question is asked before, and the end and the data follow without the program. What comes after that end has not
 * ended for the program before it has heard of the end, whoever it hears of first. */
static void a_node_opens_anothers_gate(void **state)
{
    struct across a;
    size_t answered;

    (void)state;
    begin_across(&a);
    wait_for_between(a.between + 1);
    atomic_store(&head.holds, true);
    assert_int_equal(driver->gate_open(a.start, CL_COMPLETE), CL_SUCCESS);
    wait_for_between(a.between + 3);
    assert_true(driver->fence_status(a.work) > CL_COMPLETE);
    answered = atomic_load(&head.n_answered);
    atomic_store(&head.holds, false);
    assert_int_equal(driver->fence_wait(a.work), CL_COMPLETE);
    for (int i = 0; i < 1000 && atomic_load(&head.n_answered) - answered < sizeof(a.out); i++)
        usleep(1000);
    usleep(10000); /* The bytes are here. */
    assert_true(driver->fence_status(a.pulled) > CL_COMPLETE);
    assert_int_equal(driver->gate_open(a.gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(a.pulled), CL_COMPLETE);
    assert_int_equal(driver->finish(a.second), CL_SUCCESS);
    memset(a.in, 'y', 50);
    assert_memory_equal(a.out, a.in, 100);
    end_across(&a);
}

/* What fails opens no gate of another node: the program says whether what comes after fails as well. */
static void failed_work_opens_no_gate(void **state)
{
    (void)state;
    for (unsigned strict = 0; strict < 2; strict++) {
        struct across a;

        begin_across(&a);
        assert_int_equal(driver->gate_open(a.start, CL_OUT_OF_RESOURCES), CL_SUCCESS);
        assert_true(driver->fence_wait(a.work) < 0);
        wait_for_between(a.between + 2);
        assert_true(driver->fence_status(a.pulled) > CL_COMPLETE);
        assert_int_equal(driver->gate_open(a.gate, strict ? CL_OUT_OF_RESOURCES : CL_COMPLETE), CL_SUCCESS);
        assert_true(strict ? driver->fence_wait(a.pulled) < 0 : driver->fence_wait(a.pulled) == CL_COMPLETE);
        assert_int_equal(driver->finish(a.second), CL_SUCCESS);
        if (!strict)
            assert_memory_equal(a.out, a.in, 100);
        end_across(&a);
    }
}

/* Bytes that a READ brings may be on their way still when its node is through with it. */
static void reads_open_no_gate(void **state)
{
    struct across a;
    struct tsl_fence *read, *gate, *behind;
    size_t before;

    (void)state;
    begin_across(&a);
    assert_int_equal(driver->gate_open(a.start, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(driver->gate_open(a.gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(driver->finish(a.second), CL_SUCCESS);
    assert_int_equal(driver->finish(a.first), CL_SUCCESS);
    before = atomic_load(&head.n_between);
    assert_int_equal(driver->gate_create(members[3], &gate), CL_SUCCESS);
    assert_int_equal(
        copy(a.first, (struct tsl_place){.host = a.out}, (struct tsl_place){.mem = a.from}, 100, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(driver->mark(a.first, NULL, &read), CL_SUCCESS);
    driver->gate_by(gate, read);
    assert_int_equal(driver->mark(a.second, &(struct tsl_waits){1, &gate}, &behind), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(read), CL_COMPLETE);
    usleep(10000);
    assert_int_equal(atomic_load(&head.n_between), before);
    assert_true(driver->fence_status(behind) > CL_COMPLETE);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(behind), CL_COMPLETE);
    tsl_fence_unref(read);
    tsl_fence_unref(gate);
    tsl_fence_unref(behind);
    end_across(&a);
}

/* A PULL from a node that is lost fails, whether it was asked for or waits; what is before it in its lane doesn't. */
static void a_pull_from_a_lost_node_fails(void **state)
{
    struct tsl_lane *b = new_lane(members[2]);
    struct tsl_mem *from = new_mem(members[0], 64), *to = new_mem(members[2], 64);
    struct tsl_place mem_from = {.mem = from}, mem_to = {.mem = to};
    struct tsl_fence *gate, *first, *second, *third;

    (void)state;
    assert_int_equal(driver->gate_create(members[2], &gate), CL_SUCCESS);
    assert_int_equal(driver->mark(b, NULL, &first), CL_SUCCESS);
    assert_int_equal(copy(b, mem_to, mem_from, 64, gate, &second), CL_SUCCESS);
    atomic_store(&head.loses, true);
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(second), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->fence_wait(first), CL_COMPLETE);
    assert_int_equal(copy(b, mem_to, mem_from, 64, NULL, &third), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(third), CL_DEVICE_NOT_AVAILABLE);
    assert_false(tsl_member_is_lost(members[2]));
    tsl_fence_unref(gate);
    tsl_fence_unref(first);
    tsl_fence_unref(second);
    tsl_fence_unref(third);
    driver->mem_free(from);
    driver->mem_free(to);
    driver->lane_free(b);
    no_violation();
}

/* Who flushes and then waits says so once; who only waits is heard as well, also behind another lane's flush. */
static void a_command_is_one_frame(void **state)
{
    struct tsl_lane *a = new_lane(members[0]), *b = new_lane(members[0]);
    struct tsl_fence *fence, *other;
    size_t before;

    (void)state;
    assert_int_equal(driver->finish(a), CL_SUCCESS);
    assert_int_equal(driver->finish(b), CL_SUCCESS);
    before = atomic_load(&head.n_frames);
    assert_int_equal(driver->mark(a, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->flush(a), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    assert_int_equal(atomic_load(&head.n_frames) - before, 1);
    tsl_fence_unref(fence);
    assert_int_equal(driver->mark(a, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->mark(b, NULL, &other), CL_SUCCESS);
    assert_int_equal(driver->flush(b), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    assert_int_equal(driver->fence_wait(other), CL_COMPLETE);
    tsl_fence_unref(fence);
    tsl_fence_unref(other);
    driver->lane_free(a);
    driver->lane_free(b);
    no_violation();
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

#define TEXT_SIZE 60000u

/* A text of that size which no other run has had: a kernel, and a long remark. The caller's. */
static char *new_text(const char *more)
{
    static unsigned n;
    char *text = malloc(TEXT_SIZE + 1);
    int size = snprintf(text, TEXT_SIZE, "%skernel pair_kernel a\n# %d %llx %u ", more, (int)getpid(),
                        (unsigned long long)tsl_clock_ns(), ++n);

    memset(text + size, 'x', TEXT_SIZE - (unsigned)size);
    text[TEXT_SIZE] = 0;
    return text;
}

static struct tsl_dprogram *build(struct tsl_member *member, const char *text)
{
    const struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = text, .size = strlen(text), .options = ""};
    struct tsl_dprogram *program = NULL;
    char *log;

    assert_int_equal(driver->build(member, &input, &program, &log), CL_SUCCESS);
    assert_non_null(log);
    free(log);
    return program;
}

/* Of a node's member; both nodes have the fake driver's. */
static unsigned n_builds(unsigned member)
{
    return tsl_fake_counts(member).calls[TSL_FAKE_BUILD];
}

/* Builds the text, and checks how many bytes that took to say, and how often a driver built it. */
static struct tsl_dprogram *build_and_count(struct tsl_member *member, const char *text, bool said, unsigned built)
{
    unsigned before = n_builds(0) + n_builds(1);
    size_t asked = atomic_load(&head.n_asked);
    struct tsl_dprogram *program = build(member, text);

    asked = atomic_load(&head.n_asked) - asked;
    if (said)
        assert_in_range(asked, TEXT_SIZE, TEXT_SIZE + 1000);
    else
        assert_in_range(asked, 1, 1000);
    assert_int_equal(n_builds(0) + n_builds(1) - before, built);
    return program;
}

/* A node is told once what a program is made of, for all of its members and whoever comes later, and another one with
 * the same folder not at all. A member builds it once, unless the program has variables. */
static void a_program_is_said_and_built_once(void **state)
{
    static const unsigned access[] = {TSL_MAY_READ};
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};
    char *text = new_text(""), *variables = new_text("variables 4\n");
    struct tsl_dprogram *programs[6];
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;

    (void)state;
    tsl_fake_kernel("pair_kernel", touch_nothing, 1, kinds, access);
    programs[0] = build_and_count(members[0], text, true, 1);
    programs[1] = build_and_count(members[0], text, false, 0);
    programs[2] = build_and_count(members[1], text, false, 1);
    programs[3] = build_and_count(members[2], text, false, 1);
    driver->program_free(programs[0]);
    driver->program_free(programs[1]);
    programs[0] = build_and_count(members[0], text, false, 0);
    assert_int_equal(driver->kernel_create(programs[0], "pair_kernel", &kernel, &facts), CL_SUCCESS);
    assert_int_equal(facts.n_args, 1);
    tsl_kernel_facts_finish(&facts);
    driver->kernel_free(kernel);
    programs[4] = build_and_count(members[0], variables, true, 1);
    programs[5] = build_and_count(members[0], variables, false, 1);
    for (unsigned i = 0; i < 6; i++)
        if (i != 1)
            driver->program_free(programs[i]);
    free(text);
    free(variables);
    no_violation();
}

/* More than a node keeps. */
static void programs_of_nobody_go(void **state)
{
    struct tsl_lane *lane = new_lane(members[0]);

    (void)state;
    for (unsigned i = 0; i < 3 * NODE_MOST_BUILT; i++) {
        char text[64];

        snprintf(text, sizeof(text), "kernel pair_kernel a\n# %u", i);
        driver->program_free(build(members[0], text));
    }
    assert_int_equal(driver->finish(lane), CL_SUCCESS);
    assert_in_range(tsl_fake_live().programs, NODE_MOST_BUILT, 2 * NODE_MOST_BUILT); /* Of both nodes. */
    driver->lane_free(lane);
    no_violation();
}

/* The i-th of some texts of that size: the rest of it is the same. */
static void begin_text(char *text, unsigned i)
{
    int size = snprintf(text, 64, "kernel pair_kernel a\n# %d large %u", (int)getpid(), i);

    text[size] = ' ';
}

static unsigned n_builds_of(char *text, unsigned i)
{
    unsigned before = n_builds(0);

    begin_text(text, i);
    driver->program_free(build(members[0], text));
    return n_builds(0) - before;
}

/* Fewer, if they have more bytes: the text, and the fake driver's code of as many. */
static void large_programs_of_nobody_go(void **state)
{
    const size_t size = NODE_MOST_BUILT_SIZE / 8;
    struct tsl_lane *lane = new_lane(members[0]);
    char *text = malloc(size + 1);

    (void)state;
    memset(text, 'x', size);
    text[size] = 0;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(n_builds_of(text, i), 1);
    for (unsigned i = 5; i < 8; i++)
        assert_int_equal(n_builds_of(text, i), 0);
    assert_int_equal(n_builds_of(text, 4), 1);
    assert_int_equal(n_builds_of(text, 5), 1);
    assert_int_equal(driver->finish(lane), CL_SUCCESS);
    free(text);
    driver->lane_free(lane);
    no_violation();
}

/* A binary that was had before isn't said again, whichever program or equal device it is of. */
static void a_binary_comes_once(void **state)
{
    char *text = new_text("");
    struct tsl_member *const of[] = {members[0], members[0], members[2]};
    void *first = NULL;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct tsl_dprogram *program = build(of[i], text);
        size_t size, before = atomic_load(&head.n_answered);
        void *binary;

        assert_int_equal(driver->program_binary(program, &binary, &size), CL_SUCCESS);
        assert_true(size > TEXT_SIZE);
        before = atomic_load(&head.n_answered) - before;
        if (first) {
            assert_memory_equal(binary, first, size);
            assert_in_range(before, 1, 1000);
            free(binary);
        } else {
            assert_in_range(before, size, size + 1000);
            first = binary;
        }
        driver->program_free(program);
    }
    free(first);
    free(text);
    no_violation();
}

/* ---- Texts for windows, and what stands in a kernel's place ------------------------------------------------------- */

static cl_int give_windows(struct tsl_dprogram *program, const char *text)
{
    const struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = text, .size = strlen(text), .options = ""};

    return driver->windows_by(program, &input);
}

/* A kernel of it says whether it is of a text for windows. */
static bool has_windows(struct tsl_dprogram *program)
{
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;
    bool has;

    assert_int_equal(driver->kernel_create(program, "pair_kernel", &kernel, &facts), CL_SUCCESS);
    has = facts.of_windows;
    tsl_kernel_facts_finish(&facts);
    driver->kernel_free(kernel);
    return has;
}

/* Programs are shared, and a driver takes such a text once, before any kernel: whoever gives the same has it, and one
 * that has kernels already is left to those who have it. */
static void a_text_for_windows_is_given_once(void **state)
{
    char *text = new_text("");
    struct tsl_dprogram *plain = build_and_count(members[0], text, true, 1), *programs[4];

    (void)state;
    assert_false(has_windows(plain));
    programs[0] = build_and_count(members[0], text, false, 0);
    unsigned before = n_builds(0) + n_builds(1);
    assert_int_equal(give_windows(programs[0], "the first"), CL_SUCCESS); /* It has kernels: it is built once more. */
    assert_int_equal(n_builds(0) + n_builds(1) - before, 1);
    assert_true(has_windows(programs[0]));
    assert_false(has_windows(plain));
    for (unsigned i = 1; i < 3; i++) {
        programs[i] = build_and_count(members[0], text, false, 0);
        assert_int_equal(give_windows(programs[i], "the first"), CL_SUCCESS);
        assert_true(has_windows(programs[i]));
    }
    programs[3] = build_and_count(members[2], text, false, 1); /* The other node's: it has no kernels yet. */
    before = n_builds(0) + n_builds(1);
    assert_int_equal(give_windows(programs[3], "the first"), CL_SUCCESS);
    assert_int_equal(n_builds(0) + n_builds(1) - before, 0);
    assert_true(has_windows(programs[3]));
    for (unsigned i = 0; i < 4; i++)
        driver->program_free(programs[i]);
    driver->program_free(plain);
    free(text);
    no_violation();
}

/* What isn't shared stays so with another text, too: each program has its own variables. */
static void variables_stay_a_programs_own(void **state)
{
    char *text = new_text("variables 4\n");
    struct tsl_dprogram *programs[2] = {build_and_count(members[0], text, true, 1), NULL};

    (void)state;
    assert_int_equal(give_windows(programs[0], "the first"), CL_SUCCESS);
    assert_int_equal(give_windows(programs[0], "another"), CL_SUCCESS);
    programs[1] = build_and_count(members[0], text, false, 1);
    driver->program_free(programs[0]);
    driver->program_free(programs[1]);
    free(text);
    no_violation();
}

static void a_refused_text_leaves_the_kernels(void **state)
{
    char *text = new_text("");
    struct tsl_dprogram *program = build(members[0], text);

    (void)state;
    assert_int_equal(give_windows(program, ""), CL_INVALID_OPERATION);
    assert_false(has_windows(program));
    driver->program_free(program);
    free(text);
    no_violation();
}

static void set_to_seven(const struct tsl_fake_run *run)
{
    memset(run->args[0].ptr, 7, run->args[0].size);
}

static cl_int substitute(struct tsl_dkernel *original, const char *code, const char *function,
                         struct tsl_dkernel **other)
{
    const struct tsl_substitute what = {.code = code, .code_size = strlen(code), .function = function};
    char *log = NULL;
    cl_int error = driver->substitute(original, &what, other, &log);

    assert_non_null(log);
    free(log);
    return error;
}

/* Its code is said to the node, which launches it as the original; that may be freed before. */
static void code_runs_in_a_kernels_place(void **state)
{
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE};
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};
    char *text = new_text("");
    struct tsl_dprogram *program = build(members[0], text);
    struct tsl_lane *lane = new_lane(members[0]);
    struct tsl_mem *mem = new_mem(members[0], 64);
    const struct tsl_bound_arg arg = {.kind = TSL_ARG_MEM, .mem = mem};
    const struct tsl_bound_args args = {.serial = 1u << 20, .n = 1, .args = &arg};
    const struct tsl_window window = {
        .work_dim = 1, .global_size = {1, 1, 1}, .local_size = {1, 1, 1}, .group_count = {1, 1, 1}, .whole = true};
    unsigned char bytes[64] = {0};
    struct tsl_copy copy = {.dst = {.host = bytes}, .src = {.mem = mem}, .region = {64, 1, 1}};
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel, *other, *none;

    (void)state;
    tsl_fake_kernel("seven", set_to_seven, 1, kinds, access);
    assert_int_equal(driver->kernel_create(program, "pair_kernel", &kernel, &facts), CL_SUCCESS);
    tsl_kernel_facts_finish(&facts);
    assert_int_equal(substitute(kernel, "seven", "seven", &other), CL_SUCCESS);
    assert_int_equal(substitute(kernel, "seven", "eight", &none), CL_INVALID_BINARY);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){other, &args, &window}, NULL, NULL), CL_SUCCESS);
    driver->kernel_free(other);
    driver->kernel_free(kernel);
    assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->finish(lane), CL_SUCCESS);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(bytes[i], 7);
    driver->mem_free(mem);
    driver->lane_free(lane);
    driver->program_free(program);
    free(text);
    no_violation();
}

/* Where calloc finds no memory; 0: nowhere. */
static _Thread_local size_t refused_size;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
    return refused_size && n * size == refused_size ? NULL : __real_calloc(n, size);
}

/* The node hears of the arguments with the next launch of theirs. */
static void a_launch_without_memory_says_no_arguments(void **state)
{
    char *text = new_text("");
    struct tsl_dprogram *program = build(members[0], text);
    struct tsl_lane *lane = new_lane(members[0]);
    struct tsl_mem *mem = new_mem(members[0], 64);
    const struct tsl_bound_arg arg = {.kind = TSL_ARG_MEM, .mem = mem};
    const struct tsl_bound_args args = {.serial = (1u << 20) + 1, .n = 1, .args = &arg};
    const struct tsl_window window = {
        .work_dim = 1, .global_size = {1, 1, 1}, .local_size = {1, 1, 1}, .group_count = {1, 1, 1}, .whole = true};
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;
    struct tsl_fence *fence;

    (void)state;
    assert_int_equal(driver->kernel_create(program, "pair_kernel", &kernel, &facts), CL_SUCCESS);
    tsl_kernel_facts_finish(&facts);
    refused_size = sizeof(struct remote_fence);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &args, &window}, NULL, &fence),
                     CL_OUT_OF_HOST_MEMORY);
    refused_size = 0;
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &args, &window}, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
    driver->kernel_free(kernel);
    driver->mem_free(mem);
    driver->lane_free(lane);
    driver->program_free(program);
    free(text);
    no_violation();
}

/* It is refused by itself, and the connection goes on. */
static void a_question_that_is_too_long_is_refused(void **state)
{
    size_t size = TSL_REMOTE_MAX_FRAME + 1;
    void *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct tsl_remote_request request = {.kind = TSL_REMOTE_BUILD, .id = 1u << 30, .data = zeros, .data_size = size};
    struct tsl_lane *lane = new_lane(members[0]);

    (void)state;
    assert_ptr_not_equal(zeros, MAP_FAILED);
    assert_int_equal(remote_ask(remote_member_of(members[0])->node, &request, NULL, NULL), CL_OUT_OF_RESOURCES);
    assert_int_equal(driver->finish(lane), CL_SUCCESS);
    driver->lane_free(lane);
    munmap(zeros, size);
}

/* Books: what doesn't fit is refused here, and near the end the node is asked. */
static void memory_is_booked(void **state)
{
    size_t most = members[0]->caps.memory_size;
    struct tsl_lane *lane = new_lane(members[0]);
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
    assert_int_equal(driver->finish(lane), CL_SUCCESS); /* The other node's members have the same memory. */
    driver->lane_free(lane);
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
        cmocka_unit_test(reads_wait_for_room),
        cmocka_unit_test(data_of_failed_writes_hold_no_room),
        cmocka_unit_test(bytes_go_from_node_to_node),
        cmocka_unit_test(ranges_come_together),
        cmocka_unit_test(a_pull_has_its_turn),
        cmocka_unit_test(a_node_opens_anothers_gate),
        cmocka_unit_test(failed_work_opens_no_gate),
        cmocka_unit_test(reads_open_no_gate),
        cmocka_unit_test(a_command_is_one_frame),
        cmocka_unit_test(memory_is_booked),
        cmocka_unit_test(a_program_is_said_and_built_once),
        cmocka_unit_test(programs_of_nobody_go),
        cmocka_unit_test(a_binary_comes_once),
        cmocka_unit_test(large_programs_of_nobody_go),
        cmocka_unit_test(a_text_for_windows_is_given_once),
        cmocka_unit_test(variables_stay_a_programs_own),
        cmocka_unit_test(a_refused_text_leaves_the_kernels),
        cmocka_unit_test(code_runs_in_a_kernels_place),
        cmocka_unit_test(a_launch_without_memory_says_no_arguments),
        cmocka_unit_test(a_question_that_is_too_long_is_refused),
        cmocka_unit_test(a_pull_from_a_lost_node_fails),
        cmocka_unit_test(a_cut_connection_is_a_loss),
    };

    return cmocka_run_group_tests_name("pair", tests, begin, end);
}
