/* budgets: see include/extender/budgets.h. A 64-bit hash identifies an entry; equal hashes share a
 * budget. */
#include "extender/budgets.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/mutex.h"

#include <stdlib.h>

/* Associativity of the table. */
#define WAYS ((size_t)8)

struct budget {
    uint64_t key;
    uint64_t question; /* of budgets_repeat(): the last one */
    int64_t used_ms;   /* 0: free */
    int64_t next_ms;   /* of budgets_repeat(): earliest next use */
    int spent;
    bool is_of_repeats;
};

struct budgets {
    struct mutex lock;
    int64_t
        tokens_ms; /* virtual time at which it held 0 tokens; it gains one per BUDGETS_TOKEN_MS */
    struct budget entries[BUDGETS_ENTRIES]; /* sets of WAYS entries, by key */
};

struct budgets *budgets_new(void)
{
    struct budgets *budgets = MEM_NEW(struct budgets);
    mutex_init(&budgets->lock);
    budgets->tokens_ms = INT64_MIN;
    return budgets;
}

void budgets_free(struct budgets *budgets)
{
    if (!budgets)
        return;
    mutex_fini(&budgets->lock);
    free(budgets);
}

enum kind { KIND_REPEAT, KIND_KEPT, KIND_QUOTA_WAIT };

/* Each kind has its own budget per pod. Pass "" for parts that do not apply. */
static uint64_t key_of(enum kind kind, const char *uid, const char *nominee, const char *node)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    return ((hash_text(uid) * odd + hash_text(nominee)) * odd + hash_text(node)) * odd + kind;
}

/* Each rejected pod has an entry of repeats, which other kinds may replace. Losing it causes at
 * most one early retry, which the bucket bounds. */
static bool must_stay(const struct budget *entry, bool for_repeats, int64_t now_ms)
{
    return entry->used_ms > 0 && now_ms - entry->used_ms < BUDGETS_KEEP_MS &&
           (for_repeats || !entry->is_of_repeats);
}

/* NULL: entries that must stay occupy the whole set. */
static struct budget *find(struct budgets *budgets, uint64_t key, bool for_repeats, int64_t now_ms)
{
    struct budget *set = &budgets->entries[(key >> 32) % (BUDGETS_ENTRIES / WAYS) * WAYS];
    struct budget *place = NULL;
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].used_ms > 0 && set[i].key == key) {
            set[i].used_ms = now_ms;
            return &set[i];
        }
        if (!must_stay(&set[i], for_repeats, now_ms) && (!place || set[i].used_ms < place->used_ms))
            place = &set[i];
    }
    if (place)
        *place = (struct budget){.key = key, .used_ms = now_ms, .is_of_repeats = for_repeats};
    return place;
}

static bool spend(struct budgets *budgets, uint64_t key, int most, int64_t now_ms)
{
    mutex_lock(&budgets->lock);
    struct budget *entry = find(budgets, key, false, now_ms);
    const bool allowed = entry && entry->spent < most;
    if (allowed)
        entry->spent++;
    mutex_unlock(&budgets->lock);
    return allowed;
}

bool budgets_kept(struct budgets *budgets, const char *uid, const char *nominee, const char *node,
                  int64_t now_ms)
{
    const uint64_t key = key_of(KIND_KEPT, uid, nominee, node);
    return uid[0] && spend(budgets, key, BUDGETS_KEPT, now_ms);
}

bool budgets_quota_wait(struct budgets *budgets, const char *uid, const char *node, int64_t now_ms)
{
    const uint64_t key = key_of(KIND_QUOTA_WAIT, uid, "", node);
    return uid[0] && spend(budgets, key, BUDGETS_QUOTA_WAITS, now_ms);
}

static bool take_token(struct budgets *budgets, int64_t now_ms) REQUIRES(budgets->lock)
{
    const int64_t full_ms = now_ms - BUDGETS_TOKENS * BUDGETS_TOKEN_MS;
    if (budgets->tokens_ms < full_ms)
        budgets->tokens_ms = full_ms;
    if (now_ms - budgets->tokens_ms < BUDGETS_TOKEN_MS)
        return false;
    budgets->tokens_ms += BUDGETS_TOKEN_MS;
    return true;
}

bool budgets_token(struct budgets *budgets, int64_t now_ms)
{
    mutex_lock(&budgets->lock);
    const bool taken = take_token(budgets, now_ms);
    mutex_unlock(&budgets->lock);
    return taken;
}

static bool is_repeat(struct budgets *budgets, uint64_t key, uint64_t question, int64_t now_ms)
    REQUIRES(budgets->lock)
{
    struct budget *entry = find(budgets, key, true, now_ms);
    if (!entry)
        return false;
    const bool is_same = entry->question == question;
    entry->question = question;
    if (!is_same || now_ms < entry->next_ms || !take_token(budgets, now_ms))
        return false;
    entry->next_ms = now_ms + BUDGETS_REPEAT_GAP_MS;
    return true;
}

bool budgets_repeat(struct budgets *budgets, const char *uid, const char *resource_version,
                    uint64_t ledger_version, int64_t now_ms)
{
    if (!uid[0] || !resource_version[0])
        return false;
    /* Never 0, the value in a new entry. */
    const uint64_t question = (hash_text(resource_version) ^ ledger_version) | UINT64_C(1) << 63;
    const uint64_t key = key_of(KIND_REPEAT, uid, "", "");
    mutex_lock(&budgets->lock);
    const bool allowed = is_repeat(budgets, key, question, now_ms);
    mutex_unlock(&budgets->lock);
    return allowed;
}
