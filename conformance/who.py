"""Prints, as JSON, what OpenCL's loader shows in this environment: each device with its platform, the platform's version, and
the driver's. A process of its own, as a loader reads its settings only once and a driver may crash the process.
"""
import ctypes
import json

PLATFORM_VERSION, PLATFORM_NAME = 0x0901, 0x0902
DEVICE_NAME, DRIVER_VERSION = 0x102B, 0x102D
ALL = ctypes.c_uint64(0xFFFFFFFF)


def text(ask, handle, what):
    """A string from clGetPlatformInfo or clGetDeviceInfo."""
    size = ctypes.c_size_t()
    if ask(handle, what, 0, None, ctypes.byref(size)):
        return ''
    value = ctypes.create_string_buffer(size.value + 1)
    ask(handle, what, size, value, None)
    return value.value.decode(errors='replace').strip()


def handles(ask, *first):
    """The array from clGetPlatformIDs or clGetDeviceIDs; empty after an error."""
    count = ctypes.c_uint32()
    if ask(*first, 0, None, ctypes.byref(count)) or not count.value:
        return []
    found = (ctypes.c_void_p * count.value)()
    ask(*first, count, found, None)
    return [ctypes.c_void_p(handle) for handle in found]


def devices():
    cl = ctypes.CDLL('libOpenCL.so.1')
    return [{'platform': text(cl.clGetPlatformInfo, platform, PLATFORM_NAME),
             'version': text(cl.clGetPlatformInfo, platform, PLATFORM_VERSION),
             'device': text(cl.clGetDeviceInfo, device, DEVICE_NAME),
             'driver': text(cl.clGetDeviceInfo, device, DRIVER_VERSION)}
            for platform in handles(cl.clGetPlatformIDs) for device in handles(cl.clGetDeviceIDs, platform, ALL)]


if __name__ == '__main__':
    print(json.dumps(devices()), flush=True)
