/*
 * Our declarations of CUDA's (cuda_bridge/types.h, symbols.h) against cuda.h, where the CUDA Toolkit is present.
 * Compiled twice: with cuda.h, where the functions' types are checked while compiling, and with our own types; the
 * program compares what the two know of constants and layouts.
 */
#ifdef WITH_CUDA_H
#include <cuda.h>

#include "cuda_bridge/symbols.h"

#define SAME_FUNCTION(name, parameters) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&name), CUresult(*) parameters), #name);
TSL_CUDA_SYMBOLS(SAME_FUNCTION)
#if CUDA_VERSION >= 12000
TSL_CUDA_GRAPH_SYMBOLS(SAME_FUNCTION)
#else /* Its nodes are others, and its driver's aren't used. */
struct node {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra, *kern;
    CUcontext ctx;
};
#define CUDA_KERNEL_NODE_PARAMS struct node
#endif
#if CUDA_VERSION < 13000 /* Older ones lack some of these. */
#define CUDA_ERROR_CONTAINED             226
#define CUDA_ERROR_TENSOR_MEMORY_LEAK    721
#define CUDA_ERROR_MPS_CLIENT_TERMINATED 810
#define CUDA_ERROR_EXTERNAL_DEVICE       911
#endif
#define TABLE header_of_cuda
#else
#include "cuda_bridge/types.h"

#include <stdio.h>
#include <string.h>
#define TABLE header_of_ours
#endif

#define VALUE(x)      \
    {                 \
#x, (long)(x) \
    }
#define LAYOUT(type, at)                                  \
    {                                                     \
#type "." #at, (long)__builtin_offsetof(type, at) \
    }

struct row {
    const char *name;
    long value;
};

extern const struct row header_of_cuda[], header_of_ours[];

const struct row TABLE[] = {
    VALUE(CUDA_SUCCESS),
    VALUE(CUDA_ERROR_INVALID_VALUE),
    VALUE(CUDA_ERROR_OUT_OF_MEMORY),
    VALUE(CUDA_ERROR_NOT_INITIALIZED),
    VALUE(CUDA_ERROR_DEINITIALIZED),
    VALUE(CUDA_ERROR_STUB_LIBRARY),
    VALUE(CUDA_ERROR_DEVICE_UNAVAILABLE),
    VALUE(CUDA_ERROR_NO_DEVICE),
    VALUE(CUDA_ERROR_INVALID_IMAGE),
    VALUE(CUDA_ERROR_NO_BINARY_FOR_GPU),
    VALUE(CUDA_ERROR_ECC_UNCORRECTABLE),
    VALUE(CUDA_ERROR_INVALID_PTX),
    VALUE(CUDA_ERROR_NVLINK_UNCORRECTABLE),
    VALUE(CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
    VALUE(CUDA_ERROR_NOT_FOUND),
    VALUE(CUDA_ERROR_NOT_READY),
    VALUE(CUDA_ERROR_ILLEGAL_ADDRESS),
    VALUE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
    VALUE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
    VALUE(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
    VALUE(CUDA_ERROR_LAUNCH_TIMEOUT),
    VALUE(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED),
    VALUE(CUDA_ERROR_CONTEXT_IS_DESTROYED),
    VALUE(CUDA_ERROR_ASSERT),
    VALUE(CUDA_ERROR_HARDWARE_STACK_ERROR),
    VALUE(CUDA_ERROR_LAUNCH_FAILED),
    VALUE(CUDA_ERROR_CONTAINED),
    VALUE(CUDA_ERROR_TENSOR_MEMORY_LEAK),
    VALUE(CUDA_ERROR_MPS_CLIENT_TERMINATED),
    VALUE(CUDA_ERROR_EXTERNAL_DEVICE),
    VALUE(CUDA_ERROR_UNKNOWN),
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z),
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
    VALUE(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
    VALUE(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
    VALUE(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT),
    VALUE(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH),
    VALUE(CU_AD_FORMAT_UNSIGNED_INT8),
    VALUE(CU_AD_FORMAT_UNSIGNED_INT16),
    VALUE(CU_AD_FORMAT_UNSIGNED_INT32),
    VALUE(CU_AD_FORMAT_SIGNED_INT8),
    VALUE(CU_AD_FORMAT_SIGNED_INT16),
    VALUE(CU_AD_FORMAT_SIGNED_INT32),
    VALUE(CU_AD_FORMAT_HALF),
    VALUE(CU_AD_FORMAT_FLOAT),
    VALUE(CU_RESOURCE_TYPE_LINEAR),
    VALUE(CU_RESOURCE_TYPE_PITCH2D),
    VALUE(CU_TR_ADDRESS_MODE_BORDER),
    VALUE(CU_TR_FILTER_MODE_POINT),
    VALUE(CU_TR_FILTER_MODE_LINEAR),
    VALUE(CU_TRSF_READ_AS_INTEGER),
    VALUE(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
    VALUE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
    VALUE(CU_DEVICE_ATTRIBUTE_INTEGRATED),
    VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE),
    VALUE(CU_DEVICE_ATTRIBUTE_ECC_ENABLED),
    VALUE(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
    VALUE(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID),
    VALUE(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
    VALUE(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING),
    VALUE(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
    VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
    VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
    VALUE(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY),
    VALUE(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS),
    VALUE(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
    VALUE(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED),
    VALUE(CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED),
    VALUE(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
    VALUE(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
    VALUE(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
    VALUE(CU_COMPUTEMODE_PROHIBITED),
    VALUE(CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
    VALUE(CU_MEMORYTYPE_HOST),
    VALUE(CU_MEMORYTYPE_DEVICE),
    VALUE(CU_MEMORYTYPE_UNIFIED),
    VALUE(CU_STREAM_NON_BLOCKING),
    VALUE(CU_STREAM_WAIT_VALUE_GEQ),
    VALUE(CU_EVENT_DEFAULT),
    VALUE(CU_EVENT_DISABLE_TIMING),
    VALUE(CU_MEMHOSTALLOC_PORTABLE),
    VALUE(CU_MEM_ATTACH_GLOBAL),
    VALUE(CU_MEMHOSTREGISTER_PORTABLE),
    VALUE(CU_MEM_ALLOCATION_TYPE_PINNED),
    VALUE(CU_MEM_LOCATION_TYPE_DEVICE),
    VALUE(CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
    VALUE(CU_MEM_ALLOC_GRANULARITY_MINIMUM),
    VALUE(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD),
    VALUE(CU_JIT_ERROR_LOG_BUFFER),
    VALUE(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES),
    VALUE(sizeof(CUresult)),
    VALUE(sizeof(CUdevice)),
    VALUE(sizeof(CUdeviceptr)),
    VALUE(sizeof(CUuuid)),
    VALUE(sizeof(CUdevice_attribute)),
    VALUE(sizeof(CUmemorytype)),
    VALUE(sizeof(CUmemPoolProps)),
    VALUE(sizeof(CUmemAllocationProp)),
    VALUE(sizeof(CUmemGenericAllocationHandle)),
    VALUE(sizeof(CUmemAccessDesc)),
    VALUE(sizeof(CUDA_MEMCPY3D)),
    VALUE(sizeof(CUtexObject)),
    VALUE(sizeof(CUDA_RESOURCE_DESC)),
    VALUE(sizeof(CUDA_TEXTURE_DESC)),
    LAYOUT(CUDA_RESOURCE_DESC, res.linear.devPtr),
    LAYOUT(CUDA_RESOURCE_DESC, res.linear.format),
    LAYOUT(CUDA_RESOURCE_DESC, res.linear.numChannels),
    LAYOUT(CUDA_RESOURCE_DESC, res.linear.sizeInBytes),
    LAYOUT(CUDA_RESOURCE_DESC, flags),
    LAYOUT(CUDA_TEXTURE_DESC, filterMode),
    LAYOUT(CUDA_TEXTURE_DESC, flags),
    VALUE(sizeof(CUDA_KERNEL_NODE_PARAMS)),
    LAYOUT(CUDA_KERNEL_NODE_PARAMS, func),
    LAYOUT(CUDA_KERNEL_NODE_PARAMS, gridDimX),
    LAYOUT(CUDA_KERNEL_NODE_PARAMS, gridDimZ),
    LAYOUT(CUDA_KERNEL_NODE_PARAMS, blockDimX),
    LAYOUT(CUDA_KERNEL_NODE_PARAMS, blockDimZ),
    LAYOUT(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes),
    LAYOUT(CUDA_KERNEL_NODE_PARAMS, kernelParams),
    LAYOUT(CUDA_KERNEL_NODE_PARAMS, extra),
    LAYOUT(CUDA_KERNEL_NODE_PARAMS, kern),
    LAYOUT(CUDA_KERNEL_NODE_PARAMS, ctx),
    LAYOUT(CUmemPoolProps, handleTypes),
    LAYOUT(CUmemPoolProps, location),
    LAYOUT(CUmemPoolProps, maxSize),
    LAYOUT(CUmemAccessDesc, flags),
    LAYOUT(CUmemAllocationProp, requestedHandleTypes),
    LAYOUT(CUmemAllocationProp, location),
    LAYOUT(CUmemAllocationProp, win32HandleMetaData),
    LAYOUT(CUmemAllocationProp, allocFlags),
    LAYOUT(CUDA_MEMCPY3D, srcMemoryType),
    LAYOUT(CUDA_MEMCPY3D, srcHost),
    LAYOUT(CUDA_MEMCPY3D, srcDevice),
    LAYOUT(CUDA_MEMCPY3D, srcPitch),
    LAYOUT(CUDA_MEMCPY3D, srcHeight),
    LAYOUT(CUDA_MEMCPY3D, dstXInBytes),
    LAYOUT(CUDA_MEMCPY3D, dstMemoryType),
    LAYOUT(CUDA_MEMCPY3D, dstHost),
    LAYOUT(CUDA_MEMCPY3D, dstDevice),
    LAYOUT(CUDA_MEMCPY3D, dstPitch),
    LAYOUT(CUDA_MEMCPY3D, dstHeight),
    LAYOUT(CUDA_MEMCPY3D, WidthInBytes),
    LAYOUT(CUDA_MEMCPY3D, Depth),
    {"", 0},
};

#ifndef WITH_CUDA_H
int main(void)
{
    int n_wrong = 0;

    for (int i = 0; *header_of_ours[i].name; i++)
        if (strcmp(header_of_ours[i].name, header_of_cuda[i].name) != 0 ||
            header_of_ours[i].value != header_of_cuda[i].value) {
            printf("%s is %ld here and %ld in cuda.h\n", header_of_ours[i].name, header_of_ours[i].value,
                   header_of_cuda[i].value);
            n_wrong++;
        }
    return n_wrong != 0;
}
#endif
