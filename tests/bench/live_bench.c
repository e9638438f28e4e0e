/* live_bench: see live_bench.h. */
#include "live_bench.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_EVERY 64

void live_bench_list(struct inventory *inventory, enum cluster_kind kind, size_t n,
                     json_t *(*make)(size_t i))
{
    const struct reflector_store store = inventory_store(inventory, kind);
    const struct reflector_status status = {.synced = true, .fresh_ms = clock_ms()};
    store.list_begin(store.context);
    for (size_t i = 0; i < n; i++) {
        json_t *object = make(i);
        store.upsert(store.context, object);
        json_decref(object);
        if (i % FLUSH_EVERY == 0)
            store.flush(store.context, &status);
    }
    store.list_end(store.context);
    store.flush(store.context, &status);
}

double live_bench_status_mib(const char *name)
{
    char line[256];
    double kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtod(line + strlen(name), NULL);
    }
    if (file)
        (void)fclose(file);
    return kib / 1024;
}
