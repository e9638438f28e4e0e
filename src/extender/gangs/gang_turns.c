/* gang_turns: see gang_turns.h. */
#include "gang_turns.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_MS INT64_C(1000)
#define HOUR_S INT64_C(3600)
#define MILLI INT64_C(1000)
/* Places and nodes that are remembered of a plan; no group is larger. */
#define HASHES_MAX ((size_t)512)

const struct gang_limits GANG_LIMITS = {
    .forming_ms = 300 * SECOND_MS,
    .idle_ms = 30 * SECOND_MS,
    .plan_ms = 120 * SECOND_MS,
    .pause_ms = 10 * SECOND_MS,
    .pause_most_ms = 300 * SECOND_MS,
    .gap_ms = SECOND_MS,
    .times_cost = 20,
    .wake_soon_ms = 15 * SECOND_MS,
    .grace_ms = 600 * SECOND_MS,
    .share_milli = 250,
    .burst_s = 120,
    .hour_s = 60,
    .waiting_members = 256,
};

static const struct {
    const char *name, *text;
} WAITS[N_GANG_WAITS] = {
    [GANG_WAIT_NONE] = {"none", ""},
    [GANG_WAIT_FORMING] = {"forming", "some of its pods do not exist yet"},
    [GANG_WAIT_TURN] = {"turn", "its turn comes"},
    [GANG_WAIT_PAUSE] = {"pause", "kube-scheduler did not ask for all of its pods in time"},
    [GANG_WAIT_ROOM] = {"room", "there is not enough room for all of its pods now"},
    [GANG_WAIT_NEVER] = {"never", "it can never fit here"},
    [GANG_WAIT_SHARE] = {"share",
                         "groups would keep too many GPUs of a model at once, or its namespace "
                         "did not use such a plan lately (gangs.maxKeptShare)"},
    [GANG_WAIT_CHARGED] = {"charged", "groups of its namespace kept too many GPUs without use"},
    [GANG_WAIT_OBSERVED] = {"observed", "all of its pods fit now; groups are only observed"},
    [GANG_WAIT_BEYOND] = {"beyond", "too many pods of groups wait"},
};

static const char *const ENDS[N_GANG_ENDS] = {
    [GANG_END_NONE] = "none",
    [GANG_END_IDLE] = "member_not_offered",
    [GANG_END_LONG] = "too_long",
    [GANG_END_DISPLACED] = "displaced",
    [GANG_END_NOT_OFFERED] = "node_not_offered",
    [GANG_END_CHANGED] = "members_changed",
};

const char *gang_wait_name(enum gang_wait wait)
{
    return WAITS[wait].name;
}

const char *gang_wait_text(enum gang_wait wait)
{
    return WAITS[wait].text;
}

const char *gang_end_name(enum gang_end end)
{
    return ENDS[end];
}

struct known_hashes {
    uint64_t items[HASHES_MAX];
    size_t n;
};

/* A group's. */
struct group_turn {
    const char *namespace_; /* in texts */
    struct gang gang;       /* as last seen */
    int64_t priority;
    bool is_displaced, is_seen;
    uint64_t order; /* of the first sight */
    int64_t first_ms;
    int64_t forming_from_ms; /* 0: it is complete */
    int64_t partial_ms;      /* 0: none is bound */
    int64_t tried_ms;        /* 0: never */
    unsigned n_pauses;
    int64_t not_before_ms;
    bool is_beyond;
    enum gang_wait wait;
    bool has_plan, is_not_offered;
    int64_t began_ms, progress_ms; /* also of plans that this one replaces; 0: none */
    int64_t planned_ms, dropped_ms;
    struct gang_kept kept[GANG_MODELS_MAX];
    size_t n_kept, n_places;
    struct known_hashes offered, avoided;
    uint64_t missed; /* the last that was avoided */
    struct gang_lack lack;
    UT_hash_handle hh; /* by key */
    char texts[];      /* the key, then the namespace */
};

struct account_key {
    uint64_t namespace_, model;
};

/* GPUs of a model that a namespace keeps without a binding; of model 0: its expired plans. */
struct account {
    struct account_key key;
    int64_t level_ms; /* GPU-milliseconds */
    int64_t total;    /* GPUs of the model */
    int64_t at_ms;    /* of the level; or when a plan expired */
    UT_hash_handle hh;
};

struct gang_turns {
    struct gang_limits limits;
    struct group_turn *turns;
    struct account *accounts;
    uint64_t n_seen, n_attempts;
    bool has_strangers;   /* groups that are not known */
    int64_t seen_ms;      /* 0: never */
    int64_t wake_ms;      /* of the last gang_turns_next() */
    int64_t next_plan_ms; /* by the cost of planning; it may be begun a gap earlier */
    int64_t kept_ms;      /* GPU-milliseconds, in all */
};

struct gang_turns *gang_turns_new(void)
{
    struct gang_turns *turns = MEM_NEW(struct gang_turns);
    turns->limits = GANG_LIMITS;
    return turns;
}

static void forget(struct gang_turns *turns, struct group_turn *turn)
{
    HASH_DEL(turns->turns, turn);
    free(turn);
}

static void close_account(struct gang_turns *turns, struct account *account)
{
    HASH_DEL(turns->accounts, account);
    free(account);
}

void gang_turns_free(struct gang_turns *turns)
{
    if (!turns)
        return;
    while (turns->turns)
        forget(turns, turns->turns);
    while (turns->accounts)
        close_account(turns, turns->accounts);
    free(turns);
}

void gang_turns_limit(struct gang_turns *turns, const struct gang_limits *limits)
{
    turns->limits = *limits;
}

static struct group_turn *find(const struct gang_turns *turns, const char *key)
{
    struct group_turn *turn = NULL;
    HASH_FIND_STR(turns->turns, key, turn);
    return turn;
}

static bool add_hash(struct known_hashes *hashes, uint64_t hash)
{
    for (size_t i = 0; i < hashes->n; i++) {
        if (hashes->items[i] == hash)
            return false;
    }
    if (hashes->n == HASHES_MAX)
        return false;
    hashes->items[hashes->n++] = hash;
    return true;
}

/* ---- accounts ---- */

static void drain(const struct gang_limits *limits, struct account *account, int64_t now_ms)
{
    const int64_t past_ms = now_ms - account->at_ms;
    const int64_t drained_ms = past_ms * limits->hour_s * account->total / HOUR_S;
    account->level_ms = account->level_ms > drained_ms ? account->level_ms - drained_ms : 0;
    account->at_ms = now_ms;
}

static bool is_closed(const struct gang_turns *turns, struct account *account, int64_t now_ms)
{
    if (account->key.model == 0)
        return now_ms - account->at_ms > turns->limits.grace_ms;
    drain(&turns->limits, account, now_ms);
    return account->level_ms == 0;
}

static void close_accounts(struct gang_turns *turns, int64_t now_ms)
{
    struct account *account = NULL;
    struct account *next = NULL;
    HASH_ITER (hh, turns->accounts, account, next) {
        if (is_closed(turns, account, now_ms))
            close_account(turns, account);
    }
}

static struct account *account_of(const struct gang_turns *turns, const char *namespace_,
                                  uint64_t model)
{
    const struct account_key key = {hash_text(namespace_), model};
    struct account *account = NULL;
    HASH_FIND(hh, turns->accounts, &key, sizeof key, account);
    return account;
}

static struct account *open_account(struct gang_turns *turns, const char *namespace_,
                                    uint64_t model, int64_t now_ms)
{
    struct account *account = account_of(turns, namespace_, model);
    if (account || HASH_COUNT(turns->accounts) == GANG_ACCOUNTS_MAX)
        return account;
    account = MEM_NEW(struct account);
    account->key = (struct account_key){hash_text(namespace_), model};
    account->at_ms = now_ms;
    HASH_ADD(hh, turns->accounts, key, sizeof account->key, account);
    return account;
}

static void charge_model(struct gang_turns *turns, const struct group_turn *turn,
                         const struct gang_kept *kept, int64_t now_ms)
{
    const int64_t places = turn->n_places > 0 ? (int64_t)turn->n_places : 1;
    const int64_t gpu_ms =
        (now_ms - turns->seen_ms) * kept->gpus * (int64_t)turn->gang.n_planned / places;
    struct account *account = open_account(turns, turn->namespace_, kept->model, now_ms);
    turns->kept_ms += gpu_ms;
    if (!account)
        return;
    account->total = kept->total;
    drain(&turns->limits, account, now_ms);
    account->level_ms += gpu_ms;
}

/* For what was kept since the last sight. */
static void charge(struct gang_turns *turns, int64_t now_ms)
{
    for (const struct group_turn *turn = turns->turns; turn && turns->seen_ms > 0;
         turn = turn->hh.next) {
        for (size_t i = 0; turn->has_plan && i < turn->n_kept; i++)
            charge_model(turns, turn, &turn->kept[i], now_ms);
    }
    turns->seen_ms = now_ms;
}

/* ---- what the ledger shows ---- */

static struct group_turn *add(struct gang_turns *turns, const struct gang_sight *sight,
                              int64_t now_ms)
{
    const size_t key_size = strlen(sight->key) + 1;
    const size_t len = strlen(sight->namespace_);
    struct group_turn *turn = mem_new(sizeof *turn + key_size + len + 1);
    memcpy(turn->texts, sight->key, key_size);
    memcpy(turn->texts + key_size, sight->namespace_, len + 1);
    turn->namespace_ = turn->texts + key_size;
    turn->first_ms = now_ms;
    turn->order = ++turns->n_seen;
    HASH_ADD_KEYPTR(hh, turns->turns, turn->texts, key_size - 1, turn);
    return turn;
}

static void see(struct group_turn *turn, const struct gang_sight *sight, int64_t now_ms)
{
    const bool is_forming = gang_state_of(&sight->gang) == GANG_FORMING;
    if (turn->has_plan && sight->gang.n_bound > turn->gang.n_bound)
        turn->progress_ms = now_ms;
    turn->gang = sight->gang;
    turn->priority = sight->priority;
    turn->is_displaced = sight->is_displaced;
    turn->is_seen = true;
    if (sight->gang.n_bound == 0)
        turn->partial_ms = 0;
    else if (turn->partial_ms == 0)
        turn->partial_ms = now_ms;
    if (!is_forming)
        turn->forming_from_ms = 0;
    else if (turn->forming_from_ms == 0)
        turn->forming_from_ms = now_ms;
}

/* Of two groups, the first in the order of planning. */
static int compare(const struct group_turn *a, const struct group_turn *b)
{
    const bool a_partial = a->gang.n_bound > 0;
    const bool b_partial = b->gang.n_bound > 0;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a_partial != b_partial)
        return a_partial ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static int compare_turns(const void *a, const void *b)
{
    return compare(*(const struct group_turn *const *)a, *(const struct group_turn *const *)b);
}

/* The first groups wait; the members of others come again by themselves. All have their turns:
 * those that wait for much room would hold up the others. */
static void find_beyond(struct gang_turns *turns)
{
    size_t n = 0;
    size_t n_members = 0;
    struct group_turn **waiting = MEM_ARRAY(struct group_turn *, HASH_COUNT(turns->turns) + 1);
    for (struct group_turn *turn = turns->turns; turn; turn = turn->hh.next) {
        turn->is_beyond = false;
        if (!turn->has_plan && turn->gang.n_unbound > 0)
            waiting[n++] = turn;
    }
    qsort(waiting, n, sizeof(struct group_turn *), compare_turns);
    for (size_t i = 0; i < n; i++) {
        waiting[i]->is_beyond =
            n_members + waiting[i]->gang.n_unbound > turns->limits.waiting_members;
        n_members += waiting[i]->is_beyond ? 0 : waiting[i]->gang.n_unbound;
    }
    free(waiting);
}

/* A group that may be known: seen now, and the machine's turn of it, or NULL. */
struct turn_candidate {
    const struct gang_sight *sight;
    struct group_turn *turn;
    size_t rank; /* in its namespace */
};

static int standing(const struct turn_candidate *candidate)
{
    if (candidate->turn && candidate->turn->has_plan)
        return 0;
    if (candidate->sight->gang.n_bound > 0)
        return 1;
    return gang_state_of(&candidate->sight->gang) == GANG_FORMING ? 3 : 2;
}

/* Those that are known come first, so that they stay so. */
static int compare_ages(const struct turn_candidate *a, const struct turn_candidate *b)
{
    const uint64_t a_order = a->turn ? a->turn->order : UINT64_MAX;
    const uint64_t b_order = b->turn ? b->turn->order : UINT64_MAX;
    if (a_order != b_order)
        return a_order < b_order ? -1 : 1;
    return a->sight < b->sight ? -1 : 1; /* as in the ledger */
}

static int compare_in_namespaces(const void *a, const void *b)
{
    const struct turn_candidate *left = a;
    const struct turn_candidate *right = b;
    const int by_namespace = strcmp(left->sight->namespace_, right->sight->namespace_);
    const int by_standing = standing(left) - standing(right);
    return by_namespace ? by_namespace : by_standing ? by_standing : compare_ages(left, right);
}

static int compare_ranks(const void *a, const void *b)
{
    const struct turn_candidate *left = a;
    const struct turn_candidate *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return compare_ages(left, right);
}

/* Puts the first of each namespace first, then the second of each, and so on: so the groups of one
 * namespace, however many, take no other's turn. In a namespace those with pods missing are last.
 */
static void share_out(struct turn_candidate *candidates, size_t n)
{
    qsort(candidates, n, sizeof *candidates, compare_in_namespaces);
    for (size_t i = 1; i < n; i++) {
        const bool is_first =
            strcmp(candidates[i].sight->namespace_, candidates[i - 1].sight->namespace_) != 0;
        candidates[i].rank = is_first ? 0 : candidates[i - 1].rank + 1;
    }
    qsort(candidates, n, sizeof *candidates, compare_ranks);
}

static void forget_unseen(struct gang_turns *turns)
{
    struct group_turn *turn = NULL;
    struct group_turn *next = NULL;
    HASH_ITER (hh, turns->turns, turn, next) {
        if (!turn->is_seen && !turn->has_plan)
            forget(turns, turn);
    }
}

void gang_turns_see(struct gang_turns *turns, const struct gang_sight *sights, size_t n,
                    int64_t now_ms)
{
    struct turn_candidate *candidates = MEM_ARRAY(struct turn_candidate, n + 1);
    charge(turns, now_ms);
    close_accounts(turns, now_ms);
    for (struct group_turn *turn = turns->turns; turn; turn = turn->hh.next)
        turn->is_seen = false;
    for (size_t i = 0; i < n; i++)
        candidates[i] = (struct turn_candidate){&sights[i], find(turns, sights[i].key), 0};
    if (n > GANG_TURNS_MAX)
        share_out(candidates, n);
    turns->has_strangers = n > GANG_TURNS_MAX;
    n = n < GANG_TURNS_MAX ? n : GANG_TURNS_MAX;
    for (size_t i = 0; i < n; i++) {
        if (candidates[i].turn)
            see(candidates[i].turn, candidates[i].sight, now_ms);
    }
    forget_unseen(turns);
    for (size_t i = 0; i < n; i++) {
        if (!candidates[i].turn)
            see(add(turns, candidates[i].sight, now_ms), candidates[i].sight, now_ms);
    }
    free(candidates);
    find_beyond(turns);
}

/* ---- the end of plans ---- */

/* Whether its namespace may keep no more of a model for another tick. */
static bool is_spent(const struct gang_turns *turns, const struct group_turn *turn)
{
    const struct gang_limits *limits = &turns->limits;
    for (size_t i = 0; i < turn->n_kept; i++) {
        const struct account *account = account_of(turns, turn->namespace_, turn->kept[i].model);
        if (account &&
            account->level_ms > (limits->burst_s * SECOND_MS - limits->gap_ms) * account->total)
            return true;
    }
    return false;
}

static enum gang_end end_of(const struct gang_turns *turns, const struct group_turn *turn,
                            int64_t now_ms)
{
    const struct gang_limits *limits = &turns->limits;
    if (!turn->is_seen)
        return GANG_END_CHANGED;
    if (gang_state_of(&turn->gang) == GANG_RUNNING)
        return GANG_END_NONE; /* its last bindings are under way */
    if (now_ms - turn->began_ms >= limits->plan_ms)
        return GANG_END_LONG;
    if (is_spent(turns, turn))
        return GANG_END_LONG;
    if (now_ms - turn->progress_ms >= limits->idle_ms)
        return GANG_END_IDLE;
    if (turn->is_displaced)
        return GANG_END_DISPLACED;
    if (turn->gang.n_planned < gang_n_missing(&turn->gang))
        return GANG_END_CHANGED;
    if (turn->is_not_offered && now_ms - turn->planned_ms >= limits->gap_ms)
        return GANG_END_NOT_OFFERED;
    return GANG_END_NONE;
}

/* Doubles. */
static int64_t pause_ms(const struct gang_limits *limits, unsigned n_pauses)
{
    int64_t pause_ms = limits->pause_ms;
    for (unsigned i = 0; i < n_pauses && pause_ms < limits->pause_most_ms; i++)
        pause_ms *= 2;
    return pause_ms < limits->pause_most_ms ? pause_ms : limits->pause_most_ms;
}

static void expire(struct gang_turns *turns, struct group_turn *turn, int64_t now_ms)
{
    struct account *account = open_account(turns, turn->namespace_, 0, now_ms);
    if (account)
        account->at_ms = now_ms;
    turn->not_before_ms = now_ms + pause_ms(&turns->limits, turn->n_pauses++);
    turn->began_ms = turn->progress_ms = 0;
}

static struct gang_step drop(struct gang_turns *turns, struct group_turn *turn, enum gang_end why,
                             int64_t now_ms)
{
    turn->has_plan = turn->is_not_offered = false;
    turn->dropped_ms = now_ms;
    turn->gang.n_planned = 0;
    turn->wait = GANG_WAIT_TURN;
    if (why == GANG_END_IDLE || why == GANG_END_LONG)
        expire(turns, turn, now_ms);
    return (struct gang_step){.next = GANG_DROP, .key = turn->texts, .why = why};
}

/* ---- whose turn it is ---- */

static bool is_overdue(const struct gang_turns *turns, const struct group_turn *turn,
                       int64_t now_ms)
{
    return turn->forming_from_ms > 0 && now_ms - turn->forming_from_ms >= turns->limits.forming_ms;
}

static bool may_be_planned(const struct gang_turns *turns, const struct group_turn *turn,
                           int64_t now_ms)
{
    const enum gang_state state = gang_state_of(&turn->gang);
    return !turn->has_plan && turn->is_seen && (state == GANG_WAITING || state == GANG_PARTIAL) &&
           turn->not_before_ms <= now_ms &&
           (turn->tried_ms == 0 || now_ms - turn->tried_ms >= turns->limits.gap_ms);
}

static int64_t waits_since_ms(const struct group_turn *turn)
{
    return turn->tried_ms > turn->first_ms ? turn->tried_ms : turn->first_ms;
}

static bool waits_longer(const struct group_turn *a, const struct group_turn *b)
{
    if (waits_since_ms(a) != waits_since_ms(b))
        return waits_since_ms(a) < waits_since_ms(b);
    return a->tried_ms != b->tried_ms ? a->tried_ms < b->tried_ms : compare(a, b) < 0;
}

/* The first in order, so that it gets room that comes free. But every other attempt is of the group
 * that has waited longest for one, if not all have one in time: groups without room hold up no
 * others. */
static struct group_turn *next_turn(struct gang_turns *turns, int64_t now_ms)
{
    struct group_turn *first = NULL;
    struct group_turn *oldest = NULL;
    for (struct group_turn *turn = turns->turns; turn; turn = turn->hh.next) {
        if (!may_be_planned(turns, turn, now_ms))
            continue;
        if (!first || compare(turn, first) < 0)
            first = turn;
        if (!oldest || waits_longer(turn, oldest))
            oldest = turn;
    }
    turns->n_attempts += first != NULL;
    const bool is_late = first && now_ms - waits_since_ms(oldest) >= 2 * turns->limits.gap_ms;
    return is_late && turns->n_attempts % 2 == 0 ? oldest : first;
}

/* A plan that a new leader finds, or that the machine has forgotten. */
static bool is_strange(const struct group_turn *turn)
{
    return !turn->has_plan && turn->gang.n_planned > 0;
}

/* Whether the group's next plan replaces its last one: with its time, and without the nodes that
 * were not offered. Later they may be. */
static bool goes_on(const struct gang_turns *turns, const struct group_turn *turn, int64_t now_ms)
{
    return turn->began_ms > 0 && now_ms - turn->dropped_ms < turns->limits.idle_ms;
}

struct gang_step gang_turns_next(struct gang_turns *turns, int64_t now_ms, int64_t wake_ms)
{
    turns->wake_ms = wake_ms;
    for (struct group_turn *turn = turns->turns; turn; turn = turn->hh.next) {
        const enum gang_end why = turn->has_plan ? end_of(turns, turn, now_ms) : GANG_END_NONE;
        if (why != GANG_END_NONE)
            return drop(turns, turn, why, now_ms);
        if (is_strange(turn))
            return drop(turns, turn, GANG_END_CHANGED, now_ms);
    }
    const struct gang_step rest = {.next = GANG_REST};
    if (turns->next_plan_ms >= now_ms + turns->limits.gap_ms ||
        wake_ms - now_ms > turns->limits.wake_soon_ms)
        return rest;
    struct group_turn *turn = next_turn(turns, now_ms);
    if (!turn)
        return rest;
    turn->tried_ms = now_ms;
    if (!goes_on(turns, turn, now_ms))
        turn->avoided.n = 0;
    return (struct gang_step){.next = GANG_PLAN, .key = turn->texts};
}

/* ---- plans ---- */

static int64_t kept_of(const struct group_turn *turn, uint64_t model)
{
    int64_t gpus = 0;
    for (size_t i = 0; turn->has_plan && i < turn->n_kept; i++) {
        if (turn->kept[i].model == model)
            gpus += turn->kept[i].gpus;
    }
    return gpus;
}

static bool is_within_share(const struct gang_turns *turns, const struct gang_kept *kept)
{
    int64_t sum = kept->gpus;
    for (const struct group_turn *turn = turns->turns; turn; turn = turn->hh.next)
        sum += kept_of(turn, kept->model);
    return sum * MILLI <= kept->total * turns->limits.share_milli;
}

static bool has_any_plan(const struct gang_turns *turns)
{
    const struct group_turn *turn = turns->turns;
    while (turn && !turn->has_plan)
        turn = turn->hh.next;
    return turn;
}

/* A larger plan is made alone. */
static bool may_exceed_share(const struct gang_turns *turns, const struct group_turn *turn,
                             int64_t now_ms)
{
    const struct account *expired = account_of(turns, turn->namespace_, 0);
    return !has_any_plan(turns) && !(expired && now_ms - expired->at_ms < turns->limits.grace_ms);
}

/* Whether the namespace may keep that much until the plan ends unused. A first plan may always be
 * made. */
static bool can_afford(struct gang_turns *turns, const struct group_turn *turn,
                       const struct gang_kept *kept, int64_t now_ms)
{
    const struct gang_limits *limits = &turns->limits;
    struct account *account = open_account(turns, turn->namespace_, kept->model, now_ms);
    if (!account)
        return false;
    account->total = kept->total;
    drain(limits, account, now_ms);
    return account->level_ms == 0 || account->level_ms + kept->gpus * limits->idle_ms <=
                                         limits->burst_s * SECOND_MS * kept->total;
}

static enum gang_wait judge(struct gang_turns *turns, const struct group_turn *turn,
                            const struct gang_kept *kept, size_t n_kept, int64_t now_ms)
{
    bool is_within = true;
    if (n_kept > GANG_MODELS_MAX)
        return GANG_WAIT_SHARE;
    for (size_t i = 0; i < n_kept; i++) {
        if (!can_afford(turns, turn, &kept[i], now_ms))
            return GANG_WAIT_CHARGED;
        is_within &= is_within_share(turns, &kept[i]);
    }
    return is_within || may_exceed_share(turns, turn, now_ms) ? GANG_WAIT_NONE : GANG_WAIT_SHARE;
}

static void begin_plan(struct gang_turns *turns, struct group_turn *turn,
                       const struct gang_kept *kept, size_t n_kept, int64_t now_ms)
{
    const bool replaces = goes_on(turns, turn, now_ms);
    turn->has_plan = true;
    turn->is_beyond = false;
    turn->lack = (struct gang_lack){0};
    turn->planned_ms = now_ms;
    turn->n_kept = n_kept;
    if (n_kept > 0)
        memcpy(turn->kept, kept, n_kept * sizeof *kept);
    turn->n_places = turn->gang.n_planned = gang_n_missing(&turn->gang);
    if (replaces)
        return;
    turn->began_ms = now_ms;
    turn->progress_ms = turns->wake_ms > now_ms ? turns->wake_ms : now_ms;
    turn->offered.n = 0;
    turn->missed = 0;
}

enum gang_wait gang_turns_allow(struct gang_turns *turns, const char *key,
                                const struct gang_kept *kept, size_t n_kept, int64_t now_ms)
{
    struct group_turn *turn = find(turns, key);
    if (!turn)
        return GANG_WAIT_ROOM;
    turn->wait = judge(turns, turn, kept, n_kept, now_ms);
    if (turn->wait == GANG_WAIT_NONE)
        begin_plan(turns, turn, kept, n_kept, now_ms);
    return turn->wait;
}

void gang_turns_failed(struct gang_turns *turns, const char *key, enum gang_wait why)
{
    struct group_turn *turn = find(turns, key);
    if (!turn)
        return;
    turn->has_plan = false;
    turn->gang.n_planned = 0;
    turn->wait = why;
}

void gang_turns_lacks(struct gang_turns *turns, const char *key, const struct gang_lack *lack)
{
    struct group_turn *turn = find(turns, key);
    if (turn)
        turn->lack = *lack;
}

void gang_turns_cost(struct gang_turns *turns, int64_t now_ms, int64_t cost_ms)
{
    const int64_t from_ms = turns->next_plan_ms > now_ms ? turns->next_plan_ms : now_ms;
    turns->next_plan_ms = from_ms + cost_ms * turns->limits.times_cost;
}

void gang_turns_offered(struct gang_turns *turns, const char *key, uint64_t uid, int64_t now_ms)
{
    struct group_turn *turn = find(turns, key);
    if (turn && turn->has_plan && add_hash(&turn->offered, uid))
        turn->progress_ms = now_ms;
}

void gang_turns_not_offered(struct gang_turns *turns, const char *key, uint64_t node)
{
    struct group_turn *turn = find(turns, key);
    if (turn && turn->has_plan && add_hash(&turn->avoided, node))
        turn->is_not_offered = true;
    if (turn && turn->has_plan)
        turn->missed = node;
}

bool gang_turns_avoids(const struct gang_turns *turns, const char *key, uint64_t node)
{
    const struct group_turn *turn = find(turns, key);
    for (size_t i = 0; turn && i < turn->avoided.n; i++) {
        if (turn->avoided.items[i] == node)
            return true;
    }
    return false;
}

/* ---- what is said ---- */

static enum gang_wait wait_of(const struct gang_turns *turns, const struct group_turn *turn)
{
    if (turn->has_plan)
        return GANG_WAIT_NONE;
    if (turn->forming_from_ms > 0)
        return GANG_WAIT_FORMING;
    if (turn->is_beyond)
        return GANG_WAIT_BEYOND;
    if (turn->not_before_ms > turns->seen_ms)
        return GANG_WAIT_PAUSE;
    return turn->wait == GANG_WAIT_NONE ? GANG_WAIT_TURN : turn->wait;
}

static int64_t ends_ms(const struct gang_turns *turns, const struct group_turn *turn)
{
    const int64_t idle_ms = turn->progress_ms + turns->limits.idle_ms;
    const int64_t plan_ms = turn->began_ms + turns->limits.plan_ms;
    return idle_ms < plan_ms ? idle_ms : plan_ms;
}

struct gang_turn gang_turns_find(const struct gang_turns *turns, const char *key)
{
    const struct group_turn *turn = find(turns, key);
    if (!turn && turns->has_strangers)
        return (struct gang_turn){.treatment = GANG_BEYOND, .wait = GANG_WAIT_BEYOND};
    if (!turn)
        return (struct gang_turn){0};
    const bool is_ordinary = is_overdue(turns, turn, turns->seen_ms);
    const enum gang_wait wait = wait_of(turns, turn);
    return (struct gang_turn){
        .treatment = is_ordinary       ? GANG_ORDINARY
                     : turn->is_beyond ? GANG_BEYOND
                                       : GANG_BY_STATE,
        .wait = wait,
        .tried_ms = turn->tried_ms,
        .since_ms = turn->first_ms,
        .not_before_ms = wait == GANG_WAIT_PAUSE ? turn->not_before_ms : 0,
        .ends_ms = turn->has_plan ? ends_ms(turns, turn) : 0,
        .partial_ms = turn->partial_ms,
        .missed = turn->missed,
        .lack = &turn->lack,
    };
}

int64_t gang_turns_kept_s(const struct gang_turns *turns)
{
    return turns->kept_ms / SECOND_MS;
}
