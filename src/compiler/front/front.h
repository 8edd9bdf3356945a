/*
 * The front end: OpenCL C to LLVM IR, by Clang as a library. In C++ (front.cpp), as Clang's driver has no C interface;
 * running the clang executable instead would cost 42 ms a build where this takes 5.
 */
#ifndef KC_FRONT_FRONT_H
#define KC_FRONT_FRONT_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Clang's resource folder exists in memory only, with the one file of it that OpenCL C reads: the header of types and
 * macros (<folder>/include/opencl-c-base.h), which is part of this program (compiler/front/header.c), so that no
 * machine needs Clang's files. NUL-terminated. */
#define KC_RESOURCES "/<clang>"
extern const char kc_language_header[];
/* Clang's other header, with all built-in functions: no program is compiled with it, but names are looked up in it. */
extern const char kc_functions_header[];

struct kc_text {
    const char *name;
    const char *text;
};

struct kc_front_input {
    const char *source;
    unsigned n_args;
    const char *const *args; /* for Clang's -cc1, without the input (compiler/front/options.h makes them) */
    unsigned n_headers;
    const struct kc_text *headers; /* found before any file */
    const char *folder;            /* where relative paths begin; NULL: / */
    bool compare;                  /* find out whether the source is the same for any compiler, … */
    const char *options;           /* … with these options, as they were given */
    bool windows;                  /* make the text with which windows are launched (front/windows.hpp); the source is
                                      what kc_preprocess made */
};

struct kc_front_output {
    LLVMModuleRef module; /* the caller's; NULL: there were errors */
    char *log;            /* Clang's messages as users know them; heap, never NULL */
    char *files;          /* absolute paths of the files that were included, each with its newline; heap, never NULL */
    char *absent;         /* in the same way, where files were looked for and none was */
    char *differs;        /* with compare: why the source isn't the same for any compiler (heap); NULL: it is */
    char *windows;        /* with windows: the text (heap); NULL: it can't be made, and differs or the log says why */
};

/* Messages name the source "<kernel>". The module is neither optimised nor verified. */
void kc_front(LLVMContextRef context, const struct kc_front_input *input, struct kc_front_output *output);

/* The source without directives, macros and comments, but for pragmas: what is the language's own (opencl-c-base.h)
 * stays as it is written, for the compiler that reads the text next. output: log, files and absent, as kc_front's.
 * Heap; NULL: there were errors. */
char *kc_preprocess(const struct kc_front_input *input, struct kc_front_output *output);

/* "tesela-kc 0.1.0 (LLVM 19.1.7)" */
const char *kc_version(void);

#ifdef __cplusplus
}
#endif

#endif
