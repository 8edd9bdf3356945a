#include "tool/icd_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Its first line names the library. */
static bool read_name(const char *folder, char library[PATH_MAX])
{
    char path[PATH_MAX];
    bool found = false;
    FILE *file;

    if (snprintf(path, sizeof path, "%s/tesela.icd", folder) >= (int)sizeof path)
        return false;
    file = fopen(path, "re");
    if (!file)
        return false;
    if (fgets(library, PATH_MAX, file)) {
        library[strcspn(library, "\r\n")] = '\0';
        found = library[0] != '\0';
    }
    fclose(file);
    return found;
}

bool tsl_icd_folder_library(const char *folder, char library[PATH_MAX])
{
    char beside[PATH_MAX], whole[PATH_MAX];

    if (!read_name(folder, library))
        return false;
    if (!strchr(library, '/') && snprintf(beside, sizeof beside, "%s/../../%s", folder, library) < (int)sizeof beside &&
        realpath(beside, whole))
        memcpy(library, whole, sizeof whole);
    return true;
}

void tsl_icd_folder_variables(const char *folder, char vendors[TSL_ICD_VARIABLE], char filenames[TSL_ICD_VARIABLE])
{
    char name[PATH_MAX] = "", library[PATH_MAX];
    bool whole = !read_name(folder, name) || strchr(name, '/') || !tsl_icd_folder_library(folder, library) ||
                 !strchr(library, '/');

    filenames[0] = '\0';
    if (whole) {
        snprintf(vendors, TSL_ICD_VARIABLE, "OCL_ICD_VENDORS=%s/", folder);
        return;
    }
    snprintf(vendors, TSL_ICD_VARIABLE, "OCL_ICD_VENDORS=%s", library);
    snprintf(filenames, TSL_ICD_VARIABLE, "OCL_ICD_FILENAMES=%s", library);
}

/* A name without a folder is found by the dynamic linker's search. */
static bool library_exists(const char *library)
{
    return !strchr(library, '/') || access(library, R_OK) == 0;
}

char *tsl_icd_folder_check(const char *folder)
{
    char library[PATH_MAX];
    char *path;

    if (!tsl_icd_folder_library(folder, library)) {
        fprintf(stderr, "tesela: %s has no file tesela.icd; name the folder that has it with --icd.\n", folder);
        return NULL;
    }
    if (!library_exists(library)) {
        fprintf(stderr, "tesela: %s/tesela.icd names %s, which can't be read (%s); build or install Tesela again.\n",
                folder, library, strerror(errno));
        return NULL;
    }
    path = realpath(folder, NULL);
    if (!path)
        fprintf(stderr, "tesela: %s: %s\n", folder, strerror(errno));
    return path;
}

bool tsl_tool_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    char *slash;

    if (length < 0)
        return false;
    folder[length] = '\0';
    slash = strrchr(folder, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* Beside the tool. */
static const char *const places[] = {"icd", TESELA_ICD_FROM_TOOL};

bool tsl_icd_folder_own_library(char library[PATH_MAX])
{
    char own[PATH_MAX], folder[2 * PATH_MAX];

    for (size_t i = 0; tsl_tool_folder(own) && i < sizeof places / sizeof places[0]; i++) {
        snprintf(folder, sizeof folder, "%s/%s", own, places[i]);
        if (tsl_icd_folder_library(folder, library))
            return strchr(library, '/') && library_exists(library);
    }
    return false;
}

char *tsl_icd_folder_find(void)
{
    char own[PATH_MAX], library[PATH_MAX];

    if (!tsl_tool_folder(own)) {
        fprintf(stderr, "tesela: /proc/self/exe can't be read (%s), so name the folder of tesela.icd with --icd.\n",
                strerror(errno));
        return NULL;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *folder = NULL;
        char *checked = NULL;
        bool there;

        if (asprintf(&folder, "%s/%s", own, places[i]) < 0)
            return NULL;
        there = tsl_icd_folder_library(folder, library);
        if (there)
            checked = tsl_icd_folder_check(folder);
        free(folder);
        if (there)
            return checked;
    }
    fprintf(stderr,
            "tesela: there is no tesela.icd in %s/%s nor in %s/%s; build or install Tesela again, or name its "
            "folder with --icd.\n",
            own, places[0], own, places[1]);
    return NULL;
}

int tsl_icd_folder_is_icd(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(entry->d_name + length - 4, ".icd") == 0;
}
