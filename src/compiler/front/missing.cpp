#include "compiler/front/missing.hpp"

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Sema/ExternalSemaSource.h>
#include <clang/Sema/Lookup.h>
#include <clang/Sema/Sema.h>

namespace
{

/* Asked for a name that nothing in scope has. */
class MissingFunctions : public clang::ExternalSemaSource
{
  public:
    void InitializeSema(clang::Sema &of) override
    {
        sema = &of;
    }
    void ForgetSema() override
    {
        sema = nullptr;
    }
    bool LookupUnqualified(clang::LookupResult &result, clang::Scope *scope) override
    {
        const clang::IdentifierInfo *name = result.getLookupName().getAsIdentifierInfo();
        const std::string other = name ? same_function(name->getName()) : "";

        if (!sema || other.empty() || result.isForRedeclaration())
            return false;
        result.setLookupName(&sema->Context.Idents.get(other));
        return sema->LookupName(result, scope, true);
    }

  private:
    /* The declared function that does the same, or nothing. */
    static std::string same_function(llvm::StringRef name)
    {
        llvm::StringRef rounding = name;

        if (name == "vloada_half")
            return "vload_half";
        if (!rounding.consume_front("vstorea_half"))
            return "";
        for (const char *any : {"", "_rte", "_rtz", "_rtp", "_rtn"})
            if (rounding == any)
                return ("vstore_half" + rounding).str();
        return "";
    }

    clang::Sema *sema = nullptr;
};

} // namespace

void kc::add_missing_functions(clang::CompilerInstance &compiler)
{
    compiler.setExternalSemaSource(new MissingFunctions);
}
