#include "compiler/support/target.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>
#include <string>

static const llvm::MCSubtargetInfo &processor_of(LLVMTargetMachineRef machine)
{
    return *reinterpret_cast<llvm::TargetMachine *>(machine)->getMCSubtargetInfo();
}

bool kc_knows_processor(LLVMTargetMachineRef machine, const char *processor)
{
    return processor_of(machine).isCPUStringValid(processor);
}

bool kc_has_feature(LLVMTargetMachineRef machine, const char *feature)
{
    return processor_of(machine).checkFeatures(std::string("+") + feature);
}
