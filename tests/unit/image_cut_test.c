/* Ranges of an image's bytes, cut into boxes: each pixel once, no padding, whatever begins and ends where. */
#include "driver/image.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

/* Marks the bytes of a box; each at most once. */
static void mark(const struct tsl_image_desc *image, const struct tsl_image_box *box, unsigned char *seen)
{
    for (size_t z = 0; z < box->region[2]; z++)
        for (size_t y = 0; y < box->region[1]; y++)
            for (size_t x = 0; x < box->region[0]; x++) {
                size_t at = box->offset + z * image->slice_pitch + y * tsl_image_row_step(image) + x;

                assert_int_equal(seen[at], 0);
                seen[at] = 1;
            }
}

static bool is_pixel(const struct tsl_image_desc *image, size_t at)
{
    size_t in_slice = at % image->slice_pitch;

    if (image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY)
        return in_slice < tsl_image_row_size(image);
    return in_slice / image->row_pitch < image->height && in_slice % image->row_pitch < tsl_image_row_size(image);
}

static void check_box(const struct tsl_image_desc *image, const struct tsl_image_box *box)
{
    size_t at = box->origin[2] * image->slice_pitch + box->origin[1] * tsl_image_row_step(image) +
                box->origin[0] * image->element_size;

    assert_int_equal(at, box->offset);
    assert_int_equal(box->pixels[0] * image->element_size, box->region[0]);
    assert_true(box->origin[0] + box->pixels[0] <= image->width);
    assert_true(box->origin[1] + box->pixels[1] <= tsl_image_rows(image));
    assert_true(box->origin[2] + box->pixels[2] <= tsl_image_slices(image));
    for (int d = 0; d < 3; d++)
        assert_true(box->pixels[d] > 0);
}

static void check_range(const struct tsl_image_desc *image, size_t begin, size_t end)
{
    struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES];
    size_t span = tsl_image_span(image);
    unsigned char *seen = calloc(1, span);
    unsigned n = tsl_image_cut(image, begin, end, boxes);

    assert_true(n <= TSL_IMAGE_MAX_BOXES);
    for (unsigned i = 0; i < n; i++) {
        check_box(image, &boxes[i]);
        mark(image, &boxes[i], seen);
    }
    for (size_t at = 0; at < span; at++)
        assert_int_equal(seen[at], at >= begin && at < end && is_pixel(image, at));
    free(seen);
}

/* A border between pixels, or in padding, as they come: the padding in these has whole pixels, too. */
static void check_image(const struct tsl_image_desc *image)
{
    size_t span = tsl_image_span(image), step = image->element_size;

    for (size_t begin = 0; begin < span; begin += step)
        for (size_t end = begin + step; end <= span; end += step)
            check_range(image, begin, end);
}

static struct tsl_image_desc desc(cl_mem_object_type type, size_t width, size_t height, size_t depth, size_t layers)
{
    struct tsl_image_desc image = {.type = type,
                                   .width = width,
                                   .height = height,
                                   .depth = depth,
                                   .array_size = layers,
                                   .element_size = 4,
                                   .row_pitch = 4 * width};

    image.slice_pitch = image.row_pitch * height;
    return image;
}

static void test_tight(void **state)
{
    const struct tsl_image_desc images[] = {
        desc(CL_MEM_OBJECT_IMAGE1D, 7, 1, 1, 1),       desc(CL_MEM_OBJECT_IMAGE1D_ARRAY, 3, 1, 1, 5),
        desc(CL_MEM_OBJECT_IMAGE2D, 4, 5, 1, 1),       desc(CL_MEM_OBJECT_IMAGE2D, 1, 6, 1, 1),
        desc(CL_MEM_OBJECT_IMAGE2D_ARRAY, 3, 2, 1, 4), desc(CL_MEM_OBJECT_IMAGE3D, 3, 4, 3, 1),
        desc(CL_MEM_OBJECT_IMAGE3D, 1, 1, 5, 1),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
        assert_false(tsl_image_has_padding(&images[i]));
        check_image(&images[i]);
    }
}

static void test_padded(void **state)
{
    struct tsl_image_desc rows = desc(CL_MEM_OBJECT_IMAGE2D, 3, 4, 1, 1),
                          both = desc(CL_MEM_OBJECT_IMAGE3D, 2, 3, 3, 1),
                          slices = desc(CL_MEM_OBJECT_IMAGE3D, 2, 2, 3, 1),
                          layers = desc(CL_MEM_OBJECT_IMAGE1D_ARRAY, 3, 1, 1, 4);

    (void)state;
    rows.row_pitch += 8;
    rows.slice_pitch = 4 * rows.row_pitch;
    both.row_pitch += 4;
    both.slice_pitch = 4 * both.row_pitch;
    slices.slice_pitch += slices.row_pitch;
    layers.slice_pitch += 4;
    assert_true(tsl_image_has_padding(&rows) && tsl_image_has_padding(&both));
    assert_true(tsl_image_has_padding(&slices) && tsl_image_has_padding(&layers));
    check_image(&rows);
    check_image(&both);
    check_image(&slices);
    check_image(&layers);
}

static void test_formats(void **state)
{
    static const struct {
        cl_image_format format;
        size_t size;
    } known[] = {
        {{CL_RGBA, CL_UNORM_INT8}, 4},
        {{CL_RGBA, CL_FLOAT}, 16},
        {{CL_R, CL_SIGNED_INT8}, 1},
        {{CL_RG, CL_HALF_FLOAT}, 4},
        {{CL_BGRA, CL_UNORM_INT8}, 4},
        {{CL_RGB, CL_UNORM_SHORT_565}, 2},
        {{CL_RGB, CL_UNORM_INT_101010}, 4},
        {{CL_RGBA, CL_UNORM_INT_101010_2}, 4},
        {{CL_RGBA, CL_UNORM_SHORT_565}, 0},
        {{0, 0}, 0},
        {{CL_R, 0x1234}, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        assert_int_equal(tsl_image_element_size(&known[i].format), known[i].size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tight),
        cmocka_unit_test(test_padded),
        cmocka_unit_test(test_formats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
