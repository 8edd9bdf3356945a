#include "driver/config.h"

#include "base/line_said.h"
#include "base/settings.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_WORDS 5
#define MAX_NUMA  1023u
#define MAX_SIZE  (1u << 20)

struct parser {
    struct tsl_config *config;
    const char *name, *host;
    tsl_config_say_fn *say;
    void *arg;
    unsigned line;
    bool in_node; /* there was a NODE line */
    bool counts;  /* the last one is this machine's */
};

static void say(const struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const struct parser *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tsl_line_said(p->say, p->arg, p->name, p->line, "", format, args);
    va_end(args);
}

/* ---- Words ---- */

static bool read_number(const char *word, unsigned most, unsigned *value)
{
    char *end;
    unsigned long number;

    if (!isdigit((unsigned char)word[0]))
        return false;
    errno = 0;
    number = strtoul(word, &end, 10);
    if (*end || errno || number > most)
        return false;
    *value = (unsigned)number;
    return true;
}

static bool read_range(const char *word, unsigned *first, unsigned *last)
{
    char copy[32];
    char *dash;

    if (strlen(word) >= sizeof copy)
        return false;
    strcpy(copy, word);
    dash = strchr(copy, '-');
    if (!dash)
        return false;
    *dash = 0;
    return read_number(copy, MAX_NUMA, first) && read_number(dash + 1, MAX_NUMA, last) && *first <= *last;
}

static bool read_truth(const char *word, bool *value)
{
    static const char *const words[] = {"0", "no", "false", "off", "1", "yes", "true", "on"};

    for (unsigned i = 0; i < 8; i++)
        if (!strcasecmp(word, words[i])) {
            *value = i >= 4;
            return true;
        }
    return false;
}

/* Part of a file's name: nothing that leads elsewhere. */
static bool read_mode(const char *word, char *mode, size_t size)
{
    if (strlen(word) >= size)
        return false;
    for (const char *at = word; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_' && *at != '-')
            return false;
    strcpy(mode, word);
    return true;
}

/* ---- Lines ---- */

static bool add(const struct parser *p, const struct tsl_config_device *device)
{
    struct tsl_config *config = p->config;
    struct tsl_config_device *more;

    for (size_t i = 0; i < config->n && device->kind != TSL_CONFIG_CPU; i++)
        if (!strcmp(config->devices[i].id, device->id)) {
            say(p, "%s is named already in line %u: take one of the two lines out", device->id,
                config->devices[i].line);
            return true;
        }
    more = realloc(config->devices, (config->n + 1) * sizeof *more);
    if (!more) {
        say(p, "memory ran out");
        return true;
    }
    config->devices = more;
    more[config->n++] = *device;
    return true;
}

static bool read_cuda(const struct parser *p, char *const *words, unsigned n)
{
    struct tsl_config_device device = {.kind = TSL_CONFIG_CUDA, .line = p->line};
    unsigned number;

    if (n != 2 || !read_number(words[1], 9999, &number))
        return false;
    snprintf(device.id, sizeof device.id, "cuda:%u", number);
    return add(p, &device);
}

static bool read_opencl(struct tsl_config_device *device, char *const *words)
{
    unsigned platform, number;

    if (!read_number(words[1], 9999, &platform) || !read_number(words[2], 9999, &number))
        return false;
    snprintf(device->id, sizeof device->id, "opencl:%u.%u", platform, number);
    return true;
}

static bool read_gpu(const struct parser *p, char *const *words, unsigned n)
{
    struct tsl_config_device device = {.kind = TSL_CONFIG_GPU, .line = p->line};

    return n == 3 && read_opencl(&device, words) && add(p, &device);
}

static bool read_fpga(const struct parser *p, char *const *words, unsigned n)
{
    struct tsl_config_device device = {.kind = TSL_CONFIG_FPGA, .line = p->line};

    return n == 4 && read_opencl(&device, words) && read_mode(words[3], device.exec_mode, sizeof device.exec_mode) &&
           add(p, &device);
}

static bool read_cpu(const struct parser *p, char *const *words, unsigned n)
{
    struct tsl_config_device device = {.kind = TSL_CONFIG_CPU, .line = p->line, .id = "cpu"};

    return n == 4 && read_number(words[1], 65535, &device.n_threads) && device.n_threads > 0 &&
           read_range(words[2], &device.first_numa, &device.last_numa) && read_truth(words[3], &device.transfers) &&
           add(p, &device);
}

static bool is_host(const struct parser *p, const char *name)
{
    size_t length = strcspn(p->host, ".");

    return !strcasecmp(p->host, name) || (strlen(name) == length && !strncasecmp(p->host, name, length));
}

static bool read_node(struct parser *p, char *const *words, unsigned n)
{
    unsigned numa = 0;

    if (n < 2 || n > 3 || (n == 3 && !read_number(words[2], MAX_NUMA, &numa)))
        return false;
    p->in_node = true;
    p->counts = is_host(p, words[1]);
    p->config->found |= p->counts;
    if (p->counts && n == 3)
        p->config->host_numa = (int)numa;
    return true;
}

static const struct form {
    const char *word;
    bool (*read)(const struct parser *p, char *const *words, unsigned n);
    const char *form; /* what the line looks like */
} forms[] = {
    {"CUDA", read_cuda, "CUDA <device>, for instance: CUDA 0"},
    {"OpenCL_GPU", read_gpu, "OpenCL_GPU <platform> <device>, for instance: OpenCL_GPU 0 0"},
    {"CPU", read_cpu, "CPU <threads> <first_numa>-<last_numa> <transfers>, for instance: CPU 16 0-1 0"},
    {"FPGA", read_fpga, "FPGA <platform> <device> <exec_mode>, for instance: FPGA 1 0 hardware"},
};

static void read_words(struct parser *p, char *const *words, unsigned n)
{
    if (!strcasecmp(words[0], "NODE")) {
        if (!read_node(p, words, n)) {
            say(p, "write NODE <name> [host_numa_node], for instance: NODE %s 0", p->host);
            p->in_node = true;
            p->counts = false;
        }
        return;
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct tsl_config unused = {0};
        struct parser aside = *p;

        if (strcasecmp(words[0], forms[i].word))
            continue;
        if (!p->in_node)
            say(p, "a device comes after the line of its machine: write NODE %s before it", p->host);
        if (!p->counts) /* Other machines' lines are checked, too: a slip is seen where the file is edited. */
            aside.config = &unused;
        if (!forms[i].read(&aside, words, n))
            say(p, "write %s", forms[i].form);
        free(unused.devices);
        return;
    }
    say(p, "\"%s\" is no kind of device: lines begin with NODE, CUDA, OpenCL_GPU, CPU or FPGA", words[0]);
}

static void read_line(struct parser *p, char *line)
{
    char *words[MAX_WORDS + 1], *rest = NULL;
    unsigned n = 0;

    line[strcspn(line, "#")] = 0;
    for (char *word = strtok_r(line, " \t\r", &rest); word && n <= MAX_WORDS; word = strtok_r(NULL, " \t\r", &rest))
        words[n++] = word;
    if (n > 0)
        read_words(p, words, n);
}

/* One line CPU is the path "cpu"; several are "cpu:0", "cpu:1" and so on. */
static void number_cpus(struct tsl_config *config)
{
    unsigned n = tsl_config_count_cpus(config), number = 0;

    for (size_t i = 0; n > 1 && i < config->n; i++)
        if (config->devices[i].kind == TSL_CONFIG_CPU)
            snprintf(config->devices[i].id, sizeof config->devices[i].id, "cpu:%u", number++);
}

unsigned tsl_config_count_cpus(const struct tsl_config *config)
{
    unsigned n = 0;

    for (size_t i = 0; i < config->n; i++)
        n += config->devices[i].kind == TSL_CONFIG_CPU;
    return n;
}

void tsl_config_parse(struct tsl_config *config, const char *text, const char *name, const char *host,
                      tsl_config_say_fn *fn, void *arg)
{
    struct parser p = {.config = config, .name = name, .host = host, .say = fn, .arg = arg};

    *config = (struct tsl_config){.host_numa = -1};
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);

        p.line++;
        if (line)
            read_line(&p, line);
        free(line);
        text += length + (text[length] == '\n');
    }
    number_cpus(config);
    if (!config->found)
        say(&p,
            "no line NODE %s: this machine uses all devices, as without a file; add such a line, and the devices after "
            "it",
            host);
}

void tsl_config_finish(struct tsl_config *config)
{
    free(config->devices);
    *config = (struct tsl_config){.host_numa = -1};
}

/* ---- The process's configuration ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tsl_config process_config = {.host_numa = -1};
static bool was_read;

static char *read_file(const char *name, const char **why)
{
    FILE *file = fopen(name, "re");
    char *text = file ? calloc(1, MAX_SIZE + 1) : NULL;

    *why = NULL;
    if (!text || fread(text, 1, MAX_SIZE, file) == 0)
        *why = file && !ferror(file) ? "it is empty" : strerror(errno);
    if (file)
        fclose(file);
    return text;
}

static void read_process_config(const char *name, tsl_config_say_fn *fn, void *arg)
{
    char host[256] = "";
    const char *why;
    char *text = read_file(name, &why), *sentence;

    gethostname(host, sizeof host - 1);
    if (!why)
        tsl_config_parse(&process_config, text, name, host, fn, arg);
    else if (asprintf(&sentence, "TESELA_CONFIG=%s can't be read (%s): all devices are used, as without a file", name,
                      why) >= 0) {
        fn(arg, sentence);
        free(sentence);
    }
    free(text);
}

const struct tsl_config *tsl_config_get(tsl_config_say_fn *fn, void *arg)
{
    pthread_mutex_lock(&lock);
    if (!was_read && tsl_settings()->config)
        read_process_config(tsl_settings()->config, fn, arg);
    was_read = true;
    pthread_mutex_unlock(&lock);
    return &process_config;
}
