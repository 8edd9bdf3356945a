#include "compiler/cpu/images.h"

#include <stdlib.h>

static const char *const names[] = {"__tsl_called_image_load", "__tsl_called_image_store", "__tsl_called_image_sample"};

/* Kernels are far longer then: what is constant in a call is worth most of that. */
static const char passes[] = "always-inline,globaldce,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
                             "simplifycfg)";

bool kc_inline_images(LLVMModuleRef module, LLVMTargetMachineRef machine, FILE *log)
{
    bool any = false, done;
    char *why = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, names[i]);

        if (!function || LLVMIsDeclaration(function))
            continue;
        kc_remove_attribute(function, "noinline");
        kc_add_attribute(function, "alwaysinline");
        any = true;
    }
    if (!any)
        return true;
    done = kc_run_passes(module, machine, passes, &why);
    if (!done)
        fprintf(log, "error: %s\n", why);
    free(why);
    return done;
}
