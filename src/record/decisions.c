/* decisions: see include/record/decisions.h. */
#include "record/decisions.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "base/table.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

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

/* A verb and the UID of a pod in a group. */
#define KEY_BYTES (UID_BYTES + 2)

struct slot {
    struct decision decision; /* its strings are those below */
    struct slot *prev, *next; /* the newest first */
    UT_hash_handle hh;        /* by key */
    char key[KEY_BYTES];      /* "": of no group */
    char group[NAME_BYTES + 1];
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
    size_t keep, n_used;
    struct slot *newest;
    struct slot *of_groups;
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
    HASH_CLEAR(hh, decisions->of_groups);
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
    PUT(slot, group);
    PUT(slot, node);
    PUT(slot, error);
    for (size_t i = 0; i < decision->n_best; i++)
        put(&slot->decision.best[i].node, slot->best[i], sizeof slot->best[i]);
}

static void write_key(const struct decision *decision, char key[KEY_BYTES])
{
    const bool has_group = decision->group && decision->group[0] && decision->uid;
    if (has_group)
        (void)snprintf(key, KEY_BYTES, "%c%s", 'a' + (int)decision->verb, decision->uid);
}

/* The slot that the decision gets, in no list. */
static struct slot *take_slot(struct decisions *decisions, const char *key)
    REQUIRES(decisions->lock)
{
    struct slot *slot = NULL;
    if (key[0])
        HASH_FIND_STR(decisions->of_groups, key, slot);
    if (!slot && decisions->n_used < decisions->keep)
        return &decisions->slots[decisions->n_used++];
    if (!slot)
        slot = decisions->newest->prev; /* the oldest */
    DL_DELETE(decisions->newest, slot);
    if (slot->key[0])
        HASH_DEL(decisions->of_groups, slot);
    return slot;
}

void decisions_add(struct decisions *decisions, const struct decision *decision)
{
    char key[KEY_BYTES] = "";
    if (!decisions)
        return;
    write_key(decision, key);
    mutex_lock(&decisions->lock);
    struct slot *slot = take_slot(decisions, key);
    const bool is_again = key[0] && strcmp(slot->key, key) == 0;
    const uint64_t n_repeats = is_again ? slot->decision.n_repeats + 1 : 0;
    fill(slot, decision, ++decisions->n_made);
    slot->decision.n_repeats = n_repeats;
    memcpy(slot->key, key, KEY_BYTES);
    DL_PREPEND(decisions->newest, slot);
    if (key[0])
        HASH_ADD_STR(decisions->of_groups, key, slot);
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
    copy.group = arena_strdup(arena, slot->group);
    copy.node = arena_strdup(arena, slot->node);
    copy.error = arena_strdup(arena, slot->error);
    for (size_t i = 0; i < copy.n_best; i++)
        copy.best[i].node = arena_strdup(arena, slot->best[i]);
    return copy;
}

/* A place in the list, older than what was visited. */
struct list_place {
    struct slot *slot; /* NULL: none is left */
    uint64_t number;   /* of its decision; it may have got a newer one since */
};

static struct list_place place_of(struct slot *slot)
{
    return (struct list_place){slot, slot ? slot->decision.number : 0};
}

static struct slot *find_again(const struct decisions *decisions, const struct list_place *place)
    REQUIRES(decisions->lock)
{
    struct slot *slot = place->slot;
    if (slot && slot->decision.number != place->number) {
        slot = decisions->newest;
        while (slot && slot->decision.number > place->number)
            slot = slot->next;
    }
    return slot;
}

/* Copies the matching decisions among the next BATCH older ones. */
static size_t take_batch(struct decisions *decisions, const struct decision_query *query,
                         struct list_place *place, struct slot *batch)
{
    size_t n = 0;
    mutex_lock(&decisions->lock);
    struct slot *slot =
        place->number == UINT64_MAX ? decisions->newest : find_again(decisions, place);
    for (size_t i = 0; i < BATCH && slot; i++, slot = slot->next) {
        if (is_asked_for(&slot->decision, query))
            batch[n++] = *slot;
    }
    *place = place_of(slot);
    mutex_unlock(&decisions->lock);
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
    struct list_place place = {.number = most > 0 ? UINT64_MAX : 0};
    while (place.number > 0 && n < most) {
        const size_t n_batch = take_batch(decisions, query, &place, batch);
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
