/*
 * Facts about a kernel, from its metadata and its simplified code, in which every call is inlined.
 */
#ifndef KC_ANALYSIS_FACTS_H
#define KC_ANALYSIS_FACTS_H

#include "compiler/support/llvm.h"
#include "facts/kernel_facts.h"

/* Marks kernels that use double precision in the program's own code (compiler/analysis/fp64.c). Called before built-in
 * functions are linked, which may compute with more precision than their arguments have. */
void kc_mark_fp64(LLVMModuleRef module);
bool kc_has_fp64(LLVMValueRef kernel);

struct kc_access_book;

/* Fills all facts but local_mem_size, private_mem_size, work_group_size and preferred_multiple, which the back end
 * knows, and recommends what the source requires or hints, if anything. The facts own the strings;
 * tsl_kernel_facts_finish frees them. book: see kc_argument_access. */
void kc_facts(LLVMValueRef kernel, struct kc_access_book *book, struct tsl_kernel_facts *facts);

/* Does it ask for more of the launch than global ids (tsl_kernel_facts.whole_launch)? Every call is inlined. */
bool kc_asks_for_launch(LLVMValueRef kernel);

/*
 * What the kernel may do to the memory behind each pointer argument (compiler/analysis/argument_access.c): TSL_MAY_
 * bits into access[], one for each parameter; *atomics: some memory is accessed atomically; *opaque: variables of the
 * program are accessed. book: NULL if every call is inlined. Otherwise one for all kernels of a module as the front end
 * left it, with its private variables promoted: as no pass has removed anything, the result holds for any compiler's
 * code.
 */
void kc_argument_access(LLVMValueRef kernel, struct kc_access_book *book, unsigned *access, bool *atomics,
                        bool *opaque);

struct kc_access_book *kc_access_book_open(void);
void kc_access_book_close(struct kc_access_book *book);

#endif
