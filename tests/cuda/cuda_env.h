/* What the tests of the CUDA bridge share: the members, a lane, short ways to do what a test isn't about. They run on
 * the stand-in for libcuda that TESELA_CUDA_LIBRARY names, and, without it, on a real GPU. */
#ifndef TSL_TESTS_CUDA_ENV_H
#define TSL_TESTS_CUDA_ENV_H

#include "cuda_bridge/image.h"
#include "cuda_bridge/internal.h"
#include "cuda_bridge/member.h"

#include "driver_env.h"
#include "standin_env.h"

static inline int open_member(void **state)
{
    int error = open_members(state);

    find_standin();
    assert_string_equal(driver->name, "cuda");
    return error;
}

static inline int close_member(void **state)
{
    close_members(state);
    check_standin();
    return 0;
}

/* ---- Programs: kernels.ptx, with facts such as the kernel compiler would give ------------------------------------ */

extern const char cuda_kernels_ptx[], cuda_kernels_end[];

static inline void *kernels_image(size_t *size)
{
    static struct tsl_arg_fact pointer = {.kind = TSL_FACT_GLOBAL, .may = TSL_MAY_READ | TSL_MAY_WRITE};
    static struct tsl_arg_fact args[][3] = {
        {{.kind = TSL_FACT_GLOBAL, .may = TSL_MAY_READ},
         {.kind = TSL_FACT_GLOBAL, .may = TSL_MAY_READ},
         {.kind = TSL_FACT_GLOBAL, .may = TSL_MAY_WRITE}},
        {{.kind = TSL_FACT_GLOBAL, .may = TSL_MAY_READ | TSL_MAY_WRITE}, {.kind = TSL_FACT_VALUE, .size = 4}},
        {{.kind = TSL_FACT_GLOBAL, .may = TSL_MAY_READ | TSL_MAY_WRITE},
         {.kind = TSL_FACT_LOCAL},
         {.kind = TSL_FACT_LOCAL}},
        {{.kind = TSL_FACT_VALUE, .size = 8}},
    };
    static struct tsl_kernel_facts facts[] = {
        {.name = "vector_add", .attributes = "", .n_args = 3, .args = args[0], .proven = true},
        {.name = "tell_ids", .attributes = "", .n_args = 1, .args = &pointer, .proven = true, .whole_launch = true},
        {.name = "add_value", .attributes = "", .n_args = 2, .args = args[1], .proven = true},
        {.name = "reverse", .attributes = "", .n_args = 3, .args = args[2], .proven = true},
        {.name = "nothing", .attributes = "", .proven = true},
        {.name = "wild", .attributes = "", .n_args = 1, .args = args[3]},
    };
    const struct tsl_kernel_facts *list[6];

    for (int i = 0; i < 6; i++)
        list[i] = &facts[i];
    return tsl_cuda_image_encode(TSL_CUDA_IMAGE_PTX, 75, 6, list, cuda_kernels_ptx,
                                 (size_t)(cuda_kernels_end - cuda_kernels_ptx), size);
}

static inline struct tsl_dprogram *build_kernels(struct tsl_member *m)
{
    struct tsl_program_input input = {.kind = TSL_PROGRAM_BINARY, .options = ""};
    struct tsl_dprogram *program;
    char *log;
    void *image = kernels_image(&input.size);
    cl_int error;

    assert_non_null(image);
    input.data = image;
    error = driver->build(m, &input, &program, &log);
    if (error)
        fail_msg("build: %d, %s", error, log);
    free(log);
    free(image);
    return program;
}

#endif
