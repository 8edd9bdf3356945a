/* The nodes' protocol: every message comes out as it went in; cut short, changed or made up it is refused without harm
 * (which AddressSanitizer watches). A node's server lives through any of them, and does nothing that the contract
 * forbids (which the fake driver watches), and what programs left behind goes. NODES_SEED: another course of chance. */
#include "base/clock.h"
#include "driver/fake.h"
#include "members/members.h"
#include "node/built.h"
#include "node/server.h"
#include "node/stage.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t chance_state = 1;

static uint64_t chance(uint64_t n)
{
    chance_state = chance_state * 6364136223846793005u + 1442695040888963407u;
    return (chance_state >> 33) % n;
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

#define LANE 1u
#define A    2u
#define B    3u
#define PART 4u
#define C    5u /* for another node */

#define THEIRS 99u /* memory of another node */

static uint64_t waits[] = {20, 21};
static float value = 3;
static uint32_t bytes[256];
static void *address = bytes;
static struct tsl_remote_arg args[] = {
    {.kind = TSL_ARG_MEM, .mem = A},
    {.kind = TSL_ARG_VALUE, .size = sizeof(value), .value = &value},
    {.kind = TSL_ARG_LOCAL, .size = 64},
    {.kind = TSL_ARG_SVM, .size = sizeof(address), .value = &address},
};
static struct tsl_remote_bound_svm regions[] = {{.mem = B, .unnamed = true}, {.mem = A}};
static struct tsl_program_special specials[] = {{7, 4, 12}};

/* What a program says that makes memory and works on it: in this order it is all right. */
static const struct tsl_remote_request samples[] = {
    {.kind = TSL_REMOTE_MEMBERS, .answer = 1},
    {.kind = TSL_REMOTE_LANE, .id = LANE, .flags = 1},
    {.kind = TSL_REMOTE_ALLOC, .id = A, .size = 4096},
    {.kind = TSL_REMOTE_ALLOC, .id = B, .size = 4096, .answer = 2},
    {.kind = TSL_REMOTE_ALLOC, .id = C, .size = 4096},
    {.kind = TSL_REMOTE_SUB, .id = PART, .of = A, .offset = 1024, .size = 1024},
    {.kind = TSL_REMOTE_GATE, .id = 21},
    {.kind = TSL_REMOTE_FILL,
     .id = 20,
     .lane = LANE,
     .named = true,
     .tell = true,
     .dst = {.mem = A},
     .region = {4096, 1, 1},
     .data = &value,
     .data_size = 4},
    {.kind = TSL_REMOTE_COPY,
     .id = 22,
     .lane = LANE,
     .named = true,
     .tell = true,
     .n_waits = 2,
     .waits = waits,
     .dst = {.mem = B, .row_pitch = 64},
     .src = {.mem = PART, .offset = 4, .row_pitch = 32},
     .region = {8, 4, 1}},
    {.kind = TSL_REMOTE_FLUSH, .id = LANE},
    {.kind = TSL_REMOTE_OPENED_BY, .id = 21, .of = 7, .param = 1},
    {.kind = TSL_REMOTE_OPEN, .id = 21},
    {.kind = TSL_REMOTE_WRITE,
     .id = 23,
     .lane = LANE,
     .dst = {.mem = B},
     .region = {1024, 1, 1},
     .data = bytes,
     .data_size = 1024},
    {.kind = TSL_REMOTE_WRITE, .id = 24, .lane = LANE, .dst = {.mem = B}, .region = {1024, 1, 1}, .later = true},
    {.kind = TSL_REMOTE_DATA, .id = 24, .size = 1024, .data = bytes, .data_size = 1024},
    {.kind = TSL_REMOTE_COMMON, .answer = 5},
    {.kind = TSL_REMOTE_COMMON_IS_MAPPED},
    {.kind = TSL_REMOTE_WRITE, .id = 32, .lane = LANE, .dst = {.mem = B}, .region = {1024, 1, 1}, .later = true},
    {.kind = TSL_REMOTE_DATA, .id = 32, .size = 1024, .slot = TSL_REMOTE_N_COMMON},
    {.kind = TSL_REMOTE_READ,
     .id = 25,
     .lane = LANE,
     .tell = true,
     .src = {.mem = B, .row_pitch = 512},
     .region = {256, 2, 1}},
    {.kind = TSL_REMOTE_PULL,
     .id = 29,
     .lane = LANE,
     .tell = true,
     .dst = {.mem = B, .row_pitch = 512},
     .src = {.mem = THEIRS, .offset = 4, .row_pitch = 64},
     .region = {64, 2, 1},
     .of = 1},
    {.kind = TSL_REMOTE_PULL,
     .id = 31,
     .lane = LANE,
     .tell = true,
     .dst = {.mem = B},
     .src = {.mem = THEIRS},
     .region = {1, 1, 1},
     .n_ranges = 3,
     .ranges = (struct tsl_range_of_bytes[]){{4, 68}, {70, 71}, {100, 163}},
     .of = 1},
    {.kind = TSL_REMOTE_COMBINE,
     .id = 26,
     .lane = LANE,
     .dst = {.mem = A},
     .src = {.mem = B, .row_pitch = 512},
     .other = {.mem = A},
     .size = 256,
     .width = 4,
     .how = TSL_COMBINE_ADD},
    {.kind = TSL_REMOTE_MARK, .id = 27, .lane = LANE, .tell = true},
    {.kind = TSL_REMOTE_FINISH, .id = LANE, .answer = 3},
    {.kind = TSL_REMOTE_FENCE_FREE, .id = 20},
    {.kind = TSL_REMOTE_FENCE_FREE, .id = 21},
    {.kind = TSL_REMOTE_MEM_FREE, .id = PART},
    {.kind = TSL_REMOTE_INFO, .answer = 4, .param = CL_DEVICE_NAME},
    {.kind = TSL_REMOTE_MEM_FREE, .id = A},
    {.kind = TSL_REMOTE_LANE_FREE, .id = LANE},
};

#define N_SAMPLES (sizeof(samples) / sizeof(samples[0]))

static const struct tsl_remote_request launch = {
    .kind = TSL_REMOTE_LAUNCH,
    .id = 28,
    .lane = LANE,
    .of = 31,
    .window = {.work_dim = 2, .global_size = {8, 8, 1}, .local_size = {4, 4, 1}, .group_count = {1, 2, 1}},
    .has_args = true,
    .n_args = 4,
    .args = args,
    .n_svm = 2,
    .svm = regions};

static struct tsl_remote_header headers[] = {{(char *)"a.h", "int a;", 6}, {(char *)"empty", NULL, 0}};
static uint64_t programs[] = {32, 33};

static struct tsl_remote_request build_one = {.kind = TSL_REMOTE_BUILD,
                                              .answer = 5,
                                              .id = 30,
                                              .build = {.data = "kernel add a\n",
                                                        .size = 13,
                                                        .options = (char *)"",
                                                        .has_text = true,
                                                        .text = "x",
                                                        .text_size = 1,
                                                        .text_options = (char *)"-O",
                                                        .n_specials = 1,
                                                        .specials = specials}};
/* Of these the fake driver has none. */
static struct tsl_remote_request compile_one = {.kind = TSL_REMOTE_COMPILE,
                                                .answer = 6,
                                                .id = 32,
                                                .build = {.data = "x", .size = 1, .options = (char *)"-w"},
                                                .n_headers = 2,
                                                .headers = headers};
static const struct tsl_remote_request link_two = {.kind = TSL_REMOTE_LINK,
                                                   .answer = 7,
                                                   .id = 34,
                                                   .text = (char *)"-create-library",
                                                   .n_programs = 2,
                                                   .programs = programs};

/* About a program that is there: what it is of and what its code is, said at once. */
static struct tsl_remote_request ask_build = {.kind = TSL_REMOTE_BUILD,
                                              .answer = 8,
                                              .id = 40,
                                              .build = {.data = "kernel ask a\n", .size = 13, .options = (char *)""}};
static struct tsl_remote_request ask_windows = {.kind = TSL_REMOTE_WINDOWS_BY,
                                                .answer = 9,
                                                .of = 40,
                                                .build = {.data = "text", .size = 4, .options = (char *)"-w"}};
static struct tsl_remote_request ask_code = {.kind = TSL_REMOTE_SUBSTITUTE,
                                             .answer = 10,
                                             .id = 42,
                                             .of = 41,
                                             .text = (char *)"ask",
                                             .data = "ask",
                                             .data_size = 3};
static const struct tsl_remote_request ask_file = {.kind = TSL_REMOTE_SUBSTITUTE,
                                                   .answer = 11,
                                                   .id = 43,
                                                   .of = 41,
                                                   .size = 64,
                                                   .text = (char *)"function",
                                                   .is_file = true,
                                                   .trial = true,
                                                   .name = (char *)"name",
                                                   .library = (char *)"/nowhere/lib.so"};
static const struct tsl_remote_request asked[] = {
    {.kind = TSL_REMOTE_KERNEL, .answer = 12, .id = 41, .of = 40, .text = (char *)"ask"},
    {.kind = TSL_REMOTE_BINARY, .answer = 13, .of = 40},
    {.kind = TSL_REMOTE_KERNEL_FREE, .id = 41},
    {.kind = TSL_REMOTE_KERNEL_FREE, .id = 42},
    {.kind = TSL_REMOTE_PROGRAM_FREE, .id = 40},
};

static struct tsl_writer all_samples(bool with_room)
{
    struct tsl_writer writer = {.size = 0};
    uint8_t none[TSL_REMOTE_FRAME_SIZE] = {0};

    if (with_room)
        tsl_write_raw(&writer, none, sizeof(none));
    for (size_t i = 0; i < N_SAMPLES; i++)
        tsl_remote_put_request(&writer, &samples[i]);
    tsl_remote_put_request(&writer, &build_one);
    assert_false(writer.failed);
    return writer;
}

/* ---- The protocol ------------------------------------------------------------------------------------------------ */

static void check_same(const struct tsl_remote_request *request)
{
    struct tsl_writer first = {.size = 0}, second = {.size = 0};
    struct tsl_remote_request read;
    struct tsl_reader reader;

    tsl_remote_put_request(&first, request);
    assert_false(first.failed);
    reader = tsl_reader_of(first.data, first.size);
    assert_true(tsl_remote_get_request(&reader, &read));
    assert_true(tsl_read_end(&reader));
    tsl_remote_put_request(&second, &read);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    tsl_remote_request_finish(&read);
    for (size_t n = 0; n < first.size; n++) {
        reader = tsl_reader_of(first.data, n);
        assert_false(tsl_remote_get_request(&reader, &read));
    }
    free(first.data);
    free(second.data);
}

static void requests_come_out_as_they_went_in(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++)
        check_same(&samples[i]);
    check_same(&launch);
    check_same(&build_one);
    check_same(&compile_one);
    check_same(&link_two);
    check_same(&ask_windows);
    check_same(&ask_code);
    check_same(&ask_file);
}

/* As those of a BUILD and a COMPILE, which have other lists in them. */
static void contents_come_out_as_they_went_in(void **state)
{
    const struct tsl_remote_request *const requests[] = {&build_one, &compile_one};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const struct tsl_remote_request *r = requests[i];
        struct tsl_remote_request read = {.kind = r->kind};
        struct tsl_writer again = {.size = 0};

        assert_true(tsl_remote_get_content(r->data, r->data_size, &read));
        assert_int_equal(read.n_headers, r->n_headers);
        tsl_remote_put_content(&again, &read);
        assert_int_equal(again.size, r->data_size);
        assert_memory_equal(again.data, r->data, again.size);
        tsl_remote_request_finish(&read);
        free(again.data);
        for (size_t n = 0; n < r->data_size; n++) {
            read = (struct tsl_remote_request){.kind = r->kind};
            assert_false(tsl_remote_get_content(r->data, n, &read));
            tsl_remote_request_finish(&read);
        }
    }
}

static void changed_contents_do_no_harm(void **state)
{
    uint8_t *copy = malloc(compile_one.data_size);

    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct tsl_remote_request read = {.kind = TSL_REMOTE_COMPILE};

        memcpy(copy, compile_one.data, compile_one.data_size);
        for (uint64_t n = 1 + chance(4); n; n--)
            copy[chance(compile_one.data_size)] = (uint8_t)(chance(2) ? chance(256) : chance(3) * 127);
        tsl_remote_get_content(copy, compile_one.data_size - chance(20), &read);
        tsl_remote_request_finish(&read);
    }
    free(copy);
}

static void replies_come_out_as_they_went_in(void **state)
{
    const struct tsl_remote_reply replies[] = {
        {.kind = TSL_REMOTE_DONE, .id = 5, .has_times = true, .start_ns = 1, .end_ns = 2, .now_ns = 3},
        {.kind = TSL_REMOTE_DONE, .id = 5, .status = CL_OUT_OF_RESOURCES},
        {.kind = TSL_REMOTE_READ_IS, .id = 7, .size = 4, .data = bytes, .data_size = 4},
        {.kind = TSL_REMOTE_READ_IS, .id = 8, .size = 1 << 20, .slot = 3},
        {.kind = TSL_REMOTE_TAKEN, .slot = TSL_REMOTE_N_COMMON},
        {.kind = TSL_REMOTE_ANSWER, .id = 9, .status = CL_INVALID_VALUE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        struct tsl_writer writer = {.size = 0};
        struct tsl_remote_reply read;
        struct tsl_reader reader;

        tsl_remote_put_reply(&writer, &replies[i]);
        reader = tsl_reader_of(writer.data, writer.size);
        assert_true(tsl_remote_get_reply(&reader, &read));
        assert_int_equal(read.kind, replies[i].kind);
        assert_int_equal(read.status, replies[i].status);
        assert_int_equal(read.end_ns, replies[i].end_ns);
        assert_int_equal(read.slot, replies[i].slot);
        assert_int_equal(read.data_size, replies[i].data_size);
        for (size_t n = 0; n < writer.size; n++) {
            reader = tsl_reader_of(writer.data, n);
            assert_false(tsl_remote_get_reply(&reader, &read));
        }
        free(writer.data);
    }
}

static void another_version_is_told_from_nonsense(void **state)
{
    struct tsl_remote_hello hello = {.version = TSL_REMOTE_VERSION, .name = (char *)"x", .host = (char *)"y"}, read;
    struct tsl_writer writer = {.size = 0};

    (void)state;
    tsl_remote_put_hello(&writer, &hello);
    assert_true(tsl_remote_get_hello(writer.data, writer.size, &read));
    assert_string_equal(read.host, "y");
    tsl_remote_hello_finish(&read);
    assert_false(tsl_remote_get_hello(writer.data, writer.size - 1, &read));
    tsl_write_u32_at(&writer, 4, TSL_REMOTE_VERSION + 1);
    assert_true(tsl_remote_get_hello(writer.data, writer.size, &read));
    assert_int_equal(read.version, TSL_REMOTE_VERSION + 1);
    tsl_write_u32_at(&writer, 0, 5);
    assert_false(tsl_remote_get_hello(writer.data, writer.size, &read));
    free(writer.data);
}

static void change(uint8_t *data, size_t size)
{
    for (uint64_t n = 1 + chance(4); n; n--)
        data[chance(size)] = (uint8_t)(chance(2) ? chance(256) : chance(3) * 127);
}

static void changed_messages_do_no_harm(void **state)
{
    struct tsl_writer writer = all_samples(false);
    uint8_t *copy = malloc(writer.size);

    (void)state;
    tsl_remote_put_request(&writer, &launch);
    tsl_remote_put_request(&writer, &compile_one);
    tsl_remote_put_request(&writer, &link_two);
    copy = realloc(copy, writer.size);
    for (int round = 0; round < 20000; round++) {
        struct tsl_reader reader = tsl_reader_of(copy, writer.size - chance(50));
        struct tsl_remote_request request;

        memcpy(copy, writer.data, writer.size);
        change(copy, writer.size);
        while (reader.at < reader.size && tsl_remote_get_request(&reader, &request))
            tsl_remote_request_finish(&request);
    }
    free(copy);
    free(writer.data);
}

/* ---- The server -------------------------------------------------------------------------------------------------- */

static unsigned n_replies;
static size_t longest_frame;
static char last_words[256]; /* of the last reply, a text or not */
static cl_int last_end;      /* of the work that was told last */

static void take_messages(void *arg, uint32_t program, uint8_t *data, size_t size)
{
    struct tsl_reader reader = tsl_reader_of(data + TSL_REMOTE_FRAME_SIZE, size - TSL_REMOTE_FRAME_SIZE);
    struct tsl_remote_reply reply;

    (void)arg;
    (void)program;
    longest_frame = size > longest_frame ? size : longest_frame;
    while (reader.at < reader.size) {
        assert_true(tsl_remote_get_reply(&reader, &reply));
        n_replies++;
        last_end = reply.kind == TSL_REMOTE_DONE ? reply.status : last_end;
        snprintf(last_words, sizeof(last_words), "%.*s", (int)reply.data_size, (const char *)reply.data);
    }
    free(data);
}

static void take_payload(void *arg, uint32_t program, void *data, size_t size)
{
    (void)arg;
    (void)program;
    (void)size;
    node_stage_give(data);
}

static struct node_server *server;

/* What the server said to node 1, which is the test, about a program. */
struct peer_said {
    uint32_t program;
    uint8_t *data;
    size_t size;
    struct peer_said *next;
};

static struct peer_said *peer_said;
static size_t n_told; /* bytes that node 1 got */

static void take_peer(void *arg, unsigned node, uint32_t program, uint8_t *data, size_t size)
{
    struct peer_said *said = malloc(sizeof(*said));

    (void)arg;
    assert_int_equal(node, 1);
    *said = (struct peer_said){program, data, size, peer_said};
    peer_said = said;
}

static void say_as_peer(uint32_t program, struct tsl_writer *writer, bool changed)
{
    uint8_t *data = node_server_room(server, writer->size);

    assert_false(writer->failed);
    memcpy(data, writer->data, writer->size);
    if (changed)
        change(data, writer->size);
    node_server_take_peer(server, 1, program, data, 0, writer->size);
    free(writer->data);
}

static void answer(const struct peer_said *said, bool changed)
{
    struct tsl_reader reader = tsl_reader_of(said->data + TSL_REMOTE_FRAME_SIZE, said->size - TSL_REMOTE_FRAME_SIZE);
    struct tsl_remote_request question;
    struct tsl_remote_reply reply;
    struct tsl_writer writer = {.size = 0};

    if (tsl_remote_get_reply(&reader, &reply)) {
        assert_int_equal(reply.kind, TSL_REMOTE_READ_IS);
        assert_int_equal(reader.size - reader.at, reply.size);
        n_told += reply.size;
        return;
    }
    reader = tsl_reader_of(said->data + TSL_REMOTE_FRAME_SIZE, said->size - TSL_REMOTE_FRAME_SIZE);
    assert_true(tsl_remote_get_request(&reader, &question));
    assert_int_equal(question.kind, TSL_REMOTE_READ);
    tsl_remote_put_reply(&writer,
                         &(struct tsl_remote_reply){.kind = TSL_REMOTE_READ_IS, .id = question.id, .size = 128});
    tsl_write_raw(&writer, bytes, 128);
    say_as_peer(said->program, &writer, changed);
    tsl_remote_request_finish(&question);
}

static void answer_peer(bool changed)
{
    struct peer_said *said;

    while ((said = peer_said)) {
        peer_said = said->next;
        answer(said, changed);
        node_stage_give(said->data);
        free(said);
    }
}

/* Node 1 asks for bytes of a program's memory. */
static void ask_as_peer(uint32_t program, bool changed)
{
    struct tsl_writer writer = {.size = 0};

    tsl_remote_put_request(&writer, &(struct tsl_remote_request){.kind = TSL_REMOTE_READ,
                                                                 .id = 5,
                                                                 .src = {.mem = C, .offset = 4, .row_pitch = 100},
                                                                 .region = {100, 3, 1}});
    say_as_peer(program, &writer, changed);
    writer = (struct tsl_writer){.size = 0};
    tsl_remote_put_request(&writer,
                           &(struct tsl_remote_request){.kind = TSL_REMOTE_READ,
                                                        .id = 6,
                                                        .src = {.mem = C},
                                                        .region = {1, 1, 1},
                                                        .n_ranges = 2,
                                                        .ranges = (struct tsl_range_of_bytes[]){{0, 200}, {300, 400}}});
    say_as_peer(program, &writer, changed);
}

static void give_content(struct tsl_remote_request *request)
{
    struct tsl_writer content = {.size = 0};

    tsl_remote_put_content(&content, request);
    assert_false(content.failed);
    request->data = content.data;
    request->data_size = content.size;
    tsl_remote_digest(content.data, content.size, request->digest);
}

static void run_nothing(const struct tsl_fake_run *run)
{
    (void)run;
}

static int begin(void **state)
{
    static const unsigned access[] = {TSL_MAY_READ};
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};
    struct tsl_fake_setup setup = {.n_members = 2, .threads = true, .seed = 1};
    struct node_out out = {.messages = take_messages, .payload = take_payload, .peer = take_peer, .n_nodes = 2};

    (void)state;
    if (getenv("NODES_SEED"))
        chance_state = strtoul(getenv("NODES_SEED"), NULL, 10);
    alarm(300);
    give_content(&build_one);
    give_content(&compile_one);
    give_content(&ask_build);
    give_content(&ask_windows);
    tsl_remote_digest(ask_code.data, ask_code.data_size, ask_code.digest);
    tsl_fake_kernel("ask", run_nothing, 1, kinds, access);
    setup.members[0].gates = setup.members[0].images = true;
    setup.members[0].peer = setup.members[1].peer = true;
    tsl_fake_begin(&setup);
    tsl_members_register_alone(&tsl_fake_driver);
    server = node_server_create(&out);
    assert_non_null(server);
    return 0;
}

static int end(void **state)
{
    (void)state;
    node_server_destroy(server);
    assert_int_equal(tsl_fake_live().programs, 0);
    tsl_members_reset();
    tsl_fake_end();
    free((void *)build_one.data);
    free((void *)compile_one.data);
    free((void *)ask_build.data);
    free((void *)ask_windows.data);
    return 0;
}

static void step_until_empty(void)
{
    uint64_t limit = tsl_clock_ns() + 20000000000u;

    while (!node_server_is_empty(server)) {
        if (!node_server_step(server))
            node_server_wait(server, 1000);
        answer_peer(false);
        assert_true(tsl_clock_ns() < limit);
    }
}

/* But for what programs to come may share. */
static void check_nothing_is_left(void)
{
    struct tsl_fake_live live = tsl_fake_live();

    assert_int_equal(live.lanes + live.mems + live.subs + live.fences + live.kernels, 0);
    assert_in_range(live.programs, 0, NODE_MOST_BUILT);
}

static void check_no_violation(void)
{
    for (unsigned i = 0; tsl_fake_violation(i); i++)
        print_error("%s\n", tsl_fake_violation(i));
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
}

static void a_whole_program_is_served(void **state)
{
    struct tsl_writer writer = all_samples(true);

    (void)state;
    n_replies = 0;
    ask_as_peer(1, false); /* The program says later what it is about. */
    assert_true(node_server_take(server, 1, writer.data, TSL_REMOTE_FRAME_SIZE, writer.size - TSL_REMOTE_FRAME_SIZE));
    for (int i = 0; i < 2000 && (n_replies < 12 || n_told < 600); i++) {
        if (!node_server_step(server))
            node_server_wait(server, 1000);
        answer_peer(false);
    }
    /* Five answers, six ends of work, and one that bytes of a READ and one that staging came by. */
    assert_true(n_replies >= 12);
    assert_int_equal(n_told, 600);
    node_server_bye(server, 1);
    step_until_empty();
    check_nothing_is_left();
    check_no_violation();
}

/* What only costs the program its own results: races, boxes that meet or whose pitches the fake driver finds too small.
 * All else would be the server's fault. */
static bool is_its_own(const char *violation)
{
    static const char *const own[] = {"race", "a pitch is too small", "overlap", "meets another range"};

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strstr(violation, own[i]))
            return true;
    return false;
}

static void forget_its_own(void)
{
    bool faults = false;

    for (unsigned i = 0; tsl_fake_violation(i); i++)
        if (!is_its_own(tsl_fake_violation(i))) {
            print_error("%s\n", tsl_fake_violation(i));
            faults = true;
        }
    assert_false(faults);
    tsl_fake_forget();
}

static void changed_programs_do_no_harm(void **state)
{
    (void)state;
    for (uint32_t round = 2; round < 1500; round++) {
        struct tsl_writer writer = all_samples(true);
        size_t size = writer.size - TSL_REMOTE_FRAME_SIZE;

        change(writer.data + TSL_REMOTE_FRAME_SIZE, size);
        if (chance(4) == 0)
            size = chance(size);
        node_server_take(server, round, writer.data, TSL_REMOTE_FRAME_SIZE, size);
        if (chance(2))
            node_server_step(server);
        ask_as_peer(round, chance(2));
        if (chance(2))
            answer_peer(true);
        node_server_bye(server, round);
        if (round % 16 == 0) {
            step_until_empty();
            check_nothing_is_left();
        }
        forget_its_own();
    }
    step_until_empty();
    answer_peer(false);
    check_nothing_is_left();
}

static bool say(uint32_t program, const struct tsl_remote_request *request)
{
    static const uint8_t none[TSL_REMOTE_FRAME_SIZE];
    struct tsl_writer writer = {.size = 0};

    tsl_write_raw(&writer, none, sizeof(none));
    tsl_remote_put_request(&writer, request);
    assert_false(writer.failed);
    return node_server_take(server, program, writer.data, TSL_REMOTE_FRAME_SIZE, writer.size - TSL_REMOTE_FRAME_SIZE);
}

/* None that a head would refuse. */
static void many_replies_are_several_frames(void **state)
{
    static const uint8_t none[TSL_REMOTE_FRAME_SIZE];
    struct tsl_writer writer = {.size = 0};
    size_t one;

    (void)state;
    longest_frame = n_replies = 0;
    assert_true(say(3000, &samples[0]));
    node_server_step(server);
    assert_int_equal(n_replies, 1);
    one = longest_frame;
    tsl_write_raw(&writer, none, sizeof(none));
    for (size_t size = 0; size < (size_t)4 << 20; size += one)
        tsl_remote_put_request(&writer, &samples[0]);
    assert_false(writer.failed);
    assert_true(
        node_server_take(server, 3000, writer.data, TSL_REMOTE_FRAME_SIZE, writer.size - TSL_REMOTE_FRAME_SIZE));
    node_server_step(server);
    assert_in_range(n_replies, ((size_t)4 << 20) / one, ((size_t)4 << 20) / one + 2);
    assert_in_range(longest_frame, (1 << 20) - one, (1 << 20) + one);
    node_server_bye(server, 3000);
    step_until_empty();
}

static const struct tsl_remote_request *any_question(void)
{
    const struct tsl_remote_request *const others[] = {&ask_windows, &ask_code, &ask_file};
    uint64_t i = chance(sizeof(asked) / sizeof(asked[0]) + 3);

    return i < 3 ? others[i] : &asked[i - 3];
}

/* What is asked of programs, which others share, in any order: what makes no sense ends that program alone, and the
 * drivers are asked what they may be asked. */
static void questions_come_in_any_order(void **state)
{
    (void)state;
    for (uint32_t round = 2000; round < 2600; round += 2) {
        bool sound[2] = {say(round, &ask_build), say(round + 1, &ask_build)};

        for (unsigned n = 0; n < 24; n++) {
            unsigned which = (unsigned)chance(2);

            if (chance(2) && !node_server_step(server))
                node_server_wait(server, 200);
            if (sound[which])
                sound[which] = say(round + which, any_question());
        }
        node_server_bye(server, round);
        node_server_bye(server, round + 1);
        if (chance(2))
            step_until_empty();
    }
    step_until_empty();
    check_nothing_is_left();
    check_no_violation();
}

/* ---- Functions of files ------------------------------------------------------------------------------------------ */

static char library[64];

static void write_library(const char *text)
{
    FILE *file = fopen(library, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static uint32_t asker = 4000;

static const char *words_to(const struct tsl_remote_request *request)
{
    uint64_t limit = tsl_clock_ns() + 20000000000u;
    unsigned before = n_replies;

    assert_true(say(asker, request));
    while (n_replies == before) {
        if (!node_server_step(server))
            node_server_wait(server, 1000);
        assert_true(tsl_clock_ns() < limit);
    }
    return last_words;
}

/* What the node says of that file, whose bytes are said to be that text. */
static const char *words_of(const char *path, const char *text)
{
    struct tsl_remote_request request = ask_file;

    request.library = (char *)path;
    tsl_remote_digest(text, strlen(text), request.digest);
    return words_to(&request);
}

/* Nothing but a whole file is read: what comes of others may have no end. What is loaded already can't be loaded anew.
 * The fake driver has no calls, so that a library that is found is answered by an empty log. */
static void a_library_is_a_file_that_stays(void **state)
{
    static const char other[] = "its library isn't on this node, or isn't the same there";

    (void)state;
    snprintf(library, sizeof(library), "/tmp/tesela-library-%d", (int)getpid());
    words_to(&ask_build);
    words_to(&asked[0]);
    assert_string_equal(words_of("/dev/zero", ""), other);
    assert_int_equal(mkfifo(library, 0600), 0);
    assert_string_equal(words_of(library, ""), other);
    assert_int_equal(unlink(library), 0);
    write_library("one");
    assert_int_equal(chdir("/tmp"), 0);
    assert_string_equal(words_of(library + strlen("/tmp/"), "one"), "a node finds a library by its whole path alone");
    assert_string_equal(words_of(library, "two"), other);
    assert_string_equal(words_of(library, "one"), "");
    write_library("two");
    assert_string_equal(words_of(library, "two"),
                        "its library has changed since the node took it: that takes a new start of the nodes");
    assert_int_equal(unlink(library), 0);
    node_server_bye(server, 4000);
    step_until_empty();
    check_nothing_is_left();
    check_no_violation();
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

#define IMAGE 6u

static struct tsl_remote_request image = {.kind = TSL_REMOTE_IMAGE,
                                          .id = IMAGE,
                                          .image = {.format = {CL_RGBA, CL_UNORM_INT8},
                                                    .type = CL_MEM_OBJECT_IMAGE2D,
                                                    .width = 16,
                                                    .height = 16,
                                                    .depth = 1,
                                                    .array_size = 1,
                                                    .element_size = 4,
                                                    .row_pitch = 64,
                                                    .slice_pitch = 1024}};

/* The kernel, which has one argument, a buffer, is launched by a program of its own. */
static bool says_launch(struct tsl_window window, uint64_t mem)
{
    struct tsl_remote_arg arg = {.kind = TSL_ARG_MEM, .mem = mem};
    bool sound;

    asker++;
    assert_true(say(asker, &samples[1]) && say(asker, &samples[2]) && say(asker, &image));
    words_to(&ask_build);
    words_to(&asked[0]);
    sound = say(asker, &(struct tsl_remote_request){.kind = TSL_REMOTE_LAUNCH,
                                                    .id = 50,
                                                    .named = true,
                                                    .tell = true,
                                                    .lane = LANE,
                                                    .of = 41,
                                                    .window = window,
                                                    .has_args = true,
                                                    .n_args = 1,
                                                    .args = &arg});
    last_end = 1;
    sound = sound && say(asker, &(struct tsl_remote_request){.kind = TSL_REMOTE_FLUSH, .id = LANE});
    for (unsigned i = 0; i < 1000 && sound && last_end > 0; i++)
        if (!node_server_step(server))
            node_server_wait(server, 1000);
    node_server_bye(server, asker);
    step_until_empty();
    return sound;
}

/* A driver would divide by a size of 0. */
static void sizes_and_kinds_of_launches_are_checked(void **state)
{
    struct tsl_window window = {
        .work_dim = 2, .global_size = {8, 8, 1}, .local_size = {4, 4, 1}, .group_count = {2, 2, 1}, .whole = true};

    (void)state;
    assert_true(says_launch(window, A));
    assert_false(says_launch(window, IMAGE));
    window.local_size[1] = 0;
    assert_false(says_launch(window, A));
    window.local_size[0] = 0;
    assert_true(says_launch(window, A));
    window.local_size[1] = 4;
    assert_false(says_launch(window, A));
    check_nothing_is_left();
    check_no_violation();
}

/* They have 256 items at most, in each dimension, too. Their product would be 0. */
static void larger_groups_than_a_member_has_fail(void **state)
{
    struct tsl_window window = {
        .work_dim = 2, .global_size = {64, 64, 1}, .local_size = {64, 4, 1}, .group_count = {1, 16, 1}, .whole = true};

    (void)state;
    assert_true(says_launch(window, A));
    assert_int_equal(last_end, CL_COMPLETE);
    window.local_size[1] = 8;
    assert_true(says_launch(window, A));
    assert_int_equal(last_end, CL_INVALID_WORK_GROUP_SIZE);
    window.global_size[0] = window.local_size[0] = window.global_size[1] = window.local_size[1] = (size_t)1 << 32;
    assert_true(says_launch(window, A));
    assert_int_equal(last_end, CL_INVALID_WORK_ITEM_SIZE);
    check_nothing_is_left();
    check_no_violation();
}

/* Its size would be a small number again. */
static void an_image_of_too_many_bytes_is_refused(void **state)
{
    struct tsl_remote_request huge = image;

    (void)state;
    huge.image.type = CL_MEM_OBJECT_IMAGE3D;
    huge.image.row_pitch = (size_t)1 << 62;
    huge.image.height = huge.image.depth = 3;
    huge.image.slice_pitch = (size_t)1 << 62;
    assert_false(say(++asker, &huge));
    node_server_bye(server, asker);
    step_until_empty();
    check_nothing_is_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_come_out_as_they_went_in),
        cmocka_unit_test(contents_come_out_as_they_went_in),
        cmocka_unit_test(changed_contents_do_no_harm),
        cmocka_unit_test(replies_come_out_as_they_went_in),
        cmocka_unit_test(another_version_is_told_from_nonsense),
        cmocka_unit_test(changed_messages_do_no_harm),
        cmocka_unit_test(a_whole_program_is_served),
        cmocka_unit_test(changed_programs_do_no_harm),
        cmocka_unit_test(questions_come_in_any_order),
        cmocka_unit_test(many_replies_are_several_frames),
        cmocka_unit_test(a_library_is_a_file_that_stays),
        cmocka_unit_test(sizes_and_kinds_of_launches_are_checked),
        cmocka_unit_test(larger_groups_than_a_member_has_fail),
        cmocka_unit_test(an_image_of_too_many_bytes_is_refused),
    };

    return cmocka_run_group_tests_name("protocol", tests, begin, end);
}
