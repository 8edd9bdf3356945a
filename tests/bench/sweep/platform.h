/* One platform's first device, with what a sweep needs there. Errors end the program, but those of a row. */
#ifndef TSL_BENCH_SWEEP_PLATFORM_H
#define TSL_BENCH_SWEEP_PLATFORM_H

#include "sweep/sweep.h"

#define SWEEP_PLATFORMS 6
#define SWEEP_BATCH     64

struct sweep_platform {
    char name[64];
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem in, out;
    cl_mem image_in[SWEEP_FORMATS], image_out[SWEEP_FORMATS]; /* NULL where the device has none */
    unsigned char *input, *result;                            /* on the host */
    cl_program programs[SWEEP_BATCH];                         /* of the batch: one for all kernels, or one for each */
    cl_kernel kernels[SWEEP_BATCH];                           /* NULL: it couldn't be built */
    unsigned n_programs, n_kernels;
};

/* name: what the platform's name begins with, any case, or its number. */
void sweep_open(struct sweep_platform *platform, const char *name, size_t items);
void sweep_close(struct sweep_platform *platform);

/* Builds the rows' kernels, together, or one by one where together they don't build. A message tells of each that can't
 * be built. */
void sweep_build(struct sweep_platform *platform, const char *prelude, const struct sweep_row *const *rows, unsigned n);
void sweep_drop(struct sweep_platform *platform);

/* Microseconds of one run of the batch's k-th kernel; 0: it can't run. */
double sweep_run(struct sweep_platform *platform, const struct sweep_row *row, unsigned k, size_t items);
/* Reads what the last run has written into platform->result. */
bool sweep_fetch(struct sweep_platform *platform, const struct sweep_row *row, size_t items);
size_t sweep_result_size(const struct sweep_row *row, size_t items);

#endif
