/*
 * sim: reflectors, ledger and binds against a model of the API server, in simulated time.
 *
 *     sim --seeds FROM..TO  each seed is a minute of burst with faults, and the quiet after it
 *     sim --groups FROM..TO those seeds of them that have groups of pods
 *     sim --seed N --trace  repeats one seed exactly, with a trace of its events
 *     sim --scenes          runs all scenes (scenes.h), each by the rules of 1.36 (0) and 1.31 (1)
 *     sim --scene NAME/0 --trace
 *
 * A failing seed is printed with its fault and the command that replays it; the exit status is 1.
 * CONTRIBUTING.md states the properties checked, and how many seeds run when.
 */
#include "base/log.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct order {
    unsigned long long from, to;
    bool traced, groups_only;
};

static int usage(void)
{
    (void)fprintf(stderr,
                  "usage: sim --seeds|--groups FROM..TO | sim --seed N [--trace] | sim --scenes | "
                  "sim --scene NAME/N [--trace]\n");
    return 2;
}

static bool read_order(int argc, char **argv, struct order *ret_order)
{
    struct order order = {.traced = argc == 4 && strcmp(argv[3], "--trace") == 0};
    char *end = NULL;
    if (argc < 3 || argc > 4 || (argc == 4 && !order.traced))
        return false;
    order.from = strtoull(argv[2], &end, 10);
    order.to = order.from;
    order.groups_only = strcmp(argv[1], "--groups") == 0;
    if (strcmp(argv[1], "--seeds") == 0 || order.groups_only) {
        if (strncmp(end, "..", 2) != 0)
            return false;
        order.to = strtoull(end + 2, &end, 10);
    } else if (strcmp(argv[1], "--seed") != 0) {
        return false;
    }
    *ret_order = order;
    return *end == '\0' && end != argv[2];
}

static bool run(const char *program, unsigned long long seed, bool traced)
{
    struct world *world = calloc(1, sizeof *world);
    if (!world)
        abort();
    world->seed = seed;
    world->traced = traced;
    world_run(world);
    const bool fine = !world->failed;
    if (!fine)
        (void)printf("seed %llu: at %lld ms: %s\n  again: %s --seed %llu --trace\n", seed,
                     (long long)world_now(world), world->failure, program, seed);
    free(world);
    return fine;
}

static bool run_scene(const struct scene *scene, unsigned rules, bool traced)
{
    struct world *world = calloc(1, sizeof *world);
    if (!world)
        abort();
    world->scene = scene;
    world->seed = rules;
    world->traced = traced;
    world_run(world);
    const bool fine = !world->failed;
    if (!fine)
        (void)printf("scene %s/%u: at %lld ms: %s\n", scene->name, rules,
                     (long long)world_now(world), world->failure);
    free(world);
    return fine;
}

/* One scene by its name, or all: NULL. */
static int run_scenes(const char *name, bool traced)
{
    unsigned n = 0;
    unsigned n_failed = 0;
    for (size_t i = 0; scenes_get(i); i++) {
        for (unsigned rules = 0; rules < 2; rules++) {
            char full[64];
            (void)snprintf(full, sizeof full, "%s/%u", scenes_get(i)->name, rules);
            if (name && strcmp(name, full) != 0)
                continue;
            n++;
            n_failed += !run_scene(scenes_get(i), rules, traced);
        }
    }
    (void)printf("%u scenes, %u failed\n", n, n_failed);
    return n == 0 || n_failed > 0;
}

int main(int argc, char **argv)
{
    struct order order;
    unsigned long long n = 0;
    unsigned long long n_failed = 0;
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    (void)setvbuf(stdout, NULL, _IOLBF,
                  BUFSIZ); /* who waits for the first failure reads it at once */
    if (argc == 2 && strcmp(argv[1], "--scenes") == 0)
        return run_scenes(NULL, false);
    if (argc > 2 && strcmp(argv[1], "--scene") == 0)
        return run_scenes(argv[2], argc > 3);
    if (!read_order(argc, argv, &order))
        return usage();
    for (unsigned long long seed = order.from; seed <= order.to; seed++) {
        if (order.groups_only && !plan_has_groups(seed))
            continue;
        n++;
        n_failed += !run(argv[0], seed, order.traced);
    }
    (void)printf("%llu seeds, %llu failed\n", n, n_failed);
    return n_failed > 0;
}
