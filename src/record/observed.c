/* observed: see include/record/observed.h. */
#include "record/observed.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static const struct {
    const char *name, *text;
} MORE_REASONS[N_OBSERVED_REASONS - N_REASONS] = {
    [OBSERVED_RETRY - N_REASONS] = {"retry", "kube-scheduler would have been asked to retry"},
    [OBSERVED_UNUSABLE - N_REASONS] = {"unusable", "the data allowed no decision"},
    [OBSERVED_NOT_BEST - N_REASONS] = {"not_best", "another node was better"},
};

/* A hash of a node's name, with its verdict in the low bits. */
#define VERDICT_MASK UINT64_C(63)
static_assert(N_REASONS <= VERDICT_MASK, "a verdict must fit into its bits");
static_assert(N_OBSERVED_REASONS <= 64, "each reason needs a bit of counted");

struct hashes {
    uint64_t *items;
    size_t n;
};

struct namespace_sums {
    struct observed_sums sums;
    char *name; /* of the namespace */
    UT_hash_handle hh;
};

enum outcome { WAITING, SETTLED, ELSEWHERE };

struct observed_row {
    char *namespace_, *name, *uid;
    char *node, *best; /* NULL: none */
    struct namespace_sums *tally;
    uint64_t counted; /* bits of the reasons that were counted */
    size_t last;      /* the last of these */
    size_t refusal;   /* of the last judgement */
    enum outcome outcome;
    size_t reason; /* of ELSEWHERE */
    int64_t at_ms;
    struct hashes unfit, preferred; /* of the last judgement, until the row is settled */
    bool is_ranked;                 /* preferred has all of the best nodes */
    bool has_details;               /* unfit has all refused nodes */
    struct observed_row *prev, *next;
    UT_hash_handle hh;
};

struct observed {
    struct mutex lock; /* guards all below; innermost */
    int64_t since_ms;
    struct observed_row *by_uid;
    struct observed_row *oldest; /* a list by last judgement */
    struct namespace_sums *by_namespace;
    struct namespace_sums others; /* of further namespaces */
    struct observed_sums all;
    size_t detail_bytes;
};

const char *observed_reason_name(size_t reason)
{
    return reason < N_REASONS ? reason_name((enum reason)reason)
                              : MORE_REASONS[reason - N_REASONS].name;
}

const char *observed_reason_text(size_t reason)
{
    return reason < N_REASONS ? reason_text((enum reason)reason)
                              : MORE_REASONS[reason - N_REASONS].text;
}

/* ---- what is kept about nodes ---- */

static uint64_t marked(uint64_t hash, enum reason verdict)
{
    return (hash & ~VERDICT_MASK) | (uint64_t)verdict;
}

/* The refused nodes. Without the lock. */
static struct hashes hash_unfit(const struct observed_judgement *judgement)
{
    size_t n = 0;
    for (size_t i = 0; i < judgement->n_names; i++)
        n += judgement->verdicts[i] != REASON_FITS;
    struct hashes hashes = {MEM_ARRAY(uint64_t, n), 0};
    for (size_t i = 0; i < judgement->n_names; i++) {
        if (judgement->verdicts[i] != REASON_FITS)
            hashes.items[hashes.n++] = marked(judgement->names[i].hash, judgement->verdicts[i]);
    }
    return hashes;
}

/* REASON_FITS: the node is not among them. */
static enum reason verdict_among(const struct hashes *hashes, const char *node)
{
    const uint64_t hash = marked(hash_name(node, strlen(node)), 0);
    for (size_t i = 0; i < hashes->n; i++) {
        if ((hashes->items[i] & ~VERDICT_MASK) == hash)
            return (enum reason)(hashes->items[i] & VERDICT_MASK);
    }
    return REASON_FITS;
}

static bool is_among(const struct hashes *hashes, const char *node)
{
    const uint64_t hash = marked(hash_name(node, strlen(node)), 0);
    size_t i = 0;
    while (i < hashes->n && hashes->items[i] != hash)
        i++;
    return i < hashes->n;
}

static void drop_hashes(struct observed *observed, struct hashes *hashes)
{
    observed->detail_bytes -= hashes->n * sizeof *hashes->items;
    free(hashes->items);
    *hashes = (struct hashes){0};
}

static void drop_details(struct observed *observed, struct observed_row *row)
{
    drop_hashes(observed, &row->unfit);
    drop_hashes(observed, &row->preferred);
    row->has_details = row->is_ranked = false;
}

static void take_hashes(struct observed *observed, struct hashes *target, struct hashes hashes)
{
    drop_hashes(observed, target);
    *target = hashes;
    observed->detail_bytes += hashes.n * sizeof *hashes.items;
    for (struct observed_row *row = observed->oldest;
         row && observed->detail_bytes > OBSERVED_DETAIL_BYTES; row = row->next)
        drop_details(observed, row);
}

/* ---- rows and sums ---- */

#define COUNT(observed, row, member, by)                                                           \
    ((observed)->all.member += (by), (row)->tally->sums.member += (by))

struct observed *observed_new(int64_t now_ms)
{
    struct observed *observed = MEM_NEW(struct observed);
    observed->since_ms = now_ms;
    mutex_init(&observed->lock);
    return observed;
}

static void set_text(char **text, const char *value)
{
    free(*text);
    *text = value ? mem_strdup(value) : NULL;
}

static void settle(struct observed *observed, struct observed_row *row, enum outcome outcome,
                   const char *node)
{
    row->outcome = outcome;
    set_text(&row->node, node);
    drop_details(observed, row);
    COUNT(observed, row, waiting, -1);
}

static void settle_unknown(struct observed *observed, struct observed_row *row)
{
    settle(observed, row, SETTLED, NULL);
    COUNT(observed, row, unknown, 1);
}

static void remove_row(struct observed *observed, struct observed_row *row)
{
    if (row->outcome == WAITING)
        settle_unknown(observed, row);
    HASH_DEL(observed->by_uid, row);
    DL_DELETE(observed->oldest, row);
    free(row->namespace_);
    free(row->name);
    free(row->uid);
    free(row->node);
    free(row->best);
    free(row);
}

void observed_free(struct observed *observed)
{
    struct namespace_sums *tally = NULL;
    struct namespace_sums *next = NULL;
    if (!observed)
        return;
    while (observed->oldest)
        remove_row(observed, observed->oldest);
    HASH_ITER (hh, observed->by_namespace, tally, next) {
        HASH_DEL(observed->by_namespace, tally);
        free(tally->name);
        free(tally);
    }
    mutex_fini(&observed->lock);
    free(observed);
}

static struct namespace_sums *tally_of(struct observed *observed, const char *namespace_)
{
    struct namespace_sums *tally = NULL;
    HASH_FIND_STR(observed->by_namespace, namespace_, tally);
    if (tally)
        return tally;
    if (HASH_COUNT(observed->by_namespace) >= OBSERVED_NAMESPACES)
        return &observed->others;
    tally = MEM_NEW(struct namespace_sums);
    tally->name = mem_strdup(namespace_);
    HASH_ADD_KEYPTR(hh, observed->by_namespace, tally->name, strlen(tally->name), tally);
    return tally;
}

static struct observed_row *find_row(struct observed *observed, const char *uid)
{
    struct observed_row *row = NULL;
    HASH_FIND_STR(observed->by_uid, uid, row);
    return row;
}

static struct observed_row *add_row(struct observed *observed,
                                    const struct observed_judgement *judgement)
{
    if (HASH_COUNT(observed->by_uid) >= OBSERVED_PODS)
        remove_row(observed, observed->oldest);
    struct observed_row *row = MEM_NEW(struct observed_row);
    row->namespace_ = mem_strdup(judgement->namespace_);
    row->name = mem_strdup(judgement->name);
    row->uid = mem_strdup(judgement->uid);
    row->tally = tally_of(observed, judgement->namespace_);
    HASH_ADD_KEYPTR(hh, observed->by_uid, row->uid, strlen(row->uid), row);
    DL_APPEND(observed->oldest, row);
    COUNT(observed, row, judged, 1);
    COUNT(observed, row, waiting, 1);
    return row;
}

static void count_refusal(struct observed *observed, struct observed_row *row, size_t reason)
{
    const uint64_t bit = UINT64_C(1) << reason;
    row->last = reason;
    if (row->counted & bit)
        return;
    if (row->counted == 0)
        COUNT(observed, row, refused, 1);
    COUNT(observed, row, refused_by[reason], 1);
    row->counted |= bit;
}

void observed_judge(struct observed *observed, const struct observed_judgement *judgement,
                    int64_t now_ms)
{
    const bool is_refused = judgement->refusal != REASON_FITS;
    struct hashes unfit = is_refused ? (struct hashes){0} : hash_unfit(judgement);
    mutex_lock(&observed->lock);
    struct observed_row *row = find_row(observed, judgement->uid);
    if (!row)
        row = add_row(observed, judgement);
    if (row->next) { /* it is not the newest */
        DL_DELETE(observed->oldest, row);
        DL_APPEND(observed->oldest, row);
    }
    row->at_ms = now_ms;
    if (is_refused)
        count_refusal(observed, row, judgement->refusal);
    if (row->outcome == WAITING) {
        drop_details(observed, row);
        set_text(&row->best, NULL);
        row->refusal = judgement->refusal;
        row->has_details = true;
        take_hashes(observed, &row->unfit, unfit);
        unfit = (struct hashes){0};
    }
    mutex_unlock(&observed->lock);
    free(unfit.items);
}

void observed_rank(struct observed *observed, const char *uid, const char *const *best, size_t n)
{
    struct hashes preferred = {MEM_ARRAY(uint64_t, n), n};
    for (size_t i = 0; i < n; i++)
        preferred.items[i] = marked(hash_name(best[i], strlen(best[i])), 0);
    mutex_lock(&observed->lock);
    struct observed_row *row = find_row(observed, uid);
    if (row && row->outcome == WAITING && row->refusal == REASON_FITS && row->has_details) {
        set_text(&row->best, best[0]);
        row->is_ranked = true;
        take_hashes(observed, &row->preferred, preferred);
        preferred.items = NULL;
    }
    mutex_unlock(&observed->lock);
    free(preferred.items);
}

/* The reason why the node differs from the last judgement; REASON_FITS: it does not. */
static size_t difference(const struct observed_row *row, const char *node)
{
    const enum reason verdict = verdict_among(&row->unfit, node);
    if (verdict != REASON_FITS)
        return verdict;
    return row->is_ranked && !is_among(&row->preferred, node) ? OBSERVED_NOT_BEST : REASON_FITS;
}

static void settle_on(struct observed *observed, struct observed_row *row, const char *node)
{
    const size_t reason = difference(row, node);
    if (row->refusal != REASON_FITS) {
        settle(observed, row, SETTLED, node);
    } else if (!row->has_details) {
        settle_unknown(observed, row);
    } else if (reason == REASON_FITS) {
        settle(observed, row, SETTLED, node);
        COUNT(observed, row, as_judged, 1);
    } else {
        settle(observed, row, ELSEWHERE, node);
        row->reason = reason;
        COUNT(observed, row, elsewhere, 1);
        COUNT(observed, row, elsewhere_by[reason], 1);
    }
}

void observed_settle(struct observed *observed, const char *uid, const char *node)
{
    mutex_lock(&observed->lock);
    struct observed_row *row = find_row(observed, uid);
    if (row && row->outcome == WAITING && node)
        settle_on(observed, row, node);
    else if (row && row->outcome == WAITING)
        settle_unknown(observed, row);
    mutex_unlock(&observed->lock);
}

/* ---- reading ---- */

static bool is_of(const char *namespace_, const char *wanted)
{
    return !wanted || strcmp(namespace_, wanted) == 0;
}

static struct observed_example example_of(const struct observed_row *row, struct arena *arena)
{
    const bool went_elsewhere = row->outcome == ELSEWHERE;
    return (struct observed_example){.at_ms = row->at_ms,
                                     .namespace_ = arena_strdup(arena, row->namespace_),
                                     .name = arena_strdup(arena, row->name),
                                     .uid = arena_strdup(arena, row->uid),
                                     .went_elsewhere = went_elsewhere,
                                     .reason = went_elsewhere ? row->reason : row->last,
                                     .node = arena_strdup(arena, row->node ? row->node : ""),
                                     .best = arena_strdup(arena, row->best ? row->best : "")};
}

/* Newest first. */
static void copy_examples(const struct observed *observed, const char *namespace_,
                          struct arena *arena, struct observed_report *report)
{
    const struct observed_row *newest = observed->oldest ? observed->oldest->prev : NULL;
    report->examples = ARENA_ARRAY(arena, struct observed_example, OBSERVED_EXAMPLES);
    for (const struct observed_row *row = newest; row && report->n_examples < OBSERVED_EXAMPLES;
         row = row == observed->oldest ? NULL : row->prev) {
        if ((row->counted != 0 || row->outcome == ELSEWHERE) && is_of(row->namespace_, namespace_))
            report->examples[report->n_examples++] = example_of(row, arena);
    }
}

static void copy_namespaces(const struct observed *observed, const char *namespace_,
                            struct arena *arena, struct observed_report *report)
{
    const struct namespace_sums *tally = NULL;
    report->namespaces =
        ARENA_ARRAY(arena, struct observed_namespace, HASH_COUNT(observed->by_namespace));
    for (tally = observed->by_namespace; tally; tally = tally->hh.next) {
        if (is_of(tally->name, namespace_))
            report->namespaces[report->n_namespaces++] =
                (struct observed_namespace){arena_strdup(arena, tally->name), tally->sums};
    }
}

static int compare_namespaces(const void *a, const void *b)
{
    const struct observed_namespace *x = a;
    const struct observed_namespace *y = b;
    const int64_t more = y->sums.refused + y->sums.elsewhere - x->sums.refused - x->sums.elsewhere;
    return more != 0 ? (more > 0) - (more < 0) : strcmp(x->name, y->name);
}

struct observed_report observed_report(struct observed *observed, const char *namespace_,
                                       struct arena *arena)
{
    struct observed_report report = {.since_ms = observed->since_ms};
    mutex_lock(&observed->lock);
    copy_examples(observed, namespace_, arena, &report);
    copy_namespaces(observed, namespace_, arena, &report);
    report.all = observed->all;
    report.others = observed->others.sums;
    mutex_unlock(&observed->lock);
    if (namespace_) {
        report.all =
            report.n_namespaces > 0 ? report.namespaces[0].sums : (struct observed_sums){0};
        report.others = (struct observed_sums){0};
    }
    qsort(report.namespaces, report.n_namespaces, sizeof *report.namespaces, compare_namespaces);
    return report;
}

static void add_by_reason(struct buf *out, const char *name, const char *help,
                          const int64_t by[N_OBSERVED_REASONS])
{
    metrics_head(out, name, "counter", help);
    for (size_t i = REASON_FITS + 1; i < N_OBSERVED_REASONS; i++) {
        const struct metric_label labels[] = {{"reason", observed_reason_name(i)}, {0}};
        metrics_sample(out, name, labels, (double)by[i]);
    }
}

void observed_metrics(struct observed *observed, struct buf *out)
{
    mutex_lock(&observed->lock);
    const struct observed_sums all = observed->all;
    mutex_unlock(&observed->lock);
    add_by_reason(
        out, "gpu_extender_would_refuse_total",
        "Pods that mode: observe let pass and mode: enforce would have rejected, once per "
        "reason.",
        all.refused_by);
    add_by_reason(out, "gpu_extender_would_place_elsewhere_total",
                  "Pods that mode: observe let pass and that went to another node than mode: "
                  "enforce would have chosen, by reason.",
                  all.elsewhere_by);
}
