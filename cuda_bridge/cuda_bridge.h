/* The CUDA driver: NVIDIA GPUs as members through libcuda.so.1, which is loaded when members are looked for. */
#ifndef TSL_CUDA_BRIDGE_CUDA_BRIDGE_H
#define TSL_CUDA_BRIDGE_CUDA_BRIDGE_H

#include "driver/driver.h"

extern const struct tsl_driver tsl_cuda_driver;

#endif
