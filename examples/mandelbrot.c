/*
 * A picture of the Mandelbrot set by OpenCL: an ordinary program for one device.
 *
 * The picture is cut into 32 blocks of rows. Each block is computed by a kernel of its own into a buffer of its own,
 * and read back; all of it goes through one in-order queue. Sample pixels are computed again on the host and must
 * agree.
 *
 *     mandelbrot [PICTURE.png]     OCL_PLATFORM: part of the name of the platform to take, instead of the first
 */
#include <CL/cl.h>
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { width = 2048, height = 1536, n_blocks = 32, block_rows = height / n_blocks, max_iterations = 1500 };

static const float left = -2.1f, top = -1.2f, step = 2.8f / width;

static const char *const source =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "kernel void mandelbrot(global uint *out, float left, float top, float step, uint first_row, uint limit)\n"
    "{\n"
    "    uint x = get_global_id(0), y = get_global_id(1);\n"
    "    float cx = left + step * x, cy = top + step * (first_row + y);\n"
    "    float zx = 0, zy = 0;\n"
    "    uint n = 0;\n"
    "    while (n < limit && zx * zx + zy * zy <= 4) {\n"
    "        float t = zx * zx - zy * zy + cx;\n"
    "        zy = 2 * zx * zy + cy;\n"
    "        zx = t;\n"
    "        n++;\n"
    "    }\n"
    "    out[y * get_global_size(0) + x] = n;\n"
    "}\n";

/* The number of iterations of one pixel, computed on the host. */
static cl_uint iterations_at(unsigned x, unsigned y)
{
    float cx = left + step * (float)x, cy = top + step * (float)y;
    float zx = 0, zy = 0;
    cl_uint n = 0;

    while (n < max_iterations && zx * zx + zy * zy <= 4) {
        float t = zx * zx - zy * zy + cx;

        zy = 2 * zx * zy + cy;
        zx = t;
        n++;
    }
    return n;
}

static void check(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "mandelbrot: %s failed with error %d\n", what, error);
    exit(1);
}

/* The first platform, or the first whose name contains $OCL_PLATFORM. */
static cl_platform_id choose_platform(void)
{
    const char *wanted = getenv("OCL_PLATFORM");
    cl_platform_id platforms[32];
    cl_uint n = 0;
    char name[256];

    check(clGetPlatformIDs(32, platforms, &n), "clGetPlatformIDs");
    for (cl_uint i = 0; i < n && i < 32; i++) {
        check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL), "clGetPlatformInfo");
        if (!wanted || strstr(name, wanted)) {
            printf("platform: %s\n", name);
            return platforms[i];
        }
    }
    fprintf(stderr, "mandelbrot: no platform here has %s in its name\n", wanted ? wanted : "something");
    exit(1);
}

static cl_device_id choose_device(cl_platform_id platform)
{
    cl_device_id device;
    char name[256];

    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL), "clGetDeviceIDs");
    check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL), "clGetDeviceInfo");
    printf("device:   %s\n", name);
    return device;
}

static cl_kernel build(cl_context context, cl_device_id device)
{
    char log[16384] = "";
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &error);
    cl_kernel kernel;

    check(error, "clCreateProgramWithSource");
    error = clBuildProgram(program, 1, &device, "", NULL, NULL);
    if (error != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    check(error, "clBuildProgram");
    kernel = clCreateKernel(program, "mandelbrot", &error);
    check(error, "clCreateKernel");
    clReleaseProgram(program);
    return kernel;
}

static void set_arguments(cl_kernel kernel, cl_mem out, cl_uint first_row)
{
    cl_uint limit = max_iterations;

    check(clSetKernelArg(kernel, 0, sizeof out, &out), "clSetKernelArg");
    check(clSetKernelArg(kernel, 1, sizeof left, &left), "clSetKernelArg");
    check(clSetKernelArg(kernel, 2, sizeof top, &top), "clSetKernelArg");
    check(clSetKernelArg(kernel, 3, sizeof step, &step), "clSetKernelArg");
    check(clSetKernelArg(kernel, 4, sizeof first_row, &first_row), "clSetKernelArg");
    check(clSetKernelArg(kernel, 5, sizeof limit, &limit), "clSetKernelArg");
}

/* Computes the whole picture; pixels holds width × height numbers of iterations. */
static void compute(cl_context context, cl_command_queue queue, cl_kernel kernel, cl_uint *pixels)
{
    const size_t global_size[2] = {width, block_rows};
    const size_t block_size = (size_t)width * block_rows * sizeof *pixels;
    cl_mem blocks[n_blocks];
    cl_int error;

    for (cl_uint i = 0; i < n_blocks; i++) {
        blocks[i] = clCreateBuffer(context, CL_MEM_WRITE_ONLY, block_size, NULL, &error);
        check(error, "clCreateBuffer");
        set_arguments(kernel, blocks[i], i * block_rows);
        check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global_size, NULL, 0, NULL, NULL),
              "clEnqueueNDRangeKernel");
    }
    for (cl_uint i = 0; i < n_blocks; i++)
        check(clEnqueueReadBuffer(queue, blocks[i], CL_FALSE, 0, block_size, pixels + (size_t)i * width * block_rows, 0,
                                  NULL, NULL),
              "clEnqueueReadBuffer");
    check(clFinish(queue), "clFinish");
    for (cl_uint i = 0; i < n_blocks; i++)
        clReleaseMemObject(blocks[i]);
}

/*
 * Compares every 61st pixel with the host's result. A device may round differently, so that a pixel at the boundary
 * differs: one in a hundred may, counted block by block, so that a missing block is noticed.
 */
static bool verify(const cl_uint *pixels)
{
    unsigned n_checked = 0, n_differing = 0;
    bool good = true;

    for (unsigned block = 0; block < n_blocks; block++) {
        unsigned checked = 0, differing = 0;

        for (unsigned i = block * width * block_rows; i < (block + 1) * width * block_rows; i += 61, checked++)
            differing += pixels[i] != iterations_at(i % width, i / width);
        if (differing * 100 > checked) {
            fprintf(stderr, "mandelbrot: block %u is wrong: %u of %u pixels\n", block, differing, checked);
            good = false;
        }
        n_checked += checked;
        n_differing += differing;
    }
    printf("checked:  %u pixels against the host, %u differ: %s\n", n_checked, n_differing, good ? "right" : "WRONG");
    return good;
}

/* From black over blue to white and yellow, by the number of iterations; the set itself is black. */
static void colour(png_byte *rgb, cl_uint n)
{
    float t = (float)(n % 64) / 63;

    if (n == max_iterations)
        t = 0;
    rgb[0] = (png_byte)(255 * t * t);
    rgb[1] = (png_byte)(255 * t * (2 - t) * 0.9f);
    rgb[2] = (png_byte)(n == max_iterations ? 0 : 96 + 140 * t);
}

static void write_picture(const char *path, const cl_uint *pixels)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGB};
    png_byte *rgb = malloc(PNG_IMAGE_SIZE(image));

    if (!rgb)
        check(CL_OUT_OF_HOST_MEMORY, "malloc");
    for (size_t i = 0; i < (size_t)width * height; i++)
        colour(rgb + 3 * i, pixels[i]);
    if (!png_image_write_to_file(&image, path, 0, rgb, 0, NULL)) {
        fprintf(stderr, "mandelbrot: %s: %s\n", path, image.message);
        exit(1);
    }
    free(rgb);
    printf("picture:  %s\n", path);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    cl_uint *pixels = calloc((size_t)width * height, sizeof *pixels);
    cl_device_id device = choose_device(choose_platform());
    cl_int error;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue;
    cl_kernel kernel;
    double start;
    bool good;

    check(error, "clCreateContext");
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    kernel = build(context, device);
    if (!pixels)
        check(CL_OUT_OF_HOST_MEMORY, "calloc");

    start = seconds();
    compute(context, queue, kernel, pixels);
    printf("computed: %d blocks of %d rows in %.2f s\n", (int)n_blocks, (int)block_rows, seconds() - start);
    good = verify(pixels);
    write_picture(argc > 1 ? argv[1] : "mandelbrot.png", pixels);

    clReleaseKernel(kernel);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    free(pixels);
    return good ? 0 : 1;
}
