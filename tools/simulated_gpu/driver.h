/* What the parts of the simulated CUDA driver share. README.md says what it simulates and what it does not. */
#pragma once
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))
#define MOST_CARDS 64
#define MEBIBYTE ((size_t)1 << 20)

/* CUresult, as far as the driver answers with it by itself. */
enum { OK = 0, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, NOT_SUPPORTED = 801 };

typedef int Result;
typedef unsigned long long Pointer; /* CUdeviceptr: an address in this process */

/* The simulated machine, read once from the environment. A card is numbered as nvidia-smi does; a device is the index
   of a card in CUDA_VISIBLE_DEVICES. */
struct machine {
  int installed;                /* number of cards */
  int devices;                  /* number of visible cards */
  int card[MOST_CARDS];         /* device -> card */
  size_t memory[MOST_CARDS];    /* card -> bytes */
  int major, minor;             /* compute capability */
  const char *name;             /* of every card */
};
const struct machine *machine(void);

/* Append a line to the log, if there is one. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The error that a call of `function` on a card must return, or OK. card: -1 if the call is about no card. */
Result fault(const char *function, int card);
/* Make a copy from a card wrong, if a fault says so. */
void falsify(int card, unsigned char *bytes, size_t size);
/* Whether a card has fallen off the bus, as a fault can make it do. */
int vanished(int card);

#define RETURN_FAULT(function, card)                      \
  do {                                                    \
    Result injected = fault(function, card);              \
    if (injected) return injected;                        \
  } while (0)
