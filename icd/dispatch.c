#include "dispatch.h"

#include "icd2.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

const struct tsl_dispatch tsl_dispatch_table = {
    /* OpenCL 1.0 */
    .clGetPlatformIDs = (cl_api_clGetPlatformIDs)CL_ICD2_TAG_KHR,
    .clGetPlatformInfo = tsl_api_clGetPlatformInfo,
    .clGetDeviceIDs = tsl_api_clGetDeviceIDs,
    .clGetDeviceInfo = tsl_api_clGetDeviceInfo,
    .clCreateContext = tsl_api_clCreateContext,
    .clCreateContextFromType = tsl_api_clCreateContextFromType,
    .clRetainContext = tsl_api_clRetainContext,
    .clReleaseContext = tsl_api_clReleaseContext,
    .clGetContextInfo = tsl_api_clGetContextInfo,
    .clCreateCommandQueue = tsl_api_clCreateCommandQueue,
    .clRetainCommandQueue = tsl_api_clRetainCommandQueue,
    .clReleaseCommandQueue = tsl_api_clReleaseCommandQueue,
    .clGetCommandQueueInfo = tsl_api_clGetCommandQueueInfo,
    .clSetCommandQueueProperty = tsl_api_clSetCommandQueueProperty,
    .clCreateBuffer = tsl_api_clCreateBuffer,
    .clCreateImage2D = tsl_api_clCreateImage2D,
    .clCreateImage3D = tsl_api_clCreateImage3D,
    .clRetainMemObject = tsl_api_clRetainMemObject,
    .clReleaseMemObject = tsl_api_clReleaseMemObject,
    .clGetSupportedImageFormats = tsl_api_clGetSupportedImageFormats,
    .clGetMemObjectInfo = tsl_api_clGetMemObjectInfo,
    .clGetImageInfo = tsl_api_clGetImageInfo,
    .clCreateSampler = tsl_api_clCreateSampler,
    .clRetainSampler = tsl_api_clRetainSampler,
    .clReleaseSampler = tsl_api_clReleaseSampler,
    .clGetSamplerInfo = tsl_api_clGetSamplerInfo,
    .clCreateProgramWithSource = tsl_api_clCreateProgramWithSource,
    .clCreateProgramWithBinary = tsl_api_clCreateProgramWithBinary,
    .clRetainProgram = tsl_api_clRetainProgram,
    .clReleaseProgram = tsl_api_clReleaseProgram,
    .clBuildProgram = tsl_api_clBuildProgram,
    .clUnloadCompiler = (cl_api_clUnloadCompiler)CL_ICD2_TAG_KHR,
    .clGetProgramInfo = tsl_api_clGetProgramInfo,
    .clGetProgramBuildInfo = tsl_api_clGetProgramBuildInfo,
    .clCreateKernel = tsl_api_clCreateKernel,
    .clCreateKernelsInProgram = tsl_api_clCreateKernelsInProgram,
    .clRetainKernel = tsl_api_clRetainKernel,
    .clReleaseKernel = tsl_api_clReleaseKernel,
    .clSetKernelArg = tsl_api_clSetKernelArg,
    .clGetKernelInfo = tsl_api_clGetKernelInfo,
    .clGetKernelWorkGroupInfo = tsl_api_clGetKernelWorkGroupInfo,
    .clWaitForEvents = tsl_api_clWaitForEvents,
    .clGetEventInfo = tsl_api_clGetEventInfo,
    .clRetainEvent = tsl_api_clRetainEvent,
    .clReleaseEvent = tsl_api_clReleaseEvent,
    .clGetEventProfilingInfo = tsl_api_clGetEventProfilingInfo,
    .clFlush = tsl_api_clFlush,
    .clFinish = tsl_api_clFinish,
    .clEnqueueReadBuffer = tsl_api_clEnqueueReadBuffer,
    .clEnqueueWriteBuffer = tsl_api_clEnqueueWriteBuffer,
    .clEnqueueCopyBuffer = tsl_api_clEnqueueCopyBuffer,
    .clEnqueueReadImage = tsl_api_clEnqueueReadImage,
    .clEnqueueWriteImage = tsl_api_clEnqueueWriteImage,
    .clEnqueueCopyImage = tsl_api_clEnqueueCopyImage,
    .clEnqueueCopyImageToBuffer = tsl_api_clEnqueueCopyImageToBuffer,
    .clEnqueueCopyBufferToImage = tsl_api_clEnqueueCopyBufferToImage,
    .clEnqueueMapBuffer = tsl_api_clEnqueueMapBuffer,
    .clEnqueueMapImage = tsl_api_clEnqueueMapImage,
    .clEnqueueUnmapMemObject = tsl_api_clEnqueueUnmapMemObject,
    .clEnqueueNDRangeKernel = tsl_api_clEnqueueNDRangeKernel,
    .clEnqueueTask = tsl_api_clEnqueueTask,
    .clEnqueueNativeKernel = tsl_api_clEnqueueNativeKernel,
    .clEnqueueMarker = tsl_api_clEnqueueMarker,
    .clEnqueueWaitForEvents = tsl_api_clEnqueueWaitForEvents,
    .clEnqueueBarrier = tsl_api_clEnqueueBarrier,
    .clGetExtensionFunctionAddress = tsl_api_clGetExtensionFunctionAddress,
    .clCreateFromGLBuffer = tsl_api_clCreateFromGLBuffer,
    .clCreateFromGLTexture2D = tsl_api_clCreateFromGLTexture2D,
    .clCreateFromGLTexture3D = tsl_api_clCreateFromGLTexture3D,
    .clCreateFromGLRenderbuffer = tsl_api_clCreateFromGLRenderbuffer,
    .clGetGLObjectInfo = tsl_api_clGetGLObjectInfo,
    .clGetGLTextureInfo = tsl_api_clGetGLTextureInfo,
    .clEnqueueAcquireGLObjects = tsl_api_clEnqueueAcquireGLObjects,
    .clEnqueueReleaseGLObjects = tsl_api_clEnqueueReleaseGLObjects,
    .clGetGLContextInfoKHR = tsl_api_clGetGLContextInfoKHR,
    /* cl_khr_d3d10_sharing */
    .clGetDeviceIDsFromD3D10KHR = tsl_api_clGetDeviceIDsFromD3D10KHR,
    .clCreateFromD3D10BufferKHR = tsl_api_clCreateFromD3D10BufferKHR,
    .clCreateFromD3D10Texture2DKHR = tsl_api_clCreateFromD3D10Texture2DKHR,
    .clCreateFromD3D10Texture3DKHR = tsl_api_clCreateFromD3D10Texture3DKHR,
    .clEnqueueAcquireD3D10ObjectsKHR = tsl_api_clEnqueueAcquireD3D10ObjectsKHR,
    .clEnqueueReleaseD3D10ObjectsKHR = tsl_api_clEnqueueReleaseD3D10ObjectsKHR,
    /* OpenCL 1.1 */
    .clSetEventCallback = tsl_api_clSetEventCallback,
    .clCreateSubBuffer = tsl_api_clCreateSubBuffer,
    .clSetMemObjectDestructorCallback = tsl_api_clSetMemObjectDestructorCallback,
    .clCreateUserEvent = tsl_api_clCreateUserEvent,
    .clSetUserEventStatus = tsl_api_clSetUserEventStatus,
    .clEnqueueReadBufferRect = tsl_api_clEnqueueReadBufferRect,
    .clEnqueueWriteBufferRect = tsl_api_clEnqueueWriteBufferRect,
    .clEnqueueCopyBufferRect = tsl_api_clEnqueueCopyBufferRect,
    /* cl_ext_device_fission */
    .clCreateSubDevicesEXT = tsl_api_clCreateSubDevicesEXT,
    .clRetainDeviceEXT = tsl_api_clRetainDeviceEXT,
    .clReleaseDeviceEXT = tsl_api_clReleaseDeviceEXT,
    /* cl_khr_gl_event */
    .clCreateEventFromGLsyncKHR = tsl_api_clCreateEventFromGLsyncKHR,
    /* OpenCL 1.2 */
    .clCreateSubDevices = tsl_api_clCreateSubDevices,
    .clRetainDevice = tsl_api_clRetainDevice,
    .clReleaseDevice = tsl_api_clReleaseDevice,
    .clCreateImage = tsl_api_clCreateImage,
    .clCreateProgramWithBuiltInKernels = tsl_api_clCreateProgramWithBuiltInKernels,
    .clCompileProgram = tsl_api_clCompileProgram,
    .clLinkProgram = tsl_api_clLinkProgram,
    .clUnloadPlatformCompiler = tsl_api_clUnloadPlatformCompiler,
    .clGetKernelArgInfo = tsl_api_clGetKernelArgInfo,
    .clEnqueueFillBuffer = tsl_api_clEnqueueFillBuffer,
    .clEnqueueFillImage = tsl_api_clEnqueueFillImage,
    .clEnqueueMigrateMemObjects = tsl_api_clEnqueueMigrateMemObjects,
    .clEnqueueMarkerWithWaitList = tsl_api_clEnqueueMarkerWithWaitList,
    .clEnqueueBarrierWithWaitList = tsl_api_clEnqueueBarrierWithWaitList,
    .clGetExtensionFunctionAddressForPlatform = tsl_api_clGetExtensionFunctionAddressForPlatform,
    .clCreateFromGLTexture = tsl_api_clCreateFromGLTexture,
    /* cl_khr_d3d11_sharing */
    .clGetDeviceIDsFromD3D11KHR = tsl_api_clGetDeviceIDsFromD3D11KHR,
    .clCreateFromD3D11BufferKHR = tsl_api_clCreateFromD3D11BufferKHR,
    .clCreateFromD3D11Texture2DKHR = tsl_api_clCreateFromD3D11Texture2DKHR,
    .clCreateFromD3D11Texture3DKHR = tsl_api_clCreateFromD3D11Texture3DKHR,
    .clCreateFromDX9MediaSurfaceKHR = tsl_api_clCreateFromDX9MediaSurfaceKHR,
    .clEnqueueAcquireD3D11ObjectsKHR = tsl_api_clEnqueueAcquireD3D11ObjectsKHR,
    .clEnqueueReleaseD3D11ObjectsKHR = tsl_api_clEnqueueReleaseD3D11ObjectsKHR,
    /* cl_khr_dx9_media_sharing */
    .clGetDeviceIDsFromDX9MediaAdapterKHR = tsl_api_clGetDeviceIDsFromDX9MediaAdapterKHR,
    .clEnqueueAcquireDX9MediaSurfacesKHR = tsl_api_clEnqueueAcquireDX9MediaSurfacesKHR,
    .clEnqueueReleaseDX9MediaSurfacesKHR = tsl_api_clEnqueueReleaseDX9MediaSurfacesKHR,
    /* cl_khr_egl_image */
    .clCreateFromEGLImageKHR = tsl_api_clCreateFromEGLImageKHR,
    .clEnqueueAcquireEGLObjectsKHR = tsl_api_clEnqueueAcquireEGLObjectsKHR,
    .clEnqueueReleaseEGLObjectsKHR = tsl_api_clEnqueueReleaseEGLObjectsKHR,
    /* cl_khr_egl_event */
    .clCreateEventFromEGLSyncKHR = tsl_api_clCreateEventFromEGLSyncKHR,
    /* OpenCL 2.0 */
    .clCreateCommandQueueWithProperties = tsl_api_clCreateCommandQueueWithProperties,
    .clCreatePipe = tsl_api_clCreatePipe,
    .clGetPipeInfo = tsl_api_clGetPipeInfo,
    .clSVMAlloc = tsl_api_clSVMAlloc,
    .clSVMFree = tsl_api_clSVMFree,
    .clEnqueueSVMFree = tsl_api_clEnqueueSVMFree,
    .clEnqueueSVMMemcpy = tsl_api_clEnqueueSVMMemcpy,
    .clEnqueueSVMMemFill = tsl_api_clEnqueueSVMMemFill,
    .clEnqueueSVMMap = tsl_api_clEnqueueSVMMap,
    .clEnqueueSVMUnmap = tsl_api_clEnqueueSVMUnmap,
    .clCreateSamplerWithProperties = tsl_api_clCreateSamplerWithProperties,
    .clSetKernelArgSVMPointer = tsl_api_clSetKernelArgSVMPointer,
    .clSetKernelExecInfo = tsl_api_clSetKernelExecInfo,
    /* cl_khr_sub_groups */
    .clGetKernelSubGroupInfoKHR = tsl_api_clGetKernelSubGroupInfoKHR,
    /* OpenCL 2.1 */
    .clCloneKernel = tsl_api_clCloneKernel,
    .clCreateProgramWithIL = tsl_api_clCreateProgramWithIL,
    .clEnqueueSVMMigrateMem = tsl_api_clEnqueueSVMMigrateMem,
    .clGetDeviceAndHostTimer = tsl_api_clGetDeviceAndHostTimer,
    .clGetHostTimer = tsl_api_clGetHostTimer,
    .clGetKernelSubGroupInfo = tsl_api_clGetKernelSubGroupInfo,
    .clSetDefaultDeviceCommandQueue = tsl_api_clSetDefaultDeviceCommandQueue,
    /* OpenCL 2.2 */
    .clSetProgramReleaseCallback = tsl_api_clSetProgramReleaseCallback,
    .clSetProgramSpecializationConstant = tsl_api_clSetProgramSpecializationConstant,
    /* OpenCL 3.0 */
    .clCreateBufferWithProperties = tsl_api_clCreateBufferWithProperties,
    .clCreateImageWithProperties = tsl_api_clCreateImageWithProperties,
    .clSetContextDestructorCallback = tsl_api_clSetContextDestructorCallback,
    /* OpenCL 3.1 */
    .clGetKernelSuggestedLocalWorkSize = tsl_api_clGetKernelSuggestedLocalWorkSize,
};

struct tsl_dispatch tsl_dispatch_plain_table;

static void fill_plain(void)
{
    tsl_dispatch_plain_table = tsl_dispatch_table;
    tsl_dispatch_plain_table.clGetPlatformIDs = tsl_api_clGetPlatformIDs;
    tsl_dispatch_plain_table.clUnloadCompiler = tsl_api_clUnloadCompiler;
}

const struct tsl_dispatch *tsl_dispatch_plain(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_plain);
    return &tsl_dispatch_plain_table;
}

/* The same by name, for loaders that make their own table (ICD 2). */
#define ENTRY(name)                   \
    {                                 \
#name, (void *)tsl_api_##name \
    }
static const struct {
    const char *name;
    void *function;
} entries[] = {
    ENTRY(clGetPlatformIDs),
    ENTRY(clGetPlatformInfo),
    ENTRY(clGetDeviceIDs),
    ENTRY(clGetDeviceInfo),
    ENTRY(clCreateContext),
    ENTRY(clCreateContextFromType),
    ENTRY(clRetainContext),
    ENTRY(clReleaseContext),
    ENTRY(clGetContextInfo),
    ENTRY(clCreateCommandQueue),
    ENTRY(clRetainCommandQueue),
    ENTRY(clReleaseCommandQueue),
    ENTRY(clGetCommandQueueInfo),
    ENTRY(clSetCommandQueueProperty),
    ENTRY(clCreateBuffer),
    ENTRY(clCreateImage2D),
    ENTRY(clCreateImage3D),
    ENTRY(clRetainMemObject),
    ENTRY(clReleaseMemObject),
    ENTRY(clGetSupportedImageFormats),
    ENTRY(clGetMemObjectInfo),
    ENTRY(clGetImageInfo),
    ENTRY(clCreateSampler),
    ENTRY(clRetainSampler),
    ENTRY(clReleaseSampler),
    ENTRY(clGetSamplerInfo),
    ENTRY(clCreateProgramWithSource),
    ENTRY(clCreateProgramWithBinary),
    ENTRY(clRetainProgram),
    ENTRY(clReleaseProgram),
    ENTRY(clBuildProgram),
    ENTRY(clUnloadCompiler),
    ENTRY(clGetProgramInfo),
    ENTRY(clGetProgramBuildInfo),
    ENTRY(clCreateKernel),
    ENTRY(clCreateKernelsInProgram),
    ENTRY(clRetainKernel),
    ENTRY(clReleaseKernel),
    ENTRY(clSetKernelArg),
    ENTRY(clGetKernelInfo),
    ENTRY(clGetKernelWorkGroupInfo),
    ENTRY(clWaitForEvents),
    ENTRY(clGetEventInfo),
    ENTRY(clRetainEvent),
    ENTRY(clReleaseEvent),
    ENTRY(clGetEventProfilingInfo),
    ENTRY(clFlush),
    ENTRY(clFinish),
    ENTRY(clEnqueueReadBuffer),
    ENTRY(clEnqueueWriteBuffer),
    ENTRY(clEnqueueCopyBuffer),
    ENTRY(clEnqueueReadImage),
    ENTRY(clEnqueueWriteImage),
    ENTRY(clEnqueueCopyImage),
    ENTRY(clEnqueueCopyImageToBuffer),
    ENTRY(clEnqueueCopyBufferToImage),
    ENTRY(clEnqueueMapBuffer),
    ENTRY(clEnqueueMapImage),
    ENTRY(clEnqueueUnmapMemObject),
    ENTRY(clEnqueueNDRangeKernel),
    ENTRY(clEnqueueTask),
    ENTRY(clEnqueueNativeKernel),
    ENTRY(clEnqueueMarker),
    ENTRY(clEnqueueWaitForEvents),
    ENTRY(clEnqueueBarrier),
    ENTRY(clGetExtensionFunctionAddress),
    ENTRY(clCreateFromGLBuffer),
    ENTRY(clCreateFromGLTexture2D),
    ENTRY(clCreateFromGLTexture3D),
    ENTRY(clCreateFromGLRenderbuffer),
    ENTRY(clGetGLObjectInfo),
    ENTRY(clGetGLTextureInfo),
    ENTRY(clEnqueueAcquireGLObjects),
    ENTRY(clEnqueueReleaseGLObjects),
    ENTRY(clGetGLContextInfoKHR),
    ENTRY(clGetDeviceIDsFromD3D10KHR),
    ENTRY(clCreateFromD3D10BufferKHR),
    ENTRY(clCreateFromD3D10Texture2DKHR),
    ENTRY(clCreateFromD3D10Texture3DKHR),
    ENTRY(clEnqueueAcquireD3D10ObjectsKHR),
    ENTRY(clEnqueueReleaseD3D10ObjectsKHR),
    ENTRY(clSetEventCallback),
    ENTRY(clCreateSubBuffer),
    ENTRY(clSetMemObjectDestructorCallback),
    ENTRY(clCreateUserEvent),
    ENTRY(clSetUserEventStatus),
    ENTRY(clEnqueueReadBufferRect),
    ENTRY(clEnqueueWriteBufferRect),
    ENTRY(clEnqueueCopyBufferRect),
    ENTRY(clCreateSubDevicesEXT),
    ENTRY(clRetainDeviceEXT),
    ENTRY(clReleaseDeviceEXT),
    ENTRY(clCreateEventFromGLsyncKHR),
    ENTRY(clCreateSubDevices),
    ENTRY(clRetainDevice),
    ENTRY(clReleaseDevice),
    ENTRY(clCreateImage),
    ENTRY(clCreateProgramWithBuiltInKernels),
    ENTRY(clCompileProgram),
    ENTRY(clLinkProgram),
    ENTRY(clUnloadPlatformCompiler),
    ENTRY(clGetKernelArgInfo),
    ENTRY(clEnqueueFillBuffer),
    ENTRY(clEnqueueFillImage),
    ENTRY(clEnqueueMigrateMemObjects),
    ENTRY(clEnqueueMarkerWithWaitList),
    ENTRY(clEnqueueBarrierWithWaitList),
    ENTRY(clGetExtensionFunctionAddressForPlatform),
    ENTRY(clCreateFromGLTexture),
    ENTRY(clGetDeviceIDsFromD3D11KHR),
    ENTRY(clCreateFromD3D11BufferKHR),
    ENTRY(clCreateFromD3D11Texture2DKHR),
    ENTRY(clCreateFromD3D11Texture3DKHR),
    ENTRY(clCreateFromDX9MediaSurfaceKHR),
    ENTRY(clEnqueueAcquireD3D11ObjectsKHR),
    ENTRY(clEnqueueReleaseD3D11ObjectsKHR),
    ENTRY(clGetDeviceIDsFromDX9MediaAdapterKHR),
    ENTRY(clEnqueueAcquireDX9MediaSurfacesKHR),
    ENTRY(clEnqueueReleaseDX9MediaSurfacesKHR),
    ENTRY(clCreateFromEGLImageKHR),
    ENTRY(clEnqueueAcquireEGLObjectsKHR),
    ENTRY(clEnqueueReleaseEGLObjectsKHR),
    ENTRY(clCreateEventFromEGLSyncKHR),
    ENTRY(clCreateCommandQueueWithProperties),
    ENTRY(clCreatePipe),
    ENTRY(clGetPipeInfo),
    ENTRY(clSVMAlloc),
    ENTRY(clSVMFree),
    ENTRY(clEnqueueSVMFree),
    ENTRY(clEnqueueSVMMemcpy),
    ENTRY(clEnqueueSVMMemFill),
    ENTRY(clEnqueueSVMMap),
    ENTRY(clEnqueueSVMUnmap),
    ENTRY(clCreateSamplerWithProperties),
    ENTRY(clSetKernelArgSVMPointer),
    ENTRY(clSetKernelExecInfo),
    ENTRY(clGetKernelSubGroupInfoKHR),
    ENTRY(clCloneKernel),
    ENTRY(clCreateProgramWithIL),
    ENTRY(clEnqueueSVMMigrateMem),
    ENTRY(clGetDeviceAndHostTimer),
    ENTRY(clGetHostTimer),
    ENTRY(clGetKernelSubGroupInfo),
    ENTRY(clSetDefaultDeviceCommandQueue),
    ENTRY(clSetProgramReleaseCallback),
    ENTRY(clSetProgramSpecializationConstant),
    ENTRY(clCreateBufferWithProperties),
    ENTRY(clCreateImageWithProperties),
    ENTRY(clSetContextDestructorCallback),
    ENTRY(clGetKernelSuggestedLocalWorkSize),
};
_Static_assert(sizeof entries / sizeof *entries == TSL_N_SLOTS, "a slot has no name");

void *tsl_dispatch_function(const char *name)
{
    for (size_t i = 0; i < TSL_N_SLOTS; i++)
        if (strcmp(entries[i].name, name) == 0)
            return entries[i].function;
    return NULL;
}

/* Each slot is where loaders expect it. */
#define SAME_PLACE(slot)                                                                           \
    _Static_assert(offsetof(struct tsl_dispatch, slot) == offsetof(struct _cl_icd_dispatch, slot), \
                   #slot " is misplaced")

SAME_PLACE(clGetPlatformIDs);
SAME_PLACE(clGetPlatformInfo);
SAME_PLACE(clGetDeviceIDs);
SAME_PLACE(clGetDeviceInfo);
SAME_PLACE(clCreateContext);
SAME_PLACE(clCreateContextFromType);
SAME_PLACE(clRetainContext);
SAME_PLACE(clReleaseContext);
SAME_PLACE(clGetContextInfo);
SAME_PLACE(clCreateCommandQueue);
SAME_PLACE(clRetainCommandQueue);
SAME_PLACE(clReleaseCommandQueue);
SAME_PLACE(clGetCommandQueueInfo);
SAME_PLACE(clSetCommandQueueProperty);
SAME_PLACE(clCreateBuffer);
SAME_PLACE(clCreateImage2D);
SAME_PLACE(clCreateImage3D);
SAME_PLACE(clRetainMemObject);
SAME_PLACE(clReleaseMemObject);
SAME_PLACE(clGetSupportedImageFormats);
SAME_PLACE(clGetMemObjectInfo);
SAME_PLACE(clGetImageInfo);
SAME_PLACE(clCreateSampler);
SAME_PLACE(clRetainSampler);
SAME_PLACE(clReleaseSampler);
SAME_PLACE(clGetSamplerInfo);
SAME_PLACE(clCreateProgramWithSource);
SAME_PLACE(clCreateProgramWithBinary);
SAME_PLACE(clRetainProgram);
SAME_PLACE(clReleaseProgram);
SAME_PLACE(clBuildProgram);
SAME_PLACE(clUnloadCompiler);
SAME_PLACE(clGetProgramInfo);
SAME_PLACE(clGetProgramBuildInfo);
SAME_PLACE(clCreateKernel);
SAME_PLACE(clCreateKernelsInProgram);
SAME_PLACE(clRetainKernel);
SAME_PLACE(clReleaseKernel);
SAME_PLACE(clSetKernelArg);
SAME_PLACE(clGetKernelInfo);
SAME_PLACE(clGetKernelWorkGroupInfo);
SAME_PLACE(clWaitForEvents);
SAME_PLACE(clGetEventInfo);
SAME_PLACE(clRetainEvent);
SAME_PLACE(clReleaseEvent);
SAME_PLACE(clGetEventProfilingInfo);
SAME_PLACE(clFlush);
SAME_PLACE(clFinish);
SAME_PLACE(clEnqueueReadBuffer);
SAME_PLACE(clEnqueueWriteBuffer);
SAME_PLACE(clEnqueueCopyBuffer);
SAME_PLACE(clEnqueueReadImage);
SAME_PLACE(clEnqueueWriteImage);
SAME_PLACE(clEnqueueCopyImage);
SAME_PLACE(clEnqueueCopyImageToBuffer);
SAME_PLACE(clEnqueueCopyBufferToImage);
SAME_PLACE(clEnqueueMapBuffer);
SAME_PLACE(clEnqueueMapImage);
SAME_PLACE(clEnqueueUnmapMemObject);
SAME_PLACE(clEnqueueNDRangeKernel);
SAME_PLACE(clEnqueueTask);
SAME_PLACE(clEnqueueNativeKernel);
SAME_PLACE(clEnqueueMarker);
SAME_PLACE(clEnqueueWaitForEvents);
SAME_PLACE(clEnqueueBarrier);
SAME_PLACE(clGetExtensionFunctionAddress);
SAME_PLACE(clCreateFromGLBuffer);
SAME_PLACE(clCreateFromGLTexture2D);
SAME_PLACE(clCreateFromGLTexture3D);
SAME_PLACE(clCreateFromGLRenderbuffer);
SAME_PLACE(clGetGLObjectInfo);
SAME_PLACE(clGetGLTextureInfo);
SAME_PLACE(clEnqueueAcquireGLObjects);
SAME_PLACE(clEnqueueReleaseGLObjects);
SAME_PLACE(clGetGLContextInfoKHR);
SAME_PLACE(clGetDeviceIDsFromD3D10KHR);
SAME_PLACE(clCreateFromD3D10BufferKHR);
SAME_PLACE(clCreateFromD3D10Texture2DKHR);
SAME_PLACE(clCreateFromD3D10Texture3DKHR);
SAME_PLACE(clEnqueueAcquireD3D10ObjectsKHR);
SAME_PLACE(clEnqueueReleaseD3D10ObjectsKHR);
SAME_PLACE(clSetEventCallback);
SAME_PLACE(clCreateSubBuffer);
SAME_PLACE(clSetMemObjectDestructorCallback);
SAME_PLACE(clCreateUserEvent);
SAME_PLACE(clSetUserEventStatus);
SAME_PLACE(clEnqueueReadBufferRect);
SAME_PLACE(clEnqueueWriteBufferRect);
SAME_PLACE(clEnqueueCopyBufferRect);
SAME_PLACE(clCreateSubDevicesEXT);
SAME_PLACE(clRetainDeviceEXT);
SAME_PLACE(clReleaseDeviceEXT);
SAME_PLACE(clCreateEventFromGLsyncKHR);
SAME_PLACE(clCreateSubDevices);
SAME_PLACE(clRetainDevice);
SAME_PLACE(clReleaseDevice);
SAME_PLACE(clCreateImage);
SAME_PLACE(clCreateProgramWithBuiltInKernels);
SAME_PLACE(clCompileProgram);
SAME_PLACE(clLinkProgram);
SAME_PLACE(clUnloadPlatformCompiler);
SAME_PLACE(clGetKernelArgInfo);
SAME_PLACE(clEnqueueFillBuffer);
SAME_PLACE(clEnqueueFillImage);
SAME_PLACE(clEnqueueMigrateMemObjects);
SAME_PLACE(clEnqueueMarkerWithWaitList);
SAME_PLACE(clEnqueueBarrierWithWaitList);
SAME_PLACE(clGetExtensionFunctionAddressForPlatform);
SAME_PLACE(clCreateFromGLTexture);
SAME_PLACE(clGetDeviceIDsFromD3D11KHR);
SAME_PLACE(clCreateFromD3D11BufferKHR);
SAME_PLACE(clCreateFromD3D11Texture2DKHR);
SAME_PLACE(clCreateFromD3D11Texture3DKHR);
SAME_PLACE(clCreateFromDX9MediaSurfaceKHR);
SAME_PLACE(clEnqueueAcquireD3D11ObjectsKHR);
SAME_PLACE(clEnqueueReleaseD3D11ObjectsKHR);
SAME_PLACE(clGetDeviceIDsFromDX9MediaAdapterKHR);
SAME_PLACE(clEnqueueAcquireDX9MediaSurfacesKHR);
SAME_PLACE(clEnqueueReleaseDX9MediaSurfacesKHR);
SAME_PLACE(clCreateFromEGLImageKHR);
SAME_PLACE(clEnqueueAcquireEGLObjectsKHR);
SAME_PLACE(clEnqueueReleaseEGLObjectsKHR);
SAME_PLACE(clCreateEventFromEGLSyncKHR);
SAME_PLACE(clCreateCommandQueueWithProperties);
SAME_PLACE(clCreatePipe);
SAME_PLACE(clGetPipeInfo);
SAME_PLACE(clSVMAlloc);
SAME_PLACE(clSVMFree);
SAME_PLACE(clEnqueueSVMFree);
SAME_PLACE(clEnqueueSVMMemcpy);
SAME_PLACE(clEnqueueSVMMemFill);
SAME_PLACE(clEnqueueSVMMap);
SAME_PLACE(clEnqueueSVMUnmap);
SAME_PLACE(clCreateSamplerWithProperties);
SAME_PLACE(clSetKernelArgSVMPointer);
SAME_PLACE(clSetKernelExecInfo);
SAME_PLACE(clGetKernelSubGroupInfoKHR);
SAME_PLACE(clCloneKernel);
SAME_PLACE(clCreateProgramWithIL);
SAME_PLACE(clEnqueueSVMMigrateMem);
SAME_PLACE(clGetDeviceAndHostTimer);
SAME_PLACE(clGetHostTimer);
SAME_PLACE(clGetKernelSubGroupInfo);
SAME_PLACE(clSetDefaultDeviceCommandQueue);
SAME_PLACE(clSetProgramReleaseCallback);
SAME_PLACE(clSetProgramSpecializationConstant);
SAME_PLACE(clCreateBufferWithProperties);
SAME_PLACE(clCreateImageWithProperties);
SAME_PLACE(clSetContextDestructorCallback);

_Static_assert(sizeof(struct tsl_dispatch) == TSL_N_SLOTS * sizeof(void *), "the table has 150 slots");
_Static_assert(offsetof(struct tsl_dispatch, clGetKernelSuggestedLocalWorkSize) == 149 * sizeof(void *),
               "slot 150 is misplaced");
