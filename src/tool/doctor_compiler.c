/* Does the kernel compiler work here? Its libraries, the linker or the right to start processes may lack. */
#include "tool/findings.h"

#include "compile_client/client.h"
#include "tool/child.h"
#include "tool/scratch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_S = 120 };

static bool write_kernel(const char *path)
{
    FILE *file = fopen(path, "we");
    bool written = file && fputs("kernel void one(global int *a) { a[get_global_id(0)] = 1; }\n", file) >= 0;

    return file && fclose(file) == 0 && written;
}

/* The first line that isn't empty; what the dynamic loader says ends its line. */
static void first_words(const char *path, char line[256])
{
    FILE *file = fopen(path, "re");

    line[0] = '\0';
    while (file && fgets(line, 256, file) && line[0] == '\n')
        ;
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
}

/* The dynamic loader's exit status where it can't start a program. */
enum { STATUS_UNLOADED = 127 };

/* said: words of the compiler and of the programs that it runs, which have no codes. */
static const char *remedy_of(const struct tsl_child_result *result, const char *said)
{
    if (result->end == TSL_CHILD_EXITED && result->number == STATUS_UNLOADED)
        return "Install LLVM's libraries (on Debian: apt install libllvm19 libclang-cpp19), or Tesela's package again";
    if (strstr(said, "linker"))
        return "Install the linker ld (on Debian: apt install binutils)";
    return "Install Tesela again";
}

/* Has a kernel compiled. True: what is wrong was told. */
static bool try_kernel(struct tsl_findings *f, const char *folder, const char *compiler)
{
    char file[PATH_MAX], object[PATH_MAX], out[PATH_MAX], err[PATH_MAX], how[160], said[256];
    char *words[] = {(char *)compiler, "--emit", "so", "-o", object, file, NULL};
    struct tsl_child child = {.program = words, .out = out, .err = err, .limit_s = LIMIT_S};
    struct tsl_child_result result;

    snprintf(file, sizeof file, "%s/one.cl", folder);
    snprintf(object, sizeof object, "%s/one.so", folder);
    snprintf(out, sizeof out, "%s/compiler", folder);
    snprintf(err, sizeof err, "%s/compiler-errors", folder);
    if (!write_kernel(file))
        return false; /* no room for a line: tsl_check_members tells of that */
    result = tsl_child_run(&child);
    tsl_child_say(&result, &child, how, sizeof how);
    if (!how[0])
        return false;
    first_words(err, said);
    tsl_finding_problem(f, remedy_of(&result, said),
                        "the kernel compiler %s %s%s%s, so Tesela's own drivers can't build programs. "
                        "TESELA_CPU=opencl takes another OpenCL for the processors, where there is one",
                        compiler, how, said[0] ? ": " : "", said);
    return true;
}

/* It is there, and can't be started, or says nothing that the library understands. */
static void tell_unstarted(struct tsl_findings *f, const char *why)
{
    static const char *const remedies[] = {
        [TSL_CLIENT_FORBIDDEN] = "Let the sandbox start processes. Until then kernels run that this user built before, "
                                 "from the cache",
        [TSL_CLIENT_NO_FILES] = "Let a process have more files open (ulimit -n)",
        [TSL_CLIENT_NO_MEMORY] = "Give this machine, or its container, more memory or processes",
        [TSL_CLIENT_BROKEN] = "Install Tesela again",
        [TSL_CLIENT_OTHER] = "Install Tesela again",
        [TSL_CLIENT_ENDS_AT_ONCE] = "Install Tesela again",
    };

    tsl_finding_problem(f, remedies[tsl_client_lack()], "%s", why);
}

void tsl_check_compiler(struct tsl_findings *f)
{
    const char *missing, *compiler = tsl_client_program(&missing);
    char *why = NULL, *folder;

    if (!compiler) {
        if (tsl_client_lack() == TSL_CLIENT_UNRUNNABLE)
            tsl_finding_problem(f,
                                "Install Tesela again, or give the file its right back (chmod a+x) and mount its file "
                                "system with exec",
                                "%s", missing);
        return; /* that there is none tsl_check_members tells */
    }
    if (!tsl_client_greet(TSL_CLIENT_GREET_MS, &why) && why && tsl_client_lack() != TSL_CLIENT_ENDS_AT_ONCE) {
        tell_unstarted(f, why);
    } else {
        folder = tsl_scratch_make("tesela doctor", 0);
        if (folder && !try_kernel(f, folder, compiler) && why)
            tell_unstarted(f, why);
        tsl_scratch_remove(folder);
    }
    free(why);
}
