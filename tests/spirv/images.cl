/* As programs.cl, of images: out is an image of RGBA floats, in one of RGBA bytes. */
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

kernel void images(write_only image2d_t out, read_only image2d_t in, sampler_t given)
{
    int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    float2 size = convert_float2(get_image_dim(in));
    float4 sum = read_imagef(in, nearest, at - 1) + read_imagef(in, at);

    sum += read_imagef(in, given, (convert_float2(at) + 0.25f) / size);
    sum.w += get_image_width(in) * 100 + get_image_channel_order(in);
    write_imagef(out, at, sum);
}
