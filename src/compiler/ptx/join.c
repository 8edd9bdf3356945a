#include "compiler/ptx/join.h"

#include "compiler/ptx/ptx.h"
#include "compiler/support/llvm.h"

#include <stdlib.h>
#include <string.h>

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void name(LLVMValueRef value, unsigned share, unsigned number)
{
    char text[64];
    int length = snprintf(text, sizeof(text), "tsl_share_%u_%u", share, number);

    LLVMSetValueName2(value, text, (size_t)length);
}

/* Kernels keep their names, and so does what is defined elsewhere. */
void kc_ptx_name_share(LLVMModuleRef module, unsigned share)
{
    unsigned number = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); share && f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMExternalLinkage)
            name(f, share, number++);
    for (LLVMValueRef v = LLVMGetFirstGlobal(module); share && v; v = LLVMGetNextGlobal(v))
        if (!LLVMIsDeclaration(v))
            name(v, share, number++);
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

/* What follows the directives at a text's head, which all shares have. */
static const char *behind_head(const char *text)
{
    static const char last[] = "\n.address_size";
    const char *head = strstr(text, last);

    return head ? strchr(head + 1, '\n') : text;
}

/* A declaration that is in `all` already: its end. NULL: something else. */
static const char *known_declaration(const char *at, const char *all)
{
    static const char word[] = ".extern ";
    const char *end = strncmp(at, word, sizeof(word) - 1) == 0 ? strchr(at, ';') : NULL;
    char *declaration = end ? strndup(at, (size_t)(end + 1 - at)) : NULL;
    bool known = declaration && strstr(all, declaration);

    free(declaration);
    return known ? end + 1 : NULL;
}

/* first: the text that `text` is to follow. */
static void add(FILE *stream, const char *text, const char *first)
{
    const char *line, *next;

    for (line = behind_head(text); *line; line = next) {
        next = known_declaration(line, first);
        if (next)
            continue;
        next = strchr(line, '\n');
        next = next ? next + 1 : line + strlen(line);
        fwrite(line, 1, (size_t)(next - line), stream);
    }
}

bool kc_ptx_join(const struct kc_bytes *texts, unsigned n, struct kc_bytes *text)
{
    char *all = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&all, &size);

    for (unsigned i = 0; i < n; i++) {
        char *one = strndup(texts[i].data, texts[i].size), *before;

        fflush(stream);
        before = strndup(all, size); /* The stream's own text moves as it grows. */
        if (i)
            add(stream, one, before);
        else
            fputs(one, stream);
        free(before);
        free(one);
    }
    fclose(stream);
    *text = (struct kc_bytes){all, size};
    return true;
}
