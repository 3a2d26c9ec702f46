/* As much of NVIDIA's management library as Ray needs to count the cards. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>

enum { NVML_NOT_FOUND = 6 };

/* SIMULATED_GPU_LISTED: the number that this library and nvidia-smi report, if it differs from that of the driver. */
static int listed(void) {
  const char *text = getenv("SIMULATED_GPU_LISTED");
  return text && *text ? atoi(text) : machine()->installed;
}

API int nvmlInit_v2(void) { return OK; }
API int nvmlInitWithFlags(unsigned flags) { return OK; }
API int nvmlShutdown(void) { return OK; }
API const char *nvmlErrorString(int code) { return "simulated error"; }

API int nvmlDeviceGetCount_v2(unsigned *count) {
  *count = 0;
  for (int card = 0; card < listed(); card++) *count += !vanished(card);
  return OK;
}

API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
  *handle = (void *)(uintptr_t)(index + 1);
  return (int)index < listed() ? OK : NVML_NOT_FOUND;
}

API int nvmlDeviceGetName(void *handle, char *name, unsigned length) {
  snprintf(name, length, "%s", machine()->name);
  return OK;
}
