/*
 * live_bench: an inventory that is filled as by watches, and the memory of this process.
 */
#ifndef BENCH_LIVE_BENCH_H
#define BENCH_LIVE_BENCH_H

#include "inventory/live.h"

#include <jansson.h>

/* Lists n objects; make(i) returns a new reference to object i. */
void live_bench_list(struct inventory *inventory, enum cluster_kind kind, size_t n,
                     json_t *(*make)(size_t i));

/* A line of /proc/self/status ("VmRSS:"), in MiB. */
double live_bench_status_mib(const char *name);

#endif
