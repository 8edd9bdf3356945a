#include "compiler/process/prepared.h"

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

LLVMModuleRef *kc_prepared_library(struct kc_prepared *prepared, enum tsl_wire_target target)
{
    return &prepared->libraries[target == TSL_WIRE_PTX ? TSL_WIRE_PTX : TSL_WIRE_CPU];
}

bool kc_prepared_open(struct kc_prepared *prepared, enum tsl_wire_target target, char **why)
{
    const char *name = target == TSL_WIRE_PTX ? KC_BUILTINS_NVPTX : KC_BUILTINS_CPU;
    LLVMModuleRef *library = kc_prepared_library(prepared, target);

    if (!*library && !(*library = kc_builtins_open(prepared->context, name, why)))
        return false;
    return target == TSL_WIRE_PTX || prepared->host.machine || kc_target_host(NULL, &prepared->host, why);
}

static void close_libraries(struct kc_prepared *prepared)
{
    for (unsigned i = 0; i <= TSL_WIRE_LAST_TARGET; i++)
        if (prepared->libraries[i])
            LLVMDisposeModule(prepared->libraries[i]);
}

void kc_prepared_finish(struct kc_prepared *prepared)
{
    close_libraries(prepared);
    LLVMContextDispose(prepared->context);
    kc_target_finish(&prepared->host);
}

/* In a context of its own, but with the shared target machine, in which LLVM keeps what it has computed of the
 * processor. */
void kc_build_sample(struct kc_prepared *prepared)
{
    struct kc_prepared once = {.context = LLVMContextCreate(), .host = prepared->host};
    struct tsl_wire_build request = {.source = (char *)sample, .options = (char *)"", .target = TSL_WIRE_CPU};
    struct kc_build build;

    kc_build_begin(&build, &request, &once);
    if (prepared->host.machine)
        kc_build_run(&build);
    kc_build_finish(&build);
    close_libraries(&once);
    LLVMContextDispose(once.context);
}
