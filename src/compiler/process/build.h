/*
 * One request from beginning to end, step by step: front end or inputs, built-in functions, facts, target.
 */
#ifndef KC_PROCESS_BUILD_H
#define KC_PROCESS_BUILD_H

#include "compile_client/wire.h"
#include "compiler/cpu/cpu.h"
#include "compiler/front/options.h"
#include "compiler/process/prepared.h"

struct kc_build {
    const struct tsl_wire_build *request;
    struct kc_prepared *prepared;
    LLVMModuleRef module;
    LLVMModuleRef calls; /* see kc_cpu_request */
    struct kc_options options;
    struct kc_target target;
    bool own_target;
    bool idle_stores;               /* see kc_link_finish */
    char *files, *absent, *differs; /* see kc_front_output */
    FILE *log;                      /* stream into text */
    FILE *notes;                    /* see kc_cpu_request; NULL, unless the caller sets it */
    unsigned n_processes;           /* that may work on it at once: 1, unless the caller sets it */
    char *text;
    size_t text_size;
    struct kc_bytes artefact;
    uint32_t n_kernels;
    struct tsl_wire_kernel *kernels;
    cl_int result;
};

void kc_build_begin(struct kc_build *build, const struct tsl_wire_build *request, struct kc_prepared *prepared);

/* The steps, in this order. False: the step failed; result and log say why. */
bool kc_build_module(struct kc_build *build); /* options, and the module of source or inputs */
bool kc_build_link(struct kc_build *build);   /* with the built-in functions, for the target: the next two */
bool kc_build_prepare(struct kc_build *build);
bool kc_build_simplify(struct kc_build *build);
bool kc_build_kernels(struct kc_build *build); /* facts */
bool kc_build_target(struct kc_build *build);  /* the artefact: the next two */

/* An object file or PTX of the module's kernels, a share of the program's. n codes become the artefact. */
bool kc_build_code(struct kc_build *build, struct kc_share share, struct kc_bytes *code);
bool kc_build_join(struct kc_build *build, const struct kc_bytes *codes, unsigned n);

/* Instead of these steps, for TSL_WIRE_ACCESS and TSL_WIRE_WINDOWS. False: nothing is known. */
bool kc_build_access(struct kc_build *build);

/* Runs the steps that the request needs. */
void kc_build_run(struct kc_build *build);

/* Encodes the reply. */
void kc_build_encode(struct kc_build *build, uint64_t request, struct tsl_writer *writer);

/* Frees all but the modules, which the context owns. */
void kc_build_finish(struct kc_build *build);

#endif
