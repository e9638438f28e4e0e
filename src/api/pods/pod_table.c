/*
 * pod_table: PendingPods and a PodExplanation as text; see include/api/tables.h. A pod is a block
 * of lines. A value takes one line, whatever bytes it contains.
 */
#include "api/provenance.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"
#include "api/verdicts/candidates.h"
#include "api/verdicts/remedies.h"
#include "api/verdicts/verdict.h"

#include <stdbool.h>
#include <string.h>

static void write_line(const char *name, const char *text, struct arena *arena, struct buf *out)
{
    table_write_line(arena_printf(arena, "%-15s %s", name, text), strlen("  "), 16, out);
}

static void write_age(const json_t *pod, struct arena *arena, struct buf *out)
{
    const json_t *age = json_object_get(pod, "ageSeconds");
    if (json_is_integer(age))
        write_line("created",
                   arena_printf(arena, "%s, %s ago", text_member(pod, "created"),
                                text_age(json_integer_value(age), arena)),
                   arena, out);
}

/* Its words come last. They may be older than the verdict. */
static void write_scheduler(const json_t *pod, size_t indent, struct arena *arena, struct buf *out)
{
    const json_t *says = json_object_get(pod, "schedulerSays");
    const char *message = text_member(says, "message");
    if (json_is_object(says))
        table_write_line(arena_printf(arena, "kube-scheduler says: %s",
                                      *message ? message : text_member(says, "reason")),
                         indent, TABLE_MORE, out);
}

static void write_requests(const json_t *pod, struct arena *arena, struct buf *out)
{
    const json_t *requests = json_object_get(pod, "requests");
    if (json_object_size(requests) > 0)
        write_line("asks for", asks_for_all(requests, json_object_get(pod, "gpuModels"), arena),
                   arena, out);
}

static void write_priority(const json_t *pod, struct arena *arena, struct buf *out)
{
    const char *class = text_member(pod, "priorityClass");
    if (class[0] || json_integer_value(json_object_get(pod, "priority")) != 0)
        write_line("priority",
                   arena_printf(arena, "%s%s%s%s", text_number(pod, "priority", arena),
                                class[0] ? " (" : "", class, class[0] ? ")" : ""),
                   arena, out);
}

static void write_group(const json_t *pod, struct arena *arena, struct buf *out)
{
    const json_t *group = json_object_get(pod, "group");
    const char *known = json_is_true(json_object_get(group, "known")) ? "" : ", no such PodGroup";
    if (json_is_object(group))
        write_line("group",
                   arena_printf(arena, "%s: %s members, %s bound, at least %s together%s",
                                text_member(group, "name"), text_number(group, "members", arena),
                                text_number(group, "bound", arena),
                                text_number(group, "minCount", arena), known),
                   arena, out);
}

static void write_fits_on(const json_t *pod, struct arena *arena, struct buf *out)
{
    struct name_list shown = {.text = ""};
    size_t i = 0;
    json_t *name = NULL;
    json_array_foreach (json_object_get(pod, "fitsOn"), i, name)
        text_names_add(&shown, json_is_string(name) ? json_string_value(name) : "", arena);
    const json_int_t n = json_integer_value(json_object_get(pod, "fits"));
    if (n > (json_int_t)shown.n)
        shown.n = (size_t)n;
    const bool is_taken = json_is_null(json_object_get(pod, "placedOn"));
    if (shown.n > 0)
        write_line(is_taken ? "alone on" : "fits on", text_names(&shown, arena), arena, out);
}

/* Omitted if some node fits, or if the verdict is about that node. A node with a quota as only
 * obstacle lacks no resource. */
static void write_closest(const json_t *pod, struct arena *arena, struct buf *out)
{
    const json_t *closest = json_object_get(pod, "closest");
    const char *decisive = text_member(json_object_get(pod, "verdict"), "node");
    if (!json_is_object(closest) || strcmp(decisive, text_member(closest, "node")) == 0 ||
        json_integer_value(json_object_get(pod, "fits")) > 0)
        return;
    const json_t *amounts = json_object_get(closest, "lacks");
    const char *lacks = "";
    if (json_object_size(amounts) > 0)
        lacks = arena_printf(arena, " lacks %s now", verdict_amounts_text(amounts, arena));
    write_line("closest",
               arena_printf(arena, "%s%s: %s", text_member(closest, "node"), lacks,
                            text_member(closest, "message")),
               arena, out);
}

static void write_notes(const json_t *pod, struct arena *arena, struct buf *out)
{
    size_t i = 0;
    json_t *note = NULL;
    json_array_foreach (json_object_get(pod, "notEvaluated"), i, note) {
        if (json_is_string(note))
            write_line("not evaluated", json_string_value(note), arena, out);
    }
}

static void write_facts(const json_t *pod, struct arena *arena, struct buf *out)
{
    write_requests(pod, arena, out);
    claim_answers_write(json_object_get(pod, "claims"), strlen("  "), arena, out);
    write_group(pod, arena, out);
    write_notes(pod, arena, out);
    write_fits_on(pod, arena, out);
    write_closest(pod, arena, out);
    write_priority(pod, arena, out);
    write_age(pod, arena, out);
}

/* "0s", "3h", "25d" */
static const char *wait_text(json_int_t waits_s, struct arena *arena)
{
    const char *age = text_age(waits_s, arena);
    return arena_printf(arena, "%.*s", (int)strcspn(age, "smhd") + 1, age);
}

/* " Used by ml 11, research 2." of the first limit that is short; "": none is. */
static const char *users_text(const json_t *verdict, struct arena *arena)
{
    const json_t *quota = json_array_get(json_object_get(verdict, "quotas"), 0);
    struct name_list users = {.text = ""};
    size_t i = 0;
    json_t *user = NULL;
    json_array_foreach (json_object_get(quota, "users"), i, user)
        text_names_add(&users,
                       arena_printf(arena, "%s %s", text_member(user, "namespace"),
                                    text_number(user, "used", arena)),
                       arena);
    return users.n > 0 ? arena_printf(arena, " Used by %s.", text_names(&users, arena)) : "";
}

/* Why none is named: the time for remedies was over before its turn, or none is enough. */
static const char *without_remedies(const json_t *owner)
{
    const char *tried = text_member(owner, "remediesTried");
    if (strcmp(text_member(json_object_get(owner, "verdict"), "result"), "doesNotFit") != 0)
        return "";
    return strcmp(tried, "none") == 0  ? " What would help was not tried."
           : strcmp(tried, "all") == 0 ? " No single change that was tried is enough."
                                       : "";
}

/* "No V100 node has 8 free; v100-1 lacks 4. Helps: accept H100-80GB-HBM3 too (h100-1)." */
static const char *note_of(const json_t *owner, struct arena *arena)
{
    const json_t *verdict = json_object_get(owner, "verdict");
    const json_t *remedy = json_array_get(json_object_get(owner, "remedies"), 0);
    const char *text = text_member(verdict, "text");
    if (strcmp(text_member(verdict, "result"), "partlyFits") == 0)
        text = arena_printf(arena, "%s of %s pods fit. %s", text_number(owner, "fits", arena),
                            text_number(owner, "pods", arena), text);
    text = arena_printf(arena, "%s%s", text, users_text(verdict, arena));
    return remedy ? arena_printf(arena, "%s Helps: %s.", text, remedies_short(remedy, arena))
                  : arena_printf(arena, "%s%s", text, without_remedies(owner));
}

static void write_owners(const json_t *pending, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"WORKLOAD", "PODS", "ASKS FOR, EACH", "WAITS", NULL};
    struct table *table = table_new(arena, false, HEADINGS);
    size_t i = 0;
    json_t *owner = NULL;
    json_array_foreach (json_object_get(pending, "owners"), i, owner) {
        const json_int_t waits_s = json_integer_value(json_object_get(owner, "waitsSeconds"));
        table_add(table,
                  (const char *[]){
                      arena_printf(arena, "%s/%s %s", text_member(owner, "namespace"),
                                   text_member(owner, "name"), text_member(owner, "kind")),
                      text_number(owner, "pods", arena),
                      asks_for_each(json_object_get(owner, "requests"),
                                    json_object_get(json_object_get(owner, "gpuModels"), "models"),
                                    arena),
                      waits_s > 0 ? wait_text(waits_s, arena) : ""});
        table_add_note(table, note_of(owner, arena));
    }
    if (i == 0)
        return;
    table_write(table, out);
    buf_add_text(out, "\n?wide=true lists each pod, with kube-scheduler's message.\n");
}

/* "DOES NOT FIT  Pod ml/big: waits for 25d", and why. */
static void write_verdict(const json_t *pod, struct arena *arena, struct buf *out)
{
    const json_t *verdict = json_object_get(pod, "verdict");
    const char *words = headline_words(verdict);
    const json_t *age = json_object_get(pod, "ageSeconds");
    const bool waits = strcmp(text_member(pod, "state"), "pending") == 0 && json_is_integer(age);
    const char *since =
        waits ? arena_printf(arena, ": %sfor %s", strcmp(words, "WAITS") == 0 ? "" : "waits ",
                             wait_text(json_integer_value(age), arena))
              : "";
    table_write_sentence(
        text_one_line(arena_printf(arena, "%s  Pod %s%s%s", words, text_pod(pod, arena),
                                   json_object_get(pod, TABLES_ONLY_OF_NAME)
                                       ? ", the only pod of this name"
                                       : "",
                                   since),
                      arena),
        0, out);
    table_write_sentence(text_one_line(text_member(verdict, "text"), arena), strlen(words) + 2,
                         out);
    remedies_write(pod, arena, out);
    buf_add_text(out, "\n");
}

static void write_each(const json_t *pending, struct arena *arena, struct buf *out)
{
    size_t i = 0;
    json_t *pod = NULL;
    json_array_foreach (json_object_get(pending, "pods"), i, pod) {
        buf_add_text(out, "\n");
        write_verdict(pod, arena, out);
        write_facts(pod, arena, out);
        write_scheduler(pod, strlen("  "), arena, out);
    }
}

/* "7 pods of 6 workloads wait for 29 GPUs" */
static void write_headline(const json_t *pending, struct arena *arena, struct buf *out)
{
    const long long n_pods = json_integer_value(json_object_get(pending, "podCount"));
    const long long n_gpus = json_integer_value(json_object_get(pending, "gpuCount"));
    const size_t n_owners = json_array_size(json_object_get(pending, "owners"));
    if (n_pods == 0)
        buf_add_text(out, "No pod waits for GPUs\n");
    else
        table_write_sentence(arena_printf(arena, "%lld pod%s of %zu workload%s %s for %lld GPU%s",
                                          n_pods, n_pods == 1 ? "" : "s", n_owners,
                                          n_owners == 1 ? "" : "s", n_pods == 1 ? "waits" : "wait",
                                          n_gpus, n_gpus == 1 ? "" : "s"),
                             0, out);
}

/* A row per owner; wide: a block of lines per pod. */
void tables_write_pending(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    const json_int_t omitted = json_integer_value(json_object_get(answer, "omitted"));
    provenance_write_warning(answer, arena, out);
    text_write_warnings(answer, arena, out);
    write_headline(answer, arena, out);
    if (omitted > 0)
        buf_printf(out, "The last %lld are not shown.\n", (long long)omitted);
    if (wide)
        write_each(answer, arena, out);
    else
        write_owners(answer, arena, out);
}

/* "ml/a 4, ml/b 2" */
static void write_holders(const json_t *answer, struct arena *arena, struct buf *out)
{
    struct name_list shown = {.text = ""};
    const char *node =
        text_member(json_object_get(json_object_get(answer, "pod"), "verdict"), "node");
    size_t i = 0;
    json_t *holder = NULL;
    json_array_foreach (json_object_get(answer, "heldBy"), i, holder)
        text_names_add(&shown,
                       arena_printf(arena, "%s %s", text_pod(holder, arena),
                                    text_number(holder, "gpus", arena)),
                       arena);
    if (shown.n > 0)
        write_line("GPUs held by",
                   arena_printf(arena, "%s, on %s", text_names(&shown, arena), node), arena, out);
}

void tables_write_explanation(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    const json_t *pod = json_object_get(answer, "pod");
    provenance_write_warning(answer, arena, out);
    write_verdict(pod, arena, out);
    write_holders(answer, arena, out);
    write_facts(pod, arena, out);
    verdict_write_table(json_object_get(answer, "nodes"), NULL, wide, arena, out);
    text_write_reports(json_object_get(answer, "nodes"), "node", wide, arena, out);
    if (json_is_object(json_object_get(pod, "schedulerSays")))
        buf_add_text(out, "\n");
    write_scheduler(pod, 0, arena, out);
}
