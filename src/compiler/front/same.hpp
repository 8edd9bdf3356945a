/*
 * Is a program the same for any compiler of OpenCL C? What tesela-kc reads is what a vendor's compiler reads only if
 * nothing of the text depends on who reads it. same.cpp says at its head why its rule is one; docs/dev/compiler.md has it
 * for users.
 */
#ifndef KC_FRONT_SAME_HPP
#define KC_FRONT_SAME_HPP

#include <clang/AST/ASTConsumer.h>
#include <clang/Frontend/CompilerInstance.h>
#include <memory>
#include <string>

namespace kc
{

/* What was found: the first thing that isn't the same everywhere. One for each compilation; outlives the compiler. */
class Same
{
  public:
    /* Looks at the text and the options of the build as they are. */
    Same(const char *source, const char *options);

    /* Once Clang's preprocessor is there, before it reads. The consumer hears of all declarations. */
    std::unique_ptr<clang::ASTConsumer> watch(clang::CompilerInstance &compiler);

    /* Keeps the first reason. */
    void differs(const std::string &why);

    /* Empty: the same. */
    const std::string &why() const
    {
        return reason;
    }

  private:
    std::string reason;
};

} // namespace kc

#endif
