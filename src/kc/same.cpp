#include "kc/same.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/LexDiagnostic.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
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

/* Names that OpenCL leaves to compilers, and what some define though they may not: a program that defaults such a one
 * doesn't show that it is its own. */
bool may_be_compilers(StringRef name)
{
    static const char *const beginnings[] = {"_", "cl_", "CL", "FP_", "unix", "linux", "i386"};
    static const char *const parts[] = {"POCL", "INTEL", "ALTERA", "ACL", "AOC",    "XILINX", "NVIDIA", "AMD",
                                        "FPGA", "ARM",   "QCOM",   "GPU", "DEVICE", "OPENCL", "VENDOR", "PLATFORM"};

    if (begins_with(name, beginnings))
        return true;
    for (const char *part : parts)
        if (StringRef(name.upper()).find(part) != StringRef::npos)
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
    void close()
    {
        if (open.empty())
            return;
        Group group = open.back();
        open.pop_back();
        if (group.idle)
            idle.groups.emplace_back(group.begin, offset());
    }
    void directive()
    {
        unsigned begin = offset();
        std::string name = word().str();

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

/* ---- Everything together ----------------------------------------------------------------------------------------- */

class Watcher
{
  public:
    Watcher(kc::Same &found, clang::CompilerInstance &compiler)
        : same(found), preprocessor(compiler.getPreprocessor()), sources(compiler.getSourceManager())
    {
        IdleReader(sources, compiler.getLangOpts(), idle).read();
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
    /* "#ifndef NAME", and "#define NAME" right behind it: the program says that the name is its own. */
    bool is_default(const Token &name) const
    {
        SourceLocation at = name.getLocation();
        StringRef text = name.getIdentifierInfo()->getName(), all = w->sources.getBufferData(w->sources.getFileID(at));
        clang::Lexer lexer(at, w->preprocessor.getLangOpts(), all.begin(), w->sources.getCharacterData(at), all.end());
        Token hash, define, defined;

        lexer.LexFromRawLexer(hash); /* the name itself */
        lexer.LexFromRawLexer(hash);
        lexer.LexFromRawLexer(define);
        lexer.LexFromRawLexer(defined);
        return !may_be_compilers(text) && hash.is(clang::tok::hash) && hash.isAtStartOfLine() &&
               define.is(clang::tok::raw_identifier) && define.getRawIdentifier() == "define" &&
               defined.is(clang::tok::raw_identifier) && defined.getRawIdentifier() == text;
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
        attribute(token, name);
    }

  private:
    std::shared_ptr<Watcher> w;
    bool last_is_square = false;
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

    void visit(const clang::FunctionDecl *function)
    {
        if (function->getIdentifier() && (is_one_of(function->getName(), fence_functions) ||
                                          (has_pointers(function) && may_be_overloaded(function->getName()))))
            w.differs("it has a function " + function->getName().str() + " of its own", function->getLocation());
        if (function->doesThisDeclarationHaveABody())
            visit(function->getBody());
    }

  private:
    Watcher &w;
    clang::ASTContext &context;

    void visit(const clang::Stmt *at)
    {
        if (const auto *block = clang::dyn_cast<clang::BlockExpr>(at))
            visit(block->getBody());
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
    /* Made of whole numbers and operators on them, alone: those are OpenCL C's own. */
    bool is_whole(const clang::Expr *e, unsigned depth) const
    {
        clang::QualType type = e->getType().getCanonicalType();

        if (!depth-- || !type->isIntegerType() || type->isEnumeralType() || !type->isBuiltinType())
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
            if (const auto *function = clang::dyn_cast<clang::FunctionDecl>(one))
                if (w->is_in_text(function->getLocation()))
                    Conditions(*w, *context).visit(function);
        return true;
    }

  private:
    std::shared_ptr<Watcher> w;
    clang::ASTContext *context = nullptr;
};

} // namespace

/* ---- From outside ------------------------------------------------------------------------------------------------ */

kc::Same::Same(const char *source)
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
    auto all = std::make_shared<Watcher>(*this, compiler);

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
