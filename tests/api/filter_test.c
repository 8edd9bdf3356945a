/*
 * Linear samplers: reads at coordinates by chance, inside an image, at its edges and beyond, by each address mode,
 * beside the specification's formulas (OpenCL C 3.0, 8.2) on the host. Widths are such that rows suit a GPU's texture
 * units, and such that they don't.
 */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
/* any: */
#include "begin.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define N         2000
#define HEIGHT    40
#define MAX_DEPTH 5
#define TOLERANCE (1 / 128.0) /* of values up to 1: as in Khronos' suite; GPUs' weights have eight bits */
#define BORDER    (-1)

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static uint64_t random_state = 1;

static double chance(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(random_state >> 11) / 9007199254740992.0;
}

static const char *const text =
    "#define LOOK(NAME, T, AT) kernel void NAME(read_only T image, sampler_t s, global const float4 *at, global float4 "
    "*to)\\\n"
    "{ size_t i = get_global_id(0); to[i] = read_imagef(image, s, at[i].AT); }\n"
    "LOOK(flat, image2d_t, xy) LOOK(layers, image2d_array_t, xyzw) LOOK(deep, image3d_t, xyzw)\n";

/* ---- The image --------------------------------------------------------------------------------------------------- */

static const struct format {
    cl_image_format format;
    unsigned n_channels;
    float border_alpha;
} formats[] = {
    {{CL_R, CL_FLOAT}, 1, 1},         {{CL_INTENSITY, CL_FLOAT}, 1, 0},
    {{CL_RGBA, CL_FLOAT}, 4, 0},      {{CL_LUMINANCE, CL_UNORM_INT8}, 1, 1},
    {{CL_RG, CL_UNORM_INT16}, 2, 1},  {{CL_RGBA, CL_UNORM_INT8}, 4, 0},
    {{CL_BGRA, CL_UNORM_INT8}, 4, 0},
};

struct image {
    const struct format *format;
    const char *kernel;
    cl_mem mem;
    int width, height, depth; /* depth: layers, too */
    bool layered;
    float *values; /* of the channels in memory */
};

static size_t store(unsigned char *to, cl_channel_type type, float *value)
{
    if (type == CL_UNORM_INT8) {
        *to = (unsigned char)(*value * 255);
        *value = *to / 255.0f;
        return 1;
    }
    if (type == CL_UNORM_INT16) {
        uint16_t word = (uint16_t)(*value * 65535);

        memcpy(to, &word, sizeof(word));
        *value = word / 65535.0f;
        return sizeof(word);
    }
    memcpy(to, value, sizeof(*value));
    return sizeof(*value);
}

static void make_image(struct image *image)
{
    size_t n = (size_t)image->width * image->height * image->depth * image->format->n_channels, used = 0;
    unsigned char *bytes = malloc(n * sizeof(float));
    cl_image_desc desc = {.image_type = image->depth == 1 ? CL_MEM_OBJECT_IMAGE2D
                                        : image->layered  ? CL_MEM_OBJECT_IMAGE2D_ARRAY
                                                          : CL_MEM_OBJECT_IMAGE3D,
                          .image_width = (size_t)image->width,
                          .image_height = (size_t)image->height,
                          .image_depth = image->layered ? 0 : (size_t)image->depth,
                          .image_array_size = image->layered ? (size_t)image->depth : 0};
    cl_int error;

    image->kernel = image->depth == 1 ? "flat" : image->layered ? "layers" : "deep";
    image->values = malloc(n * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        image->values[i] = (float)chance();
        used += store(bytes + used, image->format->format.image_channel_data_type, &image->values[i]);
    }
    image->mem =
        clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &image->format->format, &desc, bytes, &error);
    assert_int_equal(error, CL_SUCCESS);
    free(bytes);
}

/* A pixel as kernels see it. */
static void pixel(const struct image *image, int x, int y, int z, float c[4])
{
    cl_channel_order order = image->format->format.image_channel_order;
    unsigned n = image->format->n_channels;
    const float *from = image->values + (((size_t)z * image->height + y) * image->width + x) * n;
    bool spread = order == CL_INTENSITY || order == CL_LUMINANCE;

    if (x == BORDER || y == BORDER || z == BORDER) {
        c[0] = c[1] = c[2] = 0;
        c[3] = image->format->border_alpha;
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        c[i] = i < n ? from[i] : spread ? from[0] : i == 3;
    if (order == CL_LUMINANCE)
        c[3] = 1;
    if (order == CL_BGRA)
        c[0] = from[2], c[2] = from[0];
}

/* ---- The formulas ------------------------------------------------------------------------------------------------ */

struct pair {
    int i[2];
    double part[2];
};

static struct pair pair_of(cl_addressing_mode mode, double s, int size)
{
    bool wraps = mode == CL_ADDRESS_REPEAT;
    double u = wraps                                ? (s - floor(s)) * size
               : mode == CL_ADDRESS_MIRRORED_REPEAT ? fabs(s - 2 * rint(0.5 * s)) * size
                                                    : s * size;
    double first = floor(u - 0.5);
    struct pair pair = {{(int)first, (int)first + 1}, {1 - (u - 0.5 - first), u - 0.5 - first}};

    for (int k = 0; k < 2; k++) {
        int i = pair.i[k];
        bool outside = i < 0 || i >= size;

        pair.i[k] = !outside ? i : wraps ? (i + size) % size : mode == CL_ADDRESS_CLAMP ? BORDER : i < 0 ? 0 : size - 1;
    }
    return pair;
}

static void expect(const struct image *image, cl_addressing_mode mode, const float at[4], double c[4])
{
    struct pair x = pair_of(mode, at[0], image->width), y = pair_of(mode, at[1], image->height), z = {{0, 0}, {1, 0}};
    float one[4];

    if (image->layered)
        z.i[0] = z.i[1] = (int)at[2];
    else if (image->depth > 1)
        z = pair_of(mode, at[2], image->depth);
    memset(c, 0, 4 * sizeof(*c));
    for (int k = 0; k < 8; k++) {
        double part = x.part[k & 1] * y.part[k >> 1 & 1] * z.part[k >> 2];

        pixel(image, x.i[k & 1], y.i[k >> 1 & 1], z.i[k >> 2], one);
        for (int i = 0; i < 4; i++)
            c[i] += part * one[i];
    }
}

/* ---- The test ---------------------------------------------------------------------------------------------------- */

/* Normalized coordinates, some beyond the edges. */
static void choose_places(const struct image *image, float at[][4])
{
    for (size_t i = 0; i < N; i++) {
        at[i][0] = (float)(chance() * 1.6 - 0.3);
        at[i][1] = (float)(chance() * 1.6 - 0.3);
        at[i][2] = image->layered ? (float)floor(chance() * image->depth) : (float)(chance() * 1.6 - 0.3);
        at[i][3] = 0;
    }
}

static void compare(const struct image *image, cl_addressing_mode mode, float at[][4], float got[][4])
{
    double c[4];

    for (size_t i = 0; i < N; i++) {
        expect(image, mode, at[i], c);
        for (int k = 0; k < 4; k++)
            if (!(fabs(c[k] - got[i][k]) <= TOLERANCE))
                fail_msg("%s, width %d, order 0x%x, mode 0x%x: channel %d at (%g, %g, %g) is %g instead of %g",
                         image->kernel, image->width, image->format->format.image_channel_order, mode, k,
                         (double)at[i][0], (double)at[i][1], (double)at[i][2], (double)got[i][k], c[k]);
    }
}

static void look(const struct image *image, cl_addressing_mode mode)
{
    static float at[N][4], got[N][4];
    size_t n = N;
    cl_int error;
    cl_sampler sampler = clCreateSampler(context, CL_TRUE, mode, CL_FILTER_LINEAR, &error);
    cl_kernel kernel = clCreateKernel(program, image->kernel, NULL);
    cl_mem places, to = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof(got), NULL, NULL);

    assert_int_equal(error, CL_SUCCESS);
    choose_places(image, at);
    places = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(at), at, NULL);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(image->mem), &image->mem), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(sampler), &sampler), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof(places), &places), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, sizeof(to), &to), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL), CL_SUCCESS);
    compare(image, mode, at, got);
    clReleaseMemObject(places);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
    clReleaseSampler(sampler);
}

static bool is_supported(const struct format *format, cl_mem_object_type type)
{
    cl_image_format found[512];
    cl_uint n;

    assert_int_equal(clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, type, 512, found, &n), CL_SUCCESS);
    for (cl_uint i = 0; i < n && i < 512; i++)
        if (!memcmp(&found[i], &format->format, sizeof(found[i])))
            return true;
    return false;
}

static void filters_are_the_specifications(void **state)
{
    static const cl_addressing_mode modes[] = {CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT,
                                               CL_ADDRESS_MIRRORED_REPEAT};
    unsigned n_looks = 0;

    (void)state;
    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++)
        for (int k = 0; k < 6; k++) {
            struct image image = {.format = &formats[f],
                                  .width = k & 1 ? 61 : 64,
                                  .height = HEIGHT,
                                  .depth = k < 2 ? 1 : MAX_DEPTH,
                                  .layered = k >= 4};

            if (!is_supported(image.format, k < 2   ? CL_MEM_OBJECT_IMAGE2D
                                            : k < 4 ? CL_MEM_OBJECT_IMAGE3D
                                                    : CL_MEM_OBJECT_IMAGE2D_ARRAY))
                continue;
            make_image(&image);
            for (int m = 0; m < 4; m++, n_looks++)
                look(&image, modes[m]);
            clReleaseMemObject(image.mem);
            free(image.values);
        }
    assert_true(n_looks >= 24);
}

static int set_up(void **state)
{
    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, NULL);
    return clBuildProgram(program, 0, NULL, "", NULL, NULL) != CL_SUCCESS;
}

static int tear_down(void **state)
{
    (void)state;
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(filters_are_the_specifications, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
