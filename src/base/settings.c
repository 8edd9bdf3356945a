#include "base/settings.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* One row for each variable: how it is read, how it is shown, and what a user may write. */
struct variable {
    const char *name;
    bool (*read)(struct tsl_settings *settings, const struct variable *variable, const char *value);
    void (*show)(const struct tsl_settings *settings, const struct variable *variable, FILE *out);
    size_t field;             /* for read_word and read_text: where in struct tsl_settings */
    const char *const *words; /* for read_word: the enum's names in its order, closed by NULL */
    const char *values;       /* ends the sentence "use ..." */
    const char *fallback;     /* ends the sentence "It goes on with ..." */
};

static bool find_word(const char *value, const char *const words[], unsigned *index)
{
    for (*index = 0; words[*index]; ++*index)
        if (strcasecmp(value, words[*index]) == 0)
            return true;
    return false;
}

/* Never written, never freed. */
static char vendors_default[] = TSL_VENDORS_DEFAULT;

/* ---- TESELA_MEMBERS ---- */

/* The next item of a comma list, without the blanks around it; *length is 0 for an empty item. Returns where the item
 * begins, and moves *text to the rest, or to NULL after the last item. */
static const char *next_item(const char **text, size_t *length)
{
    const char *item = *text + strspn(*text, " \t");
    const char *comma = strchr(item, ',');

    *length = comma ? (size_t)(comma - item) : strlen(item);
    while (*length > 0 && (item[*length - 1] == ' ' || item[*length - 1] == '\t'))
        --*length;
    *text = comma ? comma + 1 : NULL;
    return item;
}

static void free_members(struct tsl_settings *settings)
{
    for (size_t i = 0; i < settings->n_members; i++)
        free(settings->members[i]);
    free(settings->members);
    settings->members = NULL;
    settings->n_members = 0;
}

static bool add_member(struct tsl_settings *settings, const char *item, size_t length)
{
    char **grown = realloc(settings->members, (settings->n_members + 1) * sizeof *grown);

    if (!grown)
        return false;
    settings->members = grown;
    settings->members[settings->n_members] = strndup(item, length);
    if (!settings->members[settings->n_members])
        return false;
    settings->n_members++;
    return true;
}

/* A list without any item is more likely a slip than the wish for no member at all. */
static bool read_members(struct tsl_settings *settings, const struct variable *variable, const char *value)
{
    (void)variable;
    while (value) {
        size_t length;
        const char *item = next_item(&value, &length);

        if (length > 0 && !add_member(settings, item, length)) {
            free_members(settings);
            return true;
        }
    }
    return settings->n_members > 0;
}

static void show_members(const struct tsl_settings *settings, const struct variable *variable, FILE *out)
{
    (void)variable;
    for (size_t i = 0; i < settings->n_members; i++)
        fprintf(out, "%s%s", i ? "," : "", settings->members[i]);
}

/* ---- TESELA_MEMORY ---- */

static void free_memory(struct tsl_settings *settings)
{
    for (size_t i = 0; i < settings->n_memory; i++)
        free(settings->memory[i].member);
    free(settings->memory);
    settings->memory = NULL;
    settings->n_memory = 0;
}

/* A whole number > 0 of bytes, or with K, M, G or T behind it. */
static bool read_size(const char *text, size_t length, uint64_t *size)
{
    static const char units[] = "KMGT";
    size_t digits = strspn(text, "0123456789");
    const char *unit = length == digits + 1 ? strchr(units, text[digits] & ~0x20) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

    if (digits == 0 || digits > 18 || (length != digits && !unit))
        return false;
    *size = strtoull(text, NULL, 10);
    if (*size == 0 || *size > UINT64_MAX >> shift >> 1)
        return false;
    *size <<= shift;
    return true;
}

/* "cpu=512M". Names may have a '=': the last one counts. Blanks around it are dropped. False: not understood. */
static bool read_bound(const char *item, size_t length, struct tsl_memory_bound *bound)
{
    const char *equals = memrchr(item, '=', length);
    size_t named = equals ? (size_t)(equals - item) : 0;
    const char *size = equals ? equals + 1 : "";

    while (named > 0 && (item[named - 1] == ' ' || item[named - 1] == '\t'))
        named--;
    size += strspn(size, " \t");
    if (named == 0 || size > item + length || !read_size(size, (size_t)(item + length - size), &bound->size))
        return false;
    bound->member = strndup(item, named);
    return true;
}

static bool read_memory(struct tsl_settings *settings, const struct variable *variable, const char *value)
{
    /* A text of n characters has at most n + 1 items. */
    struct tsl_memory_bound *bounds = calloc(strlen(value) + 1, sizeof *bounds);
    bool good = true;

    (void)variable;
    settings->memory = bounds;
    while (bounds && value && good) {
        size_t length;
        const char *item = next_item(&value, &length);

        good = length == 0 || read_bound(item, length, &bounds[settings->n_memory]);
        settings->n_memory += length > 0 && bounds[settings->n_memory].member;
    }
    good = good && settings->n_memory > 0;
    if (!good)
        free_memory(settings);
    return good || !bounds;
}

static void show_memory(const struct tsl_settings *settings, const struct variable *variable, FILE *out)
{
    (void)variable;
    for (size_t i = 0; i < settings->n_memory; i++) {
        uint64_t size = settings->memory[i].size;
        unsigned unit = 0;

        for (; unit < 4 && size % 1024 == 0; unit++)
            size /= 1024;
        fprintf(out, "%s%s=%" PRIu64 "%.1s", i ? "," : "", settings->memory[i].member, size, &"\0KMGT"[unit]);
    }
}

/* ---- TESELA_POLICY ---- */

static const char *const policy_words[] = {"auto",        "eager",   "model",         "fastest",
                                           "round-robin", "weights", "weights-whole", NULL};

/* One weight, read in the C locale: the application may have set a locale with a decimal comma. */
static bool read_weight(const char *item, size_t length, locale_t c_locale, double *weight)
{
    char *end;

    /* No sign and no word such as "inf"; an exponent is allowed, as large numbers are printed with one. */
    if (length == 0 || strspn(item, "0123456789.") == 0 || strspn(item, "0123456789.eE+-") < length)
        return false;
    *weight = strtod_l(item, &end, c_locale);
    return end == item + length && *weight <= 1e300;
}

static bool read_weight_list(const char *text, locale_t c_locale, double *weights, size_t *n)
{
    double sum = 0;

    for (*n = 0; text; ++*n) {
        size_t length;
        const char *item = next_item(&text, &length);

        if (!read_weight(item, length, c_locale, &weights[*n]))
            return false;
        sum += weights[*n];
    }
    return sum > 0;
}

static bool read_weights(struct tsl_settings *settings, enum tsl_policy policy, const char *text)
{
    /* A text of n characters has at most n + 1 items. */
    double *weights = calloc(strlen(text) + 1, sizeof *weights);
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    bool good = weights && c_locale && read_weight_list(text, c_locale, weights, &settings->n_weights);

    if (c_locale)
        freelocale(c_locale);
    if (!good) {
        free(weights);
        settings->n_weights = 0;
        return false;
    }
    settings->weights = weights;
    settings->policy = policy;
    return true;
}

static bool read_policy(struct tsl_settings *settings, const struct variable *variable, const char *value)
{
    (void)variable;
    unsigned word;

    if (strncasecmp(value, "weights=", strlen("weights=")) == 0)
        return read_weights(settings, TSL_POLICY_WEIGHTS, value + strlen("weights="));
    if (strncasecmp(value, "weights-whole=", strlen("weights-whole=")) == 0)
        return read_weights(settings, TSL_POLICY_WEIGHTS_WHOLE, value + strlen("weights-whole="));
    if (!find_word(value, policy_words, &word) || word >= TSL_POLICY_WEIGHTS)
        return false;
    settings->policy = (enum tsl_policy)word;
    return true;
}

static void show_policy(const struct tsl_settings *settings, const struct variable *variable, FILE *out)
{
    (void)variable;
    fputs(policy_words[settings->policy], out);
    for (size_t i = 0; i < settings->n_weights; i++)
        fprintf(out, "%c%g", i ? ',' : '=', settings->weights[i]);
}

/* ---- Settings of one word, of one text ---- */

static const char *const split_words[] = {"auto",         "alike",         "domain",       "off",           "always",
                                          "always:exact", "always:domain", "always:merge", "always:reduce", NULL};
static const char *const order_words[] = {"async", "sync", NULL};
static const char *const limits_words[] = {"all", "fastest", NULL};
static const char *const larger_words[] = {"no", "yes", NULL};
static const char *const device_type_words[] = {"auto", "gpu", "cpu", "accelerator", NULL};
static const char *const device_name_words[] = {"own", "fastest", NULL};
static const char *const profiling_words[] = {"serial", "overlap", NULL};
static const char *const cpu_words[] = {"built-in", "opencl", NULL};
static const char *const nvidia_words[] = {"cuda", "opencl", NULL};
static const char *const reproducible_words[] = {"no", "yes", NULL};
static const char *const zero_copy_words[] = {"on", "off", NULL};
static const char *const pinned_words[] = {"auto", "on", "off", NULL};
static const char *const filter_words[] = {"hardware", "exact", NULL};
static const char *const staging_words[] = {"off", "auto", "on", NULL};
static const char *const nodes_common_words[] = {"on", "off", NULL};
static const char *const peers_words[] = {"on", "off", NULL};
static const char *const open_words[] = {"auto", "all", NULL};
static const char *const senders_words[] = {"auto", "always", "off", NULL};
static const char *const svm_words[] = {"auto", "coarse", "off", NULL};
static const char *const vendor_roles_words[] = {"auto", "on", "off", NULL};
static const char *const gates_words[] = {"auto", "on", "off", NULL};

/* The enums of settings.h are stored as unsigned, the type that GCC and Clang choose as no value is negative. */
_Static_assert(sizeof(enum tsl_order) == sizeof(unsigned), "read_word writes the enums as unsigned");

static bool read_word(struct tsl_settings *settings, const struct variable *variable, const char *value)
{
    unsigned word;

    if (!find_word(value, variable->words, &word))
        return false;
    memcpy((char *)settings + variable->field, &word, sizeof word);
    return true;
}

static void show_word(const struct tsl_settings *settings, const struct variable *variable, FILE *out)
{
    unsigned word;

    memcpy(&word, (const char *)settings + variable->field, sizeof word);
    fputs(variable->words[word], out);
}

static bool read_text(struct tsl_settings *settings, const struct variable *variable, const char *value)
{
    char *copy = strdup(value);

    if (copy)
        memcpy((char *)settings + variable->field, &copy, sizeof copy);
    return true;
}

static void show_text(const struct tsl_settings *settings, const struct variable *variable, FILE *out)
{
    const char *text;

    memcpy(&text, (const char *)settings + variable->field, sizeof text);
    fputs(text ? text : "", out);
}

/* Absolute paths only: relative to the folder in which the program happens to run would be a surprise. */
static bool read_path(struct tsl_settings *settings, const struct variable *variable, const char *value)
{
    return value[0] == '/' && read_text(settings, variable, value);
}

/* ---- TESELA_CACHE ---- */

static bool read_cache(struct tsl_settings *settings, const struct variable *variable, const char *value)
{
    settings->cache_off = strcasecmp(value, "off") == 0;
    return settings->cache_off || read_path(settings, variable, value);
}

static void show_cache(const struct tsl_settings *settings, const struct variable *variable, FILE *out)
{
    if (settings->cache_off)
        fputs("off", out);
    else
        show_text(settings, variable, out);
}

/* ---- TESELA_SPIRV ---- */

static bool read_spirv(struct tsl_settings *settings, const struct variable *variable, const char *value)
{
    return strcasecmp(value, "off") == 0 ? read_text(settings, variable, "off") : read_path(settings, variable, value);
}

/* ---- TESELA_CHECK ---- */

static const char *const checks[] = {"access", "coherence", "split", "variants"}; /* by the number of the bit */

#define N_CHECKS (sizeof(checks) / sizeof(checks[0]))

static bool read_check(struct tsl_settings *settings, const struct variable *variable, const char *value)
{
    (void)variable;
    unsigned check = 0;

    while (value) {
        size_t length, i = 0;
        const char *item = next_item(&value, &length);

        while (i < N_CHECKS && (length != strlen(checks[i]) || strncasecmp(item, checks[i], length) != 0))
            i++;
        if (i == N_CHECKS)
            return false;
        check |= 1u << i;
    }
    settings->check = check;
    return true;
}

static void show_check(const struct tsl_settings *settings, const struct variable *variable, FILE *out)
{
    const char *before = "";

    (void)variable;
    for (unsigned i = 0; i < N_CHECKS; i++) {
        if (!(settings->check & 1u << i))
            continue;
        fprintf(out, "%s%s", before, checks[i]);
        before = ",";
    }
}

/* ---- TESELA_LOG ---- */

static bool read_log(struct tsl_settings *settings, const struct variable *variable, const char *value)
{
    (void)variable;
    return tsl_log_parse(value, &settings->log);
}

/* The most talkative level of a module, or "off". */
static const char *module_level(uint64_t mask, unsigned module)
{
    for (unsigned level = TSL_N_LOG_LEVELS; level-- > 0;)
        if (mask & tsl_log_bit((enum tsl_log_module)module, (enum tsl_log_level)level))
            return tsl_log_level_name((enum tsl_log_level)level);
    return "off";
}

static void show_log(const struct tsl_settings *settings, const struct variable *variable, FILE *out)
{
    (void)variable;
    const char *first = module_level(settings->log, 0);

    fputs(first, out);
    for (unsigned module = 1; module < TSL_N_LOG_MODULES; module++) {
        const char *level = module_level(settings->log, module);

        if (strcmp(level, first) != 0)
            fprintf(out, ",%s:%s", tsl_log_module_name((enum tsl_log_module)module), level);
    }
}

/* ---- The table ---- */

#define FIELD(field) offsetof(struct tsl_settings, field)

static const struct variable variables[] = {
    {"TESELA_MEMBERS", read_members, show_members, 0, NULL,
     "a comma list such as cpu,opencl:0.1,pocl (see `tesela info`)", "all members"},
    {"TESELA_MEMORY", read_memory, show_memory, 0, NULL,
     "a comma list of members with a size each, such as cpu=512M,cuda:0=20G (K, M, G and T count in steps of 1024)",
     "all of each member's memory"},
    {"TESELA_VENDORS", read_text, show_text, FIELD(vendors), NULL, "a folder of .icd files", TSL_VENDORS_DEFAULT},
    {"TESELA_CPU", read_word, show_word, FIELD(cpu), cpu_words, "built-in or opencl", "built-in"},
    {"TESELA_NVIDIA", read_word, show_word, FIELD(nvidia), nvidia_words, "cuda or opencl", "cuda"},
    {"TESELA_CUDA_LIBRARY", read_path, show_text, FIELD(cuda_library), NULL, "a library's whole path, beginning with /",
     "libcuda.so.1"},
    {"TESELA_POLICY", read_policy, show_policy, 0, NULL,
     "auto, eager, model, fastest, round-robin, weights=1,3,... or weights-whole=1,3,... with a number for each member",
     "auto"},
    {"TESELA_SPLIT", read_word, show_word, FIELD(split), split_words,
     "auto, alike, domain, off, always, or always: with exact, domain, merge or reduce behind it", "auto"},
    {"TESELA_ORDER", read_word, show_word, FIELD(order), order_words, "async or sync", "async"},
    {"TESELA_NODES", read_path, show_text, FIELD(nodes), NULL, "a socket's whole path, beginning with /", "no nodes"},
    {"TESELA_NODES_COMMON", read_word, show_word, FIELD(nodes_common), nodes_common_words, "on or off", "on"},
    {"TESELA_CONFIG", read_text, show_text, FIELD(config), NULL, "a file", "no file"},
    {"TESELA_BINARIES", read_text, show_text, FIELD(binaries), NULL, "a folder", "no folder"},
    {"TESELA_VARIANTS", read_text, show_text, FIELD(variants), NULL, "a folder", "no folder"},
    {"TESELA_PROCESSOR", read_text, show_text, FIELD(processor), NULL, "a processor's name that LLVM knows",
     "this machine's own"},
    {"TESELA_SPIRV", read_spirv, show_text, FIELD(spirv), NULL, "a program's whole path, beginning with /, or off",
     "/usr/bin/llvm-spirv-15"},
    {"TESELA_TRACE", read_text, show_text, FIELD(trace), NULL, "a file", "no timeline"},
    {"TESELA_LIMITS", read_word, show_word, FIELD(limits), limits_words, "all or fastest", "all"},
    {"TESELA_LARGER", read_word, show_word, FIELD(larger), larger_words, "yes or no", "no"},
    {"TESELA_DEVICE_TYPE", read_word, show_word, FIELD(device_type), device_type_words, "auto, gpu, cpu or accelerator",
     "auto"},
    {"TESELA_DEVICE_NAME", read_word, show_word, FIELD(device_name), device_name_words, "own or fastest", "own"},
    {"TESELA_REPRODUCIBLE", read_word, show_word, FIELD(reproducible), reproducible_words, "yes or no", "no"},
    {"TESELA_PROFILING", read_word, show_word, FIELD(profiling), profiling_words, "serial or overlap", "serial"},
    {"TESELA_ZERO_COPY", read_word, show_word, FIELD(zero_copy), zero_copy_words, "on or off", "on"},
    {"TESELA_FILTER", read_word, show_word, FIELD(filter), filter_words, "hardware or exact", "hardware"},
    {"TESELA_PINNED", read_word, show_word, FIELD(pinned), pinned_words, "auto, on or off", "auto"},
    {"TESELA_STAGING", read_word, show_word, FIELD(staging), staging_words, "off, auto or on", "off"},
    {"TESELA_PEERS", read_word, show_word, FIELD(peers), peers_words, "on or off", "on"},
    {"TESELA_OPEN", read_word, show_word, FIELD(open), open_words, "auto or all", "auto"},
    {"TESELA_SENDERS", read_word, show_word, FIELD(senders), senders_words, "auto, always or off", "auto"},
    {"TESELA_SVM", read_word, show_word, FIELD(svm), svm_words, "auto, coarse or off", "auto"},
    {"TESELA_GATES", read_word, show_word, FIELD(gates), gates_words, "auto, on or off", "auto"},
    {"TESELA_VENDOR_ROLES", read_word, show_word, FIELD(vendor_roles), vendor_roles_words, "auto, on or off", "auto"},
    {"TESELA_CHECK", read_check, show_check, 0, NULL, "access, coherence, split and variants, with commas between",
     "no checks"},
    {"TESELA_CACHE", read_cache, show_cache, FIELD(cache), NULL, "off, or a folder's whole path, beginning with /",
     "the user's cache folder"},
    {"TESELA_LOG", read_log, show_log, 0, NULL,
     "off, error, warn, info or debug, or MODULE:LEVEL with the modules icd, api, base, device, program, tile, graph, "
     "place, driver, opencl, compiler and trace",
     "error"},
};

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- Reading ---- */

/* Adds a sentence of complaint; out is NULL if memory lacks even for that. */
static void __attribute__((format(printf, 2, 3))) complain(FILE *out, const char *format, ...)
{
    va_list args;

    if (!out)
        return;
    va_start(args, format);
    fputs("tesela: ", out);
    vfprintf(out, format, args);
    fputc('\n', out);
    va_end(args);
}

static const char *get_value(const char *(*get)(const char *, void *), const char *name, void *data)
{
    const char *value = get(name, data);

    return value && value[0] ? value : NULL;
}

/* The user's cache folder by the XDG base directory specification, which ignores relative paths. */
static void default_cache(struct tsl_settings *settings, const char *(*get)(const char *, void *), void *data)
{
    const char *xdg = get_value(get, "XDG_CACHE_HOME", data);
    const char *home = get_value(get, "HOME", data);
    int written = 0;

    if (settings->cache || settings->cache_off)
        return;
    if (xdg && xdg[0] == '/')
        written = asprintf(&settings->cache, "%s/tesela", xdg);
    else if (home && home[0] == '/')
        written = asprintf(&settings->cache, "%s/.cache/tesela", home);
    if (written < 0)
        settings->cache = NULL;
}

void tsl_settings_parse(struct tsl_settings *settings, const char *(*get)(const char *name, void *data), void *data)
{
    size_t size;
    FILE *out;

    *settings = (struct tsl_settings){.vendors = vendors_default, .log = tsl_log_default()};
    out = open_memstream(&settings->complaints, &size);
    for (size_t i = 0; i < N_OF(variables); i++) {
        const struct variable *variable = &variables[i];
        const char *value = get_value(get, variable->name, data);

        if (value && !variable->read(settings, variable, value))
            complain(out, "%s=%s is not understood: use %s. It goes on with %s.", variable->name, value,
                     variable->values, variable->fallback);
    }
    default_cache(settings, get, data);
    if (!out || fclose(out) != 0 || size == 0) {
        free(settings->complaints);
        settings->complaints = NULL;
    }
}

void tsl_settings_finish(struct tsl_settings *settings)
{
    free_members(settings);
    free_memory(settings);
    if (settings->vendors != vendors_default)
        free(settings->vendors);
    free(settings->weights);
    free(settings->cuda_library);
    free(settings->nodes);
    free(settings->config);
    free(settings->binaries);
    free(settings->variants);
    free(settings->processor);
    free(settings->spirv);
    free(settings->cache);
    free(settings->trace);
    free(settings->complaints);
    *settings = (struct tsl_settings){.vendors = vendors_default};
}

const char *tsl_settings_hint(const char *name, const char *value)
{
    struct tsl_settings settings = {.vendors = vendors_default};
    const char *hint = NULL;

    for (size_t i = 0; i < N_OF(variables); i++)
        if (value[0] && strcmp(variables[i].name, name) == 0 && !variables[i].read(&settings, &variables[i], value))
            hint = variables[i].values;
    tsl_settings_finish(&settings);
    return hint;
}

void tsl_settings_each(const struct tsl_settings *settings,
                       void (*visit)(const char *name, const char *value, void *data), void *data)
{
    for (size_t i = 0; i < N_OF(variables); i++) {
        char *value = NULL;
        size_t size;
        FILE *out = open_memstream(&value, &size);

        if (out) {
            variables[i].show(settings, &variables[i], out);
            if (fclose(out) == 0)
                visit(variables[i].name, value, data);
        }
        free(value);
    }
}

/* ---- The process's settings ---- */

static struct tsl_settings process_settings;

/* secure_getenv answers NULL in programs that run with raised rights. */
static const char *get_environment(const char *name, void *data)
{
    (void)data;
    return secure_getenv(name);
}

/* One write, so that the sentences stay together. A closed standard error is the user's choice. */
static void say_complaints(const char *complaints)
{
    if (complaints)
        tsl_file_write(STDERR_FILENO, complaints, strlen(complaints));
}

static void read_environment(void)
{
    tsl_settings_parse(&process_settings, get_environment, NULL);
    say_complaints(process_settings.complaints);
}

const struct tsl_settings *tsl_settings(void)
{
    /* Not C11's call_once: ThreadSanitizer doesn't know it. */
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_environment);
    return &process_settings;
}
