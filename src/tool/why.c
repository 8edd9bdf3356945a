#include "tool/why.h"

#include "tool/child.h"
#include "tool/icd_folder.h"
#include "tool/meters.h"
#include "tool/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_NOTHING = 1 };

/* What was found in the timelines of one run. */
struct found {
    unsigned n_timelines;
    unsigned n_told;   /* kernels */
    size_t n_launches; /* of these ... */
    size_t n_alone;    /* ... of which nobody asked whether to cut them, as one member alone could take them */
    char names[512];   /* of kernels that weren't asked for */
};

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

static void tell_kernel(const struct tsl_timeline *t, const struct tsl_kernel_row *row)
{
    const char *name = tsl_timeline_text(t, row->name);

    printf("%s: %zu launch%s, %zu cut", name, row->n_launches, row->n_launches == 1 ? "" : "es", row->n_cut);
    if (row->n_rungs[TSL_RUNG_DOMAIN])
        printf(" (%zu over GPUs that share what they write)", row->n_rungs[TSL_RUNG_DOMAIN]);
    puts(row->n_whys ? "; what kept the others whole:" : "");
    for (unsigned i = 0; i < row->n_whys; i++)
        printf("  %6zu  %s\n", row->whys[i].n, tsl_timeline_why(t, row->name, row->whys[i].text));
}

static void count(const struct tsl_timeline *t, const struct tsl_kernel_row *row, struct found *found)
{
    found->n_told++;
    found->n_launches += row->n_launches;
    for (unsigned i = 0; i < row->n_whys; i++)
        if (strcmp(tsl_timeline_text(t, row->whys[i].text), "one-member") == 0)
            found->n_alone += row->whys[i].n;
}

static void look_at(const struct tsl_timeline *t, const char *kernel, bool tells, struct found *found)
{
    struct tsl_meters meters;

    if (!tsl_meters_make(&meters, t))
        return;
    for (unsigned k = 0; k < meters.n_kernels; k++) {
        const struct tsl_kernel_row *row = &meters.kernels[k];
        const char *name = tsl_timeline_text(t, row->name);
        size_t used = strlen(found->names);

        if (kernel && strcmp(kernel, name) != 0) {
            snprintf(found->names + used, sizeof found->names - used, "%s%s", used ? ", " : "", name);
            continue;
        }
        count(t, row, found);
        if (tells)
            tell_kernel(t, row);
    }
    tsl_meters_finish(&meters);
}

/* One of a run; those that hold no work say nothing. */
static void look_at_file(const char *path, const char *kernel, bool tells, struct found *found)
{
    struct tsl_timeline timeline;
    char *why = NULL;

    if (tsl_timeline_read(&timeline, path, &why)) {
        found->n_timelines++;
        look_at(&timeline, kernel, tells, found);
        tsl_timeline_finish(&timeline);
    }
    free(why);
}

static int conclude(const char *kernel, const struct found *found)
{
    if (found->n_told)
        return 0;
    if (kernel && found->names[0])
        fprintf(stderr, "tesela info: no launch of %s was seen; there were launches of %s\n", kernel, found->names);
    else
        fputs("tesela info: no launch was seen\n", stderr);
    return EXIT_NOTHING;
}

/* ---- A program --------------------------------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* A word alone may have been meant as a timeline. */
static void say_unstarted(const char *word, int error)
{
    if (access(word, F_OK) != 0)
        fprintf(stderr, "tesela info: there is neither a timeline nor a program %s\n", word);
    else
        fprintf(stderr,
                "tesela info: %s is no timeline of Tesela's (`tesela run --trace FILE -- PROGRAM' writes one), and "
                "can't be run as a program: %s\n",
                word,
                strerror(is_folder(word)   ? EISDIR
                         : error == ENOENT ? ENOEXEC
                                           : error));
}

/* False, with a sentence, if the program could not be run. always: on the built-in CPU, for whose kernels all is known
 * that can be, with each launch cut where that is legal. */
static bool run_program(const char *scratch, const char *icd_folder, char **words, bool always)
{
    static const char *const unset[] = {"OCL_ICD_FILENAMES", "OCL_ICD_DEFAULT_PLATFORM", "OPENCL_LAYERS", NULL};
    char loader[TSL_ICD_VARIABLE], filenames[TSL_ICD_VARIABLE], trace[PATH_MAX + 32], out[PATH_MAX], err[PATH_MAX],
        how[160];
    const char *set[6] = {loader, trace};
    unsigned n = 2;
    struct tsl_child child = {.program = words, .set = set, .unset = unset, .out = out, .err = err};
    struct tsl_child_result result;

    tsl_icd_folder_variables(icd_folder, loader, filenames);
    if (filenames[0])
        set[n++] = filenames;
    if (always) {
        set[n++] = "TESELA_SPLIT=always";
        set[n++] = "TESELA_MEMBERS=cpu";
    }
    snprintf(trace, sizeof trace, "TESELA_TRACE=%s/%s-%%p.json", scratch, always ? "always" : "trace");
    snprintf(out, sizeof out, "%s/out", scratch);
    snprintf(err, sizeof err, "%s/err", scratch);
    result = tsl_child_run(&child);
    tsl_child_say(&result, &child, how, sizeof how);
    if (result.end == TSL_CHILD_UNSTARTED && !words[1])
        say_unstarted(words[0], result.number);
    else if (how[0])
        fprintf(stderr, "tesela info: %s %s\n", words[0], how);
    return result.end != TSL_CHILD_UNSTARTED && result.end != TSL_CHILD_UNFORKED;
}

/* Looks at the timelines whose names begin so. */
static void look_at_run(const char *scratch, const char *begin, const char *kernel, bool tells, struct found *found)
{
    DIR *folder = opendir(scratch);
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        char path[PATH_MAX];

        if (strncmp(entry->d_name, begin, strlen(begin)) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", scratch, entry->d_name);
        look_at_file(path, kernel, tells, found);
    }
    if (folder)
        closedir(folder);
}

/* With one member nobody asks whether a launch could be cut. So the program runs again, as if each were cut in two.
 * Of a program that the user stops the timeline has what was enqueued until then. */
static int why_program_in(const char *scratch, const char *icd_folder, const char *kernel, char **words)
{
    struct found found = {.n_told = 0};
    const char *begin = "trace-";

    if (!run_program(scratch, icd_folder, words, false))
        return EXIT_NOTHING;
    look_at_run(scratch, begin, kernel, false, &found);
    if (found.n_launches && found.n_alone == found.n_launches && !tsl_child_stopped() &&
        run_program(scratch, icd_folder, words, true)) {
        puts(
            "There is one member, so nothing is cut. On the built-in CPU, with each launch cut in two where possible:");
        begin = "always-";
    }
    if (found.n_timelines == 0) {
        fprintf(stderr, "tesela info: %s enqueued nothing on Tesela\n", words[0]);
        return EXIT_NOTHING;
    }
    found = (struct found){.n_told = 0};
    look_at_run(scratch, begin, kernel, true, &found);
    return conclude(kernel, &found);
}

static int why_program(const char *kernel, char **words)
{
    char *icd_folder = tsl_icd_folder_find(),
         *scratch = icd_folder ? tsl_scratch_make("tesela info", TSL_SCRATCH_ROOM) : NULL;
    int status = scratch ? why_program_in(scratch, icd_folder, kernel, words) : EXIT_NOTHING;

    tsl_scratch_remove(scratch);
    free(icd_folder);
    tsl_child_leave();
    return status;
}

/* Timelines begin with a bracket alone in its line: no program does. Nor is a pipe one, which can't be read twice. */
static bool is_timeline(const char *path)
{
    struct stat about;
    FILE *file;
    char begin[2] = "";
    bool is;

    if (stat(path, &about) == 0 && S_ISFIFO(about.st_mode))
        return true;
    file = fopen(path, "re");
    is = file && fread(begin, 1, 2, file) == 2 && begin[0] == '[' && begin[1] == '\n';

    if (file)
        fclose(file);
    return is;
}

int tsl_why(const char *kernel, char **words)
{
    struct found found = {.n_told = 0};
    struct tsl_timeline timeline;

    if (words[1] || !is_timeline(words[0]))
        return why_program(kernel, words);
    if (!tsl_timeline_open(&timeline, words[0], "tesela info"))
        return EXIT_NOTHING;
    look_at(&timeline, kernel, true, &found);
    tsl_timeline_finish(&timeline);
    return conclude(kernel, &found);
}
