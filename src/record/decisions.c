/* decisions: see include/record/decisions.h. */
#include "record/decisions.h"
#include "base/mem.h"
#include "base/mutex.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACE_BYTES 63
#define NAME_BYTES 253
#define UID_BYTES 63
/* Decisions copied per hold of the lock. */
#define BATCH ((size_t)64)

static const char *const VERBS[N_DECISION_VERBS] = {
    [DECISION_FILTER] = "filter",
    [DECISION_PRIORITIZE] = "prioritize",
    [DECISION_PREEMPT] = "preempt",
    [DECISION_BIND] = "bind",
};

struct slot {
    struct decision decision; /* its strings are those below */
    char namespace_[NAMESPACE_BYTES + 1];
    char name[NAME_BYTES + 1];
    char uid[UID_BYTES + 1];
    char node[NAME_BYTES + 1];
    char error[DECISION_ERROR_BYTES + 1];
    char best[DECISION_BEST_MAX][NAME_BYTES + 1];
};

struct decisions {
    struct mutex lock; /* guards all below; innermost */
    uint64_t n_made;
    size_t keep;
    struct slot slots[];
};

struct decisions *decisions_new(size_t keep)
{
    assert(keep <= DECISIONS_KEEP_MAX);
    if (keep == 0)
        return NULL;
    struct decisions *decisions = mem_new(sizeof *decisions + keep * sizeof(struct slot));
    decisions->keep = keep;
    mutex_init(&decisions->lock);
    return decisions;
}

void decisions_free(struct decisions *decisions)
{
    if (!decisions)
        return;
    mutex_fini(&decisions->lock);
    free(decisions);
}

size_t decisions_keep(const struct decisions *decisions)
{
    return decisions ? decisions->keep : 0;
}

/* Truncates at a character boundary. */
static void put(const char **text, char *target, size_t size)
{
    const char *source = *text ? *text : "";
    size_t len = strnlen(source, size);
    if (len == size) {
        len = size - 1;
        while (len > 0 && ((unsigned char)source[len] & 0xc0) == 0x80)
            len--;
    }
    *text = memcpy(target, source, len);
    target[len] = '\0';
}

#define PUT(slot, member) put(&(slot)->decision.member, (slot)->member, sizeof(slot)->member)

static void fill(struct slot *slot, const struct decision *decision, uint64_t number)
{
    slot->decision = *decision;
    slot->decision.number = number;
    PUT(slot, namespace_);
    PUT(slot, name);
    PUT(slot, uid);
    PUT(slot, node);
    PUT(slot, error);
    for (size_t i = 0; i < decision->n_best; i++)
        put(&slot->decision.best[i].node, slot->best[i], sizeof slot->best[i]);
}

void decisions_add(struct decisions *decisions, const struct decision *decision)
{
    if (!decisions)
        return;
    mutex_lock(&decisions->lock);
    const uint64_t number = ++decisions->n_made;
    fill(&decisions->slots[number % decisions->keep], decision, number);
    mutex_unlock(&decisions->lock);
}

static bool has_node(const struct decision *decision, const char *node)
{
    for (size_t i = 0; i < decision->n_best; i++) {
        if (strcmp(decision->best[i].node, node) == 0)
            return true;
    }
    return strcmp(decision->node, node) == 0;
}

static bool is_asked_for(const struct decision *decision, const struct decision_query *query)
{
    return (query->verb == N_DECISION_VERBS || query->verb == decision->verb) &&
           (!query->would_differ || decision->would_differ) &&
           (!query->name || strcmp(query->name, decision->name) == 0) &&
           (!query->node || has_node(decision, query->node)) &&
           (!query->namespace_ || strcmp(query->namespace_, decision->namespace_) == 0);
}

static struct decision copy(const struct slot *slot, struct arena *arena)
{
    struct decision copy = slot->decision;
    copy.namespace_ = arena_strdup(arena, slot->namespace_);
    copy.name = arena_strdup(arena, slot->name);
    copy.uid = arena_strdup(arena, slot->uid);
    copy.node = arena_strdup(arena, slot->node);
    copy.error = arena_strdup(arena, slot->error);
    for (size_t i = 0; i < copy.n_best; i++)
        copy.best[i].node = arena_strdup(arena, slot->best[i]);
    return copy;
}

/* Copies the matching decisions among the next BATCH older ones, starting at *number. Sets *number
 * to the next one; 0: none is left. */
static size_t take_batch(struct decisions *decisions, const struct decision_query *query,
                         uint64_t *number, struct slot *batch)
{
    size_t n = 0;
    mutex_lock(&decisions->lock);
    const uint64_t n_made = decisions->n_made;
    const uint64_t oldest = n_made > decisions->keep ? n_made - decisions->keep + 1 : 1;
    uint64_t at = *number < n_made ? *number : n_made;
    for (size_t i = 0; i < BATCH && at >= oldest; i++, at--) {
        const struct slot *slot = &decisions->slots[at % decisions->keep];
        if (is_asked_for(&slot->decision, query))
            batch[n++] = *slot;
    }
    mutex_unlock(&decisions->lock);
    *number = at >= oldest ? at : 0;
    return n;
}

size_t decisions_find(struct decisions *decisions, const struct decision_query *query,
                      struct arena *arena, struct decision **ret_found)
{
    const size_t keep = decisions_keep(decisions);
    const size_t most = query->limit < keep ? query->limit : keep;
    struct decision *found = ARENA_ARRAY(arena, struct decision, most);
    struct slot *batch CLEANUP(mem_free_ptr) = MEM_ARRAY(struct slot, BATCH);
    size_t n = 0;
    uint64_t number = most > 0 ? UINT64_MAX : 0;
    while (number > 0 && n < most) {
        const size_t n_batch = take_batch(decisions, query, &number, batch);
        for (size_t i = 0; i < n_batch && n < most; i++)
            found[n++] = copy(&batch[i], arena);
    }
    *ret_found = found;
    return n;
}

const char *decision_verb_name(enum decision_verb verb)
{
    return VERBS[verb];
}

enum decision_verb decision_verb_of(const char *name)
{
    enum decision_verb verb = 0;
    while (verb < N_DECISION_VERBS && strcmp(name, VERBS[verb]) != 0)
        verb++;
    return verb;
}
