/*
 * Four bytes that are put together from bytes of one or two registers, as `v.wzyx` of uchar4 is: one instruction (prmt)
 * of NVIDIA GPUs, where LLVM's back end takes each byte out of its register and puts it into the other.
 */
#ifndef KC_PTX_BYTE_ORDER_H
#define KC_PTX_BYTE_ORDER_H

#include "compiler/support/llvm.h"

/* After vectors were taken apart (LLVM's scalarizer). To LLVM before 18 four bytes are four registers: nothing is done.
 */
void kc_order_bytes(LLVMModuleRef module);

#endif
