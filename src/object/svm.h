/*
 * Shared virtual memory (OpenCL 3.0, 5.6): memory of the host's whose addresses kernels use, too.
 *
 * A region is a root buffer whose host copy lies at the region's own address. Of the members that know such addresses
 * (below) kernels work on that copy itself, whoever names it: by an address, by CL_KERNEL_EXEC_INFO_SVM_PTRS, or by a
 * buffer that was made of it with CL_MEM_USE_HOST_PTR, which is a part of the region. So nothing of it ever has to move
 * between these members: they only take turns, as the tiles of any other memory of the host's say. The other members
 * know the buffers alone, and have copies of their own.
 *
 * Which members these are is one choice for the process, so that the virtual device can tell of it: one vendor's
 * memory, as a rule, is good for this vendor alone, so that the member is taken whose memory reaches most others (its
 * driver's; those whose kernels can use any address of the host's).
 */
#ifndef TSL_OBJECT_SVM_H
#define TSL_OBJECT_SVM_H

#include "object/buffer.h"

struct tsl_svm {
    RB_ENTRY(tsl_svm) node;    /* in the context's, by address, until it is freed */
    struct tsl_buffer *buffer; /* the root whose this is */
    char *begin;
    size_t size;
    struct tsl_mem *mem; /* a member's svm_alloc; NULL: the process's heap */
    bool borrowed;       /* it is the application's, and in no list */
    bool coarse;         /* all of it is the host's or a kernel's: no two of these are in it at once */
    unsigned members;    /* bits of the context's members whose kernels know these addresses */
    unsigned as_mem;     /* of these, who also takes it for a buffer's storage, and so copies and fills there */
};

/* clSVMAlloc; NULL: not to be had. Blocks; calls drivers. */
void *tsl_svm_alloc(struct tsl_context *context, cl_svm_mem_flags flags, size_t size, size_t alignment);
/* clSVMFree: commands under way keep the memory until they have ended. False: no region begins there. */
bool tsl_svm_free(struct tsl_context *context, void *pointer);
/* The region in which the pointer is, with an internal reference; NULL: none, or it hasn't so many bytes from there on.
 * *offset (may be NULL): where in it. Takes the context's lock. */
struct tsl_buffer *tsl_svm_find(struct tsl_context *context, const void *pointer, size_t size, size_t *offset);

/* A region, with an internal reference, of memory of the application's that is none: no kernel knows it, but commands
 * of the host's work on it where it is. Who else does so in the context takes turns. */
cl_int tsl_svm_borrow(struct tsl_context *context, void *pointer, size_t size, struct tsl_buffer **region);

/* A buffer of memory in a region (CL_MEM_USE_HOST_PTR). */
cl_int tsl_svm_buffer_create(struct tsl_buffer *region, cl_mem_flags flags, size_t offset, size_t size,
                             const cl_mem_properties *properties, struct tsl_buffer **buffer);

/* For the end of the root: nothing uses it any more. NULL allowed. */
void tsl_svm_destroy(struct tsl_svm *svm);

/* Of a memory object of any kind: the region of which it is (a part), or NULL. */
static inline const struct tsl_svm *tsl_svm_of(const struct tsl_buffer *buffer)
{
    while (buffer->parent)
        buffer = buffer->parent;
    return buffer->svm;
}

#endif
