/*
 * Which kernels of a large program are compiled together. From when all is linked and nothing inlined, kernels don't
 * need each other: several processes may each take a share of them.
 */
#ifndef KC_MIDDLE_SHARES_H
#define KC_MIDDLE_SHARES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of a module in its order, as kc_link_prepare left it. */
struct kc_shares {
    unsigned n; /* of shares, at least 1 */
    uint32_t n_kernels;
    unsigned *share; /* of each kernel: less than n */
};

/* At most `most` shares, of about the same work; one where shares wouldn't pay, or where kernels have variables in
 * common. constants: the bytes of constants that may be there, once for each share; 0: any number. */
void kc_shares_create(LLVMModuleRef module, unsigned most, uint64_t constants, struct kc_shares *shares);
void kc_shares_finish(struct kc_shares *shares);

/* Takes out the kernels of other shares. */
void kc_shares_keep(const struct kc_shares *shares, LLVMModuleRef module, unsigned share);

#ifdef __cplusplus
}
#endif

#endif
