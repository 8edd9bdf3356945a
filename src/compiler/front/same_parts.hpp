/*
 * Declarations shared by the parts of same.cpp.
 */
#ifndef KC_FRONT_SAME_PARTS_HPP
#define KC_FRONT_SAME_PARTS_HPP

#include "compiler/front/same.hpp"

#include <clang/Basic/LangOptions.h>
#include <llvm/ADT/StringRef.h>

namespace kc
{

bool begins(llvm::StringRef name, llvm::StringRef with);

template <size_t N> bool is_one_of(llvm::StringRef name, const char *const (&list)[N])
{
    for (const char *one : list)
        if (name == one)
            return true;
    return false;
}

/* ---- same_names.cpp ---------------------------------------------------------------------------------------------- */

bool is_letter(char c); /* digits and '_' included */

/* The language with which raw tokens are read: C99, as for OpenCL C in all versions. */
clang::LangOptions raw_language();

/* May the word be used in a program? */
bool is_allowed(llvm::StringRef name);

/* May the program define it as a macro? */
bool is_own_name(llvm::StringRef name);

/* A name of the language, in any of its versions or with any extension: compilers may have macros of this name. */
bool is_known(llvm::StringRef name);

/* A function of C's library: compilers may take calls of that name for it. */
bool is_of_library(llvm::StringRef name);

/* An attribute that doesn't change accesses to memory. */
bool is_harmless_attribute(llvm::StringRef name);

/* ---- same_text.cpp ----------------------------------------------------------------------------------------------- */

/* Reads both word by word, and reports what isn't known to be the same for all compilers. */
void read_text(Same &found, llvm::StringRef source, llvm::StringRef options);

} // namespace kc

#endif
