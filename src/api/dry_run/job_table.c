/*
 * job_table: the text of a dry run. First the verdict on each object, then what would help, where
 * its pods go, and why not elsewhere.
 */
#include "api/cluster/quota_json.h"
#include "api/dry_run/dry_run.h"
#include "api/dry_run/placement_run.h"
#include "api/provenance.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"
#include "api/verdicts/remedies.h"
#include "api/verdicts/verdict.h"
#include "types/quantity.h"

#include <ctype.h>
#include <string.h>

/* ---- explain ---- */

/* Whether the pod's order of models distinguishes any nodes. */
static bool models_differ(const json_t *ranking)
{
    size_t i = 0;
    json_t *ranked = NULL;
    json_array_foreach (ranking, i, ranked) {
        if (json_integer_value(json_object_get(ranked, "modelRank")) > 0)
            return true;
    }
    return false;
}

/* "model 2, weight 50, 1 unpreferred taint, GPU node": preferences that rank the node before its
 * cost; "-": none. */
static const char *preference_text(const json_t *ranked, bool with_model, struct arena *arena)
{
    const long long model = json_integer_value(json_object_get(ranked, "modelRank"));
    const long long weight = json_integer_value(json_object_get(ranked, "preferredWeight"));
    const long long taints = json_integer_value(json_object_get(ranked, "unpreferredTaints"));
    const char *text = "";
    if (with_model)
        text = arena_printf(arena, ", model %lld", model + 1);
    if (weight > 0)
        text = arena_printf(arena, "%s, weight %lld", text, weight);
    if (taints > 0)
        text = arena_printf(arena, "%s, %lld unpreferred taint%s", text, taints,
                            taints == 1 ? "" : "s");
    if (json_integer_value(json_object_get(ranked, "gpuWork")) > 0)
        text = arena_printf(arena, "%s, GPU node", text);
    return text[0] ? text + strlen(", ") : "-";
}

/* "slotsLost 2.000 + drain 0.375" */
static const char *terms_text(const json_t *ranked, struct arena *arena)
{
    const char *text = "";
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach (json_object_get(ranked, "terms"), name, value)
        text = arena_printf(arena, "%s%s%s %.3f", text, text[0] ? " + " : "", name,
                            json_real_value(value));
    return text;
}

static void write_ranking(const json_t *explain, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"PLACE", "NODE",    "SCORE",     "PREFERENCE",
                                           "COST",  "MADE OF", "FREE GPUS", NULL};
    const json_t *ranking = json_object_get(explain, "ranking");
    const bool with_model = models_differ(ranking);
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *ranked = NULL;
    json_array_foreach (ranking, i, ranked)
        table_add(table,
                  (const char *[]){text_number(ranked, "position", arena),
                                   text_member(ranked, "node"), text_number(ranked, "score", arena),
                                   preference_text(ranked, with_model, arena),
                                   text_decimal(ranked, "cost", arena), terms_text(ranked, arena),
                                   text_number(ranked, "freeGpus", arena)});
    if (i == 0)
        return;
    buf_printf(out, "\nHow %s ranks them", text_member(explain, "policy"));
    const long long n_fitting = json_integer_value(json_object_get(explain, "fittingNodes"));
    if (n_fitting > (long long)i)
        buf_printf(out, ", the best %zu of %lld", i, n_fitting);
    buf_add_text(out, ":\n");
    table_write(table, out);
}

/* Writes the member explain of a workload; nothing for NULL. */
static void write_explanation(const json_t *explain, bool wide, struct arena *arena,
                              struct buf *out)
{
    write_ranking(explain, wide, arena, out);
    fragmentation_json_write_changes(json_object_get(explain, "fragmentation"), wide, arena, out);
}

/* ---- the verdict ---- */

static const json_t *workload_at(const json_t *answer, const json_t *job, size_t i)
{
    const json_t *index = json_array_get(json_object_get(job, "workloads"), i);
    return json_array_get(json_object_get(answer, "workloads"), (size_t)json_integer_value(index));
}

static bool fits(const json_t *job)
{
    return strcmp(text_member(json_object_get(job, "verdict"), "result"), "fits") == 0;
}

static const char *asks_text(const json_t *workload, struct arena *arena)
{
    return asks_for_each(json_object_get(workload, "asksFor"),
                         json_object_get(json_object_get(workload, "models"), "accept"), arena);
}

/* ", on h100-1": of a single pod; and how many fit without the changes of a what-if. */
static const char *addition(const json_t *answer, const json_t *job, struct arena *arena)
{
    const json_t *placement =
        json_array_get(json_object_get(workload_at(answer, job, 0), "placements"), 0);
    const json_t *without = json_object_get(job, "fitsWithout");
    const char *text = "";
    if (fits(job) && json_integer_value(json_object_get(job, "pods")) == 1 &&
        text_member(placement, "node")[0])
        text = arena_printf(arena, ", on %s", text_member(placement, "node"));
    if (json_equal(without, json_object_get(job, "fits")))
        text = arena_printf(arena, "%s, as many without the changes", text);
    else if (without)
        text = arena_printf(arena, "%s, without the changes %lld", text,
                            (long long)json_integer_value(without));
    return text;
}

/* "1 of 4 pods"; "2 pods" that are not judged. */
static const char *pods_text(const json_t *job, const char *words, struct arena *arena)
{
    const json_int_t n = json_integer_value(json_object_get(job, "pods"));
    const bool is_counted = strstr(words, "FIT") != NULL;
    if (n == 0 && is_counted && !fits(job)) /* a DaemonSet */
        return "runs on no node";
    return arena_printf(arena, "%s%s%lld pod%s", is_counted ? text_number(job, "fits", arena) : "",
                        is_counted ? " of " : "", (long long)n, n == 1 ? "" : "s");
}

/* ---- what the verdict says ---- */

/* "limits" of "unknown field; did you mean limits?"; "": nothing is near. */
static const char *meant(const char *message, struct arena *arena)
{
    static const char MEAN[] = "did you mean ";
    const char *start = strstr(message, MEAN);
    return start ? arena_strndup(arena, start + strlen(MEAN), strcspn(start + strlen(MEAN), "?"))
                 : "";
}

/* The subject of a warning: "H10O" of a quoted one, else the key in brackets or the last field. */
static const char *subject_of(const char *path, const char *message, struct arena *arena)
{
    const char *key = strrchr(path, '[');
    const char *field = strrchr(path, '.');
    if (message[0] == '"')
        return arena_strndup(arena, message + 1, strcspn(message + 1, "\""));
    if (key && path[strlen(path) - 1] == ']')
        return arena_strndup(arena, key + 1, strlen(key + 1) - 1);
    return field ? field + 1 : path;
}

/* The path of a warning without its object; NULL: it is about another object. */
static const char *path_in(const json_t *answer, const json_t *job, const char *path,
                           struct arena *arena)
{
    const char *object = arena_printf(arena, "%s %s/%s: ", text_member(job, "kind"),
                                      text_member(job, "namespace"), text_member(job, "name"));
    const bool is_there = strncmp(path, object, strlen(object)) == 0;
    if (!is_there && json_array_size(json_object_get(answer, "jobs")) > 1)
        return NULL;
    return is_there ? path + strlen(object) : path;
}

/* "in line 14", and no other number. */
static bool has_line(const char *text, const char *line)
{
    const char *at = strstr(text, line);
    return at && !isdigit((unsigned char)at[strlen(line)]);
}

/* Whether the job's verdict says what the warning says: about the same word, of the same line if
 * both have one, and the same correction. */
static bool verdict_says(const json_t *answer, const json_t *job, const json_t *warning,
                         struct arena *arena)
{
    const char *verdict = text_member(json_object_get(job, "verdict"), "text");
    const char *message = text_member(warning, "message");
    const char *path = path_in(answer, job, text_member(warning, "path"), arena);
    const char *line = arena_printf(arena, " line %s", text_number(warning, "line", arena));
    const char *name = meant(message, arena);
    if (!path || !strstr(verdict, subject_of(path, message, arena)) || !strstr(verdict, name))
        return false;
    if (!json_object_get(warning, "line"))
        return *name || strcasestr(verdict, message);
    return has_line(verdict, line) || (*name && !strstr(verdict, " line "));
}

/* " (line 8)" of a warning that the verdict says, or its path if the manifest has no lines; "": of
 * none, or the verdict has the line. */
static const char *place_of(const json_t *answer, const json_t *job, struct arena *arena)
{
    const char *verdict = text_member(json_object_get(job, "verdict"), "text");
    size_t i = 0;
    json_t *warning = NULL;
    json_array_foreach (json_object_get(answer, "warnings"), i, warning) {
        if (strstr(verdict, " line ") || !verdict_says(answer, job, warning, arena))
            continue;
        return json_object_get(warning, "line")
                   ? arena_printf(arena, " (line %s)", text_number(warning, "line", arena))
                   : arena_printf(arena, " (%s)",
                                  path_in(answer, job, text_member(warning, "path"), arena));
    }
    return "";
}

static bool is_said(const json_t *answer, const json_t *warning, struct arena *arena)
{
    size_t i = 0;
    json_t *job = NULL;
    json_array_foreach (json_object_get(answer, "jobs"), i, job) {
        if (!verdict_says(answer, job, warning, arena))
            continue;
        const char *path = path_in(answer, job, text_member(warning, "path"), arena);
        if (json_object_get(warning, "line") ||
            strcmp(place_of(answer, job, arena), arena_printf(arena, " (%s)", path)) == 0)
            return true;
    }
    return false;
}

/* Whether the text is about what the note names second, "namespace ml: ...", and as much wrong. */
static bool says_note(const char *text, const char *note, struct arena *arena)
{
    const char *second = note + strcspn(note, " ");
    second += *second == ' ';
    const char *name = meant(note, arena);
    return strstr(text, arena_strndup(arena, second, strcspn(second, " :"))) &&
           (*name ? strstr(text, name) : strstr(text, "here is no ")) != NULL;
}

/* Only of what is wrong, not of what is not judged. */
static bool is_noted(const json_t *answer, const json_t *job, const char *note, struct arena *arena)
{
    size_t i = 0;
    json_t *warning = NULL;
    if (!*meant(note, arena) && !strstr(note, "would reject the pods"))
        return false;
    if (says_note(text_member(json_object_get(job, "verdict"), "text"), note, arena))
        return true;
    json_array_foreach (json_object_get(answer, "warnings"), i, warning) {
        const char *path = path_in(answer, job, text_member(warning, "path"), arena);
        if (path && says_note(arena_printf(arena, "%s: %s", path, text_member(warning, "message")),
                              note, arena))
            return true;
    }
    return false;
}

static void write_verdict(const json_t *answer, const json_t *job, struct arena *arena,
                          struct buf *out)
{
    const json_t *verdict = json_object_get(job, "verdict");
    const char *words = headline_words(verdict);
    const char *asks = text_member(workload_at(answer, job, 0), "understood");
    const char *text = text_member(verdict, "text");
    const char *first = arena_printf(arena, "%s  %s %s/%s: %s%s", words, text_member(job, "kind"),
                                     text_member(job, "namespace"), text_member(job, "name"),
                                     pods_text(job, words, arena), addition(answer, job, arena));
    table_write_sentence(text_one_line(first, arena), 0, out);
    if (fits(job) && asks[0] && json_array_size(json_object_get(job, "workloads")) == 1)
        text = arena_printf(arena, "%s A%s.", text, asks + 1); /* "asks for ..." */
    text = arena_printf(arena, "%s%s", text, place_of(answer, job, arena));
    table_write_sentence(text_one_line(text, arena), strlen(words) + 2, out);
}

/* ---- placements ---- */

static size_t without(const char *text, size_t len, const char *end)
{
    const size_t n = strlen(end);
    return len > n && memcmp(text + len - n, end, n) == 0 ? len - n : len;
}

/* The name of a template among several: "Worker" of "spec.pytorchReplicaSpecs.Worker.template",
 * "train" of "spec.templates[train]", "leader" of "spec.leaderWorkerTemplate.leaderTemplate". */
static const char *role_of(const json_t *workload, struct arena *arena)
{
    const char *slash = strchr(text_member(workload, "name"), '/');
    const char *path = slash ? slash + 1 : "spec";
    size_t len = without(path, strlen(path), ".template");
    len = without(path, without(path, len, ".template.spec"), ".template");
    const char *text = arena_strndup(arena, path, len);
    const char *key = strrchr(text, '[');
    if (key && !isdigit((unsigned char)key[1]))
        return arena_strndup(arena, key + 1, strcspn(key + 1, "]"));
    const size_t n = key ? (size_t)(key - text) : len;
    const char *start = text + n;
    while (start > text && start[-1] != '.')
        start--;
    size_t n_start = (size_t)(text + n - start);
    if (n_start == 0 || strcmp(start, "spec") == 0)
        return "Pod";
    n_start = without(start, without(start, n_start, key ? "GroupSpecs" : "GroupSpec"), "Template");
    return arena_printf(arena, "%.*s%s", (int)n_start, start, key ? key : "");
}

/* Consecutive replicas with the same result share one row. */
static size_t last_alike(const json_t *placements, size_t first)
{
    const json_t *placement = json_array_get(placements, first);
    size_t last = first;
    while (last + 1 < json_array_size(placements)) {
        const json_t *next = json_array_get(placements, last + 1);
        if (strcmp(text_member(placement, "node"), text_member(next, "node")) != 0 ||
            strcmp(text_member(placement, "reason"), text_member(next, "reason")) != 0)
            break;
        last++;
    }
    return last;
}

/* "Worker 0-2": the replica, and those behind it that are alike. */
static const char *pods_from(const json_t *workload, size_t first, size_t last, struct arena *arena)
{
    const char *role = role_of(workload, arena);
    return last > first ? arena_printf(arena, "%s %zu-%zu", role, first, last)
                        : arena_printf(arena, "%s %zu", role, first);
}

static void add_placements(struct table *table, const json_t *workload, bool has_place,
                           struct arena *arena)
{
    const json_t *placements = json_object_get(workload, "placements");
    size_t i = 0;
    json_t *placement = NULL;
    json_array_foreach (placements, i, placement) {
        const char *node = text_member(placement, "node");
        const size_t last = last_alike(placements, i);
        const char *pods = pods_from(workload, i, last, arena);
        i = last;
        if (has_place == (node[0] != '\0'))
            table_add(table, (const char *[]){pods, node, asks_text(workload, arena)});
    }
}

/* The nodes of a DaemonSet's pods, each of which has another. */
static void add_nodes(struct table *table, const json_t *workload, bool has_place,
                      struct arena *arena)
{
    struct name_list nodes = {.text = ""};
    size_t i = 0;
    json_t *placement = NULL;
    json_array_foreach (json_object_get(workload, "placements"), i, placement) {
        if (has_place == (text_member(placement, "node")[0] != '\0'))
            text_names_add(&nodes, has_place ? text_member(placement, "node") : "", arena);
    }
    if (nodes.n > 0)
        table_add(table, (const char *[]){arena_printf(arena, "%zu", nodes.n),
                                          has_place ? text_names(&nodes, arena) : "",
                                          asks_text(workload, arena)});
}

/* The failing ones first. Nothing for a single pod, as its verdict has the node. */
static void write_placements(const json_t *answer, const json_t *job, bool wide,
                             struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"PODS", "GOES TO", "ASKS FOR, EACH", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    const size_t n = json_array_size(json_object_get(job, "workloads"));
    const bool is_per_node = strcmp(text_member(job, "kind"), "DaemonSet") == 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++)
            (is_per_node ? add_nodes : add_placements)(table, workload_at(answer, job, i),
                                                       pass == 1, arena);
    }
    if (table_is_empty(table) || json_integer_value(json_object_get(job, "pods")) == 1)
        return;
    buf_add_text(out, "\n");
    table_write(table, out);
}

/* ---- the rest ---- */

static bool is_failing(const json_t *workload)
{
    return json_integer_value(json_object_get(workload, "placed")) <
           json_integer_value(json_object_get(workload, "replicas"));
}

/* By node, the first pods that the job places there: "Master 0". */
static void add_pods_placed(json_t *placed, const json_t *workload, struct arena *arena)
{
    const json_t *placements = json_object_get(workload, "placements");
    size_t i = 0;
    json_t *placement = NULL;
    json_array_foreach (placements, i, placement) {
        const char *node = text_member(placement, "node");
        const size_t last = last_alike(placements, i);
        if (node[0] && !json_object_get(placed, node))
            (void)json_object_set_new(placed, node,
                                      json_string(pods_from(workload, i, last, arena)));
        i = last;
    }
}

/* Templates that are alike for the nodes would repeat the table. */
static void write_why_not(const json_t *answer, const json_t *job, bool wide, struct arena *arena,
                          struct buf *out)
{
    const size_t n = json_array_size(json_object_get(job, "workloads"));
    const bool is_per_node = strcmp(text_member(job, "kind"), "DaemonSet") == 0;
    json_auto_t *placed = json_object();
    for (size_t i = 0; i < n; i++) {
        const json_t *workload = workload_at(answer, job, i);
        const bool has_pods = json_integer_value(json_object_get(workload, "placed")) > 0;
        const struct why_not why = {.role = n > 1 ? role_of(workload, arena) : "",
                                    .placed = placed,
                                    .takes_no_more =
                                        has_pods && !is_per_node && is_failing(workload)};
        add_pods_placed(placed, workload, arena);
        if (!wide && !is_failing(workload))
            continue;
        verdict_write_table(json_object_get(workload, "nodes"), &why, wide, arena, out);
        if (!wide)
            return;
    }
}

/* Kinds whose pods work together, and start one by one unless something places them as a gang. */
static bool is_gang(const json_t *job)
{
    static const char *const KINDS[] = {"PyTorchJob", "MPIJob",          "TFJob",  "XGBoostJob",
                                        "PaddleJob",  "JAXJob",          "JobSet", "TrainJob",
                                        "RayCluster", "LeaderWorkerSet", "RayJob"};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(text_member(job, "kind"), KINDS[i]) == 0)
            return true;
    }
    return false;
}

/* Adds the GPUs of the pods of a template that have a place, by resource and models. */
static void add_held(json_t *held, const json_t *workload, struct arena *arena)
{
    const json_t *models = json_object_get(json_object_get(workload, "models"), "accept");
    const json_int_t placed = json_integer_value(json_object_get(workload, "placed"));
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach (json_object_get(workload, "asksFor"), resource, amount) {
        json_auto_t *one = json_pack("{s:i}", resource, 1);
        const char *text = asks_for_each(one, models, arena);
        const char *unit = strchr(text, ' ');
        if (!strchr(resource, '/') || placed == 0) /* GPUs come first */
            return;
        const json_int_t before = json_integer_value(json_object_get(held, unit));
        const json_int_t n = amount_add(before, json_integer_value(amount) * placed);
        (void)json_object_set_new(held, unit, json_integer(n));
        return;
    }
}

/* "8 H100 and 2 L4"; "": none. */
static const char *held_text(const json_t *held, struct arena *arena)
{
    const char *text = "";
    const char *unit = NULL;
    json_t *n = NULL;
    json_object_foreach ((json_t *)(uintptr_t)held, unit, n)
        text = arena_printf(arena, "%s%s%lld%s", text, *text ? " and " : "",
                            (long long)json_integer_value(n), unit);
    return text;
}

/* "Without gang scheduling Master 0 starts, and holds 8 H100 while the others wait." */
static void write_gang(const json_t *answer, const json_t *job, struct arena *arena,
                       struct buf *out)
{
    const size_t n = json_array_size(json_object_get(job, "workloads"));
    const char *who = "";
    json_auto_t *held = json_object();
    json_int_t n_pods = 0;
    if (strcmp(text_member(json_object_get(job, "verdict"), "result"), "partlyFits") != 0)
        return;
    const json_t *group = json_object_get(workload_at(answer, job, 0), "group");
    if (group) {
        table_write_line(arena_printf(arena, "None of its pods starts until all of group %s fit.",
                                      text_member(group, "name")),
                         0, 0, out);
        return;
    }
    if (!is_gang(job))
        return;
    for (size_t i = 0; i < n; i++) {
        const json_t *workload = workload_at(answer, job, i);
        const json_int_t placed = json_integer_value(json_object_get(workload, "placed"));
        add_held(held, workload, arena);
        const char *role = role_of(workload, arena);
        n_pods += placed;
        if (placed > 0)
            who = arena_printf(arena, placed > 1 ? "%s%s%s 0-%lld" : "%s%s%s %lld", who,
                               *who ? " and " : "", role, (long long)placed - 1);
    }
    if (json_object_size(held) == 0)
        return;
    table_write_line(arena_printf(arena,
                                  "Without gang scheduling %s %s, and %s %s while the others wait.",
                                  who, n_pods == 1 ? "starts" : "start",
                                  n_pods == 1 ? "holds" : "hold", held_text(held, arena)),
                     0, 0, out);
}

/* Or about the manifest. */
static bool is_about_nodes(const json_t *verdict)
{
    const char *result = text_member(verdict, "result");
    return strcmp(result, "mistake") != 0 && strcmp(result, "notJudged") != 0 &&
           strcmp(text_member(verdict, "cause"), "missing") != 0;
}

/* Below the verdict, or below the line that counts several. */
static void write_changes(const struct job_changes *of, size_t indent, struct arena *arena,
                          struct buf *out)
{
    table_write_sentence(text_one_line(of->changes, arena), indent, out);
    table_write_sentence(text_one_line(of->others, arena), 0, out);
}

/* Those of a workload that is applied again. */
static void write_running(const json_t *job, struct arena *arena, struct buf *out)
{
    const json_t *running = json_object_get(job, "running");
    const long long n = json_integer_value(json_object_get(running, "pods"));
    const long long n_gpus = json_integer_value(json_object_get(running, "gpus"));
    if (n > 0)
        table_write_line(arena_printf(arena,
                                      "%lld of its pods already run%s and hold%s %lld GPU%s; here "
                                      "they count as others'.",
                                      n, n == 1 ? "s" : "", n == 1 ? "s" : "", n_gpus,
                                      n_gpus == 1 ? "" : "s"),
                         0, 0, out);
}

/* Whether the text is new. */
static bool is_first(json_t *said, const char *text)
{
    const bool is_new = !json_object_get(said, text);
    (void)json_object_set_new(said, text, json_true());
    return is_new;
}

/* A verdict on a claim says all of one whose requests nobody has judged. */
static void write_claims(const json_t *job, const json_t *workload, json_t *said,
                         struct arena *arena, struct buf *out)
{
    const json_t *found = json_object_get(job, "verdict");
    const char *verdict = text_member(found, "text");
    size_t i = 0;
    json_t *claim = NULL;
    if (strcmp(text_member(found, "result"), headline_result(RESULT_NOT_JUDGED)) == 0)
        return;
    json_array_foreach (json_object_get(workload, "claims"), i, claim) {
        const char *name = text_member(claim, "claim");
        json_auto_t *one = json_pack("[O]", claim);
        const bool is_told =
            strstr(verdict, name) && json_array_size(json_object_get(claim, "requests")) == 0;
        if (!is_told &&
            is_first(said, arena_printf(arena, "%s: %s", name, text_member(claim, "message"))))
            claim_answers_write(one, 0, arena, out);
    }
}

/* Notes that several templates share stand once; those that the verdict or a warning says, not at
 * all. */
static void write_notes(const json_t *answer, const json_t *job, const json_t *workload,
                        json_t *said, struct arena *arena, struct buf *out)
{
    size_t i = 0;
    json_t *note = NULL;
    json_array_foreach (json_object_get(workload, "notEvaluated"), i, note) {
        const char *text = json_is_string(note) ? json_string_value(note) : "";
        if (*text && is_first(said, text) && !is_noted(answer, job, text, arena))
            table_write_line(arena_printf(arena, "not evaluated: %s", text), 0, TABLE_MORE, out);
    }
}

static void write_rest(const json_t *answer, const json_t *job, bool wide, struct arena *arena,
                       struct buf *out)
{
    const size_t n = json_array_size(json_object_get(job, "workloads"));
    write_running(job, arena, out);
    remedies_write(job, arena, out);
    if (is_about_nodes(json_object_get(job, "verdict"))) {
        write_placements(answer, job, wide, arena, out);
        write_gang(answer, job, arena, out);
        write_why_not(answer, job, wide, arena, out);
    }
    json_auto_t *said = json_object();
    for (size_t i = 0; i < n; i++) {
        const json_t *workload = workload_at(answer, job, i);
        write_claims(job, workload, said, arena, out);
        write_notes(answer, job, workload, said, arena, out);
        eviction_write(json_object_get(workload, "preemption"), arena, out);
        write_explanation(json_object_get(workload, "explain"), wide, arena, out);
    }
}

void dry_run_write_jobs(const json_t *answer, const struct job_changes *of, bool wide,
                        struct arena *arena, struct buf *out)
{
    const json_t *jobs = json_object_get(answer, "jobs");
    const size_t n = json_array_size(jobs);
    size_t n_fitting = 0;
    const char *left_out = text_member(answer, "leftOut");
    bool is_first = n == 1 && !left_out[0];
    if (n > 0 && left_out[0])
        table_write_sentence(text_one_line(left_out, arena), 0, out);
    for (size_t i = 0; i < n; i++)
        n_fitting += fits(json_array_get(jobs, i));
    if (n > 1) {
        buf_printf(out, "%zu of %zu workloads fit\n", n_fitting, n);
        write_changes(of, 0, arena, out);
    }
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++) {
            const json_t *job = json_array_get(jobs, i);
            if (fits(job) != (pass == 1))
                continue;
            buf_add_text(out, is_first ? "" : "\n");
            is_first = false;
            write_verdict(answer, job, arena, out);
            if (n == 1)
                write_changes(of, strlen(headline_words(json_object_get(job, "verdict"))) + 2,
                              arena, out);
            write_rest(answer, job, wide, arena, out);
        }
    }
}

/* ---- the manifest ---- */

/* Why an object is no manifest; NULL: it is one, without pods. */
static const char *fault_of(const json_t *skipped)
{
    static const char UNREADABLE[] = "unreadable: ";
    const char *why = text_member(skipped, "why");
    return strncmp(why, UNREADABLE, strlen(UNREADABLE)) == 0 ? why + strlen(UNREADABLE) : NULL;
}

static void write_mistakes(const json_t *result, struct arena *arena, struct buf *out)
{
    size_t i = 0;
    json_t *skipped = NULL;
    json_array_foreach (json_object_get(result, "skipped"), i, skipped) {
        if (fault_of(skipped))
            tables_write_mistake(fault_of(skipped), arena, out);
    }
}

static void write_skipped(const json_t *result, struct arena *arena, struct buf *out)
{
    size_t i = 0;
    json_t *skipped = NULL;
    json_array_foreach (json_object_get(result, "skipped"), i, skipped) {
        if (!fault_of(skipped))
            table_write_line(arena_printf(arena, "skipped: %s %s: %s", text_member(skipped, "kind"),
                                          text_member(skipped, "name"),
                                          text_member(skipped, "why")),
                             0, TABLE_MORE, out);
    }
}

static void write_device_requests(const json_t *result, struct arena *arena, struct buf *out)
{
    size_t i = 0;
    json_t *request = NULL;
    json_array_foreach (json_object_get(result, "deviceRequests"), i, request) {
        const char *text =
            arena_printf(arena, "%s: %s: %s", text_member(request, "object"),
                         text_member(request, "path"), text_member(request, "message"));
        table_write_line(text, 0, TABLE_MORE, out);
    }
}

static void write_not_understood(const json_t *result, struct arena *arena, struct buf *out)
{
    size_t i = 0;
    json_t *entry = NULL;
    json_array_foreach (json_object_get(result, "notUnderstood"), i, entry) {
        const char *text = arena_printf(arena, "not understood: %s %s: %s: %s",
                                        text_member(entry, "kind"), text_member(entry, "name"),
                                        text_member(entry, "path"), text_member(entry, "message"));
        table_write_line(text, 0, TABLE_MORE, out);
    }
}

static void write_warnings(const json_t *answer, struct arena *arena, struct buf *out)
{
    json_auto_t *others = json_array();
    json_auto_t *shown = json_pack("{s:O}", "warnings", others);
    size_t i = 0;
    json_t *warning = NULL;
    json_array_foreach (json_object_get(answer, "warnings"), i, warning) {
        if (!is_said(answer, warning, arena))
            (void)json_array_append(others, warning);
    }
    text_write_warnings(shown, arena, out);
}

/* Apart from the last of several jobs, as they are not about it alone. */
void dry_run_write_warnings(const json_t *answer, struct arena *arena, struct buf *out)
{
    const bool is_apart = json_array_size(json_object_get(answer, "jobs")) > 1;
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED); /* part of the answer */
    write_skipped(answer, arena, &text);
    write_not_understood(answer, arena, &text);
    write_warnings(answer, arena, &text);
    write_device_requests(answer, arena, &text);
    buf_printf(out, "%s%s", is_apart && text.len > 0 ? "\n" : "", buf_text(&text));
    buf_fini(&text);
}

/* Verdicts come first. */
void tables_write_dry_run(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    provenance_write_warning(answer, arena, out);
    write_mistakes(answer, arena, out);
    if (json_array_size(json_object_get(answer, "jobs")) == 0)
        table_write_line(text_member(answer, "summary"), 0, 0, out);
    dry_run_write_jobs(answer, &(struct job_changes){"", ""}, wide, arena, out);
    dry_run_write_warnings(answer, arena, out);
}
