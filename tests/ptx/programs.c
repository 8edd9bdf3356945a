/*
 * Every program that a test has compiled is compiled as PTX, too: what the library calls tsl_compile is this function
 * here, in a copy of the library (build/tests/ptx) and in the tests of compiler/. Without TESELA_TEST_PTX it does
 * nothing else than the real one. That names a folder, in which there is then for each program and processor
 *   DIGEST.PROCESSOR.ptx      what ptxas is to be given, or
 *   DIGEST.PROCESSOR.failed   why there is none,
 * and TESELA_TEST_NAME.test, empty.
 */
#include "compile_client/compile.h"
#include "compile_client/digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cl_int tsl_compile_itself(const struct tsl_wire_build *build, struct tsl_compiled *compiled);

static const char *const processors[] = {"sm_75", "sm_80", "sm_90"};

/* A program is one for all kernels and local sizes, and can be launched. */
static bool is_whole(const struct tsl_wire_build *build)
{
    return build->target != TSL_WIRE_PTX && !build->kernel && !build->local_size[0] &&
           (build->action == TSL_WIRE_WHOLE_BUILD ||
            (build->action == TSL_WIRE_LINK && !strstr(build->options, "-create-library")));
}

static void name_of(const struct tsl_wire_build *build, char name[2 * TSL_DIGEST_SIZE + 1])
{
    struct tsl_digest digest;
    uint8_t bytes[TSL_DIGEST_SIZE];

    tsl_digest_begin(&digest);
    tsl_digest_add(&digest, build->options, strlen(build->options) + 1);
    tsl_digest_add(&digest, build->source, strlen(build->source) + 1);
    for (uint32_t i = 0; i < build->n_inputs; i++)
        tsl_digest_add(&digest, build->inputs[i].data, build->inputs[i].size);
    tsl_digest_end(&digest, bytes);
    for (unsigned i = 0; i < TSL_DIGEST_SIZE; i++)
        snprintf(name + 2 * i, 3, "%02x", bytes[i]);
}

/* False: there is one already. */
static bool write_file(const char *folder, const char *name, const char *kind, const char *begin, const void *data,
                       size_t size)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s.%s", folder, name, kind);
    file = fopen(path, "wxe");
    if (!file && errno == EEXIST)
        return false;
    if (!file || fputs(begin, file) == EOF || fwrite(data, 1, size, file) != size || fclose(file)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        abort();
    }
    return true;
}

static void compile_for(const struct tsl_wire_build *build, const char *folder, const char *name, const char *processor)
{
    struct tsl_wire_build request = *build;
    struct tsl_compiled compiled;
    char kind[32];

    request.target = TSL_WIRE_PTX;
    request.processor = (char *)processor;
    if (tsl_compile_itself(&request, &compiled) == CL_SUCCESS) {
        snprintf(kind, sizeof(kind), "%s.ptx", processor);
        write_file(folder, name, kind, "", compiled.built.artefact, compiled.built.artefact_size);
    } else {
        snprintf(kind, sizeof(kind), "%s.failed", processor);
        write_file(folder, name, kind, compiled.built.log, build->source, strlen(build->source));
    }
    tsl_compiled_finish(&compiled);
}

cl_int tsl_compile(const struct tsl_wire_build *build, struct tsl_compiled *compiled)
{
    const char *folder = getenv("TESELA_TEST_PTX"), *test = getenv("TESELA_TEST_NAME");
    cl_int result = tsl_compile_itself(build, compiled);
    char name[2 * TSL_DIGEST_SIZE + 1];

    if (!folder || !test || result != CL_SUCCESS || !is_whole(build))
        return result;
    write_file(folder, test, "test", "", NULL, 0);
    name_of(build, name);
    if (write_file(folder, name, "program", build->options, build->source, strlen(build->source)))
        for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
            compile_for(build, folder, name, processors[i]);
    return result;
}
