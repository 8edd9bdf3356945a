"""PyOpenCL, without any setting: is Tesela among the platforms, and does it compute?"""
import numpy
import pyopencl

platforms = [p for p in pyopencl.get_platforms() if p.name == 'Tesela']
assert platforms, 'PyOpenCL shows no platform named Tesela'
context = pyopencl.Context(platforms[0].get_devices())
queue = pyopencl.CommandQueue(context)
before = numpy.arange(1000, dtype=numpy.float32)
buffer = pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR, hostbuf=before)
program = pyopencl.Program(context, 'kernel void f(global float *x) { int i = get_global_id(0); x[i] = sin(x[i]); }').build()
program.f(queue, before.shape, None, buffer)
after = numpy.empty_like(before)
pyopencl.enqueue_copy(queue, after, buffer)
assert abs(after - numpy.sin(before)).max() < 1e-5, 'a wrong answer'
