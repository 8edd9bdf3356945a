/* Images, for kernels that read them by texture units, and for those that don't. */
#define TEXELS
#include "../image.cl"
