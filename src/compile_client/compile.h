/*
 * The kernel compiler as drivers see it: one blocking call. Behind it are the cache on disk (compile_client/cache.h)
 * and, for what the cache lacks, the process tesela-kc (compile_client/client.h), which is started when first needed,
 * kept, and started again when it died.
 */
#ifndef TSL_COMPILE_CLIENT_COMPILE_H
#define TSL_COMPILE_CLIENT_COMPILE_H

#include "compile_client/wire.h"
#include "driver/driver.h"

struct tsl_compiled {
    struct tsl_wire_built built; /* result, log (never NULL), artefact, kernels with their facts */
    void *message;               /* what built borrows from; heap */
};

/*
 * Builds, compiles or links: see struct tsl_wire_build. Blocks; any thread, no locks held. Always fills *compiled,
 * which is the caller's to finish; returns compiled->built.result: CL_BUILD_PROGRAM_FAILURE,
 * CL_COMPILE_PROGRAM_FAILURE, CL_LINK_PROGRAM_FAILURE: the compiler rejects the program, or died of it;
 * CL_INVALID_BUILD_OPTIONS (compiler's, linker's): an unknown option; CL_COMPILER_NOT_AVAILABLE: no compiler, or it
 * can't be started here; the log is a sentence that says why; CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES (in a forked
 * child).
 */
cl_int tsl_compile(const struct tsl_wire_build *build, struct tsl_compiled *compiled);
void tsl_compiled_finish(struct tsl_compiled *compiled);

/* Puts an input into a request to build or compile it: the source, or the module and its translator, and the options.
 * CL_OUT_OF_HOST_MEMORY, CL_COMPILER_NOT_AVAILABLE: there is no translator (any more). In any case tsl_compile_drop
 * frees what this added; the rest is the caller's. */
cl_int tsl_compile_take(const struct tsl_program_input *input, struct tsl_wire_build *build);
void tsl_compile_drop(struct tsl_wire_build *build);

#define TSL_COMPILE_NO_TRANSLATOR "the program that reads SPIR-V (TESELA_SPIRV, or llvm-spirv-15) is gone\n"

/* May a build of the text read files that it names? What these hold decides, too, what comes of it. No is certain. */
bool tsl_compile_reads_files(const void *source, size_t size);
/* May these be others where the process is started in another folder? No is certain. */
bool tsl_compile_is_relative(const void *source, size_t size, const char *options);

/* A number that is another where the compiler's files or this machine's processor are others: what was compiled then is
 * not what would be compiled now, and may not be loadable. Reads no more than the files' dates. */
uint64_t tsl_compile_identity(void);

/* Could a build work? Looks for the compiler's file, starts nothing. *why: a sentence if not (static). */
bool tsl_compile_available(const char **why);

/* The path of the SPIR-V translator: TESELA_SPIRV, or Debian's llvm-spirv-15; static. NULL: there is none, so programs
 * of IL can't be built. */
const char *tsl_compile_translator(void);

/* The versions of SPIR-V that it reads, as in CL_DEVICE_IL_VERSION: "" without a translator. */
const char *tsl_compile_il_version(void);

/*
 * What the compiler supports on the CPU, and the driver therefore reports. OpenCL C extensions (a list with blanks),
 * and features of OpenCL C 3.0 (without the leading __opencl_c_… of macros that extensions bring).
 */
#define TSL_COMPILE_EXTENSIONS                                              \
    "cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics "       \
    "cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics " \
    "cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics "        \
    "cl_khr_int64_extended_atomics cl_khr_fp64"
#define TSL_COMPILE_FEATURES                                                                             \
    "__opencl_c_int64 __opencl_c_fp64 __opencl_c_generic_address_space __opencl_c_atomic_order_acq_rel " \
    "__opencl_c_atomic_order_seq_cst __opencl_c_atomic_scope_device __opencl_c_work_group_collective_functions"

/* For members whose halves take no function of a library's, in addition. */
#define TSL_COMPILE_HALF_EXTENSION "cl_khr_fp16"

/* For members with images, in addition. */
#define TSL_COMPILE_IMAGE_EXTENSIONS "cl_khr_3d_image_writes cl_khr_depth_images cl_khr_image2d_from_buffer"
#define TSL_COMPILE_IMAGE_FEATURES   "__opencl_c_images __opencl_c_3d_image_writes __opencl_c_read_write_images"

#endif
