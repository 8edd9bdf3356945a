/* What drivers share about boxes of bytes. */
#ifndef TSL_DRIVER_BOX_H
#define TSL_DRIVER_BOX_H

#include "driver/driver.h"

/* Do the box's bytes lie one after the other on this side? */
static inline bool tsl_place_is_linear(const struct tsl_place *place, const size_t region[3])
{
    if (region[1] > 1 && place->row_pitch != region[0])
        return false;
    return region[2] == 1 || place->slice_pitch == region[0] * region[1];
}

/* On both sides: then it is one copy of region[0] * region[1] * region[2] bytes. */
static inline bool tsl_copy_is_linear(const struct tsl_copy *copy)
{
    return tsl_place_is_linear(&copy->dst, copy->region) && tsl_place_is_linear(&copy->src, copy->region);
}

/* Bytes from the box's first to behind its last. */
static inline size_t tsl_place_span(const struct tsl_place *place, const size_t region[3])
{
    size_t row = region[1] > 1 ? (region[1] - 1) * place->row_pitch : 0;
    size_t slice = region[2] > 1 ? (region[2] - 1) * place->slice_pitch : 0;

    return row + slice + region[0];
}

/* Bytes from the start of the place's memory to the first byte of a row of the box. */
static inline size_t tsl_place_row(const struct tsl_place *place, size_t row, size_t slice)
{
    return place->offset + row * place->row_pitch + slice * place->slice_pitch;
}

/* Does the fill at once, in the memory that begins at base, whatever dst says of that. */
void tsl_fill_box(void *base, const struct tsl_fill *fill);

#endif
