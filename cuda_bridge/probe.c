/* Finding GPUs, and what clGetDeviceInfo says of one. */
#include "cuda_bridge/compile.h"
#include "cuda_bridge/domain.h"
#include "cuda_bridge/operations.h"

#include "base/log.h"
#include "base/settings.h"
#include "compile_client/compile.h"
#include "driver/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVIDIA_VENDOR 0x10deu

/* ---- Probe ------------------------------------------------------------------------------------------------------- */

static int ask(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;

    return tsl_cu.cuDeviceGetAttribute(&value, attribute, device) ? 0 : value;
}

/* Indexed by CUDA's ordinal; paths point to them. */
static struct tsl_cuda_gpu gpus[TSL_MAX_MEMBERS];

static struct tsl_cuda_gpu *look_at(int ordinal, CUdevice device)
{
    struct tsl_cuda_gpu *gpu = &gpus[ordinal];

    *gpu = (struct tsl_cuda_gpu){
        .device = device,
        .capability = 10 * ask(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                      ask(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        .n_units = ask(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .unit_items = ask(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
        .clock_khz = ask(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        .warp = ask(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        .max_threads = ask(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .max_dim = {ask(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), ask(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                    ask(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
        .local_size = ask(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        .constant_size = ask(device, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
        .l2_size = ask(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
        .integrated = ask(device, CU_DEVICE_ATTRIBUTE_INTEGRATED),
        .ecc = ask(device, CU_DEVICE_ATTRIBUTE_ECC_ENABLED),
        .managed = ask(device, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) &&
                   ask(device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS),
        .texel_pitch = (size_t)ask(device, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT),
        .max_texels = (size_t)ask(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH),
        .maps_memory = ask(device, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
    };
    if (!gpu->warp)
        gpu->warp = 32;
    if (tsl_cu.cuDeviceTotalMem_v2(&gpu->memory_size, device))
        gpu->memory_size = 0;
    /* Nothing in CUDA limits one allocation, but programs size their buffers by what NVIDIA's OpenCL says: kernels on
     * up to four of the largest must have room. */
    gpu->max_alloc_size = gpu->memory_size / 4;
    return gpu;
}

/* Why the GPU can't serve, as a constant sentence; NULL: it can. */
static const char *why_not(const struct tsl_cuda_gpu *gpu)
{
    if (ask(gpu->device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == CU_COMPUTEMODE_PROHIBITED)
        return "its compute mode is \"prohibited\" (nvidia-smi -c changes it)";
    if (!ask(gpu->device, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING))
        return "it has no unified addresses";
    if (!ask(gpu->device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED))
        return "it has no memory pools in CUDA";
    if (!gpu->memory_size || !gpu->max_threads)
        return "CUDA doesn't tell its sizes";
    return NULL;
}

static void identify(CUdevice device, struct tsl_identity *identity)
{
    CUuuid uuid;

    _Static_assert(sizeof(uuid) == CL_UUID_SIZE_KHR, "both have 16 bytes");
    identity->has_uuid = tsl_cu.cuDeviceGetUuid_v2(&uuid, device) == CUDA_SUCCESS;
    if (identity->has_uuid)
        memcpy(identity->uuid, &uuid, sizeof(uuid));
    identity->has_pci = true;
    identity->pci_domain = (uint32_t)ask(device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
    identity->pci_bus = (uint32_t)ask(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
    identity->pci_device = (uint32_t)ask(device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
}

static void show(tsl_found_fn *found, void *arg, int ordinal, CUdevice device, int version)
{
    struct tsl_path path = {.driver = &tsl_cuda_driver, .type = CL_DEVICE_TYPE_GPU};
    struct tsl_cuda_gpu *gpu = look_at(ordinal, device);
    bool compiles = tsl_cuda_compiles();
    char name[256] = "", text[32];
    const char *reason;

    if (tsl_cu.cuDeviceGetName(name, sizeof(name), device))
        snprintf(name, sizeof(name), "NVIDIA GPU");
    snprintf(path.id, sizeof(path.id), "%s:%d", tsl_cuda_driver.name, ordinal);
    snprintf(text, sizeof(text), "CUDA %d.%d", version / 1000, version % 1000 / 10);
    path.platform_name = strdup("CUDA");
    path.device_name = strdup(name);
    path.driver_version = strdup(text);
    path.compiler = tsl_compile_identity();
    path.exclusive = true;
    path.preference = compiles && tsl_settings()->nvidia == TSL_NVIDIA_CUDA ? TSL_OWN_FIRST : TSL_OWN_LAST;
    path.turned_by = compiles ? "TESELA_NVIDIA=opencl" : NULL;
    identify(device, &path.identity);
    reason = why_not(gpu);
    gpu->serves = !reason;
    gpu->exclusive = ask(device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
    path.why_not = reason ? strdup(reason) : NULL;
    path.priv = gpu;
    found(arg, &path);
}

static void show_all(tsl_found_fn *found, void *arg)
{
    int n = 0, version = 0;
    CUdevice device;

    tsl_cu.cuDriverGetVersion(&version);
    if (tsl_cu.cuDeviceGetCount(&n))
        n = 0;
    if (n == 0)
        tsl_driver_report_trouble(TSL_TROUBLE_NO_GPU, "CUDA: its driver is there, but shows no GPU");
    if (n > TSL_MAX_MEMBERS)
        n = TSL_MAX_MEMBERS;
    memset(gpus, 0, sizeof(gpus));
    for (int i = 0; i < n; i++)
        if (!tsl_cu.cuDeviceGet(&device, i))
            show(found, arg, i, device, version);
    tsl_cuda_find_domains(gpus, (unsigned)n);
}

/* Called once in a process; tests reset the registry, and probe again. */
static enum tsl_cuda_load load(char **why)
{
    static enum tsl_cuda_load state = TSL_CUDA_ABSENT;

    *why = NULL;
    if (state != TSL_CUDA_THERE)
        state = tsl_cuda_load(tsl_settings()->cuda_library, why);
    return state;
}

cl_int tsl_cuda_probe(tsl_found_fn *found, void *arg)
{
    const char *text = NULL;
    CUresult result;
    enum tsl_cuda_load state;
    char *why;

    state = load(&why);
    if (state != TSL_CUDA_THERE) {
        tsl_driver_report_trouble(state == TSL_CUDA_ABSENT ? TSL_TROUBLE_NO_CUDA : TSL_TROUBLE_CUDA, "%s",
                                  why ? why : "CUDA: memory ran out");
        free(why);
        return CL_SUCCESS;
    }
    result = tsl_cu.cuInit(0);
    if (result == CUDA_SUCCESS) {
        show_all(found, arg);
        return CL_SUCCESS;
    }
    if (tsl_cu.cuGetErrorString(result, &text) || !text)
        text = "no words for it";
    tsl_driver_report_trouble(TSL_TROUBLE_NO_GPU, "CUDA: its driver could not start: error %u, %s", result, text);
    return CL_SUCCESS;
}

/* ---- Device queries ---------------------------------------------------------------------------------------------- */

struct answer {
    size_t size, *size_ret;
    void *value;
};

static cl_int give(const struct answer *a, const void *data, size_t size)
{
    if (a->size_ret)
        *a->size_ret = size;
    if (!a->value)
        return CL_SUCCESS;
    if (a->size < size)
        return CL_INVALID_VALUE;
    memcpy(a->value, data, size);
    return CL_SUCCESS;
}

static cl_int give_uint(const struct answer *a, cl_uint value)
{
    return give(a, &value, sizeof(value));
}

static cl_int give_ulong(const struct answer *a, cl_ulong value)
{
    return give(a, &value, sizeof(value));
}

static cl_int give_size(const struct answer *a, size_t value)
{
    return give(a, &value, sizeof(value));
}

static cl_int give_text(const struct answer *a, const char *text)
{
    return give(a, text, strlen(text) + 1);
}

static cl_int give_features(const struct answer *a)
{
    static const cl_name_version features[] = {
        {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_int64"},
        {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_fp64"},
        {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_order_acq_rel"},
        {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_order_seq_cst"},
        {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_scope_device"},
        {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_generic_address_space"},
        {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_work_group_collective_functions"}, /* from here on with our compiler */
        {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_images"},
        {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_3d_image_writes"},
        {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_read_write_images"},
    };

    return give(a, features, sizeof(features) - (tsl_cuda_compiles() ? 0 : 4 * sizeof(features[0])));
}

static cl_int give_c_versions(const struct answer *a)
{
    static const cl_name_version versions[] = {
        {CL_MAKE_VERSION(1, 0, 0), "OpenCL C"},
        {CL_MAKE_VERSION(1, 1, 0), "OpenCL C"},
        {CL_MAKE_VERSION(1, 2, 0), "OpenCL C"},
        {CL_MAKE_VERSION(3, 0, 0), "OpenCL C"},
    };

    return give(a, versions, sizeof(versions));
}

#define EXTENSIONS TSL_COMPILE_EXTENSIONS " " TSL_COMPILE_HALF_EXTENSION

static cl_int tell_texts(const struct tsl_path *path, cl_device_info param, const struct answer *a)
{
    switch (param) {
    case CL_DEVICE_NAME:
        return give_text(a, path->device_name);
    case CL_DEVICE_VENDOR:
        return give_text(a, "NVIDIA Corporation");
    case CL_DRIVER_VERSION:
        return give_text(a, path->driver_version);
    case CL_DEVICE_VERSION:
        return give_text(a, "OpenCL 3.0 CUDA");
    case CL_DEVICE_OPENCL_C_VERSION:
        return give_text(a, "OpenCL C 1.2 ");
    case CL_DEVICE_PROFILE:
        return give_text(a, "FULL_PROFILE");
    case CL_DEVICE_IL_VERSION:
        return give_text(a, tsl_compile_il_version());
    case CL_DEVICE_EXTENSIONS:
        return give_text(a, tsl_cuda_compiles() ? EXTENSIONS " " TSL_COMPILE_IMAGE_EXTENSIONS : EXTENSIONS);
    case CL_DEVICE_OPENCL_C_FEATURES:
        return give_features(a);
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
        return give_c_versions(a);
    default:
        return CL_INVALID_VALUE;
    }
}

#define FP_ALL \
    (CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA)

static cl_int tell_sizes(const struct tsl_cuda_gpu *gpu, cl_device_info param, const struct answer *a)
{
    const size_t work_items[3] = {(size_t)gpu->max_dim[0], (size_t)gpu->max_dim[1], (size_t)gpu->max_dim[2]};

    switch (param) {
    case CL_DEVICE_TYPE:
        return give_ulong(a, CL_DEVICE_TYPE_GPU);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return give_size(a, (size_t)gpu->max_threads);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return give(a, work_items, sizeof(work_items));
    case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return give_size(a, (size_t)gpu->warp);
    case CL_DEVICE_MAX_PARAMETER_SIZE:
        return give_size(a, 4096 - 256); /* CUDA's limit less what is hidden */
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
        return give_size(a, 1000);
    case CL_DEVICE_PRINTF_BUFFER_SIZE:
        return give_size(a, (size_t)1 << 20);
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return give_ulong(a, FP_ALL | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
    case CL_DEVICE_DOUBLE_FP_CONFIG:
        return give_ulong(a, FP_ALL);
    case CL_DEVICE_HALF_FP_CONFIG:
        return give_ulong(a, FP_ALL);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return give_ulong(a, gpu->memory_size);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return give_ulong(a, gpu->max_alloc_size);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        return give_ulong(a, (cl_ulong)gpu->l2_size);
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
        return give_ulong(a, (cl_ulong)gpu->constant_size);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return give_ulong(a, (cl_ulong)gpu->local_size);
    case CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES:
    case CL_DEVICE_ATOMIC_FENCE_CAPABILITIES:
        return give_ulong(a, CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
                                 CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM |
                                 CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int tell_numbers(const struct tsl_cuda_gpu *gpu, cl_device_info param, const struct answer *a)
{
    switch (param) {
    case CL_DEVICE_VENDOR_ID:
        return give_uint(a, NVIDIA_VENDOR);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return give_uint(a, (cl_uint)gpu->n_units);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return give_uint(a, (cl_uint)gpu->clock_khz / 1000);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        return give_uint(a, 3);
    case CL_DEVICE_ADDRESS_BITS:
        return give_uint(a, 64);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        return give_uint(a, 8 * 128);
    case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE:
        return give_uint(a, 128);
    case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
        return give_uint(a, CL_READ_WRITE_CACHE);
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
        return give_uint(a, 128);
    case CL_DEVICE_MAX_CONSTANT_ARGS:
        return give_uint(a, 64); /* they are ordinary memory, so only the parameters' size limits them */
    case CL_DEVICE_LOCAL_MEM_TYPE:
        return give_uint(a, CL_LOCAL);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
        return give_uint(a, 1);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF: /* an instruction for two at once */
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
        return give_uint(a, 2);
    case CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT:
    case CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT:
    case CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT:
        return give_uint(a, 0);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int tell_flags(const struct tsl_cuda_gpu *gpu, cl_device_info param, const struct answer *a)
{
    switch (param) {
    case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
        return give_uint(a, gpu->ecc ? CL_TRUE : CL_FALSE);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return give_uint(a, gpu->integrated ? CL_TRUE : CL_FALSE);
    case CL_DEVICE_ENDIAN_LITTLE:
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT:
        return give_uint(a, CL_TRUE);
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
        return give_uint(a, tsl_cuda_compiles() ? CL_TRUE : CL_FALSE);
    case CL_DEVICE_IMAGE_SUPPORT:
    case CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT:
    case CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT:
        return give_uint(a, tsl_cuda_compiles() ? CL_TRUE : CL_FALSE);
    default:
        return CL_INVALID_VALUE;
    }
}

/* Images are plain memory to the kernels that our compiler makes; there are none without it. */
static cl_int tell_images(cl_device_info param, const struct answer *a)
{
    bool images = tsl_cuda_compiles();

    switch (param) {
    case CL_DEVICE_MAX_READ_IMAGE_ARGS:
    case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
    case CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS:
        return give_uint(a, images ? TSL_KC_MAX_IMAGES : 0);
    case CL_DEVICE_MAX_SAMPLERS:
        return give_uint(a, images ? TSL_KC_MAX_SAMPLERS : 0);
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
        return give_size(a, images ? TSL_KC_IMAGE_MAX_SIZE : 0);
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
        return give_size(a, images ? TSL_KC_IMAGE_MAX_3D : 0);
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
        return give_size(a, images ? TSL_KC_IMAGE_MAX_BUFFER : 0);
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
        return give_size(a, images ? TSL_KC_IMAGE_MAX_LAYERS : 0);
    case CL_DEVICE_IMAGE_PITCH_ALIGNMENT:
    case CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT:
        return give_uint(a, images ? 1 : 0);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int tsl_cuda_info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    const struct answer answer = {.size = size, .size_ret = size_ret, .value = value};
    cl_int error = tell_texts(path, param, &answer);

    /* Each knows other queries. Too little room is the same error for all, so the rest may be asked as well. */
    if (error)
        error = tell_sizes(path->priv, param, &answer);
    if (error)
        error = tell_numbers(path->priv, param, &answer);
    if (error)
        error = tell_images(param, &answer);
    return error ? tell_flags(path->priv, param, &answer) : CL_SUCCESS;
}
