/*
 * Functions of the language that Clang doesn't declare: loads and stores of one aligned half, vloada_half and
 * vstorea_half with its roundings (OpenCL C 3.0, 6.15.7: "for n = 1"). They do what vload_half and vstore_half do, as
 * each half is aligned.
 */
#ifndef KC_FRONT_MISSING_HPP
#define KC_FRONT_MISSING_HPP

/* Declared here, because Clang's headers take seconds to read. */
namespace clang
{
class CompilerInstance;
} // namespace clang

namespace kc
{

/* Called before the compiler runs. A program's own functions and macros of these names come first. */
void add_missing_functions(clang::CompilerInstance &compiler);

} // namespace kc

#endif
