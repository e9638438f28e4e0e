/* group_text: see group_text.h. */
#include "api/pods/group_text.h"
#include "api/text.h"
#include "api/verdicts/cause.h"

#include <string.h>
#include <time.h>

static const char *ordinal(size_t n, struct arena *arena)
{
    static const char *const WORDS[] = {"first", "second",  "third",  "fourth", "fifth",
                                        "sixth", "seventh", "eighth", "ninth",  "tenth"};
    if (n >= 1 && n <= sizeof WORDS / sizeof *WORDS)
        return WORDS[n - 1];
    return arena_printf(arena, "one numbered %zu", n);
}

/* "12:03", in UTC as all times of answers. */
static const char *clock_text(int64_t at_ms, struct arena *arena)
{
    const int64_t minutes = at_ms / 60000 % (INT64_C(24) * 60);
    return arena_printf(arena, "%02d:%02d UTC", (int)(minutes / 60), (int)(minutes % 60));
}

/* Older attempts have their age. */
#define NOW_MS INT64_C(10000)

/* "3 of 4 would fit now; the fourth lacks 8 H100", "no rack has room for 9 pods (40s ago)" */
static const char *room_text(const struct waiting_group *row, int64_t now_ms, struct arena *arena)
{
    const size_t n_fit = row->n_bound + row->n_fit;
    const int64_t age_ms = row->tried_ms > 0 ? now_ms - row->tried_ms : 0;
    const bool is_now = age_ms < NOW_MS;
    const char *ago =
        is_now ? "" : arena_printf(arena, " (%s ago)", text_age(age_ms / 1000, arena));
    if (!row->lacks[0])
        return row->text;
    if (n_fit >= row->size) /* but not in one domain */
        return arena_printf(arena, "%s%s", row->lacks, ago);
    return arena_printf(arena, "%zu of %zu would fit%s; the %s %s%s", n_fit, row->size,
                        is_now ? " now" : "", ordinal(n_fit + 1, arena), row->lacks, ago);
}

static const char *pause_text(const struct waiting_group *row, int64_t now_ms, struct arena *arena)
{
    const int64_t left_ms = row->not_before_ms - now_ms;
    const char *why = row->missed[0]
                          ? arena_printf(arena, "kube-scheduler did not offer node %s", row->missed)
                          : row->text;
    return arena_printf(arena, "next try in %lld s: %s",
                        (long long)(left_ms > 0 ? (left_ms + 999) / 1000 : 0), why);
}

/* What it waits for, if it has no plan. */
static const char *wait_text(const struct waiting_group *row, int64_t now_ms, struct arena *arena)
{
    if (strcmp(row->why, "pause") == 0)
        return pause_text(row, now_ms, arena);
    if (strcmp(row->why, "never") == 0)
        return arena_printf(arena, "can never fit here%s%s", row->lacks[0] ? ": " : "", row->lacks);
    return strcmp(row->why, "room") == 0 ? room_text(row, now_ms, arena) : row->text;
}

const char *group_text(const struct waiting_group *row, int64_t now_ms, struct arena *arena)
{
    const bool starts_itself = strcmp(row->why, "pause") == 0 || strcmp(row->why, "never") == 0;
    const char *partial =
        row->partial_ms > 0
            ? arena_printf(arena, "partial since %s: ", clock_text(row->partial_ms, arena))
            : "";
    if (strcmp(row->why, "forming") == 0)
        return arena_printf(arena, "forming: %zu of %zu pods exist%s", row->n_unbound, row->size,
                            row->is_ordinary ? "; each is scheduled on its own meanwhile" : "");
    if (row->n_planned > 0)
        return arena_printf(arena, "%splanned on %s; %zu of %zu bound", partial, row->nodes,
                            row->n_bound, row->size);
    const char *text = wait_text(row, now_ms, arena);
    if (row->n_bound > 0)
        return arena_printf(arena, "%s%zu of %zu bound; %s", partial, row->n_bound, row->size,
                            text);
    return starts_itself ? text : arena_printf(arena, "waits: %s", text);
}

static json_t *moment_or_null(int64_t at_ms, struct arena *arena)
{
    return at_ms > 0 ? json_string(text_moment(at_ms, arena)) : json_null();
}

json_t *group_text_json(const struct waiting_group *row, int64_t now_ms, struct arena *arena)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:o, s:o, s:o, s:o}",
                     "namespace", row->namespace_, "name", row->name, "state", row->state, "size",
                     (json_int_t)row->size, "bound", (json_int_t)row->n_bound, "waiting",
                     (json_int_t)row->n_unbound, "planned", (json_int_t)row->n_planned, "reason",
                     row->why, "message", group_text(row, now_ms, arena), "since",
                     moment_or_null(row->since_ms, arena), "partialSince",
                     moment_or_null(row->partial_ms, arena), "notBefore",
                     moment_or_null(row->not_before_ms, arena), "planEnds",
                     moment_or_null(row->plan_ends_ms, arena));
}

/* ---- a pod of a group ---- */

static const struct waiting_group *find(const struct waiting_group *rows, size_t n,
                                        const struct pod *pod)
{
    for (size_t i = 0; pod->gang && i < n; i++) {
        if (strcmp(rows[i].name, pod->gang) == 0 &&
            strcmp(rows[i].namespace_, pod->namespace_) == 0)
            return &rows[i];
    }
    return NULL;
}

/* The pod's own reasons stay where they say more: it is gated, being deleted, or invalid. */
static bool is_answered_by_group(const struct waiting_group *row, const struct pod_copy *copy)
{
    return !row->is_ordinary && !copy->pod.node_name[0] && !copy->pod.finished &&
           !copy->pod.gated && !copy->pod.terminating && !copy->pod.refusal && !copy->reserved_node;
}

static void answer(const struct waiting_group *row, const char *text, json_t *pod,
                   struct arena *arena)
{
    const bool has_plan = row->n_planned > 0;
    json_t *verdict = json_copy(json_object_get(pod, "verdict"));
    const char *sentence = arena_printf(arena, "Its group %s: %s.", row->name, text);
    (void)json_object_set_new(verdict, "result", json_string(has_plan ? "fits" : "doesNotFit"));
    (void)json_object_set_new(verdict, "cause", json_string(cause_name(CAUSE_GROUP)));
    (void)json_object_set_new(verdict, "text", json_string(sentence));
    (void)json_object_set_new(pod, "verdict", verdict);
    (void)json_object_set_new(pod, "summary",
                              json_string(arena_printf(arena, "%s: its group %s: %s",
                                                       text_pod(pod, arena), row->name, text)));
}

void group_text_add(struct groups *groups, const struct pod_copies *copies, json_t *pods,
                    struct arena *arena)
{
    struct waiting_group *rows = NULL;
    const size_t n = groups ? groups_list(groups, NULL, arena, &rows) : 0;
    const int64_t now_ms = (int64_t)time(NULL) * 1000;
    size_t i = 0;
    json_t *pod = NULL;
    json_array_foreach (pods, i, pod) {
        const struct waiting_group *row = find(rows, n, &copies->items[i].pod);
        (void)json_object_set_new(pod, "gang",
                                  row ? group_text_json(row, now_ms, arena) : json_null());
        if (row && is_answered_by_group(row, &copies->items[i]))
            answer(row, group_text(row, now_ms, arena), pod, arena);
    }
}
