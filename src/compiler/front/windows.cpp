#include "compiler/front/windows.hpp"

#include "compile_client/window_text.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/AST/TypeLoc.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/DenseSet.h>
#include <vector>

namespace
{

using clang::SourceLocation;

/* The functions of the head compute answers of the whole launch: its groups are numbered from __tsl_b on in the
 * vendor's launch, it has __tsl_n groups (0: as many as the vendor's launch), __tsl_s work-items, and its first one at
 * __tsl_o. Vendors' functions are called as the program calls them: PoCL 3.1 ends the process over some choices among
 * them. */
const char head[] = R"(#define __TSL_PARAMETERS ulong __tsl_b0, ulong __tsl_b1, ulong __tsl_b2, \
    ulong __tsl_n0, ulong __tsl_n1, ulong __tsl_n2, ulong __tsl_s0, ulong __tsl_s1, ulong __tsl_s2, \
    ulong __tsl_o0, ulong __tsl_o1, ulong __tsl_o2
#define __TSL_LAUNCH __tsl_b0, __tsl_b1, __tsl_b2, __tsl_n0, __tsl_n1, __tsl_n2, \
    __tsl_s0, __tsl_s1, __tsl_s2, __tsl_o0, __tsl_o1, __tsl_o2
#define __TSL_PICK(d, x, y, z, other) ((size_t)((d) == 0 ? (x) : (d) == 1 ? (y) : (d) == 2 ? (z) : (ulong)(other)))
size_t __tsl_get_group_id(uint d, __TSL_PARAMETERS)
{ return get_group_id(d) + __TSL_PICK(d, __tsl_b0, __tsl_b1, __tsl_b2, 0); }
size_t __tsl_get_num_groups(uint d, __TSL_PARAMETERS)
{ return __tsl_n0 ? __TSL_PICK(d, __tsl_n0, __tsl_n1, __tsl_n2, 1) : get_num_groups(d); }
size_t __tsl_get_global_size(uint d, __TSL_PARAMETERS)
{ return __TSL_PICK(d, __tsl_s0, __tsl_s1, __tsl_s2, 1); }
size_t __tsl_get_global_offset(uint d, __TSL_PARAMETERS)
{ return __TSL_PICK(d, __tsl_o0, __tsl_o1, __tsl_o2, 0); }
size_t __tsl_get_global_linear_id(__TSL_PARAMETERS)
{ return (size_t)(((get_global_id(2) - __tsl_o2) * __tsl_s1 + get_global_id(1) - __tsl_o1) * __tsl_s0 +
                  get_global_id(0) - __tsl_o0); }
)";

bool asks_for_the_launch(llvm::StringRef name)
{
    return name == "get_group_id" || name == "get_num_groups" || name == "get_global_size" ||
           name == "get_global_offset" || name == "get_global_linear_id";
}

/* Finds a program's functions, and who calls what. */
class Calls
{
  public:
    struct Call {
        const clang::CallExpr *at;
        const clang::FunctionDecl *caller; /* canonical; NULL: outside of functions */
    };
    std::vector<const clang::FunctionDecl *> functions; /* all declarations of the program's own */
    std::vector<Call> calls;                            /* of its own functions, and of those that ask */
    llvm::DenseSet<const clang::Expr *> called;         /* the names in calls */
    std::vector<const clang::DeclRefExpr *> named;      /* all names of functions */
    bool has_blocks = false;

    explicit Calls(const clang::SourceManager &of) : sources(of)
    {
    }
    void visit(const clang::Decl *declaration)
    {
        if (const auto *variable = clang::dyn_cast<clang::VarDecl>(declaration)) {
            if (variable->getInit())
                visit(variable->getInit());
            return;
        }
        const auto *function = clang::dyn_cast<clang::FunctionDecl>(declaration);
        if (!function || !is_own(function))
            return;
        functions.push_back(function);
        if (function->doesThisDeclarationHaveABody()) {
            inside = function->getCanonicalDecl();
            visit(function->getBody());
            inside = nullptr;
        }
    }
    /* Clang declares built-in functions where they are used first. */
    bool is_own(const clang::FunctionDecl *function) const
    {
        return !function->isImplicit() && sources.isInMainFile(sources.getSpellingLoc(function->getLocation()));
    }
    bool asks(const clang::FunctionDecl *function) const
    {
        return function->getIdentifier() && !is_own(function) && asks_for_the_launch(function->getName());
    }

  private:
    const clang::SourceManager &sources;
    const clang::FunctionDecl *inside = nullptr;

    void visit(const clang::Stmt *at)
    {
        has_blocks |= clang::isa<clang::BlockExpr>(at);
        if (const auto *call = clang::dyn_cast<clang::CallExpr>(at))
            note(call);
        if (const auto *name = clang::dyn_cast<clang::DeclRefExpr>(at))
            if (clang::isa<clang::FunctionDecl>(name->getDecl()))
                named.push_back(name);
        if (const auto *declares = clang::dyn_cast<clang::DeclStmt>(at))
            for (const clang::Decl *one : declares->decls())
                if (const auto *function = clang::dyn_cast<clang::FunctionDecl>(one))
                    functions.push_back(function);
        for (const clang::Stmt *child : at->children())
            if (child)
                visit(child);
    }
    void note(const clang::CallExpr *call)
    {
        const clang::FunctionDecl *callee = call->getDirectCallee();

        if (!callee || !(is_own(callee) || asks(callee)))
            return;
        calls.push_back({call, inside});
        called.insert(call->getCallee()->IgnoreParenImpCasts());
    }
};

/* Changes the source, once all of it was read. */
class Rewriter : public clang::ASTConsumer
{
  public:
    Rewriter(kc::Windows &to, const clang::SourceManager &of) : windows(to), sources(of)
    {
    }
    void HandleTranslationUnit(clang::ASTContext &context) override
    {
        Calls found(sources);

        for (const clang::Decl *one : context.getTranslationUnitDecl()->decls())
            found.visit(one);
        gather(found);
        if (needing.empty())
            return;
        if (found.has_blocks)
            windows.refuse("it has blocks");
        for (const clang::DeclRefExpr *name : found.named)
            if (needs(clang::cast<clang::FunctionDecl>(name->getDecl()), found) && !found.called.count(name))
                windows.refuse("a function that asks for the launch is used otherwise than by a call");
        for (const clang::FunctionDecl *function : found.functions)
            if (needing.count(function->getCanonicalDecl()))
                add_parameters(function, context);
        for (const Calls::Call &call : found.calls)
            if (needs(call.at->getDirectCallee(), found))
                add_arguments(call, found);
    }

  private:
    kc::Windows &windows;
    const clang::SourceManager &sources;
    llvm::DenseSet<const clang::FunctionDecl *> needing; /* own functions, canonical */

    bool needs(const clang::FunctionDecl *function, const Calls &found) const
    {
        return found.asks(function) || needing.count(function->getCanonicalDecl());
    }
    /* Who calls what asks, asks, too. */
    void gather(const Calls &found)
    {
        for (bool more = true; more;) {
            more = false;
            for (const Calls::Call &call : found.calls)
                if (call.caller && needs(call.at->getDirectCallee(), found))
                    more |= needing.insert(call.caller).second;
                else if (!call.caller && needs(call.at->getDirectCallee(), found))
                    windows.refuse("the launch is asked for outside of functions");
        }
    }
    /* The place in the source; refuses what doesn't stand there. */
    unsigned offset_of(SourceLocation at)
    {
        SourceLocation spelled = sources.getSpellingLoc(at);

        if (spelled.isValid() && sources.isInMainFile(spelled))
            return sources.getFileOffset(spelled);
        windows.refuse("a function that asks for the launch stands in a macro of the language");
        return 0;
    }
    /* Hidden parameters must fit into the least that devices take (CL_DEVICE_MAX_PARAMETER_SIZE). */
    void check_size(const clang::FunctionDecl *function, const clang::ASTContext &context)
    {
        uint64_t size = 0;

        for (const clang::ParmVarDecl *parameter : function->parameters())
            size += 16 + (uint64_t)context.getTypeSizeInChars(parameter->getType()).getQuantity();
        if (function->hasAttr<clang::OpenCLKernelAttr>() && size + 8 * TSL_WINDOW_PARAMETERS > 1024)
            windows.refuse("a kernel that asks for the launch has too many parameters");
    }
    void add_parameters(const clang::FunctionDecl *function, const clang::ASTContext &context)
    {
        clang::FunctionTypeLoc type = function->getFunctionTypeLoc();
        unsigned begin, end;

        check_size(function, context);
        if (!type || function->isVariadic()) {
            windows.refuse("a function that asks for the launch is declared in an odd way");
            return;
        }
        begin = offset_of(type.getLParenLoc()) + 1;
        end = offset_of(type.getRParenLoc());
        if (function->getNumParams())
            windows.change(end, 0, ", __TSL_PARAMETERS");
        else
            windows.change(begin, end - begin, "__TSL_PARAMETERS"); /* (void), or () */
    }
    void add_arguments(const Calls::Call &call, const Calls &found)
    {
        const clang::FunctionDecl *callee = call.at->getDirectCallee();

        if (found.asks(callee))
            windows.change(offset_of(call.at->getCallee()->IgnoreParenImpCasts()->getBeginLoc()), 0, "__tsl_");
        windows.change(offset_of(call.at->getRParenLoc()), 0,
                       call.at->getNumArgs() ? ", __TSL_LAUNCH" : "__TSL_LAUNCH");
    }
};

} // namespace

kc::Windows::Windows(const char *what) : source(what)
{
}

std::unique_ptr<clang::ASTConsumer> kc::Windows::watch(clang::SourceManager &sources)
{
    return std::make_unique<Rewriter>(*this, sources);
}

void kc::Windows::change(unsigned offset, unsigned length, const std::string &text)
{
    auto known = changes.emplace(offset, Change{length, text});

    if (!known.second && (known.first->second.length != length || known.first->second.text != text))
        refuse("calls that ask for the launch meet");
}

void kc::Windows::refuse(const std::string &why)
{
    if (reason.empty())
        reason = why;
}

std::string kc::Windows::text() const
{
    std::string made = changes.empty() ? "" : head;
    size_t at = 0;

    for (const auto &[offset, change] : changes) {
        made += source.substr(at, offset - at) + change.text;
        at = offset + change.length;
    }
    return made + source.substr(at);
}
