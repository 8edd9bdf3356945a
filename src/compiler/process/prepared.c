#include "compiler/process/warm.h"

#include "compiler/builtins/builtins.h"
#include "compiler/process/build.h"

#include <stdlib.h>

/* Some of everything: loops, a barrier, built-in functions, vectors. */
static const char sample[] = "kernel void f(global const float4 *x, global float *out, local float *s, int n)\n"
                             "{\n"
                             "    size_t i = get_global_id(0), k = get_local_id(0);\n"
                             "    float4 sum = 0;\n"
                             "    for (int j = 0; j < n; j++)\n"
                             "        sum += x[i + j] * (float)j;\n"
                             "    s[k] = sqrt(sum.x) + fmin(sum.y, sum.z);\n"
                             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "    if (k % 2 == 0)\n"
                             "        out[i] = s[k + 1];\n"
                             "}\n";

LLVMModuleRef *kc_warm_library(struct kc_warm *warm, enum tsl_wire_target target)
{
    return &warm->libraries[target == TSL_WIRE_PTX ? TSL_WIRE_PTX : TSL_WIRE_CPU];
}

bool kc_warm_open(struct kc_warm *warm, enum tsl_wire_target target, char **why)
{
    const char *name = target == TSL_WIRE_PTX ? KC_BUILTINS_NVPTX : KC_BUILTINS_CPU;
    LLVMModuleRef *library = kc_warm_library(warm, target);

    if (!*library && !(*library = kc_builtins_open(warm->context, name, why)))
        return false;
    return target == TSL_WIRE_PTX || warm->host.machine || kc_target_host(NULL, &warm->host, why);
}

static void close_libraries(struct kc_warm *warm)
{
    for (unsigned i = 0; i <= TSL_WIRE_LAST_TARGET; i++)
        if (warm->libraries[i])
            LLVMDisposeModule(warm->libraries[i]);
}

void kc_warm_finish(struct kc_warm *warm)
{
    close_libraries(warm);
    LLVMContextDispose(warm->context);
    kc_target_finish(&warm->host);
}

/* In a context of its own, with the machine of all: what LLVM knows of the processor stays with that. */
void kc_warm_up(struct kc_warm *warm)
{
    struct kc_warm once = {.context = LLVMContextCreate(), .host = warm->host};
    struct tsl_wire_build request = {.source = (char *)sample, .options = (char *)"", .target = TSL_WIRE_CPU};
    struct kc_build build;

    kc_build_begin(&build, &request, &once);
    if (warm->host.machine)
        kc_build_run(&build);
    kc_build_finish(&build);
    close_libraries(&once);
    LLVMContextDispose(once.context);
}
