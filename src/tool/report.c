/* `tesela report`: a timeline as one page. */
#include "tool/report_body.h"
#include "tool/tool.h"
#include "tool/trace_argument.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report_page.h" /* made of report_page.html */

enum { EXIT_UNREADABLE = 1, EXIT_USAGE = 2, EXIT_NO_MEMORY = 3 };

struct arguments {
    const char *trace, *output;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "Write the page there; by default beside the timeline, with .html in place of .json; -: standard output", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'o':
        arguments->output = arg;
        return 0;
    default:
        return tsl_trace_argument(key, arg, state, &arguments->trace);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE",
    .doc =
        "Make one page of a run: what was gained, what each device and link did when, what they waited for, how each "
        "kernel was cut, and why not more. The page needs no network and no server: open it in a browser."
        "\v"
        "TRACE is a file that `tesela run --trace' or TESELA_TRACE wrote. The exit status is 1 if it can't be read, or "
        "the page can't be written.",
};

/* The parts of the page by their names in the template. False without memory. */
static bool put_part(const struct tsl_page *page, const char *name, const char *trace, FILE *out)
{
    if (strcmp(name, "title") == 0)
        tsl_page_put_title(page, out);
    else if (strcmp(name, "body") == 0)
        tsl_page_put_body(page, trace, out);
    else if (strcmp(name, "meta") == 0)
        return tsl_page_put_meta(page, out);
    else
        return tsl_page_put_data(page, out);
    return true;
}

/* The template with its {{parts}} filled in. */
static bool put_page(const struct tsl_page *page, const char *trace, FILE *out)
{
    const char *at = report_page, *open, *close;
    bool good = true;

    while (good && (open = strstr(at, "{{")) && (close = strstr(open, "}}"))) {
        char name[16];

        snprintf(name, sizeof name, "%.*s", (int)(close - open - 2), open + 2);
        fwrite(at, 1, (size_t)(open - at), out);
        good = put_part(page, name, trace, out);
        at = close + 2;
    }
    fputs(at, out);
    return good;
}

/* The page's file where none is named (heap): run.json -> run.html. */
static char *default_output(const char *trace)
{
    size_t length = strlen(trace);
    char *path = NULL;

    if (length > 5 && strcmp(trace + length - 5, ".json") == 0)
        length -= 5;
    return asprintf(&path, "%.*s.html", (int)length, trace) < 0 ? NULL : path;
}

/* What was written of a page that doesn't fit on the disk is removed; but never a device. */
static void remove_page(const char *path)
{
    struct stat about;

    if (lstat(path, &about) == 0 && S_ISREG(about.st_mode))
        unlink(path);
}

/* Told once it is whole. */
static int write_page(const struct tsl_page *page, const char *trace, const char *path)
{
    bool to_stdout = strcmp(path, "-") == 0, good, written;
    FILE *out = to_stdout ? stdout : fopen(path, "we");
    int error;

    if (!out) {
        fprintf(stderr, "tesela report: %s can't be written: %s\n", path, strerror(errno));
        return EXIT_UNREADABLE;
    }
    good = put_page(page, trace, out);
    written = fflush(out) == 0 && !ferror(out);
    error = errno;
    if (!to_stdout && fclose(out) != 0)
        written = false;
    if (good && written && !to_stdout)
        printf("%s\n", path);
    if (good && written)
        return 0;
    fprintf(stderr, "tesela report: %s can't be written: %s\n", path, good ? strerror(error) : "out of memory");
    if (!to_stdout)
        remove_page(path);
    return good ? EXIT_UNREADABLE : EXIT_NO_MEMORY;
}

static int make_page(const struct tsl_timeline *timeline, const struct arguments *arguments)
{
    char *path = arguments->output ? strdup(arguments->output) : default_output(arguments->trace);
    struct tsl_meters meters;
    struct tsl_page page;
    int status = EXIT_NO_MEMORY;

    if (path && tsl_meters_make(&meters, timeline)) {
        if (tsl_page_make(&page, &meters)) {
            status = write_page(&page, arguments->trace, path);
            tsl_page_finish(&page);
        }
        tsl_meters_finish(&meters);
    }
    free(path);
    return status;
}

int tsl_tool_report(int argc, char **argv)
{
    struct arguments arguments = {.trace = NULL};
    struct tsl_timeline timeline;
    int status;

    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
        return EXIT_USAGE;
    if (!tsl_timeline_open(&timeline, arguments.trace, argv[0]))
        return EXIT_UNREADABLE;
    status = make_page(&timeline, &arguments);
    tsl_timeline_finish(&timeline);
    return status;
}
