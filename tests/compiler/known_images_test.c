/* timeout: 120 */
/*
 * Code for images whose formats, and samplers whose bits, are known (compiler/middle/known_images.h) against the code
 * for any format, which image_test holds to the specification: the same bits. Reads stand in branches and in loops
 * that work-items leave at different times, and their sum is what single reads add up to; writes stand in branches.
 *
 * KNOWN_SEED and KNOWN_COUNT run others than the usual ones.
 */
#include "chance.h"
#include "compile_client/kernel_image.h"
#include "compile_client/work_group.h"
#include "kc_env.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#define N           128 /* work-items, and coordinates */
#define MAX_FORMATS 128
#define MAX_BYTES   (1 << 16)

static const struct type {
    const char *name;
    cl_mem_object_type type;
    int dimensions;
    bool array;
    const char *at; /* the components of an int4 or float4 */
} types[] = {
    {"image1d_t", CL_MEM_OBJECT_IMAGE1D, 1, false, "x"},
    {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, true, "xy"},
    {"image2d_t", CL_MEM_OBJECT_IMAGE2D, 2, false, "xy"},
    {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY, 2, true, "xyzw"},
    {"image3d_t", CL_MEM_OBJECT_IMAGE3D, 3, false, "xyzw"},
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* How often work-item i of the kernels reads, and where it begins. The count, which all have in common, is chosen by
 * a branch behind an early return. */
#define ROUNDS "int bound; if (more & 1) { bound = more / 2; } else { bound = more / 2 - 1; }\n"

/* one: a read for each work-item. some: sums of up to `more` reads, in a branch, each work-item's number of them.
 * same: the same number for all that don't return before. put: writes in a branch. */
static char *source_of(size_t t, int sort)
{
    static const char *const suffixes[] = {"f", "i", "ui"}, *const values[] = {"float4", "int4", "uint4"};
    const char *f = suffixes[sort], *v = values[sort], *at = types[t].at;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

#define HEAD(name, access)                                                                                 \
    "kernel void " name "(" access " %s image, sampler_t sampler, global const float4 *c, global %s *v,\n" \
    "                     global const int *n, int more) { int i = get_global_id(0);\n"
#define ARGS types[t].name, v
    fputs("#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n", out);
    fprintf(out, HEAD("one", "read_only") "v[i] = read_image%s(image, sampler, c[i].%s); }\n", ARGS, f, at);
    fprintf(out,
            HEAD("some", "read_only") "%s sum = 0; if (n[i] != 2) for (int k = 0; k < n[i]; k++)\n"
                                      "sum += read_image%s(image, sampler, c[(i + k) & 127].%s); v[i] = sum; }\n",
            ARGS, v, f, at);
    fprintf(out,
            HEAD("same", "read_only") "if (n[i] == 2) return;\n" ROUNDS "%s sum = 0; for (int k = 0; k <= bound; k++)\n"
                                      "sum += read_image%s(image, sampler, c[(i + k) & 127].%s); v[i] = sum; }\n",
            ARGS, v, f, at);
    fprintf(out, HEAD("put", "write_only") "if (n[i] > 2) write_image%s(image, convert_int4_rtn(c[i]).%s, v[i]); }\n",
            ARGS, f, at);
    fclose(out);
    return text;
}

struct code {
    struct tsl_compiled compiled;
    void *handle;
    const struct tsl_wg_module *module;
};

static struct code any; /* of the case: for all its kernels, and any format */
static char *source;

static void compile(struct code *code, char *kernel, struct tsl_wire_known *known, uint32_t n_known)
{
    struct tsl_wire_build request = kc_request(source, "-cl-std=CL3.0");
    int file = memfd_create("kernels", MFD_CLOEXEC);
    char path[64];

    request.target = TSL_WIRE_CPU;
    request.kernel = kernel;
    request.known = known;
    request.n_known = n_known;
    if (tsl_compile(&request, &code->compiled))
        fail_msg("%s", code->compiled.built.log);
    assert_int_equal(write(file, code->compiled.built.artefact, code->compiled.built.artefact_size),
                     code->compiled.built.artefact_size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    code->handle = dlopen(path, RTLD_NOW);
    close(file);
    assert_non_null(code->handle);
    code->module = dlsym(code->handle, TSL_WG_SYMBOL);
}

static void unload(struct code *code)
{
    dlclose(code->handle);
    tsl_compiled_finish(&code->compiled);
}

/* The arguments of all kernels. */
struct args {
    const struct tsl_kc_image *image;
    uint64_t sampler;
    const void *c, *v, *n;
    int more;
};

static void run(const struct code *code, const char *name, const struct args *args)
{
    const struct tsl_wg_kernel *kernel = NULL;
    _Alignas(128) char block[256], local[128], scratch[1 << 16];
    struct tsl_wg_launch launch = {.abi = TSL_WG_ABI, .work_dim = 1, .args = block};
    struct tsl_wg_thread thread = {.local = local, .scratch = scratch};
    const void *const values[] = {&args->image, &args->sampler, &args->c, &args->v, &args->n, &args->more};

    for (uint32_t k = 0; k < code->module->n_kernels; k++)
        if (strcmp(code->module->kernels[k].name, name) == 0)
            kernel = &code->module->kernels[k];
    assert_non_null(kernel);
    assert_int_equal(kernel->n_args, 6);
    for (unsigned a = 0; a < 6; a++)
        memcpy(block + kernel->args[a].offset, values[a], kernel->args[a].size);
    for (unsigned d = 0; d < 3; d++)
        launch.global_size[d] = launch.local_size[d] = launch.num_groups[d] = 1;
    launch.global_size[0] = launch.local_size[0] = N;
    kernel->run(&launch, &thread, 0, 1, 0, 0);
}

/* ---- Images ------------------------------------------------------------------------------------------------------ */

struct image {
    const struct type *type;
    cl_image_format format;
    struct tsl_kc_image desc;
    unsigned char bytes[MAX_BYTES];
};

/* No infinities, and no numbers that are none. */
static void fill(struct image *image)
{
    for (size_t i = 0; i < MAX_BYTES; i++)
        image->bytes[i] = (unsigned char)random_below(256);
    if (image->format.image_channel_data_type == CL_HALF_FLOAT)
        for (size_t i = 1; i < MAX_BYTES; i += 2)
            image->bytes[i] &= 0xbf;
    for (size_t i = 0; image->format.image_channel_data_type == CL_FLOAT && i < MAX_BYTES; i += 4) {
        float value = random_float(-2, 2);

        memcpy(image->bytes + i, &value, 4);
    }
}

static void make_image(struct image *image, cl_mem_flags flags)
{
    cl_image_format formats[MAX_FORMATS];
    struct tsl_image_desc desc = {.width = 1 + random_below(9), .height = 1, .depth = 1, .array_size = 1};
    cl_uint n;

    image->type = &types[random_below(N_TYPES)];
    n = tsl_kc_formats(flags, image->type->type, MAX_FORMATS, formats);
    do
        image->format = formats[random_below(n)];
    while (image->format.image_channel_order == CL_DEPTH); /* of types of its own */
    desc.format = image->format;
    if (image->type->dimensions > 1)
        desc.height = 1 + random_below(7);
    if (image->type->dimensions > 2)
        desc.depth = 1 + random_below(5);
    if (image->type->array)
        desc.array_size = 1 + random_below(4);
    desc.element_size = tsl_image_element_size(&desc.format);
    desc.row_pitch = (desc.width + random_below(3)) * desc.element_size;
    desc.slice_pitch = desc.row_pitch * desc.height;
    image->desc = tsl_kc_image_of(&desc, (uintptr_t)image->bytes);
    fill(image);
}

/* 0, 1, 2: floating-point numbers, signed, unsigned ones. */
static int sort_of(const struct image *image)
{
    cl_channel_type type = image->format.image_channel_data_type;

    if (type < CL_SIGNED_INT8 || type > CL_UNSIGNED_INT32)
        return 0;
    return type < CL_UNSIGNED_INT8 ? 1 : 2;
}

/* Code for an image's type, and for any of its formats. */
static void begin(const struct image *image)
{
    source = source_of((size_t)(image->type - types), sort_of(image));
    compile(&any, NULL, NULL, 0);
}

static void end(void)
{
    unload(&any);
    free(source);
}

/* ---- One case ---------------------------------------------------------------------------------------------------- */

/* A sampler that reads nothing outside the image, wherever the coordinates are. */
static uint64_t random_sampler(bool *normalized)
{
    static const cl_addressing_mode modes[] = {CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT,
                                               CL_ADDRESS_MIRRORED_REPEAT};
    unsigned mode = random_below(4);
    struct tsl_sampler_desc desc = {.normalized = mode > 1 || random_below(2), .addressing = modes[mode]};

    desc.filter = random_below(2) ? CL_FILTER_LINEAR : CL_FILTER_NEAREST;
    *normalized = desc.normalized;
    return tsl_kc_sampler(&desc);
}

static void make_coordinates(const struct image *image, bool normalized, float (*c)[4], int *n)
{
    float sizes[] = {(float)image->desc.width, (float)image->desc.height, (float)image->desc.depth, 1};

    if (image->type->array)
        sizes[image->type->dimensions] = (float)image->desc.array_size;
    for (int i = 0; i < N; i++) {
        n[i] = (int)random_below(6);
        for (int d = 0; d < 4; d++) {
            c[i][d] = random_float(-0.8f * sizes[d], 1.8f * sizes[d]);
            if (random_below(4) == 0)
                c[i][d] = (float)(int)(2 * c[i][d]) / 2;
            if (normalized && d < image->type->dimensions)
                c[i][d] /= sizes[d];
        }
    }
}

static void add(bool floats, uint32_t *sum, const uint32_t *value)
{
    for (int i = 0; i < 4; i++) {
        float a, b;

        memcpy(&a, &sum[i], 4);
        memcpy(&b, &value[i], 4);
        a += b;
        if (floats)
            memcpy(&sum[i], &a, 4);
        else
            sum[i] += value[i];
    }
}

static void known_arguments(const struct image *image, uint64_t sampler, struct tsl_wire_known known[2])
{
    known[0] = (struct tsl_wire_known){.arg = 0,
                                       .channel_order = image->desc.channel_order,
                                       .channel_type = image->desc.channel_type,
                                       .element_size = image->desc.element_size,
                                       .n_channels = image->desc.n_channels,
                                       .kind = image->desc.kind,
                                       .alpha = image->desc.alpha};
    known[1] = (struct tsl_wire_known){.arg = 1, .sampler = (uint32_t)sampler};
}

static void compare(const struct image *image, const char *name, uint64_t sampler, const uint32_t (*got)[4],
                    const uint32_t (*right)[4], const char *what)
{
    for (int i = 0; i < N; i++)
        if (memcmp(got[i], right[i], 16) != 0)
            fail_msg("%s, %s, format %x %x, sampler %x, work-item %d: %08x %08x %08x %08x, not %08x %08x %08x %08x",
                     name, what, image->format.image_channel_order, image->format.image_channel_data_type,
                     (unsigned)sampler, i, got[i][0], got[i][1], got[i][2], got[i][3], right[i][0], right[i][1],
                     right[i][2], right[i][3]);
}

static void read_by(const struct image *image, char *kernel, const struct args *args, const uint32_t (*right)[4])
{
    static _Alignas(64) uint32_t got[N][4];
    struct tsl_wire_known known[2];
    struct args now = *args;
    struct code special;

    known_arguments(image, args->sampler, known);
    now.v = got;
    memset(got, 0, sizeof(got));
    run(&any, kernel, &now);
    compare(image, kernel, args->sampler, got, right, "any format");
    compile(&special, kernel, known, random_below(4) ? 2 : 1);
    memset(got, 0, sizeof(got));
    run(&special, kernel, &now);
    compare(image, kernel, args->sampler, got, right, "known");
    unload(&special);
}

static void read_image_of_chance(void)
{
    static _Alignas(64) uint32_t single[N][4], some[N][4], same[N][4];
    static _Alignas(64) float c[N][4];
    static struct image image;
    struct args args = {.image = &image.desc, .c = c, .v = single, .more = (int)random_below(8)};
    int n[N], bound = args.more & 1 ? args.more / 2 : args.more / 2 - 1;
    bool normalized, floats;

    make_image(&image, CL_MEM_READ_ONLY);
    begin(&image);
    floats = sort_of(&image) == 0;
    args.sampler = random_sampler(&normalized);
    make_coordinates(&image, normalized, c, n);
    args.n = n;
    run(&any, "one", &args);
    memset(some, 0, sizeof(some));
    memset(same, 0, sizeof(same));
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < n[i] && n[i] != 2; k++)
            add(floats, some[i], single[(i + k) & 127]);
        for (int k = 0; k <= bound && n[i] != 2; k++)
            add(floats, same[i], single[(i + k) & 127]);
    }
    read_by(&image, "one", &args, single);
    read_by(&image, "some", &args, some);
    read_by(&image, "same", &args, same);
    end();
}

/* Each work-item has a pixel of its own, some of them outside the image. */
static void make_pixels(const struct image *image, float (*c)[4], int *n)
{
    int sizes[] = {(int)image->desc.width, (int)image->desc.height, (int)image->desc.depth, 1};

    if (image->type->array)
        sizes[image->type->dimensions] = (int)image->desc.array_size;
    for (int i = 0; i < N; i++) {
        int rest = i;

        n[i] = (int)random_below(6);
        for (int d = 0; d < 4; d++) {
            c[i][d] = (float)(rest % (sizes[d] + 2) - 1);
            rest /= sizes[d] + 2;
        }
    }
}

static void write_image_of_chance(void)
{
    static _Alignas(64) uint32_t words[N][4];
    static _Alignas(64) float c[N][4];
    static struct image before, image;
    struct args args = {.image = &image.desc, .c = c, .v = words};
    struct tsl_wire_known known[2];
    struct code special;
    int n[N];

    make_image(&before, CL_MEM_WRITE_ONLY);
    begin(&before);
    image = before;
    image.desc.data = (uintptr_t)image.bytes;
    make_pixels(&image, c, n);
    args.n = n;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 4; k++) {
            float value = random_float(-1.5f, 1.5f);

            memcpy(&words[i][k], &value, 4);
            if (sort_of(&image))
                words[i][k] = random_below(1u << 31) >> random_below(30);
        }
    run(&any, "put", &args);
    known_arguments(&image, 0, known);
    compile(&special, "put", known, 1);
    args.image = &before.desc;
    before.desc.data = (uintptr_t)before.bytes;
    run(&special, "put", &args);
    unload(&special);
    end();
    if (memcmp(before.bytes, image.bytes, MAX_BYTES) != 0)
        fail_msg("writes, format %x %x", image.format.image_channel_order, image.format.image_channel_data_type);
}

/* ---- The tests --------------------------------------------------------------------------------------------------- */

static void repeat(void (*once)(void), unsigned long usual)
{
    const char *seed = getenv("KNOWN_SEED"), *count = getenv("KNOWN_COUNT");

    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    for (unsigned long i = 0; i < (count ? strtoul(count, NULL, 10) : usual); i++)
        once();
}

static void reads_are_the_same(void **unused)
{
    (void)unused;
    repeat(read_image_of_chance, 6);
}

static void writes_are_the_same(void **unused)
{
    (void)unused;
    repeat(write_image_of_chance, 10);
}

/* Numbers of arguments that the kernel doesn't have, or that are no images, change nothing. */
static void what_is_no_image_is_left_alone(void **unused)
{
    struct tsl_wire_known known[] = {{.arg = 5, .channel_order = CL_R, .channel_type = CL_FLOAT},
                                     {.arg = 77, .sampler = 1},
                                     {.arg = 5, .sampler = 1}};
    static _Alignas(64) uint32_t right[N][4], got[N][4];
    static _Alignas(64) float c[N][4];
    static struct image image;
    struct args args = {.image = &image.desc, .c = c, .v = right, .more = 3};
    bool normalized;
    struct code special;
    int n[N];

    (void)unused;
    random_state = 5;
    make_image(&image, CL_MEM_READ_ONLY);
    begin(&image);
    args.sampler = random_sampler(&normalized);
    make_coordinates(&image, normalized, c, n);
    args.n = n;
    run(&any, "same", &args);
    compile(&special, "same", known, 3);
    args.v = got;
    run(&special, "same", &args);
    compare(&image, "same", args.sampler, got, right, "no image");
    unload(&special);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_are_the_same),
        cmocka_unit_test(writes_are_the_same),
        cmocka_unit_test(what_is_no_image_is_left_alone),
    };

    kc_use(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
