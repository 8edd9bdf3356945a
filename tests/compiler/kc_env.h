/* For tests of the kernel compiler: where it is, a cache folder of the test's own, and builds in one line. */
#ifndef TSL_TESTS_KC_ENV_H
#define TSL_TESTS_KC_ENV_H

#include "compile_client/client.h"
#include "compile_client/compile.h"

#include "build_folder.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void kc_use(char *const *arguments)
{
    char path[4096];

    build_compiler(path, sizeof(path));
    tsl_client_set_program(path, arguments);
}

/* Nothing is kept: no folder can be made there. */
static inline void kc_use_no_cache(void)
{
    setenv("TESELA_CACHE", "/dev/null/none", 1);
}

/* A build for facts alone. */
static inline struct tsl_wire_build kc_request(const char *source, const char *options)
{
    return (struct tsl_wire_build){.source = (char *)source, .options = (char *)options};
}

static inline cl_int kc_build(const char *source, const char *options, struct tsl_compiled *compiled)
{
    struct tsl_wire_build request = kc_request(source, options);

    return tsl_compile(&request, compiled);
}

/* The result, and nothing to finish. */
static inline cl_int kc_result(const char *source, const char *options)
{
    struct tsl_compiled compiled;
    cl_int result = kc_build(source, options, &compiled);

    if (result == CL_COMPILER_NOT_AVAILABLE)
        print_message("%s\n", compiled.built.log);
    tsl_compiled_finish(&compiled);
    return result;
}

/* A module that tests/spirv/modules.cmake makes; valid until the next one is read. */
static inline void *kc_module(const char *name, size_t *size)
{
    static char data[1 << 16];
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/tests/spirv/%s.spv", build_folder(), name);
    file = fopen(path, "rb");
    assert_non_null(file);
    *size = fread(data, 1, sizeof(data), file);
    fclose(file);
    return data;
}

static inline void kc_assert_log(const struct tsl_compiled *compiled, const char *part)
{
    if (!strstr(compiled->built.log, part)) {
        print_message("not in the log: %s\nlog: %s\n", part, compiled->built.log);
        fail();
    }
}

#endif
