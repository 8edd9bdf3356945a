/* What helps where CUDA's library isn't found, or shows no GPU. */
#include "tool/findings.h"
#include "tool/hardware.h"

#include "base/settings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define CONTAINER_GPUS "--gpus all; with podman --device nvidia.com/gpu=all"

/* Folders in which drivers and containers' runtimes put the library. Not each loader looks into each of them. */
static const char *const cuda_folders[] = {
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
    "/.singularity.d/libs",
};

static bool has_cuda(const struct tsl_findings *f, const char *folder)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    return tsl_findings_some(f, path);
}

/* The folder that has the library, though the loader doesn't find it; NULL: none of those known. */
static const char *find_cuda(const struct tsl_findings *f)
{
    const char *told = secure_getenv("NVIDIA_CTK_LIBCUDA_DIR"); /* by NVIDIA's container toolkit */

    if (told && told[0] == '/' && has_cuda(f, told))
        return told;
    for (size_t i = 0; i < sizeof cuda_folders / sizeof cuda_folders[0]; i++)
        if (has_cuda(f, cuda_folders[i]))
            return cuda_folders[i];
    return NULL;
}

const char *tsl_remedy_without_cuda(const struct tsl_findings *f, char text[TSL_REMEDY_SIZE])
{
    const char *folder = tsl_settings()->cuda_library ? NULL : find_cuda(f);

    if (folder) {
        snprintf(text, TSL_REMEDY_SIZE,
                 "%s has it, but the loader doesn't look there: name the folder with LD_LIBRARY_PATH, or let root run "
                 "`ldconfig %s'",
                 folder, folder);
        return text;
    }
    if (!tsl_has_nvidia_files(f->root))
        return "Nothing, if there is no NVIDIA GPU; else install NVIDIA's driver, or give the container its libraries "
               "and devices (" CONTAINER_GPUS ")";
    if (tsl_in_container(f))
        return "Start the container with the driver's libraries, too: NVIDIA_DRIVER_CAPABILITIES=compute,utility; with "
               "CDI's devices `nvidia-ctk cdi generate' on the machine names them anew";
    return "Install the part of NVIDIA's driver that has libcuda.so.1 (on Debian: apt install libcuda1)";
}

static const char *remedy_in_container(const struct tsl_findings *f)
{
    if (!tsl_has_nvidia_files(f->root))
        return "Nothing, if there is no NVIDIA GPU; else start the container with its devices (" CONTAINER_GPUS ")";
    if (!tsl_findings_some(f, "/dev/nvidia[0-9]*"))
        return "The container has /dev/nvidiactl, but no GPU's file, as /dev/nvidia0: start it with the GPU "
               "(" CONTAINER_GPUS ")";
    if (!tsl_findings_some(f, "/dev/nvidia-uvm"))
        return "CUDA needs /dev/nvidia-uvm, which the container lacks: start it with NVIDIA's runtime (" CONTAINER_GPUS
               "), or with --device /dev/nvidia-uvm, too";
    return "Does the image bring a libcuda.so.1 of its own? Remove it: the machine's works, which the runtime brings. "
           "`nvidia-smi' outside the container tells whether the GPU does";
}

static const char *remedy_natively(const struct tsl_findings *f)
{
    if (!tsl_has_nvidia_files(f->root))
        return "Nothing, if there is no NVIDIA GPU; else see with `nvidia-smi' whether its driver is loaded";
    if (!tsl_findings_some(f, "/dev/nvidia[0-9]*"))
        return "There is /dev/nvidiactl, but no GPU's file, as /dev/nvidia0: `nvidia-smi', run by root, makes them";
    if (!tsl_findings_some(f, "/dev/nvidia-uvm"))
        return "CUDA needs /dev/nvidia-uvm: `nvidia-modprobe -u -c 0', run by root, loads its module and makes it";
    return "`nvidia-smi' tells whether the driver works; after an update of the driver start the machine anew";
}

const char *tsl_remedy_without_gpu(const struct tsl_findings *f)
{
    if (getenv("CUDA_VISIBLE_DEVICES"))
        return "Unset CUDA_VISIBLE_DEVICES, which chooses among the GPUs, if it isn't meant to hide them";
    return tsl_in_container(f) ? remedy_in_container(f) : remedy_natively(f);
}
