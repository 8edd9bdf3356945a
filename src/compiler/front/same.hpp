/*
 * Is a program the same for any compiler of OpenCL C? What tesela-kc finds in a program holds for a vendor's compiler
 * only if no part of the text depends on the compiler. The head of same.cpp explains why its rule is sufficient;
 * docs/dev/compiler.md describes it for users.
 */
#ifndef KC_FRONT_SAME_HPP
#define KC_FRONT_SAME_HPP

#include <memory>
#include <string>

/* Declared here, because Clang's headers take seconds to read. */
namespace clang
{
class ASTConsumer;
class Preprocessor;
} // namespace clang

namespace kc
{

/* The result of a comparison: the first part that isn't the same everywhere. One for each compilation; outlives the
 * compiler. */
class Same
{
  public:
    /* Checks the text and the options of the build before preprocessing. */
    Same(const char *source, const char *options);

    /* Called before the preprocessor reads. The consumer sees all declarations. */
    std::unique_ptr<clang::ASTConsumer> watch(clang::Preprocessor &preprocessor);

    /* Keeps the first reason. */
    void differs(const std::string &why);

    /* Empty if the program is the same. */
    const std::string &why() const
    {
        return reason;
    }

  private:
    std::string reason;
};

} // namespace kc

#endif
