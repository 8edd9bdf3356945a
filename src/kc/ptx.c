#include "kc/ptx.h"

bool kc_ptx(const struct kc_cpu_request *request, uint32_t n_kernels, struct tsl_wire_kernel *kernels,
            struct kc_bytes *text, FILE *log)
{
    (void)request;
    (void)n_kernels;
    (void)kernels;
    (void)text;
    fprintf(log, "error: this version of Tesela makes no PTX\n");
    return false;
}
