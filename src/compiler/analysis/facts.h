/*
 * Facts about a kernel, from its metadata and its simplified code (every call inlined).
 */
#ifndef KC_ANALYSIS_FACTS_H
#define KC_ANALYSIS_FACTS_H

#include "compiler/support/llvm.h"
#include "facts/kernel_facts.h"

/* Marks kernels that have double precision in the program's own words (compiler/analysis/fp64.c): before built-in
 * functions are linked, which may compute with more precision than they are given. */
void kc_mark_fp64(LLVMModuleRef module);
bool kc_has_fp64(LLVMValueRef kernel);

struct kc_access_book;

/* Fills all but local_mem_size, private_mem_size, work_group_size and preferred_multiple, which the back end knows, and
 * recommends what the source requires or hints, if anything. The strings are the facts' own; tsl_kernel_facts_finish
 * frees them. book: see kc_argument_access. */
void kc_facts(LLVMValueRef kernel, struct kc_access_book *book, struct tsl_kernel_facts *facts);

/*
 * What the kernel may do to the memory behind each pointer argument (compiler/analysis/argument_access.c): TSL_ROLE_
 * bits into roles[], one for each parameter; *atomics: something atomic is done to it; *opaque: variables of the
 * program are touched. book: NULL where everything was inlined. Of a module as the front end left it, with its private
 * variables promoted, one for all its kernels: then nothing is told that is so for our code alone, as no pass has taken
 * anything away.
 */
void kc_argument_access(LLVMValueRef kernel, struct kc_access_book *book, unsigned *roles, bool *atomics, bool *opaque);

struct kc_access_book *kc_access_book_open(void);
void kc_access_book_close(struct kc_access_book *book);

#endif
