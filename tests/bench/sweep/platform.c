#include "sweep/platform.h"

#include "measure.h"

#define MOST_WIDE 128 /* bytes of an item: sixteen doubles */
#define SIDE      512 /* pixels of the images' rows */

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static cl_platform_id find(const char *name, char *found, size_t size)
{
    cl_platform_id platforms[32];
    cl_uint n = 0;
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    must(clGetPlatformIDs(32, platforms, &n), "clGetPlatformIDs");
    for (cl_uint i = 0; i < n; i++) {
        must(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, size, found, NULL), "clGetPlatformInfo");
        if (*name && !*end ? i == number : !strncasecmp(found, name, strlen(name)))
            return platforms[i];
    }
    fprintf(stderr, "there is no platform %s here; there are:\n", name);
    for (cl_uint i = 0; i < n; i++)
        if (!clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, size, found, NULL))
            fprintf(stderr, "  %u  %s\n", i, found);
    exit(1);
}

/* Values near 1 and small integers by turns of bytes: each type finds usual numbers. */
static void fill_input(unsigned char *in, size_t size)
{
    unsigned state = 12345;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525 + 1013904223;
        in[i] = (unsigned char)(state >> 24);
    }
}

static const struct format {
    cl_image_format format;
    unsigned n_channels, size; /* bytes of a channel */
} formats[SWEEP_FORMATS] = {
    [SWEEP_RGBA_FLOAT] = {{CL_RGBA, CL_FLOAT}, 4, 4},       [SWEEP_R_FLOAT] = {{CL_R, CL_FLOAT}, 1, 4},
    [SWEEP_RGBA_UNORM8] = {{CL_RGBA, CL_UNORM_INT8}, 4, 1}, [SWEEP_R_UNORM8] = {{CL_R, CL_UNORM_INT8}, 1, 1},
    [SWEEP_RG_UNORM16] = {{CL_RG, CL_UNORM_INT16}, 2, 2},
};

static void put_channel(unsigned char *to, unsigned size, float value)
{
    uint16_t two = (uint16_t)(value * 65535);
    uint8_t one = (uint8_t)(value * 255);
    memcpy(to, size == 4 ? (void *)&value : size == 2 ? (void *)&two : (void *)&one, size);
}

/* Slopes without a step, at the border neither: coordinates that are rounded otherwise change little. */
static void fill_image(struct sweep_platform *p, enum sweep_format k)
{
    const size_t origin[3] = {0, 0, 0}, region[3] = {SIDE, SIDE, 1};
    const struct format *format = &formats[k];
    size_t pixel_size = (size_t)format->n_channels * format->size;
    unsigned char *pixels = malloc(SIDE * SIDE * pixel_size);
    if (!pixels)
        must(CL_OUT_OF_HOST_MEMORY, "an image's pixels");
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            float across = (float)abs(x - SIDE / 2) / (SIDE / 2), down = (float)abs(y - SIDE / 2) / (SIDE / 2);
            const float pixel[4] = {across, down, 1 - across, 1};
            for (unsigned c = 0; c < format->n_channels; c++)
                put_channel(pixels + (size_t)(y * SIDE + x) * pixel_size + c * format->size, format->size, pixel[c]);
        }
    must(clEnqueueWriteImage(p->queue, p->image_in[k], CL_TRUE, origin, region, 0, 0, pixels, 0, NULL, NULL),
         "clEnqueueWriteImage");
    free(pixels);
}

/* A format that the device lacks has no rows. */
static void make_images(struct sweep_platform *p)
{
    cl_bool has = CL_FALSE;
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
    if (clGetDeviceInfo(p->device, CL_DEVICE_IMAGE_SUPPORT, sizeof(has), &has, NULL) || !has)
        return;
    for (unsigned k = 0; k < SWEEP_FORMATS; k++) {
        p->image_in[k] = clCreateImage(p->context, CL_MEM_READ_ONLY, &formats[k].format, &desc, NULL, NULL);
        p->image_out[k] = clCreateImage(p->context, CL_MEM_WRITE_ONLY, &formats[k].format, &desc, NULL, NULL);
        if (p->image_in[k])
            fill_image(p, k);
    }
}

void sweep_open(struct sweep_platform *p, const char *name, size_t items)
{
    cl_int error;
    *p = (struct sweep_platform){0};
    char found[256];
    cl_platform_id platform = find(name, found, sizeof(found));
    snprintf(p->name, sizeof(p->name), "%.60s", found);
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &p->device, NULL), "clGetDeviceIDs");
    p->context = clCreateContext(NULL, 1, &p->device, NULL, NULL, &error);
    must(error, "clCreateContext");
    p->queue = clCreateCommandQueueWithProperties(p->context, p->device, NULL, &error);
    must(error, "clCreateCommandQueueWithProperties");
    p->in = device_buffer(p->context, items * MOST_WIDE);
    p->out = device_buffer(p->context, items * MOST_WIDE);
    p->input = malloc(items * MOST_WIDE);
    p->result = malloc(items * MOST_WIDE);
    if (!p->input || !p->result)
        must(CL_OUT_OF_HOST_MEMORY, "the input");
    fill_input(p->input, items * MOST_WIDE);
    must(clEnqueueWriteBuffer(p->queue, p->in, CL_TRUE, 0, items * MOST_WIDE, p->input, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
    make_images(p);
}

void sweep_close(struct sweep_platform *p)
{
    clReleaseMemObject(p->in);
    clReleaseMemObject(p->out);
    for (unsigned k = 0; k < SWEEP_FORMATS; k++) {
        if (p->image_in[k])
            clReleaseMemObject(p->image_in[k]);
        if (p->image_out[k])
            clReleaseMemObject(p->image_out[k]);
    }
    clReleaseCommandQueue(p->queue);
    clReleaseContext(p->context);
    free(p->input);
    free(p->result);
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static char *text_of(const char *prelude, const struct sweep_row *const *rows, unsigned first, unsigned n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        must(CL_OUT_OF_HOST_MEMORY, "a program's text");
    fputs(prelude, out);
    for (unsigned i = first; i < first + n; i++) {
        char kernel[16];
        snprintf(kernel, sizeof(kernel), "k%u", i);
        for (const char *at = rows[i]->source; *at; at++)
            if (at[0] == '%' && at[1] == 's') {
                fputs(kernel, out);
                at++;
            } else {
                fputc(*at, out);
            }
        fputc('\n', out);
    }
    if (fclose(out))
        must(CL_OUT_OF_HOST_MEMORY, "a program's text");
    return text;
}

static const char *standard(const struct sweep_platform *p)
{
    char version[128] = "";
    clGetDeviceInfo(p->device, CL_DEVICE_VERSION, sizeof(version), version, NULL);
    return !strncmp(version, "OpenCL 3", 8) ? "-cl-std=CL3.0" : !strncmp(version, "OpenCL 2", 8) ? "-cl-std=CL2.0" : "";
}

/* False: they don't build. */
static bool build(struct sweep_platform *p, const char *text, unsigned first, unsigned n)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(p->context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &p->device, standard(p), NULL, NULL)) {
        clReleaseProgram(program);
        return false;
    }
    p->programs[p->n_programs++] = program;
    for (unsigned i = first; i < first + n; i++) {
        char name[16];
        snprintf(name, sizeof(name), "k%u", i);
        p->kernels[i] = program_kernel(program, name);
    }
    return true;
}

void sweep_build(struct sweep_platform *p, const char *prelude, const struct sweep_row *const *rows, unsigned n)
{
    p->n_programs = 0;
    p->n_kernels = n;
    memset(p->kernels, 0, sizeof(p->kernels));
    char *text = text_of(prelude, rows, 0, n);
    bool all = build(p, text, 0, n);
    free(text);
    for (unsigned i = 0; i < n && !all; i++) {
        text = text_of(prelude, rows, i, 1);
        if (!build(p, text, i, 1))
            fprintf(stderr, "%s: can't be built on %s\n", rows[i]->name, p->name);
        free(text);
    }
}

void sweep_drop(struct sweep_platform *p)
{
    for (unsigned i = 0; i < p->n_kernels; i++)
        if (p->kernels[i])
            clReleaseKernel(p->kernels[i]);
    for (unsigned i = 0; i < p->n_programs; i++)
        clReleaseProgram(p->programs[i]);
    p->n_programs = p->n_kernels = 0;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static cl_int set_arguments(struct sweep_platform *p, const struct sweep_row *row, cl_kernel kernel)
{
    cl_int error = clSetKernelArg(kernel, 0, sizeof(p->in), &p->in);
    error = error ? error : clSetKernelArg(kernel, 1, sizeof(p->out), &p->out);
    if (row->given == SWEEP_BUFFERS)
        return error;
    if (!p->image_in[row->format] || !p->image_out[row->format])
        return CL_INVALID_OPERATION;
    error = error ? error : clSetKernelArg(kernel, 2, sizeof(cl_mem), &p->image_in[row->format]);
    return error ? error : clSetKernelArg(kernel, 3, sizeof(cl_mem), &p->image_out[row->format]);
}

static void clear_result(struct sweep_platform *p, size_t size)
{
    const cl_uint zero = 0;
    must(clEnqueueFillBuffer(p->queue, p->out, &zero, sizeof(zero), 0, (size + 3) / 4 * 4, 0, NULL, NULL),
         "clEnqueueFillBuffer");
    must(clFinish(p->queue), "clFinish");
}

double sweep_run(struct sweep_platform *p, const struct sweep_row *row, unsigned k, size_t items)
{
    cl_kernel kernel = p->kernels[k];
    size_t local = row->local, global = row->groups ? row->groups * local : items / local * local;
    if (!kernel || set_arguments(p, row, kernel))
        return 0;
    if (row->accumulates)
        clear_result(p, sweep_result_size(row, items));
    double begin = now_us();
    if (clEnqueueNDRangeKernel(p->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL) || clFinish(p->queue))
        return 0;
    return now_us() - begin;
}

size_t sweep_result_size(const struct sweep_row *row, size_t items)
{
    size_t n = row->groups ? row->groups * row->local : items / row->local * row->local;
    return n * row->written;
}

bool sweep_fetch(struct sweep_platform *p, const struct sweep_row *row, size_t items)
{
    return !clEnqueueReadBuffer(p->queue, p->out, CL_TRUE, 0, sweep_result_size(row, items), p->result, 0, NULL, NULL);
}
