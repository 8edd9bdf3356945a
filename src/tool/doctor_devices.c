/* Device files: are there any, and may this user use them? */
#include "tool/findings.h"
#include "tool/hardware.h"

#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool exists(const struct tsl_findings *f, const char *path)
{
    char whole[PATH_MAX];

    tsl_findings_path(f, path, whole);
    return access(whole, F_OK) == 0;
}

bool tsl_findings_some(const struct tsl_findings *f, const char *pattern)
{
    char whole[PATH_MAX];
    glob_t found;
    bool any;

    tsl_findings_path(f, pattern, whole);
    any = glob(whole, GLOB_NOSORT, NULL, &found) == 0;
    if (any)
        globfree(&found);
    return any;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && value[0];
}

bool tsl_in_container(const struct tsl_findings *f)
{
    return exists(f, "/.dockerenv") || exists(f, "/run/.containerenv") || is_set("container") ||
           is_set("SINGULARITY_NAME") || is_set("APPTAINER_NAME") || is_set("KUBERNETES_SERVICE_HOST") ||
           is_set("NVIDIA_VISIBLE_DEVICES"); /* NVIDIA's runtime, which may leave no other mark */
}

/* ---- Permissions ------------------------------------------------------------------------------------------------- */

static const char *user_name(void)
{
    const struct passwd *user = getpwuid(getuid());

    return user ? user->pw_name : "USER";
}

/* The kernel refuses with EPERM what the container's rules for devices don't name, whatever the file's mode. Without
 * root a container has no groups but the user's, and the file's seems to be nobody's. */
static void tell_container(char *remedy, size_t size, const char *path, const struct stat *about, int error)
{
    if (error == EPERM)
        snprintf(remedy, size,
                 "Start the container with the device (--device %s): a file that is only mounted (-v) can't be opened",
                 path);
    else if (!(about->st_mode & S_IWGRP))
        snprintf(remedy, size, "Run the container's program as the user who has the file, number %u",
                 (unsigned)about->st_uid);
    else
        snprintf(remedy, size,
                 "Start the container with the group of the file (--group-add %u; by podman without root "
                 "--group-add keep-groups)",
                 (unsigned)about->st_gid);
}

/* What gives this user the file: the group that has it, if that may write. */
static void tell_forbidden(struct tsl_findings *f, const char *path, int error)
{
    struct stat about;
    const struct group *group;
    char remedy[TSL_REMEDY_SIZE];

    if (stat(path, &about) != 0)
        about = (struct stat){.st_mode = 0};
    group = about.st_mode & S_IWGRP && about.st_gid != 0 ? getgrgid(about.st_gid) : NULL; /* nobody joins root's */
    if (tsl_in_container(f))
        tell_container(remedy, sizeof remedy, path, &about, error);
    else if (group)
        snprintf(remedy, sizeof remedy, "`sudo usermod -aG %s %s', then log in again", group->gr_name, user_name());
    else
        snprintf(remedy, sizeof remedy,
                 "Ask the administrator for the right to read and write it: by a group (a rule of udev), or an ACL");
    tsl_finding_problem(f, remedy, "%s can't be opened by this user (%s), so its device isn't found", path,
                        strerror(error));
}

static void check_files(struct tsl_findings *f, const char *pattern)
{
    char whole[PATH_MAX];
    glob_t found;

    tsl_findings_path(f, pattern, whole);
    if (glob(whole, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (access(found.gl_pathv[i], R_OK | W_OK) != 0)
            tell_forbidden(f, found.gl_pathv[i], errno);
    globfree(&found);
}

/* ---- What lacks -------------------------------------------------------------------------------------------------- */

static void check_dri(struct tsl_findings *f)
{
    bool cards = tsl_findings_some(f, "/sys/class/drm/renderD*");

    if (!cards || tsl_findings_some(f, "/dev/dri/renderD*"))
        return;
    if (tsl_in_container(f))
        tsl_finding_problem(f, "Start the container with its devices (--device /dev/dri)",
                            "the machine has GPUs, but this container has no /dev/dri");
    else
        tsl_finding_problem(f, "Is udev running? `sudo udevadm trigger' makes the device files again",
                            "the kernel has GPUs (/sys/class/drm), but there is no /dev/dri/renderD*");
}

static void check_nvidia(struct tsl_findings *f)
{
    bool loaded = exists(f, "/proc/driver/nvidia/version"), files = tsl_has_nvidia_files(f->root);

    if (files || !tsl_has_gpu_of(f->root, TSL_PCI_NVIDIA))
        return;
    if (tsl_in_container(f))
        tsl_finding_problem(f,
                            "Start the container with NVIDIA's runtime (--gpus all; with podman --device "
                            "nvidia.com/gpu=all, with Apptainer --nv)",
                            "the machine has an NVIDIA GPU, but this container has no /dev/nvidiactl");
    else if (loaded)
        tsl_finding_problem(f, "`nvidia-smi', run by root, makes the device files",
                            "NVIDIA's driver is loaded, but there is no /dev/nvidiactl");
    else
        tsl_finding_problem(
            f, "Install NVIDIA's driver (on Debian: apt install nvidia-driver), and start the machine anew",
            "there is an NVIDIA GPU, but NVIDIA's driver isn't loaded");
}

static void check_amd(struct tsl_findings *f)
{
    if (!tsl_has_gpu_of(f->root, TSL_PCI_AMD) || exists(f, "/dev/kfd") || !tsl_in_container(f))
        return;
    tsl_finding_hint(f, "Start the container with --device /dev/kfd, too, if ROCm's OpenCL is used",
                     "the machine has an AMD GPU, but this container has no /dev/kfd");
}

void tsl_check_devices(struct tsl_findings *f)
{
    check_dri(f);
    check_nvidia(f);
    check_amd(f);
    check_files(f, "/dev/dri/renderD*");
    check_files(f, "/dev/kfd");
    check_files(f, "/dev/nvidiactl");
    check_files(f, "/dev/nvidia[0-9]*");
    check_files(f, "/dev/nvidia-uvm");
}
