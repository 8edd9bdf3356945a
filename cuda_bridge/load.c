#include "cuda_bridge/load.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libcuda.so.1"

struct tsl_cuda_functions tsl_cu;
bool tsl_cu_graphs;

struct symbol {
    const char *name;
    size_t field;
};

#define ROW(name, parameters) {#name, offsetof(struct tsl_cuda_functions, name)},
static const struct symbol symbols[] = {TSL_CUDA_SYMBOLS(ROW)}, graphs[] = {TSL_CUDA_GRAPH_SYMBOLS(ROW)};
#undef ROW

/* The name of the first function that the library lacks; NULL: it has all. */
static const char *look_up(void *library, const struct symbol *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *address = dlsym(library, list[i].name);

        if (!address)
            return list[i].name;
        memcpy((char *)&tsl_cu + list[i].field, &address, sizeof(address));
    }
    return NULL;
}

/* dlerror() has no codes. Whether the library is missing, or can't be loaded (a dependence of it is missing, it is for
 * another machine), is seen by the name that the text says is missing. */
static bool is_absent(const char *name, const char *error)
{
    return !strncmp(error, name, strlen(name)) && strstr(error, "No such file or directory");
}

enum tsl_cuda_load tsl_cuda_load(const char *name, char **why)
{
    const char *wanted = name ? name : LIBRARY, *error, *missing;
    void *library = dlopen(wanted, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool absent;

    *why = NULL;
    if (!library) {
        error = dlerror();
        absent = error && is_absent(wanted, error);
        if (absent ? asprintf(why, "CUDA: there is no %s where libraries are looked for, so no NVIDIA driver is used",
                              wanted) < 0
                   : asprintf(why, "CUDA: %s could not be loaded: %s", wanted, error ? error : "no reason given") < 0)
            *why = NULL;
        return absent ? TSL_CUDA_ABSENT : TSL_CUDA_BROKEN;
    }
    missing = look_up(library, symbols, sizeof(symbols) / sizeof(symbols[0]));
    tsl_cu_graphs = !missing && !look_up(library, graphs, sizeof(graphs) / sizeof(graphs[0]));
    if (!missing)
        return TSL_CUDA_THERE;
    if (asprintf(why, "CUDA: %s has no %s; Tesela needs the driver of CUDA 11.7 (515) or newer", wanted, missing) < 0)
        *why = NULL;
    return TSL_CUDA_BROKEN;
}
