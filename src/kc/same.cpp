#include "kc/same.hpp"

#include "kc/front.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/LexDiagnostic.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSet.h>
#include <vector>

namespace
{

using clang::SourceLocation;
using clang::Token;
using llvm::StringRef;

/* ---- Names ------------------------------------------------------------------------------------------------------- */

template <size_t N> bool is_one_of(StringRef name, const char *const (&list)[N])
{
    for (const char *one : list)
        if (name == one)
            return true;
    return false;
}

template <size_t N> bool begins_with(StringRef name, const char *const (&list)[N])
{
    for (const char *one : list)
        if (name.size() >= strlen(one) && name.substr(0, strlen(one)) == one)
            return true;
    return false;
}

/* Names that C leaves to compilers (C99, 7.1.3). */
bool is_reserved(StringRef name)
{
    return name.size() > 1 && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

/* Names that OpenCL leaves to compilers, and what some define though they may not. */
bool may_be_compilers(StringRef name)
{
    static const char *const beginnings[] = {"_",    "cl_",  "CL_",     "CLK_", "CLANG", "FP_", "unix", "linux",
                                             "i386", "LLVM", "INTTYPE", "IMG_", "MAX_WORK_DIM"};
    static const char *const parts[] = {"POCL", "INTEL", "ALTERA", "ACL", "AOC",    "XILINX", "NVIDIA", "AMD",
                                        "FPGA", "ARM",   "QCOM",   "GPU", "DEVICE", "OPENCL", "VENDOR", "PLATFORM"};

    if (begins_with(name, beginnings))
        return true;
    for (const char *part : parts)
        if (name.upper() == name.str() && name.find(part) != StringRef::npos)
            return true;
    return false;
}

/* Macros whose values OpenCL C gives itself (OpenCL C 3.0, 6.15.2, 6.4.4): those of numbers, and conversions of bits.
 */
bool is_of_the_language(StringRef name)
{
    static const char *const beginnings[] = {"FLT_", "DBL_", "M_", "as_"};
    static const char *const names[] = {"NULL",      "MAXFLOAT",  "HUGE_VALF", "HUGE_VAL", "INFINITY", "NAN",
                                        "CHAR_BIT",  "SCHAR_MAX", "SCHAR_MIN", "CHAR_MAX", "CHAR_MIN", "UCHAR_MAX",
                                        "USHRT_MAX", "SHRT_MAX",  "SHRT_MIN",  "UINT_MAX", "INT_MAX",  "INT_MIN",
                                        "ULONG_MAX", "LONG_MAX",  "LONG_MIN"};

    return begins_with(name, beginnings) || is_one_of(name, names);
}

/* Macros whose values are the compiler's own, and where they may stand so that the values make no difference. */
enum class Place { none, fence, sampler };

Place place_of(StringRef name)
{
    static const char *const fences[] = {"CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "CLK_IMAGE_MEM_FENCE"};
    static const char *const samplers[] = {"CLK_NORMALIZED_COORDS_", "CLK_ADDRESS_", "CLK_FILTER_"};

    return is_one_of(name, fences) ? Place::fence : begins_with(name, samplers) ? Place::sampler : Place::none;
}

const char *const fence_functions[] = {"barrier",        "work_group_barrier", "mem_fence",
                                       "read_mem_fence", "write_mem_fence",    "atomic_work_item_fence"};

/* Functions that compilers declare and that touch memory: who defines one of that name, of pointers, may get an
 * overload of the vendor's instead. */
bool may_be_overloaded(StringRef name)
{
    static const char *const beginnings[] = {
        "vload",     "vstore",     "async_", "atom_",    "atomic_", "sub_group", "work_group", "intel_",
        "amd_",      "arm_",       "qcom_",  "nv_",      "cl_",     "nd_",       "read_image", "write_image",
        "read_pipe", "write_pipe", "get_",   "reserve_", "commit_", "enqueue_"};
    static const char *const names[] = {"prefetch", "printf", "fract",  "frexp",   "lgamma_r",
                                        "modf",     "remquo", "sincos", "ndrange", "wait_group_events"};

    return begins_with(name, beginnings) || is_one_of(name, names);
}

bool is_letter(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Adds the names that a header of the language has, but its macros' arguments and what is in comments: of functions and
 * macros, or all there are. */
void add_names(StringRef header, bool all, llvm::StringSet<> &names)
{
    clang::LangOptions language;
    language.C99 = language.LineComment = true;
    clang::Lexer lexer(SourceLocation(), language, header.begin(), header.begin(), header.end());
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

const llvm::StringSet<> &headers_names()
{
    static llvm::StringSet<> names;

    if (names.empty()) {
        add_names(kc_language_header, true, names);
        add_names(kc_functions_header, false, names);
    }
    return names;
}

/* A keyword in some version of C or C++, or of OpenCL C. */
bool is_of_some_c(StringRef name)
{
    clang::LangOptions language;
    language.C99 = language.C11 = language.C23 = language.GNUKeywords = language.Bool = true;
    language.CPlusPlus = language.CPlusPlus11 = language.CPlusPlus20 = language.OpenCL = language.Blocks = true;
    clang::IdentifierTable names(language);

    return names.get(name).getTokenID() != clang::tok::identifier;
}

/* A name of the language, in any of its versions, or with any extension: compilers may have macros of these names. */
bool is_known(StringRef name)
{
    static const char *const words[] = {"generic", "pipe",      "half",    "double",   "auto",    "class", "template",
                                        "this",    "typename",  "virtual", "operator", "private", "bool",  "kernel",
                                        "defined", "namespace", "inline",  "restrict", "true",    "false", "asm"};
    static const char *const beginnings[] = {"native_", "half_", "convert_", "as_", "read_", "write_", "memory_"};

    return is_one_of(name, words) || begins_with(name, beginnings) || may_be_overloaded(name) || is_of_some_c(name) ||
           headers_names().count(name);
}

/* The keywords among the reserved names. */
bool is_keyword(StringRef name)
{
    static const char *const names[] = {"__kernel",    "__global",    "__local",      "__constant",   "__private",
                                        "__generic",   "__read_only", "__write_only", "__read_write", "__attribute__",
                                        "__attribute", "__const",     "__restrict",   "__restrict__", "__inline",
                                        "__inline__",  "__volatile",  "__volatile__"};

    return is_one_of(name, names);
}

/* Attributes that change nothing of what is done to memory. */
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
                                        "opencl_unroll_hint"};

    if (name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__")
        name = name.substr(2, name.size() - 4);
    return is_one_of(name, names);
}

/* ---- The text ---------------------------------------------------------------------------------------------------- */

bool is_trigraph(StringRef text, size_t at)
{
    return text.substr(at, 2) == "??" && at + 2 < text.size() &&
           StringRef("=/'()!<>-").find(text[at + 2]) != StringRef::npos;
}

/* A line that goes on behind blanks, for some. */
bool is_loose_continuation(StringRef text, size_t at)
{
    size_t end = text[at] == '\\' ? text.find_first_not_of(" \t\v\f", at + 1) : StringRef::npos;

    return end != StringRef::npos && end > at + 1 && (text[end] == '\n' || text[end] == '\r');
}

bool is_lone_return(StringRef text, size_t at)
{
    return text[at] == '\r' && (at + 1 == text.size() || text[at + 1] != '\n');
}

/* Where compilers may disagree on what the lines are, or which of them are directives: C has these two since 2023. */
bool has_odd_lines(StringRef text)
{
    if (text.find("elifdef") != StringRef::npos || text.find("elifndef") != StringRef::npos)
        return true;
    for (size_t i = 0; i < text.size(); i++)
        if (is_trigraph(text, i) || is_loose_continuation(text, i) || is_lone_return(text, i))
            return true;
    return false;
}

/* Nothing on the first line that another line could be part of, or that isn't ended. */
bool is_plain(StringRef text)
{
    StringRef line = text.substr(0, text.find('\n'));

    return line.find_first_of("'\\/") == StringRef::npos && line.count('"') % 2 == 0;
}

/* ---- Groups that do nothing -------------------------------------------------------------------------------------- */

/* Offsets in the text of #if … #endif with nothing inside but directives that are as good as none: whether such a group
 * is taken makes no difference. */
struct Idle {
    std::vector<std::pair<unsigned, unsigned>> groups;

    bool has(unsigned offset) const
    {
        for (const auto &group : groups)
            if (offset >= group.first && offset < group.second)
                return true;
        return false;
    }
};

class IdleReader
{
  public:
    IdleReader(const clang::SourceManager &sources, const clang::LangOptions &language, Idle &found)
        : idle(found), text(sources.getBufferData(sources.getMainFileID())),
          lexer(sources.getLocForStartOfFile(sources.getMainFileID()), language, text.begin(), text.begin(), text.end())
    {
        lexer.LexFromRawLexer(token);
    }
    void read()
    {
        while (token.isNot(clang::tok::eof))
            if (token.is(clang::tok::hash) && token.isAtStartOfLine())
                directive();
            else {
                spoil();
                lexer.LexFromRawLexer(token);
            }
    }

  private:
    struct Group {
        unsigned begin;
        bool idle;
    };
    Idle &idle;
    StringRef text;
    clang::Lexer lexer;
    Token token;
    std::vector<Group> open;

    unsigned offset() const
    {
        return (unsigned)(lexer.getBufferLocation() - text.begin()) - token.getLength();
    }
    void spoil()
    {
        for (Group &group : open)
            group.idle = false;
    }
    /* The next word of the line; empty where there is none. */
    StringRef word()
    {
        lexer.LexFromRawLexer(token);
        if (token.isAtStartOfLine() || token.isNot(clang::tok::raw_identifier))
            return StringRef();
        return token.getRawIdentifier();
    }
    void skip_line()
    {
        while (token.isNot(clang::tok::eof) && !token.isAtStartOfLine())
            lexer.LexFromRawLexer(token);
    }
    /* Taken and skipped it must be the same line. */
    bool is_plain_line() const
    {
        return is_plain(text.substr((size_t)(lexer.getBufferLocation() - text.begin())));
    }
    void close()
    {
        if (open.empty())
            return;
        Group group = open.back();
        open.pop_back();
        if (group.idle)
            idle.groups.emplace_back(group.begin, offset() + token.getLength());
    }
    void directive()
    {
        unsigned begin = offset();
        std::string name = word().str();

        if ((name == "error" || name == "warning") && !is_plain_line())
            spoil();
        if (name == "if" || name == "ifdef" || name == "ifndef")
            open.push_back({begin, true});
        else if (name == "endif")
            close();
        else if (name == "pragma" ? word() != "OPENCL"
                                  : name != "else" && name != "elif" && name != "error" && name != "warning")
            spoil();
        if (!token.isAtStartOfLine())
            skip_line();
    }
};

/* ---- What may stand in the text ---------------------------------------------------------------------------------- */

/* at: the name behind "#ifndef". Is "#define" with that name right behind it: does the program say that it is its own?
 */
bool has_default(StringRef all, const char *at, const clang::LangOptions &language)
{
    clang::Lexer lexer(SourceLocation(), language, all.begin(), at, all.end());
    Token name, hash, define, defined;

    lexer.LexFromRawLexer(name);
    lexer.LexFromRawLexer(hash);
    lexer.LexFromRawLexer(define);
    lexer.LexFromRawLexer(defined);
    return name.is(clang::tok::raw_identifier) && !may_be_compilers(name.getRawIdentifier()) &&
           !is_known(name.getRawIdentifier()) && hash.is(clang::tok::hash) && hash.isAtStartOfLine() &&
           define.is(clang::tok::raw_identifier) && define.getRawIdentifier() == "define" &&
           defined.is(clang::tok::raw_identifier) && defined.getRawIdentifier() == name.getRawIdentifier();
}

/* Reads a text word by word, macros' bodies, arguments and what is skipped included, and refuses what isn't known to be
 * the same for all. Doesn't rely on what Clang tells of its preprocessing: a name that is no macro for us is nothing to it.
 */
class Strict {
  public:
    Strict(kc::Same &found, const clang::LangOptions &of) : same(found), language(of)
    {
    }

    /* Only -D, and options of OpenCL's, with blanks between. */
    void read_options(StringRef options)
    {
        llvm::SmallVector<StringRef, 16> words;

        options.split(words, ' ', -1, false);
        for (size_t i = 0; i < words.size(); i++) {
            if (words[i] == "-D" && i + 1 < words.size())
                read_definition(words[++i]);
            else if (words[i].size() > 2 && words[i].substr(0, 2) == "-D")
                read_definition(words[i].substr(2));
            else if (words[i].substr(0, 4) != "-cl-" && words[i] != "-w" && words[i] != "-Werror")
                refuse("the option " + words[i].str());
        }
    }
    void read_text(StringRef source, const Idle &without)
    {
        begin(source);
        idle = &without;
        while (token.isNot(clang::tok::eof)) {
            if (idle->has(offset())) {
                check_form();
                check_place();
                next();
            } else if (token.is(clang::tok::hash) && token.isAtStartOfLine())
                directive();
            else {
                check();
                count();
                next();
            }
        }
    }

  private:
    kc::Same &same;
    const clang::LangOptions &language;
    const Idle *idle = nullptr;
    StringRef text;
    std::unique_ptr<clang::Lexer> lexer;
    Token token;
    llvm::StringMap<bool> own; /* macros that are there whatever the conditions; true: a decimal number */
    llvm::StringSet<> defined; /* by the text, conditions or not */
    std::vector<bool> open;    /* groups; true: what is in it is there anyhow */
    int depth = 0;             /* of parentheses, in what is no directive */
    bool after_word = false;   /* so is what stood last */

    void begin(StringRef what)
    {
        text = what;
        lexer = std::make_unique<clang::Lexer>(SourceLocation(), language, text.begin(), text.begin(), text.end());
        next();
    }
    void next()
    {
        lexer->LexFromRawLexer(token);
    }
    unsigned offset() const
    {
        return (unsigned)(lexer->getBufferLocation() - text.begin()) - token.getLength();
    }
    StringRef spelling() const
    {
        return text.substr(offset(), token.getLength());
    }
    bool is_end() const
    {
        return token.is(clang::tok::eof) || token.isAtStartOfLine();
    }
    void refuse(const std::string &what)
    {
        same.differs((idle ? "line " + std::to_string(text.substr(0, offset()).count('\n') + 1) + ": it has " : "it has ") +
                     what);
    }
    /* A name of the condition, or whatever stands there. */
    void refuse_condition()
    {
        refuse("a condition on " + (token.is(clang::tok::eof) ? "nothing" : spelling().str()) +
               ", which isn't a number or name of its own");
    }
    bool is_word(StringRef name) const
    {
        return token.is(clang::tok::raw_identifier) && token.getRawIdentifier() == name;
    }
    static bool is_decimal(StringRef number)
    {
        return number.size() < 10 && number.find_first_not_of("0123456789") == StringRef::npos &&
               (number.size() == 1 || number[0] != '0');
    }
    static bool is_long_long(StringRef number)
    {
        while (!number.empty() && (number.back() == 'u' || number.back() == 'U'))
            number = number.drop_back();
        return number.size() > 2 && number.substr(number.size() - 2).lower() == "ll";
    }
    static bool is_allowed(StringRef name)
    {
        return is_keyword(name) || place_of(name) != Place::none || (is_reserved(name) && is_harmless_attribute(name)) ||
               !may_be_compilers(name);
    }

    /* Is what the token is, and where it ends, the same for all? */
    void check_form()
    {
        StringRef spelled = spelling();
        bool text_itself = token.isOneOf(clang::tok::string_literal, clang::tok::char_constant);

        if (token.isOneOf(clang::tok::unknown, clang::tok::at))
            refuse("odd characters");
        else if (token.needsCleaning() || token.hasUCN() || spelled.find_first_of("$`") != StringRef::npos ||
                 spelled.find("\\u") != StringRef::npos || spelled.find("\\U") != StringRef::npos)
            refuse("words across lines, or odd letters");
        else if (!text_itself && spelled.find_first_of("\"'\\") != StringRef::npos)
            refuse("odd text");
        else if (token.isOneOf(clang::tok::hash, clang::tok::l_square, clang::tok::r_square, clang::tok::l_brace,
                               clang::tok::r_brace) &&
                 token.getLength() > 1)
            refuse("digraphs");
        for (char c : spelled)
            if ((unsigned char)c > 127 && token.isNot(clang::tok::string_literal))
                refuse("odd letters");
    }
    /* Parentheses, and what stood last. */
    void count()
    {
        depth += token.is(clang::tok::l_paren);
        depth -= token.is(clang::tok::r_paren);
        after_word = token.is(clang::tok::raw_identifier);
    }
    /* Between a macro's name and its arguments, or among these, C leaves open what a directive does. */
    void check_place()
    {
        if (depth || after_word)
            refuse("a directive that may be among a macro's arguments");
    }
    /* A token, wherever it stands. */
    void check()
    {
        StringRef spelled = spelling();

        check_form();
        if (token.isOneOf(clang::tok::hash, clang::tok::hashhash, clang::tok::hashat))
            refuse("operators of the preprocessor");
        else if (token.is(clang::tok::raw_identifier) && !is_allowed(token.getRawIdentifier()))
            refuse(token.getRawIdentifier().str());
        else if (token.is(clang::tok::numeric_constant) && is_long_long(spelled))
            refuse("numbers of an unknown width");
    }
    void skip_line(bool checking)
    {
        for (; !is_end(); next())
            if (checking)
                check();
    }

    /* The rest of the line, or text, is what a macro stands for. True: a decimal number. */
    bool read_body()
    {
        bool number = token.is(clang::tok::numeric_constant) && !is_end() && is_decimal(spelling());
        unsigned n = 0;
        int inside = 0;

        for (; !is_end(); next(), n++) {
            check();
            inside += token.is(clang::tok::l_paren) ? 1 : token.is(clang::tok::r_paren) ? -1 : 0;
            if (inside < 0 || (n == 0 && token.is(clang::tok::caret)))
                refuse("odd macros");
        }
        if (inside)
            refuse("odd macros");
        return number && n == 1;
    }
    bool is_unconditional() const
    {
        for (bool group : open)
            if (!group)
                return false;
        return true;
    }
    void add(StringRef name, bool number)
    {
        auto known = own.find(name);

        if (known != own.end())
            known->second = known->second && number;
        else if (is_unconditional() && defined.insert(name).second)
            own[name] = number;
        defined.insert(name);
    }
    void check_name(StringRef name)
    {
        if (may_be_compilers(name) || may_be_compilers(name.upper()) || is_known(name))
            refuse("a macro of the name " + name.str());
    }
    void read_definition(StringRef definition)
    {
        std::string name = definition.substr(0, definition.find('=')).str(), value;
        bool odd = name.empty() || (name[0] >= '0' && name[0] <= '9');

        for (char c : name)
            odd |= !is_letter(c);
        if (odd || own.count(name)) {
            refuse("odd definitions among its options");
            return;
        }
        check_name(name);
        value = definition.find('=') == StringRef::npos ? "1" : definition.substr(definition.find('=') + 1).str();
        if (value.find("//") != std::string::npos || value.find("/*") != std::string::npos)
            refuse("odd definitions among its options");
        begin(value);
        own[name] = read_first();
        lexer.reset();
    }
    /* The first token of a text is at the start of a line. */
    bool read_first()
    {
        bool number = token.is(clang::tok::numeric_constant) && is_decimal(spelling());

        if (token.is(clang::tok::eof))
            return false;
        check();
        next();
        if (token.is(clang::tok::eof))
            return number;
        skip_line(true);
        if (token.isNot(clang::tok::eof))
            refuse("odd definitions among its options");
        return false;
    }

    void define()
    {
        std::string name;
        bool function;

        if (is_end() || token.isNot(clang::tok::raw_identifier)) {
            refuse("odd directives");
            return;
        }
        check();
        name = token.getRawIdentifier().str();
        check_name(name);
        next();
        function = !is_end() && token.is(clang::tok::l_paren) && !token.hasLeadingSpace();
        if (function) {
            for (next(); !is_end() && token.isNot(clang::tok::r_paren); next()) {
                check();
                if (token.isNot(clang::tok::raw_identifier) && token.isNot(clang::tok::comma))
                    refuse("macros of any number of arguments");
            }
            if (!is_end())
                next();
        }
        bool number = read_body();
        add(name, number && !function);
    }
    void undefine()
    {
        if (is_end() || token.isNot(clang::tok::raw_identifier) || !defined.count(token.getRawIdentifier())) {
            refuse("odd directives");
            return;
        }
        check_name(token.getRawIdentifier());
        own.erase(token.getRawIdentifier());
        next();
    }
    /* "defined NAME", "defined(NAME)": of names that are there, or were here for certain. */
    void check_defined()
    {
        next();
        if (!is_end() && token.is(clang::tok::l_paren))
            next();
        if (is_end() || token.isNot(clang::tok::raw_identifier) || !own.count(token.getRawIdentifier()))
            refuse_condition();
    }
    void condition()
    {
        for (; !is_end(); next()) {
            check();
            if (is_word("defined"))
                check_defined();
            else if (token.is(clang::tok::raw_identifier)
                         ? !own.lookup(token.getRawIdentifier())
                         : token.is(clang::tok::numeric_constant) ? !is_decimal(spelling()) : !is_operator())
                refuse_condition();
            if (is_end())
                break;
        }
    }
    bool is_operator() const
    {
        using namespace clang;
        return token.isOneOf(tok::l_paren, tok::r_paren, tok::exclaim, tok::tilde, tok::plus, tok::minus, tok::star,
                             tok::slash, tok::percent, tok::less, tok::greater, tok::lessequal, tok::greaterequal,
                             tok::equalequal, tok::exclaimequal, tok::ampamp, tok::pipepipe, tok::amp, tok::pipe) ||
               token.isOneOf(tok::caret, tok::question, tok::colon);
    }
    void on_name(bool negative)
    {
        bool name = !is_end() && token.is(clang::tok::raw_identifier), whole;

        if (!name) {
            refuse("odd directives");
            open.push_back(false);
            return;
        }
        whole = negative && has_default(text, text.begin() + offset(), language);
        check();
        if (!whole && !own.count(token.getRawIdentifier()))
            refuse_condition();
        open.push_back(whole && !own.count(token.getRawIdentifier()) && !defined.count(token.getRawIdentifier()));
        next();
    }
    void pragma()
    {
        bool language_own = !is_end() && is_word("OPENCL");

        if (!language_own && (is_end() || !is_word("unroll")))
            refuse("a pragma that isn't OpenCL C's");
        for (; !is_end(); next()) {
            check_form();
            if (language_own ? token.isNot(clang::tok::raw_identifier) && token.isNot(clang::tok::colon)
                             : !token.isOneOf(clang::tok::raw_identifier, clang::tok::numeric_constant,
                                              clang::tok::l_paren, clang::tok::r_paren))
                refuse("an odd pragma");
            if (!language_own)
                check();
        }
    }
    void directive()
    {
        std::string name;

        check_form();
        check_place();
        next();
        if (is_end() || token.isNot(clang::tok::raw_identifier) || token.needsCleaning()) {
            refuse("odd directives");
            skip_line(false);
            return;
        }
        name = token.getRawIdentifier().str();
        if (name == "error" || name == "warning") {
            message_of_line();
            return;
        }
        next();
        if (name == "define")
            define();
        else if (name == "undef")
            undefine();
        else if (name == "ifdef" || name == "ifndef")
            on_name(name == "ifndef");
        else if (name == "if") {
            condition();
            open.push_back(false);
        } else if (name == "elif" && !open.empty()) {
            open.back() = false;
            condition();
        }
        else if (name == "endif" && !open.empty())
            open.pop_back();
        else if (name == "else" && !open.empty())
            open.back() = false;
        else if (name == "pragma")
            pragma();
        else
            refuse("a directive #" + name);
        if (!is_end()) {
            refuse("odd directives");
            skip_line(false);
        }
    }
    void message_of_line()
    {
        if (!is_plain(text.substr((size_t)(lexer->getBufferLocation() - text.begin()))))
            refuse("odd messages");
        next();
        skip_line(false);
    }
};

/* ---- Everything together ----------------------------------------------------------------------------------------- */

class Watcher
{
  public:
    Watcher(kc::Same &found, clang::CompilerInstance &compiler, StringRef options)
        : same(found), preprocessor(compiler.getPreprocessor()), sources(compiler.getSourceManager())
    {
        Strict strict(found, compiler.getLangOpts());

        IdleReader(sources, compiler.getLangOpts(), idle).read();
        strict.read_options(options);
        strict.read_text(sources.getBufferData(sources.getMainFileID()), idle);
    }

    bool is_in_text(SourceLocation at) const
    {
        return sources.getFileID(sources.getExpansionLoc(at)) == sources.getMainFileID();
    }
    bool is_idle(SourceLocation at) const
    {
        return is_in_text(at) && idle.has(sources.getFileOffset(sources.getExpansionLoc(at)));
    }
    /* Does the program say what the macro is: in its text, or by -D, where names that may be compilers' are ours, too?
     */
    bool is_programs(StringRef name, const clang::MacroInfo *macro) const
    {
        SourceLocation at = macro ? macro->getDefinitionLoc() : SourceLocation();

        if (!macro || macro->isBuiltinMacro() || at.isInvalid())
            return false;
        if (sources.getFileID(at) == sources.getMainFileID())
            return true;
        return sources.getFileID(at) == preprocessor.getPredefinesFileID() && sources.isWrittenInCommandLineFile(at) &&
               !may_be_compilers(name);
    }
    void differs(const std::string &why, SourceLocation at)
    {
        SourceLocation place = sources.getExpansionLoc(at);

        same.differs("line " + std::to_string(sources.getSpellingLineNumber(place)) + ": " + why);
    }

    kc::Same &same;
    clang::Preprocessor &preprocessor;
    const clang::SourceManager &sources;
    Idle idle;
    /* Where the values of macros stand that may be in certain places alone. */
    llvm::DenseMap<SourceLocation, Place> bound;
};

/* ---- Directives -------------------------------------------------------------------------------------------------- */

class Directives : public clang::PPCallbacks
{
  public:
    explicit Directives(std::shared_ptr<Watcher> all) : w(std::move(all))
    {
    }

    void MacroExpands(const Token &name, const clang::MacroDefinition &definition, clang::SourceRange,
                      const clang::MacroArgs *) override
    {
        StringRef text = name.getIdentifierInfo()->getName();
        const clang::MacroInfo *macro = definition.getMacroInfo();
        SourceLocation at = name.getLocation();

        if (!w->is_in_text(at) || w->is_idle(at) || w->is_programs(text, macro))
            return;
        if (!macro->isBuiltinMacro() && is_of_the_language(text))
            return;
        if (!macro->isBuiltinMacro() && place_of(text) != Place::none && !w->preprocessor.isParsingIfOrElifDirective())
            for (const Token &token : macro->tokens())
                w->bound[token.getLocation()] = place_of(text);
        else
            w->differs("it uses " + text.str() + ", which is the compiler's", at);
    }
    void MacroDefined(const Token &name, const clang::MacroDirective *directive) override
    {
        const clang::MacroDirective *before = directive->getPrevious();

        /* Which of two holds isn't said anywhere; but the same again is allowed (C99, 6.10.3). */
        if (before && before->getMacroInfo() && !clang::isa<clang::UndefMacroDirective>(before) &&
            (w->is_in_text(name.getLocation()) || w->sources.isWrittenInCommandLineFile(name.getLocation())) &&
            !directive->getMacroInfo()->isIdenticalTo(*before->getMacroInfo(), w->preprocessor, false))
            w->differs("it defines " + name.getIdentifierInfo()->getName().str() + " again", name.getLocation());
    }
    void Defined(const Token &name, const clang::MacroDefinition &definition, clang::SourceRange) override
    {
        asks(name, definition);
    }
    void Ifdef(SourceLocation, const Token &name, const clang::MacroDefinition &definition) override
    {
        asks(name, definition);
    }
    void Ifndef(SourceLocation, const Token &name, const clang::MacroDefinition &definition) override
    {
        if (!definition && is_default(name))
            return;
        asks(name, definition);
    }
    void PragmaDirective(SourceLocation at, clang::PragmaIntroducerKind kind) override
    {
        if (w->is_in_text(at) && (kind != clang::PIK_HashPragma || !is_harmless_pragma(at)))
            w->differs("it has a pragma that isn't OpenCL C's", at);
    }
    void FileChanged(SourceLocation at, FileChangeReason reason, clang::SrcMgr::CharacteristicKind,
                     clang::FileID) override
    {
        SourceLocation from = w->sources.getIncludeLoc(w->sources.getFileID(at));

        if (reason == EnterFile && from.isValid() && w->is_in_text(from))
            includes(from);
    }
    void FileSkipped(const clang::FileEntryRef &, const Token &name, clang::SrcMgr::CharacteristicKind) override
    {
        if (w->is_in_text(name.getLocation()))
            includes(name.getLocation());
    }

  private:
    std::shared_ptr<Watcher> w;

    void includes(SourceLocation at)
    {
        w->differs("it includes a file", at);
    }
    void asks(const Token &name, const clang::MacroDefinition &definition)
    {
        StringRef text = name.getIdentifierInfo()->getName();

        if (w->is_in_text(name.getLocation()) && !w->is_idle(name.getLocation()) &&
            !w->is_programs(text, definition.getMacroInfo()))
            w->differs("it asks for " + text.str(), name.getLocation());
    }
    bool is_default(const Token &name) const
    {
        StringRef all = w->sources.getBufferData(w->sources.getFileID(name.getLocation()));

        return has_default(all, w->sources.getCharacterData(name.getLocation()), w->preprocessor.getLangOpts());
    }
    /* at: where "#pragma" stands, or what is behind it. */
    bool is_harmless_pragma(SourceLocation at) const
    {
        StringRef all = w->sources.getBufferData(w->sources.getFileID(at));
        clang::Lexer lexer(at, w->preprocessor.getLangOpts(), all.begin(), w->sources.getCharacterData(at), all.end());
        Token token;

        do
            lexer.LexFromRawLexer(token);
        while (token.is(clang::tok::hash) ||
               (token.is(clang::tok::raw_identifier) && token.getRawIdentifier() == "pragma"));
        return token.is(clang::tok::raw_identifier) &&
               (token.getRawIdentifier() == "OPENCL" || token.getRawIdentifier() == "unroll");
    }
};

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Every token that the parser gets, once, in order. */
class Words
{
  public:
    explicit Words(std::shared_ptr<Watcher> all) : w(std::move(all))
    {
    }

    void operator()(const Token &token)
    {
        if (token.isAnnotation() || !w->is_in_text(token.getLocation()))
            return;
        SourceLocation spelled = w->sources.getSpellingLoc(token.getLocation());
        const clang::IdentifierInfo *name = token.getIdentifierInfo();

        bind(token, name, w->bound.lookup(spelled));
        if (name && !is_headers(spelled))
            word(token, name->getName());
        if (token.is(clang::tok::l_square) && last_is_square)
            w->differs("it has attributes in brackets", token.getLocation());
        last_is_square = token.is(clang::tok::l_square);
        if (token.is(clang::tok::caret) && !last_is_value)
            w->differs("it has blocks", token.getLocation());
        last_is_value = token.isOneOf(clang::tok::identifier, clang::tok::numeric_constant, clang::tok::char_constant,
                                      clang::tok::r_paren, clang::tok::r_square);
        attribute(token, name);
    }

  private:
    std::shared_ptr<Watcher> w;
    bool last_is_square = false, last_is_value = false;
    /* __attribute__((…)): in one; how many parentheses are open. */
    bool in_attribute = false;
    unsigned depth = 0;
    /* barrier(…), sampler_t s = …: in one, from its first parenthesis or '='; before that, waiting for it. */
    Place place = Place::none, waiting = Place::none;
    unsigned place_depth = 0;
    bool plain = true, has_bound = false;

    /* Of Clang's own header of OpenCL C, by a macro that was looked at already. */
    bool is_headers(SourceLocation spelled) const
    {
        clang::FileID file = w->sources.getFileID(spelled);

        return file != w->sources.getMainFileID() && file != w->preprocessor.getPredefinesFileID() &&
               w->sources.getFileEntryForID(file);
    }
    void word(const Token &token, StringRef name)
    {
        static const char *const others[] = {"asm", "typeof", "typeof_unqual", "enqueue_kernel", "auto"};

        if ((is_reserved(name) && !is_keyword(name) && !(in_attribute && depth == 2)) || is_one_of(name, others))
            w->differs("it has " + name.str(), token.getLocation());
    }
    void attribute(const Token &token, const clang::IdentifierInfo *name)
    {
        if (name && (name->getName() == "__attribute__" || name->getName() == "__attribute")) {
            in_attribute = true;
            depth = 0;
        } else if (in_attribute && token.is(clang::tok::l_paren))
            depth++;
        else if (in_attribute && token.is(clang::tok::r_paren))
            in_attribute = depth > 0 && --depth > 0;
        else if (in_attribute && depth == 2 && name && !is_harmless_attribute(name->getName()))
            w->differs("it has the attribute " + name->getName().str(), token.getLocation());
    }

    void enter(Place where)
    {
        place = where;
        waiting = Place::none;
        place_depth = 0;
        plain = true;
        has_bound = false;
    }
    /* The place begins with '(' or '=', if it is one. */
    void wait(const Token &token, const clang::IdentifierInfo *name)
    {
        if (waiting == Place::fence && token.is(clang::tok::l_paren)) {
            enter(Place::fence);
            place_depth = 1;
        } else if (waiting == Place::sampler && token.is(clang::tok::equal))
            enter(Place::sampler);
        else if (name && is_one_of(name->getName(), fence_functions))
            waiting = Place::fence;
        else if (name && name->getName() == "sampler_t")
            waiting = Place::sampler;
        else if (!(waiting == Place::sampler && name))
            waiting = Place::none;
    }
    static bool is_plain(const Token &token, const clang::IdentifierInfo *name)
    {
        static const char *const memory[] = {"memory_order_", "memory_scope_"};

        return token.isOneOf(clang::tok::numeric_constant, clang::tok::pipe, clang::tok::comma) ||
               (name && begins_with(name->getName(), memory));
    }
    /* One more token of the place; false: it is over. */
    bool goes_on(const Token &token, const clang::IdentifierInfo *name)
    {
        if (token.is(clang::tok::l_paren))
            place_depth++;
        else if (token.is(clang::tok::r_paren))
            return place_depth > 0 && --place_depth > 0;
        else if (place == Place::sampler && token.isOneOf(clang::tok::semi, clang::tok::comma))
            return false;
        else
            plain = plain && is_plain(token, name);
        return true;
    }
    /* Are values that are the compiler's where they make no difference? */
    void bind(const Token &token, const clang::IdentifierInfo *name, Place where)
    {
        if (where != Place::none && where != place)
            w->differs("it uses a constant whose value is the compiler's", token.getLocation());
        if (place == Place::none) {
            wait(token, name);
            return;
        }
        has_bound |= where != Place::none;
        bool more = goes_on(token, name) || (place == Place::sampler && token.is(clang::tok::r_paren));
        if (has_bound && !plain)
            w->differs("it computes with a constant whose value is the compiler's", token.getLocation());
        if (!more)
            place = Place::none;
    }
};

/* ---- Declarations and statements --------------------------------------------------------------------------------- */

/* Clang leaves out what a constant condition never takes, so that must be constant, and the same, for all. */
class Conditions
{
  public:
    Conditions(Watcher &all, clang::ASTContext &of) : w(all), context(of)
    {
    }

    void visit(const clang::VarDecl *variable)
    {
        if (variable->getInit())
            visit(variable->getInit());
    }
    void visit(const clang::FunctionDecl *function)
    {
        if (function->getIdentifier() && (is_one_of(function->getName(), fence_functions) ||
                                          (has_pointers(function) && is_known(function->getName()))))
            w.differs("it has a function " + function->getName().str() + " of its own", function->getLocation());
        if (function->doesThisDeclarationHaveABody())
            visit(function->getBody());
    }

  private:
    Watcher &w;
    clang::ASTContext &context;

    void visit(const clang::Stmt *at)
    {
        if (clang::isa<clang::BlockExpr>(at))
            w.differs("it has blocks", at->getBeginLoc());
        conditions_of(at);
        for (const clang::Stmt *child : at->children())
            if (child)
                visit(child);
    }
    template <class Kind> static const clang::Expr *condition_of(const clang::Stmt *at)
    {
        const auto *kind = clang::dyn_cast<Kind>(at);

        return kind ? kind->getCond() : nullptr;
    }
    void conditions_of(const clang::Stmt *at)
    {
        look(condition_of<clang::IfStmt>(at));
        look(condition_of<clang::WhileStmt>(at));
        look(condition_of<clang::DoStmt>(at));
        look(condition_of<clang::ForStmt>(at));
        look(condition_of<clang::SwitchStmt>(at));
        look(condition_of<clang::ConditionalOperator>(at));
        if (const auto *label = clang::dyn_cast<clang::CaseStmt>(at))
            if (!is_whole(label->getLHS(), 64) || (label->getRHS() && !is_whole(label->getRHS(), 64)))
                w.differs("what a case is may be the compiler's choice", label->getBeginLoc());
        if (const auto *choice = clang::dyn_cast<clang::BinaryConditionalOperator>(at))
            look(choice->getCommon());
        const auto *operation = clang::dyn_cast<clang::BinaryOperator>(at);
        if (operation && operation->isLogicalOp()) {
            look(operation->getLHS());
            look(operation->getRHS());
        }
    }
    static bool has_pointers(const clang::FunctionDecl *function)
    {
        for (const clang::ParmVarDecl *parameter : function->parameters())
            if (parameter->getType()->isPointerType())
                return true;
        return false;
    }
    void look(const clang::Expr *condition)
    {
        clang::Expr::EvalResult result;
        bool value;

        if (condition && !condition->isValueDependent() &&
            (condition->EvaluateAsBooleanCondition(value, context) ||
             condition->EvaluateAsInt(result, context, clang::Expr::SE_AllowSideEffects)) &&
            !is_whole(condition, 64))
            w.differs("what a constant condition is may be the compiler's choice", condition->getExprLoc());
    }
    bool are_whole(const clang::Stmt *of, unsigned depth) const
    {
        for (const clang::Stmt *child : of->children())
            if (!child || !clang::isa<clang::Expr>(child) || !is_whole(clang::cast<clang::Expr>(child), depth))
                return false;
        return true;
    }
    /* Not size_t and the like, which have as many bits as the device's addresses. */
    bool is_fixed(clang::QualType type) const
    {
        static const char *const names[] = {"uchar", "ushort", "uint", "ulong"};

        for (clang::QualType next;; type = next) {
            const auto *name = clang::dyn_cast<clang::TypedefType>(type.getTypePtr());

            if (name && !w.is_in_text(name->getDecl()->getLocation()) && !is_one_of(name->getDecl()->getName(), names))
                return false;
            next = type.getSingleStepDesugaredType(context);
            if (next == type)
                return true;
        }
    }
    /* Made of whole numbers and operators on them, alone: those are OpenCL C's own. */
    bool is_whole(const clang::Expr *e, unsigned depth) const
    {
        clang::QualType type = e->getType().getCanonicalType();

        if (!depth-- || !type->isIntegerType() || type->isEnumeralType() || !type->isBuiltinType() ||
            !is_fixed(e->getType()))
            return false;
        if (const auto *character = clang::dyn_cast<clang::CharacterLiteral>(e))
            return character->getValue() < 128;
        if (const auto *name = clang::dyn_cast<clang::DeclRefExpr>(e))
            return is_whole(name->getDecl(), depth);
        if (const auto *operation = clang::dyn_cast<clang::BinaryOperator>(e))
            return !operation->isAssignmentOp() && !operation->isCommaOp() && are_whole(e, depth);
        if (const auto *operation = clang::dyn_cast<clang::UnaryOperator>(e))
            return operation->isArithmeticOp() && are_whole(e, depth);
        if (clang::isa<clang::IntegerLiteral>(e))
            return true;
        return (clang::isa<clang::ParenExpr>(e) || clang::isa<clang::CastExpr>(e) ||
                clang::isa<clang::ConstantExpr>(e) || clang::isa<clang::ConditionalOperator>(e)) &&
               are_whole(e, depth);
    }
    bool is_whole(const clang::ValueDecl *name, unsigned depth) const
    {
        if (!w.is_in_text(name->getLocation()))
            return false;
        if (const auto *variable = clang::dyn_cast<clang::VarDecl>(name))
            return variable->getAnyInitializer() && is_whole(variable->getAnyInitializer(), depth);
        const auto *constant = clang::dyn_cast<clang::EnumConstantDecl>(name);
        if (!constant)
            return false;
        for (const clang::EnumConstantDecl *one :
             clang::cast<clang::EnumDecl>(constant->getDeclContext())->enumerators())
            if (one->getInitExpr() && !is_whole(one->getInitExpr(), depth))
                return false;
        return true;
    }
};

class Declarations : public clang::ASTConsumer
{
  public:
    explicit Declarations(std::shared_ptr<Watcher> all) : w(std::move(all))
    {
    }
    void Initialize(clang::ASTContext &of) override
    {
        context = &of;
    }
    bool HandleTopLevelDecl(clang::DeclGroupRef group) override
    {
        for (clang::Decl *one : group)
            if (!w->is_in_text(one->getLocation()))
                continue;
            else if (const auto *function = clang::dyn_cast<clang::FunctionDecl>(one))
                Conditions(*w, *context).visit(function);
            else if (const auto *variable = clang::dyn_cast<clang::VarDecl>(one))
                Conditions(*w, *context).visit(variable);
        return true;
    }

  private:
    std::shared_ptr<Watcher> w;
    clang::ASTContext *context = nullptr;
};

} // namespace

/* ---- From outside ------------------------------------------------------------------------------------------------ */

kc::Same::Same(const char *source, const char *of_build) : options(of_build)
{
    if (has_odd_lines(source))
        differs("compilers may disagree on what its lines are");
}

void kc::Same::differs(const std::string &why)
{
    if (reason.empty())
        reason = why;
}

std::unique_ptr<clang::ASTConsumer> kc::Same::watch(clang::CompilerInstance &compiler)
{
    auto all = std::make_shared<Watcher>(*this, compiler, options);

    if (!reason.empty())
        return nullptr;
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<Directives>(all));
    compiler.getPreprocessor().setTokenWatcher(Words(all));
    return std::make_unique<Declarations>(all);
}

/* What there is no callback for, but a warning: a name that isn't defined, and so is 0 in a condition; and what C
 * leaves open (C99, 6.10.1, 6.10.3): "defined" that comes out of a macro, directives among a macro's arguments. A
 * remark is kept off by no option, nor made an error. */
static const unsigned heard[] = {clang::diag::warn_pp_undef_identifier, clang::diag::warn_defined_in_object_type_macro,
                                 clang::diag::warn_defined_in_function_type_macro, clang::diag::ext_embedded_directive};

void kc::Same::watch(clang::DiagnosticsEngine &diagnostics)
{
    for (unsigned one : heard)
        diagnostics.setSeverity(one, clang::diag::Severity::Remark, SourceLocation());
}

bool kc::Same::hears(const clang::Diagnostic &message)
{
    for (unsigned one : heard)
        if (message.getID() == one) {
            differs(one == clang::diag::warn_pp_undef_identifier ? "a condition has a name that nobody defines"
                                                                 : "C leaves open what a directive of it means");
            return true;
        }
    return false;
}
