/* timeout: 200 */
/*
 * Images in compiled kernels against a plain model: every format and image type, every sampler, coordinates inside,
 * outside and at the edges, reads and writes; the machine code is called directly. The model decodes pixels in double
 * precision and follows OpenCL 3.0, 8.2.
 *
 * IMAGE_SEED and IMAGE_COUNT run others than the usual ones.
 */
#include "chance.h"
#include "compile_client/kernel_image.h"
#include "compile_client/work_group.h"
#include "kc_env.h"

#include <CL/cl_ext.h>
#include <dlfcn.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#define N           128 /* coordinates of a launch */
#define MAX_FORMATS 128
#define MAX_BYTES   (1 << 16)

static const struct type {
    const char *name;
    cl_mem_object_type type;
    int dimensions;
    bool array;
    const char *coordinate; /* of an int4 or float4 */
    const char *size;       /* its components */
} types[] = {
    {"image1d_t", CL_MEM_OBJECT_IMAGE1D, 1, false, "x", ""},
    {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, true, "xy", "2"},
    {"image2d_t", CL_MEM_OBJECT_IMAGE2D, 2, false, "xy", "2"},
    {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY, 2, true, "xyzw", "4"},
    {"image3d_t", CL_MEM_OBJECT_IMAGE3D, 3, false, "xyzw", "4"},
    {"image1d_buffer_t", CL_MEM_OBJECT_IMAGE1D_BUFFER, 1, false, "x", ""},
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* For each image type: f reads by float coordinates, i by integers with a sampler, p without one, w writes. The letter
 * behind says what is read: f floats, i and u integers. */
static char *source_of(void)
{
    static const char *const suffixes[] = {"f", "i", "ui"}, *const values[] = {"float4", "int4", "uint4"};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (size_t t = 0; t < N_TYPES; t++)
        for (int s = 0; s < 3; s++) {
            const struct type *type = &types[t];

#define HEAD                                                                                          \
    "kernel void %s_%s_%zu(%s %s image, sampler_t sampler, global const float4 *c, global %s *v) {\n" \
    "  size_t i = get_global_id(0);\n"
#define ARGS(kind, access) kind, suffixes[s], t, access, type->name, values[s]
            if (type->type != CL_MEM_OBJECT_IMAGE1D_BUFFER) {
                fprintf(out, HEAD "  v[i] = read_image%s(image, sampler, c[i].%s); }\n", ARGS("f", "read_only"),
                        suffixes[s], type->coordinate);
                fprintf(out, HEAD "  v[i] = read_image%s(image, sampler, convert_int4_rtn(c[i]).%s); }\n",
                        ARGS("i", "read_only"), suffixes[s], type->coordinate);
            }
            fprintf(out, HEAD "  v[i] = read_image%s(image, convert_int4_rtn(c[i]).%s); }\n", ARGS("p", "read_only"),
                    suffixes[s], type->coordinate);
            fprintf(out, HEAD "  write_image%s(image, convert_int4_rtn(c[i]).%s, v[i]); }\n", ARGS("w", "write_only"),
                    suffixes[s], type->coordinate);
        }
    fprintf(out,
            "constant sampler_t outside = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;\n"
            "kernel void literal(read_only image2d_t image, sampler_t sampler, global const float4 *c, global "
            "float4 *v) {\n"
            "  size_t i = get_global_id(0);\n"
            "  const sampler_t inside = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | "
            "CLK_FILTER_NEAREST;\n"
            "  v[i] = i & 1 ? read_imagef(image, outside, c[i].xy) : read_imagef(image, inside, c[i].xy); }\n"
            "typedef struct { int n; } image_data; typedef struct { int n; } image2d_data;\n"
            "kernel void names(global image_data *a, global image2d_data *b, read_only image2d_t c) { a->n = b->n; }\n"
            "kernel void ask(read_only image3d_t a, write_only image2d_array_t b, read_write image1d_t c, read_only "
            "image2d_depth_t d, global int *v) {\n"
            "  v[0] = get_image_width(a); v[1] = get_image_height(a); v[2] = get_image_depth(a);\n"
            "  v[3] = get_image_dim(a).z; v[4] = get_image_dim(a).w; v[5] = get_image_array_size(b);\n"
            "  v[6] = get_image_dim(b).y; v[7] = get_image_channel_order(c); v[8] = get_image_channel_data_type(c);\n"
            "  float p = read_imagef(d, (int2)(1, 1)); v[9] = p == 0.5f;\n"
            "  write_imagef(c, 1, read_imagef(c, 0) * 2); v[10] = get_image_height(d); }\n");
    fclose(out);
    return text;
}

static struct tsl_compiled compiled;
static const struct tsl_wg_module *module;

static int load_kernels(void **unused)
{
    char *text = source_of(), path[64];
    struct tsl_wire_build request = kc_request(text, "-cl-std=CL3.0");
    int file = memfd_create("kernels", MFD_CLOEXEC);
    void *handle;

    (void)unused;
    request.target = TSL_WIRE_CPU;
    if (tsl_compile(&request, &compiled))
        fail_msg("%s", compiled.built.log);
    assert_int_equal(write(file, compiled.built.artefact, compiled.built.artefact_size), compiled.built.artefact_size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    handle = dlopen(path, RTLD_NOW);
    close(file);
    assert_non_null(handle);
    module = dlsym(handle, TSL_WG_SYMBOL);
    free(text);
    return 0;
}

static int unload_kernels(void **unused)
{
    (void)unused;
    tsl_compiled_finish(&compiled);
    return 0;
}

static const struct tsl_wg_kernel *find(const char *name)
{
    for (uint32_t k = 0; k < module->n_kernels; k++)
        if (strcmp(module->kernels[k].name, name) == 0)
            return &module->kernels[k];
    fail_msg("there is no kernel %s", name);
    return NULL;
}

static void run(const char *name, unsigned n_args, const uint64_t *args, unsigned n_items)
{
    const struct tsl_wg_kernel *kernel = find(name);
    _Alignas(128) char block[256], local[128], scratch[1 << 16];
    struct tsl_wg_launch launch = {.abi = TSL_WG_ABI, .work_dim = 1, .args = block};
    struct tsl_wg_thread thread = {.local = local, .scratch = scratch};

    assert_int_equal(kernel->n_args, n_args);
    for (unsigned a = 0; a < n_args; a++) {
        assert_int_equal(kernel->args[a].size, 8);
        memcpy(block + kernel->args[a].offset, &args[a], 8);
    }
    for (unsigned d = 0; d < 3; d++)
        launch.global_size[d] = launch.local_size[d] = launch.num_groups[d] = 1;
    launch.global_size[0] = launch.local_size[0] = n_items;
    kernel->run(&launch, &thread, 0, 1, 0, 0);
}

/* ---- Images ------------------------------------------------------------------------------------------------------ */

struct image {
    const struct type *type;
    cl_image_format format;
    struct tsl_kc_image desc;
    size_t size;
    unsigned char bytes[MAX_BYTES];
};

static bool is_integer(const struct image *image)
{
    return image->format.image_channel_data_type >= CL_SIGNED_INT8 &&
           image->format.image_channel_data_type <= CL_UNSIGNED_INT32;
}

static bool is_unsigned(const struct image *image)
{
    return image->format.image_channel_data_type >= CL_UNSIGNED_INT8;
}

static const char *suffix_of(const struct image *image)
{
    return !is_integer(image) ? "f" : is_unsigned(image) ? "ui" : "i";
}

/* Random bytes; floating-point numbers that are some. */
static void fill(struct image *image)
{
    for (size_t i = 0; i < image->size; i++)
        image->bytes[i] = (unsigned char)random_below(256);
    if (image->format.image_channel_data_type == CL_FLOAT)
        for (size_t i = 0; i + 4 <= image->size; i += 4) {
            float value = random_float(-2, 2);

            memcpy(image->bytes + i, &value, 4);
        }
    if (image->format.image_channel_data_type == CL_HALF_FLOAT)
        for (size_t i = 1; i < image->size; i += 2)
            image->bytes[i] &= 0xbf; /* below 2 */
}

static void make_image(struct image *image, const struct type *type, const cl_image_format *format)
{
    struct tsl_kc_image *desc = &image->desc;
    unsigned padding = 4 * random_below(3);

    image->type = type;
    image->format = *format;
    *desc = (struct tsl_kc_image){.data = (uintptr_t)image->bytes,
                                  .width = 1 + random_below(9),
                                  .height = 1,
                                  .depth = 1,
                                  .array_size = 1,
                                  .channel_order = format->image_channel_order,
                                  .channel_type = format->image_channel_data_type};
    desc->element_size = (unsigned)tsl_image_element_size(format);
    desc->n_channels = tsl_image_channels(format->image_channel_order);
    desc->alpha = tsl_kc_image_of(&(struct tsl_image_desc){.format = *format}, 0).alpha;
    if (random_below(2)) { /* else any format is one of the others */
        const struct tsl_image_desc as = {.format = *format};

        desc->kind = tsl_kc_image_of(&as, 0).kind;
    }
    if (type->dimensions > 1)
        desc->height = 1 + random_below(7);
    if (type->dimensions > 2)
        desc->depth = 1 + random_below(5);
    if (type->array)
        desc->array_size = 1 + random_below(4);
    desc->row_pitch = desc->width * desc->element_size + padding * desc->element_size;
    desc->slice_pitch = desc->row_pitch * desc->height;
    image->size = desc->slice_pitch * desc->depth * desc->array_size;
    assert_in_range(image->size, 1, MAX_BYTES);
    fill(image);
}

/* ---- The model: pixels ------------------------------------------------------------------------------------------- */

static double half_of(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);

    return h & 0x8000 ? -value : value;
}

static double linear_of(double c)
{
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* Channel i of those in memory. */
static double channel(const struct image *image, const unsigned char *pixel, unsigned i)
{
    uint32_t word = 0;
    uint16_t two;
    float value;

    memcpy(&word, pixel, image->desc.element_size < 4 ? image->desc.element_size : 4);
    memcpy(&two, pixel + (image->desc.element_size > 2 * i ? 2 * i : 0), image->desc.element_size > 1 ? 2 : 1);
    switch (image->format.image_channel_data_type) {
    case CL_SNORM_INT8:
        return fmax(-1, (int8_t)pixel[i] / 127.0);
    case CL_SNORM_INT16:
        return fmax(-1, (int16_t)two / 32767.0);
    case CL_UNORM_INT8:
        return pixel[i] / 255.0;
    case CL_UNORM_INT16:
        return two / 65535.0;
    case CL_UNORM_SHORT_565:
        return i == 0 ? (word >> 11) / 31.0 : i == 1 ? (word >> 5 & 63) / 63.0 : (word & 31) / 31.0;
    case CL_UNORM_SHORT_555:
        return (word >> (10 - 5 * i) & 31) / 31.0;
    case CL_UNORM_INT_101010:
        return (word >> (20 - 10 * i) & 1023) / 1023.0;
    case CL_UNORM_INT_101010_2:
        return i == 3 ? (word & 3) / 3.0 : (word >> (22 - 10 * i) & 1023) / 1023.0;
    case CL_SIGNED_INT8:
        return (int8_t)pixel[i];
    case CL_SIGNED_INT16:
        return (int16_t)two;
    case CL_UNSIGNED_INT8:
        return pixel[i];
    case CL_UNSIGNED_INT16:
        return two;
    case CL_HALF_FLOAT:
        return half_of(two);
    case CL_SIGNED_INT32:
        memcpy(&word, pixel + 4 * i, 4);
        return (int32_t)word;
    case CL_UNSIGNED_INT32:
        memcpy(&word, pixel + 4 * i, 4);
        return word;
    default:
        memcpy(&value, pixel + 4 * i, 4);
        return value;
    }
}

/* Where red, green, blue and alpha stand in memory; 'z' and '1': nowhere, 0 and 1. */
static const char *places_of(cl_channel_order order)
{
    switch (order) {
    case CL_R:
    case CL_DEPTH:
        return "0zz1";
    case CL_A:
        return "zzz0";
    case CL_RG:
        return "0bz1";
    case CL_RA:
        return "0zza";
    case CL_RGB:
    case CL_RGBx:
        return "0b21";
    case CL_LUMINANCE:
        return "0001";
    case CL_INTENSITY:
        return "0000";
    case CL_BGRA:
    case CL_sBGRA:
        return "2b03";
    case CL_ARGB:
        return "b230";
    case CL_ABGR:
        return "32b0";
    default:
        return "0b23";
    }
}

/* In places_of 'a' and 'b' are the second channel, as '1' is taken. */
static void decode(const struct image *image, const unsigned char *pixel, double color[4])
{
    cl_channel_order order = image->format.image_channel_order;
    const char *places = places_of(order);

    for (int i = 0; i < 4; i++) {
        char place = places[i];

        color[i] = place == 'z'   ? 0
                   : place == '1' ? 1
                                  : channel(image, pixel, place >= 'a' ? 1 : (unsigned)(place - '0'));
        if (i < 3 && (order == CL_sRGBA || order == CL_sBGRA))
            color[i] = linear_of(color[i]);
    }
}

static void border_color(const struct image *image, double color[4])
{
    cl_channel_order order = image->format.image_channel_order;

    memset(color, 0, 4 * sizeof(*color));
    color[3] = order == CL_R || order == CL_RG || order == CL_RGB || order == CL_LUMINANCE;
}

static const unsigned char *pixel_at(const struct image *image, int x, int y, int z)
{
    return image->bytes + (size_t)z * image->desc.slice_pitch + (size_t)y * image->desc.row_pitch +
           (size_t)x * image->desc.element_size;
}

/* -1 in any of them is the border. */
static void pixel(const struct image *image, const int at[3], double color[4])
{
    if (at[0] < 0 || at[1] < 0 || at[2] < 0)
        border_color(image, color);
    else
        decode(image, pixel_at(image, at[0], at[1], at[2]), color);
}

/* ---- The model: samplers ----------------------------------------------------------------------------------------- */

struct sampler {
    bool normalized, linear;
    cl_addressing_mode mode;
};

static uint64_t bits_of(const struct sampler *sampler)
{
    return tsl_kc_sampler(&(struct tsl_sampler_desc){sampler->normalized, sampler->mode,
                                                     sampler->linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST});
}

static int clamp_int(int i, int least, int most)
{
    return i < least ? least : i > most ? most : i;
}

static int place(const struct sampler *sampler, int i, int n)
{
    if (sampler->mode == CL_ADDRESS_CLAMP)
        return i < 0 || i >= n ? -1 : i;
    if (sampler->mode == CL_ADDRESS_REPEAT)
        return i < 0 ? i + n : i >= n ? i - n : i;
    return clamp_int(i, 0, n - 1);
}

static float in_pixels(const struct sampler *sampler, float s, int n)
{
    float mirror;

    if (!sampler->normalized)
        return s;
    if (sampler->mode == CL_ADDRESS_REPEAT)
        return (s - floorf(s)) * (float)n;
    if (sampler->mode == CL_ADDRESS_MIRRORED_REPEAT) {
        mirror = 2.0f * rintf(0.5f * s);
        return fabsf(s - mirror) * (float)n;
    }
    return s * (float)n;
}

/* Up to two pixels of each dimension, with their parts. */
static void sample(const struct image *image, const struct sampler *sampler, const float c[4], double color[4])
{
    int sizes[] = {(int)image->desc.width, (int)image->desc.height, (int)image->desc.depth}, at[3][2] = {{0}};
    double parts[3][2] = {{1, 0}, {1, 0}, {1, 0}};
    bool linear = sampler->linear && !is_integer(image);

    for (int d = 0; d < image->type->dimensions; d++) {
        float u = in_pixels(sampler, c[d], sizes[d]), v = u - 0.5f;

        at[d][0] = place(sampler, (int)floorf(linear ? v : u), sizes[d]);
        at[d][1] = place(sampler, (int)floorf(v) + 1, sizes[d]);
        if (linear) {
            parts[d][1] = v - floorf(v);
            parts[d][0] = 1 - parts[d][1];
        }
    }
    if (image->type->array)
        at[2][0] = at[2][1] = clamp_int((int)rintf(c[image->type->dimensions]), 0, (int)image->desc.array_size - 1);
    memset(color, 0, 4 * sizeof(*color));
    for (int corner = 0; corner < 8; corner++) {
        int x = corner & 1, y = corner >> 1 & 1, z = corner >> 2, where[3] = {at[0][x], at[1][y], at[2][z]};
        double part = parts[0][x] * parts[1][y] * parts[2][z], one[4];

        if (part == 0)
            continue;
        pixel(image, where, one);
        for (int i = 0; i < 4; i++)
            color[i] += part * one[i];
    }
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void random_coordinates(const struct image *image, bool normalized, bool inside, float (*c)[4])
{
    float sizes[] = {(float)image->desc.width, (float)image->desc.height, (float)image->desc.depth};

    if (image->type->array)
        sizes[image->type->dimensions] = (float)image->desc.array_size;
    for (int i = 0; i < N; i++)
        for (int d = 0; d < 4; d++) {
            float size = d < 3 ? sizes[d] : 1, wide = size > 1 ? size * 0.8f : 2;

            c[i][d] = inside ? random_float(0, size - 0.001f) : random_float(-wide, size + wide);
            if (!inside && random_below(4) == 0)
                c[i][d] = rintf(2 * c[i][d]) / 2;
            if (normalized && d < image->type->dimensions)
                c[i][d] /= size;
        }
}

static void check(const struct image *image, const char *kernel, const struct sampler *sampler, const float c[4],
                  const double right[4], const void *got)
{
    bool linear = sampler && sampler->linear && !is_integer(image);

    for (int i = 0; i < 4; i++) {
        double value, room = linear ? 4e-6 : fabs(right[i]) * 1.2e-7;
        int32_t integer;
        float number;

        memcpy(&integer, (const char *)got + 4 * i, 4);
        memcpy(&number, (const char *)got + 4 * i, 4);
        value = !is_integer(image) ? (double)number : is_unsigned(image) ? (double)(uint32_t)integer : (double)integer;
        if (!(fabs(value - right[i]) <= room))
            fail_msg("%s, format %x %x, %u x %u x %u x %u, sampler %d %d %x, at %a %a %a: channel %d is %a, not %a",
                     kernel, image->format.image_channel_order, image->format.image_channel_data_type,
                     image->desc.width, image->desc.height, image->desc.depth, image->desc.array_size,
                     sampler ? sampler->normalized : -1, sampler ? sampler->linear : -1, sampler ? sampler->mode : 0,
                     (double)c[0], (double)c[1], (double)c[2], i, value, right[i]);
    }
}

static void read_floats(const struct image *image, const struct sampler *sampler)
{
    _Alignas(16) float c[N][4], got[N][4];
    char name[64];

    snprintf(name, sizeof(name), "f_%s_%zu", suffix_of(image), (size_t)(image->type - types));
    random_coordinates(image, sampler->normalized, sampler->mode == CL_ADDRESS_NONE, c);
    run(name, 4, (uint64_t[]){(uintptr_t)&image->desc, bits_of(sampler), (uintptr_t)c, (uintptr_t)got}, N);
    for (int i = 0; i < N; i++) {
        double right[4];

        if (sampler->mode == CL_ADDRESS_NONE && sampler->linear)
            continue; /* may need pixels outside */
        sample(image, sampler, c[i], right);
        check(image, name, sampler, c[i], right, got[i]);
    }
}

/* At integers, with a sampler and without. */
static void read_integers(const struct image *image, const struct sampler *sampler)
{
    _Alignas(16) float c[N][4], got[N][4];
    char name[64];

    snprintf(name, sizeof(name), "%s_%s_%zu", sampler ? "i" : "p", suffix_of(image), (size_t)(image->type - types));
    random_coordinates(image, false, !sampler || sampler->mode == CL_ADDRESS_NONE, c);
    run(name, 4, (uint64_t[]){(uintptr_t)&image->desc, sampler ? bits_of(sampler) : 0, (uintptr_t)c, (uintptr_t)got},
        N);
    for (int i = 0; i < N; i++) {
        static const struct sampler none = {.mode = CL_ADDRESS_NONE};
        float whole[4];
        double right[4];

        for (int d = 0; d < 4; d++)
            whole[d] = floorf(c[i][d]);
        sample(image, sampler ? sampler : &none, whole, right);
        check(image, name, NULL, whole, right, got[i]);
    }
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* As near as the type comes to it. */
static double room_of(const struct image *image, double color)
{
    switch (image->format.image_channel_data_type) {
    case CL_SNORM_INT8:
        return 0.51 / 127;
    case CL_SNORM_INT16:
        return 0.51 / 32767;
    case CL_UNORM_INT8:
        return 0.51 / 255;
    case CL_UNORM_INT16:
        return 0.51 / 65535;
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555:
        return 0.51 / 31;
    case CL_UNORM_INT_101010:
        return 0.51 / 1023;
    case CL_UNORM_INT_101010_2:
        return 0.51 / 3;
    case CL_HALF_FLOAT:
        return fmax(fabs(color) / 2048, ldexp(1, -25));
    default:
        return 0;
    }
}

static double limited(const struct image *image, double value)
{
    switch (image->format.image_channel_data_type) {
    case CL_SNORM_INT8:
    case CL_SNORM_INT16:
        return fmin(fmax(value, -1), 1);
    case CL_HALF_FLOAT:
    case CL_FLOAT:
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
        return value;
    case CL_SIGNED_INT8:
        return fmin(fmax(value, -128), 127);
    case CL_SIGNED_INT16:
        return fmin(fmax(value, -32768), 32767);
    case CL_UNSIGNED_INT8:
        return fmin(value, 255);
    case CL_UNSIGNED_INT16:
        return fmin(value, 65535);
    default:
        return fmin(fmax(value, 0), 1);
    }
}

/* A channel that isn't in memory keeps the value that reading gives it. */
static double expected(const struct image *image, int i, const double color[4])
{
    cl_channel_order order = image->format.image_channel_order;
    const char *places = places_of(order);

    if (places[i] == 'z' || places[i] == '1')
        return places[i] == '1';
    if (order == CL_LUMINANCE || order == CL_INTENSITY)
        i = 0;
    return limited(image, color[i]);
}

static double random_color(const struct image *image, uint32_t *word)
{
    float number = random_float(-1.3f, 1.3f);

    *word = random_below(1u << 31) >> random_below(30) << random_below(2);
    if (is_integer(image))
        return is_unsigned(image) ? (double)*word : (double)(int32_t)*word;
    memcpy(word, &number, 4);
    return (double)number;
}

/* One pixel, wherever it is; its neighbours stay as they are. */
static void write_pixel(struct image *image)
{
    static unsigned char before[MAX_BYTES];
    struct tsl_kc_image *desc = &image->desc;
    int at[4] = {(int)random_below(desc->width), (int)random_below(desc->height), (int)random_below(desc->depth), 0};
    int z = at[2];
    _Alignas(16) uint32_t words[4];
    _Alignas(16) float c[4];
    unsigned char *pixel;
    double color[4], got[4];
    char name[64];

    if (image->type->array)
        z = at[image->type->dimensions] = (int)random_below(desc->array_size);
    for (int i = 0; i < 4; i++) {
        color[i] = random_color(image, &words[i]);
        c[i] = (float)at[i] + 0.25f;
    }
    memcpy(before, image->bytes, image->size);
    snprintf(name, sizeof(name), "w_%s_%zu", suffix_of(image), (size_t)(image->type - types));
    run(name, 4, (uint64_t[]){(uintptr_t)desc, 0, (uintptr_t)c, (uintptr_t)words}, 1);
    pixel = (unsigned char *)pixel_at(image, at[0], image->type->dimensions > 1 ? at[1] : 0, z);
    decode(image, pixel, got);
    for (int i = 0; i < 4; i++)
        if (fabs(got[i] - expected(image, i, color)) > room_of(image, expected(image, i, color)))
            fail_msg("%s, format %x %x: channel %d of %g %g %g %g is %.9g, not %.9g", name,
                     image->format.image_channel_order, image->format.image_channel_data_type, i, color[0], color[1],
                     color[2], color[3], got[i], expected(image, i, color));
    memcpy(pixel, before + (pixel - image->bytes), desc->element_size);
    assert_memory_equal(image->bytes, before, image->size);
    c[random_below((unsigned)image->type->dimensions)] = random_below(2) ? -1.0f : 100.0f;
    run(name, 4, (uint64_t[]){(uintptr_t)desc, 0, (uintptr_t)c, (uintptr_t)words}, 1);
    assert_memory_equal(image->bytes, before, image->size);
}

/* ---- The tests --------------------------------------------------------------------------------------------------- */

typedef void visit_fn(struct image *image);

static void each_format(cl_mem_flags flags, visit_fn *visit)
{
    const char *seed = getenv("IMAGE_SEED"), *count = getenv("IMAGE_COUNT");
    static struct image image;

    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    for (unsigned long round = 0; round < (count ? strtoul(count, NULL, 10) : 4); round++)
        for (size_t t = 0; t < N_TYPES; t++) {
            cl_image_format formats[MAX_FORMATS];
            cl_uint n = tsl_kc_formats(flags, types[t].type, MAX_FORMATS, formats);

            assert_in_range(n, 30, MAX_FORMATS);
            for (cl_uint f = 0; f < n; f++) {
                if (formats[f].image_channel_order == CL_DEPTH)
                    continue; /* of types of its own */
                make_image(&image, &types[t], &formats[f]);
                visit(&image);
            }
        }
}

static void read_with_each_sampler(struct image *image)
{
    static const cl_addressing_mode modes[] = {CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP,
                                               CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT};

    read_integers(image, NULL);
    for (int m = 0; m < 5 && image->type->type != CL_MEM_OBJECT_IMAGE1D_BUFFER; m++)
        for (int linear = 0; linear < 2; linear++) {
            struct sampler sampler = {.linear = linear, .mode = modes[m]};

            if (m < 3) {
                read_floats(image, &sampler);
                if (!linear)
                    read_integers(image, &sampler);
            }
            sampler.normalized = true;
            read_floats(image, &sampler);
        }
}

static void reads_every_format_with_every_sampler(void **unused)
{
    (void)unused;
    each_format(CL_MEM_READ_ONLY, read_with_each_sampler);
}

static void write_some(struct image *image)
{
    for (int i = 0; i < 8; i++)
        write_pixel(image);
}

static void writes_every_format(void **unused)
{
    (void)unused;
    each_format(CL_MEM_WRITE_ONLY, write_some);
}

static void samplers_in_the_source(void **unused)
{
    static const struct sampler samplers[] = {{true, false, CL_ADDRESS_MIRRORED_REPEAT},
                                              {false, true, CL_ADDRESS_CLAMP}};
    _Alignas(16) float c[N][4], got[N][4];
    static struct image image;

    (void)unused;
    make_image(&image, &types[2], &(cl_image_format){CL_RGBA, CL_UNORM_INT8});
    random_coordinates(&image, false, false, c);
    run("literal", 4, (uint64_t[]){(uintptr_t)&image.desc, 0, (uintptr_t)c, (uintptr_t)got}, N);
    for (int i = 0; i < N; i++) {
        double right[4];

        sample(&image, &samplers[i & 1], c[i], right);
        check(&image, "literal", &samplers[i & 1], c[i], right, got[i]);
    }
}

/* NaN and infinity mean no pixel, and read nothing that isn't the image's (the sanitizer sees that). */
static void coordinates_that_are_no_numbers(void **unused)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f};
    _Alignas(16) float c[5][4], got[5][4];
    static struct image image;

    (void)unused;
    make_image(&image, &types[4], &(cl_image_format){CL_RGBA, CL_FLOAT});
    for (int i = 0; i < 5; i++)
        for (int d = 0; d < 4; d++)
            c[i][d] = odd[i];
    for (unsigned bits = 0; bits < 64; bits++)
        run("f_f_4", 4, (uint64_t[]){(uintptr_t)&image.desc, bits, (uintptr_t)c, (uintptr_t)got}, 5);
    for (unsigned bits = 0; bits < 64; bits++)
        run("f_f_3", 4, (uint64_t[]){(uintptr_t)&image.desc, bits, (uintptr_t)c, (uintptr_t)got}, 5);
}

static void answers_what_an_image_is(void **unused)
{
    static struct image a, b, c, d;
    static const cl_image_format floats = {CL_R, CL_FLOAT}, depth = {CL_DEPTH, CL_FLOAT};
    float half = 0.5f, twice[2] = {3, 0};
    int32_t got[11];

    (void)unused;
    make_image(&a, &types[4], &floats);
    make_image(&b, &types[3], &floats);
    make_image(&c, &types[0], &floats);
    make_image(&d, &types[2], &depth);
    c.desc.width = d.desc.width = d.desc.height = 2;
    d.desc.row_pitch = 8;
    memcpy(d.bytes + 12, &half, 4);
    memcpy(c.bytes, twice, 8);
    run("ask", 5,
        (uint64_t[]){(uintptr_t)&a.desc, (uintptr_t)&b.desc, (uintptr_t)&c.desc, (uintptr_t)&d.desc, (uintptr_t)got},
        1);
    assert_int_equal(got[0], a.desc.width);
    assert_int_equal(got[1], a.desc.height);
    assert_int_equal(got[2], a.desc.depth);
    assert_int_equal(got[3], a.desc.depth);
    assert_int_equal(got[4], 0);
    assert_int_equal(got[5], b.desc.array_size);
    assert_int_equal(got[6], b.desc.height);
    assert_int_equal(got[7], CL_R);
    assert_int_equal(got[8], CL_FLOAT);
    assert_int_equal(got[9], 1);
    assert_int_equal(got[10], 2);
    memcpy(twice, c.bytes, 8);
    assert_true(twice[1] == 6.0f);
}

static const struct tsl_kernel_facts *facts_of(const char *name)
{
    for (uint32_t k = 0; k < compiled.built.n_kernels; k++)
        if (strcmp(compiled.built.kernels[k].facts.name, name) == 0)
            return &compiled.built.kernels[k].facts;
    fail_msg("there is no kernel %s", name);
    return NULL;
}

static void facts_are_told(void **unused)
{
    const struct tsl_kernel_facts *read = facts_of("f_f_2"), *write = facts_of("w_f_2"), *ask = facts_of("ask"),
                                  *names = facts_of("names");

    (void)unused;
    assert_int_equal(read->args[0].kind, TSL_FACT_IMAGE);
    assert_int_equal(read->args[0].may, TSL_MAY_READ);
    assert_string_equal(read->args[0].type_name, "image2d_t");
    assert_int_equal(read->args[0].access, CL_KERNEL_ARG_ACCESS_READ_ONLY);
    assert_int_equal(read->args[0].address, CL_KERNEL_ARG_ADDRESS_GLOBAL);
    assert_int_equal(read->args[1].kind, TSL_FACT_SAMPLER);
    assert_int_equal(read->args[1].may, 0);
    assert_int_equal(read->args[2].may, TSL_MAY_READ);
    assert_int_equal(read->args[3].may, TSL_MAY_WRITE);
    assert_false(read->opaque);
    assert_int_equal(write->args[0].may, TSL_MAY_WRITE);
    assert_int_equal(write->args[3].may, TSL_MAY_READ);
    assert_int_equal(ask->args[2].may, TSL_MAY_READ | TSL_MAY_WRITE);
    assert_int_equal(ask->args[2].access, CL_KERNEL_ARG_ACCESS_READ_WRITE);
    assert_int_equal(ask->args[3].kind, TSL_FACT_IMAGE);
    assert_int_equal(ask->args[4].may, TSL_MAY_WRITE);
    assert_int_equal(names->args[0].kind, TSL_FACT_GLOBAL);
    assert_int_equal(names->args[1].kind, TSL_FACT_GLOBAL);
    assert_int_equal(names->args[2].kind, TSL_FACT_IMAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_format_with_every_sampler),
        cmocka_unit_test(writes_every_format),
        cmocka_unit_test(samplers_in_the_source),
        cmocka_unit_test(coordinates_that_are_no_numbers),
        cmocka_unit_test(answers_what_an_image_is),
        cmocka_unit_test(facts_are_told),
    };

    kc_use(NULL);
    return cmocka_run_group_tests(tests, load_kernels, unload_kernels);
}
