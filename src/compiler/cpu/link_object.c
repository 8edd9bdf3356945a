/*
 * From object files to a shared object: runs `ld` as a child, or the linker that is a part of this program, on files
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

/* Objects of another process lie wherever its reply has them. */
static bool copy_from(const char *object, size_t size, uint64_t at, void *to, size_t n)
{
    if (at > size || size - at < n)
        return false;
    memcpy(to, object + at, n);
    return true;
}

static bool find_symbols(const char *object, size_t size, Elf64_Shdr *table)
{
    Elf64_Ehdr head;

    if (!copy_from(object, size, 0, &head, sizeof(head)))
        return false;
    for (unsigned i = 0; i < head.e_shnum; i++)
        if (copy_from(object, size, head.e_shoff + i * sizeof(*table), table, sizeof(*table)) &&
            table->sh_type == SHT_SYMTAB)
            return true;
    return false;
}

/* Does the object, which LLVM made, need functions of a library? */
static bool wants_others(const char *object, size_t size)
{
    Elf64_Shdr table;
    Elf64_Sym symbol;

    if (!find_symbols(object, size, &table))
        return true;
    for (uint64_t i = 1; i < table.sh_size / sizeof(symbol); i++)
        if (!copy_from(object, size, table.sh_offset + i * sizeof(symbol), &symbol, sizeof(symbol)) ||
            symbol.st_shndx == SHN_UNDEF)
            return true;
    return false;
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

/* One call of the linker: its arguments, the files in memory that it reads, and their paths. */
struct order {
    char *arguments[KC_MAX_OBJECTS + 16];
    unsigned n_arguments;
    int files[KC_MAX_OBJECTS];
    unsigned n_files;
    char paths[KC_MAX_OBJECTS + 1][KC_PATH_SIZE]; /* the last is the output's */
};

static void say(struct order *order, const char *argument)
{
    order->arguments[order->n_arguments++] = (char *)(uintptr_t)argument;
}

static void begin(struct order *order, int out)
{
    static const char *const all[] = {LINKER,        "-shared",          "-s", "-z", "now", "-z",
                                      "noexecstack", "--hash-style=gnu", "-o"};

    *order = (struct order){.n_arguments = 0};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        say(order, all[i]);
#ifdef TESELA_LD
    say(order, kc_path_of(out, order->paths[KC_MAX_OBJECTS]));
#else
    (void)out;
    say(order, "-");           /* LLD makes a new file beside any other, and files in memory have no folder. */
    say(order, "--threads=1"); /* More cost more than they gain. */
#endif
}

/* False: errno. */
static bool add_objects(struct order *order, const struct kc_bytes *objects, unsigned n)
{
    for (; order->n_files < n; order->n_files++) {
        int file = kc_memory_file(objects[order->n_files].data, objects[order->n_files].size);

        if (file < 0)
            return false;
        order->files[order->n_files] = file;
        say(order, kc_path_of(file, order->paths[order->n_files]));
    }
    return true;
}

static void add_libraries(struct order *order, const struct kc_bytes *objects, unsigned n)
{
    static const char *const names[] = {"libm.so.6", "libgcc_s.so.1"};
    bool wants = false;

    for (unsigned i = 0; i < n; i++)
        wants |= wants_others(objects[i].data, objects[i].size);
    say(order, "--as-needed");
    for (size_t i = 0; wants && i < sizeof(names) / sizeof(names[0]); i++)
        if (library_here(names[i]))
            say(order, library_here(names[i]));
}

bool kc_link_objects(const struct kc_bytes *objects, unsigned n, struct kc_bytes *shared, FILE *log)
{
    int out = kc_memory_file(NULL, 0);
    struct order order;
    bool done = false;

    begin(&order, out);
    if (out < 0 || !add_objects(&order, objects, n))
        fprintf(log, "error: the linker's files can't be made: %s\n", strerror(errno));
    else {
        add_libraries(&order, objects, n);
        done = run_linker(order.arguments, order.n_arguments, out) == 0 && kc_read_whole(out, shared);
        if (!done)
            fprintf(log, "error: the linker " LINKER " failed" LINKER_HINT "\n");
    }
    for (unsigned i = 0; i < order.n_files; i++)
        close(order.files[i]);
    if (out >= 0)
        close(out);
    return done;
}
