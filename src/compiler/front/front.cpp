/*
 * Clang as a library. It sees an overlay of files in memory over the real ones: the headers of clCompileProgram are
 * files of a folder that exists nowhere else.
 */
#include "compiler/front/front.h"

#include "compiler/front/missing.hpp"
#include "compiler/front/same.hpp"
#include "compiler/front/windows.hpp"

#include <clang/Basic/Diagnostic.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/PreprocessorOutputOptions.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>
#include <set>

namespace
{

const char header_folder[] = "/<headers>/";
const char language_folder[] = KC_RESOURCES "/include/";
const char language_header[] = "opencl-c-base.h";

/* Notes files that were looked for and missing: if one appears, the result may differ. Clang looks for the language's
 * own header in the program's folders first; other files of that name are hidden from it. */
class WatchedFiles : public llvm::vfs::ProxyFileSystem
{
  public:
    using ProxyFileSystem::ProxyFileSystem;

    llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &path) override
    {
        if (is_hidden(path))
            return std::make_error_code(std::errc::no_such_file_or_directory);
        auto found = ProxyFileSystem::status(path);

        note(path, found.getError());
        return found;
    }

    llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine &path) override
    {
        if (is_hidden(path))
            return std::make_error_code(std::errc::no_such_file_or_directory);
        auto found = ProxyFileSystem::openFileForRead(path);

        note(path, found.getError());
        return found;
    }

    std::set<std::string> absent;

  private:
    void note(const llvm::Twine &path, std::error_code error)
    {
        if (error)
            absent.insert(path.str());
    }
    static bool is_hidden(const llvm::Twine &path)
    {
        std::string name = path.str();

        return llvm::sys::path::filename(name) == language_header &&
               name != std::string(language_folder) + language_header;
    }
};

/* The real files, overlaid with the embedded headers and Clang's own. */
llvm::IntrusiveRefCntPtr<WatchedFiles> file_system(const kc_front_input *input)
{
    llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> headers(new llvm::vfs::InMemoryFileSystem);
    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> all(
        new llvm::vfs::OverlayFileSystem(llvm::vfs::getRealFileSystem()));

    headers->addFile(std::string(language_folder) + language_header, 0,
                     llvm::MemoryBuffer::getMemBuffer(kc_language_header));
    for (unsigned i = 0; i < input->n_headers; i++)
        headers->addFile(header_folder + std::string(input->headers[i].name), 0,
                         llvm::MemoryBuffer::getMemBuffer(input->headers[i].text));
    all->pushOverlay(headers);
    all->setCurrentWorkingDirectory(input->folder ? input->folder : "/");
    return llvm::IntrusiveRefCntPtr<WatchedFiles>(new WatchedFiles(all));
}

std::vector<const char *> arguments(const kc_front_input *input)
{
    std::vector<const char *> args(input->args, input->args + input->n_args);

    args.insert(args.begin(), {"-I", header_folder});
    if (input->folder)
        args.insert(args.end(), {"-iquote", input->folder});
    return args;
}

/* Messages name files in memory without their folders, which don't exist anywhere else. */
std::string without_folders(std::string log)
{
    for (const std::string folder : {header_folder, language_folder})
        for (size_t at; (at = log.find(folder)) != std::string::npos;)
            log.erase(at, folder.size());
    return log;
}

/* Absolute paths of files, except those in memory. */
template <typename Names> std::string absolute(const Names &names, llvm::vfs::FileSystem &system)
{
    std::string list;

    for (const std::string &name : names) {
        llvm::SmallString<256> path(name);

        if (name.rfind("/<", 0) == 0 || name == "<kernel>" || system.makeAbsolute(path))
            continue;
        list += std::string(path) + "\n";
    }
    return list;
}

#if LLVM_VERSION_MAJOR < 18
/* Metadata that Clang adds since 18: the allowed error of roots of floats, in ulps. */
void note_root_errors(llvm::Module &module)
{
    llvm::MDBuilder make(module.getContext());

    for (llvm::Function &function : module)
        if (function.getName().startswith("_Z4sqrt") && function.getReturnType()->getScalarType()->isFloatTy())
            for (llvm::User *user : function.users())
                if (auto *call = llvm::dyn_cast<llvm::CallInst>(user))
                    call->setMetadata(llvm::LLVMContext::MD_fpmath, make.createFPMath(3));
}
#else
void note_root_errors(llvm::Module &)
{
}
#endif

/* Generates the module; kc::Same and kc::Windows watch if the input asks for them. */
class WatchedAction : public clang::EmitLLVMOnlyAction
{
  public:
    WatchedAction(llvm::LLVMContext *context, kc::Same *found, kc::Windows *text)
        : clang::EmitLLVMOnlyAction(context), same(found), windows(text)
    {
    }

  protected:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &compiler,
                                                          llvm::StringRef file) override
    {
        std::unique_ptr<clang::ASTConsumer> own = clang::EmitLLVMOnlyAction::CreateASTConsumer(compiler, file);
        std::vector<std::unique_ptr<clang::ASTConsumer>> both;

        if (!own || (!same && !windows))
            return own;
        if (same)
            both.push_back(same->watch(compiler.getPreprocessor()));
        if (windows)
            both.push_back(windows->watch(compiler.getSourceManager()));
        both.push_back(std::move(own));
        return std::make_unique<clang::MultiplexConsumer>(std::move(both));
    }

  private:
    kc::Same *same;
    kc::Windows *windows;
};

/* Writes the text without directives. */
class PreprocessAction : public clang::PreprocessorFrontendAction
{
  public:
    explicit PreprocessAction(llvm::raw_ostream &to) : out(to)
    {
    }

  protected:
    void ExecuteAction() override
    {
        clang::PreprocessorOutputOptions options;

        options.ShowCPP = 1;
        options.ShowLineMarkers = 0;
        clang::DoPrintPreprocessedInput(getCompilerInstance().getPreprocessor(), &out, options);
    }

  private:
    llvm::raw_ostream &out;
};

/* One run of Clang over an input, and what it leaves for the output. */
class Run
{
  public:
    explicit Run(const kc_front_input *input)
        : out(log), system(file_system(input)), files(std::make_shared<clang::DependencyCollector>()),
          args(arguments(input)), source(input->source, "<kernel>")
    {
    }

    clang::CompilerInstance compiler;

    /* False: there were errors. */
    bool execute(clang::FrontendAction &action, bool with_language)
    {
        clang::TextDiagnosticPrinter printer(out, new clang::DiagnosticOptions);
        clang::DiagnosticsEngine early(new clang::DiagnosticIDs, new clang::DiagnosticOptions, &printer, false);

        if (!clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), args, early))
            return false;
        if (!with_language)
            compiler.getPreprocessorOpts().Includes.clear();
#if LLVM_VERSION_MAJOR < 17
        /* Otherwise Clang knows no size of atomics on the host. */
        compiler.getTargetOpts().HostTriple = "x86_64-unknown-linux-gnu";
#endif
        compiler.createDiagnostics(new clang::TextDiagnosticPrinter(out, &compiler.getDiagnosticOpts()), true);
        compiler.setVerboseOutputStream(out);
        compiler.createFileManager(system);
        compiler.getFrontendOpts().Inputs = {
            clang::FrontendInputFile(source, clang::InputKind(clang::Language::OpenCL))};
        compiler.addDependencyCollector(files);
        kc::add_missing_functions(compiler);
        return compiler.ExecuteAction(action) && !compiler.getDiagnostics().hasErrorOccurred();
    }
    void tell(kc_front_output *output)
    {
        out.flush();
        output->log = strdup(without_folders(log).c_str());
        output->files = strdup(absolute(files->getDependencies(), *system).c_str());
        output->absent = strdup(absolute(system->absent, *system).c_str());
    }

  private:
    std::string log;
    llvm::raw_string_ostream out;
    llvm::IntrusiveRefCntPtr<WatchedFiles> system;
    std::shared_ptr<clang::DependencyCollector> files;
    std::vector<const char *> args;
    llvm::MemoryBufferRef source;
};

} // namespace

void kc_front(LLVMContextRef context, const kc_front_input *input, kc_front_output *output)
{
    std::unique_ptr<kc::Same> same(input->compare ? new kc::Same(input->source, input->options) : nullptr);
    std::unique_ptr<kc::Windows> windows(input->windows ? new kc::Windows(input->source) : nullptr);
    WatchedAction action(llvm::unwrap(context), same.get(), windows.get());
    Run run(input);

    *output = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    if ((!same || same->why().empty()) && run.execute(action, true))
        output->module = llvm::wrap(action.takeModule().release());
    if (output->module && !run.compiler.getCodeGenOpts().OpenCLCorrectlyRoundedDivSqrt)
        note_root_errors(*llvm::unwrap(output->module));
    /* -discard-value-names stays set in the context, which then couldn't parse LLVM IR as text. */
    llvm::unwrap(context)->setDiscardValueNames(false);
    run.tell(output);
    if (same && !same->why().empty())
        output->differs = strdup(same->why().c_str());
    else if (windows && output->module && !windows->why().empty())
        output->differs = strdup(windows->why().c_str());
    else if (windows && output->module)
        output->windows = strdup(windows->text().c_str());
}

char *kc_preprocess(const kc_front_input *input, kc_front_output *output)
{
    std::string text;
    llvm::raw_string_ostream to(text);
    PreprocessAction action(to);
    Run run(input);
    bool done = run.execute(action, false);

    *output = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    run.tell(output);
    to.flush();
    return done ? strdup(text.c_str()) : nullptr;
}

const char *kc_version(void)
{
    return "tesela-kc " TESELA_VERSION " (LLVM " LLVM_VERSION_STRING ")";
}
