/* A CUDA driver without a card: the functions that Cycles of bpy 4.5 calls, with host memory as device memory.
 *
 * Kernels do nothing, so images are black, unless SIMULATED_GPU_KERNELS names a library that runs them (kernels.cpp).
 * The names and numbers are those of NVIDIA's cuda.h.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t used[MOST_CARDS];
/* The device whose context is current in this thread, and those below it on the stack. */
static __thread int current, stack[MOST_CARDS], depth;

static int card_here(void) { return machine()->card[current]; }

/* ---- Devices */

API Result cuInit(unsigned flags) { RETURN_FAULT("cuInit", -1); return machine()->devices ? OK : NO_DEVICE; }
API Result cuDriverGetVersion(int *version) { *version = 12080; return OK; }

API Result cuDeviceGetCount(int *count) {
  RETURN_FAULT("cuDeviceGetCount", -1);
  *count = machine()->devices;
  return OK;
}

API Result cuDeviceGet(int *device, int index) {
  if (index < 0 || index >= machine()->devices) return INVALID_DEVICE;
  RETURN_FAULT("cuDeviceGet", machine()->card[index]);
  *device = index;
  return OK;
}

API Result cuDeviceGetName(char *name, int length, int device) {
  RETURN_FAULT("cuDeviceGetName", machine()->card[device]);
  report("card %d listed", machine()->card[device]);
  snprintf(name, (size_t)length, "%s", machine()->name);
  return OK;
}

/* nvidia-smi prints the same: zeros, and the number of the card. */
API Result cuDeviceGetUuid(unsigned char uuid[16], int device) {
  if (device < 0 || device >= machine()->devices) return INVALID_DEVICE;
  memset(uuid, 0, 16);
  uuid[15] = (unsigned char)machine()->card[device];
  return OK;
}

API Result cuDeviceGetAttribute(int *value, int attribute, int device) {
  if (device < 0 || device >= machine()->devices) return INVALID_DEVICE;
  switch (attribute) {
    case 1: *value = 1024; break;                            /* MAX_THREADS_PER_BLOCK */
    case 10: *value = 32; break;                             /* WARP_SIZE */
    case 16: *value = 1; break;                              /* MULTIPROCESSOR_COUNT: few, so that queues stay small */
    case 19: *value = 1; break;                              /* CAN_MAP_HOST_MEMORY */
    case 33: *value = 16 + machine()->card[device]; break;   /* PCI_BUS_ID */
    case 39: *value = 1024; break;                           /* MAX_THREADS_PER_MULTIPROCESSOR */
    case 51: *value = 32; break;                             /* TEXTURE_PITCH_ALIGNMENT */
    case 75: *value = machine()->major; break;               /* COMPUTE_CAPABILITY_MAJOR */
    case 76: *value = machine()->minor; break;               /* COMPUTE_CAPABILITY_MINOR */
    case 90: *value = 1; break;                              /* COMPUTE_PREEMPTION_SUPPORTED */
    default: *value = 0;
  }
  return OK;
}

API Result cuDeviceCanAccessPeer(int *can, int device, int peer) { *can = 0; return OK; }

/* ---- Contexts: the pointer is the number of the device, plus one */

API Result cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  *flags = 0, *active = 0;
  return OK;
}

/* Cycles looks up some functions by the names of CUDA 10. */
API Result cuDevicePrimaryCtxSetFlags(int device, unsigned flags) { return OK; }

API Result cuDevicePrimaryCtxRetain(void **context, int device) {
  RETURN_FAULT("cuDevicePrimaryCtxRetain", machine()->card[device]);
  report("card %d opened", machine()->card[device]);
  *context = (void *)(intptr_t)(device + 1);
  return OK;
}

API Result cuDevicePrimaryCtxRelease(int device) { return OK; }

API Result cuCtxPushCurrent_v2(void *context) {
  if (depth < MOST_CARDS) stack[depth++] = current;
  current = (int)(intptr_t)context - 1;
  return OK;
}

API Result cuCtxPopCurrent_v2(void **context) {
  if (context) *context = (void *)(intptr_t)(current + 1);
  if (depth) current = stack[--depth];
  return OK;
}

/* ---- The library that runs kernels (level 2) */

typedef int Launch(int device, int kernel, const char *name, size_t threads, void **arguments, char *constants,
                   size_t data_size, size_t state_offset);
typedef int Wait(int device);
static struct {
  Launch *launch;
  Wait *wait;
} runner;
static pthread_once_t runner_once = PTHREAD_ONCE_INIT;

static void load_runner(void) {
  const char *file = getenv("SIMULATED_GPU_KERNELS");
  if (!file || !*file) return;
  void *library = dlopen(file, RTLD_NOW);
  if (!library) {
    fprintf(stderr, "simulated GPU: %s\n", dlerror());
    abort();
  }
  runner.launch = (Launch *)dlsym(library, "run_kernel");
  runner.wait = (Wait *)dlsym(library, "wait_for_kernels");
}

/* Wait for the kernels of the current device, which use the same memory as the host. */
static Result finish(void) { return runner.wait ? runner.wait(current) : OK; }

/* ---- Memory: a block's header precedes it */

struct block {
  size_t size;
  int card;
  char padding[256 - sizeof(size_t) - sizeof(int)];
};

API Result cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  RETURN_FAULT("cuMemGetInfo", card_here());
  *total = machine()->memory[card_here()];
  *free_bytes = *total - used[card_here()];
  return OK;
}

API Result cuMemAlloc_v2(Pointer *pointer, size_t size) {
  int card = card_here();
  RETURN_FAULT("cuMemAlloc", card);
  pthread_mutex_lock(&lock);
  int fits = used[card] + size <= machine()->memory[card];
  if (fits) used[card] += size;
  pthread_mutex_unlock(&lock);
  if (!fits) report("card %d is out of memory", card);
  size_t rounded = (sizeof(struct block) + size + 255) / 256 * 256;
  struct block *block = fits ? aligned_alloc(256, rounded) : NULL;
  if (!block) return OUT_OF_MEMORY;
  block->size = size, block->card = card;
  *pointer = (Pointer)(block + 1);
  return OK;
}

API Result cuMemFree_v2(Pointer pointer) {
  RETURN_FAULT("cuMemFree", card_here());
  if (!pointer) return OK;
  finish();
  struct block *block = (struct block *)pointer - 1;
  pthread_mutex_lock(&lock);
  used[block->card] -= block->size;
  pthread_mutex_unlock(&lock);
  free(block);
  return OK;
}

API Result cuMemHostAlloc(void **pointer, size_t size, unsigned flags) {
  RETURN_FAULT("cuMemHostAlloc", card_here());
  *pointer = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  return *pointer ? OK : OUT_OF_MEMORY;
}

API Result cuMemFreeHost(void *pointer) { free(pointer); return OK; }

API Result cuMemHostGetDevicePointer_v2(Pointer *device, void *host, unsigned flags) {
  *device = (Pointer)host;
  return OK;
}

/* The kernels' constants (kernel_params): KernelDataGPU, pointers to arrays, IntegratorStateGPU. Their sizes differ by
   version of Cycles, and are learned from what Cycles copies: the data come first, the state is the other large part. */
static struct {
  char bytes[1 << 16];
  size_t data_size, state_offset;
} constants[MOST_CARDS];

static void learn_layout(Pointer target, size_t size) {
  Pointer start = (Pointer)constants[current].bytes;
  if (target < start || target >= start + sizeof constants->bytes) return;
  if (target == start) constants[current].data_size = size;
  else if (size > sizeof(Pointer)) constants[current].state_offset = (size_t)(target - start);
}

static Result copy(const char *function, void *target, const void *source, size_t size) {
  RETURN_FAULT(function, card_here());
  Result result = finish();
  if (!result) memcpy(target, source, size);
  return result;
}

API Result cuMemcpyHtoD_v2(Pointer target, const void *source, size_t size) {
  learn_layout(target, size);
  return copy("cuMemcpyHtoD", (void *)target, source, size);
}

static Result copy_out(const char *function, void *target, Pointer source, size_t size) {
  Result result = copy(function, target, (const void *)source, size);
  if (!result) falsify(card_here(), target, size);
  return result;
}

API Result cuMemcpyDtoH_v2(void *target, Pointer source, size_t size) {
  return copy_out("cuMemcpyDtoH", target, source, size);
}

API Result cuMemcpyHtoDAsync_v2(Pointer target, const void *source, size_t size, void *stream) {
  return copy("cuMemcpyHtoDAsync", (void *)target, source, size);
}

API Result cuMemcpyDtoHAsync_v2(void *target, Pointer source, size_t size, void *stream) {
  return copy_out("cuMemcpyDtoHAsync", target, source, size);
}

API Result cuMemsetD8Async(Pointer target, unsigned char value, size_t size, void *stream) {
  RETURN_FAULT("cuMemsetD8", card_here());
  Result result = finish();
  if (!result) memset((void *)target, value, size);
  return result;
}

API Result cuMemsetD8_v2(Pointer target, unsigned char value, size_t size) {
  return cuMemsetD8Async(target, value, size, NULL);
}

/* ---- Streams */

API Result cuStreamCreate(void **stream, unsigned flags) {
  RETURN_FAULT("cuStreamCreate", card_here());
  *stream = malloc(1);
  return OK;
}

API Result cuStreamDestroy_v2(void *stream) { free(stream); return OK; }
API Result cuStreamSynchronize(void *stream) { RETURN_FAULT("cuStreamSynchronize", card_here()); return finish(); }
API Result cuCtxSynchronize(void) { RETURN_FAULT("cuCtxSynchronize", card_here()); return finish(); }

/* ---- Modules and kernels */

struct module {
  int next; /* index of the next kernel */
};

struct kernel {
  int index; /* as in DeviceKernel of Cycles */
  char name[120];
};

/* A real driver compiles PTX once for each architecture and keeps the result in CUDA_CACHE_PATH. */
static void compile_ptx(void) {
  const char *folder = getenv("CUDA_CACHE_PATH");
  char path[4096];
  if (folder) mkdir(folder, 0755);
  snprintf(path, sizeof path, "%s/simulated-sm_%d%d", folder ? folder : "", machine()->major, machine()->minor);
  FILE *file = folder ? fopen(path, "rx") : NULL;
  report("card %d %s PTX", card_here(), file ? "loads compiled" : "compiles");
  if (!file && folder) file = fopen(path, "wx");
  if (file) fclose(file);
}

API Result cuModuleLoadData(void **module, const void *image) {
  RETURN_FAULT("cuModuleLoadData", card_here());
  pthread_once(&runner_once, load_runner);
  if (memcmp(image, "\177ELF", 4)) compile_ptx();
  else report("card %d loads a cubin", card_here());
  *module = calloc(1, sizeof(struct module));
  return *module ? OK : OUT_OF_MEMORY;
}

API Result cuModuleUnload(void *module) { free(module); return OK; }

API Result cuModuleGetGlobal_v2(Pointer *pointer, size_t *size, void *module, const char *name) {
  RETURN_FAULT("cuModuleGetGlobal", card_here());
  *pointer = (Pointer)constants[current].bytes;
  if (size) *size = sizeof constants->bytes;
  return OK;
}

/* Cycles asks for its kernels in the order of DeviceKernel. It leaves out the mega kernel, which comes before
   queued_paths_array; Blender 5.2 leaves out another one there. */
API Result cuModuleGetFunction(void **function, struct module *module, const char *name) {
  RETURN_FAULT("cuModuleGetFunction", card_here());
  if (!strcmp(name, "kernel_gpu_integrator_queued_paths_array")) module->next += module->next >= 17 ? 2 : 1;
  struct kernel *kernel = malloc(sizeof *kernel); /* lives as long as the process */
  if (!kernel) return OUT_OF_MEMORY;
  kernel->index = module->next++;
  snprintf(kernel->name, sizeof kernel->name, "%s", name);
  *function = kernel;
  return OK;
}

API Result cuFuncSetCacheConfig(void *function, int config) { return OK; }

API Result cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function, void *callback, size_t memory,
                                            int limit) {
  *grid = 1, *block = 64;
  return OK;
}

API Result cuLaunchKernel(struct kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments,
                          void **extra) {
  RETURN_FAULT("cuLaunchKernel", card_here());
  report("card %d runs %s", card_here(), kernel->name);
  if (!runner.launch) return OK;
  pthread_mutex_lock(&lock);
  Result result = runner.launch(current, kernel->index, kernel->name, (size_t)grid_x * block_x, arguments,
                                constants[current].bytes, constants[current].data_size,
                                constants[current].state_offset);
  pthread_mutex_unlock(&lock);
  return result;
}

/* ---- Not simulated: 3D images */

API Result cuArray3DCreate_v2(void) { return NOT_SUPPORTED; }
API Result cuArrayDestroy(void) { return NOT_SUPPORTED; }
API Result cuMemcpy3D_v2(void) { return NOT_SUPPORTED; }
