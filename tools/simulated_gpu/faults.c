/* The simulated machine, its log, and injected faults.
 *
 * SIMULATED_GPU_FAIL is a list of rules: FUNCTION CODE AFTER CARD TIMES, separated by spaces. The function returns the
 * code from call AFTER + 1 of each process on, on one card (-1: on all), and in TIMES processes at most (0: in all). The
 * functions of LAUNCHES count kernel launches: with `vanish`, the card is then gone, in all processes and for good; with
 * `hang`, the launch never returns; with the others, large copies from the card arrive with wrong bytes. Rules of some
 * processes and `vanish` leave files beside the log, which are how processes know of each other.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_RULES 16

struct rule {
  char function[64];
  int code, after, card, times; /* card -1: all; times 0: any number of processes */
  int calls, claimed;           /* in this process; claimed: 1 it may fail here, -1 it may not */
};

static const char *const LAUNCHES[] = {"vanish", "hang", "zero", "0xff", "random"};
/* Smaller copies are counters of Cycles: it would wait forever if they were wrong. */
#define LEAST_WRONG 1024

static struct machine here;
static struct rule rules[MOST_RULES];
static int rule_count;
static Result sticky[MOST_CARDS];
static const char *wrong[MOST_CARDS]; /* what large copies from the card hold, NULL if they are right */
static const char *log_file;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *setting(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

static void read_rules(const char *text) {
  for (int length; rule_count < MOST_RULES; text += length) {
    struct rule *r = &rules[rule_count];
    if (sscanf(text, "%63s %d %d %d %d%n", r->function, &r->code, &r->after, &r->card, &r->times, &length) < 5) break;
    rule_count++;
  }
}

/* CUDA stops reading CUDA_VISIBLE_DEVICES at the first name that it does not know. */
static void read_visible(const char *names) {
  for (int card = 0; !names && card < here.installed; card++)
    if (!vanished(card)) here.card[here.devices++] = card;
  while (names && *names && here.devices < MOST_CARDS) {
    char *end;
    long card = strtol(names, &end, 10);
    if (end == names || card < 0 || card >= here.installed || vanished((int)card)) break;
    here.card[here.devices++] = (int)card;
    names = *end == ',' ? end + 1 : NULL;
  }
}

static void read_machine(void) {
  log_file = setting("SIMULATED_GPU_LOG", NULL);
  here.installed = atoi(setting("SIMULATED_GPU_CARDS", "1"));
  if (here.installed > MOST_CARDS) here.installed = MOST_CARDS;
  here.name = setting("SIMULATED_GPU_NAME", "Simulated GPU");
  sscanf(setting("SIMULATED_GPU_ARCH", "9.0"), "%d.%d", &here.major, &here.minor);
  /* MiB per card; the last number is that of all further cards. */
  const char *memory = setting("SIMULATED_GPU_MEMORY", "4096");
  for (int card = 0; card < here.installed; card++) {
    here.memory[card] = (size_t)atol(memory) * MEBIBYTE;
    const char *comma = strchr(memory, ',');
    memory = comma ? comma + 1 : memory;
  }
  read_rules(setting("SIMULATED_GPU_FAIL", ""));
  read_visible(getenv("CUDA_VISIBLE_DEVICES"));
}

const struct machine *machine(void) {
  pthread_once(&once, read_machine);
  return &here;
}

void report(const char *format, ...) {
  machine();
  int file = log_file ? open(log_file, O_WRONLY | O_APPEND | O_CREAT, 0644) : -1;
  if (file < 0) return;
  char text[400];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  dprintf(file, "%d %s\n", (int)getpid(), text);
  close(file);
}

/* Open LOG.KIND-A-B, which is how processes know of each other; return whether that succeeded. */
static int mark(const char *kind, int a, int b, int flags) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%s-%d-%d", log_file ? log_file : "", kind, a, b);
  int file = log_file ? open(path, flags, 0644) : -1;
  if (file >= 0) close(file);
  return file >= 0;
}

int vanished(int card) { return mark("vanished", card, 0, O_RDONLY); }

/* Whether this process is among the first `times` to reach the rule. */
static int claim(struct rule *rule) {
  for (int k = 0; !rule->claimed && k < rule->times; k++)
    if (mark("fault", (int)(rule - rules), k, O_CREAT | O_EXCL)) rule->claimed = 1;
  if (!rule->claimed) rule->claimed = rule->times ? -1 : 1;
  return rule->claimed > 0;
}

/* After these errors, a real driver refuses every later call of the process on that card (cuda.h). */
static int is_sticky(Result code) {
  return code == 46 || code == 214 || code == 700 || code == 702 || code == 709 || (code >= 714 && code <= 719) ||
         code == 999;
}

static int of_launches(const char *name) {
  for (size_t k = 0; k < sizeof LAUNCHES / sizeof *LAUNCHES; k++)
    if (!strcmp(name, LAUNCHES[k])) return 1;
  return 0;
}

static Result apply(struct rule *rule, const char *function, int card) {
  int launches = of_launches(rule->function);
  if (strcmp(launches ? "cuLaunchKernel" : rule->function, function) || (rule->card >= 0 && rule->card != card)) return OK;
  if (rule->calls++ < rule->after || !claim(rule)) return OK;
  if (!launches || rule->calls == rule->after + 1) report("card %d fault %s=%d", card, rule->function, rule->code);
  if (!strcmp(rule->function, "hang"))
    for (;;) pause();
  if (!strcmp(rule->function, "vanish")) mark("vanished", card, 0, O_CREAT);
  else if (launches) {
    wrong[card] = rule->function;
    return OK;
  }
  if (card >= 0 && (launches || is_sticky(rule->code))) sticky[card] = rule->code;
  return rule->code;
}

void falsify(int card, unsigned char *bytes, size_t size) {
  static uint32_t state = 1;
  if (card < 0 || !wrong[card] || size < LEAST_WRONG) return;
  if (strcmp(wrong[card], "random")) {
    memset(bytes, strcmp(wrong[card], "zero") ? 0xff : 0, size);
    return;
  }
  for (size_t k = 0; k < size; k++) bytes[k] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
}

Result fault(const char *function, int card) {
  machine();
  if (!rule_count) return OK;
  pthread_mutex_lock(&lock);
  Result found = OK;
  if (card >= 0 && !sticky[card] && vanished(card)) sticky[card] = 999;
  if (card >= 0 && sticky[card]) found = sticky[card];
  for (int k = 0; k < rule_count && !found; k++) found = apply(&rules[k], function, card);
  pthread_mutex_unlock(&lock);
  return found;
}
