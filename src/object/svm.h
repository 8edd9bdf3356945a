/*
 * Shared virtual memory (OpenCL 3.0, 5.6): memory of the host whose addresses kernels use, too.
 *
 * A region is a root buffer whose host copy lies at the region's own address. On members that know such addresses (see
 * below) kernels work on that copy itself, however they got it: by an address, by CL_KERNEL_EXEC_INFO_SVM_PTRS, or by a
 * buffer made of it with CL_MEM_USE_HOST_PTR, which is a part of the region. So the region never moves between these
 * members: they only take turns, as the tiles of any other host memory say. The other members know only the buffers,
 * and have copies of their own.
 *
 * The set of these members is chosen once for the process, so that the virtual device can report it. As a rule one
 * vendor's memory is good for this vendor alone. So the member is taken whose memory reaches most others (those of its
 * driver, and those whose kernels can use any address of the host).
 */
#ifndef TSL_OBJECT_SVM_H
#define TSL_OBJECT_SVM_H

#include "base/sets.h"
#include "object/buffer.h"

struct tsl_svm {
    RB_ENTRY(tsl_svm) node;    /* in the context's tree, by address, until it is freed */
    struct tsl_buffer *buffer; /* the root that owns this */
    char *begin;
    size_t size;
    struct tsl_mem *mem; /* a member's svm_alloc; NULL: the process's heap */
    bool borrowed;       /* it is the application's, and in no list */
    bool coarse;         /* all of it is the host's or a kernel's: no two of these are in it at once */
    tsl_members members; /* of the context's members those whose kernels know these addresses */
    tsl_members as_mem;  /* of these, those that also take it for a buffer's storage, and so copy and fill there */
};

/* clSVMAlloc; NULL if it fails. Blocks; calls drivers. */
void *tsl_svm_alloc(struct tsl_context *context, cl_svm_mem_flags flags, size_t size, size_t alignment);
/* clSVMFree: commands in flight keep the memory until they have ended. False: no region begins there. */
bool tsl_svm_free(struct tsl_context *context, void *pointer);
/* The region that contains the pointer, with an internal reference; NULL: none, or it has fewer than size bytes from
 * there on. *offset (may be NULL): where in the region. Takes the context's lock. */
struct tsl_buffer *tsl_svm_find(struct tsl_context *context, const void *pointer, size_t size, size_t *offset);

/* Makes a region, with an internal reference, of the application's own memory: no kernel knows it, but commands of the
 * host work on it in place. Others that do so in the context take turns. */
cl_int tsl_svm_borrow(struct tsl_context *context, void *pointer, size_t size, struct tsl_buffer **region);

/* A buffer of memory in a region (CL_MEM_USE_HOST_PTR). */
cl_int tsl_svm_buffer_create(struct tsl_buffer *region, cl_mem_flags flags, size_t offset, size_t size,
                             const cl_mem_properties *properties, struct tsl_buffer **buffer);

/* For the end of the root, when nothing uses the region any more. NULL allowed. */
void tsl_svm_destroy(struct tsl_svm *svm);

/* The region of which a memory object of any kind is (a part), or NULL. */
static inline const struct tsl_svm *tsl_svm_of(const struct tsl_buffer *buffer)
{
    while (buffer->parent)
        buffer = buffer->parent;
    return buffer->svm;
}

#endif
