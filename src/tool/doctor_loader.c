/* What loaders are told, and what Tesela finds through it. */
#include "tool/findings.h"

#include "base/own_file.h"
#include "base/settings.h"
#include "tool/ask_info.h"
#include "tool/differ.h"
#include "tool/hardware.h"
#include "tool/icd_folder.h"
#include "tool/info_data.h"
#include "tool/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Loaders ----------------------------------------------------------------------------------------------------- */

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

/* Is a file ours, by its own name? A folder above it may be called tesela, too, whatever is in it. */
static bool names_tesela(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strstr(slash ? slash + 1 : path, "tesela");
}

/* A build that was moved leaves the file that names its library. root: what lies before the library's path. */
static void check_library(struct tsl_findings *f, const char *root, const char *folder)
{
    char library[PATH_MAX], whole[PATH_MAX];

    if (!tsl_icd_folder_library(folder, library) || library[0] != '/' ||
        snprintf(whole, sizeof whole, "%s%s", root, library) >= (int)sizeof whole || access(whole, R_OK) == 0)
        return;
    tsl_finding_problem(f, "Install or build Tesela again, or write into the file where its library is now",
                        "%s/tesela.icd names %s, which can't be read (%s), so programs don't see Tesela", folder, whole,
                        strerror(errno));
}

/* Debian's loader takes a word for a library, or for a file in its own folder. */
static void check_vendors_word(struct tsl_findings *f, const char *name, const char *value)
{
    if (!names_tesela(value))
        tsl_finding_problem(f, "Unset it, or use `tesela run', which sets it",
                            "%s=%s names one library or .icd file, so programs don't see Tesela", name, value);
}

/* A folder without our file hides Tesela; a file may be meant, or a library. */
static void check_vendors_variable(struct tsl_findings *f, const char *name)
{
    const char *value = variable(name);
    char path[PATH_MAX];
    struct stat about;

    if (!value)
        return;
    if (stat(value, &about) != 0 && !strchr(value, '/')) {
        check_vendors_word(f, name, value);
        return;
    }
    if (stat(value, &about) != 0) {
        tsl_finding_problem(f, "Unset it, or use `tesela run', which sets it",
                            "%s names %s, which can't be read (%s), so loaders find no platform", name, value,
                            strerror(errno));
        return;
    }
    snprintf(path, sizeof path, "%s/tesela.icd", value);
    if (S_ISDIR(about.st_mode) && access(path, R_OK) != 0)
        tsl_finding_problem(f, "Unset it, or use `tesela run', which sets it",
                            "%s names %s, which has no readable tesela.icd, so programs don't see Tesela", name, value);
    else if (S_ISDIR(about.st_mode) && value[strlen(value) - 1] != '/')
        tsl_finding_hint(f, "Write a slash behind the folder's name",
                         "%s=%s has no slash at its end, without which CUDA's loader finds nothing", name, value);
    else if (!S_ISDIR(about.st_mode) && !names_tesela(value))
        tsl_finding_problem(f, "Unset it, or use `tesela run', which sets it",
                            "%s names the file %s alone, so programs don't see Tesela", name, value);
    if (S_ISDIR(about.st_mode))
        check_library(f, "", value);
}

/* The wheel lies where the loader of PyOpenCL's own wheel looks. */
static bool is_wheel(void)
{
    char library[PATH_MAX];

    return tsl_own_file(library) && strstr(library, "/pyopencl/.libs/");
}

static void check_installed(struct tsl_findings *f)
{
    bool wheel = is_wheel();
    char path[PATH_MAX], folder[PATH_MAX];

    tsl_findings_path(f, TSL_VENDORS_DEFAULT "/tesela.icd", path);
    if (!variable("OCL_ICD_VENDORS") && access(path, R_OK) != 0)
        tsl_finding_hint(f, wheel ? "Use `tesela run -- PROGRAM'" : "Use `tesela run -- PROGRAM', or install Tesela",
                         "%s can't be read (%s), so programs%s see Tesela only by `tesela run'", path, strerror(errno),
                         wheel ? " other than this Python's PyOpenCL" : "");
    tsl_findings_path(f, TSL_VENDORS_DEFAULT, folder);
    if (!variable("OCL_ICD_VENDORS"))
        check_library(f, f->root, folder);
}

/* Loaders say nothing of a layer that isn't there. A name without a folder is looked for by the dynamic linker. */
static void check_layers(struct tsl_findings *f, const char *layers)
{
    while (*layers) {
        size_t length = strcspn(layers, ":");
        char layer[PATH_MAX];

        snprintf(layer, sizeof layer, "%.*s", (int)(length < sizeof layer ? length : sizeof layer - 1), layers);
        if (strchr(layer, '/') && access(layer, R_OK) != 0)
            tsl_finding_problem(f, "Take it out; `tesela run --layer' sets the variable for one program",
                                "OPENCL_LAYERS names %s, which can't be read (%s), so loaders leave it out", layer,
                                strerror(errno));
        layers += length + (layers[length] == ':');
    }
}

void tsl_check_loader(struct tsl_findings *f)
{
    check_vendors_variable(f, "OCL_ICD_VENDORS");
    check_vendors_variable(f, "OPENCL_VENDOR_PATH");
    check_installed(f);
    if (variable("OCL_ICD_FILENAMES"))
        tsl_finding_hint(f, "Unset it, or use `tesela run', which does",
                         "OCL_ICD_FILENAMES=%s adds platforms in Khronos' loader, which programs may take first",
                         variable("OCL_ICD_FILENAMES"));
    if (variable("OCL_ICD_DEFAULT_PLATFORM"))
        tsl_finding_hint(f, "Unset it, or use `tesela run', which does",
                         "OCL_ICD_DEFAULT_PLATFORM=%s chooses the platform of programs that ask for none",
                         variable("OCL_ICD_DEFAULT_PLATFORM"));
    check_layers(f, variable("OPENCL_LAYERS") ? variable("OPENCL_LAYERS") : "");
    if (variable("OPENCL_LAYERS") && strstr(variable("OPENCL_LAYERS"), "libtesela.so"))
        tsl_finding_hint(f, "Unset it if that isn't meant",
                         "OPENCL_LAYERS=%s makes programs see Tesela in place of all other platforms",
                         variable("OPENCL_LAYERS"));
    else if (variable("OPENCL_LAYERS"))
        tsl_finding_hint(f, "Unset it if that isn't meant",
                         "OPENCL_LAYERS=%s puts layers between programs and all platforms", variable("OPENCL_LAYERS"));
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

/* Complaints about settings: lines "tesela: base: error: ...". */
static void tell_complaints(struct tsl_findings *f, const char *folder)
{
    char path[PATH_MAX], line[1024];
    FILE *file;

    snprintf(path, sizeof path, "%s/info-errors", folder);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *at = strstr(line, "error: ");

        line[strcspn(line, "\n")] = '\0';
        if (line[0] && line[strlen(line) - 1] == '.')
            line[strlen(line) - 1] = '\0';
        if (strncmp(line, "tesela: ", 8) == 0)
            tsl_finding_problem(f, NULL, "%s", at ? at + 7 : line + 8);
    }
    if (file)
        fclose(file);
}

static const char *remedy_of(const struct tsl_findings *f, enum tsl_trouble trouble, char text[TSL_REMEDY_SIZE])
{
    switch (trouble) {
    case TSL_TROUBLE_NO_CUDA:
        return tsl_remedy_without_cuda(f, text);
    case TSL_TROUBLE_CUDA:
        return "Install NVIDIA's driver again. In a container the machine's own is the one that works: the runtime "
               "brings it (--gpus all), and the image needs none";
    case TSL_TROUBLE_NO_GPU:
        return tsl_remedy_without_gpu(f);
    case TSL_TROUBLE_NO_VENDORS:
        return "Nothing, if Tesela's own drivers do; else install the OpenCL of a device's vendor, or name the folder "
               "of its .icd file with TESELA_VENDORS";
    case TSL_TROUBLE_NO_LIBRARY:
        return "Install the package that has the library, or remove the .icd file";
    case TSL_TROUBLE_UNFIT:
        return "The library doesn't fit others of the system: install it again in a version that does";
    default:
        return "`tesela run -l opencl:debug -- clinfo' tells more";
    }
}

/* No NVIDIA driver is no problem where there is no NVIDIA GPU: doctor_devices.c looks for one that lacks its files. Nor
 * is it one that no vendor's OpenCL is installed, where nobody asked for it. */
static bool is_hint(const struct tsl_findings *f, enum tsl_trouble trouble)
{
    if (trouble == TSL_TROUBLE_NO_CUDA)
        return !tsl_has_nvidia_files(f->root);
    return trouble == TSL_TROUBLE_NO_VENDORS && !variable("TESELA_VENDORS");
}

static void tell_problems(struct tsl_findings *f, const cJSON *problems)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, problems)
    {
        const char *sentence = cJSON_GetStringValue(cJSON_GetObjectItem(item, "what"));
        enum tsl_trouble trouble = tsl_info_trouble(item);
        char text[TSL_REMEDY_SIZE];

        if (sentence && is_hint(f, trouble))
            tsl_finding_hint(f, remedy_of(f, trouble, text), "%s", sentence);
        else if (sentence)
            tsl_finding_problem(f, remedy_of(f, trouble, text), "%s", sentence);
    }
}

/* Platforms that show no device for another reason than that their hardware lacks. NULL: none is known. */
static const char *remedy_of_empty(const char *name)
{
    if (strcmp(name, "rusticl") == 0)
        return "Name its driver: RUSTICL_ENABLE=radeonsi, iris or llvmpipe";
    if (strcmp(name, "Portable Computing Language") == 0)
        return "PoCL wants a folder for its cache that it can write: POCL_CACHE_DIR names one";
    return NULL;
}

static void tell_empty(struct tsl_findings *f, const cJSON *info)
{
    const char *told = tsl_info_lack(info) == TSL_CLIENT_UNRUNNABLE /* by tsl_check_compiler */
                           ? cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(info, "compiler"), "why"))
                           : NULL;
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItem(info, "without_devices"))
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(item, "name"));
        const char *why = cJSON_GetStringValue(cJSON_GetObjectItem(item, "why"));

        if (!name || !why || (told && strcmp(why, told) == 0))
            continue;
        tsl_finding_hint(f, remedy_of_empty(name), "%s: %s", name, why);
    }
}

static void tell_info(struct tsl_findings *f, const cJSON *info)
{
    tell_problems(f, cJSON_GetObjectItem(info, "problems"));
    tell_empty(f, info);
    if (cJSON_GetArraySize(cJSON_GetObjectItem(info, "members")) == 0)
        tsl_finding_problem(f,
                            "Install an OpenCL implementation (on Debian: apt install pocl-opencl-icd), or see above "
                            "and in `tesela info' what was left out",
                            "Tesela has no member here, so programs can't create a context on it");
}

/* Does listing the members end badly with that vendor's .icd file alone? */
static bool crashes(const char *folder, const char *vendors, const char *icd, struct tsl_child_result *result)
{
    char alone[PATH_MAX], from[PATH_MAX], to[PATH_MAX], setting[PATH_MAX + 32];
    const char *settings[] = {setting, NULL};
    cJSON *info = NULL;
    bool copied;

    snprintf(alone, sizeof alone, "%s/alone", folder);
    snprintf(from, sizeof from, "%s/%s", vendors, icd);
    copied = mkdir(alone, 0700) == 0 && snprintf(to, sizeof to, "%s/%s", alone, icd) < (int)sizeof to &&
             tsl_copy_file(from, to);
    snprintf(setting, sizeof setting, "TESELA_VENDORS=%s", alone);
    if (copied) {
        info = tsl_ask_info(folder, settings, result);
        unlink(to);
    }
    rmdir(alone);
    cJSON_Delete(info);
    return copied && !info;
}

/* PoCL ends a process in which it sees no memory, and it looks for that in /sys. */
static const char *remedy_of_crash(const char *words)
{
    if (strstr(words, "Not enough memory to run on this device"))
        return "PoCL needs /sys, which a chroot may lack: mount it, or leave PoCL out: TESELA_VENDORS names a folder "
               "of .icd files";
    return "Remove the file, install its vendor's package again, or leave the vendor out: TESELA_VENDORS names a "
           "folder of .icd files";
}

/* Some library ended the process that listed the members, or never came back: which one? */
static void tell_crash(struct tsl_findings *f, const char *folder, struct tsl_child_result all)
{
    const char *vendors = tsl_settings()->vendors;
    DIR *list = opendir(vendors);
    struct tsl_child_result result = all;
    struct dirent *entry;
    char how[160], words[TSL_LAST_WORDS], errors[PATH_MAX], found[NAME_MAX + 1] = "";

    while (list && !found[0] && (entry = readdir(list)))
        if (strstr(entry->d_name, ".icd") && crashes(folder, vendors, entry->d_name, &result))
            snprintf(found, sizeof found, "%s", entry->d_name);
    if (list)
        closedir(list);
    tsl_child_say(found[0] ? &result : &all, &(struct tsl_child){.limit_s = TSL_INFO_LIMIT_S}, how, sizeof how);
    snprintf(errors, sizeof errors, "%s/info-errors", folder);
    tsl_child_last_words(errors, words);
    if (found[0])
        tsl_finding_problem(f, remedy_of_crash(words), "the library of %s/%s %s when its devices are listed%s%s",
                            vendors, found, how, words[0] ? "; its last words: " : "", words);
    else
        tsl_finding_problem(f, "`tesela info' shows how far it comes", "listing the members %s", how);
}

void tsl_check_members(struct tsl_findings *f)
{
    char *folder = tsl_scratch_make("tesela doctor", 0);
    struct tsl_child_result result;
    cJSON *info;

    if (!folder) {
        tsl_finding_problem(f, "Name a folder with TMPDIR",
                            "no temporary file can be made, so the members were not looked at");
        return;
    }
    info = tsl_ask_info(folder, NULL, &result);
    tell_complaints(f, folder);
    if (info)
        tell_info(f, info);
    else if (result.end == TSL_CHILD_UNSTARTED)
        tsl_finding_problem(f, "Is /proc mounted here?",
                            "the tool can't start itself (%s), so the members were not looked at",
                            strerror(result.number));
    else if (result.end == TSL_CHILD_UNFORKED)
        tsl_finding_problem(f, "Let the sandbox start processes",
                            "no process can be started here (%s), so the members were not looked at",
                            strerror(result.number));
    else
        tell_crash(f, folder, result);
    cJSON_Delete(info);
    tsl_scratch_remove(folder);
}
