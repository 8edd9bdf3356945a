/*
 * Images in parts: a launch that writes an image is cut, its shares write their own rows, and read rows besides with a
 * sampler that clamps. Round after round each member fetches the rows at the border alone. And a buffer that is
 * addressed by an image's width is claimed in parts, too.
 *
 * Members have copies of their own, so TESELA_ZERO_COPY is off.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_SPLIT=always */
/* variant: mixed TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="pthread" TESELA_MEMBERS=opencl,cpu TESELA_ZERO_COPY=off TESELA_SPLIT=always */
/* variant: alone TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_ZERO_COPY=off TESELA_SPLIT=always TESELA_CHECK=access */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

enum { width = 256, height = 128, row_size = width * sizeof(cl_uint), n_rounds = 12 };

static const char *const source =
    "kernel void sum(read_only image2d_t from, write_only image2d_t to, sampler_t edge)\n"
    "{\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    uint4 sum = read_imageui(from, edge, at) + read_imageui(from, edge, at - (int2)(0, 1)) +\n"
    "                read_imageui(from, edge, at + (int2)(1, 1));\n"
    "    write_imageui(to, at, sum);\n"
    "}\n"
    "kernel void flat(read_only image2d_t from, global uint *to)\n"
    "{\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    to[at.y * get_image_width(from) + at.x] = read_imageui(from, at).x;\n"
    "}\n";

static struct proof proof;
static cl_mem images[2], buffer;
static cl_sampler edge;
static cl_uint model[2][height][width], back[height][width];
static const size_t global[2] = {width, height}, local[2] = {16, 4};

static cl_uint clamped(unsigned which, int x, int y)
{
    x = x < width ? x : width - 1;
    y = y < 0 ? 0 : y < height ? y : height - 1;
    return model[which][y][x];
}

static void step_model(unsigned from)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            model[!from][y][x] = clamped(from, x, y) + clamped(from, x, y - 1) + clamped(from, x + 1, y + 1);
}

/* Shares of the launch. */
static unsigned n_parts(uint64_t command)
{
    const struct proof_trace *trace = proof_trace(&proof);
    unsigned n = 0;

    for (size_t i = 0; i < trace->n; i++)
        n += trace->spans[i].command == command && strcmp(trace->spans[i].category, "kernel") == 0;
    return n;
}

static void check_image(unsigned which)
{
    const size_t origin[3] = {0, 0, 0}, region[3] = {width, height, 1};

    proof_did(&proof,
              clEnqueueReadImage(proof.queue, images[which], CL_TRUE, origin, region, 0, 0, back, 0, NULL, NULL));
    assert_memory_equal(back, model[which], sizeof back);
}

static void rows_move_at_borders(void **state)
{
    cl_kernel kernel = proof_kernel(&proof, "sum");

    (void)state;
    for (unsigned round = 0; round < n_rounds; round++) {
        const unsigned from = round % 2;
        uint64_t command;

        proof_ok(clSetKernelArg(kernel, 0, sizeof(cl_mem), &images[from]));
        proof_ok(clSetKernelArg(kernel, 1, sizeof(cl_mem), &images[!from]));
        proof_ok(clSetKernelArg(kernel, 2, sizeof(cl_sampler), &edge));
        command = proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, 2, NULL, global, local, 0, NULL, NULL));
        proof_ok(clFinish(proof.queue));
        step_model(from);
        assert_true(n_parts(command) > 1);
        /* What is overwritten isn't fetched, and what one member has read it has. */
        if (round > 0)
            assert_in_range(proof_moved(proof_trace(&proof), command, command).to_members, 0, height / 2 * row_size);
    }
    check_image(0);
    check_image(1);
    proof_ok(clReleaseKernel(kernel));
}

static void an_images_width_is_known(void **state)
{
    cl_kernel kernel = proof_kernel(&proof, "flat");
    uint64_t command;

    (void)state;
    proof_ok(clSetKernelArg(kernel, 0, sizeof(cl_mem), &images[0]));
    proof_ok(clSetKernelArg(kernel, 1, sizeof(cl_mem), &buffer));
    command = proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, 2, NULL, global, local, 0, NULL, NULL));
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, buffer, CL_TRUE, 0, sizeof back, back, 0, NULL, NULL));
    assert_memory_equal(back, model[0], sizeof back);
    assert_true(n_parts(command) > 1);
    proof_ok(clReleaseKernel(kernel));
}

static int open_proof(void **state)
{
    const cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height};
    cl_int error;

    (void)state;
    for (cl_uint y = 0; y < height; y++)
        for (cl_uint x = 0; x < width; x++)
            model[0][y][x] = (y * width + x) * 2654435761u >> 7;
    proof_open(&proof, source);
    for (unsigned i = 0; i < 2; i++) {
        images[i] = clCreateImage(proof.context, i ? CL_MEM_READ_WRITE : CL_MEM_COPY_HOST_PTR, &format, &desc,
                                  i ? NULL : model[0], &error);
        proof_ok(error);
    }
    edge = clCreateSampler(proof.context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &error);
    proof_ok(error);
    buffer = proof_buffer(&proof, CL_MEM_READ_WRITE, sizeof back, NULL);
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        proof_ok(clReleaseMemObject(images[i]));
    proof_ok(clReleaseMemObject(buffer));
    proof_ok(clReleaseSampler(edge));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_move_at_borders),
        cmocka_unit_test(an_images_width_is_known),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
