#include "compiler/front/spirv.h"

#include "compiler/support/child_process.h"
#include "compiler/support/llvm.h"

#include <ctype.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/IRReader.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The module -------------------------------------------------------------------------------------------------- */

enum { MAGIC = 0x07230203, HEADER_WORDS = 5, OP_ENTRY_POINT = 15, OP_FUNCTION = 54, OP_FUNCTION_END = 56 };

struct words {
    const void *il;
    size_t n;
};

static uint32_t word(const struct words *words, size_t i)
{
    uint32_t value;

    memcpy(&value, (const char *)words->il + i * sizeof(value), sizeof(value));
    return value;
}

/* The opcode of the instruction at `at`, and the next one's place; false: there is none, or it reaches past the
 * module. */
static bool read_op(const struct words *words, size_t at, unsigned *op, size_t *next)
{
    uint32_t first = at < words->n ? word(words, at) : 0;

    *op = first & 0xffff;
    *next = at + (first >> 16);
    return first >> 16 && *next <= words->n;
}

/* Do instructions fill the module, and does each function end? */
static bool is_filled(const struct words *words)
{
    size_t at = HEADER_WORDS, next;
    bool inside = false;

    for (unsigned op; read_op(words, at, &op, &next); at = next) {
        if (op != OP_FUNCTION && op != OP_FUNCTION_END)
            continue;
        if (inside == (op == OP_FUNCTION))
            return false;
        inside = !inside;
    }
    return at == words->n && !inside;
}

static bool has_function(const struct words *words, uint32_t id)
{
    size_t next;
    unsigned op;

    for (size_t at = HEADER_WORDS; read_op(words, at, &op, &next); at = next)
        if (op == OP_FUNCTION && next - at > 2 && word(words, at + 2) == id)
            return true;
    return false;
}

/* The translator accepts a truncated module, so this is checked first. */
static bool is_whole(const void *il, size_t size)
{
    const struct words words = {il, size / sizeof(uint32_t)};
    size_t next;
    unsigned op;

    if (words.n <= HEADER_WORDS || word(&words, 0) != MAGIC || !is_filled(&words))
        return false;
    for (size_t at = HEADER_WORDS; read_op(&words, at, &op, &next); at = next)
        if (op == OP_ENTRY_POINT && (next - at < 3 || !has_function(&words, word(&words, at + 2))))
            return false;
    return true;
}

/* ---- The translator ---------------------------------------------------------------------------------------------- */

static LLVMModuleRef read_bitcode(LLVMContextRef context, int file)
{
    struct kc_bytes code;
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef module = NULL;

    if (!kc_read_whole(file, &code))
        return NULL;
    buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(code.data, code.size, "spirv");
    if (LLVMParseBitcodeInContext2(context, buffer, &module))
        module = NULL;
    LLVMDisposeMemoryBuffer(buffer);
    free(code.data);
    return module;
}

/* The length of text up to the words, or of all of it. */
static int length_before(const char *text, const char *words)
{
    const char *at = strstr(text, words);

    return (int)(at ? at - text : (ptrdiff_t)strlen(text));
}

static void complain(const char *translator, int status, int errors, FILE *log)
{
    struct kc_bytes text;

    if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        fprintf(log, "error: %s, which is to read SPIR-V, can't be started\n", translator);
    else if (WIFSIGNALED(status))
        fprintf(log, "error: %s died of this SPIR-V module: signal %d\n", translator, WTERMSIG(status));
    else
        fprintf(log, "error: %s doesn't take this SPIR-V module\n", translator);
    if (kc_read_whole(errors, &text)) {
        /* When it crashes, LLVM appends a page on how to report that. */
        fprintf(log, "%.*s\n", length_before(text.data, "PLEASE submit"), (char *)text.data);
        free(text.data);
    }
}

static LLVMModuleRef translate(LLVMContextRef context, const char *translator, const void *il, size_t size, FILE *log)
{
    int in = kc_memory_file(il, size), out = kc_memory_file(NULL, 0), errors = kc_memory_file(NULL, 0), status = -1;
    char in_path[KC_PATH_SIZE], out_path[KC_PATH_SIZE];
    char *const arguments[] = {(char *)(uintptr_t)translator,
                               "-r",
                               "--spirv-target-env=CL2.0",
                               "--spirv-gen-kernel-arg-name-md",
                               "--preserve-ocl-kernel-arg-type-metadata-through-string",
                               kc_path_of(in, in_path),
                               "-o",
                               kc_path_of(out, out_path),
                               NULL};
    LLVMModuleRef module = NULL;

    if (in >= 0 && out >= 0 && errors >= 0)
        status = kc_run_child(arguments, errors);
    if (status == 0)
        module = read_bitcode(context, out);
    if (!module)
        complain(translator, status, errors, log);
    close(in);
    close(out);
    close(errors);
    return module;
}

static bool has_our_addresses(LLVMModuleRef module, FILE *log)
{
    static const char ours[] = "spir64";

    if (strncmp(LLVMGetTarget(module), ours, sizeof(ours) - 1) == 0)
        return true;
    fprintf(log, "error: this SPIR-V module is of 32-bit addresses (Physical32): this device's have 64 bits\n");
    return false;
}

/* ---- Address spaces ---------------------------------------------------------------------------------------------- */

/*
 * Address spaces: SPIR's constant memory is 2 and generic memory 4; in Clang's output for our target they are 4 and 0.
 * Types are part of every value, so they are changed in the module's text, in place, as no text gets longer.
 */
struct text {
    const char *from;
    char *to;
};

static bool at_word(const struct text *text, const char *word)
{
    return strncmp(text->from, word, strlen(word)) == 0;
}

static void copy(struct text *text, size_t n)
{
    memmove(text->to, text->from, n);
    text->to += n;
    text->from += n;
}

/* Writes a word over one that isn't shorter. */
static void put(struct text *text, const char *word, size_t instead_of)
{
    size_t n = strlen(word);

    memcpy(text->to, word, n);
    text->to += n;
    text->from += instead_of;
}

/* The number of an "addrspace(N)" after the change. */
static unsigned long space_of(const char *word)
{
    unsigned long space = strtoul(word + strlen("addrspace("), NULL, 10);

    return space == 2 ? 4 : space == 4 ? 0 : space;
}

/* Writes the word; if it vanishes, so does a blank. */
static void put_space(struct text *text)
{
    unsigned long space = space_of(text->from);
    size_t n = strcspn(text->from, ")") + 1;
    char word[32];

    snprintf(word, sizeof(word), "addrspace(%lu)", space);
    if (!space && text->to[-1] == ' ')
        text->to--;
    put(text, space ? word : "", n);
}

/* The next blank behind `at` outside parentheses, brackets and quotes, or the end of the line or of these. */
static const char *next_blank(const char *at)
{
    unsigned depth = 0;

    for (at++; *at && *at != '\n'; at++) {
        if (*at == '"')
            at = strchr(at + 1, '"');
        else if (depth == 0 && *at == ' ')
            return at;
        else if (strchr("([{<", *at))
            depth++;
        else if (strchr(")]}>", *at) && depth-- == 0)
            return at;
    }
    return at;
}

/* The address space of the type that begins here: "ptr addrspace(1)", "<2 x ptr>". */
static unsigned long space_of_type(const char *type)
{
    static const char pointer[] = "ptr addrspace(";
    unsigned n;
    int skipped = 0;

    if (sscanf(type, "<%u x %n", &n, &skipped) == 1)
        type += skipped;
    return strncmp(type, pointer, sizeof(pointer) - 1) == 0 ? space_of(type + strlen("ptr ")) : 0;
}

/* A cast that no longer changes the address space has another name in LLVM. */
static void put_cast(struct text *text)
{
    static const char word[] = "addrspacecast", then[] = " to ";
    const char *from = text->from + strlen(word), *to;

    from += strspn(from, " (");
    for (to = next_blank(from); *to == ' ' && strncmp(to, then, strlen(then)) != 0;)
        to = next_blank(to);
    put(text, *to == ' ' && space_of_type(from) == space_of_type(to + strlen(then)) ? "bitcast" : word, strlen(word));
}

static void put_quoted(struct text *text)
{
    const char *end = strchr(text->from + 1, '"');

    copy(text, (size_t)(end - text->from) + 1);
}

static bool begins_word(const struct text *text, const char *begin)
{
    return text->from == begin || !(isalnum((unsigned char)text->from[-1]) || strchr("_.$@%", text->from[-1]));
}

/* In calling convention only kernels differ from C functions. */
static void respace(char *begin)
{
    struct text text = {begin, begin};

    while (*text.from) {
        bool word = begins_word(&text, begin);

        if (*text.from == '"')
            put_quoted(&text);
        else if (word && at_word(&text, "addrspace("))
            put_space(&text);
        else if (word && at_word(&text, "addrspacecast "))
            put_cast(&text);
        else if (word && at_word(&text, "spir_func "))
            put(&text, "", strlen("spir_func "));
        else
            copy(&text, 1);
    }
    *text.to = 0;
}

/* Takes over the module. */
static LLVMModuleRef with_our_spaces(LLVMContextRef context, LLVMModuleRef module, FILE *log)
{
    char *text, *why = NULL;
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef ours = NULL;

    LLVMSetTarget(module, ""); /* the spaces are our target's from here on */
    LLVMSetDataLayout(module, "");
    text = LLVMPrintModuleToString(module);
    LLVMDisposeModule(module);
    respace(text);
    buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "spirv");
    LLVMDisposeMessage(text);
    if (LLVMParseIRInContext(context, buffer, &ours, &why)) { /* takes over the buffer */
        fprintf(log, "error: this SPIR-V module has something that the kernel compiler doesn't read: %s\n", why);
        LLVMDisposeMessage(why);
        return NULL;
    }
    return ours;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* Address spaces are in the mangled names of built-in functions, too: "_Z6vload4mPU3AS2Kf". The result is at most as
 * long. */
static void rename_spaces(const char *name, char *out)
{
    static const char mark[] = "U3AS";

    while (*name) {
        if (strncmp(name, mark, 4) == 0 && name[4] == '4') {
            name += 5;
        } else if (strncmp(name, mark, 4) == 0 && name[4] == '2') {
            out = stpcpy(out, "U3AS4");
            name += 5;
        } else
            *out++ = *name++;
    }
    *out = 0;
}

/* A function of the new name may exist: the one for private memory, which is generic memory here. */
static void rename_function(LLVMModuleRef module, LLVMValueRef function)
{
    char *name = strdup(kc_name(function));
    LLVMValueRef other;

    rename_spaces(kc_name(function), name);
    other = LLVMGetNamedFunction(module, name);
    if (!other)
        LLVMSetValueName2(function, name, strlen(name));
    else if (other != function && LLVMIsDeclaration(function)) {
        LLVMReplaceAllUsesWith(function, other);
        LLVMDeleteFunction(function);
    }
    free(name);
}

/* Renames built-in functions, and functions that other programs define or use. */
static void rename_functions(LLVMModuleRef module)
{
    LLVMValueRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
        next = LLVMGetNextFunction(f);
        if (LLVMGetLinkage(f) != LLVMInternalLinkage && strstr(kc_name(f), "U3AS"))
            rename_function(module, f);
    }
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static void inline_call(LLVMBuilderRef builder, LLVMValueRef at)
{
    (void)builder;
    if (LLVMIsACallInst(at))
        LLVMRemoveCallSiteEnumAttribute(at, LLVMAttributeFunctionIndex, kc_attribute_kind("noinline"));
}

/* Everything is inlined, whatever the SPIR-V compiler asked for. Addresses of a format and the like come as
 * instructions without effect. */
static bool simplify(LLVMModuleRef module, FILE *log)
{
    char *why;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        kc_remove_attribute(f, "noinline");
    kc_visit(module, inline_call);
    if (kc_run_passes(module, NULL, "function(instsimplify)", &why))
        return true;
    fprintf(log, "error: %s\n", why);
    free(why);
    return false;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

LLVMModuleRef kc_spirv(LLVMContextRef context, const char *translator, const void *il, size_t size, FILE *log)
{
    LLVMModuleRef module = NULL;

    if (is_whole(il, size))
        module = translate(context, translator, il, size, log);
    else
        fprintf(log, "error: this SPIR-V module is damaged: it isn't whole\n");
    if (module)
        module = has_our_addresses(module, log) ? with_our_spaces(context, module, log) : NULL;
    if (module)
        rename_functions(module);
    return module && simplify(module, log) ? module : NULL;
}
