/*
 * cl_khr_icd 2.0.0, which Debian's headers don't have yet: the mark of platforms whose calls the loader dispatches by a
 * table of its own. The mark is in the slots clGetPlatformIDs and clUnloadCompiler, which no loader calls.
 */
#ifndef TSL_ICD_ICD2_H
#define TSL_ICD_ICD2_H

#include <stdint.h>

#ifndef CL_ICD2_TAG_KHR
#if INTPTR_MAX == INT32_MAX
#define CL_ICD2_TAG_KHR ((intptr_t)0x434C3331)
#else
#define CL_ICD2_TAG_KHR ((intptr_t)0x4F50454E434C3331)
#endif
#endif

#endif
