/*
 * A device of a vendor's that has a compiler and takes binaries: one program makes a binary natively, the same program,
 * run on Tesela, gets it by the rule of names of docs/user/fpga.md. The text that is built on Tesela does another thing
 * than the binary, so that it shows which of the two ran.
 *
 *     fpga_emulator make FILE     writes the binary of a kernel that multiplies by three
 *     fpga_emulator use           builds a text that multiplies by two, runs it, prints what became of 14
 */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_device_id device;
static cl_context context;

static void must(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "fpga_emulator: %s failed with error %d\n", what, error);
    exit(1);
}

static void set_up(void)
{
    cl_platform_id platform;
    cl_int error;

    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "clCreateContext");
}

static cl_program build(const char *text)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    return program;
}

static void make(const char *path)
{
    cl_program program = build("kernel void scale(global int *x) { x[get_global_id(0)] *= 3; }");
    FILE *out = fopen(path, "wb");
    size_t size;

    must(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), "CL_PROGRAM_BINARY_SIZES");
    unsigned char *bytes = malloc(size);
    must(bytes && out ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, path);
    must(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL), "CL_PROGRAM_BINARIES");
    must(fwrite(bytes, 1, size, out) == size && fclose(out) == 0 ? CL_SUCCESS : CL_INVALID_VALUE, path);
    free(bytes);
    clReleaseProgram(program);
}

static void use(void)
{
    cl_program program = build("kernel void scale(global int *x) { x[get_global_id(0)] *= 2; }");
    const size_t global = 1000;
    int values[1000];
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "scale", &error);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof values, NULL, &error);

    must(error, "clCreateBuffer");
    for (int i = 0; i < 1000; i++)
        values[i] = i;
    must(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL), "clEnqueueWriteBuffer");
    must(clSetKernelArg(kernel, 0, sizeof mem, &mem), "clSetKernelArg");
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    must(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL), "clEnqueueReadBuffer");
    printf("%d\n", values[14]);
    clReleaseMemObject(mem);
    clReleaseCommandQueue(queue);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

int main(int argc, char **argv)
{
    set_up();
    if (argc == 3 && !strcmp(argv[1], "make"))
        make(argv[2]);
    else if (argc == 2 && !strcmp(argv[1], "use"))
        use();
    else
        return 2;
    clReleaseContext(context);
    return 0;
}
