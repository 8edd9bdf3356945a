#include "cuda_bridge/image.h"

#include "base/bytes.h"
#include "compile_client/wire.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC   0x474c5354u /* "TSLG" */
#define VERSION 3u

void *tsl_cuda_image_encode(enum tsl_cuda_image_kind kind, unsigned capability, unsigned n_kernels,
                            const struct tsl_kernel_facts *const *facts, const void *data, size_t data_size,
                            size_t *size)
{
    struct tsl_writer writer = {.data = NULL};

    tsl_write_u32(&writer, MAGIC);
    tsl_write_u32(&writer, VERSION);
    tsl_write_u32(&writer, kind);
    tsl_write_u32(&writer, capability);
    tsl_write_u32(&writer, n_kernels);
    for (unsigned i = 0; i < n_kernels; i++)
        tsl_wire_put_facts(&writer, facts[i]);
    tsl_write_blob(&writer, data, data_size);
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

static bool read_data(struct tsl_reader *reader, struct tsl_cuda_image *image)
{
    const void *data = tsl_read_blob(reader, &image->size);

    if (!tsl_read_end(reader) || !data || (image->kind == TSL_CUDA_IMAGE_PTX && memchr(data, 0, image->size)))
        return false;
    image->data = malloc(image->size + 1);
    if (!image->data)
        return false;
    memcpy(image->data, data, image->size);
    image->data[image->size] = '\0';
    return true;
}

bool tsl_cuda_image_decode(const void *data, size_t size, struct tsl_cuda_image *image)
{
    struct tsl_reader reader = tsl_reader_of(data, size);
    bool ours = tsl_read_u32(&reader) == MAGIC && tsl_read_u32(&reader) == VERSION;

    *image = (struct tsl_cuda_image){.n_kernels = 0};
    image->kind = (enum tsl_cuda_image_kind)tsl_read_u32_max(&reader, TSL_CUDA_IMAGE_OBJECT);
    image->capability = tsl_read_u32(&reader);
    if (ours && read_kernels(&reader, image, tsl_read_count(&reader, 16)) && read_data(&reader, image))
        return true;
    tsl_cuda_image_finish(image);
    return false;
}

void tsl_cuda_image_finish(struct tsl_cuda_image *image)
{
    for (unsigned i = 0; i < image->n_kernels; i++)
        tsl_kernel_facts_finish(&image->facts[i]);
    free(image->facts);
    free(image->data);
    *image = (struct tsl_cuda_image){.n_kernels = 0};
}
