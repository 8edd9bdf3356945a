/*
 * Is a program the same for any compiler of OpenCL C? What tesela-kc reads is what a vendor's compiler reads only if
 * nothing of the text depends on who reads it. Watches Clang at work; docs/compiler.md has the rule, and why it is one.
 */
#ifndef KC_SAME_HPP
#define KC_SAME_HPP

#include <clang/AST/ASTConsumer.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <memory>
#include <string>

namespace kc
{

/* What was found: the first thing that isn't the same everywhere. One for each compilation; outlives the compiler. */
class Same
{
  public:
    /* Looks at the text as it is, before Clang does. */
    Same(const char *source, const char *of_build);

    /* Once the preprocessor is there, before it reads. The consumer hears of all declarations; none: it isn't the same,
     * and needn't be compiled. */
    std::unique_ptr<clang::ASTConsumer> watch(clang::CompilerInstance &compiler);

    /* Once the diagnostics are there. */
    static void watch(clang::DiagnosticsEngine &diagnostics);

    /* A message of the diagnostics; true: it was for this watcher alone. */
    bool hears(const clang::Diagnostic &message);

    /* Keeps the first reason. */
    void differs(const std::string &why);

    /* Empty: the same. */
    const std::string &why() const
    {
        return reason;
    }

  private:
    std::string reason;
    const char *options; /* of the build, as given */
};

/* Prints messages but those that are the watcher's. */
class SamePrinter : public clang::TextDiagnosticPrinter
{
  public:
    SamePrinter(llvm::raw_ostream &out, clang::DiagnosticOptions *options, Same &found)
        : clang::TextDiagnosticPrinter(out, options), same(found)
    {
    }
    void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &message) override
    {
        if (!same.hears(message))
            clang::TextDiagnosticPrinter::HandleDiagnostic(level, message);
    }

  private:
    Same &same;
};

} // namespace kc

#endif
