/*
 * From an object file to a shared object: runs `ld` as a child, or the linker that is a part of this program, on files
 * in memory.
 */
#include "compiler/cpu/cpu.h"
#include "compiler/cpu/own_linker.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Without TESELA_LD the linker is a part of this program. */
#ifdef TESELA_LD
#define LINKER      TESELA_LD
#define LINKER_HINT "; it belongs to the Debian package binutils"
#else
#define LINKER      "ld.lld"
#define LINKER_HINT ""
#endif

static const Elf64_Shdr *symbol_table(const char *object, size_t size)
{
    const Elf64_Ehdr *head = (const void *)object;
    const Elf64_Shdr *sections = (const void *)(object + head->e_shoff);

    if (size < sizeof(*head) || head->e_shoff > size || (size - head->e_shoff) / sizeof(*sections) < head->e_shnum)
        return NULL;
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_offset <= size &&
            sections[i].sh_size <= size - sections[i].sh_offset)
            return &sections[i];
    return NULL;
}

/* Does the object, which LLVM made, need functions of a library? */
static bool wants_others(const char *object, size_t size)
{
    const Elf64_Shdr *table = symbol_table(object, size);
    const Elf64_Sym *symbols = table ? (const void *)(object + table->sh_offset) : NULL;

    for (size_t i = 1; table && i < table->sh_size / sizeof(*symbols); i++)
        if (symbols[i].st_shndx == SHN_UNDEF)
            return true;
    return !table;
}

/* LLVM leaves some functions to the C library's mathematics, and conversions of halves to the C compiler's library
 * where the processor has no instructions for them. The application need not have loaded these, so the shared object
 * must name them. Returns the file of the library that this process has (static). Reading libraries takes more than
 * half of the linker's time, so objects that need none are linked without. */
static char *library_here(const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    struct link_map *map;

    return library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : NULL;
}

/* Returns the status as wait does; -1: no process can be made. out: the output's file. */
static int run_linker(char *const *arguments, unsigned n, int out)
{
#ifdef TESELA_LD
    (void)n;
    (void)out;
    return kc_run_child(arguments, -1);
#else
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        _exit(dup2(out, STDOUT_FILENO) >= 0 && kc_own_linker((const char *const *)arguments, n) ? 0 : 1);
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
#endif
}

bool kc_link_object(const void *object, size_t size, struct kc_bytes *shared, FILE *log)
{
    int in = kc_memory_file(object, size), out = kc_memory_file(NULL, 0);
    char in_path[KC_PATH_SIZE], out_path[KC_PATH_SIZE];
    bool done = false;

    if (in >= 0 && out >= 0) {
        bool wants = wants_others(object, size);
        char *math = wants ? library_here("libm.so.6") : NULL, *compiler = wants ? library_here("libgcc_s.so.1") : NULL;
        char *arguments[16] = {LINKER,        "-shared",
                               "-s",          "-z",
                               "now",         "-z",
                               "noexecstack", "--hash-style=gnu",
                               "-o",          kc_path_of(out, out_path)};
        unsigned n = 10;

#ifndef TESELA_LD
        arguments[n - 1] = "-";         /* LLD makes a new file beside any other, and files in memory have no folder. */
        arguments[n++] = "--threads=1"; /* More cost more than they gain. */
#endif
        arguments[n++] = kc_path_of(in, in_path);
        arguments[n++] = "--as-needed";
        if (math)
            arguments[n++] = math;
        if (compiler)
            arguments[n++] = compiler;
        done = run_linker(arguments, n, out) == 0 && kc_read_whole(out, shared);
    }
    if (in < 0 || out < 0)
        fprintf(log, "error: the linker's files can't be made: %s\n", strerror(errno));
    else if (!done)
        fprintf(log, "error: the linker " LINKER " failed" LINKER_HINT "\n");
    close(in);
    close(out);
    return done;
}
