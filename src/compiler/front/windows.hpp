/*
 * The text with which a vendor launches windows of a program's kernels. A vendor's launch with an offset answers global
 * ids as the whole launch would, but not group ids, numbers of groups, global sizes and offsets, and linear ids. So the
 * kernels that ask for these, also by functions that they call, get hidden parameters behind their own, and calls of
 * these built-in functions become calls of functions that compute the answer from the parameters.
 */
#ifndef KC_FRONT_WINDOWS_HPP
#define KC_FRONT_WINDOWS_HPP

#include <map>
#include <memory>
#include <string>

/* Declared here, because Clang's headers take seconds to read. */
namespace clang
{
class ASTConsumer;
class SourceManager;
} // namespace clang

namespace kc
{

/* One for each compilation; outlives the compiler. */
class Windows
{
  public:
    /* The source has no macros of its own: each token stands where Clang says. */
    explicit Windows(const char *source);

    std::unique_ptr<clang::ASTConsumer> watch(clang::SourceManager &sources);

    /* Replaces `length` bytes at that offset of the source. The same change may be noted several times. */
    void change(unsigned offset, unsigned length, const std::string &text);

    /* Keeps the first reason. */
    void refuse(const std::string &why);

    /* Empty if the text is good. */
    const std::string &why() const
    {
        return reason;
    }
    std::string text() const;

  private:
    struct Change {
        unsigned length;
        std::string text;
    };
    const std::string source;
    std::map<unsigned, Change> changes; /* by offset */
    std::string reason;
};

} // namespace kc

#endif
