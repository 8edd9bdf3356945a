#include "cuda_bridge/image.h"

#include "compile/wire.h"
#include "core/bytes.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC   0x474c5354u /* "TSLG" */
#define VERSION 1u

void *tsl_cuda_image_encode(unsigned capability, unsigned n_kernels, const struct tsl_kernel_facts *const *facts,
                            const char *ptx, size_t ptx_size, size_t *size)
{
    struct tsl_writer writer = {.data = NULL};

    tsl_write_u32(&writer, MAGIC);
    tsl_write_u32(&writer, VERSION);
    tsl_write_u32(&writer, capability);
    tsl_write_u32(&writer, n_kernels);
    for (unsigned i = 0; i < n_kernels; i++)
        tsl_wire_put_facts(&writer, facts[i]);
    tsl_write_blob(&writer, ptx, ptx_size);
    *size = writer.size;
    if (!writer.failed)
        return writer.data;
    free(writer.data);
    return NULL;
}

static bool read_kernels(struct tsl_reader *reader, struct tsl_cuda_image *image, unsigned n)
{
    image->facts = calloc(n + 1, sizeof(*image->facts));
    if (!image->facts)
        return false;
    while (image->n_kernels < n) {
        if (!tsl_wire_get_facts(reader, &image->facts[image->n_kernels]))
            return false;
        image->n_kernels++;
    }
    return true;
}

static bool read_ptx(struct tsl_reader *reader, struct tsl_cuda_image *image)
{
    size_t size;
    const void *ptx = tsl_read_blob(reader, &size);

    if (!tsl_read_end(reader) || !ptx || memchr(ptx, 0, size))
        return false;
    image->ptx = strndup(ptx, size);
    return image->ptx != NULL;
}

bool tsl_cuda_image_decode(const void *data, size_t size, struct tsl_cuda_image *image)
{
    struct tsl_reader reader = tsl_reader_of(data, size);
    bool ours = tsl_read_u32(&reader) == MAGIC && tsl_read_u32(&reader) == VERSION;

    *image = (struct tsl_cuda_image){.capability = tsl_read_u32(&reader)};
    if (ours && read_kernels(&reader, image, tsl_read_count(&reader, 16)) && read_ptx(&reader, image))
        return true;
    tsl_cuda_image_finish(image);
    return false;
}

void tsl_cuda_image_finish(struct tsl_cuda_image *image)
{
    for (unsigned i = 0; i < image->n_kernels; i++)
        tsl_kernel_facts_finish(&image->facts[i]);
    free(image->facts);
    free(image->ptx);
    *image = (struct tsl_cuda_image){.n_kernels = 0};
}
