/*
 * Words of a program, classified by name alone: the program's, the language's or a compiler's?
 */
#include "compiler/front/front.h"
#include "compiler/front/same_parts.hpp"

#include <cctype>
#include <clang/Basic/IdentifierTable.h>
#include <clang/Lex/Lexer.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Analysis/TargetLibraryInfo.h>

using clang::SourceLocation;
using clang::Token;
using llvm::StringRef;

namespace kc
{

bool begins(StringRef name, StringRef with)
{
    return name.substr(0, with.size()) == with;
}

template <size_t N> static bool begins_with(StringRef name, const char *const (&list)[N])
{
    for (const char *one : list)
        if (begins(name, one))
            return true;
    return false;
}

static bool may_be_compilers(StringRef name);

/* A name that compilers may have as a macro or a word (C99, 6.10.8 and 7.1.3). An underscore before a small letter or a
 * digit makes it theirs for functions and variables at file scope alone, which same.cpp looks at. */
static bool is_reserved(StringRef name)
{
    if (!begins(name, "_"))
        return false;
    return name.size() == 1 || !(islower(name[1]) || isdigit(name[1])) || may_be_compilers(name.substr(1).upper());
}

/* Names that C and OpenCL reserve for compilers, and names that some compilers define although they may not. */
static bool may_be_compilers(StringRef name)
{
    static const char *const beginnings[] = {"cl_",  "CL_",   "CLK_", "CLC_", "CLANG",   "FP_",  "cles_",
                                             "unix", "linux", "i386", "LLVM", "INTTYPE", "IMG_", "MAX_WORK_DIM"};
    static const char *const parts[] = {"POCL",   "INTEL",    "ALTERA", "ACL",    "AOC",    "XILINX",  "NVIDIA",
                                        "AMD",    "FPGA",     "ARM",    "QCOM",   "GPU",    "DEVICE",  "OPENCL",
                                        "VENDOR", "PLATFORM", "APPLE",  "MALI",   "ADRENO", "MESA",    "CLOVER",
                                        "GRIND",  "SPIR",     "CUDA",   "ENDIAN", "NDEBUG", "RUSTICL", "EMULAT"};

    if (is_reserved(name) || begins_with(name, beginnings))
        return true;
    for (const char *part : parts)
        if (name.upper() == name.str() && name.find(part) != StringRef::npos)
            return true;
    return false;
}

/* Questions that compilers answer: of ids and sizes, and of what has a type of the language's own. Programs have many
 * such names, too (get_random). */
static bool may_be_question(StringRef name)
{
    static const char *const of[] = {"global", "local",   "group",  "num",     "work",    "enqueued", "sub",
                                     "max",    "linear",  "image",  "pipe",    "queue",   "fence",    "kernel",
                                     "event",  "default", "device", "compute", "clock",   "timer",    "intel",
                                     "amd",    "arm",     "qcom",   "nv",      "cl_",     "simd",     "wave",
                                     "warp",   "cluster", "id",     "size",    "address", "ptr",      "pointer"};

    return name.consume_front("get_") && begins_with(name, of);
}

/* Functions on memory that compilers declare: a program that defines one with pointer parameters may get an overload of
 * the vendor's instead. */
static bool may_be_overloaded(StringRef name)
{
    static const char *const beginnings[] = {
        "vload",     "vstore",     "async_",   "atom_",   "atomic_",  "sub_group", "work_group", "intel_",
        "amd_",      "arm_",       "qcom_",    "nv_",     "cl_",      "nd_",       "read_image", "write_image",
        "read_pipe", "write_pipe", "reserve_", "commit_", "enqueue_", "to_",       "pocl_",      "Sleef_"};
    static const char *const names[] = {"prefetch", "printf", "fract",  "frexp",   "lgamma_r",
                                        "modf",     "remquo", "sincos", "ndrange", "wait_group_events"};

    return begins_with(name, beginnings) || may_be_question(name) || is_one_of(name, names);
}

/* A function of C's library, whose meaning some compilers assume from the name alone: Intel's for CPUs compiles calls
 * of that name by this meaning, whatever the program's own function does. */
bool is_of_library(StringRef name)
{
    static const llvm::TargetLibraryInfoImpl library(llvm::Triple("x86_64-unknown-linux-gnu"));
    llvm::LibFunc function;

    return library.getLibFunc(name, function);
}

bool is_letter(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

clang::LangOptions raw_language()
{
    clang::LangOptions options;

    options.C99 = options.LineComment = options.HexFloats = options.Digraphs = true;
    return options;
}

/* Adds the names in a header of the language, without macro parameters and comments: those of functions and macros, or
 * all. */
static void add_names(StringRef header, bool all, llvm::StringSet<> &names)
{
    clang::LangOptions options = raw_language();
    clang::Lexer lexer(SourceLocation(), options, header.begin(), header.begin(), header.end());
    Token token;
    std::string last;
    bool skipping = false, defining = false;

    do {
        lexer.LexFromRawLexer(token);
        skipping = skipping && !token.isAtStartOfLine();
        if (token.is(clang::tok::l_paren) && !last.empty() && !skipping) {
            names.insert(last);
            skipping = defining;
        }
        defining = !skipping && last == "define";
        last = token.is(clang::tok::raw_identifier) ? token.getRawIdentifier().str() : "";
        if (!skipping && !last.empty() && (all || defining))
            names.insert(last);
    } while (token.isNot(clang::tok::eof));
}

static const llvm::StringSet<> &headers_names()
{
    static llvm::StringSet<> names;

    if (names.empty()) {
        add_names(kc_language_header, true, names);
        add_names(kc_functions_header, false, names);
    }
    return names;
}

/* A keyword in some version of C, C++ or OpenCL C. */
static bool is_of_some_c(StringRef name)
{
    clang::LangOptions options;
#if LLVM_VERSION_MAJOR < 18
    options.C2x = true;
#else
    options.C23 = true;
#endif
    options.C99 = options.C11 = options.GNUKeywords = options.Bool = true;
    options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus20 = options.OpenCL = options.Blocks = true;
    clang::IdentifierTable names(options);

    return names.get(name).getTokenID() != clang::tok::identifier;
}

bool is_known(StringRef name)
{
    static const char *const words[] = {"generic", "pipe",      "half",     "double",   "auto",    "class", "template",
                                        "this",    "typename",  "virtual",  "operator", "private", "bool",  "kernel",
                                        "defined", "namespace", "inline",   "restrict", "true",    "false", "asm",
                                        "complex", "imaginary", "longlong", "ulonglong"};
    static const char *const beginnings[] = {"native_", "half_",  "convert_", "as_",
                                             "read_",   "write_", "memory_",  "quad"};
    /* Beignet's and VC4CL's headers leave these defined. */
    static const char *const left[] = {"INF", "ALL_BITS_SET", "CONST", "PURE", "FLT_ONE", "M_LOG210"};
    static const char *const left_beginnings[] = {"DF_", "GEN_", "SIMPLE_", "FUNC_", "OVERLOAD"};

    return is_one_of(name, words) || begins_with(name, beginnings) || is_one_of(name, left) ||
           begins_with(name, left_beginnings) || may_be_overloaded(name) || is_of_some_c(name) ||
           headers_names().count(name);
}

/* The keywords among the reserved names. */
static bool is_keyword(StringRef name)
{
    static const char *const names[] = {"__kernel",    "__global",    "__local",      "__constant",   "__private",
                                        "__generic",   "__read_only", "__write_only", "__read_write", "__attribute__",
                                        "__attribute", "__const",     "__restrict",   "__restrict__", "__inline",
                                        "__inline__",  "__volatile",  "__volatile__"};

    return is_one_of(name, names);
}

bool is_harmless_attribute(StringRef name)
{
    static const char *const names[] = {"reqd_work_group_size",
                                        "work_group_size_hint",
                                        "vec_type_hint",
                                        "packed",
                                        "aligned",
                                        "always_inline",
                                        "noinline",
                                        "unused",
                                        "max_constant_size",
                                        "opencl_unroll_hint"};

    if (name.size() > 4 && begins(name, "__") && name.substr(name.size() - 2) == "__")
        name = name.substr(2, name.size() - 4);
    return is_one_of(name, names);
}

/* Words that aren't in OpenCL C, or not in all versions; some compilers evaluate the argument of vec_step(). */
static bool is_odd_word(StringRef name)
{
    static const char *const names[] = {"asm", "typeof", "typeof_unqual", "enqueue_kernel", "auto", "vec_step"};

    return is_one_of(name, names);
}

bool is_allowed(StringRef name)
{
    return !is_odd_word(name) && (is_keyword(name) || (begins(name, "_") && is_harmless_attribute(name)) ||
                                  begins(name, "CLK_") || !may_be_compilers(name));
}

bool is_own_name(StringRef name)
{
    return !begins(name, "_") && !may_be_compilers(name) && !may_be_compilers(name.upper()) && !is_known(name) &&
           !is_odd_word(name) && !is_harmless_attribute(name);
}

} // namespace kc
