/*
 * Every call of the dispatch table with NULL, freed and wrong handles, absurd sizes, unknown names, lists that don't
 * fit their count: nothing crashes, each returns an error code of OpenCL, for a bad handle the code of its kind, and
 * the objects' reference counts don't change. The calls go straight to the library, as loaders dereference handles.
 * Also for AddressSanitizer.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:new_delete_type_mismatch=0 */
/* any: */
/* timeout: 300 */
#include "begin.h"
#include "build_folder.h"

#include <CL/cl_tesela.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The calls --------------------------------------------------------------------------------------------------- */

/*
 * What a call takes, a letter for each argument:
 *   P D C Q M S G K E   platform, device, context, queue, memory object, sampler, program, kernel, event
 *   o                   a device, or NULL for the only one
 *   #X                  a count and a list of handles (two arguments)
 *   W                   the wait list and the new event that end clEnqueue… (three arguments)
 *   u z f b             cl_uint, size_t, 64 bits of flags, cl_bool
 *   p v                 memory to read or write; shared virtual memory
 *   n                   a count of what is there
 *   a g                 three sizes; those of a launch
 *   x s t c r           properties, string, list of strings, callback, where the error code goes
 * and what it gives: ' ' an error code, '0' nothing, '*' an address, or the letter of a handle.
 */
struct call {
    const char *name;
    char gives;
    const char *takes;
};

static const struct call calls[] = {
    {"clGetPlatformIDs", ' ', "upp"},
    {"clGetPlatformInfo", ' ', "Puzpp"},
    {"clGetDeviceIDs", ' ', "Pfupp"},
    {"clGetDeviceInfo", ' ', "Duzpp"},
    {"clCreateContext", 'C', "x#Dcpr"},
    {"clCreateContextFromType", 'C', "xfcpr"},
    {"clRetainContext", ' ', "C"},
    {"clReleaseContext", ' ', "C"},
    {"clGetContextInfo", ' ', "Cuzpp"},
    {"clCreateCommandQueue", 'Q', "CDfr"},
    {"clRetainCommandQueue", ' ', "Q"},
    {"clReleaseCommandQueue", ' ', "Q"},
    {"clGetCommandQueueInfo", ' ', "Quzpp"},
    {"clSetCommandQueueProperty", ' ', "Qfbp"},
    {"clCreateBuffer", 'M', "Cfzpr"},
    {"clCreateImage2D", 'M', "Cfpzzzpr"},
    {"clCreateImage3D", 'M', "Cfpzzzzzpr"},
    {"clRetainMemObject", ' ', "M"},
    {"clReleaseMemObject", ' ', "M"},
    {"clGetSupportedImageFormats", ' ', "Cfuupp"},
    {"clGetMemObjectInfo", ' ', "Muzpp"},
    {"clGetImageInfo", ' ', "Muzpp"},
    {"clCreateSampler", 'S', "Cbuur"},
    {"clRetainSampler", ' ', "S"},
    {"clReleaseSampler", ' ', "S"},
    {"clGetSamplerInfo", ' ', "Suzpp"},
    {"clCreateProgramWithSource", 'G', "Cutpr"},
    {"clCreateProgramWithBinary", 'G', "C#Dptpr"},
    {"clRetainProgram", ' ', "G"},
    {"clReleaseProgram", ' ', "G"},
    {"clBuildProgram", ' ', "G#Dscp"},
    {"clUnloadCompiler", ' ', ""},
    {"clGetProgramInfo", ' ', "Guzpp"},
    {"clGetProgramBuildInfo", ' ', "GDuzpp"},
    {"clCreateKernel", 'K', "Gsr"},
    {"clCreateKernelsInProgram", ' ', "Gupp"},
    {"clRetainKernel", ' ', "K"},
    {"clReleaseKernel", ' ', "K"},
    {"clSetKernelArg", ' ', "Kuzp"},
    {"clGetKernelInfo", ' ', "Kuzpp"},
    {"clGetKernelWorkGroupInfo", ' ', "Kouzpp"},
    {"clWaitForEvents", ' ', "#E"},
    {"clGetEventInfo", ' ', "Euzpp"},
    {"clRetainEvent", ' ', "E"},
    {"clReleaseEvent", ' ', "E"},
    {"clGetEventProfilingInfo", ' ', "Euzpp"},
    {"clFlush", ' ', "Q"},
    {"clFinish", ' ', "Q"},
    {"clEnqueueReadBuffer", ' ', "QMbzzpW"},
    {"clEnqueueWriteBuffer", ' ', "QMbzzpW"},
    {"clEnqueueCopyBuffer", ' ', "QMMzzzW"},
    {"clEnqueueReadImage", ' ', "QMbaazzpW"},
    {"clEnqueueWriteImage", ' ', "QMbaazzpW"},
    {"clEnqueueCopyImage", ' ', "QMMaaaW"},
    {"clEnqueueCopyImageToBuffer", ' ', "QMMaazW"},
    {"clEnqueueCopyBufferToImage", ' ', "QMMzaaW"},
    {"clEnqueueMapBuffer", '*', "QMbfzzWr"},
    {"clEnqueueMapImage", '*', "QMbfaappWr"},
    {"clEnqueueUnmapMemObject", ' ', "QMpW"},
    {"clEnqueueNDRangeKernel", ' ', "QKuaggW"},
    {"clEnqueueTask", ' ', "QKW"},
    {"clEnqueueNativeKernel", ' ', "Qcpz#MpW"},
    {"clEnqueueMarker", ' ', "Qp"},
    {"clEnqueueWaitForEvents", ' ', "Q#E"},
    {"clEnqueueBarrier", ' ', "Q"},
    {"clGetExtensionFunctionAddress", '*', "s"},
    {"clCreateFromGLBuffer", 'M', "Cfur"},
    {"clCreateFromGLTexture2D", 'M', "Cfuuur"},
    {"clCreateFromGLTexture3D", 'M', "Cfuuur"},
    {"clCreateFromGLRenderbuffer", 'M', "Cfur"},
    {"clGetGLObjectInfo", ' ', "Mpp"},
    {"clGetGLTextureInfo", ' ', "Muzpp"},
    {"clEnqueueAcquireGLObjects", ' ', "Q#MW"},
    {"clEnqueueReleaseGLObjects", ' ', "Q#MW"},
    {"clGetGLContextInfoKHR", ' ', "xuzpp"},
    {"clGetDeviceIDsFromD3D10KHR", ' ', "Pupuupp"},
    {"clCreateFromD3D10BufferKHR", 'M', "Cfpr"},
    {"clCreateFromD3D10Texture2DKHR", 'M', "Cfpur"},
    {"clCreateFromD3D10Texture3DKHR", 'M', "Cfpur"},
    {"clEnqueueAcquireD3D10ObjectsKHR", ' ', "Q#MW"},
    {"clEnqueueReleaseD3D10ObjectsKHR", ' ', "Q#MW"},
    {"clSetEventCallback", ' ', "Eucp"},
    {"clCreateSubBuffer", 'M', "Mfupr"},
    {"clSetMemObjectDestructorCallback", ' ', "Mcp"},
    {"clCreateUserEvent", 'E', "Cr"},
    {"clSetUserEventStatus", ' ', "Eu"},
    {"clEnqueueReadBufferRect", ' ', "QMbaaazzzzpW"},
    {"clEnqueueWriteBufferRect", ' ', "QMbaaazzzzpW"},
    {"clEnqueueCopyBufferRect", ' ', "QMMaaazzzzW"},
    {"clCreateSubDevicesEXT", ' ', "Dxupp"},
    {"clRetainDeviceEXT", ' ', "D"},
    {"clReleaseDeviceEXT", ' ', "D"},
    {"clCreateEventFromGLsyncKHR", 'E', "Cpr"},
    {"clCreateSubDevices", ' ', "Dxupp"},
    {"clRetainDevice", ' ', "D"},
    {"clReleaseDevice", ' ', "D"},
    {"clCreateImage", 'M', "Cfpppr"},
    {"clCreateProgramWithBuiltInKernels", 'G', "C#Dsr"},
    {"clCompileProgram", ' ', "G#Ds#Gtcp"},
    {"clLinkProgram", 'G', "C#Ds#Gcpr"},
    {"clUnloadPlatformCompiler", ' ', "P"},
    {"clGetKernelArgInfo", ' ', "Kuuzpp"},
    {"clEnqueueFillBuffer", ' ', "QMpzzzW"},
    {"clEnqueueFillImage", ' ', "QMpaaW"},
    {"clEnqueueMigrateMemObjects", ' ', "Q#MfW"},
    {"clEnqueueMarkerWithWaitList", ' ', "QW"},
    {"clEnqueueBarrierWithWaitList", ' ', "QW"},
    {"clGetExtensionFunctionAddressForPlatform", '*', "Ps"},
    {"clCreateFromGLTexture", 'M', "Cfuuur"},
    {"clGetDeviceIDsFromD3D11KHR", ' ', "Pupuupp"},
    {"clCreateFromD3D11BufferKHR", 'M', "Cfpr"},
    {"clCreateFromD3D11Texture2DKHR", 'M', "Cfpur"},
    {"clCreateFromD3D11Texture3DKHR", 'M', "Cfpur"},
    {"clCreateFromDX9MediaSurfaceKHR", 'M', "Cfupur"},
    {"clEnqueueAcquireD3D11ObjectsKHR", ' ', "Q#MW"},
    {"clEnqueueReleaseD3D11ObjectsKHR", ' ', "Q#MW"},
    {"clGetDeviceIDsFromDX9MediaAdapterKHR", ' ', "Puppuupp"},
    {"clEnqueueAcquireDX9MediaSurfacesKHR", ' ', "Q#MW"},
    {"clEnqueueReleaseDX9MediaSurfacesKHR", ' ', "Q#MW"},
    {"clCreateFromEGLImageKHR", 'M', "Cppfxr"},
    {"clEnqueueAcquireEGLObjectsKHR", ' ', "Q#MW"},
    {"clEnqueueReleaseEGLObjectsKHR", ' ', "Q#MW"},
    {"clCreateEventFromEGLSyncKHR", 'E', "Cppr"},
    {"clCreateCommandQueueWithProperties", 'Q', "CDxr"},
    {"clCreatePipe", 'M', "Cfuuxr"},
    {"clGetPipeInfo", ' ', "Muzpp"},
    {"clSVMAlloc", '*', "Cfzu"},
    {"clSVMFree", '0', "Cp"},
    {"clEnqueueSVMFree", ' ', "QnpcpW"},
    {"clEnqueueSVMMemcpy", ' ', "QbvvzW"},
    {"clEnqueueSVMMemFill", ' ', "QvpzzW"},
    {"clEnqueueSVMMap", ' ', "QbfvzW"},
    {"clEnqueueSVMUnmap", ' ', "QvW"},
    {"clCreateSamplerWithProperties", 'S', "Cxr"},
    {"clSetKernelArgSVMPointer", ' ', "Kuv"},
    {"clSetKernelExecInfo", ' ', "Kuzp"},
    {"clGetKernelSubGroupInfoKHR", ' ', "Kouzpzpp"},
    {"clCloneKernel", 'K', "Kr"},
    {"clCreateProgramWithIL", 'G', "Cpzr"},
    {"clEnqueueSVMMigrateMem", ' ', "QnppfW"},
    {"clGetDeviceAndHostTimer", ' ', "Dpp"},
    {"clGetHostTimer", ' ', "Dp"},
    {"clGetKernelSubGroupInfo", ' ', "Kouzpzpp"},
    {"clSetDefaultDeviceCommandQueue", ' ', "CDQ"},
    {"clSetProgramReleaseCallback", ' ', "Gcp"},
    {"clSetProgramSpecializationConstant", ' ', "Guzp"},
    {"clCreateBufferWithProperties", 'M', "Cxfzpr"},
    {"clCreateImageWithProperties", 'M', "Cxfpppr"},
    {"clSetContextDestructorCallback", ' ', "Ccp"},
    {"clGetKernelSuggestedLocalWorkSize", ' ', "QKuagp"},
};
_Static_assert(LENGTH(calls) == 150, "a call is missing");

enum { max_args = 20 };

/* All arguments are integers and addresses, so one type of function will do. */
typedef intptr_t any_fn(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                        intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                        intptr_t, intptr_t);

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

static const char kinds[] = "PDCQMGKES";
enum { n_kinds = sizeof kinds - 1 };

static void *good[n_kinds], *freed[n_kinds];
static char *shared; /* a region of the good context's; NULL: its device has none */
static void *library;

static int index_of(char kind)
{
    const char *at = strchr(kinds, kind);

    return at && *at ? (int)(at - kinds) : -1;
}

static any_fn *function(const char *name)
{
    static void *(*find)(cl_platform_id, const char *);
    any_fn *found;

    if (!find)
        find = (void *(*)(cl_platform_id, const char *))dlsym(library, "clIcdGetFunctionAddressForPlatformKHR");
    found = (any_fn *)find(our_platform(), name);
    if (!found)
        fail_msg("there is no %s", name);
    return found;
}

static void release(char kind, void *handle)
{
    static const char *const names[] = {
        NULL,
        "clReleaseDevice",
        "clReleaseContext",
        "clReleaseCommandQueue",
        "clReleaseMemObject",
        "clReleaseProgram",
        "clReleaseKernel",
        "clReleaseEvent",
        "clReleaseSampler",
    };
    const char *name = handle ? names[index_of(kind)] : NULL;

    if (name)
        assert_int_equal(
            (cl_int)function(name)((intptr_t)handle, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            CL_SUCCESS);
}

static void make_objects(void **to)
{
    static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    const char *source = "kernel void k(global int *x, int n, local int *y) { if (x && !get_global_id(0)) *x = n; }";
    cl_int error, n = 7;
    cl_device_id subs[8];
    cl_uint n_subs;

    assert_int_equal(clCreateSubDevices(our_device(), by_member, 8, subs, &n_subs), CL_SUCCESS);
    for (cl_uint i = 1; i < n_subs; i++)
        assert_int_equal(clReleaseDevice(subs[i]), CL_SUCCESS);
    to[index_of('P')] = our_platform();
    to[index_of('D')] = subs[0];
    to[index_of('C')] = clCreateContext(NULL, 1, subs, NULL, NULL, &error);
    to[index_of('Q')] = clCreateCommandQueue(to[index_of('C')], subs[0], 0, &error);
    to[index_of('M')] = make_buffer(to[index_of('C')], CL_MEM_READ_WRITE, 4096);
    to[index_of('G')] = clCreateProgramWithSource(to[index_of('C')], 1, &source, NULL, &error);
    assert_int_equal(clBuildProgram(to[index_of('G')], 0, NULL, "", NULL, NULL), CL_SUCCESS);
    to[index_of('K')] = clCreateKernel(to[index_of('G')], "k", &error);
    to[index_of('E')] = make_user_event(to[index_of('C')]);
    assert_int_equal(clSetUserEventStatus(to[index_of('E')], CL_COMPLETE), CL_SUCCESS);
    to[index_of('S')] = clCreateSampler(to[index_of('C')], CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &error);
    assert_int_equal(clSetKernelArg(to[index_of('K')], 0, sizeof(cl_mem), &to[index_of('M')]), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(to[index_of('K')], 1, sizeof n, &n), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(to[index_of('K')], 2, 16, NULL), CL_SUCCESS);
    for (int i = 0; i < n_kinds; i++)
        assert_non_null(to[i]);
}

/* Backwards: what holds others stands before them. */
static void free_objects(void **objects)
{
    for (int i = n_kinds - 1; i >= 0; i--)
        release(kinds[i], objects[i]);
}

static cl_uint count_of(int i)
{
    static const struct {
        const char *name;
        cl_uint param;
    } queries[] = {
        {NULL, 0},
        {"clGetDeviceInfo", CL_DEVICE_REFERENCE_COUNT},
        {"clGetContextInfo", CL_CONTEXT_REFERENCE_COUNT},
        {"clGetCommandQueueInfo", CL_QUEUE_REFERENCE_COUNT},
        {"clGetMemObjectInfo", CL_MEM_REFERENCE_COUNT},
        {"clGetProgramInfo", CL_PROGRAM_REFERENCE_COUNT},
        {"clGetKernelInfo", CL_KERNEL_REFERENCE_COUNT},
        {"clGetEventInfo", CL_EVENT_REFERENCE_COUNT},
        {"clGetSamplerInfo", CL_SAMPLER_REFERENCE_COUNT},
    };
    cl_uint count = 1;

    if (queries[i].name)
        assert_int_equal((cl_int)function(queries[i].name)((intptr_t)good[i], queries[i].param, sizeof count,
                                                           (intptr_t)&count, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                                           0, 0),
                         CL_SUCCESS);
    return count;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* What an argument may be given. The first is the one that lets the call come far. */
struct values {
    int n;
    intptr_t at[64];
};

/* For each argument memory of its own. */
enum { room = 1 << 14 };
static char arenas[max_args][room] __attribute__((aligned(64)));
static void *const nulls[2000];
static const size_t zeroes[3], ones[3] = {1, 1, 1}, some[3] = {0, 1, 1}, absurd[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
static cl_int error_code;
static cl_event new_event;

static void CL_CALLBACK nothing(void)
{
}

static void add(struct values *values, intptr_t value)
{
    values->at[values->n++] = value;
}

static void add_pointer(struct values *values, const void *value)
{
    add(values, (intptr_t)value);
}

static void add_handles(struct values *values, char kind)
{
    int own = index_of(kind);

    if (own >= 0)
        add_pointer(values, good[own]);
    add_pointer(values, NULL);
    if (own > 0)
        add_pointer(values, freed[own]);
    for (int i = 0; i < n_kinds; i++)
        if (i != own)
            add_pointer(values, good[i]);
}

static void add_sizes(struct values *values)
{
    static const size_t sizes[] = {8, 0, 1, 3, 4, 4096, SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2, (size_t)1 << 62};

    for (size_t i = 0; i < LENGTH(sizes); i++)
        add(values, (intptr_t)sizes[i]);
}

static void add_words(struct values *values)
{
    static const cl_uint words[] = {1, 0, 2, 3, 0x7777, CL_BUFFER_CREATE_TYPE_REGION, 0x80000000u, 0xffffffffu};

    for (size_t i = 0; i < LENGTH(words); i++)
        add(values, words[i]);
}

static void add_flags(struct values *values)
{
    add(values, 0);
    add(values, -1);
    for (int bit = 0; bit < 64; bit += bit < 16 ? 1 : 12)
        add(values, (intptr_t)1 << bit);
}

static void add_properties(struct values *values)
{
    static const intptr_t none[] = {0}, unknown[] = {0x7777, 1, 0}, platform[] = {CL_CONTEXT_PLATFORM, 0, 0},
                          queue[] = {CL_QUEUE_PROPERTIES, -1, 0},
                          twice[] = {CL_QUEUE_PROPERTIES, 0, CL_QUEUE_PROPERTIES, 0, 0},
                          part[] = {CL_DEVICE_PARTITION_EQUALLY, 0, 0},
                          counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0},
                          member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    const intptr_t *const lists[] = {none, unknown, platform, queue, twice, part, counts, member};

    add_pointer(values, NULL);
    for (size_t i = 0; i < LENGTH(lists); i++)
        add_pointer(values, lists[i]);
}

static void values_for(char letter, int i, struct values *values)
{
    static const char *strings[] = {"kernel void k() {}", NULL, NULL};

    values->n = 0;
    switch (letter) {
    case 'o':
        add_pointer(values, good[index_of('D')]);
        add_pointer(values, freed[index_of('D')]);
        add_pointer(values, good[index_of('C')]);
        add_pointer(values, good[index_of('P')]);
        break;
    case 'u':
        add_words(values);
        break;
    case 'z':
        add_sizes(values);
        break;
    case 'n':
        add(values, 1);
        add(values, 0);
        add(values, 2);
        break;
    case 'v':
        add_pointer(values, shared ? shared : arenas[i]);
        add_pointer(values, NULL);
        add_pointer(values, shared ? shared + 1 : arenas[i]);
        break;
    case 'f':
        add_flags(values);
        break;
    case 'b':
        add(values, CL_FALSE);
        add(values, CL_TRUE);
        add(values, 77);
        break;
    case 'p':
        add_pointer(values, arenas[i]);
        add_pointer(values, NULL);
        break;
    case 'g': /* More work-items would only take longer. */
    case 'a':
        add_pointer(values, letter == 'g' ? ones : some);
        add_pointer(values, NULL);
        add_pointer(values, zeroes);
        add_pointer(values, ones);
        if (letter == 'a')
            add_pointer(values, absurd);
        break;
    case 'x':
        add_properties(values);
        break;
    case 's':
        add_pointer(values, "k");
        add_pointer(values, NULL);
        add_pointer(values, "");
        add_pointer(values, "-cl-std=CL9.9 \"");
        add_pointer(values, ";;;k;");
        break;
    case 't':
        add_pointer(values, strings);
        add_pointer(values, NULL);
        add_pointer(values, nulls);
        break;
    case 'c':
        add_pointer(values, NULL);
        add(values, (intptr_t)nothing);
        break;
    case 'r':
        add_pointer(values, &error_code);
        add_pointer(values, NULL);
        break;
    default:
        add_handles(values, letter);
    }
}

/* A count and a list of handles. */
struct list {
    cl_uint n;
    void *const *handles;
};

/* The first is none at all, the second a good one. */
static int lists_for(char kind, struct list *lists)
{
    static void *stored[40][2];
    int own = index_of(kind), n = 0;
    void *ok = good[own];

    lists[n++] = (struct list){0, NULL};
    stored[0][0] = ok;
    lists[n++] = (struct list){1, stored[0]};
    lists[n++] = (struct list){0, stored[0]};
    lists[n++] = (struct list){1, NULL};
    lists[n++] = (struct list){0xffffffffu, NULL};
    /* Who counts on more than there is finds NULL. */
    lists[n++] = (struct list){LENGTH(nulls), nulls};
    for (int i = 0; i < n_kinds; i++) {
        stored[1 + i][0] = ok;
        stored[1 + i][1] = i == own ? freed[own] : good[i];
        if (stored[1 + i][1])
            lists[n++] = (struct list){2, stored[1 + i]};
    }
    return n;
}

/* ---- Calling ----------------------------------------------------------------------------------------------------- */

/* An argument of a call, which may be several of the function's. */
struct slot {
    char letter, listed; /* listed: of what, for '#' and 'W' */
    struct values values;
    struct list lists[32];
    int n; /* choices */
    int chosen;
};

static struct slot slots[max_args];
static int n_slots;

static void read_call(const struct call *call)
{
    n_slots = 0;
    for (const char *c = call->takes; *c; c++) {
        struct slot *slot = &slots[n_slots++];

        *slot = (struct slot){.letter = *c, .listed = *c == 'W' ? 'E' : *c == '#' ? c[1] : 0};
        if (*c == '#')
            c++;
        if (slot->listed) {
            slot->n = lists_for(slot->listed, slot->lists);
        } else {
            values_for(slot->letter, n_slots - 1, &slot->values);
            slot->n = slot->values.n;
        }
    }
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Those that change the count of a good handle are given none. */
static bool counts_references(const struct call *call)
{
    return starts(call->name, "clRetain") || starts(call->name, "clRelease");
}

static cl_int run(const struct call *call)
{
    intptr_t args[max_args] = {0}, result;
    bool has_code = strchr(call->takes, 'r') != NULL, told = false;
    int n = 0;

    for (int i = 0; i < n_slots; i++) {
        const struct slot *slot = &slots[i];

        if (!slot->listed) {
            args[n++] = slot->values.at[slot->chosen];
            told |= slot->letter == 'r' && slot->values.at[slot->chosen];
            continue;
        }
        args[n++] = slot->lists[slot->chosen].n;
        args[n++] = (intptr_t)slot->lists[slot->chosen].handles;
        if (slot->letter == 'W')
            args[n++] = (intptr_t)&new_event;
    }
    new_event = NULL;
    error_code = 77;
    result = function(call->name)(args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7], args[8],
                                  args[9], args[10], args[11], args[12], args[13], args[14], args[15], args[16],
                                  args[17], args[18], args[19]);
    if (new_event)
        release('E', new_event);
    if (call->gives == ' ')
        return (cl_int)result;
    if (call->gives != '*' && call->gives != '0')
        release(call->gives, (void *)result);
    if (has_code && told && call->gives != '0' && (error_code == CL_SUCCESS) != (result != 0))
        fail_msg("%s gives %p and the code %d", call->name, (void *)result, (int)error_code);
    return has_code ? (told ? error_code : CL_SUCCESS) : CL_SUCCESS;
}

/* Handles that calls leave in memory. */
static void clear(const struct call *call)
{
    static const struct {
        const char *name;
        int slot;
        char kind;
    } gifts[] = {{"clEnqueueMarker", 1, 'E'}, {"clCreateSubDevices", 3, 'D'}, {"clCreateKernelsInProgram", 2, 'K'}};

    for (size_t i = 0; i < LENGTH(gifts); i++) {
        void *const *found = (void *const *)arenas[gifts[i].slot];

        for (; strcmp(call->name, gifts[i].name) == 0 && *found; found++)
            release(gifts[i].kind, *found);
    }
    for (int i = 0; i < n_slots; i++)
        if (slots[i].letter == 'p')
            memset(arenas[i], 0, sizeof arenas[i]);
}

/* -1 … -72 are OpenCL's own, the rest those of extensions. */
static void assert_code(const struct call *call, cl_int code)
{
    bool known = (code <= 0 && code >= -72 && (code > -20 || code <= -30)) || (code <= -1000 && code >= -1200);

    if (!known)
        fail_msg("%s returns %d, which is no code of OpenCL", call->name, (int)code);
}

static cl_int code_of_bad(char letter, char listed)
{
    switch (letter == '#' ? listed : letter) {
    case 'P':
        return CL_INVALID_PLATFORM;
    case 'D':
    case 'o':
        return CL_INVALID_DEVICE;
    case 'C':
        return CL_INVALID_CONTEXT;
    case 'Q':
        return CL_INVALID_COMMAND_QUEUE;
    case 'M':
        return CL_INVALID_MEM_OBJECT;
    case 'S':
        return CL_INVALID_SAMPLER;
    case 'G':
        return CL_INVALID_PROGRAM;
    case 'K':
        return CL_INVALID_KERNEL;
    case 'E':
        return CL_INVALID_EVENT;
    case 'W':
        return CL_INVALID_EVENT_WAIT_LIST;
    default:
        return 0;
    }
}

static void choose_first(void)
{
    for (int i = 0; i < n_slots; i++)
        slots[i].chosen = 0;
}

/* For clSetKernelArg and the like some handles may be anything. */
static bool is_handle(const struct slot *slot)
{
    return code_of_bad(slot->letter, slot->listed) != 0;
}

static cl_int try(const struct call *call)
{
    cl_int code = run(call);

    assert_code(call, code);
    clear(call);
    return code;
}

/* Each argument in turn takes all its values, beside good ones. A bad first handle is always told by its own code, and
 * so is every other where the call would have succeeded. */
static void one_bad_argument(void **state)
{
    (void)state;
    for (size_t k = 0; k < LENGTH(calls); k++) {
        const struct call *call = &calls[k];
        cl_int well = 0;

        read_call(call);
        choose_first();
        if (!counts_references(call) && n_slots > 0)
            well = try(call);
        for (int i = 0; i < n_slots; i++) {
            struct slot *slot = &slots[i];
            bool strict = is_handle(slot) && call->gives != '0' && (i == 0 || well == CL_SUCCESS);

            for (slot->chosen = counts_references(call) ? 1 : 0; slot->chosen < slot->n; slot->chosen++) {
                cl_int code = try(call);
                bool bad = slot->listed ? slot->chosen >= 5 : slot->chosen > 0;

                if (strict && bad && call->gives != '*' && code != code_of_bad(slot->letter, slot->listed))
                    fail_msg("%s: argument %d, value %d: %d instead of %d", call->name, i, slot->chosen, (int)code,
                             (int)code_of_bad(slot->letter, slot->listed));
            }
            slot->chosen = 0;
        }
    }
}

/* Every name of a query, with every kind of room for the answer. */
static void names_of_queries(void **state)
{
    static const size_t rooms[] = {0, 1, 4, 8, 24, room};

    (void)state;
    for (size_t k = 0; k < LENGTH(calls); k++) {
        const struct call *call = &calls[k];
        int name, size;

        if (!starts(call->name, "clGet") || !strstr(call->takes, "uzpp"))
            continue;
        read_call(call);
        choose_first();
        name = (int)(strstr(call->takes, "uzpp") - call->takes);
        size = name + 1;
        for (intptr_t param = 0x0900; param < 0x1300; param++) {
            slots[name].values.at[0] = param;
            for (size_t i = 0; i < LENGTH(rooms); i++) {
                slots[size].values.at[0] = (intptr_t)rooms[i];
                try(call);
            }
        }
    }
}

static unsigned seed = 1;

static unsigned next(unsigned n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

/* Several bad arguments at once. */
static void any_arguments(void **state)
{
    const char *value = getenv("BAD_INPUT_ROUNDS"); /* for each call */
    int rounds = value ? atoi(value) : 300;

    (void)state;
    for (size_t k = 0; k < LENGTH(calls); k++) {
        const struct call *call = &calls[k];

        read_call(call);
        for (int round = 0; n_slots > 0 && round < rounds; round++) {
            for (int i = 0; i < n_slots; i++)
                slots[i].chosen = next(3) ? 0 : (int)next((unsigned)slots[i].n);
            if (counts_references(call))
                slots[0].chosen = 1 + (int)next((unsigned)slots[0].n - 1);
            try(call);
        }
    }
}

/* ---- Before and after -------------------------------------------------------------------------------------------- */

static cl_uint counts[n_kinds];

static int begin(void **state)
{
    char path[4096];

    (void)state;
    snprintf(path, sizeof path, "%s/libtesela.so", build_folder());
    library = dlopen(path, RTLD_NOW);
    assert_non_null(library);
    make_objects(freed);
    free_objects(freed);
    make_objects(good);
    shared = clSVMAlloc(good[index_of('C')], CL_MEM_READ_WRITE, 4096, 0);
    for (int i = 0; i < n_kinds; i++)
        counts[i] = count_of(i);
    return 0;
}

/* All is as it was, and works. */
static void nothing_has_changed(void **state)
{
    const size_t n = 64;
    cl_int value = 0, seven = 7;
    cl_command_queue queue = good[index_of('Q')];
    cl_kernel kernel = good[index_of('K')];
    cl_mem buffer = good[index_of('M')];

    (void)state;
    for (int i = 0; i < n_kinds; i++)
        if (count_of(i) != counts[i])
            fail_msg("the %c has %u references, not %u", kinds[i], count_of(i), counts[i]);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof seven, &seven), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, 16, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(value, 7);
}

static int end(void **state)
{
    (void)state;
    clSVMFree(good[index_of('C')], shared);
    free_objects(good);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bad_argument),
        cmocka_unit_test(names_of_queries),
        cmocka_unit_test(any_arguments),
        cmocka_unit_test(nothing_has_changed),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
