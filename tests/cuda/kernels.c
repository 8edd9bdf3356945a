/* kernels.ptx as bytes of the test. */
__asm__(".section .rodata\n"
        ".globl cuda_kernels_ptx, cuda_kernels_end\n"
        "cuda_kernels_ptx: .incbin \"" KERNELS_PTX "\"\n"
        "cuda_kernels_end: .byte 0\n"
        ".previous\n");
