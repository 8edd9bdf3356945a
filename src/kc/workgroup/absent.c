/*
 * Until the pass is there: the process, the front end and the facts work without it.
 */
#include "kc/workgroup/workgroup.h"

bool kc_wg_build(const struct kc_wg_input *input, struct kc_wg_output *output, char **why)
{
    (void)input;
    (void)output;
    *why = LLVMCreateMessage("this version of Tesela makes no work-group functions");
    return false;
}

bool kc_wg_finish(LLVMModuleRef module, LLVMTargetMachineRef machine, bool optimise, char **why)
{
    (void)module;
    (void)machine;
    (void)optimise;
    *why = LLVMCreateMessage("this version of Tesela makes no work-group functions");
    return false;
}
