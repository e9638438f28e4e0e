/* facts_by_seed: random parts of facts, equal for equal seeds; and their way through a file. */
#ifndef FACTS_BY_SEED_H
#define FACTS_BY_SEED_H

#include "base/arena.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "types/facts.h"
#include "unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 1000

/* The random source. */
struct dice {
    uint64_t state;
    struct arena *arena;
};

static inline uint64_t roll(struct dice *dice, uint64_t n)
{
    dice->state = dice->state * 6364136223846793005U + 1442695040888963407U;
    return (dice->state >> 33) % n;
}

static inline bool chance(struct dice *dice)
{
    return roll(dice, 2) == 0;
}

static const char *const WORDS[] = {"a",
                                    "zone-1",
                                    "ü\"\\\n",
                                    "gpu",
                                    "",
                                    "node.example/x",
                                    "A100",
                                    "Tesla-T4",
                                    "nvidia",
                                    "0",
                                    "true",
                                    "accelerator",
                                    "nvidia.com/gpu.product"};

/* Never empty. */
static inline const char *word(struct dice *dice)
{
    return arena_printf(dice->arena, "%s%d", WORDS[roll(dice, sizeof WORDS / sizeof *WORDS)],
                        (int)roll(dice, 20));
}

static inline const char *maybe(struct dice *dice)
{
    return chance(dice) ? word(dice) : "";
}

static inline int compare_amounts(const void *a, const void *b)
{
    return strcmp(((const struct amount *)a)->resource, ((const struct amount *)b)->resource);
}

static inline struct amount *random_amounts(struct dice *dice, size_t *ret_n)
{
    static const char *const NAMES[] = {
        "cpu",         "memory",          "nvidia.com/gpu",       "ephemeral-storage",
        "amd.com/gpu", "example.com/odd", "nvidia.com/mig-1g.5gb"};
    struct amount *amounts = ARENA_ARRAY(dice->arena, struct amount, 8);
    size_t n = 0;
    amounts[n++] = (struct amount){"pods", 1};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (chance(dice))
            amounts[n++] = (struct amount){NAMES[i], 1 + (int64_t)roll(dice, 1U << 30)};
    }
    qsort(amounts, n, sizeof *amounts, compare_amounts);
    *ret_n = n;
    return amounts;
}

/* Writes and reads back, like a file. */
static inline json_t *through_text(json_t *object)
{
    struct err err;
    json_t *back = NULL;
    assert_non_null(object);
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    if (json_parse(text, strlen(text), 0, &JSON_OWN, &back, &err) < 0)
        fail_msg("%s in %s", err.text, text);
    free(text);
    return back;
}

#endif
