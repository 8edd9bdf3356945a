#include "compiler/process/build.h"

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/facts.h"
#include "compiler/builtins/builtins.h"
#include "compiler/front/front.h"
#include "compiler/front/spirv.h"
#include "compiler/middle/link.h"
#include "compiler/middle/narrow_doubles.h"
#include "compiler/middle/own_calls.h"
#include "compiler/middle/print.h"
#include "compiler/middle/relaxed_math.h"
#include "compiler/process/parts.h"
#include "compiler/ptx/ptx.h"
#include "facts/build_options.h"

#include <fcntl.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static bool fail(struct kc_build *build)
{
    static const cl_int failures[] = {CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_LINK_PROGRAM_FAILURE};

    build->result = failures[build->request->action];
    return false;
}

static bool refuse_options(struct kc_build *build, char *why)
{
    static const cl_int failures[] = {CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS, CL_INVALID_LINKER_OPTIONS};

    fprintf(build->log, "error: %s\n", why ? why : "out of memory");
    free(why);
    build->result = failures[build->request->action];
    return false;
}

/* Takes over the text. */
static bool fail_with(struct kc_build *build, char *why)
{
    fprintf(build->log, "error: %s\n", why ? why : "out of memory");
    free(why);
    return fail(build);
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

static bool compile(struct kc_build *build)
{
    const struct tsl_wire_build *request = build->request;
    struct kc_front_output output;
    struct kc_front_input input = {.source = request->source,
                                   .n_args = build->options.n_args,
                                   .args = build->options.args,
                                   .n_headers = request->n_headers,
                                   .folder = request->folder,
                                   .options = request->options,
                                   .compare = request->target == TSL_WIRE_ACCESS};
    struct kc_text *headers = calloc(request->n_headers + 1, sizeof(*headers));

    for (uint32_t i = 0; i < request->n_headers; i++)
        headers[i] = (struct kc_text){request->headers[i].name, request->headers[i].text};
    input.headers = headers;
    kc_front(build->prepared->context, &input, &output);
    free(headers);
    fputs(output.log, build->log);
    free(output.log);
    build->files = output.files;
    build->absent = output.absent;
    build->module = output.module;
    build->differs = output.differs;
    return build->module || fail(build);
}

/* What is the language's own has to be the same for the preprocessor and for the compiler that reads its text. */
static bool preprocess(struct kc_build *build, char **text)
{
    const struct tsl_wire_build *request = build->request;
    struct kc_front_output output;
    struct kc_front_input input = {.source = request->source,
                                   .n_args = build->options.n_args,
                                   .args = build->options.args,
                                   .folder = request->folder};

    *text = kc_preprocess(&input, &output);
    build->files = output.files;
    build->absent = output.absent;
    if (!*text)
        fputs(output.log, build->log);
    free(output.log);
    return *text || fail(build);
}

/* The module of a text that was preprocessed with other options, and the text for windows. */
static bool compile_text(struct kc_build *build, const char *text, const char *options)
{
    struct kc_front_output output;
    struct kc_front_input input = {.source = text,
                                   .n_args = build->options.n_args,
                                   .args = build->options.args,
                                   .options = options,
                                   .compare = true,
                                   .windows = true};

    kc_front(build->prepared->context, &input, &output);
    if (!output.module)
        fputs(output.log, build->log);
    free(output.log);
    free(output.files);
    free(output.absent);
    build->module = output.module;
    build->differs = output.differs;
    if (output.windows)
        build->artefact = (struct kc_bytes){output.windows, strlen(output.windows)};
    return build->module || fail(build);
}

/* Adds the attributes that Clang adds to code from source. */
static void apply_options(const struct kc_options *options, LLVMModuleRef module)
{
    if (!options->exact)
        kc_relaxed_allow(module);
    for (LLVMValueRef f = options->uniform ? LLVMGetFirstFunction(module) : NULL; f; f = LLVMGetNextFunction(f))
        if (kc_is_kernel(f))
            kc_set_uniform(f);
}

/* The translator counts as an included file: another one may make other code. */
static bool compile_il(struct kc_build *build)
{
    const struct tsl_wire_build *request = build->request;

    build->module = kc_spirv(build->prepared->context, request->translator, request->il, request->il_size, build->log);
    if (build->module)
        apply_options(&build->options, build->module);
    if (asprintf(&build->files, "%s\n", request->translator) < 0)
        build->files = NULL;
    build->absent = strdup("");
    return build->module || fail(build);
}

/* An input that was compiled before. */
static LLVMModuleRef parse(struct kc_build *build, const struct tsl_wire_input *input)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(input->data, input->size, "input");
    LLVMModuleRef module = NULL;

    if (LLVMParseBitcodeInContext2(build->prepared->context, buffer, &module)) {
        fprintf(build->log, "error: one of the programs to link is damaged, or was compiled by a newer Tesela\n");
        module = NULL;
    }
    LLVMDisposeMemoryBuffer(buffer);
    return module;
}

static bool link_inputs(struct kc_build *build)
{
    for (uint32_t i = 0; i < build->request->n_inputs; i++) {
        LLVMModuleRef module = parse(build, &build->request->inputs[i]);

        if (!module)
            return fail(build);
        if (!build->module)
            build->module = module;
        else if (!kc_link_add(build->module, module))
            return fail(build);
    }
    return build->module || fail_with(build, strdup("there is nothing to link"));
}

bool kc_build_module(struct kc_build *build)
{
    bool linking = build->request->action == TSL_WIRE_LINK;
    char *why;

    if (!kc_options_read(build->request->options, linking, &build->options, &why))
        return refuse_options(build, why);
    return linking ? link_inputs(build) : build->request->translator ? compile_il(build) : compile(build);
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

static bool open_target(struct kc_build *build, char **why)
{
    const struct tsl_wire_build *request = build->request;

    build->own_target = request->target == TSL_WIRE_PTX || request->processor;
    if (request->target == TSL_WIRE_PTX)
        return kc_target_nvptx(request->processor, &build->target, why);
    if (request->processor)
        return kc_target_host(request->processor, &build->target, why);
    build->target = build->prepared->host;
    return true;
}

/* Takes out the kernels that aren't asked for. */
static void keep_one(LLVMModuleRef module, const char *kernel)
{
    LLVMValueRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
        next = LLVMGetNextFunction(f);
        if (kc_is_marked(f) && !kc_is_named(f, kernel))
            LLVMDeleteFunction(f);
    }
}

bool kc_build_prepare(struct kc_build *build)
{
    LLVMModuleRef library;
    char *why = NULL;

    if (!kc_prepared_open(build->prepared, build->request->target, &why) || !open_target(build, &why))
        return fail_with(build, why);
    library = *kc_prepared_library(build->prepared, build->request->target);
    kc_target_set(&build->target, library);
    kc_mark_fp64(build->module);
    kc_print_lower(build->module, build->request->target == TSL_WIRE_PTX);
    if (build->request->target == TSL_WIRE_PTX)
        kc_ptx_answer(build->module, build->options.flushes, build->options.relaxed);
    if (build->request->target == TSL_WIRE_CPU)
        kc_narrow_doubles(build->module);
    if (!kc_link_builtins(build->module, library, build->log) ||
        !kc_link_prepare(build->module, build->target.machine, build->log))
        return fail(build);
    if (build->request->kernel)
        keep_one(build->module, build->request->kernel);
    return true;
}

bool kc_build_simplify(struct kc_build *build)
{
    if (build->request->target == TSL_WIRE_CPU && build->options.optimise && !build->options.check_accesses)
        build->calls = kc_calls_copy(build->module);
    return kc_link_finish(build->module, build->target.machine, build->idle_stores, build->log) || fail(build);
}

bool kc_build_link(struct kc_build *build)
{
    return kc_build_prepare(build) && kc_build_simplify(build);
}

bool kc_build_kernels(struct kc_build *build)
{
    uint32_t n = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(build->module); f; f = LLVMGetNextFunction(f))
        n += kc_is_marked(f);
    build->kernels = calloc(n + 1, sizeof(build->kernels[0]));
    for (LLVMValueRef f = LLVMGetFirstFunction(build->module); f; f = LLVMGetNextFunction(f))
        if (kc_is_marked(f)) {
            struct tsl_kernel_facts *facts = &build->kernels[build->n_kernels++].facts;

            kc_facts(f, NULL, facts);
            facts->footprint = kc_accesses(f, facts);
        }
    if (!build->notes)
        LLVMStripModuleDebugInfo(build->module); /* lines were for the footprint alone */
    if (!build->notes && build->calls)
        LLVMStripModuleDebugInfo(build->calls);
    return true;
}

static bool differ(struct kc_build *build, const char *why)
{
    fprintf(build->log, "not the same for any compiler: %s\n", why);
    return false;
}

/* Analyses the unoptimised code: only variables that hold one pointer are promoted, so that they can be followed.
 * Structures and arrays aren't split up: which of an array's pointers is used may be a number that compilers choose. */
static bool find_access(struct kc_build *build)
{
    struct kc_access_book *book;
    uint32_t n = 0;
    char *why;

    if (!kc_run_passes(build->module, NULL, "function(mem2reg)", &why))
        return fail_with(build, why);
    for (LLVMValueRef f = LLVMGetFirstFunction(build->module); f; f = LLVMGetNextFunction(f))
        n += kc_is_kernel(f);
    build->kernels = calloc(n + 1, sizeof(build->kernels[0]));
    book = kc_access_book_open();
    for (LLVMValueRef f = LLVMGetFirstFunction(build->module); f; f = LLVMGetNextFunction(f))
        if (kc_is_kernel(f))
            kc_facts(f, book, &build->kernels[build->n_kernels++].facts);
    kc_access_book_close(book);
    return true;
}

static struct tsl_kernel_facts *facts_of(struct kc_build *build, LLVMValueRef kernel)
{
    for (uint32_t i = 0; i < build->n_kernels; i++)
        if (strcmp(build->kernels[i].facts.name, kc_name(kernel)) == 0)
            return &build->kernels[i].facts;
    return NULL;
}

/* Of the simplified code: another compiler's makes the same accesses, or more loads of what it doesn't use, and stores
 * that are idle. What can't be linked has no footprints. In this code alone a kernel has the calls of its functions. */
static void find_footprints(struct kc_build *build)
{
    for (uint32_t i = 0; i < build->n_kernels; i++)
        build->kernels[i].facts.whole_launch = true;
    build->idle_stores = true;
    if (!kc_build_link(build))
        return;
    for (LLVMValueRef f = LLVMGetFirstFunction(build->module); f; f = LLVMGetNextFunction(f)) {
        struct tsl_kernel_facts *facts = kc_is_marked(f) ? facts_of(build, f) : NULL;

        if (!facts)
            continue;
        facts->footprint = kc_accesses(f, facts);
        facts->whole_launch = kc_asks_for_launch(f);
    }
}

/* The source and the options as they were given become a text and options for it. */
static bool make_text(struct kc_build *build)
{
    char *plain = tsl_build_options_plain(build->request->options), *text = NULL, *why;
    bool made;

    if (!kc_options_read(build->request->options, false, &build->options, &why)) {
        free(plain);
        return refuse_options(build, why);
    }
    made = preprocess(build, &text);
    kc_options_finish(&build->options);
    if (made && !kc_options_read(plain, false, &build->options, &why))
        made = refuse_options(build, why);
    made = made && compile_text(build, text, plain);
    free(plain);
    free(text);
    return made;
}

bool kc_build_access(struct kc_build *build)
{
    const struct tsl_wire_build *request = build->request;
    bool found = false;

    if (request->action != TSL_WIRE_WHOLE_BUILD || request->n_headers)
        differ(build, "it isn't built of one source");
    else if (request->target == TSL_WIRE_WINDOWS ? make_text(build) : kc_build_module(build))
        found = build->differs ? differ(build, build->differs) : find_access(build);
    else if (build->differs)
        differ(build, build->differs);
    if (found)
        find_footprints(build);
    build->result = CL_SUCCESS; /* an unknown answer is an answer, too, and is cached */
    return found;
}

bool kc_build_code(struct kc_build *build, struct kc_share share, struct kc_bytes *code)
{
    struct kc_cpu_request request = {.module = build->module,
                                     .calls = build->calls,
                                     .target = &build->target,
                                     .build = build->request,
                                     .share = share,
                                     .optimise = build->options.optimise,
                                     .flushes = build->options.flushes,
                                     .check_accesses = build->options.check_accesses,
                                     .notes = build->notes};
    bool done = true;

    if (build->request->target == TSL_WIRE_CPU)
        done = kc_cpu(&request, build->n_kernels, build->kernels, code, build->log);
    else if (build->request->target == TSL_WIRE_PTX)
        done = kc_ptx(&request, build->n_kernels, build->kernels, code, build->log);
    return done || fail(build);
}

bool kc_build_join(struct kc_build *build, const struct kc_bytes *codes, unsigned n)
{
    bool done = true;

    if (build->request->target == TSL_WIRE_CPU)
        done = kc_link_objects(codes, n, &build->artefact, build->log);
    else if (build->request->target == TSL_WIRE_PTX)
        done = kc_ptx_join(codes, n, &build->artefact);
    return done || fail(build);
}

bool kc_build_target(struct kc_build *build)
{
    struct kc_bytes code = {NULL, 0};
    bool done = kc_build_code(build, (struct kc_share){0, build->n_kernels}, &code) && kc_build_join(build, &code, 1);

    free(code.data);
    return done;
}

/* An artefact that can be linked later is bitcode as the front end made it. */
static bool keep_module(struct kc_build *build)
{
    build->artefact = kc_bytes_of(LLVMWriteBitcodeToMemoryBuffer(build->module));
    return true;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* LLVM's errors go to the log; its remarks on loops don't help authors of kernels. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *log)
{
    char *text = LLVMGetDiagInfoDescription(info);

    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError)
        fprintf(log, "error: %s\n", text);
    LLVMDisposeMessage(text);
}

void kc_build_begin(struct kc_build *build, const struct tsl_wire_build *request, struct kc_prepared *prepared)
{
    *build = (struct kc_build){.request = request, .prepared = prepared, .n_processes = 1};
    build->log = open_memstream(&build->text, &build->text_size);
    LLVMContextSetDiagnosticHandler(prepared->context, on_diagnostic, build->log);
}

void kc_build_run(struct kc_build *build)
{
    if (build->request->target == TSL_WIRE_ACCESS || build->request->target == TSL_WIRE_WINDOWS) {
        kc_build_access(build);
        return;
    }
    if (!kc_build_module(build))
        return;
    if (build->request->action == TSL_WIRE_COMPILE || build->options.create_library)
        keep_module(build);
    else if (kc_build_prepare(build))
        kc_parts_build(build);
}

/* The sum of a file's contents; false if it can't be read any more. */
static bool sum_file(const char *path, struct tsl_wire_file *file)
{
    struct stat about;
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    bool known = opened >= 0 && fstat(opened, &about) == 0 && S_ISREG(about.st_mode);
    size_t size = known ? (size_t)about.st_size : 0;
    void *data = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, opened, 0) : NULL;

    if (opened >= 0)
        close(opened);
    if (!known || data == MAP_FAILED)
        return false;
    file->size = size;
    file->sum = tsl_bytes_sum(data, size);
    if (size)
        munmap(data, size);
    return true;
}

/* The file's present state. If it can't be read, or there are too many files, its name is empty: as no file has that
 * name, the result isn't found again in the cache. */
static struct tsl_wire_file file_of(const char *path, bool absent)
{
    struct tsl_wire_file file = {.size = TSL_WIRE_NO_FILE};

    if (!absent && !sum_file(path, &file))
        file = (struct tsl_wire_file){.path = strdup("")};
    else
        file.path = strdup(path);
    return file;
}

static void add_files(char *list, bool absent, struct tsl_wire_built *built)
{
    char *rest = NULL;

    for (char *path = strtok_r(list, "\n", &rest); path; path = strtok_r(NULL, "\n", &rest)) {
        if (built->n_files == TSL_WIRE_MAX_FILES) {
            free(built->files[0].path);
            built->files[0] = file_of("", false);
            return;
        }
        built->files[built->n_files++] = file_of(path, absent);
    }
}

void kc_build_encode(struct kc_build *build, uint64_t request, struct tsl_writer *writer)
{
    struct tsl_wire_built built = {.result = build->result};

    fflush(build->log);
    built.log = build->text;
    if (build->result == CL_SUCCESS) {
        built.artefact = build->artefact.data;
        built.artefact_size = build->artefact.size;
        built.n_kernels = build->n_kernels;
        built.kernels = build->kernels;
    }
    if (build->files) {
        built.files = calloc(strlen(build->files) / 2 + strlen(build->absent) / 2 + 1, sizeof(built.files[0]));
        add_files(build->files, false, &built);
        add_files(build->absent, true, &built);
    }
    tsl_wire_encode_built(writer, request, &built);
    for (uint32_t i = 0; i < built.n_files; i++)
        free(built.files[i].path);
    free(built.files);
}

void kc_build_finish(struct kc_build *build)
{
    fclose(build->log);
    free(build->text);
    free(build->files);
    free(build->absent);
    free(build->differs);
    free(build->artefact.data);
    for (uint32_t i = 0; i < build->n_kernels; i++)
        tsl_kernel_facts_finish(&build->kernels[i].facts);
    free(build->kernels);
    kc_options_finish(&build->options);
    if (build->own_target)
        kc_target_finish(&build->target);
}
