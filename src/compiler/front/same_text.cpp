/*
 * A program's text and build options before preprocessing: do all compilers read the same tokens?
 */
#include "compiler/front/same_parts.hpp"

#include <clang/Lex/Lexer.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Support/ConvertUTF.h>
#include <vector>

namespace
{

using namespace kc;
using clang::SourceLocation;
using clang::Token;
using llvm::StringRef;

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

bool is_trigraph(StringRef text, size_t at)
{
    return text.substr(at, 2) == "??" && at + 2 < text.size() &&
           StringRef("=/'()!<>-").find(text[at + 2]) != StringRef::npos;
}

/* A backslash that continues a line for some compilers only: before blanks, at the text's end, or as a byte of a longer
 * character. */
bool is_odd_continuation(StringRef text, size_t at)
{
    StringRef behind = text.substr(at + 1);

    return text[at] == '\\' && (behind.ltrim(" \t\r\n").empty() || begins(behind.ltrim(" \t"), "\r") ||
                                (begins(behind.ltrim(" \t"), "\n") && !begins(behind, "\n")) ||
                                (at > 0 && (unsigned char)text[at - 1] > 127));
}

/* A control character that ends a line, or the text, for some compilers. */
bool is_odd_control(StringRef text, size_t at)
{
    unsigned char c = (unsigned char)text[at];

    return c == 127 || (c < ' ' && c != '\t' && c != '\n' && (c != '\r' || text.substr(at + 1, 1) != "\n"));
}

bool is_utf8(StringRef text)
{
    const auto *from = (const llvm::UTF8 *)text.begin();

    return llvm::isLegalUTF8String(&from, from + text.size()) && !begins(text, "\xef\xbb\xbf");
}

/* Compilers may disagree on the text's lines, or on which of them are directives (C has #elifdef and #elifndef since
 * 2023). */
bool has_odd_lines(StringRef text)
{
    if (!is_utf8(text) || text.find("elifdef") != StringRef::npos || text.find("elifndef") != StringRef::npos)
        return true;
    for (size_t i = 0; i < text.size(); i++)
        if (is_trigraph(text, i) || is_odd_continuation(text, i) || is_odd_control(text, i))
            return true;
    return false;
}

/* Is the first line free of tokens that could continue on another line or aren't terminated, R"( included? */
bool is_plain(StringRef text)
{
    StringRef line = text.substr(0, text.find('\n'));

    return line.find_first_of("'\\/(") == StringRef::npos && line.count('"') % 2 == 0;
}

/* Reads raw tokens: macros aren't expanded, and nothing is skipped. */
class Reader
{
  public:
    void begin(StringRef what)
    {
        text = what;
        lexer = std::make_unique<clang::Lexer>(SourceLocation(), options, text.begin(), text.begin(), text.end());
        next();
    }

  protected:
    const clang::LangOptions options = raw_language();
    StringRef text;
    Token token;

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
    /* The text behind the token. */
    StringRef rest() const
    {
        return text.substr((size_t)(lexer->getBufferLocation() - text.begin()));
    }
    bool is_eof() const
    {
        return token.is(clang::tok::eof);
    }
    /* The end of a directive. */
    bool is_end() const
    {
        return is_eof() || token.isAtStartOfLine();
    }
    bool is_directive() const
    {
        return token.is(clang::tok::hash) && token.isAtStartOfLine();
    }
    bool is_name() const
    {
        return token.is(clang::tok::raw_identifier);
    }
    bool is_word(StringRef name) const
    {
        return is_name() && token.getRawIdentifier() == name;
    }

  private:
    std::unique_ptr<clang::Lexer> lexer;
};

/* ---- Groups without effect --------------------------------------------------------------------------------------- */

/* Finds #if … #endif groups with nothing in them but directives without effect: it makes no difference whether such a
 * group is taken. */
class Idle : public Reader
{
  public:
    explicit Idle(StringRef source)
    {
        for (begin(source); !is_eof();)
            if (is_directive())
                directive();
            else {
                spoil();
                next();
            }
    }
    bool has(unsigned at) const
    {
        for (const auto &group : groups)
            if (at >= group.first && at < group.second)
                return true;
        return false;
    }

  private:
    struct Group {
        unsigned begin;
        bool idle;
    };
    std::vector<std::pair<unsigned, unsigned>> groups; /* offsets in the text */
    std::vector<Group> open;

    void spoil()
    {
        for (Group &group : open)
            group.idle = false;
    }
    /* The next word of the line; empty if there is none. */
    std::string word()
    {
        next();
        return is_end() || !is_name() ? "" : token.getRawIdentifier().str();
    }
    /* A compiler that knows __has_include sees no comment in "__has_include(<a/" followed by a star. */
    void skip_line()
    {
        for (; !is_end(); next())
            if (is_name() && begins(token.getRawIdentifier(), "__has_"))
                spoil();
    }
    /* The group ends with the line, on which further words may follow that compilers ignore. */
    void close()
    {
        Group group;

        skip_line();
        if (open.empty())
            return;
        group = open.back();
        open.pop_back();
        if (group.idle)
            groups.emplace_back(group.begin, is_eof() ? (unsigned)text.size() : offset());
    }
    void directive()
    {
        unsigned begin = offset();
        std::string name = word();

        if ((name == "error" || name == "warning") && !is_plain(rest()))
            spoil(); /* it must be the same line whether it is taken or skipped */
        if (name == "if" || name == "ifdef" || name == "ifndef")
            open.push_back({begin, true});
        else if (name == "endif")
            close();
        else if (name == "pragma" ? word() != "OPENCL"
                                  : name != "else" && name != "elif" && name != "error" && name != "warning")
            spoil();
        skip_line();
    }
};

/* ---- What the text may contain ----------------------------------------------------------------------------------- */

/* The names of macros with arguments, wherever they are defined. */
class Functions : public Reader
{
  public:
    llvm::StringSet<> names;

    explicit Functions(StringRef source)
    {
        for (begin(source); !is_eof(); next())
            if (is_directive())
                directive();
    }

  private:
    void directive()
    {
        next();
        if (!is_word("define") || is_end())
            return;
        next();
        if (is_name() && begins(rest(), "("))
            names.insert(token.getRawIdentifier());
    }
};

/* Checks all words, in macros' bodies, arguments and skipped groups, too. */
class Strict : public Reader
{
  public:
    Strict(kc::Same &found, StringRef source) : same(found), all(source), idle(source), functions(source)
    {
    }

    /* Only -D, OpenCL's own options, and include folders (no file is looked for in them), separated by blanks. */
    void read_options(StringRef line)
    {
        llvm::SmallVector<StringRef, 16> words;

        for (char c : line)
            if (!is_letter(c) && StringRef(" -+*/.,=()").find(c) == StringRef::npos)
                refuse("options that may be read in several ways");
        line.split(words, ' ', -1, false);
        for (size_t i = 0; i < words.size(); i++) {
            if (words[i] == "-D" && i + 1 < words.size())
                read_definition(words[++i]);
            else if (words[i].size() > 2 && begins(words[i], "-D"))
                read_definition(words[i].substr(2));
            else if (words[i] == "-I" && i + 1 < words.size() && !begins(words[i + 1], "-"))
                i++;
            else if (words[i].size() > 2 && begins(words[i], "-I"))
                continue;
            else if (!begins(words[i], "-cl-") && words[i] != "-w" && words[i] != "-Werror")
                refuse("the option " + words[i].str());
        }
    }
    void read_text()
    {
        for (begin(all); !is_eof() && same.why().empty();) {
            if (idle.has(offset())) {
                check_form();
                check_place();
                if (is_word("pragma"))
                    check_between();
                next();
            } else if (is_directive())
                directive();
            else {
                check();
                depth += token.is(clang::tok::l_paren);
                depth -= token.is(clang::tok::r_paren);
                between = token.isOneOf(clang::tok::semi, clang::tok::l_brace, clang::tok::r_brace);
                next();
            }
        }
        check_called();
    }

  private:
    kc::Same &same;
    StringRef all;
    const Idle idle;
    const Functions functions;
    llvm::StringMap<bool> own; /* macros that are defined whatever the conditions; true: as a decimal number */
    llvm::StringSet<> defined; /* by the text, whatever the conditions */
    std::vector<bool> open;    /* open groups; true: their contents are always taken */
    int depth = 0;             /* of parentheses, outside directives */
    bool between = true;       /* the last token outside directives ended a statement or began a block */
    bool called = false;       /* the last token needs arguments: a macro, or __attribute__ */
    bool in_attribute = false;
    int attribute_depth = 0;

    void refuse(const std::string &what)
    {
        bool here = text.begin() == all.begin();

        if (!same.why().empty())
            return; /* only the first reason is kept, and counting lines takes time */
        same.differs(
            (here ? "line " + std::to_string(text.substr(0, offset()).count('\n') + 1) + ": it has " : "it has ") +
            what);
    }

    /* ---- Words ---- */

    static bool is_decimal(StringRef number)
    {
        return number.size() < 10 && number.find_first_not_of("0123456789") == StringRef::npos &&
               (number.size() == 1 || number[0] != '0');
    }
    /* C doesn't define the number's type, or OpenCL C doesn't have it. A decimal number is a long at most, or with a u
     * behind it a ulong (C99, 6.4.4.1; OpenCL C, 6.1.1). */
    static bool is_wide(StringRef number)
    {
        std::string lower = number.lower();
        StringRef all = lower, digits = all.rtrim("ul");
        bool is_unsigned = all.substr(digits.size()).contains('u');
        uint64_t value;

        if (all.contains("ll"))
            return true;
        if (lower.size() <= 18 || all.find_first_of(".epx") != StringRef::npos)
            return false;
        return digits.getAsInteger(10, value) || (value > INT64_MAX && !is_unsigned);
    }
    /* Do all compilers agree on the token's kind and end? */
    void check_form()
    {
        StringRef spelled = spelling();
        bool quoted = token.isOneOf(clang::tok::string_literal, clang::tok::char_constant) &&
                      (spelled[0] == '"' || spelled[0] == '\''); /* not R"( */

        if (token.isOneOf(clang::tok::unknown, clang::tok::at))
            refuse("odd characters");
        else if (token.needsCleaning() || token.hasUCN() || spelled.find_first_of("$`") != StringRef::npos ||
                 spelled.find("\\u") != StringRef::npos || spelled.find("\\U") != StringRef::npos)
            refuse("words across lines, or odd letters");
        else if (quoted ? (offset() && is_letter(text[offset() - 1])) || (!rest().empty() && is_letter(rest()[0]))
                        : spelled.find_first_of("\"'\\") != StringRef::npos)
            refuse("odd text");
        else if (token.isOneOf(clang::tok::hash, clang::tok::l_square, clang::tok::r_square, clang::tok::l_brace,
                               clang::tok::r_brace) &&
                 token.getLength() > 1)
            refuse("digraphs");
        for (char c : spelled)
            if ((unsigned char)c > 127 && token.isNot(clang::tok::string_literal))
                refuse("odd letters");
    }
    /* C leaves the effect of a directive among a macro's arguments undefined. */
    void check_place()
    {
        if (depth)
            refuse("a directive that may be among a macro's arguments");
    }
    /* Behind "else", say, some compilers take the pragma for the statement. */
    void check_between()
    {
        if (!between)
            refuse("a pragma in the place of a statement");
    }
    /* A macro name without arguments may find some in the text that follows its expansion, or not (C99, 6.10.3.4). */
    void check_called()
    {
        if (called && (is_end() || token.isNot(clang::tok::l_paren)))
            refuse("the name of a macro, or __attribute__, without arguments behind it");
        called = false;
    }
    /* __attribute__((…)) */
    void check_attribute()
    {
        attribute_depth += token.is(clang::tok::l_paren);
        attribute_depth -= token.is(clang::tok::r_paren);
        if (attribute_depth <= 0)
            in_attribute = false;
        else if (attribute_depth <= 2 && is_name() && !is_harmless_attribute(token.getRawIdentifier()))
            refuse("the attribute " + token.getRawIdentifier().str());
    }
    void check_word(StringRef name)
    {
        if (!is_allowed(name))
            refuse(name.str());
        if (name == "__attribute__" || name == "__attribute") {
            in_attribute = called = true;
            attribute_depth = 0;
        }
        called |= functions.names.count(name) > 0;
    }
    /* Checks any token except directives' names and their operands. */
    void check()
    {
        check_form();
        check_called();
        if (in_attribute)
            check_attribute();
        if (token.isOneOf(clang::tok::hash, clang::tok::hashhash, clang::tok::hashat))
            refuse("operators of the preprocessor");
        else if (is_name())
            check_word(token.getRawIdentifier());
        else if (token.is(clang::tok::numeric_constant) && is_wide(spelling()))
            refuse("numbers of an unknown width");
    }

    /* ---- Macros ---- */

    /* Reads a macro's body, the rest of the line. True: it is a decimal number. */
    bool read_body()
    {
        bool number = token.is(clang::tok::numeric_constant) && !is_end() && is_decimal(spelling());
        unsigned n = 0;
        int inside = 0;

        for (; !is_end(); next(), n++) {
            check();
            inside += token.is(clang::tok::l_paren) ? 1 : token.is(clang::tok::r_paren) ? -1 : 0;
            if (inside < 0)
                refuse("odd macros");
        }
        if (inside)
            refuse("odd macros");
        check_called();
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
    /* The name in a directive; empty, and refused, if there is none. */
    std::string read_name()
    {
        std::string name;

        if (is_end() || !is_name()) {
            refuse("odd directives");
            return name;
        }
        check_form();
        name = token.getRawIdentifier().str();
        if (!is_allowed(name))
            refuse(name);
        return name;
    }
    void check_own(StringRef name)
    {
        if (!name.empty() && !is_own_name(name))
            refuse("a macro of the name " + name.str());
    }
    /* Reads an option's definition like a line of the text. */
    void read_definition(StringRef definition)
    {
        std::string name = definition.substr(0, definition.find('=')).str(), value = "1", line;
        bool odd = name.empty() || own.count(name);

        if (definition.find('=') != StringRef::npos)
            value = definition.substr(definition.find('=') + 1).str();
        for (char c : name)
            odd |= !is_letter(c);
        odd |= value.find("//") != std::string::npos || value.find("/*") != std::string::npos;
        for (size_t i = 0; i < value.size(); i++) /* some compilers look for options everywhere */
            odd |= value[i] == '-' && StringRef(".0123456789").find(value.c_str()[i + 1]) == StringRef::npos;
        line = "#define " + name + " " + value;
        begin(line);
        if (odd || !is_directive())
            refuse("odd definitions among its options");
        else
            directive();
        begin(all);
    }
    void read_parameters()
    {
        for (next(); !is_end() && token.isNot(clang::tok::r_paren); next()) {
            check();
            if (!is_name() && token.isNot(clang::tok::comma))
                refuse("macros of any number of arguments");
        }
        check_called();
        if (!is_end())
            next();
    }
    void define()
    {
        std::string name = read_name();
        bool function;

        check_own(name);
        if (name.empty())
            return;
        next();
        function = !is_end() && token.is(clang::tok::l_paren) && !token.hasLeadingSpace();
        if (function != (functions.names.count(name) > 0))
            refuse("a macro that has arguments here and none there");
        if (function)
            read_parameters();
        bool number = read_body();
        add(name, number && !function);
    }
    void undefine()
    {
        std::string name = read_name();

        check_own(name);
        if (!defined.count(name))
            refuse("odd directives");
        own.erase(name);
        if (!is_end())
            next();
    }

    /* ---- Conditions ---- */

    /* Refuses a condition because of the name, or of whatever else is in it. */
    void refuse_condition()
    {
        refuse("a condition on " + (is_eof() ? "nothing" : spelling().str()) +
               ", which isn't a number or name of its own");
    }
    /* "defined NAME", "defined(NAME)": for names that are certainly defined here, now or before. */
    void check_defined()
    {
        next();
        if (!is_end() && token.is(clang::tok::l_paren))
            next();
        if (is_end() || !is_name() || !own.count(token.getRawIdentifier()))
            refuse_condition();
        else
            check_form();
    }
    /* Not operators whose result may overflow, or is undefined. */
    bool is_operator() const
    {
        using namespace clang;
        return token.isOneOf(tok::l_paren, tok::r_paren, tok::exclaim, tok::plus, tok::minus, tok::less, tok::greater,
                             tok::lessequal, tok::greaterequal, tok::equalequal, tok::exclaimequal, tok::ampamp,
                             tok::pipepipe);
    }
    void condition()
    {
        for (; !is_end(); next()) {
            check();
            if (is_word("defined"))
                check_defined();
            else if (is_name()                                ? !own.lookup(token.getRawIdentifier())
                     : token.is(clang::tok::numeric_constant) ? !is_decimal(spelling())
                                                              : !is_operator())
                refuse_condition();
            if (is_end())
                break;
        }
        check_called();
    }
    /* Is "#ifndef NAME" followed by "#define NAME": does the program say that the macro is its own? */
    bool has_default(StringRef name) const
    {
        StringRef behind = rest();
        clang::Lexer ahead(SourceLocation(), options, behind.begin(), behind.begin(), behind.end());
        Token hash, define, again;

        ahead.LexFromRawLexer(hash);
        ahead.LexFromRawLexer(define);
        ahead.LexFromRawLexer(again);
        return is_own_name(name) && hash.is(clang::tok::hash) && hash.isAtStartOfLine() &&
               define.is(clang::tok::raw_identifier) && define.getRawIdentifier() == "define" &&
               again.is(clang::tok::raw_identifier) && again.getRawIdentifier() == name;
    }
    void on_name(bool negative)
    {
        std::string name = read_name();
        bool whole = negative && has_default(name);

        if (!whole && !own.count(name))
            refuse_condition();
        open.push_back(whole && !own.count(name) && !defined.count(name));
        if (!is_end())
            next();
    }

    /* ---- Directives ---- */

    /* A pragma for loops, or CLBlast's note to its own preprocessor, which compilers don't know. */
    bool is_harmless_pragma() const
    {
        return !is_end() && (is_word("unroll") || is_word("promote_to_registers"));
    }
    void pragma()
    {
        bool language_own = !is_end() && is_word("OPENCL");

        check_between();
        if (!language_own && !is_harmless_pragma())
            refuse("a pragma that isn't OpenCL C's");
        for (; !is_end(); next()) {
            if (language_own ? !is_name() && token.isNot(clang::tok::colon)
                             : !token.isOneOf(clang::tok::raw_identifier, clang::tok::numeric_constant,
                                              clang::tok::l_paren, clang::tok::r_paren))
                refuse("an odd pragma");
            if (language_own)
                check_form();
            else
                check();
        }
        check_called();
    }
    void message()
    {
        if (!is_plain(rest()))
            refuse("odd messages");
        while (next(), !is_end())
            continue;
    }
    void directive()
    {
        std::string name;

        check_form();
        check_called();
        check_place();
        next();
        if (is_end() || !is_name() || token.needsCleaning()) {
            refuse("odd directives");
            return;
        }
        name = token.getRawIdentifier().str();
        if (name == "error" || name == "warning") {
            message();
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
            condition();
            open.back() = false;
        } else if (name == "endif" && !open.empty())
            open.pop_back();
        else if (name == "else" && !open.empty())
            open.back() = false;
        else if (name == "pragma")
            pragma();
        else
            refuse("a directive #" + name);
        if (!is_end())
            refuse("odd directives");
        while (!is_end())
            next();
    }
};

} // namespace

void kc::read_text(Same &found, StringRef source, StringRef options)
{
    if (has_odd_lines(source)) {
        found.differs("compilers may disagree on what its lines are");
        return;
    }
    Strict strict(found, source);
    strict.read_options(options);
    strict.read_text();
}
