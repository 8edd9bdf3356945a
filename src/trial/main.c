/*
 * tesela-try: calls a variant's function once, on copies of a launch's memory, so that a crash ends this process and no
 * other. Descriptor 3 is the file that variant/trial.h describes; what came of it is written there.
 */
#include "variant/trial.h"

#include <CL/cl_tesela.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTOR 3
#define MAX_ARGS   1024u
#define MAX_NAMES  256u

static struct tsl_trial_file *map_file(void)
{
    struct tsl_trial_file *file;
    struct stat status;

    if (fstat(DESCRIPTOR, &status) < 0 || (size_t)status.st_size < sizeof(*file))
        return NULL;
    file = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, DESCRIPTOR, 0);
    if (file == MAP_FAILED || file->magic != TSL_TRIAL_MAGIC || file->size != (uint64_t)status.st_size ||
        file->n_args > MAX_ARGS)
        return NULL;
    return file;
}

/* The loader of shared objects read its variables when this process began, so it begins once more with them. */
static void begin_again(struct tsl_trial_file *file)
{
    char name[] = "tesela-try", again[] = "again", *arguments[] = {name, again, NULL};
    char *environment[MAX_NAMES + 1], *at = file->environment;
    unsigned n = 0;

    for (; *at && n < MAX_NAMES; at += strlen(at) + 1)
        environment[n++] = at;
    environment[n] = NULL;
    execve("/proc/self/exe", arguments, environment);
}

static uint32_t call(struct tsl_trial_file *file, cl_variant_function_tesela function)
{
    cl_variant_argument_tesela *args = calloc(file->n_args + 1, sizeof(*args));
    cl_variant_launch_tesela launch = {.structure_size = sizeof(launch),
                                       .work_dim = file->work_dim,
                                       .n_arguments = file->n_args,
                                       .arguments = args,
                                       .n_threads = file->n_threads};

    if (!args)
        return TSL_TRIAL_IS_REFUSED;
    for (unsigned d = 0; d < 3; d++) {
        launch.global_offset[d] = file->offset[d];
        launch.global_size[d] = file->global[d];
        launch.local_size[d] = file->local[d];
        launch.begin[d] = file->begin[d];
        launch.end[d] = file->end[d];
    }
    for (uint32_t i = 0; i < file->n_args; i++)
        args[i] = (cl_variant_argument_tesela){file->args[i].kind, file->args[i].size,
                                               file->args[i].at ? (char *)file + file->args[i].at : NULL};
    return function(&launch, NULL) ? TSL_TRIAL_IS_REFUSED : TSL_TRIAL_IS_WELL;
}

int main(int argc, char **argv)
{
    struct tsl_trial_file *file = map_file();
    cl_variant_function_tesela function = NULL;
    void *library;

    (void)argv;
    if (!file)
        return 2;
    if (argc < 2)
        begin_again(file);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    library = dlopen(file->library, RTLD_NOW | RTLD_LOCAL);
    if (library)
        function = (cl_variant_function_tesela)(uintptr_t)dlsym(library, file->function);
    if (!function) {
        atomic_store(&file->state, library ? TSL_TRIAL_NO_FUNCTION : TSL_TRIAL_NO_LIBRARY);
        return 1;
    }
    atomic_store(&file->state, TSL_TRIAL_LOADED);
    atomic_store(&file->state, call(file, function));
    _exit(0); /* What the library does at exit is no part of the trial. */
}
