#include "tool/ask_info.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static cJSON *read_json(const char *path)
{
    FILE *file = fopen(path, "re");
    cJSON *json = NULL;
    char *text = NULL;
    size_t size = 0;

    if (file && getdelim(&text, &size, '\0', file) > 0)
        json = cJSON_Parse(text);
    if (file)
        fclose(file);
    free(text);
    return json;
}

cJSON *tsl_ask_info(const char *scratch, const char *const *settings, struct tsl_child_result *result)
{
    char *own = realpath("/proc/self/exe", NULL), out[PATH_MAX], err[PATH_MAX];
    char *words[] = {own, "info", "--json", NULL};

    snprintf(out, sizeof out, "%s/info", scratch);
    snprintf(err, sizeof err, "%s/info-errors", scratch);
    *result = (struct tsl_child_result){.end = TSL_CHILD_UNSTARTED, .number = errno};
    if (own)
        *result = tsl_child_run(&(struct tsl_child){
            .program = words, .set = settings, .out = out, .err = err, .limit_s = TSL_INFO_LIMIT_S});
    free(own);
    return result->end == TSL_CHILD_UNSTARTED || result->end == TSL_CHILD_UNFORKED || result->end == TSL_CHILD_STOPPED
               ? NULL
               : read_json(out);
}
