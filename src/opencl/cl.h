/*
 * The functions of another vendor's OpenCL that we call, taken out of its dispatch table into one of our own.
 *
 * A vendor's table may be shorter than ours (its length is that of the OpenCL version it was written for, and reading
 * past its end is undefined), may have NULL slots, and an ICD 2 vendor's first word is no table for us at all. So we
 * copy the functions that the version promises, once for each device, and everything else is NULL here. Calls are
 * spelled `cl->clEnqueueReadBuffer(...)`.
 */
#ifndef TSL_OPENCL_CL_H
#define TSL_OPENCL_CL_H

#include "icd2.h"

#include <CL/cl_icd.h>
#include <stdbool.h>
#include <stdint.h>

/* Each function that we call: the OpenCL version (major * 100 + minor * 10) that brought it, and whether there is no
 * way without it. */
#define TSL_OPENCL_FUNCTIONS(X)                       \
    X(100, clGetPlatformInfo, true)                   \
    X(100, clGetDeviceIDs, true)                      \
    X(100, clGetDeviceInfo, true)                     \
    X(100, clCreateContext, true)                     \
    X(100, clReleaseContext, true)                    \
    X(100, clCreateCommandQueue, true)                \
    X(100, clReleaseCommandQueue, true)               \
    X(100, clCreateBuffer, true)                      \
    X(100, clReleaseMemObject, true)                  \
    X(100, clCreateSampler, true)                     \
    X(100, clReleaseSampler, true)                    \
    X(100, clCreateProgramWithSource, true)           \
    X(100, clCreateProgramWithBinary, true)           \
    X(100, clReleaseProgram, true)                    \
    X(100, clBuildProgram, true)                      \
    X(100, clGetProgramInfo, true)                    \
    X(100, clGetProgramBuildInfo, true)               \
    X(100, clCreateKernel, true)                      \
    X(100, clCreateKernelsInProgram, false)           \
    X(100, clReleaseKernel, true)                     \
    X(100, clSetKernelArg, true)                      \
    X(100, clGetKernelInfo, true)                     \
    X(100, clGetKernelWorkGroupInfo, true)            \
    X(100, clWaitForEvents, true)                     \
    X(100, clGetEventInfo, true)                      \
    X(100, clReleaseEvent, true)                      \
    X(100, clGetEventProfilingInfo, true)             \
    X(100, clFlush, true)                             \
    X(100, clFinish, true)                            \
    X(100, clEnqueueReadBuffer, true)                 \
    X(100, clEnqueueWriteBuffer, true)                \
    X(100, clEnqueueCopyBuffer, true)                 \
    X(100, clEnqueueMapBuffer, false)                 \
    X(100, clEnqueueUnmapMemObject, false)            \
    X(100, clEnqueueNDRangeKernel, true)              \
    X(100, clEnqueueMarker, false)                    \
    X(100, clEnqueueWaitForEvents, false)             \
    X(100, clGetSupportedImageFormats, false)         \
    X(100, clEnqueueReadImage, false)                 \
    X(100, clEnqueueWriteImage, false)                \
    X(100, clEnqueueCopyImage, false)                 \
    X(100, clEnqueueCopyImageToBuffer, false)         \
    X(100, clEnqueueCopyBufferToImage, false)         \
    X(110, clCreateSubBuffer, true)                   \
    X(110, clSetEventCallback, true)                  \
    X(110, clCreateUserEvent, true)                   \
    X(110, clSetUserEventStatus, true)                \
    X(110, clEnqueueReadBufferRect, true)             \
    X(110, clEnqueueWriteBufferRect, true)            \
    X(110, clEnqueueCopyBufferRect, true)             \
    X(120, clCreateImage, false)                      \
    X(120, clCreateProgramWithBuiltInKernels, false)  \
    X(120, clCompileProgram, false)                   \
    X(120, clLinkProgram, false)                      \
    X(120, clGetKernelArgInfo, false)                 \
    X(120, clEnqueueFillBuffer, false)                \
    X(120, clEnqueueMarkerWithWaitList, false)        \
    X(200, clCreateCommandQueueWithProperties, false) \
    X(200, clSVMAlloc, false)                         \
    X(200, clSVMFree, false)                          \
    X(200, clEnqueueSVMMap, false)                    \
    X(200, clEnqueueSVMUnmap, false)                  \
    X(200, clSetKernelArgSVMPointer, false)           \
    X(200, clSetKernelExecInfo, false)                \
    X(210, clCreateProgramWithIL, false)              \
    X(210, clGetDeviceAndHostTimer, false)            \
    X(220, clSetProgramSpecializationConstant, false)

struct tsl_opencl_cl {
#define TSL_OPENCL_FUNCTION(version, name, required) cl_api_##name name;
    TSL_OPENCL_FUNCTIONS(TSL_OPENCL_FUNCTION)
#undef TSL_OPENCL_FUNCTION
};

/* clIcdGetFunctionAddressForPlatformKHR of an ICD 2 vendor. */
typedef void *(CL_API_CALL *tsl_opencl_address_fn)(cl_platform_id platform, const char *name);

/* Is this the platform of an ICD 2 vendor? Reads the two tagged slots, which every table has. */
bool tsl_opencl_is_icd2(cl_platform_id platform);

/*
 * Fills *cl with what a platform of this version has: from the table that the platform's first word points to, or, for
 * ICD 2 (address not NULL), by asking for each name. Functions that it lacks become NULL, and so do those that lead
 * into libOpenCL: where a vendor's library doesn't hide its names, the loader's of the same names take their places in
 * its own table, and would call back through that table for ever.
 */
void tsl_opencl_cl_fill(struct tsl_opencl_cl *cl, cl_platform_id platform, tsl_opencl_address_fn address,
                        unsigned version);

/*
 * 110 for a platform that says 100 and has all functions of OpenCL 1.1 that we need; else what it says. FPGAs' runtimes
 * (Intel's, Xilinx's XRT) say 1.0, which is what was certified, and have the rest. As the table may really end where
 * OpenCL 1.0 does, a slot behind that is believed only if the vendor's library itself calls what it leads to by the
 * function's name, with or without an ending (clSetEventCallbackIntelFPGA).
 */
unsigned tsl_opencl_cl_version(cl_platform_id platform, tsl_opencl_address_fn address, unsigned said);

/* Drops what a device of this version need not support although its platform has it. */
void tsl_opencl_cl_limit(struct tsl_opencl_cl *cl, unsigned version);

/* The first of the required functions that is missing; NULL: all are there. */
const char *tsl_opencl_cl_missing(const struct tsl_opencl_cl *cl);

/* "OpenCL 1.2 something" -> 120; 0 if the text is no such thing. */
unsigned tsl_opencl_version(const char *text);

#endif
