// The linker that is a part of this program where LLVM is linked statically (TESELA_STATIC): LLD, for ELF alone.
#include "compiler/cpu/own_linker.h"

#include <lld/Common/Driver.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/raw_ostream.h>

LLD_HAS_DRIVER(elf)

extern "C" bool kc_own_linker(const char *const *arguments, unsigned n)
{
    return lld::elf::link(llvm::ArrayRef<const char *>(arguments, n), llvm::outs(), llvm::errs(), false, false);
}
