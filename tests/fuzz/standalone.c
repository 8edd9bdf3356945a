/*
 * Runs a fuzzer without libFuzzer: files of a corpus first, then random inputs, mostly made by changing the corpus's.
 * Before each run the input is written to a file, so that one that crashes is there afterwards.
 */
#include "fuzz.h"

#include <argp.h>
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST 4096u /* bytes of an input */

struct options {
    const char *corpus, *input;
    unsigned seconds;
    uint64_t seed;
};

static struct sample {
    uint8_t data[MOST];
    size_t size;
} * samples, now;
static size_t n_samples;
static uint64_t state;
static char crash_file[64];

static uint64_t chance(void) /* xorshift64* */
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

static void read_sample(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    struct sample *more = realloc(samples, (n_samples + 1) * sizeof(*more));
    if (!more)
        exit(1);
    samples = more;
    samples[n_samples].size = fread(samples[n_samples].data, 1, MOST, file);
    n_samples++;
    fclose(file);
}

static void read_corpus(const char *folder)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *dir = opendir(folder);
    if (!dir) {
        perror(folder);
        exit(1);
    }
    while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.' && snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < PATH_MAX)
            read_sample(path);
    closedir(dir);
}

static void keep_input(int signal_number)
{
    FILE *file = fopen(crash_file, "wb");
    if (file) {
        fwrite(now.data, 1, now.size, file);
        fclose(file);
    }
    static const char text[] = "the input is in the file crash-… of this folder; run it again with --input FILE\n";
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void make_input(void)
{
    if (n_samples && chance() % 4)
        now = samples[chance() % n_samples];
    else
        now.size = 0;
    size_t wanted = now.size ? now.size : 1 + chance() % 512;
    for (size_t i = now.size; i < wanted; i++)
        now.data[i] = (uint8_t)chance();
    now.size = wanted;
    for (uint64_t n = chance() % 16; n-- > 0;)
        now.data[chance() % now.size] = (uint8_t)chance();
    if (chance() % 8 == 0 && n_samples) { /* the beginning of one and the end of another */
        const struct sample *other = &samples[chance() % n_samples];
        size_t cut = chance() % now.size;
        if (cut < other->size) {
            memcpy(now.data + cut, other->data + cut, other->size - cut);
            now.size = other->size;
        }
    }
}

static error_t parse(int key, char *arg, struct argp_state *argp)
{
    struct options *options = argp->input;
    switch (key) {
    case 'c':
        options->corpus = arg;
        return 0;
    case 'i':
        options->input = arg;
        return 0;
    case 't':
        options->seconds = (unsigned)strtoul(arg, NULL, 10);
        return 0;
    case 's':
        options->seed = strtoull(arg, NULL, 10);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"corpus", 'c', "DIR", 0, "inputs that were worth keeping (default: those beside the source)", 0},
        {"input", 'i', "FILE", 0, "run this input alone", 0},
        {"seconds", 't', "N", 0, "how long (default: 60)", 0},
        {"seed", 's', "N", 0, "of the random inputs (default: 1)", 0},
        {0},
    };
    static const struct argp argp = {.options = table, .parser = parse, .doc = "Feeds a fuzzer without libFuzzer."};
    struct options options = {.corpus = FUZZ_CORPUS, .seconds = 60, .seed = 1};
    uint64_t n_runs = 0;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    snprintf(crash_file, sizeof(crash_file), "crash-%d", (int)getpid());
    if (options.input)
        read_sample(options.input);
    else if (options.corpus)
        read_corpus(options.corpus);
    signal(SIGABRT, keep_input);
    signal(SIGSEGV, keep_input);
    state = options.seed ? options.seed : 1;
    for (size_t i = 0; i < n_samples; i++, n_runs++) {
        now = samples[i];
        LLVMFuzzerTestOneInput(now.data, now.size);
    }
    for (time_t end = time(NULL) + (time_t)options.seconds; !options.input && time(NULL) < end; n_runs++) {
        make_input();
        LLVMFuzzerTestOneInput(now.data, now.size);
    }
    printf("%llu runs without a finding\n", (unsigned long long)n_runs);
    return 0;
}
