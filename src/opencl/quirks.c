#include "opencl/quirks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The preference of a vendor of whom nothing is known: above the general-purpose stacks, which serve many devices and
 * know none of them as well as its maker. */
#define UNKNOWN 20

/* Speeds of code for processors are in parts of the built-in CPU's (docs/lab/performance.md): what is claimed to be
 * less than half as fast is tried late, and the built-in CPU at once. */
#define POCL_SPEED  0.2
#define INTEL_SPEED 0.4

static const struct row {
    const char *platform; /* beginning of the platform's name; "" fits all */
    const char *device;   /* beginning of the device's name */
    struct tsl_opencl_quirks quirks;
} rows[] = {
    /* PoCL up to 7.1 at least. An event that fails is freed while others that it waited for will still notify it, and
     * what waits for a failed one and another that completes at that time both fails and runs (its pull requests 1719,
     * 2214 and 2216): a gate that is opened with an error damages memory. "basic" (since 4.0 "cpu-minimal") computes
     * inside clEnqueue..., in the caller. */
    {"Portable Computing Language",
     "basic",
     {.synchronous = true,
      .failed_wait_hangs = true,
      .silent_failures = true,
      .lying_callbacks = true,
      .shares_memory = true,
      .no_builtins = true,
      .access_holds = true,
      .preference = 15,
      .speed = POCL_SPEED}},
    {"Portable Computing Language",
     "cpu-minimal",
     {.synchronous = true,
      .failed_wait_hangs = true,
      .silent_failures = true,
      .lying_callbacks = true,
      .shares_memory = true,
      .no_builtins = true,
      .access_holds = true,
      .preference = 15,
      .speed = POCL_SPEED}},
    {"Portable Computing Language",
     "pthread",
     {.no_gates = true,
      .failed_wait_hangs = true,
      .silent_failures = true,
      .lying_callbacks = true,
      .shares_memory = true,
      .no_builtins = true,
      .access_holds = true,
      .preference = 30,
      .speed = POCL_SPEED}},
    {"Portable Computing Language",
     "cpu",
     {.no_gates = true,
      .failed_wait_hangs = true,
      .silent_failures = true,
      .lying_callbacks = true,
      .shares_memory = true,
      .no_builtins = true,
      .access_holds = true,
      .preference = 30,
      .speed = POCL_SPEED}},
    {"Portable Computing Language",
     "",
     {.no_gates = true,
      .failed_wait_hangs = true,
      .silent_failures = true,
      .lying_callbacks = true,
      .no_builtins = true,
      .preference = 15,
      .speed = 1.0}},
    /* A simulator: computes inside clFlush and clFinish, has no locks, and is some thousand times slower. */
    {"Oclgrind",
     "",
     {.synchronous = true,
      .no_late_calls = true,
      .no_attributes = true,
      .shares_memory = true,
      .own_binaries = true,
      .files_kill = true,
      .extern_kills = true,
      .access_holds = true,
      .preference = 1,
      .speed = 1e-4}},
    /* Up to Mesa 22.3 at least. Work fails on a thread of its own, without a callback. */
    {"rusticl",
     "llvmpipe",
     {.silent_failures = true,
      .no_gates = true,
      .finish_forgets = true,
      .no_times = true,
      .small_groups = true,
      .no_quotes = true,
      .arrays_stray = true,
      .sampler_mix_kills = true,
      .shares_memory = true,
      .own_binaries = true,
      .access_holds = true,
      .preference = 10,
      .speed = POCL_SPEED / 2}},
    {"rusticl",
     "",
     {.silent_failures = true,
      .no_gates = true,
      .finish_forgets = true,
      .no_times = true,
      .small_groups = true,
      .no_quotes = true,
      .arrays_stray = true,
      .own_binaries = true,
      .preference = 10,
      .speed = 0.5}},
    /* The CPU's, 2026.2. What waits for a failed event isn't done, but its status says that it is complete; only
     * callbacks and clWaitForEvents tell. What is enqueued behind it later isn't done either, and nothing tells of
     * that. */
    {"Intel(R) OpenCL ", /* Graphics: not tried */
     "",
     {.no_gates = true, .failed_wait_hangs = true, .shares_memory = true, .preference = UNKNOWN, .speed = 1.0}},
    {"Intel(R) OpenCL",
     "",
     {.no_gates = true,
      .failed_wait_hangs = true,
      .shares_memory = true,
      .access_holds = true,
      .preference = UNKNOWN,
      .speed = INTEL_SPEED}},
    /* Of the CPU's making, 2023.2: the same about events. Computes on the processor, with what an FPGA can do. */
    {"Intel(R) FPGA Emulation",
     "",
     {.no_gates = true,
      .failed_wait_hangs = true,
      .shares_memory = true,
      .preference = UNKNOWN,
      .speed = INTEL_SPEED / 2}},
    /* Driver 580: a kernel without arguments becomes code that its own assembler refuses. */
    {"NVIDIA CUDA",
     "",
     {.lying_callbacks = true,
      .arg_info_fails = true,
      .small_groups = true,
      .array_rows = true,
      .slices_of_rows = true,
      .names_overflow = true,
      .access_holds = true,
      .preference = UNKNOWN,
      .speed = 1.0}},
    {"", "", {.preference = UNKNOWN, .speed = 1.0}},
};

static bool begins(const char *text, const char *beginning)
{
    return !strncmp(text, beginning, strlen(beginning));
}

struct tsl_opencl_quirks tsl_opencl_quirks(const char *platform_name, const char *device_name)
{
    const struct row *row = rows;

    while (!begins(platform_name, row->platform) || !begins(device_name, row->device))
        row++;
    return row->quirks;
}

/* PoCL, oclgrind, AMD, clover, Intel's GPUs and CPUs, clvk, the oneAPI Construction Kit, Beignet. */
bool tsl_opencl_is_changed(void)
{
    static const char *const names[] = {"POCL_EXTRA_BUILD_FLAGS",
                                        "POCL_BUILDING",
                                        "POCL_KERNELLIB_NAME",
                                        "POCL_BITCODE_FINALIZER",
                                        "OCLGRIND_BUILD_OPTIONS",
                                        "OCLGRIND_PCH_DIR",
                                        "OCLGRIND_PLUGINS",
                                        "AMD_OCL_BUILD_OPTIONS",
                                        "AMD_OCL_BUILD_OPTIONS_APPEND",
                                        "AMD_OCL_LINK_OPTIONS",
                                        "AMD_OCL_LINK_OPTIONS_APPEND",
                                        "AMD_OCL_SUBST_OBJFILE",
                                        "CLOVER_EXTRA_BUILD_OPTIONS",
                                        "CLOVER_EXTRA_COMPILE_OPTIONS",
                                        "CLOVER_EXTRA_LINK_OPTIONS",
                                        "IGC_ExtraOCLOptions",
                                        "IGC_ExtraOCLInternalOptions",
                                        "IGC_ShaderOverride",
                                        "NEOReadDebugKeys",
                                        "CL_CONFIG_REPLACE_IR_BEFORE_OPTIMIZER",
                                        "CL_CONFIG_REPLACE_IR_AFTER_OPTIMIZER",
                                        "CL_CONFIG_LLVM_OPTIONS",
                                        "CL_CONFIG_FORCE_PROFILE_LIB_PATH",
                                        "CLVK_CLSPV_OPTIONS",
                                        "CLVK_CLSPV_BIN",
                                        "CLVK_LLVMSPIRV_BIN",
                                        "CA_EXTRA_COMPILE_OPTS",
                                        "CA_EXTRA_LINK_OPTS",
                                        "CA_LLVM_OPTIONS",
                                        "OCL_PCH_PATH",
                                        "OCL_HEADER_FILE_PATH",
                                        "OCL_BITCODE_LIB_PATH"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            return true;
    return false;
}
