/*
 * Inside of programs: a build, a compilation or a link under way on all members. build.c runs it, job.c
 * does one member's part by make.c.
 */
#ifndef TSL_PROGRAM_BUILD_H
#define TSL_PROGRAM_BUILD_H

#include "facts/build_options.h"
#include "program/program.h"

#include <stdatomic.h>

struct tsl_build;
struct tsl_build_job;

/* An action: build, compile or link, and its error codes. */
struct tsl_make {
    const char *verb; /* for the log */
    cl_int failure;   /* CL_BUILD_PROGRAM_FAILURE … */
    cl_int bad_options;
    void (*run)(struct tsl_build_job *job); /* fills job->part: program, error, log, non_uniform */
};

extern const struct tsl_make tsl_make_build, tsl_make_compile, tsl_make_link;

/* One member's part of the build; only its thread touches it until that thread has ended. */
struct tsl_build_job {
    struct tsl_build *build;
    unsigned index; /* of the member in the context */
    struct tsl_program_part part;
    bool of_windows; /* its kernels are those of the text for windows */
    pthread_t thread;
    bool threaded;
};

struct tsl_build {
    atomic_uint n_refs; /* of whoever runs it, and of weak members' jobs */
    const struct tsl_make *make;
    struct tsl_program *program; /* internal reference */
    char *text;                  /* the options as given */
    struct tsl_device **devices; /* n_devices: what was asked for; the array is owned */
    cl_uint n_devices;
    struct tsl_build_options options;
    struct tsl_build_options asked; /* those of the text that our compiler is asked about: the same, or kept ones */
    cl_program_binary_type type;    /* of the result */
    struct tsl_text_access *access; /* what our compiler is asked about the source; NULL: nothing */
    tsl_program_fn *fn;
    void *arg;
    /* Of compilations the headers, of links the inputs, which aren't built meanwhile. Internal references. */
    cl_uint n_inputs;
    struct tsl_program **inputs;
    char **names; /* of the headers, n_inputs; NULL for links */
    unsigned n_jobs;
    struct tsl_build_job jobs[];
};

static inline struct tsl_member *tsl_build_member(const struct tsl_build_job *job)
{
    return job->build->program->context->members[job->index];
}

/* The device whose promises the program sees on this member: the virtual device if it was a target. */
struct tsl_device *tsl_build_view(const struct tsl_build_job *job);

/* A build for all members behind the targets, with copies of the options. NULL without memory. */
struct tsl_build *tsl_build_create(const struct tsl_make *make, struct tsl_program *program,
                                   const struct tsl_targets *targets, const char *options);
/* Adds headers (with names) or a link's inputs. Links keep builds of their inputs away. */
cl_int tsl_build_add_inputs(struct tsl_build *build, cl_uint n, struct tsl_program *const *inputs,
                            const char *const *names);
/* Undoes create, for a build that isn't run. */
void tsl_build_destroy(struct tsl_build *build);
/* Claims the program and runs the build, here or (with build->fn) in the background; either way build is freed. *began
 * (may be NULL) tells whether the error is the build's, not one of its arguments. */
cl_int tsl_build_run(struct tsl_build *build, bool *began);

/* Gives the member, whose program was built, the text for windows that our compiler made, if there is one. */
void tsl_build_windows(struct tsl_build_job *job);

/* The text of which members' code is made or was made: the source, or a text that came with binaries; NULL: none. */
static inline const char *tsl_build_source(const struct tsl_build *build)
{
    return build->program->source ? build->program->source : build->program->kept;
}

/* The source with the prelude of the job's member (heap); NULL: its compiler is older than the program's language, or
 * no memory. */
char *tsl_build_dialect(struct tsl_build_job *job);

/* Gives back what a part holds (driver calls) and leaves it unbuilt; what was loaded for it stays. */
void tsl_program_part_clear(struct tsl_program_part *part, struct tsl_member *member);

/* Drops the binaries that were told: they are those of the build before. */
void tsl_program_forget_binaries_locked(struct tsl_program *program) TSL_REQUIRES(program->lock);

/* Keeps builds away from a program, built or not; false while a build is running. Ends with tsl_program_end_read. */
bool tsl_program_begin_any_read(struct tsl_program *program);

#endif
