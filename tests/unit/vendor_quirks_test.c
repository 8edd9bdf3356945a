/* Whose compilers are known to write what ours says, and what changes what they compile. */
#include "opencl/quirks.h"
#include "test.h"

#include <stdlib.h>

static void compilers_that_were_compared_are_known(void **state)
{
    static const char *const known[][2] = {{"Portable Computing Language", "cpu-haswell"},
                                           {"Portable Computing Language (sabotaged)", "basic"},
                                           {"Oclgrind", "Oclgrind Simulator"},
                                           {"rusticl", "llvmpipe (LLVM 15)"},
                                           {"Intel(R) OpenCL", "AMD EPYC"},
                                           {"NVIDIA CUDA", "NVIDIA H200"}};
    static const char *const unknown[][2] = {{"Intel(R) OpenCL Graphics", "Intel(R) Arc(TM)"},
                                             {"Intel(R) OpenCL HD Graphics", "Intel(R) UHD"},
                                             {"Intel(R) FPGA Emulation Platform for OpenCL(TM)", "Intel(R) FPGA"},
                                             {"rusticl", "AMD Radeon"},
                                             {"Portable Computing Language", "CUDA-sm_90"},
                                             {"AMD Accelerated Parallel Processing", "gfx90a"},
                                             {"", ""}};

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        assert_true(tsl_opencl_quirks(known[i][0], known[i][1]).access_holds);
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        assert_false(tsl_opencl_quirks(unknown[i][0], unknown[i][1]).access_holds);
}

/* Intel's runtimes tell of no failure behind a gate, whatever the platform's name. */
static void runtimes_of_intel_have_no_gates(void **state)
{
    static const char *const platforms[] = {"Intel(R) OpenCL", "Intel(R) OpenCL Graphics",
                                            "Intel(R) FPGA Emulation Platform for OpenCL(TM)"};

    (void)state;
    for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++)
        assert_true(tsl_opencl_quirks(platforms[i], "any").no_gates);
}

static void variables_of_vendors_are_seen(void **state)
{
    static const char *const names[] = {"POCL_EXTRA_BUILD_FLAGS", "CL_CONFIG_REPLACE_IR_BEFORE_OPTIMIZER",
                                        "CA_LLVM_OPTIONS"};

    (void)state;
    assert_false(tsl_opencl_is_changed());
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        setenv(names[i], "", 1);
        assert_true(tsl_opencl_is_changed());
        unsetenv(names[i]);
    }
    assert_false(tsl_opencl_is_changed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compilers_that_were_compared_are_known),
        cmocka_unit_test(runtimes_of_intel_have_no_gates),
        cmocka_unit_test(variables_of_vendors_are_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
