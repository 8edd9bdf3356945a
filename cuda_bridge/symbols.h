/*
 * Every function of libcuda that the bridge calls, by the versioned name that the library exports: X(name, parameters).
 * All return CUresult. The oldest driver that has them all is that of CUDA 11.7 (515).
 */
#ifndef TSL_CUDA_BRIDGE_SYMBOLS_H
#define TSL_CUDA_BRIDGE_SYMBOLS_H

/* clang-format off */
#define TSL_CUDA_SYMBOLS(X) \
    X(cuInit, (unsigned int flags)) \
    X(cuDriverGetVersion, (int *version)) \
    X(cuGetErrorName, (CUresult error, const char **text)) \
    X(cuGetErrorString, (CUresult error, const char **text)) \
    X(cuDeviceGetCount, (int *count)) \
    X(cuDeviceGet, (CUdevice *device, int ordinal)) \
    X(cuDeviceGetName, (char *name, int length, CUdevice device)) \
    X(cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice device)) \
    X(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device)) \
    X(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device)) \
    X(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer)) \
    X(cuDeviceGetP2PAttribute, (int *value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to)) \
    X(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device)) \
    X(cuDevicePrimaryCtxRelease_v2, (CUdevice device)) \
    X(cuCtxPushCurrent_v2, (CUcontext context)) \
    X(cuCtxPopCurrent_v2, (CUcontext *context)) \
    X(cuStreamCreate, (CUstream *stream, unsigned int flags)) \
    X(cuStreamCreateWithPriority, (CUstream *stream, unsigned int flags, int priority)) \
    X(cuStreamDestroy_v2, (CUstream stream)) \
    X(cuStreamSynchronize, (CUstream stream)) \
    X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags)) \
    X(cuStreamWaitValue32_v2, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)) \
    X(cuStreamWriteValue32_v2, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)) \
    X(cuEventCreate, (CUevent *event, unsigned int flags)) \
    X(cuEventDestroy_v2, (CUevent event)) \
    X(cuEventRecord, (CUevent event, CUstream stream)) \
    X(cuEventQuery, (CUevent event)) \
    X(cuEventSynchronize, (CUevent event)) \
    X(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end)) \
    X(cuMemPoolCreate, (CUmemoryPool *pool, const CUmemPoolProps *props)) \
    X(cuMemPoolDestroy, (CUmemoryPool pool)) \
    X(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value)) \
    X(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)) \
    X(cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytes_to_keep)) \
    X(cuMemAllocFromPoolAsync, (CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream)) \
    X(cuMemFreeAsync, (CUdeviceptr address, CUstream stream)) \
    X(cuMemAllocManaged, (CUdeviceptr *address, size_t bytes, unsigned int flags)) \
    X(cuMemFree_v2, (CUdeviceptr address)) \
    X(cuMemGetAllocationGranularity, (size_t *granularity, const CUmemAllocationProp *prop, \
                                      CUmemAllocationGranularity_flags option)) \
    X(cuMemAddressReserve, (CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted, \
                            unsigned long long flags)) \
    X(cuMemAddressFree, (CUdeviceptr address, size_t bytes)) \
    X(cuMemCreate, (CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop, \
                    unsigned long long flags)) \
    X(cuMemRelease, (CUmemGenericAllocationHandle handle)) \
    X(cuMemMap, (CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, \
                 unsigned long long flags)) \
    X(cuMemUnmap, (CUdeviceptr address, size_t bytes)) \
    X(cuMemSetAccess, (CUdeviceptr address, size_t bytes, const CUmemAccessDesc *map, size_t count)) \
    X(cuMemHostAlloc, (void **address, size_t bytes, unsigned int flags)) \
    X(cuMemFreeHost, (void *address)) \
    X(cuMemHostRegister_v2, (void *address, size_t bytes, unsigned int flags)) \
    X(cuMemHostUnregister, (void *address)) \
    X(cuPointerGetAttribute, (void *data, CUpointer_attribute attribute, CUdeviceptr address)) \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)) \
    X(cuMemcpyDtoHAsync_v2, (void *dst, CUdeviceptr src, size_t bytes, CUstream stream)) \
    X(cuMemcpyDtoDAsync_v2, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)) \
    X(cuMemcpyPeerAsync, (CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context, \
                          size_t bytes, CUstream stream)) \
    X(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream)) \
    X(cuMemsetD8Async, (CUdeviceptr dst, unsigned char value, size_t n, CUstream stream)) \
    X(cuMemsetD16Async, (CUdeviceptr dst, unsigned short value, size_t n, CUstream stream)) \
    X(cuMemsetD32Async, (CUdeviceptr dst, unsigned int value, size_t n, CUstream stream)) \
    X(cuMemsetD2D8Async, (CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height, \
                          CUstream stream)) \
    X(cuMemsetD2D16Async, (CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height, \
                           CUstream stream)) \
    X(cuMemsetD2D32Async, (CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height, \
                           CUstream stream)) \
    X(cuModuleLoadDataEx, (CUmodule *module, const void *image, unsigned int n, CUjit_option *options, \
                           void **values)) \
    X(cuModuleUnload, (CUmodule module)) \
    X(cuTexObjectCreate, (CUtexObject *texture, const CUDA_RESOURCE_DESC *memory, const CUDA_TEXTURE_DESC *how, \
                          const CUDA_RESOURCE_VIEW_DESC *view)) \
    X(cuTexObjectDestroy, (CUtexObject texture)) \
    X(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name)) \
    X(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function)) \
    X(cuLaunchKernel, (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, \
                       unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, \
                       CUstream stream, void **parameters, void **extra))

/* The functions for graphs, which came in this form with the driver of CUDA 12.0 (525). Launches work without them. */
#define TSL_CUDA_GRAPH_SYMBOLS(X) \
    X(cuGraphCreate, (CUgraph *graph, unsigned int flags)) \
    X(cuGraphDestroy, (CUgraph graph)) \
    X(cuGraphAddKernelNode_v2, (CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n_before, \
                                const CUDA_KERNEL_NODE_PARAMS *parameters)) \
    X(cuGraphInstantiateWithFlags, (CUgraphExec *exec, CUgraph graph, unsigned long long flags)) \
    X(cuGraphExecKernelNodeSetParams_v2, (CUgraphExec exec, CUgraphNode node, \
                                          const CUDA_KERNEL_NODE_PARAMS *parameters)) \
    X(cuGraphLaunch, (CUgraphExec exec, CUstream stream)) \
    X(cuGraphExecDestroy, (CUgraphExec exec))
/* clang-format on */

#endif
