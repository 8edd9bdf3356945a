/* What `tesela doctor` finds: sentences, each with its remedy. Not thread-safe. */
#ifndef TSL_TOOL_FINDINGS_H
#define TSL_TOOL_FINDINGS_H

#include <stdbool.h>

#include <cjson/cJSON.h>

struct tsl_findings {
    cJSON *array; /* objects: "level" ("problem" or "hint"), "what", "remedy" */
    unsigned n_problems;
    const char *root; /* folder that stands for /; "": / itself */
};

/* Something that keeps a device, or programs, from working. remedy may be NULL. The next argument is the remedy's
 * sentence, those behind it are the format's. */
void tsl_finding_problem(struct tsl_findings *findings, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Something that may be meant. */
void tsl_finding_hint(struct tsl_findings *findings, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The checks. Each takes no longer than some seconds. */
void tsl_check_settings(struct tsl_findings *findings); /* variables that are no settings: names that are misspelt */
void tsl_check_loader(struct tsl_findings *findings);   /* variables and files of loaders */
void tsl_check_devices(struct tsl_findings *findings);  /* device files, permissions, containers */
void tsl_check_caches(struct tsl_findings *findings);   /* folders that are to be written */
void tsl_check_compiler(struct tsl_findings *findings); /* whether kernels can be compiled, up to two minutes */
void tsl_check_members(struct tsl_findings *findings);  /* what `tesela info` says, in a process of its own */

/* The path below the root, in a buffer of PATH_MAX bytes. */
void tsl_findings_path(const struct tsl_findings *findings, const char *path, char whole[]);

/* Is there a file that fits the glob pattern, below the root? */
bool tsl_findings_some(const struct tsl_findings *findings, const char *pattern);

/* What helps where CUDA's library isn't found, in `text' or a constant; and where it shows no GPU, or can't start. */
#define TSL_REMEDY_SIZE 512
const char *tsl_remedy_without_cuda(const struct tsl_findings *findings, char text[TSL_REMEDY_SIZE]);
const char *tsl_remedy_without_gpu(const struct tsl_findings *findings);

/* Is this a container, as far as one can see? */
bool tsl_in_container(const struct tsl_findings *findings);

#endif
