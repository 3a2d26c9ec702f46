/* Texture objects: 2D images in pitched memory. sample_image and sample_image4 are called by kernels; see opencl.c. */
#include "driver.h"

#include <immintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PITCH2D = 3 };                                     /* CUresourcetype */
enum { UINT8 = 1, UINT16 = 2, HALF = 16 };                /* CUarray_format; anything else is float */
enum { WRAP = 0, CLAMP = 1, MIRROR = 2, BORDER = 3 };     /* CUaddress_mode */

/* CUDA_RESOURCE_DESC with a resource of type PITCH2D, CUDA_TEXTURE_DESC and CUDA_MEMCPY2D, as far as they are read. */
struct resource {
  int type;
  Pointer data;
  int format;
  unsigned channels;
  size_t width, height, pitch;
};
struct lookup {
  int address[3], linear;
};
struct copy2d {
  size_t source_x, source_y;
  int source_type;
  const char *source_host;
  Pointer source_device;
  void *source_array;
  size_t source_pitch, target_x, target_y;
  int target_type;
  char *target_host, *target_device;
  void *target_array;
  size_t target_pitch, width, height;
};
struct image {
  struct resource resource;
  struct lookup lookup;
};

API Result cuMemcpy2DUnaligned_v2(const struct copy2d *copy) {
  RETURN_FAULT("cuMemcpy2DUnaligned", -1);
  for (size_t y = 0; y < copy->height; y++)
    memcpy(copy->target_device + y * copy->target_pitch, copy->source_host + y * copy->source_pitch, copy->width);
  return OK;
}

API Result cuTexObjectCreate(Pointer *texture, const struct resource *resource, const struct lookup *lookup,
                             const void *view) {
  RETURN_FAULT("cuTexObjectCreate", -1);
  if (resource->type != PITCH2D) return NOT_SUPPORTED;
  struct image *image = malloc(sizeof *image);
  if (!image) return OUT_OF_MEMORY;
  image->resource = *resource, image->lookup = *lookup;
  report("card -1 has a texture of %zu x %zu", resource->width, resource->height);
  *texture = (Pointer)image;
  return OK;
}

API Result cuTexObjectDestroy(Pointer texture) {
  free((void *)texture);
  return OK;
}

/* The index of a texel by address mode, or -1 outside of a border. */
static long address(int mode, long i, long size) {
  if (mode == BORDER) return i < 0 || i >= size ? -1 : i;
  if (mode == CLAMP) return i < 0 ? 0 : i >= size ? size - 1 : i;
  long period = mode == MIRROR ? 2 * size : size;
  i = (i % period + period) % period;
  return i < size ? i : period - 1 - i;
}

static float texel(const struct image *image, long x, long y, unsigned channel) {
  const struct resource *r = &image->resource;
  x = address(image->lookup.address[0], x, (long)r->width);
  y = address(image->lookup.address[0], y, (long)r->height);
  if (channel >= r->channels || x < 0 || y < 0) return 0;
  const char *row = (const char *)r->data + (size_t)y * r->pitch;
  size_t k = (size_t)x * r->channels + channel;
  switch (r->format) {
    case UINT8: return (float)((const unsigned char *)row)[k] / 255.0f;
    case UINT16: return (float)((const unsigned short *)row)[k] / 65535.0f;
    case HALF: return (float)((const _Float16 *)row)[k];
    default: return ((const float *)row)[k];
  }
}

static float sample(const struct image *image, float u, float v, unsigned channel) {
  if (!image) return 0;
  float x = u * (float)image->resource.width, y = v * (float)image->resource.height;
  if (!isfinite(x) || !isfinite(y)) return 0;
  if (!image->lookup.linear) return texel(image, (long)floorf(x), (long)floorf(y), channel);
  x -= 0.5f, y -= 0.5f;
  long i = (long)floorf(x), j = (long)floorf(y);
  float a = x - (float)i, b = y - (float)j;
  return (1 - b) * ((1 - a) * texel(image, i, j, channel) + a * texel(image, i + 1, j, channel)) +
         b * ((1 - a) * texel(image, i, j + 1, channel) + a * texel(image, i + 1, j + 1, channel));
}

API float sample_image(Pointer texture, float u, float v) { return sample((const struct image *)texture, u, v, 0); }

API __m128 sample_image4(Pointer texture, float u, float v) {
  const struct image *image = (const struct image *)texture;
  return _mm_set_ps(sample(image, u, v, 3), sample(image, u, v, 2), sample(image, u, v, 1), sample(image, u, v, 0));
}
