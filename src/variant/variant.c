/* The life of variants, the folder of them, and which kernels they are for. */
#include "variant/variant.h"

#include "base/log.h"
#include "base/settings.h"
#include "members/choose.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_SIZE (1u << 16) /* of a description, bytes */
#define ENDING   ".variant"

/* ---- Life -------------------------------------------------------------------------------------------------------- */

/* A library that was loaded stays: threads of its own may run in it. */
static void destroy(struct tsl_variant *v)
{
    for (unsigned i = 0; i < v->n_digests; i++)
        free(v->digests[i]);
    for (unsigned i = 0; i < v->n_args; i++)
        free(v->arg_names[i]);
    for (unsigned i = 0; i < v->n_guards; i++)
        tsl_expression_free(v->guards[i]);
    for (unsigned d = 0; d < 3; d++) {
        tsl_expression_free(v->global[d]);
        tsl_expression_free(v->local[d]);
    }
    free(v->guards);
    free(v->digests);
    free(v->arg_names);
    free(v->arg_types);
    free(v->name);
    free(v->kernel);
    free(v->options);
    free(v->members);
    free(v->file);
    free(v->function);
    free(v->build_options);
    tsl_lock_finish(&v->calls);
    free(v);
}

struct tsl_variant *tsl_variant_ref(struct tsl_variant *variant)
{
    /* Relaxed: the caller has a reference already. */
    atomic_fetch_add_explicit(&variant->refs, 1, memory_order_relaxed);
    return variant;
}

void tsl_variant_unref(struct tsl_variant *variant)
{
    /* As in tsl_fence_unref(). */
    if (variant && atomic_fetch_sub_explicit(&variant->refs, 1, memory_order_acq_rel) == 1)
        destroy(variant);
}

void tsl_variant_put_out(struct tsl_variant *variant, const char *why)
{
    if (atomic_exchange(&variant->state, TSL_VARIANT_OUT) != TSL_VARIANT_OUT)
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_ERROR, "the variant %s of kernel %s is left out: %s", variant->name,
                variant->kernel, why);
}

/* ---- The folder -------------------------------------------------------------------------------------------------- */

static struct {
    pthread_once_t once;
    unsigned n;
    struct tsl_variant **list;
} folder = {.once = PTHREAD_ONCE_INIT};

static void tell(void *arg, const char *sentence)
{
    (void)arg;
    tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_ERROR, "%s", sentence);
}

static void add(struct tsl_variant *variant)
{
    struct tsl_variant **more = variant ? realloc(folder.list, (folder.n + 1) * sizeof(*more)) : NULL;

    if (!more) {
        tsl_variant_unref(variant);
        return;
    }
    folder.list = more;
    more[folder.n++] = variant;
}

static void read_one(const char *path, const char *file)
{
    char *whole = NULL, *text = calloc(1, MAX_SIZE + 1), *name = strndup(file, strlen(file) - strlen(ENDING));
    FILE *in = asprintf(&whole, "%s/%s", path, file) < 0 ? NULL : fopen(whole, "re");

    if (in && text && name && fread(text, 1, MAX_SIZE, in) > 0)
        add(tsl_variant_parse(text, name, path, tell, NULL));
    else
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_ERROR, "the variant %s/%s can't be read, or is empty: it is left out", path,
                file);
    if (in)
        fclose(in);
    free(name);
    free(text);
    free(whole);
}

static int is_variant(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), end = strlen(ENDING);

    return length > end && !strcmp(entry->d_name + length - end, ENDING);
}

static void read_folder(void)
{
    const char *path = tsl_settings()->variants;
    struct dirent **entries = NULL;
    int n = path ? scandir(path, &entries, is_variant, alphasort) : 0;

    if (n < 0)
        tsl_log(TSL_LOG_IN_PROGRAM, TSL_LOG_ERROR,
                "TESELA_VARIANTS=%s can't be read (%s): kernels have no variants, as without a folder", path,
                strerror(errno));
    for (int i = 0; i < n; i++) {
        read_one(path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

struct tsl_variant *const *tsl_variants_folder(unsigned *n)
{
    pthread_once(&folder.once, read_folder);
    *n = folder.n;
    return folder.list;
}

/* ---- What they are for ------------------------------------------------------------------------------------------- */

static bool is_of_program(const struct tsl_variant *variant, const struct tsl_variant_kernel *kernel)
{
    if (variant->any_program)
        return true;
    for (unsigned i = 0; i < variant->n_digests; i++)
        if (!strcmp(variant->digests[i], kernel->digest))
            return true;
    return false;
}

bool tsl_variant_is_for(const struct tsl_variant *variant, const struct tsl_variant_kernel *kernel)
{
    return !strcmp(variant->kernel, kernel->name) && is_of_program(variant, kernel) &&
           (!strcmp(variant->options, "*") || !strcmp(variant->options, kernel->options));
}

static bool item_fits(const char *item, const struct tsl_path *path)
{
    if (!strcasecmp(item, "gpu"))
        return path->type & CL_DEVICE_TYPE_GPU;
    return tsl_path_fits(path, item);
}

bool tsl_variant_is_for_member(const struct tsl_variant *variant, const struct tsl_path *path)
{
    char *items = strdup(variant->members), *rest = NULL;
    bool fits = items && !*items;

    for (char *item = items ? strtok_r(items, ", \t", &rest) : NULL; item && !fits;
         item = strtok_r(NULL, ", \t", &rest))
        fits = item_fits(item, path);
    free(items);
    return fits;
}

size_t tsl_variant_type_size(enum tsl_variant_type type)
{
    static const unsigned char sizes[TSL_VARIANT_N_TYPES] = {0, 0, 0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

    return sizes[type];
}

static bool arg_fits(enum tsl_variant_type type, const struct tsl_arg_fact *fact)
{
    switch (fact->kind) {
    case TSL_FACT_GLOBAL:
    case TSL_FACT_CONSTANT:
        return type == TSL_VARIANT_BUFFER;
    case TSL_FACT_LOCAL:
        return type == TSL_VARIANT_LOCAL;
    case TSL_FACT_VALUE:
        return type == TSL_VARIANT_OTHER ||
               (tsl_variant_type_size(type) && (!fact->size || fact->size == tsl_variant_type_size(type)));
    case TSL_FACT_UNKNOWN:
        return true;
    default:
        return type == TSL_VARIANT_OTHER;
    }
}

bool tsl_variant_fits(const struct tsl_variant *variant, const struct tsl_kernel_facts *facts)
{
    if (facts->n_args != variant->n_args)
        return false;
    for (cl_uint i = 0; i < facts->n_args; i++)
        if (!arg_fits(variant->arg_types[i], &facts->args[i]))
            return false;
    return true;
}
