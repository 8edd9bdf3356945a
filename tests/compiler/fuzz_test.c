/* timeout: 200 */
/*
 * Broken sources for the kernel compiler, and broken replies for the library: neither side dies, and every failure has
 * a log. FUZZ_SEED and FUZZ_COUNT run others than the usual ones.
 *
 * For the second this program is the compiler too (--serve 3): it answers each request with a reply that was damaged.
 */
#include "footprint_kernels.h"
#include "kc_env.h"

#include "base/bytes.h"

#include <sys/socket.h>
#include <unistd.h>

static uint64_t random_state;

static uint32_t chance(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

/* ---- Sources ----------------------------------------------------------------------------------------------------- */

static const char whole[] =
    "#define N 16\n"
    "typedef struct { float4 a; int b[3]; } thing;\n"
    "constant int table[4] = {1, 2, 3, 4};\n"
    "float help(float x, local float *t) { return x * t[0] + native_sin(x); }\n"
    "kernel __attribute__((reqd_work_group_size(16, 1, 1))) void f(global const float *in, global thing *out,\n"
    "        local float *t, constant int *c, float4 v, uint n, thing by_value) {\n"
    "    size_t i = get_global_id(0); local int shared[N]; float s = 0;\n"
    "    t[get_local_id(0)] = in[i]; shared[get_local_id(0)] = table[i & 3]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint k = 0; k < n; k++) { if (k & 1) continue; s += help(t[k & 15], t); barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "    switch (c[0]) { case 0: s *= 2; break; case 5: s = by_value.a.x; default: s -= v.w; }\n"
    "    while (s > 100.0f) { s = sqrt(s); if (isnan(s)) break; }\n"
    "    out[i].a = (float4)(s, v.xyz); out[i].b[1] = convert_int_sat_rte(s); atomic_inc((volatile global int "
    "*)&out[i].b[2]);\n"
    "    printf(\"%v4f %d\\n\", v, shared[0]);\n"
    "}\n";
static const char *const words[] = {
    "{",       "}",    "(",       ")",    ";",     "*",  "barrier(1);", "float16", "kernel ",   "local ", "for (;;)",
    "goto x;", "x:",   "return;", "0",    "<<",    "\"", "/*",          "#if",     "#endif\n",  "double", "image2d_t",
    "\\",      "\xff", "if (n)",  "else", "thing", "f",  "help(1, t)",  "[1<<30]", "while (1)", ","};

/* A few cuts, doublings and words put in. */
static char *damaged_source(void)
{
    size_t size = sizeof(whole) - 1;
    char *text = calloc(1, 4 * sizeof(whole) + 256);

    memcpy(text, whole, size);
    for (unsigned i = 1 + chance(2); i > 0; i--) {
        size_t at = chance((uint32_t)size), length = chance(16);
        const char *word = words[chance(sizeof(words) / sizeof(words[0]))];

        if (at + length > size)
            length = size - at;
        switch (chance(3)) {
        case 0: /* cut */
            memmove(text + at, text + at + length, size - at - length + 1);
            size -= length;
            break;
        case 1: /* doubled */
            memmove(text + at + length, text + at, size - at + 1);
            size += length;
            break;
        default:
            memmove(text + at + strlen(word), text + at, size - at + 1);
            memcpy(text + at, word, strlen(word));
            size += strlen(word);
        }
    }
    return text;
}

/* What our own code writes, any compiler's code writes: the access told for vendors' is never narrower. True: it is
 * told. */
static bool check_access(char *source, const struct tsl_compiled *built)
{
    struct tsl_wire_build request = {.source = source, .options = (char *)"", .target = TSL_WIRE_ACCESS};
    struct tsl_compiled access;
    bool told;

    if (tsl_compile(&request, &access) != CL_SUCCESS)
        fail_msg("%s\nsource:\n%s", access.built.log, source);
    told = access.built.n_kernels > 0;
    for (uint32_t k = 0; told && k < built->built.n_kernels; k++) {
        const struct tsl_kernel_facts *ours = &built->built.kernels[k].facts, *all = &access.built.kernels[k].facts;

        assert_int_equal(access.built.n_kernels, built->built.n_kernels);
        assert_string_equal(ours->name, all->name);
        for (cl_uint i = 0; i < ours->n_args; i++)
            if (ours->args[i].may & ~all->args[i].may & TSL_MAY_WRITE)
                fail_msg("argument %u of %s is written\nsource:\n%s", i, ours->name, source);
    }
    tsl_compiled_finish(&access);
    return told;
}

static void broken_sources_are_build_failures(void **state)
{
    unsigned long count = from_environment("FUZZ_COUNT", 60), failures = 0, told = 0;

    (void)state;
    random_state = from_environment("FUZZ_SEED", 1);
    kc_use(NULL);
    for (unsigned long i = 0; i < count; i++) {
        char *source = damaged_source();
        struct tsl_wire_build request = {.source = source, .options = (char *)"", .target = TSL_WIRE_CPU};
        struct tsl_compiled compiled;
        cl_int result = tsl_compile(&request, &compiled);

        if ((result != CL_SUCCESS && result != CL_BUILD_PROGRAM_FAILURE) || (result && !compiled.built.log[0]) ||
            strstr(compiled.built.log, "the compiler made something wrong")) {
            print_error("result %d, log: %s\nsource:\n%s\n", result, compiled.built.log, source);
            fail();
        }
        failures += result != CL_SUCCESS;
        told += check_access(source, &compiled);
        tsl_compiled_finish(&compiled);
        free(source);
    }
    print_message("%lu of %lu failed, access was told of %lu\n", failures, count, told);
    assert_int_equal(kc_result(whole, ""), CL_SUCCESS); /* what came before did it no harm */
}

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

static void put(struct tsl_writer *writer)
{
    if (writer->failed || write(3, writer->data, writer->size) < 0)
        _exit(1);
    free(writer->data);
}

static void say_hello(void)
{
    struct tsl_wire_hello hello = {TSL_WIRE_VERSION, TSL_WIRE_VERSION, (char *)"stand-in"};
    struct tsl_writer writer = {0};

    tsl_wire_encode_hello(&writer, &hello);
    put(&writer);
}

/* A reply with everything in it: the kernel is a tiled matrix product, and has its footprint. */
static void encode_reply(struct tsl_writer *writer, uint64_t request)
{
    static struct bed bed;
    struct tsl_arg_fact args[4] = {
        {.name = (char *)"a", .type_name = (char *)"float*", .kind = TSL_FACT_GLOBAL, .may = TSL_MAY_READ},
        {.name = (char *)"b", .type_name = (char *)"float*", .kind = TSL_FACT_GLOBAL, .may = TSL_MAY_READ},
        {.name = (char *)"c", .type_name = (char *)"float*", .kind = TSL_FACT_GLOBAL, .may = TSL_MAY_WRITE},
        {.name = (char *)"n", .type_name = (char *)"int", .kind = TSL_FACT_VALUE, .size = 4}};
    struct tsl_wire_kernel kernel = {
        .facts = {
            .name = (char *)"f", .attributes = (char *)"", .n_args = 4, .args = args, .footprint = &bed.footprint}};
    struct tsl_wire_file file = {(char *)"/tmp/none", 3, 4};
    struct tsl_wire_built built = {.result = CL_SUCCESS,
                                   .log = (char *)"a log",
                                   .artefact = "artefact",
                                   .artefact_size = 8,
                                   .n_kernels = 1,
                                   .kernels = &kernel,
                                   .n_files = 1,
                                   .files = &file};

    kernel_product(&bed);
    tsl_wire_encode_built(writer, request, &built);
}

/* Most times only the body is damaged. False: the frame is, or the end was cut off; then the rest would be waited for,
 * and it is time to die. */
static bool answer(uint64_t request)
{
    struct tsl_writer writer = {0};
    bool frame = chance(20) == 0, cut = chance(30) == 0;
    size_t first = frame ? 0 : TSL_WIRE_HEADER_SIZE;

    encode_reply(&writer, request);
    for (unsigned i = 1 + chance(4); i > 0; i--)
        writer.data[first + chance((uint32_t)(writer.size - first))] =
            (uint8_t)(chance(2) ? chance(256) : chance(2) * 255);
    if (cut)
        writer.size = chance((uint32_t)writer.size);
    put(&writer);
    return !frame && !cut;
}

/* Until the library has gone. */
static int serve(void)
{
    struct tsl_writer in = {0};
    uint8_t buffer[4096];
    ssize_t n;

    random_state = (uint64_t)getpid();
    say_hello();
    while ((n = read(3, buffer, sizeof(buffer))) > 0) {
        struct tsl_wire_header header;
        size_t at = 0;

        tsl_write_raw(&in, buffer, (size_t)n);
        while (tsl_wire_look(in.data + at, in.size - at, &header) == TSL_WIRE_WHOLE) {
            if (header.type == TSL_WIRE_BUILD && (!answer(header.request) || chance(10) == 0))
                return 0;
            at += TSL_WIRE_HEADER_SIZE + header.body_size;
        }
        memmove(in.data, in.data + at, in.size - at);
        in.size -= at;
    }
    return 0;
}

static uint8_t sum_of(const void *data, size_t size)
{
    uint8_t sum = 0;

    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + ((const uint8_t *)data)[i]);
    return sum;
}

static void check_boxes(const struct tsl_byte_set *set, uint64_t memory)
{
    uint64_t begin, end;

    assert_true(set->n <= TSL_MAX_BYTE_BOXES);
    if (tsl_byte_set_hull(set, memory, &begin, &end))
        assert_true(begin <= end && end <= memory);
}

/* A footprint that was taken can be asked, and claims nothing beyond an argument's end. */
static void ask(const struct tsl_footprint *footprint)
{
    static const struct tsl_window launch = {
        .work_dim = 2, .global_size = {64, 32, 1}, .local_size = {16, 16, 1}, .whole = true};
    const int n = 64;
    struct tsl_argument_value *arguments = calloc(footprint->n_arguments + 1, sizeof(*arguments));
    struct tsl_argument_touch *touches = calloc(footprint->n_arguments + 1, sizeof(*touches));

    for (uint32_t i = 0; i < footprint->n_arguments; i++)
        arguments[i] = (struct tsl_argument_value){.value = &n, .size = sizeof(n), .memory = 16384};
    tsl_footprint_evaluate(footprint, &launch, arguments, touches);
    for (uint32_t i = 0; i < footprint->n_arguments; i++) {
        check_boxes(&touches[i].read, arguments[i].memory);
        check_boxes(&touches[i].write, arguments[i].memory);
        check_boxes(&touches[i].sure, arguments[i].memory);
    }
    free(arguments);
    free(touches);
}

/* Whatever is in a reply that was taken can be read. */
static size_t read_all(const struct tsl_wire_built *built)
{
    size_t size = strlen(built->log);

    for (uint32_t k = 0; k < built->n_kernels; k++) {
        size += strlen(built->kernels[k].facts.name);
        for (cl_uint a = 0; a < built->kernels[k].facts.n_args; a++)
            size += built->kernels[k].facts.args[a].name ? strlen(built->kernels[k].facts.args[a].name) : 0;
        if (built->kernels[k].facts.footprint)
            ask(built->kernels[k].facts.footprint);
    }
    for (uint32_t f = 0; f < built->n_files; f++)
        size += strlen(built->files[f].path);
    return size + sum_of(built->artefact, built->artefact_size);
}

static void damaged_bodies_are_refused_or_read(void **state)
{
    unsigned long count = 100 * from_environment("FUZZ_COUNT", 60), taken = 0, footprints = 0;

    (void)state;
    random_state = from_environment("FUZZ_SEED", 1);
    for (unsigned long i = 0; i < count; i++) {
        struct tsl_writer writer = {0};
        struct tsl_wire_built built;
        size_t size, cut;
        uint8_t *body;

        encode_reply(&writer, 1);
        cut = chance(4) ? 0 : chance((uint32_t)(writer.size - TSL_WIRE_HEADER_SIZE));
        size = writer.size - TSL_WIRE_HEADER_SIZE - cut;
        body = malloc(size); /* of its own, so that a sanitizer sees its end */
        memcpy(body, writer.data + TSL_WIRE_HEADER_SIZE, size);
        for (unsigned k = chance(4); k > 0; k--)
            body[chance((uint32_t)size)] = (uint8_t)(chance(2) ? chance(256) : chance(2) * 255);
        if (tsl_wire_decode_built(body, size, &built)) {
            assert_true(read_all(&built) < 1 << 20);
            footprints += built.n_kernels > 0 && built.kernels[0].facts.footprint;
            tsl_wire_built_finish(&built);
            taken++;
        }
        free(body);
        free(writer.data);
    }
    print_message("%lu of %lu replies taken, %lu with a footprint\n", taken, count, footprints);
    assert_true(taken > 0 && taken < count && footprints > 0);
}

static void broken_replies_do_no_harm(void **state)
{
    unsigned long count = from_environment("FUZZ_COUNT", 60), failures = 0;
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

    (void)state;
    assert_true(size > 0);
    path[size] = 0;
    tsl_client_set_program(path, NULL);
    for (unsigned long i = 0; i < count; i++) {
        char source[64];
        struct tsl_compiled compiled;
        cl_int result;

        snprintf(source, sizeof(source), "kernel void f() {} /* %lu */", i);
        result = kc_build(source, "", &compiled);
        read_all(&compiled.built);
        assert_true(result == CL_SUCCESS || compiled.built.log[0]);
        failures += result != CL_SUCCESS;
        tsl_compiled_finish(&compiled);
    }
    assert_true(failures > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_bodies_are_refused_or_read),
                                       cmocka_unit_test(broken_sources_are_build_failures)};
    const struct CMUnitTest others[] = {cmocka_unit_test(broken_replies_do_no_harm)};

    if (argc > 1 && !strcmp(argv[1], "--serve"))
        return serve();
    kc_use_no_cache();
    /* A process each: the first one's compiler is kept. */
    if (argc > 1)
        return cmocka_run_group_tests(others, NULL, NULL);
    if (cmocka_run_group_tests(tests, NULL, NULL))
        return 1;
    execv("/proc/self/exe", (char *[]){argv[0], (char *)"replies", NULL});
    return 1;
}
