/* Makes Cycles' oneAPI kernels acceptable to Intel's OpenCL runtime for CPUs. Preloaded, so that these functions come
 * before those of libOpenCL.
 *
 * - The kernels are portable SPIR-V with bindless images, which CPU runtimes lack. A look-up becomes a call of
 *   sample_image or sample_image4 (textures.c), which take all images as 2D: the driver accepts no others.
 * - They are compiled without optimization: all kernels in 20 s instead of half an hour.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the SPIR-V specification and its extension SPV_INTEL_bindless_images. */
enum {
  OP_UNDEF = 1, OP_EXTENSION = 10, OP_CAPABILITY = 17, OP_FIRST_TYPE = 19, OP_TYPE_INT = 21, OP_TYPE_FLOAT = 22,
  OP_TYPE_VECTOR = 23, OP_TYPE_FUNCTION = 33, OP_FUNCTION = 54, OP_PARAMETER = 55, OP_FUNCTION_END = 56, OP_CALL = 57,
  OP_DECORATE = 71, OP_EXTRACT = 81, OP_SAMPLE = 87, OP_SAMPLE_LOD = 88, OP_FETCH = 95, OP_CONVERT_FIRST = 6529,
  OP_CONVERT_SAMPLED = 6531,
  CAPABILITY_BINDLESS = 6528, DECORATION_LINKAGE = 41, LINKAGE_IMPORT = 1, HEADER_WORDS = 5,
};

struct module {
  const uint32_t *in;
  size_t in_size; /* words */
  uint32_t *out;
  size_t out_size;
  uint32_t next_id;
  uint32_t float_type, float4_type, ulong_type;
  uint32_t function[2]; /* sample_image, sample_image4 */
  uint32_t *handle;     /* by id of a sampled image: its handle, which is the address of a struct image */
  size_t samples;
};

#define EMIT(module, op, ...)                                                                     \
  emit(module, op, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void emit(struct module *m, uint32_t op, const uint32_t *operands, size_t count) {
  m->out[m->out_size++] = (uint32_t)(count + 1) << 16 | op;
  memcpy(m->out + m->out_size, operands, count * 4);
  m->out_size += count;
}

static void collect(struct module *m) {
  for (size_t i = HEADER_WORDS; i < m->in_size && m->in[i] >> 16; i += m->in[i] >> 16) {
    const uint32_t *word = m->in + i;
    switch (word[0] & 0xffff) {
      case OP_TYPE_INT: if (word[2] == 64) m->ulong_type = word[1]; break;
      case OP_TYPE_FLOAT: if (word[2] == 32) m->float_type = word[1]; break;
      case OP_TYPE_VECTOR: if (word[2] == m->float_type && word[3] == 4) m->float4_type = word[1]; break;
      case OP_CONVERT_SAMPLED: m->handle[word[2]] = word[3]; break;
      case OP_SAMPLE_LOD: m->samples++; break;
    }
  }
}

static void import_functions(struct module *m) {
  static const char *const names[] = {"sample_image", "sample_image4"};
  for (int k = 0; k < 2; k++) {
    uint32_t words[7] = {m->function[k], DECORATION_LINKAGE};
    strcpy((char *)(words + 2), names[k]);
    words[6] = LINKAGE_IMPORT;
    emit(m, OP_DECORATE, words, 7);
  }
}

/* Declare (handle, u, v) -> float or float4. */
static void declare_functions(struct module *m) {
  for (int k = 0; k < 2; k++) {
    uint32_t result = k ? m->float4_type : m->float_type, type = m->next_id++;
    if (!result) continue;
    EMIT(m, OP_TYPE_FUNCTION, type, result, m->ulong_type, m->float_type, m->float_type);
    EMIT(m, OP_FUNCTION, result, m->function[k], 0, type);
    EMIT(m, OP_PARAMETER, m->ulong_type, m->next_id++);
    EMIT(m, OP_PARAMETER, m->float_type, m->next_id++);
    EMIT(m, OP_PARAMETER, m->float_type, m->next_id++);
    emit(m, OP_FUNCTION_END, NULL, 0);
  }
}

/* word: type, result, sampled image, coordinate, ... of a look-up */
static void call_function(struct module *m, const uint32_t *word) {
  uint32_t u = m->next_id++, v = m->next_id++;
  EMIT(m, OP_EXTRACT, m->float_type, u, word[4], 0);
  EMIT(m, OP_EXTRACT, m->float_type, v, word[4], 1);
  EMIT(m, OP_CALL, word[1], word[2], m->function[word[1] == m->float4_type], m->handle[word[3]], u, v);
}

static void rewrite(struct module *m) {
  int imported = !m->samples, declared = !m->samples;
  for (size_t i = HEADER_WORDS, length; i < m->in_size && (length = m->in[i] >> 16); i += length) {
    const uint32_t *word = m->in + i, op = word[0] & 0xffff;
    if (!imported && op >= OP_FIRST_TYPE && op <= OP_TYPE_FUNCTION) import_functions(m), imported = 1;
    if (!declared && op == OP_FUNCTION) declare_functions(m), declared = 1;
    int bindless = (op == OP_CAPABILITY && word[1] == CAPABILITY_BINDLESS) ||
                   (op == OP_EXTENSION && !strcmp((const char *)(word + 1), "SPV_INTEL_bindless_images")) ||
                   (op >= OP_CONVERT_FIRST && op <= OP_CONVERT_SAMPLED);
    if (bindless) continue;
    if (op == OP_SAMPLE_LOD && (word[1] == m->float_type || word[1] == m->float4_type))
      call_function(m, word);
    else if (op == OP_SAMPLE || op == OP_SAMPLE_LOD || op == OP_FETCH) EMIT(m, OP_UNDEF, word[1], word[2]);
    else emit(m, op, word + 1, length - 1);
  }
}

static void *next(const char *name) {
  static void *library;
  if (!library) library = dlopen("libOpenCL.so.1", RTLD_LAZY);
  void *function = library ? dlsym(library, name) : NULL;
  if (!function) {
    fprintf(stderr, "simulated GPU: no OpenCL runtime with %s\n", name);
    abort();
  }
  return function;
}

API void *clCreateProgramWithIL(void *context, const uint32_t *code, size_t size, int *error) {
  uint32_t bound = code[3];
  struct module m = {.in = code, .in_size = size / 4, .next_id = bound + 2, .function = {bound, bound + 1}};
  m.handle = calloc(bound, 4);
  collect(&m);
  m.out = malloc(size + m.samples * 64 + 1024);
  memcpy(m.out, code, HEADER_WORDS * 4);
  m.out_size = HEADER_WORDS;
  rewrite(&m);
  m.out[3] = m.next_id;
  void *(*create)(void *, const void *, size_t, int *) = next("clCreateProgramWithIL");
  void *program = create(context, m.out, m.out_size * 4, error);
  free(m.out), free(m.handle);
  return program;
}

/* The options that the SYCL runtime passes are for GPUs. */
API int clBuildProgram(void *program, unsigned count, const void *devices, const char *options, void *done, void *data) {
  int (*build)(void *, unsigned, const void *, const char *, void *, void *) = next("clBuildProgram");
  return build(program, count, devices, "-cl-opt-disable", done, data);
}

/* Ray tracing hardware, called in dead code, which only optimization would remove. */
#define UNUSED(function) \
  API void function(void) { abort(); }
UNUSED(intel_get_hit_barycentrics) UNUSED(intel_get_hit_bvh_level) UNUSED(intel_get_hit_candidate)
UNUSED(intel_get_hit_distance) UNUSED(intel_get_hit_front_face) UNUSED(intel_get_hit_geometry_id)
UNUSED(intel_get_hit_instance_id) UNUSED(intel_get_hit_instance_user_id)
UNUSED(intel_get_hit_object_to_world_transform) UNUSED(intel_get_hit_primitive_id)
UNUSED(intel_get_hit_triangle_primitive_id) UNUSED(intel_get_hit_triangle_vertices) UNUSED(intel_get_ray_direction)
UNUSED(intel_get_ray_flags) UNUSED(intel_get_ray_mask) UNUSED(intel_get_ray_origin) UNUSED(intel_get_ray_tmin)
UNUSED(intel_get_rt_global_buffer) UNUSED(intel_get_rt_stack) UNUSED(intel_has_committed_hit)
UNUSED(intel_is_traversal_done) UNUSED(intel_ray_query_abandon) UNUSED(intel_ray_query_commit_potential_hit)
UNUSED(intel_ray_query_commit_potential_hit_override) UNUSED(intel_ray_query_forward_ray)
UNUSED(intel_ray_query_init) UNUSED(intel_ray_query_start_traversal) UNUSED(intel_ray_query_sync)
