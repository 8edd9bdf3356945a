/*
 * Every entry point of the API, as Tesela implements it: tsl_api_clCreateBuffer is what the application reaches as
 * clCreateBuffer, through the loader and the table in dispatch.c. They have names of their own because a plain clXxx in
 * our library would bind to the loader's.
 *
 * Each is defined once, in the file named above its group, with the type that the standard header declares. They check
 * arguments, translate handles and call the modules below; none of our locks is held on entry or on return.
 */
#ifndef TSL_ICD_API_H
#define TSL_ICD_API_H

#include <CL/cl.h>
#include <CL/cl_egl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>

/* src/api/platform.c */
__typeof__(clGetPlatformIDs) tsl_api_clGetPlatformIDs;
__typeof__(clGetPlatformInfo) tsl_api_clGetPlatformInfo;
__typeof__(clGetExtensionFunctionAddress) tsl_api_clGetExtensionFunctionAddress;
__typeof__(clGetExtensionFunctionAddressForPlatform) tsl_api_clGetExtensionFunctionAddressForPlatform;
__typeof__(clUnloadCompiler) tsl_api_clUnloadCompiler;
__typeof__(clUnloadPlatformCompiler) tsl_api_clUnloadPlatformCompiler;
__typeof__(clGetHostTimer) tsl_api_clGetHostTimer;
void *CL_API_CALL tsl_api_clIcdGetFunctionAddressForPlatformKHR(cl_platform_id platform, const char *func_name);
cl_int CL_API_CALL tsl_api_clIcdSetPlatformDispatchDataKHR(cl_platform_id platform, void *dispatch_data);

/* src/api/device.c */
__typeof__(clGetDeviceIDs) tsl_api_clGetDeviceIDs;
__typeof__(clGetDeviceInfo) tsl_api_clGetDeviceInfo;
__typeof__(clGetDeviceAndHostTimer) tsl_api_clGetDeviceAndHostTimer;
__typeof__(clRetainDevice) tsl_api_clRetainDevice;
__typeof__(clReleaseDevice) tsl_api_clReleaseDevice;
__typeof__(clCreateSubDevices) tsl_api_clCreateSubDevices;
__typeof__(clRetainDeviceEXT) tsl_api_clRetainDeviceEXT;
__typeof__(clReleaseDeviceEXT) tsl_api_clReleaseDeviceEXT;
__typeof__(clCreateSubDevicesEXT) tsl_api_clCreateSubDevicesEXT;

/* src/api/context.c */
__typeof__(clCreateContext) tsl_api_clCreateContext;
__typeof__(clCreateContextFromType) tsl_api_clCreateContextFromType;
__typeof__(clRetainContext) tsl_api_clRetainContext;
__typeof__(clReleaseContext) tsl_api_clReleaseContext;
__typeof__(clGetContextInfo) tsl_api_clGetContextInfo;
__typeof__(clSetContextDestructorCallback) tsl_api_clSetContextDestructorCallback;

/* src/api/queue.c */
__typeof__(clCreateCommandQueue) tsl_api_clCreateCommandQueue;
__typeof__(clCreateCommandQueueWithProperties) tsl_api_clCreateCommandQueueWithProperties;
__typeof__(clSetDefaultDeviceCommandQueue) tsl_api_clSetDefaultDeviceCommandQueue;
__typeof__(clRetainCommandQueue) tsl_api_clRetainCommandQueue;
__typeof__(clReleaseCommandQueue) tsl_api_clReleaseCommandQueue;
__typeof__(clGetCommandQueueInfo) tsl_api_clGetCommandQueueInfo;
cl_int CL_API_CALL tsl_api_clSetQueuePolicyTESELA(cl_command_queue queue, cl_uint policy, cl_uint value);
__typeof__(clSetCommandQueueProperty) tsl_api_clSetCommandQueueProperty;
__typeof__(clFlush) tsl_api_clFlush;
__typeof__(clFinish) tsl_api_clFinish;

/* src/api/memory.c */
__typeof__(clCreateBuffer) tsl_api_clCreateBuffer;
__typeof__(clCreateBufferWithProperties) tsl_api_clCreateBufferWithProperties;
__typeof__(clCreateSubBuffer) tsl_api_clCreateSubBuffer;
__typeof__(clRetainMemObject) tsl_api_clRetainMemObject;
__typeof__(clReleaseMemObject) tsl_api_clReleaseMemObject;
__typeof__(clGetMemObjectInfo) tsl_api_clGetMemObjectInfo;
__typeof__(clSetMemObjectDestructorCallback) tsl_api_clSetMemObjectDestructorCallback;

/* src/api/program.c */
__typeof__(clCreateProgramWithSource) tsl_api_clCreateProgramWithSource;
__typeof__(clCreateProgramWithBinary) tsl_api_clCreateProgramWithBinary;
__typeof__(clCreateProgramWithBuiltInKernels) tsl_api_clCreateProgramWithBuiltInKernels;
__typeof__(clCreateProgramWithIL) tsl_api_clCreateProgramWithIL;
__typeof__(clRetainProgram) tsl_api_clRetainProgram;
__typeof__(clReleaseProgram) tsl_api_clReleaseProgram;
__typeof__(clSetProgramReleaseCallback) tsl_api_clSetProgramReleaseCallback;
__typeof__(clSetProgramSpecializationConstant) tsl_api_clSetProgramSpecializationConstant;
__typeof__(clBuildProgram) tsl_api_clBuildProgram;
__typeof__(clCompileProgram) tsl_api_clCompileProgram;
__typeof__(clLinkProgram) tsl_api_clLinkProgram;
__typeof__(clGetProgramInfo) tsl_api_clGetProgramInfo;
__typeof__(clGetProgramBuildInfo) tsl_api_clGetProgramBuildInfo;
struct cl_variant_launch_tesela; /* CL/cl_tesela.h */
cl_int CL_API_CALL tsl_api_clAddKernelVariantTESELA(
    cl_program program, const char *description,
    cl_int(CL_CALLBACK *function)(const struct cl_variant_launch_tesela *launch, void *user_data), void *user_data);

/* src/api/kernel.c */
__typeof__(clCreateKernel) tsl_api_clCreateKernel;
__typeof__(clCreateKernelsInProgram) tsl_api_clCreateKernelsInProgram;
__typeof__(clCloneKernel) tsl_api_clCloneKernel;
__typeof__(clRetainKernel) tsl_api_clRetainKernel;
__typeof__(clReleaseKernel) tsl_api_clReleaseKernel;
__typeof__(clSetKernelArg) tsl_api_clSetKernelArg;
__typeof__(clGetKernelInfo) tsl_api_clGetKernelInfo;
__typeof__(clGetKernelArgInfo) tsl_api_clGetKernelArgInfo;
__typeof__(clGetKernelWorkGroupInfo) tsl_api_clGetKernelWorkGroupInfo;

/* src/api/launch.c */
__typeof__(clEnqueueNDRangeKernel) tsl_api_clEnqueueNDRangeKernel;
__typeof__(clEnqueueTask) tsl_api_clEnqueueTask;
/* From OpenCL 3.1; headers of 3.0 declare it for cl_khr_suggested_local_work_size. */
__typeof__(clGetKernelSuggestedLocalWorkSizeKHR) tsl_api_clGetKernelSuggestedLocalWorkSize;

/* src/api/transfer.c */
__typeof__(clEnqueueReadBuffer) tsl_api_clEnqueueReadBuffer;
__typeof__(clEnqueueReadBufferRect) tsl_api_clEnqueueReadBufferRect;
__typeof__(clEnqueueWriteBuffer) tsl_api_clEnqueueWriteBuffer;
__typeof__(clEnqueueWriteBufferRect) tsl_api_clEnqueueWriteBufferRect;
__typeof__(clEnqueueCopyBuffer) tsl_api_clEnqueueCopyBuffer;
__typeof__(clEnqueueCopyBufferRect) tsl_api_clEnqueueCopyBufferRect;
__typeof__(clEnqueueFillBuffer) tsl_api_clEnqueueFillBuffer;
__typeof__(clEnqueueMigrateMemObjects) tsl_api_clEnqueueMigrateMemObjects;

/* src/api/map.c */
__typeof__(clEnqueueMapBuffer) tsl_api_clEnqueueMapBuffer;
__typeof__(clEnqueueUnmapMemObject) tsl_api_clEnqueueUnmapMemObject;

/* src/api/native.c */
__typeof__(clEnqueueNativeKernel) tsl_api_clEnqueueNativeKernel;

/* src/api/sync.c */
__typeof__(clEnqueueMarker) tsl_api_clEnqueueMarker;
__typeof__(clEnqueueMarkerWithWaitList) tsl_api_clEnqueueMarkerWithWaitList;
__typeof__(clEnqueueBarrier) tsl_api_clEnqueueBarrier;
__typeof__(clEnqueueBarrierWithWaitList) tsl_api_clEnqueueBarrierWithWaitList;
__typeof__(clEnqueueWaitForEvents) tsl_api_clEnqueueWaitForEvents;

/* src/api/event.c */
__typeof__(clWaitForEvents) tsl_api_clWaitForEvents;
__typeof__(clGetEventInfo) tsl_api_clGetEventInfo;
__typeof__(clGetEventProfilingInfo) tsl_api_clGetEventProfilingInfo;
__typeof__(clRetainEvent) tsl_api_clRetainEvent;
__typeof__(clReleaseEvent) tsl_api_clReleaseEvent;
__typeof__(clCreateUserEvent) tsl_api_clCreateUserEvent;
__typeof__(clSetUserEventStatus) tsl_api_clSetUserEventStatus;
__typeof__(clSetEventCallback) tsl_api_clSetEventCallback;

/* src/api/image.c */
__typeof__(clCreateImage) tsl_api_clCreateImage;
__typeof__(clCreateImageWithProperties) tsl_api_clCreateImageWithProperties;
__typeof__(clCreateImage2D) tsl_api_clCreateImage2D;
__typeof__(clCreateImage3D) tsl_api_clCreateImage3D;
__typeof__(clGetSupportedImageFormats) tsl_api_clGetSupportedImageFormats;
__typeof__(clGetImageInfo) tsl_api_clGetImageInfo;
__typeof__(clEnqueueReadImage) tsl_api_clEnqueueReadImage;
__typeof__(clEnqueueWriteImage) tsl_api_clEnqueueWriteImage;
__typeof__(clEnqueueFillImage) tsl_api_clEnqueueFillImage;
__typeof__(clEnqueueCopyImage) tsl_api_clEnqueueCopyImage;
__typeof__(clEnqueueCopyImageToBuffer) tsl_api_clEnqueueCopyImageToBuffer;
__typeof__(clEnqueueCopyBufferToImage) tsl_api_clEnqueueCopyBufferToImage;
__typeof__(clEnqueueMapImage) tsl_api_clEnqueueMapImage;

/* src/api/sampler.c */
__typeof__(clCreateSampler) tsl_api_clCreateSampler;
__typeof__(clCreateSamplerWithProperties) tsl_api_clCreateSamplerWithProperties;
__typeof__(clRetainSampler) tsl_api_clRetainSampler;
__typeof__(clReleaseSampler) tsl_api_clReleaseSampler;
__typeof__(clGetSamplerInfo) tsl_api_clGetSamplerInfo;

/* src/api/svm.c */
__typeof__(clSVMAlloc) tsl_api_clSVMAlloc;
__typeof__(clSVMFree) tsl_api_clSVMFree;
__typeof__(clEnqueueSVMFree) tsl_api_clEnqueueSVMFree;
__typeof__(clEnqueueSVMMemcpy) tsl_api_clEnqueueSVMMemcpy;
__typeof__(clEnqueueSVMMemFill) tsl_api_clEnqueueSVMMemFill;
__typeof__(clEnqueueSVMMap) tsl_api_clEnqueueSVMMap;
__typeof__(clEnqueueSVMUnmap) tsl_api_clEnqueueSVMUnmap;
__typeof__(clEnqueueSVMMigrateMem) tsl_api_clEnqueueSVMMigrateMem;
__typeof__(clSetKernelArgSVMPointer) tsl_api_clSetKernelArgSVMPointer;
__typeof__(clSetKernelExecInfo) tsl_api_clSetKernelExecInfo;

/* src/api/pipe.c */
__typeof__(clCreatePipe) tsl_api_clCreatePipe;
__typeof__(clGetPipeInfo) tsl_api_clGetPipeInfo;

/* src/api/sub_group.c */
__typeof__(clGetKernelSubGroupInfo) tsl_api_clGetKernelSubGroupInfo;
__typeof__(clGetKernelSubGroupInfoKHR) tsl_api_clGetKernelSubGroupInfoKHR;

/* src/api/gl.c */
__typeof__(clCreateFromGLBuffer) tsl_api_clCreateFromGLBuffer;
__typeof__(clCreateFromGLTexture) tsl_api_clCreateFromGLTexture;
__typeof__(clCreateFromGLTexture2D) tsl_api_clCreateFromGLTexture2D;
__typeof__(clCreateFromGLTexture3D) tsl_api_clCreateFromGLTexture3D;
__typeof__(clCreateFromGLRenderbuffer) tsl_api_clCreateFromGLRenderbuffer;
__typeof__(clGetGLObjectInfo) tsl_api_clGetGLObjectInfo;
__typeof__(clGetGLTextureInfo) tsl_api_clGetGLTextureInfo;
__typeof__(clEnqueueAcquireGLObjects) tsl_api_clEnqueueAcquireGLObjects;
__typeof__(clEnqueueReleaseGLObjects) tsl_api_clEnqueueReleaseGLObjects;
__typeof__(clGetGLContextInfoKHR) tsl_api_clGetGLContextInfoKHR;
__typeof__(clCreateEventFromGLsyncKHR) tsl_api_clCreateEventFromGLsyncKHR;

/* src/api/egl.c */
__typeof__(clCreateFromEGLImageKHR) tsl_api_clCreateFromEGLImageKHR;
__typeof__(clEnqueueAcquireEGLObjectsKHR) tsl_api_clEnqueueAcquireEGLObjectsKHR;
__typeof__(clEnqueueReleaseEGLObjectsKHR) tsl_api_clEnqueueReleaseEGLObjectsKHR;
__typeof__(clCreateEventFromEGLSyncKHR) tsl_api_clCreateEventFromEGLSyncKHR;

/*
 * src/api/d3d.c
 *
 * The standard headers declare these on Windows only, where the slots have types of Direct3D in them. Elsewhere such
 * objects can't exist, but the slots must be callable: pointers to those types are pointers to void here, their
 * enumerations and UINT are cl_uint.
 */
cl_int CL_API_CALL tsl_api_clGetDeviceIDsFromD3D10KHR(cl_platform_id platform, cl_uint source, void *object,
                                                      cl_uint set, cl_uint num_entries, cl_device_id *devices,
                                                      cl_uint *num_devices);
cl_mem CL_API_CALL tsl_api_clCreateFromD3D10BufferKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                      cl_int *errcode_ret);
cl_mem CL_API_CALL tsl_api_clCreateFromD3D10Texture2DKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                         cl_uint subresource, cl_int *errcode_ret);
cl_mem CL_API_CALL tsl_api_clCreateFromD3D10Texture3DKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                         cl_uint subresource, cl_int *errcode_ret);
cl_int CL_API_CALL tsl_api_clEnqueueAcquireD3D10ObjectsKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                           const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event);
cl_int CL_API_CALL tsl_api_clEnqueueReleaseD3D10ObjectsKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                           const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event);
cl_int CL_API_CALL tsl_api_clGetDeviceIDsFromD3D11KHR(cl_platform_id platform, cl_uint source, void *object,
                                                      cl_uint set, cl_uint num_entries, cl_device_id *devices,
                                                      cl_uint *num_devices);
cl_mem CL_API_CALL tsl_api_clCreateFromD3D11BufferKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                      cl_int *errcode_ret);
cl_mem CL_API_CALL tsl_api_clCreateFromD3D11Texture2DKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                         cl_uint subresource, cl_int *errcode_ret);
cl_mem CL_API_CALL tsl_api_clCreateFromD3D11Texture3DKHR(cl_context context, cl_mem_flags flags, void *resource,
                                                         cl_uint subresource, cl_int *errcode_ret);
cl_mem CL_API_CALL tsl_api_clCreateFromDX9MediaSurfaceKHR(cl_context context, cl_mem_flags flags, cl_uint type,
                                                          void *surface, cl_uint plane, cl_int *errcode_ret);
cl_int CL_API_CALL tsl_api_clEnqueueAcquireD3D11ObjectsKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                           const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event);
cl_int CL_API_CALL tsl_api_clEnqueueReleaseD3D11ObjectsKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                           const cl_mem *mem_objects, cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event);
cl_int CL_API_CALL tsl_api_clGetDeviceIDsFromDX9MediaAdapterKHR(cl_platform_id platform, cl_uint num_adapters,
                                                                cl_uint *types, void *adapters, cl_uint set,
                                                                cl_uint num_entries, cl_device_id *devices,
                                                                cl_uint *num_devices);
cl_int CL_API_CALL tsl_api_clEnqueueAcquireDX9MediaSurfacesKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                               const cl_mem *mem_objects,
                                                               cl_uint num_events_in_wait_list,
                                                               const cl_event *event_wait_list, cl_event *event);
cl_int CL_API_CALL tsl_api_clEnqueueReleaseDX9MediaSurfacesKHR(cl_command_queue command_queue, cl_uint num_objects,
                                                               const cl_mem *mem_objects,
                                                               cl_uint num_events_in_wait_list,
                                                               const cl_event *event_wait_list, cl_event *event);

#endif
