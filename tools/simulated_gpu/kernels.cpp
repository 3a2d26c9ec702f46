/* Runs kernels for driver.c on the CPU: those for oneAPI in bpy's libcycles_kernel_oneapi_aot.so, which are compiled from
 * the same sources as those for CUDA, by whatever SYCL device there is (Intel's OpenCL runtime; see opencl.c).
 */
#include <dlfcn.h>
#include <sycl/sycl.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

constexpr int LAUNCH_FAILED = 719;
constexpr size_t GLOBALS_BYTES = 4096;

/* KernelContext of Cycles' oneAPI device. */
struct Context {
  sycl::queue *queue;
  void *globals;
  int max_shaders;
};

struct Device {
  sycl::queue queue;
  char *globals;
};

using Report = void(const char *message, void *);
using SetReport = void(Report *, void *);
using Enqueue = bool(Context *, int kernel, size_t global, size_t local, unsigned features, bool raytrace, void **args);
using SuggestedSize = size_t(int kernel);

void report(const char *message, void *) { fprintf(stderr, "simulated GPU: %s\n", message); }

/* A function of the library with Cycles' kernels. */
template <typename Function>
Function *find(const char *name) {
  static void *library = dlopen(getenv("SIMULATED_GPU_CYCLES"), RTLD_NOW);
  void *found = library ? dlsym(library, name) : nullptr;
  if (found) return reinterpret_cast<Function *>(found);
  report(dlerror(), nullptr);
  abort();
}

std::map<int, Device> devices;

/* A queue and a block of constants for each device, all on the same processor. */
Device &device(int number) {
  auto found = devices.find(number);
  if (found != devices.end()) return found->second;
  find<SetReport>("oneapi_set_error_cb")(report, nullptr);
  sycl::queue queue(sycl::device(sycl::default_selector_v), sycl::property::queue::in_order());
  char *globals = static_cast<char *>(sycl::aligned_alloc_host(64, GLOBALS_BYTES, queue));
  memset(globals, 0, GLOBALS_BYTES);
  return devices.emplace(number, Device{queue, globals}).first->second;
}

/* The local sizes that Cycles uses with oneAPI; the kernels are compiled for them. */
size_t local_size(int kernel, const std::string &name) {
  auto has = [&](const char *part) { return name.find(part) != std::string::npos; };
  if (has("integrator_intersect") || has("integrator_init")) return 128;
  if (has("integrator_shade") || has("shader_eval")) return 256;
  if (has("cryptomatte")) return 512;
  size_t suggested = find<SuggestedSize>("oneapi_suggested_gpu_kernel_size")(kernel);
  return suggested ? suggested : 1024;
}

}  // namespace

extern "C" int wait_for_kernels(int number) try {
  auto found = devices.find(number);
  if (found != devices.end()) found->second.queue.wait_and_throw();
  return 0;
} catch (const sycl::exception &error) {
  report(error.what(), nullptr);
  return LAUNCH_FAILED;
}

/* constants: as Cycles lays them out for CUDA: KernelData (data_size bytes), pointers to arrays, IntegratorStateGPU (at
   state_offset). With oneAPI the pointers come first, then the address of the state, then that of KernelData. */
extern "C" int run_kernel(int number, int kernel, const char *name, size_t threads, void **arguments, char *constants,
                          size_t data_size, size_t state_offset) try {
  /* Cycles launches a kernel without work, before it has copied the constants, to reserve memory. */
  if (!threads || !data_size || !state_offset) return 0;
  Device &target = device(number);
  target.queue.wait_and_throw();
  size_t arrays = state_offset - data_size;
  char *state = constants + state_offset;
  memcpy(target.globals, constants + data_size, arrays);
  memcpy(target.globals + arrays, &state, sizeof state);
  memcpy(target.globals + arrays + sizeof state, &constants, sizeof constants);
  size_t local = local_size(kernel, name);
  Context context{&target.queue, target.globals, 0};
  size_t global = (threads + local - 1) / local * local;
  auto *enqueue = find<Enqueue>("oneapi_enqueue_kernel");
  return enqueue(&context, kernel, global, local, ~0u, false, arguments) ? 0 : LAUNCH_FAILED;
} catch (const sycl::exception &error) {
  report(error.what(), nullptr);
  return LAUNCH_FAILED;
}
