/*
 * Buffers on which kernels of the built-in CPU work begin at different places of their pages: where addresses differ by
 * multiples of 4 KiB, a processor's loads of the one wait for stores to the other. Copies that a GPU's member pins do,
 * too, from 1 MiB on.
 */
/* variant: alone TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
/* variant: pinned TESELA_VENDORS={build}/vendors-none TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda,cpu TESELA_POLICY=weights=0,1 */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

enum { n_buffers = 3, page = 4096 };

static struct proof proof;

static bool is_pinned(void)
{
    return getenv("TESELA_CUDA_LIBRARY");
}

/* Where it begins in the host's memory; all its bytes are written. */
static uintptr_t begin_of(cl_mem buffer, size_t size)
{
    cl_int error;
    char *bytes = clEnqueueMapBuffer(proof.queue, buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, size, 0, NULL,
                                     NULL, &error);

    proof_ok(error);
    memset(bytes, 1, size);
    proof_ok(clEnqueueUnmapMemObject(proof.queue, buffer, bytes, 0, NULL, NULL));
    return (uintptr_t)bytes;
}

/* Small pieces of pinned memory are as they are: that shows that it is pinned. */
static bool may_be_apart(size_t size)
{
    return !is_pinned() || size >= 1 << 20;
}

static void begin_apart(size_t size, cl_uint align)
{
    cl_mem buffers[n_buffers];
    uintptr_t begins[n_buffers];

    for (unsigned i = 0; i < n_buffers; i++) {
        buffers[i] = proof_buffer(&proof, CL_MEM_READ_WRITE, size, NULL);
        begins[i] = begin_of(buffers[i], size);
        assert_int_equal(begins[i] % align, 0);
    }
    for (unsigned i = 0; i < n_buffers; i++) {
        if (may_be_apart(size))
            assert_in_range((begins[i] - begins[(i + 1) % n_buffers]) % page, 512, page - 512);
        else
            assert_int_equal(begins[i] % page, 0);
        proof_ok(clReleaseMemObject(buffers[i]));
    }
}

static void buffers_begin_apart(void **state)
{
    static const size_t sizes[] = {16 << 10, 64 << 10, 1 << 20, 4 << 20};
    cl_uint bits;

    (void)state;
    proof_ok(clGetDeviceInfo(proof.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(bits), &bits, NULL));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        begin_apart(sizes[i], bits / 8);
}

/* Given back and taken again, by buffers of the same size and of others. */
static void memory_is_used_again(void **state)
{
    (void)state;
    for (size_t size = 1 << 20; size < (size_t)3 << 20; size += 300000)
        for (unsigned i = 0; i < 4; i++) {
            cl_mem buffer = proof_buffer(&proof, CL_MEM_READ_WRITE, size, NULL);

            begin_of(buffer, size);
            proof_ok(clReleaseMemObject(buffer));
        }
}

static int setup(void **state)
{
    (void)state;
    proof_open(&proof, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    proof_ok(clFinish(proof.queue));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_begin_apart),
        cmocka_unit_test(memory_is_used_again),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
