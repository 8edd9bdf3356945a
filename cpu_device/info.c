/* What the CPU says of itself: clGetDeviceInfo. */
#include "compile_client/compile.h"
#include "compile_client/kernel_image.h"
#include "compile_client/work_group.h"
#include "cpu_device/operations.h"
#include "cpu_device/place.h"

#include <CL/cl_ext.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORK_GROUP_SIZE 4096u /* a loop has no limit; what lives across barriers takes memory for each work-item */
#define LOCAL_MEM       (256u << 10)
#define EXTENSIONS      TSL_COMPILE_EXTENSIONS " " TSL_COMPILE_IMAGE_EXTENSIONS
#define FP_CONFIG \
    (CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA)

static unsigned n_units(const struct tsl_path *path)
{
    struct cpu_place place;

    cpu_place_get(cpu_place_number(path), &place);
    return place.n_threads;
}

/* Bytes of the registers that the kernel compiler's code works with. */
static unsigned register_size(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx") ? 32 : 16;
#else
    return 16;
#endif
}

/* Can it convert halves to floats and back? Its arithmetic is that of floats. */
static bool has_halves(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("f16c");
#else
    return true;
#endif
}

static bool is_of_halves(cl_device_info param)
{
    return param == CL_DEVICE_HALF_FP_CONFIG || param == CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF ||
           param == CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF;
}

/* How many elements lie in a register, of the vectors that OpenCL C has; 0: no type of such a query. Preferred are
 * single ones, as vectors are made of work-items. */
static unsigned native_width(cl_device_info param)
{
    static const struct {
        cl_device_info param;
        unsigned size; /* bytes of an element */
    } types[] = {{CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 1},  {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, 2},
                 {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 4},   {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, 8},
                 {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4}, {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 8},
                 {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 2}};

    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i].param == param)
            return register_size() / types[i].size < 16 ? register_size() / types[i].size : 16;
    return 0;
}

/* Megahertz by a file's first number of that format; 0: none. */
static double megahertz_in(const char *path, const char *format)
{
    FILE *file = fopen(path, "re");
    char line[256];
    double found = 0;

    while (file && found <= 0 && fgets(line, sizeof(line), file))
        if (sscanf(line, format, &found) != 1)
            found = 0;
    if (file)
        fclose(file);
    return found;
}

/* Programs that choose the device with the most units times megahertz pass over one that says 0. What Linux has as the
 * highest, or where it doesn't tell, as in virtual machines, what the first processor has now. */
static cl_uint clock_frequency(void)
{
    double highest = megahertz_in("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "%lf") / 1000;

    return (cl_uint)(highest > 0 ? highest : megahertz_in("/proc/cpuinfo", "cpu MHz : %lf"));
}

static cl_int give(const void *answer, size_t answer_size, size_t size, void *value, size_t *size_ret)
{
    if (size_ret)
        *size_ret = answer_size;
    if (!value)
        return CL_SUCCESS;
    if (size < answer_size)
        return CL_INVALID_VALUE;
    memcpy(value, answer, answer_size);
    return CL_SUCCESS;
}

/* Numbers, by the type that the specification gives them. */
struct number {
    cl_device_info param;
    unsigned size; /* bytes */
    cl_ulong value;
};

#define UINT(param, value)            \
    {                                 \
        param, sizeof(cl_uint), value \
    }
#define ULONG(param, value)            \
    {                                  \
        param, sizeof(cl_ulong), value \
    }
#define SIZE(param, value)           \
    {                                \
        param, sizeof(size_t), value \
    }

static const struct number numbers[] = {
    ULONG(CL_DEVICE_TYPE, CL_DEVICE_TYPE_CPU),
    UINT(CL_DEVICE_VENDOR_ID, 0),
    UINT(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3),
    SIZE(CL_DEVICE_MAX_WORK_GROUP_SIZE, WORK_GROUP_SIZE),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 1),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, 1),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 1),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, 1),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 1),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, 1),
    UINT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, 1),
    UINT(CL_DEVICE_ADDRESS_BITS, 64),
    UINT(CL_DEVICE_IMAGE_SUPPORT, CL_TRUE),
    UINT(CL_DEVICE_MAX_READ_IMAGE_ARGS, TSL_KC_MAX_IMAGES),
    UINT(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, TSL_KC_MAX_IMAGES),
    UINT(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, TSL_KC_MAX_IMAGES),
    UINT(CL_DEVICE_MAX_SAMPLERS, TSL_KC_MAX_SAMPLERS),
    SIZE(CL_DEVICE_IMAGE2D_MAX_WIDTH, TSL_KC_IMAGE_MAX_SIZE),
    SIZE(CL_DEVICE_IMAGE2D_MAX_HEIGHT, TSL_KC_IMAGE_MAX_SIZE),
    SIZE(CL_DEVICE_IMAGE3D_MAX_WIDTH, TSL_KC_IMAGE_MAX_3D),
    SIZE(CL_DEVICE_IMAGE3D_MAX_HEIGHT, TSL_KC_IMAGE_MAX_3D),
    SIZE(CL_DEVICE_IMAGE3D_MAX_DEPTH, TSL_KC_IMAGE_MAX_3D),
    SIZE(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, TSL_KC_IMAGE_MAX_BUFFER),
    SIZE(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, TSL_KC_IMAGE_MAX_LAYERS),
    UINT(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 1),
    UINT(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, 1),
    SIZE(CL_DEVICE_MAX_PARAMETER_SIZE, 4096),
    UINT(CL_DEVICE_MEM_BASE_ADDR_ALIGN, TSL_WG_ALIGN * 8),
    UINT(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, TSL_WG_ALIGN),
    ULONG(CL_DEVICE_SINGLE_FP_CONFIG, FP_CONFIG),
    ULONG(CL_DEVICE_DOUBLE_FP_CONFIG, FP_CONFIG),
    ULONG(CL_DEVICE_HALF_FP_CONFIG, FP_CONFIG),
    UINT(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, CL_READ_WRITE_CACHE),
    UINT(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 64),
    ULONG(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 1u << 30),
    UINT(CL_DEVICE_MAX_CONSTANT_ARGS, 64),
    UINT(CL_DEVICE_LOCAL_MEM_TYPE, CL_GLOBAL),
    ULONG(CL_DEVICE_LOCAL_MEM_SIZE, LOCAL_MEM),
    UINT(CL_DEVICE_ERROR_CORRECTION_SUPPORT, CL_FALSE),
    UINT(CL_DEVICE_HOST_UNIFIED_MEMORY, CL_TRUE),
    SIZE(CL_DEVICE_PROFILING_TIMER_RESOLUTION, 1),
    UINT(CL_DEVICE_ENDIAN_LITTLE, CL_TRUE),
    UINT(CL_DEVICE_AVAILABLE, CL_TRUE),
    UINT(CL_DEVICE_COMPILER_AVAILABLE, CL_TRUE),
    UINT(CL_DEVICE_LINKER_AVAILABLE, CL_TRUE),
    ULONG(CL_DEVICE_EXECUTION_CAPABILITIES, CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL),
    ULONG(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE),
    SIZE(CL_DEVICE_PRINTF_BUFFER_SIZE, 1u << 20),
    UINT(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, CL_TRUE),
    UINT(CL_DEVICE_REFERENCE_COUNT, 1),
    UINT(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 0),
    ULONG(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, 0),
    ULONG(CL_DEVICE_SVM_CAPABILITIES, 0),
    UINT(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, 0),
    UINT(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, 0),
    UINT(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, 0),
    SIZE(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, 0),
    SIZE(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, 0),
    UINT(CL_DEVICE_MAX_NUM_SUB_GROUPS, 0),
    UINT(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, CL_FALSE),
    ULONG(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
                                                    CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP |
                                                    CL_DEVICE_ATOMIC_SCOPE_DEVICE),
    ULONG(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
                                                   CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM |
                                                   CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE),
    UINT(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_TRUE),
    UINT(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, CL_TRUE),
    UINT(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, CL_TRUE),
    ULONG(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, 0),
    UINT(CL_DEVICE_PIPE_SUPPORT, CL_FALSE),
    SIZE(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 16),
    UINT(CL_DEVICE_NUMERIC_VERSION, CL_MAKE_VERSION(3, 0, 0)),
};

static const char *text_of(const struct tsl_path *path, cl_device_info param)
{
    switch (param) {
    case CL_DEVICE_NAME:
        return path->device_name;
    case CL_DEVICE_VENDOR:
        return "Tesela";
    case CL_DRIVER_VERSION:
        return path->driver_version;
    case CL_DEVICE_PROFILE:
        return "FULL_PROFILE";
    case CL_DEVICE_VERSION:
        return "OpenCL 3.0 Tesela";
    case CL_DEVICE_OPENCL_C_VERSION:
        return "OpenCL C 1.2 ";
    case CL_DEVICE_EXTENSIONS:
        return has_halves() ? EXTENSIONS " " TSL_COMPILE_HALF_EXTENSION : EXTENSIONS;
    case CL_DEVICE_BUILT_IN_KERNELS:
        return "";
    case CL_DEVICE_IL_VERSION:
        return tsl_compile_il_version();
    default:
        return NULL;
    }
}

/* Names with versions: OpenCL C's, and the features of 3.0, which the compiler lists with blanks between. */
static unsigned list_features(cl_name_version *list, unsigned room)
{
    const char *at = TSL_COMPILE_FEATURES " " TSL_COMPILE_IMAGE_FEATURES;
    unsigned n = 0;

    while (*at && n < room) {
        size_t length = strcspn(at, " ");

        list[n].version = CL_MAKE_VERSION(3, 0, 0);
        snprintf(list[n++].name, sizeof(list[0].name), "%.*s", (int)length, at);
        at += length;
        at += strspn(at, " ");
    }
    return n;
}

static unsigned list_versions(cl_name_version *list)
{
    static const unsigned versions[][2] = {{1, 0}, {1, 1}, {1, 2}, {3, 0}};

    for (unsigned i = 0; i < 4; i++) {
        list[i].version = CL_MAKE_VERSION(versions[i][0], versions[i][1], 0);
        snprintf(list[i].name, sizeof(list[i].name), "OpenCL C");
    }
    return 4;
}

cl_int cpu_info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    static const size_t items[3] = {WORK_GROUP_SIZE, WORK_GROUP_SIZE, WORK_GROUP_SIZE};
    const char *text = text_of(path, param);
    cl_name_version list[32] = {{0}};
    cl_ulong number = cpu_place_memory(cpu_place_number(path));
    cl_uint units = n_units(path), width = native_width(param), clock;
    unsigned n;

    if (text)
        return give(text, strlen(text) + 1, size, value, size_ret);
    if (!has_halves() && is_of_halves(param))
        return give(&(cl_ulong){0}, param == CL_DEVICE_HALF_FP_CONFIG ? sizeof(cl_ulong) : sizeof(cl_uint), size, value,
                    size_ret);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i].param == param)
            return give(&numbers[i].value, numbers[i].size, size, value, size_ret); /* little-endian */
    if (width)
        return give(&width, sizeof(width), size, value, size_ret);
    switch (param) {
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return give(&units, sizeof(units), size, value, size_ret);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        clock = clock_frequency();
        return give(&clock, sizeof(clock), size, value, size_ret);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return give(items, sizeof(items), size, value, size_ret);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        number /= 2;
        return give(&number, sizeof(number), size, value, size_ret);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return give(&number, sizeof(number), size, value, size_ret);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        number = (cl_ulong)(sysconf(_SC_LEVEL2_CACHE_SIZE) > 0 ? sysconf(_SC_LEVEL2_CACHE_SIZE) : 0);
        return give(&number, sizeof(number), size, value, size_ret);
    case CL_DEVICE_OPENCL_C_FEATURES:
        n = list_features(list, 32);
        return give(list, n * sizeof(list[0]), size, value, size_ret);
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
        n = list_versions(list);
        return give(list, n * sizeof(list[0]), size, value, size_ret);
    default:
        return CL_INVALID_VALUE;
    }
}
