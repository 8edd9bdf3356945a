#include "tool/ways.h"

#include "tool/ask_info.h"
#include "tool/icd_folder.h"
#include "tool/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tsl_way *add_way(struct tsl_ways *ways, enum tsl_way_kind kind)
{
    struct tsl_way *way = ways->n < TSL_MAX_WAYS ? &ways->ways[ways->n] : NULL;

    if (!way)
        return NULL;
    ways->n++;
    *way = (struct tsl_way){.kind = kind};
    return way;
}

/* ---- Natively ---------------------------------------------------------------------------------------------------- */

/* What an .icd file names, without its folder. */
static bool library_of(const char *icd, char library[NAME_MAX])
{
    char line[PATH_MAX] = "", *slash;
    FILE *file = fopen(icd, "re");

    if (!file)
        return false;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    slash = strrchr(line, '/');
    snprintf(library, NAME_MAX, "%.*s", NAME_MAX - 1, slash ? slash + 1 : line);
    return library[0] != '\0';
}

/* A folder in which the .icd file is alone: all loaders take that. */
static bool point_to(struct tsl_ways *ways, struct tsl_way *way, const char *icd, const char *name)
{
    char *folder = NULL, *copy = NULL;
    bool good = asprintf(&folder, "%s/vendor-%u", ways->scratch, (unsigned)(way - ways->ways)) >= 0 &&
                mkdir(folder, 0700) == 0 && asprintf(&copy, "%s/%s", folder, name) >= 0 && tsl_copy_file(icd, copy) &&
                asprintf(&way->loader, "OCL_ICD_VENDORS=%s/", folder) >= 0;

    free(folder);
    free(copy);
    return good;
}

/* Of members and of what was left out: is one of another vendor's OpenCL? */
static bool has_vendors_device(const cJSON *paths)
{
    const cJSON *path;

    cJSON_ArrayForEach(path, paths)
    {
        const char *id = cJSON_GetStringValue(cJSON_GetObjectItem(path, "path"));

        if (id && strncmp(id, "opencl:", 7) == 0)
            return true;
    }
    return false;
}

/* A vendor whose hardware isn't here often is installed all the same, as Mesa is. What a program does on a platform
 * without devices is no reference, and no failure. A library that crashes says nothing: the program will. */
static bool shows_no_device(const struct tsl_ways *ways, unsigned way)
{
    char vendors[PATH_MAX + 32];
    const char *const settings[] = {vendors, "TESELA_MEMBERS=none of them", NULL}; /* so that none is opened */
    struct tsl_child_result result;
    cJSON *info;
    bool none;

    snprintf(vendors, sizeof vendors, "TESELA_VENDORS=%s/vendor-%u", ways->scratch, way);
    info = tsl_ask_info(ways->scratch, settings, &result);
    none = cJSON_GetArraySize(cJSON_GetObjectItem(info, "without_devices")) > 0 &&
           !has_vendors_device(cJSON_GetObjectItem(info, "members")) &&
           !has_vendors_device(cJSON_GetObjectItem(info, "left_out"));
    cJSON_Delete(info);
    return none;
}

static bool add_native(struct tsl_ways *ways, const char *vendors, const char *name)
{
    char library[NAME_MAX], *icd = NULL;
    struct tsl_way *way;
    bool good = true;

    if (asprintf(&icd, "%s/%s", vendors, name) < 0)
        return false;
    if (library_of(icd, library) && strcmp(library, "libtesela.so") != 0 && (way = add_way(ways, TSL_WAY_NATIVE))) {
        snprintf(way->name, sizeof way->name, "natively, %.*s", (int)(strlen(name) - 4), name);
        good = point_to(ways, way, icd, name);
        way->absent = good && shows_no_device(ways, (unsigned)(way - ways->ways));
    }
    free(icd);
    return good;
}

static bool add_natives(struct tsl_ways *ways, const char *vendors)
{
    struct dirent **entries;
    int n = scandir(vendors, &entries, tsl_icd_folder_is_icd, alphasort);
    bool good = true;

    if (n < 0) {
        fprintf(stderr, "tesela compare: %s can't be read (%s), so nothing is run natively\n", vendors,
                strerror(errno));
        return true;
    }
    for (int i = 0; i < n; i++) {
        good = good && add_native(ways, vendors, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return good;
}

/* ---- On Tesela --------------------------------------------------------------------------------------------------- */

static bool set_loader(struct tsl_way *way, const char *icd_folder)
{
    char vendors[TSL_ICD_VARIABLE], filenames[TSL_ICD_VARIABLE];

    if (!way)
        return false;
    tsl_icd_folder_variables(icd_folder, vendors, filenames);
    way->loader = strdup(vendors);
    way->filenames = filenames[0] ? strdup(filenames) : NULL;
    return way->loader && (way->filenames || !filenames[0]);
}

static bool add_alone(struct tsl_ways *ways, const cJSON *member, const char *icd_folder)
{
    const char *path = cJSON_GetStringValue(cJSON_GetObjectItem(member, "path"));
    const char *device = cJSON_GetStringValue(cJSON_GetObjectItem(member, "device"));
    struct tsl_way *way = add_way(ways, TSL_WAY_ALONE);

    if (!way)
        return true; /* There are more members than a table can hold. */
    snprintf(way->name, sizeof way->name, "Tesela, %.40s alone (%.24s)", path ? path : "", device ? device : "");
    return set_loader(way, icd_folder) && asprintf(&way->members, "TESELA_MEMBERS=%s", path ? path : "") >= 0;
}

static bool add_teselas(struct tsl_ways *ways, const char *icd_folder)
{
    struct tsl_child_result result;
    cJSON *info = tsl_ask_info(ways->scratch, NULL, &result); /* This process shall hold no device meanwhile. */
    const cJSON *members = cJSON_GetObjectItem(info, "members"), *member;
    struct tsl_way *way;
    bool good = true;

    ways->n_members = (unsigned)cJSON_GetArraySize(members);
    ways->forbidden = result.end == TSL_CHILD_UNFORKED ? result.number : 0;
    if (ways->n_members == 0 && !ways->forbidden && !tsl_child_stopped())
        fputs("tesela compare: Tesela has no member here (`tesela info' tells why), so nothing is run on it\n", stderr);
    if (ways->n_members > 1)
        cJSON_ArrayForEach(member, members) good = good && add_alone(ways, member, icd_folder);
    if (ways->n_members > 0 && (way = add_way(ways, TSL_WAY_ALL))) {
        if (ways->n_members > 1)
            snprintf(way->name, sizeof way->name, "Tesela, over all %u members", ways->n_members);
        else
            snprintf(way->name, sizeof way->name, "Tesela, on its one member (%.40s)",
                     cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(members, 0), "path")));
        good = good && set_loader(way, icd_folder);
    }
    cJSON_Delete(info);
    return good;
}

static unsigned n_runnable(const struct tsl_ways *ways)
{
    unsigned n = 0;

    for (unsigned w = 0; w < ways->n; w++)
        n += !ways->ways[w].absent;
    return n;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

bool tsl_ways_find(struct tsl_ways *ways, const char *vendors, const char *icd_folder)
{
    *ways = (struct tsl_ways){.scratch = tsl_scratch_make("tesela compare", TSL_SCRATCH_ROOM), .vendors = vendors};
    if (!ways->scratch)
        return false;
    if (!add_natives(ways, vendors) || !add_teselas(ways, icd_folder)) {
        fprintf(stderr, "tesela compare: %s\n", strerror(errno));
        return false;
    }
    if (ways->forbidden)
        fprintf(stderr, "tesela compare: no process can be started here (%s), so nothing is compared\n",
                strerror(ways->forbidden));
    if (ways->forbidden || tsl_child_stopped())
        return false;
    if (n_runnable(ways) == 0)
        fputs("tesela compare: there is neither a vendor's device nor a member of Tesela's to run on\n", stderr);
    return n_runnable(ways) > 0;
}

void tsl_ways_finish(struct tsl_ways *ways)
{
    for (unsigned i = 0; i < ways->n; i++) {
        free(ways->ways[i].loader);
        free(ways->ways[i].filenames);
        free(ways->ways[i].members);
    }
    tsl_scratch_remove(ways->scratch);
}

static int compare_times(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

uint64_t tsl_way_median_ns(struct tsl_way *way)
{
    unsigned n = way->n_walls;

    if (!n)
        return 0;
    qsort(way->walls_ns, n, sizeof *way->walls_ns, compare_times);
    return n % 2 ? way->walls_ns[n / 2] : (way->walls_ns[n / 2 - 1] + way->walls_ns[n / 2]) / 2;
}
