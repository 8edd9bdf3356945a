"""Builds and runs one kernel on the first device that OpenCL's loader shows in this environment. Prints nothing if the results
are right; else prints in a few lines what went wrong, and exits with 1. A process of its own, like who.py.
"""
import ctypes
import sys

import who

SOURCE = b'kernel void count(global int *x) { x[get_global_id(0)] = (int)get_global_id(0) + 1; }'
N = 64
BUILD_LOG = 0x1183


class Wrong(Exception):
    """What went wrong."""


def checked(name, error):
    if error:
        raise Wrong(f'{name} fails with {error}')


def made(cl, name, *arguments):
    """Creates an object by a clCreate... function, whose last parameter is the error."""
    error = ctypes.c_int32()
    create = getattr(cl, name)
    create.restype = ctypes.c_void_p
    found = ctypes.c_void_p(create(*arguments, ctypes.byref(error)))
    checked(name, error.value)
    return found


def built(cl, context, device):
    source, length = ctypes.c_char_p(SOURCE), ctypes.c_size_t(len(SOURCE))
    program = made(cl, 'clCreateProgramWithSource', context, 1, ctypes.byref(source), ctypes.byref(length))
    error = cl.clBuildProgram(program, 1, ctypes.byref(device), None, None, None)
    if error:
        log = who.text(lambda *words: cl.clGetProgramBuildInfo(program, *words), device, BUILD_LOG)
        raise Wrong(f'clBuildProgram fails with {error}:\n{log}')
    return made(cl, 'clCreateKernel', program, b'count')


def run():
    cl = ctypes.CDLL('libOpenCL.so.1')
    found = [device for platform in who.handles(cl.clGetPlatformIDs)
             for device in who.handles(cl.clGetDeviceIDs, platform, who.ALL)]
    if not found:
        raise Wrong('there is no device')
    device = found[0]
    context = made(cl, 'clCreateContext', None, 1, ctypes.byref(device), None, None)
    queue = made(cl, 'clCreateCommandQueue', context, device, ctypes.c_uint64(0))
    kernel = built(cl, context, device)
    numbers = (ctypes.c_int32 * N)()
    size = ctypes.c_size_t(ctypes.sizeof(numbers))
    buffer = made(cl, 'clCreateBuffer', context, ctypes.c_uint64(1), size, None)
    checked('clSetKernelArg', cl.clSetKernelArg(kernel, 0, ctypes.c_size_t(ctypes.sizeof(buffer)), ctypes.byref(buffer)))
    count = ctypes.c_size_t(N)
    checked('clEnqueueNDRangeKernel', cl.clEnqueueNDRangeKernel(queue, kernel, 1, None, ctypes.byref(count), None, 0, None, None))
    checked('clEnqueueReadBuffer', cl.clEnqueueReadBuffer(queue, buffer, 1, ctypes.c_size_t(0), size, numbers, 0, None, None))
    if list(numbers) != list(range(1, N + 1)):
        raise Wrong(f'the kernel gave {list(numbers)}')


if __name__ == '__main__':
    try:
        run()
    except Wrong as wrong:
        sys.exit(str(wrong))
