/* what_if_table: the answer of POST /v1/what-if as text. */
#include "api/cluster/quota_json.h"
#include "api/dry_run/dry_run.h"
#include "api/provenance.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"

#include <string.h>

static const char *owner_text(const json_t *pod, struct arena *arena)
{
    const json_t *owner = json_object_get(pod, "owner");
    if (!json_is_object(owner))
        return "";
    return arena_printf(arena, "%s/%s", text_member(owner, "kind"), text_member(owner, "name"));
}

static void write_pods(const json_t *pods, const char *title, bool wide, struct arena *arena,
                       struct buf *out)
{
    static const char *const HEADINGS[] = {"POD",
                                           (TABLE_MAY_GO_LAST "OWNER"),
                                           (TABLE_MAY_GO_LAST "PRIORITY"),
                                           "FROM",
                                           "GOES TO",
                                           "WHY NOT",
                                           NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *pod = NULL;
    if (json_array_size(pods) == 0)
        return;
    json_array_foreach (pods, i, pod)
        table_add(table,
                  (const char *[]){text_pod(pod, arena), owner_text(pod, arena),
                                   text_number(pod, "priority", arena), text_member(pod, "from"),
                                   text_member(pod, "node"), text_member(pod, "reason")});
    buf_printf(out, "\n%s:\n", title);
    table_write(table, out);
}

static void write_budgets(const json_t *budgets, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"BUDGET", "PODS", "ALLOWS", "WHY", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *budget = NULL;
    json_array_foreach (json_object_get(budgets, "met"), i, budget)
        table_add(table,
                  (const char *[]){text_pod(budget, arena), text_number(budget, "pods", arena),
                                   text_member(budget, "allows"), text_member(budget, "reason")});
    if (i == 0)
        return;
    buf_add_text(out, "\nPodDisruptionBudgets that the drains meet:\n");
    table_write(table, out);
}

/* The item of the list with the same texts; NULL: none. */
static json_t *find_same(const json_t *list, const json_t *item, const char *const *keys)
{
    size_t i = 0;
    json_t *other = NULL;
    json_array_foreach (list, i, other) {
        size_t k = 0;
        while (keys[k] && strcmp(text_member(other, keys[k]), text_member(item, keys[k])) == 0)
            k++;
        if (!keys[k])
            return other;
    }
    return NULL;
}

/* In tables that are not wide, what does not change is left out. */
static bool is_shown(const json_t *before, const json_t *after, bool wide)
{
    return wide || !before || !json_equal(before, after);
}

/* One of before and after may be NULL: there is no such limit, or no open node has such GPUs. */
static json_t *change_json(json_t *before, json_t *after)
{
    const json_t *known = after ? after : before;
    return json_pack("{s:s, s:s, s:O*, s:O*}", "resource", text_member(known, "resource"), "model",
                     text_member(known, "model"), "before", before, "after", after);
}

/* Items of before and after with the same texts as one; then those that are only before. */
static json_t *join(const json_t *change, const char *const *keys, bool wide)
{
    const json_t *list = json_object_get(change, "before");
    json_t *changes = json_array();
    size_t i = 0;
    json_t *before = NULL;
    json_t *after = NULL;
    json_array_foreach (json_object_get(change, "after"), i, after) {
        before = find_same(list, after, keys);
        if (is_shown(before, after, wide))
            (void)json_array_append_new(changes, change_json(before, after));
    }
    json_array_foreach (list, i, before) {
        if (!find_same(json_object_get(change, "after"), before, keys))
            (void)json_array_append_new(changes, change_json(before, NULL));
    }
    return changes;
}

static void write_fragmentation(const json_t *change, bool wide, struct arena *arena,
                                struct buf *out)
{
    static const char *const KEYS[] = {"resource", "model", NULL};
    const json_t *list = json_object_get(change, "before");
    json_t *changes = join(change, KEYS, wide);
    if (json_array_size(list) > 0)
        fragmentation_json_write_changes(changes, wide, arena, out);
    json_decref(changes);
}

static const char *or_all(const char *text)
{
    return text[0] ? text : "(all)";
}

struct change_table {
    const char *title;
    const char *const *headings;
    const char *const *keys; /* of join() */
    void (*add_row)(struct table *table, const json_t *before, const json_t *after,
                    struct arena *arena);
};

static void add_quota(struct table *table, const json_t *before, const json_t *after,
                      struct arena *arena)
{
    const json_t *known = after ? after : before;
    table_add(table,
              (const char *[]){text_member(known, "quota"), or_all(text_member(known, "resource")),
                               or_all(text_member(known, "model")),
                               text_change(before, after, "used", arena),
                               text_change(before, after, "limit", arena)});
}

static const struct change_table QUOTAS = {
    "Quotas", (const char *const[]){"QUOTA", "RESOURCE", "MODEL", "USED", "LIMIT", NULL},
    (const char *const[]){"quota", "resource", "model", NULL}, add_quota};

static void add_domain(struct table *table, const json_t *before, const json_t *after,
                       struct arena *arena)
{
    const json_t *known = after ? after : before;
    table_add(table, (const char *[]){text_member(known, "level"), text_domain(known, arena),
                                      text_change(before, after, "nodes", arena),
                                      text_change(before, after, "freeGpus", arena),
                                      text_change(before, after, "wholeNodes", arena)});
}

static const struct change_table DOMAINS = {
    "Domains", (const char *const[]){"LEVEL", "DOMAIN", "NODES", "FREE GPUS", "NODES WHOLE", NULL},
    (const char *const[]){"level", "within", "name", NULL}, add_domain};

static void write_changes(const struct change_table *of, const json_t *change, bool wide,
                          struct arena *arena, struct buf *out)
{
    struct table *table = table_new(arena, wide, of->headings);
    json_t *changes = join(change, of->keys, wide);
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (changes, i, item)
        of->add_row(table, json_object_get(item, "before"), json_object_get(item, "after"), arena);
    if (i > 0) {
        buf_printf(out, "\n%s before and after:\n", of->title);
        table_write(table, out);
    }
    json_decref(changes);
}

static const char *change_text(const json_t *change, struct arena *arena)
{
    static const char *const NAMES[] = {"node", "pod", "quota"};
    const char *kind = text_member(change, "change");
    const json_int_t count = json_integer_value(json_object_get(change, "count"));
    if (strcmp(kind, "addNodes") == 0)
        return arena_printf(arena, "%lld more node%s like %s", (long long)count,
                            count == 1 ? "" : "s", text_member(change, "like"));
    if (strcmp(kind, "lift") == 0 && !json_is_true(json_object_get(change, "wasAvoided")))
        return arena_printf(arena, "lift %s (not avoided now)", text_member(change, "node"));
    for (size_t i = sizeof NAMES / sizeof *NAMES; i-- > 0;) {
        if (text_member(change, NAMES[i])[0])
            return arena_printf(arena, "%s %s", kind, text_member(change, NAMES[i]));
    }
    return kind;
}

/* "3 more nodes like h100-1, drain v100-1" */
static const char *changes_text(const json_t *answer, struct arena *arena)
{
    struct name_list shown = {.text = ""};
    size_t i = 0;
    json_t *change = NULL;
    json_array_foreach (json_object_get(answer, "changes"), i, change)
        text_names_add(&shown, text_names_are_full(&shown) ? NULL : change_text(change, arena),
                       arena);
    return text_names(&shown, arena);
}

/* " Waiting pods: 0 of 1 fit, as before."; "": there are none. */
static const char *pending_text(const json_t *pending, struct arena *arena)
{
    const json_t *before = json_object_get(pending, "before");
    const json_t *after = json_object_get(pending, "after");
    const char *text = "as before";
    if (json_integer_value(json_object_get(before, "pods")) == 0)
        return "";
    if (!json_equal(json_object_get(before, "fit"), json_object_get(after, "fit")))
        text = arena_printf(arena, "without the changes %s", text_number(before, "fit", arena));
    return arena_printf(arena, " Waiting pods: %s of %s fit, %s.", text_number(after, "fit", arena),
                        text_number(before, "pods", arena), text);
}

#define MODELS_TOLD 3

/* " H100: 8 usable, 32 with the changes, 0 after the job."; "": as before. */
static const char *free_text(const json_t *before, const json_t *after, const json_t *last,
                             struct arena *arena)
{
    const json_int_t n_before = json_integer_value(json_object_get(before, "usable"));
    const json_int_t n_after = json_integer_value(json_object_get(after, "usable"));
    const json_int_t n_last = json_integer_value(json_object_get(last, "usable"));
    const json_t *known = after ? after : before;
    const char *model = text_member(known, "model");
    if (n_before == n_after && n_after == n_last)
        return "";
    const char *text =
        arena_printf(arena, " %s: %lld usable", *model ? model : text_member(known, "resource"),
                     (long long)n_before);
    if (n_after != n_before)
        text = arena_printf(arena, "%s, %lld with the changes", text, (long long)n_after);
    if (n_last != n_after)
        text = arena_printf(arena, "%s, %lld after the manifest", text, (long long)n_last);
    return arena_printf(arena, "%s.", text);
}

/* Of the first models whose usable GPUs differ. */
static const char *models_text(const json_t *fragmentation, struct arena *arena)
{
    static const char *const KEYS[] = {"resource", "model", NULL};
    const char *text = "";
    size_t n = 0;
    size_t i = 0;
    json_t *last = NULL;
    json_array_foreach (json_object_get(fragmentation, "afterWorkloads"), i, last) {
        const char *told =
            free_text(find_same(json_object_get(fragmentation, "before"), last, KEYS),
                      find_same(json_object_get(fragmentation, "after"), last, KEYS), last, arena);
        if (*told && n++ < MODELS_TOLD)
            text = arena_printf(arena, "%s%s", text, told);
    }
    return text;
}

/* "Displaced pods: 1 of 1 fit. Waiting pods: ..." */
static const char *others_text(const json_t *answer, struct arena *arena)
{
    const json_t *counts = json_object_get(answer, "displacedCounts");
    const char *text = "";
    if (json_integer_value(json_object_get(counts, "pods")) > 0)
        text = arena_printf(arena, " Displaced pods: %s of %s fit.",
                            text_number(counts, "fit", arena), text_number(counts, "pods", arena));
    text =
        arena_printf(arena, "%s%s%s", text, pending_text(json_object_get(answer, "pending"), arena),
                     models_text(json_object_get(answer, "fragmentation"), arena));
    return text + (*text == ' ');
}

/* The headline answers the manifest, if there is one. */
static void write_head(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    const char *changes = changes_text(answer, arena);
    const struct job_changes of = {*changes ? arena_printf(arena, "Changes: %s.", changes) : "",
                                   others_text(answer, arena)};
    if (json_array_size(json_object_get(answer, "jobs")) == 0)
        table_write_line(text_member(answer, "summary"), 0, 0, out);
    dry_run_write_jobs(answer, &of, wide, arena, out);
}

void tables_write_what_if(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    const json_t *pending = json_object_get(answer, "pending");
    provenance_write_warning(answer, arena, out);
    write_head(answer, wide, arena, out);
    text_write_list(json_object_get(answer, "notChecked"), "", arena, out);
    write_budgets(json_object_get(answer, "disruptionBudgets"), wide, arena, out);
    write_pods(json_object_get(answer, "displaced"), "Displaced", wide, arena, out);
    write_pods(json_object_get(pending, "nowRun"), "Pending pods that find a place now", wide,
               arena, out);
    write_pods(json_object_get(pending, "noLonger"), "Pending pods that find none any more", wide,
               arena, out);
    write_fragmentation(json_object_get(answer, "fragmentation"), wide, arena, out);
    write_changes(&DOMAINS, json_object_get(answer, "domains"), wide, arena, out);
    write_changes(&QUOTAS, json_object_get(answer, "quota"), wide, arena, out);
    dry_run_write_warnings(answer, arena, out);
}
