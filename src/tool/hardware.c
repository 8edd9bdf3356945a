#include "tool/hardware.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file, without its newline; "" if it can't be read. */
static void first_line(const char *path, char line[32])
{
    FILE *file = fopen(path, "re");

    line[0] = '\0';
    if (file && !fgets(line, 32, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
}

static bool is_gpu_of(const char *device, const char *vendor)
{
    char path[PATH_MAX], of[32], class[32];

    snprintf(path, sizeof path, "%s/vendor", device);
    first_line(path, of);
    snprintf(path, sizeof path, "%s/class", device);
    first_line(path, class);
    return strcmp(of, vendor) == 0 && strncmp(class, "0x03", 4) == 0;
}

bool tsl_has_gpu_of(const char *root, const char *vendor)
{
    char pattern[PATH_MAX];
    bool has = false;
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/sys/bus/pci/devices/*", root);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !has; i++)
        has = is_gpu_of(found.gl_pathv[i], vendor);
    globfree(&found);
    return has;
}

bool tsl_has_nvidia_files(const char *root)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/dev/nvidiactl", root);
    return access(path, F_OK) == 0;
}
