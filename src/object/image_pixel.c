/* Colors as pixels (OpenCL 3.0, 8.3): rounded to the nearest, saturated. */
#include "object/image.h"

#include <math.h>
#include <string.h>

/* The color component (red, green, blue, alpha: 0 to 3) of each channel in memory; -1: no more channels. */
static void channels_of(cl_channel_order order, int channels[4])
{
    static const struct {
        cl_channel_order order;
        int channels[4];
    } orders[] = {
        {CL_A, {3, -1, -1, -1}},  {CL_RA, {0, 3, -1, -1}}, {CL_BGRA, {2, 1, 0, 3}},
        {CL_sBGRA, {2, 1, 0, 3}}, {CL_ARGB, {3, 0, 1, 2}}, {CL_ABGR, {3, 2, 1, 0}},
    };
    cl_uint n = tsl_image_channels(order);
    for (int i = 0; i < 4; i++)
        channels[i] = i < (int)n ? i : -1;
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
        if (orders[i].order == order)
            memcpy(channels, orders[i].channels, sizeof(orders[i].channels));
}

static bool is_srgb(cl_channel_order order)
{
    return order == CL_sRGB || order == CL_sRGBx || order == CL_sRGBA || order == CL_sBGRA;
}

static double to_srgb(double linear)
{
    if (!(linear > 0))
        return 0;
    if (linear < 0.0031308)
        return 12.92 * linear;
    return linear < 1 ? 1.055 * pow(linear, 1 / 2.4) - 0.055 : 1;
}

static long saturate(double value, long low, long high)
{
    if (isnan(value))
        return 0;
    value = nearbyint(value); /* To the nearest, ties to even: the default rounding of a process. */
    return value < (double)low ? low : value > (double)high ? high : (long)value;
}

static long clamp(long value, long low, long high)
{
    return value < low ? low : value > high ? high : value;
}

/* To the nearest, ties to even. */
static uint16_t to_half(float value)
{
    uint32_t bits, sign, rest, half, shift;
    memcpy(&bits, &value, sizeof(bits));
    sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits >= 0x47800000) /* 65536 and more, infinity, NaN */
        return (uint16_t)(sign | (bits > 0x7f800000 ? 0x7e00 : 0x7c00));
    if (bits < 0x33000000) /* less than half of the smallest */
        return (uint16_t)sign;
    shift = bits < 0x38800000 ? 126 - (bits >> 23) : 13;
    if (bits < 0x38800000)
        bits = (bits & 0x7fffff) | 0x800000;
    else
        bits -= 0x38000000;
    half = bits >> shift;
    rest = bits & ((1u << shift) - 1);
    if (rest > 1u << (shift - 1) || (rest == 1u << (shift - 1) && half & 1))
        half++;
    return (uint16_t)(sign | half);
}

/* One of a color's four values; the bits are an integer's or a float's. */
static float float_at(const void *color, int channel)
{
    float value;
    memcpy(&value, (const char *)color + channel * sizeof(value), sizeof(value));
    return value;
}

static cl_int int_at(const void *color, int channel)
{
    cl_int value;
    memcpy(&value, (const char *)color + channel * sizeof(value), sizeof(value));
    return value;
}

static long uint_at(const void *color, int channel)
{
    return (long)(cl_uint)int_at(color, channel);
}

/* The channel's value in the lowest bytes. Little-endian, like all machines that we run on. */
static uint32_t channel_bits(const cl_image_format *format, const void *color, int channel)
{
    float f = float_at(color, channel);
    switch (format->image_channel_data_type) {
    case CL_UNORM_INT8:
        if (is_srgb(format->image_channel_order) && channel < 3)
            return (uint32_t)saturate(to_srgb(f) * 255, 0, 255);
        return (uint32_t)saturate((double)f * 255, 0, 255);
    case CL_UNORM_INT16:
        return (uint32_t)saturate((double)f * 65535, 0, 65535);
    case CL_SNORM_INT8:
        return (uint32_t)saturate((double)f * 127, -128, 127);
    case CL_SNORM_INT16:
        return (uint32_t)saturate((double)f * 32767, -32768, 32767);
    case CL_SIGNED_INT8:
        return (uint32_t)clamp(int_at(color, channel), -128, 127);
    case CL_SIGNED_INT16:
        return (uint32_t)clamp(int_at(color, channel), -32768, 32767);
    case CL_UNSIGNED_INT8:
        return (uint32_t)clamp(uint_at(color, channel), 0, 255);
    case CL_UNSIGNED_INT16:
        return (uint32_t)clamp(uint_at(color, channel), 0, 65535);
    case CL_HALF_FLOAT:
        return to_half(f);
    default: /* CL_SIGNED_INT32, CL_UNSIGNED_INT32, CL_FLOAT */
        return (uint32_t)int_at(color, channel);
    }
}

/* Formats with several channels in one word. False: another format. */
static bool pack(const cl_image_format *format, const void *color, uint32_t *word)
{
    long five[3], ten[3];
    for (int i = 0; i < 3; i++) {
        five[i] = saturate((double)float_at(color, i) * 31, 0, 31);
        ten[i] = saturate((double)float_at(color, i) * 1023, 0, 1023);
    }
    switch (format->image_channel_data_type) {
    case CL_UNORM_SHORT_565:
        *word = (uint32_t)(five[0] << 11 | saturate((double)float_at(color, 1) * 63, 0, 63) << 5 | five[2]);
        return true;
    case CL_UNORM_SHORT_555:
        *word = (uint32_t)(five[0] << 10 | five[1] << 5 | five[2]);
        return true;
    case CL_UNORM_INT_101010:
        *word = (uint32_t)(ten[0] << 20 | ten[1] << 10 | ten[2]);
        return true;
    case CL_UNORM_INT_101010_2:
        *word = (uint32_t)(ten[0] << 22 | ten[1] << 12 | ten[2] << 2 | saturate((double)float_at(color, 3) * 3, 0, 3));
        return true;
    default:
        return false;
    }
}

void tsl_image_pixel(const cl_image_format *format, const void *color, unsigned char pixel[TSL_MAX_PIXEL])
{
    size_t n = tsl_image_channels(format->image_channel_order), size = tsl_image_element_size(format);
    int channels[4];
    uint32_t word;
    memset(pixel, 0, TSL_MAX_PIXEL);
    if (pack(format, color, &word)) {
        memcpy(pixel, &word, size);
        return;
    }
    channels_of(format->image_channel_order, channels);
    for (size_t i = 0; i < n; i++) {
        word = channel_bits(format, color, channels[i]);
        memcpy(pixel + i * (size / n), &word, size / n);
    }
}
