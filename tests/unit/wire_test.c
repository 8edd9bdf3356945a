/*
 * The compiler's wire: every message comes out as it went in; cut short, changed or made up it is refused without harm
 * (which AddressSanitizer watches), and never believed to be longer than it is.
 */
#include "compile_client/wire.h"

#include "footprint/format.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

static struct tsl_arg_fact args[] = {
    {.kind = TSL_FACT_GLOBAL,
     .may = TSL_MAY_READ | TSL_MAY_WRITE,
     .address = CL_KERNEL_ARG_ADDRESS_GLOBAL,
     .access = CL_KERNEL_ARG_ACCESS_NONE,
     .type_qualifier = CL_KERNEL_ARG_TYPE_RESTRICT,
     .type_name = "float*",
     .name = "x"},
    {.kind = TSL_FACT_VALUE, .size = 4, .address = CL_KERNEL_ARG_ADDRESS_PRIVATE, .type_name = "int"},
    {.kind = TSL_FACT_LOCAL},
};

static struct tsl_node nodes[] = {
    {TSL_NODE_GLOBAL_ID, 64, 0, 0, 0, 0}, {TSL_NODE_CONSTANT, 64, 0, 0, 0, 4}, {TSL_NODE_MUL, 64, 0, 1, 0, 0}};
static struct tsl_access accesses[] = {{.kind = TSL_ACCESS_WRITE,
                                        .flags = TSL_ACCESS_SURE,
                                        .width = 4,
                                        .address = {2, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE},
                                        .narrow = 4}};
static struct tsl_footprint footprint = {.flags = TSL_FOOTPRINT_FENCES,
                                         .n_arguments = 3,
                                         .n_nodes = 3,
                                         .n_accesses = 1,
                                         .nodes = nodes,
                                         .accesses = accesses};

static struct tsl_wire_kernel kernels[] = {
    {.facts = {.name = "saxpy",
               .attributes = "reqd_work_group_size(8,2,1)",
               .n_args = 3,
               .args = args,
               .has_arg_info = true,
               .work_group_size = 256,
               .told_group_size = 128,
               .preferred_multiple = 32,
               .reqd_size = {8, 2, 1},
               .recommended_size = {16, 4, 2},
               .local_mem_size = 1024,
               .private_mem_size = 16,
               .whole_launch = true,
               .atomics = true,
               .fp64 = true,
               .proven = true,
               .footprint = &footprint}},
    {.facts = {.name = "empty", .attributes = "", .prints = true, .opaque = true}},
};

static struct tsl_wire_file files[] = {{"/usr/include/a.h", 12, UINT64_C(0x123456789abcdef0)}, {"/b", 0, 0}};

static const struct tsl_wire_built built_sample = {.result = CL_SUCCESS,
                                                   .log = "warning: no",
                                                   .artefact = "\x7f"
                                                               "ELF\0\1",
                                                   .artefact_size = 6,
                                                   .n_kernels = 2,
                                                   .kernels = kernels,
                                                   .n_files = 2,
                                                   .files = files};

static struct tsl_wire_text headers[] = {{"a.h", "#define A 1\n"}, {"empty.h", ""}};

static struct tsl_wire_input inputs[] = {{"BC\0\1", 4}, {"", 0}};

static struct tsl_wire_known known[] = {{1, 0, 0x10b5, 0x10de, 16, 4, 1, 0x3f800000}, {.arg = 2, .sampler = 0x33}};

static const struct tsl_wire_build build_sample = {.action = TSL_WIRE_COMPILE,
                                                   .target = TSL_WIRE_PTX,
                                                   .processor = "sm_90",
                                                   .options = "-cl-mad-enable",
                                                   .folder = "/home/u",
                                                   .source = "kernel void f() {}",
                                                   .translator = "/usr/bin/llvm-spirv",
                                                   .il = "\3\2\0\7",
                                                   .il_size = 4,
                                                   .local_size = {64, 2, 1},
                                                   .n_known = 2,
                                                   .known = known,
                                                   .n_headers = 2,
                                                   .headers = headers,
                                                   .n_inputs = 2,
                                                   .inputs = inputs};

static const struct tsl_wire_hello hello_sample = {.lowest = 1, .highest = 3, .name = "tesela-kc 1.0"};
static const struct tsl_wire_error error_sample = {.error = CL_OUT_OF_HOST_MEMORY, .text = "too big"};

static const enum tsl_wire_type types[] = {TSL_WIRE_HELLO, TSL_WIRE_BUILD, TSL_WIRE_BUILT, TSL_WIRE_ERROR};

static struct tsl_writer encode(enum tsl_wire_type type)
{
    struct tsl_writer writer = {0};

    switch (type) {
    case TSL_WIRE_HELLO:
        tsl_wire_encode_hello(&writer, &hello_sample);
        break;
    case TSL_WIRE_BUILD:
        tsl_wire_encode_build(&writer, 42, &build_sample);
        break;
    case TSL_WIRE_BUILT:
        tsl_wire_encode_built(&writer, 42, &built_sample);
        break;
    case TSL_WIRE_ERROR:
        tsl_wire_encode_error(&writer, 42, &error_sample);
        break;
    }
    assert_false(writer.failed);
    return writer;
}

/* Decodes and finishes; was it accepted? */
static bool decodes(enum tsl_wire_type type, const void *body, size_t size)
{
    union {
        struct tsl_wire_hello hello;
        struct tsl_wire_build build;
        struct tsl_wire_built built;
        struct tsl_wire_error error;
    } message;

    switch (type) {
    case TSL_WIRE_HELLO:
        return tsl_wire_decode_hello(body, size, &message.hello) && (tsl_wire_hello_finish(&message.hello), true);
    case TSL_WIRE_BUILD:
        return tsl_wire_decode_build(body, size, &message.build) && (tsl_wire_build_finish(&message.build), true);
    case TSL_WIRE_BUILT:
        return tsl_wire_decode_built(body, size, &message.built) && (tsl_wire_built_finish(&message.built), true);
    case TSL_WIRE_ERROR:
        return tsl_wire_decode_error(body, size, &message.error) && (tsl_wire_error_finish(&message.error), true);
    }
    return false;
}

/* ---- Framing ----------------------------------------------------------------------------------------------------- */

static void messages_are_cut_from_a_stream(void **state)
{
    struct tsl_writer stream = {0};
    struct tsl_wire_header header;
    size_t first;

    (void)state;
    tsl_wire_encode_hello(&stream, &hello_sample);
    first = stream.size;
    tsl_wire_encode_error(&stream, 9, &error_sample);
    for (size_t size = 0; size < first; size++)
        assert_int_equal(tsl_wire_look(stream.data, size, &header), TSL_WIRE_PARTIAL);
    assert_int_equal(tsl_wire_look(stream.data, stream.size, &header), TSL_WIRE_WHOLE);
    assert_int_equal(header.type, TSL_WIRE_HELLO);
    assert_int_equal(header.request, 0);
    assert_int_equal(TSL_WIRE_HEADER_SIZE + header.body_size, first);
    assert_int_equal(tsl_wire_look(stream.data + first, stream.size - first, &header), TSL_WIRE_WHOLE);
    assert_int_equal(header.type, TSL_WIRE_ERROR);
    assert_int_equal(header.request, 9);
    free(stream.data);
}

/* Sets four bytes of a header and looks. */
static enum tsl_wire_frame look_with(size_t offset, uint32_t value)
{
    struct tsl_writer writer = encode(TSL_WIRE_HELLO);
    struct tsl_wire_header header;
    enum tsl_wire_frame frame;

    tsl_write_u32_at(&writer, offset, value);
    frame = tsl_wire_look(writer.data, writer.size, &header);
    free(writer.data);
    return frame;
}

static void foreign_and_endless_messages_are_broken(void **state)
{
    (void)state;
    assert_int_equal(look_with(0, 0x20544547), TSL_WIRE_BROKEN); /* "GET " */
    assert_int_equal(look_with(4, 2), TSL_WIRE_BROKEN);          /* another version than HELLO's for ever */
    assert_int_equal(look_with(8, 0), TSL_WIRE_BROKEN);          /* no such type */
    assert_int_equal(look_with(8, 5), TSL_WIRE_BROKEN);
    assert_int_equal(look_with(12, 0), TSL_WIRE_BROKEN); /* no body */
    assert_int_equal(look_with(12, TSL_WIRE_MAX_HELLO + 1), TSL_WIRE_BROKEN);
    assert_int_equal(look_with(12, UINT32_MAX), TSL_WIRE_BROKEN);
    assert_int_equal(look_with(12, TSL_WIRE_MAX_HELLO), TSL_WIRE_PARTIAL);
}

static void too_long_a_message_is_not_written(void **state)
{
    struct tsl_writer writer = {0};
    struct tsl_wire_hello hello = hello_sample;

    (void)state;
    hello.name = calloc(1, TSL_WIRE_MAX_HELLO + 1);
    memset(hello.name, 'a', TSL_WIRE_MAX_HELLO);
    tsl_wire_encode_hello(&writer, &hello);
    assert_true(writer.failed);
    free(hello.name);
    free(writer.data);
}

/* ---- Round trips ------------------------------------------------------------------------------------------------- */

static void hello_and_error_come_through(void **state)
{
    struct tsl_writer writer = encode(TSL_WIRE_HELLO);
    struct tsl_wire_hello hello;
    struct tsl_wire_error error;

    (void)state;
    assert_true(tsl_wire_decode_hello(writer.data + TSL_WIRE_HEADER_SIZE, writer.size - TSL_WIRE_HEADER_SIZE, &hello));
    assert_int_equal(hello.lowest, 1);
    assert_int_equal(hello.highest, 3);
    assert_string_equal(hello.name, "tesela-kc 1.0");
    tsl_wire_hello_finish(&hello);
    free(writer.data);
    writer = encode(TSL_WIRE_ERROR);
    assert_true(tsl_wire_decode_error(writer.data + TSL_WIRE_HEADER_SIZE, writer.size - TSL_WIRE_HEADER_SIZE, &error));
    assert_int_equal(error.error, CL_OUT_OF_HOST_MEMORY);
    assert_string_equal(error.text, "too big");
    tsl_wire_error_finish(&error);
    free(writer.data);
}

static void a_build_request_comes_through(void **state)
{
    struct tsl_writer writer = encode(TSL_WIRE_BUILD);
    struct tsl_wire_build build;

    (void)state;
    assert_true(tsl_wire_decode_build(writer.data + TSL_WIRE_HEADER_SIZE, writer.size - TSL_WIRE_HEADER_SIZE, &build));
    assert_int_equal(build.action, TSL_WIRE_COMPILE);
    assert_int_equal(build.target, TSL_WIRE_PTX);
    assert_string_equal(build.processor, "sm_90");
    assert_string_equal(build.options, "-cl-mad-enable");
    assert_string_equal(build.folder, "/home/u");
    assert_string_equal(build.source, "kernel void f() {}");
    assert_string_equal(build.translator, "/usr/bin/llvm-spirv");
    assert_int_equal(build.il_size, 4);
    assert_memory_equal(build.il, "\3\2\0\7", 4);
    assert_null(build.kernel);
    assert_int_equal(build.local_size[0], 64);
    assert_int_equal(build.local_size[2], 1);
    assert_int_equal(build.n_known, 2);
    assert_memory_equal(build.known, known, sizeof(known));
    assert_int_equal(build.n_headers, 2);
    assert_string_equal(build.headers[0].name, "a.h");
    assert_string_equal(build.headers[1].text, "");
    assert_int_equal(build.n_inputs, 2);
    assert_int_equal(build.inputs[0].size, 4);
    assert_memory_equal(build.inputs[0].data, "BC\0\1", 4);
    assert_int_equal(build.inputs[1].size, 0);
    tsl_wire_build_finish(&build);
    free(writer.data);
}

static void check_footprint(const struct tsl_footprint *found)
{
    assert_non_null(found);
    assert_int_equal(found->flags, TSL_FOOTPRINT_FENCES);
    assert_int_equal(found->n_accesses, 1);
    assert_int_equal(found->accesses[0].width, 4);
    assert_int_equal(found->nodes[found->accesses[0].address[0]].op, TSL_NODE_MUL);
}

static void check_facts(const struct tsl_kernel_facts *facts)
{
    assert_string_equal(facts->name, "saxpy");
    assert_string_equal(facts->attributes, "reqd_work_group_size(8,2,1)");
    assert_int_equal(facts->n_args, 3);
    assert_int_equal(facts->args[0].kind, TSL_FACT_GLOBAL);
    assert_int_equal(facts->args[0].may, TSL_MAY_READ | TSL_MAY_WRITE);
    assert_int_equal(facts->args[0].address, CL_KERNEL_ARG_ADDRESS_GLOBAL);
    assert_int_equal(facts->args[0].type_qualifier, CL_KERNEL_ARG_TYPE_RESTRICT);
    assert_string_equal(facts->args[0].type_name, "float*");
    assert_int_equal(facts->args[1].size, 4);
    assert_null(facts->args[1].name);
    assert_int_equal(facts->args[2].kind, TSL_FACT_LOCAL);
    assert_int_equal(facts->work_group_size, 256);
    assert_int_equal(facts->told_group_size, 128);
    assert_int_equal(facts->preferred_multiple, 32);
    assert_int_equal(facts->reqd_size[1], 2);
    assert_int_equal(facts->recommended_size[0], 16);
    assert_int_equal(facts->recommended_size[1], 4);
    assert_int_equal(facts->recommended_size[2], 2);
    assert_int_equal(facts->local_mem_size, 1024);
    assert_int_equal(facts->private_mem_size, 16);
    assert_true(facts->has_arg_info && facts->whole_launch && facts->atomics && facts->proven && facts->fp64);
    assert_false(facts->prints || facts->opaque);
}

static void a_reply_comes_through_with_its_facts(void **state)
{
    struct tsl_writer writer = encode(TSL_WIRE_BUILT);
    struct tsl_wire_built built;

    (void)state;
    assert_true(tsl_wire_decode_built(writer.data + TSL_WIRE_HEADER_SIZE, writer.size - TSL_WIRE_HEADER_SIZE, &built));
    assert_int_equal(built.result, CL_SUCCESS);
    assert_string_equal(built.log, "warning: no");
    assert_int_equal(built.artefact_size, 6);
    assert_memory_equal(built.artefact, built_sample.artefact, 6);
    assert_int_equal(built.n_kernels, 2);
    check_facts(&built.kernels[0].facts);
    check_footprint(built.kernels[0].facts.footprint);
    assert_true(built.kernels[1].facts.prints && built.kernels[1].facts.opaque && !built.kernels[1].facts.fp64);
    assert_null(built.kernels[1].facts.footprint);
    assert_int_equal(built.n_files, 2);
    assert_string_equal(built.files[0].path, "/usr/include/a.h");
    assert_int_equal(built.files[0].size, 12);
    assert_true(built.files[0].sum == files[0].sum);
    tsl_wire_built_finish(&built);
    free(writer.data);
}

static void an_error_must_be_one(void **state)
{
    struct tsl_writer writer = {0};
    struct tsl_wire_error error = {.error = CL_SUCCESS, .text = "fine"};

    (void)state;
    tsl_wire_encode_error(&writer, 1, &error);
    assert_false(decodes(TSL_WIRE_ERROR, writer.data + TSL_WIRE_HEADER_SIZE, writer.size - TSL_WIRE_HEADER_SIZE));
    free(writer.data);
}

/* ---- Hostile bytes ----------------------------------------------------------------------------------------------- */

/* Decodes from memory that ends exactly where the body does, so that reading on is seen. */
static bool decodes_exact(enum tsl_wire_type type, const uint8_t *body, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    bool accepted;

    memcpy(exact, body, size);
    accepted = decodes(type, exact, size);
    free(exact);
    return accepted;
}

static void every_truncation_and_every_tail_is_refused(void **state)
{
    (void)state;
    for (size_t t = 0; t < 4; t++) {
        struct tsl_writer writer = encode(types[t]);
        size_t size = writer.size - TSL_WIRE_HEADER_SIZE;

        for (size_t i = 0; i < size; i++)
            assert_false(decodes_exact(types[t], writer.data + TSL_WIRE_HEADER_SIZE, i));
        assert_true(decodes_exact(types[t], writer.data + TSL_WIRE_HEADER_SIZE, size));
        tsl_write_u8(&writer, 0);
        assert_false(decodes_exact(types[t], writer.data + TSL_WIRE_HEADER_SIZE, size + 1));
        free(writer.data);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* One to four bytes changed: often to what lengths and counts are worst at. */
static void changed_messages_do_no_harm(void **state)
{
    static const uint8_t nasty[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe};
    uint32_t seed = 7;

    (void)state;
    for (size_t t = 0; t < 4; t++)
        for (unsigned round = 0; round < 10000; round++) {
            struct tsl_writer writer = encode(types[t]);
            size_t size = writer.size - TSL_WIRE_HEADER_SIZE;

            for (uint32_t n = 1 + next_random(&seed) % 4; n; n--)
                writer.data[TSL_WIRE_HEADER_SIZE + next_random(&seed) % size] =
                    round % 2 ? nasty[next_random(&seed) % sizeof(nasty)] : (uint8_t)next_random(&seed);
            decodes_exact(types[t], writer.data + TSL_WIRE_HEADER_SIZE, size);
            free(writer.data);
        }
}

static void random_bytes_do_no_harm(void **state)
{
    uint32_t seed = 99;
    uint8_t bytes[512];

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        struct tsl_wire_header header;
        size_t size = next_random(&seed) % sizeof(bytes);

        for (size_t i = 0; i < size; i++)
            bytes[i] = next_random(&seed) % 3 ? 0 : (uint8_t)next_random(&seed);
        tsl_wire_look(bytes, size, &header);
        decodes_exact(types[round % 4], bytes, size);
    }
}

/* Values that no enumeration has, and sizes that can't be. */
static void facts_out_of_range_are_refused(void **state)
{
    struct tsl_kernel_facts facts = {.name = "f", .attributes = "", .n_args = 1, .args = args};
    struct tsl_kernel_facts wrong[4] = {facts, facts, facts, facts}, decoded;
    struct tsl_arg_fact bad_kind = {.kind = (enum tsl_fact_kind)(TSL_FACT_PIPE + 1)}, bad_access = {.may = 4};

    (void)state;
    wrong[0].args = &bad_kind;
    wrong[1].args = &bad_access;
    wrong[2].reqd_size[0] = 8; /* and no others */
    for (unsigned d = 0; d < 3; d++)
        wrong[3].reqd_size[d] = (size_t)1 << 30;
    for (unsigned i = 0; i < 5; i++) {
        struct tsl_writer writer = {0};
        struct tsl_reader reader;

        tsl_wire_put_facts(&writer, i < 4 ? &wrong[i] : &facts);
        reader = tsl_reader_of(writer.data, writer.size);
        assert_int_equal(tsl_wire_get_facts(&reader, &decoded), i == 4);
        tsl_kernel_facts_finish(&decoded);
        free(writer.data);
    }
}

/* Passed over where its format is a later one; refused where it isn't well-formed, or another kernel's. */
static void footprints_are_taken_or_refused(void **state)
{
    static const struct {
        uint32_t format, n_arguments;
        bool damaged, taken, known;
    } cases[] = {{TSL_FOOTPRINT_FORMAT, 1, false, true, true},
                 {TSL_FOOTPRINT_FORMAT, 2, false, false, false},
                 {TSL_FOOTPRINT_FORMAT, 1, true, false, false},
                 {TSL_FOOTPRINT_FORMAT + 1, 1, true, true, false},
                 {0, 1, true, true, false}};
    struct tsl_kernel_facts facts = {.name = "f", .attributes = "", .n_args = 1, .args = args}, decoded;

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tsl_footprint one = {.n_arguments = cases[i].n_arguments};
        struct tsl_writer writer = {0};
        struct tsl_reader reader;
        size_t start;

        tsl_wire_put_facts(&writer, &facts);
        start = writer.size -= 8;
        tsl_write_u32(&writer, cases[i].format);
        tsl_write_u32(&writer, 0);
        tsl_footprint_encode(&writer, &one);
        if (cases[i].damaged)
            writer.size--;
        tsl_write_u32_at(&writer, start + 4, (uint32_t)(writer.size - start - 8));
        reader = tsl_reader_of(writer.data, writer.size);
        assert_int_equal(tsl_wire_get_facts(&reader, &decoded), cases[i].taken);
        assert_int_equal(decoded.footprint != NULL, cases[i].known);
        tsl_kernel_facts_finish(&decoded);
        free(writer.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(footprints_are_taken_or_refused),
        cmocka_unit_test(messages_are_cut_from_a_stream),
        cmocka_unit_test(foreign_and_endless_messages_are_broken),
        cmocka_unit_test(too_long_a_message_is_not_written),
        cmocka_unit_test(hello_and_error_come_through),
        cmocka_unit_test(a_build_request_comes_through),
        cmocka_unit_test(a_reply_comes_through_with_its_facts),
        cmocka_unit_test(an_error_must_be_one),
        cmocka_unit_test(every_truncation_and_every_tail_is_refused),
        cmocka_unit_test(changed_messages_do_no_harm),
        cmocka_unit_test(random_bytes_do_no_harm),
        cmocka_unit_test(facts_out_of_range_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
