/*
 * Is a program the same for any compiler of OpenCL C, so that Clang's reading of it holds for a vendor's compiler? Only
 * what is on a list counts as the same; docs/dev/compiler.md describes it in full. Why the list is sufficient:
 *
 * The question is through which pointers a kernel may write (compiler/analysis/argument_access.c). The answer depends
 * neither on values nor on control flow, as all code counts that is there. So it depends on three things alone.
 *
 * 1. The tokens of the preprocessed text (same_text.cpp). Lines, comments, words: a text in which two compilers could
 *    disagree on where one of these ends is refused by its characters and raw tokens, whatever Clang makes of it.
 *    Macros: all words are checked, in macros' bodies and skipped groups, too. None of them may be a compiler's macro:
 *    such names are reserved, or the language's own with a defined meaning; and no macro of the program has such a name
 *    (same_names.cpp). Conditions consist of the program's own macros and small numbers. No word is composed of others
 *    (#, ##), and each call of a macro is in one piece, in one text or body: so C defines its expansion (C99, 6.10.3).
 *    Only whether a macro is defined twice is left to Clang.
 *
 * 2. The meaning of names. They are the program's own or the language's: a function of the program with pointer
 *    parameters doesn't have a name that a vendor's own function could have. Attributes, keywords and operators that
 *    aren't in the language, or not in all its versions, are refused.
 *
 * 3. The code that Clang leaves out: code behind constant conditions, and overridden initializers. Conditions that
 *    aren't computed at run time must consist of integers and enumerators in the program's text: not of floats, sizes,
 *    or constants of Clang's headers. Initializers that may be left out must have no side effects.
 *
 * It is assumed that no compiler defines a name that C leaves to the program (C99, 6.10.8), or has errors.
 */
#include "compiler/front/same.hpp"

#include "compiler/front/same_parts.hpp"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/SmallPtrSet.h>

namespace
{

using namespace kc;
using clang::SourceLocation;
using clang::Token;

/* ---- What only Clang knows --------------------------------------------------------------------------------------- */

/* The program during Clang's compilation. */
struct Work {
    kc::Same &same;
    clang::Preprocessor &preprocessor;
    const clang::SourceManager &sources;

    bool is_in_text(SourceLocation at) const
    {
        return sources.getFileID(sources.getExpansionLoc(at)) == sources.getMainFileID();
    }
    /* Is the location in the program's text or options, not in a macro of the language? */
    bool is_programs(SourceLocation at) const
    {
        SourceLocation spelled = sources.getSpellingLoc(at);

        return sources.getFileID(spelled) == sources.getMainFileID() || sources.isWrittenInCommandLineFile(spelled);
    }
    void differs(const std::string &why, SourceLocation at) const
    {
        SourceLocation place = sources.getExpansionLoc(at);

        same.differs("line " + std::to_string(sources.getSpellingLineNumber(place)) + ": " + why);
    }
};

/* The specification doesn't say which of two definitions holds; a repetition of the same one is allowed (C99,
 * 6.10.3). */
class Definitions : public clang::PPCallbacks
{
  public:
    explicit Definitions(const Work &of) : work(of)
    {
    }
    void MacroDefined(const Token &name, const clang::MacroDirective *directive) override
    {
        const clang::MacroDirective *before = directive->getPrevious();

        if (before && before->getMacroInfo() && !clang::isa<clang::UndefMacroDirective>(before) &&
            work.is_programs(name.getLocation()) &&
            !directive->getMacroInfo()->isIdenticalTo(*before->getMacroInfo(), work.preprocessor, false))
            work.differs("it defines " + name.getIdentifierInfo()->getName().str() + " again", name.getLocation());
    }

  private:
    const Work work;
};

/* Attributes in brackets, which macros may have put together: Clang leaves out those of vendors. */
class Brackets
{
  public:
    explicit Brackets(const Work &of) : work(of)
    {
    }
    void operator()(const Token &token)
    {
        if (token.is(clang::tok::l_square) && last_is_square && work.is_in_text(token.getLocation()))
            work.differs("it has attributes in brackets", token.getLocation());
        last_is_square = token.is(clang::tok::l_square);
    }

  private:
    const Work work;
    bool last_is_square = false;
};

/* ---- Declarations and statements --------------------------------------------------------------------------------- */

/* Clang leaves out code behind constant conditions: these must be constant, with the same value, for all compilers. */
class Conditions
{
  public:
    Conditions(const Work &of, clang::ASTContext &in) : work(of), context(in)
    {
    }

    void visit(const clang::Decl *declaration)
    {
        if (const auto *variable = clang::dyn_cast<clang::VarDecl>(declaration)) {
            if (is_compilers(variable))
                differs(variable, "a variable ");
            if (variable->getInit())
                visit(variable->getInit());
        } else if (const auto *function = clang::dyn_cast<clang::FunctionDecl>(declaration)) {
            if (is_compilers(function) || (function->getIdentifier() && has_pointers(function) &&
                                           (is_known(function->getName()) || is_of_library(function->getName()))))
                differs(function, "a function ");
            if (function->doesThisDeclarationHaveABody())
                visit(function->getBody());
        }
    }

  private:
    const Work &work;
    clang::ASTContext &context;

    void differs(const clang::NamedDecl *declaration, const char *what)
    {
        work.differs("it has " + (what + declaration->getName().str()) + " of its own", declaration->getLocation());
    }
    /* Compilers may have a function or variable of that name at file scope (C99, 7.1.3), and a call may get an overload
     * of theirs. Kernels have none. */
    static bool is_compilers(const clang::NamedDecl *declaration)
    {
        return declaration->getIdentifier() && begins(declaration->getName(), "_") &&
               declaration->getDeclContext()->isFileContext() && !declaration->hasAttr<clang::OpenCLKernelAttr>();
    }

    void visit(const clang::Stmt *at)
    {
        if (clang::isa<clang::BlockExpr>(at))
            work.differs("it has blocks", at->getBeginLoc());
        if (const auto *declares = clang::dyn_cast<clang::DeclStmt>(at))
            for (const clang::Decl *one : declares->decls())
                if (clang::isa<clang::FunctionDecl>(one))
                    visit(one);
        conditions_of(at);
        if (const auto *list = clang::dyn_cast<clang::InitListExpr>(at))
            check_list(list);
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
            if (!is_sure(label->getLHS()) || (label->getRHS() && !is_sure(label->getRHS())))
                work.differs("what a case is may be the compiler's choice", label->getBeginLoc());
        if (const auto *choice = clang::dyn_cast<clang::BinaryConditionalOperator>(at))
            look(choice->getCommon());
        const auto *operation = clang::dyn_cast<clang::BinaryOperator>(at);
        if (operation && operation->isLogicalOp()) {
            look(operation->getLHS());
            look(operation->getRHS());
        }
    }
    /* The expressions with side effects in an initializer list and the lists within it: as written, or as they take
     * effect. */
    void active_ones(const clang::Expr *e, bool written, llvm::SmallPtrSetImpl<const clang::Expr *> &found) const
    {
        e = e->IgnoreImplicit();
        if (const auto *named = clang::dyn_cast<clang::DesignatedInitExpr>(e))
            active_ones(named->getInit(), written, found);
        else if (const auto *list = clang::dyn_cast<clang::InitListExpr>(e)) {
            if (written && list->getSyntacticForm())
                list = list->getSyntacticForm();
            for (const clang::Expr *one : list->inits())
                if (one)
                    active_ones(one, written, found);
        } else if (e->HasSideEffects(context))
            found.insert(e);
    }
    /* Initializers that are overridden by later ones, or in excess, may be evaluated or not (C99, 6.7.8). */
    void check_list(const clang::InitListExpr *list) const
    {
        llvm::SmallPtrSet<const clang::Expr *, 16> written, counting;

        active_ones(list, true, written);
        active_ones(list, false, counting);
        for (const clang::Expr *one : written)
            if (!counting.count(one))
                work.differs("an initializer that may be left out", one->getExprLoc());
    }
    static bool has_pointers(const clang::FunctionDecl *function)
    {
        for (const clang::ParmVarDecl *parameter : function->parameters())
            if (parameter->getType()->isPointerType())
                return true;
        return false;
    }
    /* A constant on whose value no compilers may disagree. */
    bool is_sure(const clang::Expr *e) const
    {
        clang::Expr::EvalResult result;

        return e->EvaluateAsInt(result, context) && !result.HasUndefinedBehavior && is_whole(e, 64);
    }
    /* Does the value depend on memory, or on a function's result, at run time? */
    bool is_computed(const clang::Expr *e) const
    {
        e = e->IgnoreParens();
        if (const auto *cast = clang::dyn_cast<clang::CastExpr>(e))
            return cast->getCastKind() == clang::CK_LValueToRValue ? !e->isEvaluatable(context)
                                                                   : is_computed(cast->getSubExpr());
        if (const auto *operation = clang::dyn_cast<clang::UnaryOperator>(e))
            return operation->isIncrementDecrementOp() ||
                   (operation->isArithmeticOp() && is_computed(operation->getSubExpr()));
        if (const auto *operation = clang::dyn_cast<clang::BinaryOperator>(e))
            return operation->isCompoundAssignmentOp() || is_computed(operation->getRHS()) ||
                   (!operation->isAssignmentOp() && !operation->isCommaOp() && is_computed(operation->getLHS()));
        if (const auto *choice = clang::dyn_cast<clang::ConditionalOperator>(e))
            return is_computed(choice->getTrueExpr()) && is_computed(choice->getFalseExpr());
        if (const auto *element = clang::dyn_cast<clang::ExtVectorElementExpr>(e))
            return is_computed(element->getBase());
        if (const auto *bits = clang::dyn_cast<clang::AsTypeExpr>(e))
            return bits->getSrcExpr()->isGLValue() ? !bits->getSrcExpr()->isEvaluatable(context)
                                                   : is_computed(bits->getSrcExpr());
        return clang::isa<clang::CallExpr>(e) && !e->isEvaluatable(context);
    }
    /* The expression without the operands of comma and assignment before it: but a volatile variable may be read
     * again. */
    static const clang::Expr *value_of(const clang::Expr *e)
    {
        for (;;) {
            const auto *operation = clang::dyn_cast<clang::BinaryOperator>(e->IgnoreParens());

            if (!operation || (!operation->isCommaOp() && operation->getOpcode() != clang::BO_Assign) ||
                operation->getLHS()->getType().isVolatileQualified())
                return e;
            e = operation->getRHS();
        }
    }
    /* Nor may the condition be a constant for Clang's code generator alone, which knows more of them (as_float(1), say)
     * and leaves out code behind a loop that never ends. */
    void look(const clang::Expr *condition)
    {
        clang::Expr::EvalResult result;
        bool value;

        if (condition &&
            (!is_computed(condition) || condition->EvaluateAsInt(result, context, clang::Expr::SE_AllowSideEffects) ||
             condition->EvaluateAsBooleanCondition(value, context)) &&
            !is_sure(value_of(condition)))
            work.differs("what a constant condition is may be the compiler's choice", condition->getExprLoc());
    }
    bool are_whole(const clang::Stmt *of, unsigned depth) const
    {
        for (const clang::Stmt *child : of->children())
            if (!child || !clang::isa<clang::Expr>(child) || !is_whole(clang::cast<clang::Expr>(child), depth))
                return false;
        return true;
    }
    /* Not size_t and the like, whose width is that of the device's addresses. */
    bool is_fixed(clang::QualType type) const
    {
        static const char *const names[] = {"uchar", "ushort", "uint", "ulong"};

        for (clang::QualType next;; type = next) {
            const auto *name = clang::dyn_cast<clang::TypedefType>(type.getTypePtr());

            if (name && !work.is_in_text(name->getDecl()->getLocation()) &&
                !is_one_of(name->getDecl()->getName(), names))
                return false;
            next = type.getSingleStepDesugaredType(context);
            if (next == type)
                return true;
        }
    }
    /* Made only of integers and operators on them: these are defined by OpenCL C itself. */
    bool is_whole(const clang::Expr *e, unsigned depth) const
    {
        clang::QualType type = e->getType().getCanonicalType();

        if (!depth-- || !type->isIntegerType() || type->isEnumeralType() || !type->isBuiltinType() ||
            !is_fixed(e->getType()))
            return false;
        if (const auto *name = clang::dyn_cast<clang::DeclRefExpr>(e))
            return is_whole(name->getDecl(), depth);
        if (const auto *operation = clang::dyn_cast<clang::BinaryOperator>(e))
            return !operation->isAssignmentOp() && !operation->isCommaOp() && !operation->isShiftOp() &&
                   are_whole(e, depth);
        if (const auto *operation = clang::dyn_cast<clang::UnaryOperator>(e))
            return operation->isArithmeticOp() && are_whole(e, depth);
        if (clang::isa<clang::IntegerLiteral>(e))
            return work.is_programs(e->getExprLoc());
        return (clang::isa<clang::ParenExpr>(e) || clang::isa<clang::CastExpr>(e) ||
                clang::isa<clang::ConstantExpr>(e) || clang::isa<clang::ConditionalOperator>(e)) &&
               are_whole(e, depth);
    }
    /* C has no larger enumerators (C99, 6.7.2.2). */
    static bool is_int(const llvm::APSInt &value)
    {
        return llvm::APSInt::compareValues(value, llvm::APSInt::get(INT32_MIN)) >= 0 &&
               llvm::APSInt::compareValues(value, llvm::APSInt::get(INT32_MAX)) <= 0;
    }
    bool is_whole(const clang::ValueDecl *name, unsigned depth) const
    {
        if (!work.is_in_text(name->getLocation()))
            return false;
        if (const auto *variable = clang::dyn_cast<clang::VarDecl>(name))
            return variable->getAnyInitializer() && is_whole(variable->getAnyInitializer(), depth);
        const auto *constant = clang::dyn_cast<clang::EnumConstantDecl>(name);
        if (!constant)
            return false;
        for (const clang::EnumConstantDecl *one :
             clang::cast<clang::EnumDecl>(constant->getDeclContext())->enumerators())
            if ((one->getInitExpr() && !is_whole(one->getInitExpr(), depth)) || !is_int(one->getInitVal()))
                return false;
        return true;
    }
};

class Declarations : public clang::ASTConsumer
{
  public:
    explicit Declarations(const Work &of) : work(of)
    {
    }
    void Initialize(clang::ASTContext &of) override
    {
        context = &of;
    }
    bool HandleTopLevelDecl(clang::DeclGroupRef group) override
    {
        for (const clang::Decl *one : group)
            if (work.is_in_text(one->getLocation()))
                Conditions(work, *context).visit(one);
        return true;
    }

  private:
    const Work work;
    clang::ASTContext *context = nullptr;
};

} // namespace

/* ---- Interface --------------------------------------------------------------------------------------------------- */

kc::Same::Same(const char *source, const char *options)
{
    read_text(*this, source, options);
}

void kc::Same::differs(const std::string &why)
{
    if (reason.empty())
        reason = why;
}

std::unique_ptr<clang::ASTConsumer> kc::Same::watch(clang::Preprocessor &preprocessor)
{
    const Work work = {*this, preprocessor, preprocessor.getSourceManager()};

    preprocessor.addPPCallbacks(std::make_unique<Definitions>(work));
    preprocessor.setTokenWatcher(Brackets(work));
    return std::make_unique<Declarations>(work);
}
