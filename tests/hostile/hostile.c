/*
 * hostile: runs each attack of the catalogue (attacks.c) against a live inventory, through the
 * decoders of objects. Its objects arrive by watch, are decided on, checked, scraped, relisted and
 * deleted.
 *
 *     hostile [NAME...]      all attacks, what-ifs (what_ifs.c) and bodies (bodies.c), or the named
 *                            ones
 *     hostile --times [NAME...]   the same with the bounds on CPU time: a benchmark
 *     hostile --print NAME   only prints its objects as JSON, one per line: for tests/bench/hostile
 *
 * Prints a row each. Exits with 1 if a bound is exceeded, the self-check finds a difference,
 * or memory is left over in the end.
 */
#include "api/api.h"
#include "api/kubernetes.h"
#include "attacks.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "bodies.h"
#include "config/settings.h"
#include "extender/extender.h"
#include "fake_exchange.h"
#include "inventory/kinds.h"
#include "inventory/live.h"
#include "kube/reflector.h"
#include "meter.h"
#include "what_ifs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_EVERY 64
#define ROUNDS 5
/* Tables do not shrink when they empty. */
#define KEPT_BYTES_MAX (4.0 * 1024 * 1024)
/* CPU time that prioritize may spend on claims. */
#define RANKED_MS_MAX 20

struct harness {
    struct policy policy;
    struct inventory *inventory;
    struct extender extender;
    struct reflector_store stores[N_CLUSTER_KINDS];
    struct buf question;
    struct settings settings; /* of what-ifs that change the policy */
};

static const struct inventory_limits LIMITS = {
    .max_object_bytes = 1 << 20, .max_nodes = 10000, .max_pods = 300000};

static void flush(const struct harness *harness, enum cluster_kind kind)
{
    const struct reflector_status status = {.synced = true, .fresh_ms = clock_ms()};
    harness->stores[kind].flush(harness->stores[kind].context, &status);
}

static void put(const struct harness *harness, enum cluster_kind kind, json_t *object)
{
    harness->stores[kind].upsert(harness->stores[kind].context, object);
    json_decref(object);
}

static json_t *node_of(size_t i)
{
    char name[32];
    (void)snprintf(name, sizeof name, "node-%zu", i);
    return json_pack("{s:{s:s, s:{s:s}}, s:{s:{s:s, s:s, s:s, s:s}, s:[{s:s, s:s}]}}", "metadata",
                     "name", name, "labels", "nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3",
                     "status", "allocatable", "cpu", "96", "memory", "1Ti", "nvidia.com/gpu", "8",
                     "pods", "110", "conditions", "type", "Ready", "status", "True");
}

static void list(const struct harness *harness, enum cluster_kind kind, size_t n,
                 json_t *(*make)(size_t i))
{
    harness->stores[kind].list_begin(harness->stores[kind].context);
    for (size_t i = 0; i < n; i++)
        put(harness, kind, make(i));
    harness->stores[kind].list_end(harness->stores[kind].context);
    flush(harness, kind);
}

static void make_question(struct buf *question)
{
    buf_init(question, 1 << 20);
    buf_add_text(question, "{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"other\","
                           "\"uid\":\"u\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":"
                           "{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}},\"NodeNames\":[");
    for (size_t i = 0; i < ATTACKED_NODES; i++)
        buf_printf(question, "%s\"node-%zu\"", i ? "," : "", i);
    buf_add_text(question, "]}");
}

static void harness_begin(struct harness *harness, size_t n_nodes)
{
    *harness = (struct harness){0};
    policy_init(&harness->policy);
    harness->policy.shortlist = 100;
    harness->inventory = inventory_new(&harness->policy, &LIMITS);
    inventory_go_live(harness->inventory, "https://127.0.0.1:6443");
    harness->extender.inventory = harness->inventory;
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++)
        harness->stores[i] = inventory_store(harness->inventory, i);
    for (enum cluster_kind kind = 0; kind < N_CLUSTER_KINDS; kind++)
        list(harness, kind, kind == CLUSTER_NODES ? n_nodes : 0, node_of);
    make_question(&harness->question);
    settings_init(&harness->settings);
}

static void harness_end(struct harness *harness)
{
    buf_fini(&harness->question);
    inventory_free(harness->inventory);
    policy_fini(&harness->policy);
    settings_fini(&harness->settings);
}

static void fail(const char *answer)
{
    printf("FAILED: unexpected answer: %.300s\n", answer);
    exit(EXIT_FAILURE);
}

/* The minimum of several calls. */
static double filter_ms(struct harness *harness)
{
    double least = 0;
    const struct fake_question question = {.body = harness->question.data,
                                           .len = harness->question.len};
    for (int round = 0; round < ROUNDS; round++) {
        const double began_ms = meter_cpu_ms();
        struct fake_answer answer = fake_ask(extender_filter, &harness->extender, &question);
        const double took_ms = meter_cpu_ms() - began_ms;
        least = round == 0 || took_ms < least ? took_ms : least;
        if (!strstr(answer.body, "\"NodeNames\":[\"node-"))
            fail(answer.body);
        fake_answer_fini(&answer);
    }
    return least;
}

static void check_sums(const struct harness *harness)
{
    /* At most one step per pod, or per thousand of its needs. */
    for (int64_t now_ms = 1, step = 0; step < 1000; step++)
        now_ms = inventory_self_check(harness->inventory, now_ms);
}

/* Length of /metrics; negative if the self-check has found a difference. */
static double metrics_bytes(const struct harness *harness)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    inventory_metrics(harness->inventory, &text);
    const double bytes = (double)text.len;
    inventory_live_metrics(harness->inventory, &text);
    const bool is_right =
        strstr(buf_text(&text), "\ngpu_extender_self_check_differences_total 0\n") != NULL;
    buf_fini(&text);
    return is_right ? bytes : -1;
}

struct cost {
    double bytes_each, hold_ms, filter_ms, dry_run_ms, asked_ms, ranked_ms, metrics_bytes,
        kept_bytes;
    size_t answer_bytes; /* the longest of the dry run, pending and explain */
    size_t n_holds;
    bool sums_are_right;
};

static void come(const struct harness *harness, const struct attack *attack)
{
    for (size_t i = 0; i < attack->n_objects; i++) {
        put(harness, attack->kind, attack->make(i));
        if (i % FLUSH_EVERY == 0)
            flush(harness, attack->kind);
    }
    flush(harness, attack->kind);
}

static void go(const struct harness *harness, const struct attack *attack)
{
    const struct reflector_store *store = &harness->stores[attack->kind];
    for (size_t i = 0; i < attack->n_objects; i += 2) {
        json_t *object = attack->make(i);
        store->removed(store->context, object);
        json_decref(object);
        if (i % FLUSH_EVERY == 0)
            flush(harness, attack->kind);
    }
    list(harness, attack->kind, 0, NULL); /* removes the others: a list without them */
}

/* CPU time. What the answer says is for other tests. */
static double ask_ms(handle_exchange *handle, void *context, const struct fake_question *question,
                     const char *member, size_t *ret_bytes)
{
    const double began_ms = meter_cpu_ms();
    struct fake_answer answer = fake_ask(handle, context, question);
    const double took_ms = meter_cpu_ms() - began_ms;
    if (!strstr(answer.body, member))
        fail(answer.body);
    *ret_bytes = answer.len > *ret_bytes ? answer.len : *ret_bytes;
    fake_answer_fini(&answer);
    return took_ms;
}

static enum cluster_kind kind_of(const json_t *object)
{
    const char *kind = json_string_value(json_object_get(object, "kind"));
    if (strcmp(kind, "Pod") == 0)
        return CLUSTER_PODS;
    if (strcmp(kind, "PodDisruptionBudget") == 0)
        return CLUSTER_BUDGETS;
    if (strcmp(kind, "ResourceSlice") == 0)
        return CLUSTER_SLICES;
    return strcmp(kind, "DeviceClass") == 0 ? CLUSTER_DEVICE_CLASSES : CLUSTER_CLAIMS;
}

static const json_t *first_pod(const json_t *items)
{
    size_t i = 0;
    const json_t *item = NULL;
    json_array_foreach (items, i, item) {
        if (kind_of(item) == CLUSTER_PODS)
            return item;
    }
    return NULL;
}

/* CPU time of prioritize over all nodes: an order, or none beyond its budget. */
static double ranked_ms(struct harness *harness, const json_t *pod)
{
    size_t bytes = 0;
    json_auto_t *names = json_array();
    for (size_t i = 0; i < ATTACKED_NODES; i++)
        (void)json_array_append_new(names, json_sprintf("node-%zu", i));
    json_auto_t *asked = json_pack("{s:O, s:O}", "Pod", pod, "NodeNames", names);
    char *body = json_dumps(asked, JSON_COMPACT);
    const struct fake_question question = {.body = body, .len = strlen(body)};
    const double took_ms = ask_ms(extender_prioritize, &harness->extender, &question, "[", &bytes);
    free(body);
    return took_ms;
}

/* pending, and explain of the first pod, while the objects are in the cluster. The longer time. */
static double asked_ms(struct harness *harness, struct api *api, const json_t *items,
                       struct cost *cost)
{
    static const enum cluster_kind KINDS[] = {CLUSTER_PODS, CLUSTER_CLAIMS, CLUSTER_DEVICE_CLASSES};
    static const struct fake_question PENDING = {.body = "", .method = "GET"};
    static const struct fake_question EXPLAIN = {
        .body = "", .method = "GET", .path = "/v1/pods/tenant/hostile-0/explain"};
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (items, i, item)
        put(harness, kind_of(item), json_deep_copy(item));
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        flush(harness, KINDS[k]);
    const double pending_ms =
        ask_ms(api_pending, api, &PENDING, "\"hostile-0\"", &cost->answer_bytes);
    const double explain_ms =
        ask_ms(api_explain, api, &EXPLAIN, "\"hostile-0\"", &cost->answer_bytes);
    cost->ranked_ms = ranked_ms(harness, first_pod(items));
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        list(harness, KINDS[k], 0, NULL);
    return pending_ms > explain_ms ? pending_ms : explain_ms;
}

static void ask(struct harness *harness, const struct hostile_manifest *posted, struct cost *cost)
{
    if (!posted)
        return;
    struct api api = {.inventory = harness->inventory,
                      .max_object_bytes = 32 << 20,
                      .max_object_values = harness->settings.policy.object_values,
                      .request_budget = settings_request_budget(&harness->settings.limits)};
    json_auto_t *manifest = posted->make();
    char *body = json_dumps(manifest, JSON_COMPACT);
    const struct fake_question question = {.body = body, .len = strlen(body)};
    cost->dry_run_ms =
        ask_ms(api_dry_run, &api, &question, "\"deviceRequests\"", &cost->answer_bytes);
    free(body);
    if (posted->max_asked_ms > 0)
        cost->asked_ms = asked_ms(harness, &api, json_object_get(manifest, "items"), cost);
}

static struct cost measure(const struct attack *attack)
{
    struct harness harness;
    struct cost cost = {0};
    harness_begin(&harness, ATTACKED_NODES);
    (void)filter_ms(&harness);
    const double before = meter_bytes();
    const double metrics_before = metrics_bytes(&harness);
    meter_reset();
    come(&harness, attack);
    cost.bytes_each = (meter_bytes() - before) / (double)attack->n_objects;
    cost.filter_ms = filter_ms(&harness);
    ask(&harness, attacks_manifest(attack->name), &cost);
    check_sums(&harness);
    put(&harness, CLUSTER_NODES, node_of(ATTACKED_NODES)); /* forces demands to be settled again */
    flush(&harness, CLUSTER_NODES);
    (void)filter_ms(&harness);
    list(&harness, CLUSTER_NODES, ATTACKED_NODES, node_of);
    list(&harness, attack->kind, attack->n_objects, attack->make);
    cost.metrics_bytes = metrics_bytes(&harness) - metrics_before;
    go(&harness, attack);
    cost.sums_are_right = metrics_bytes(&harness) >= 0;
    cost.hold_ms = meter_longest_hold_ms();
    cost.n_holds = meter_n_holds();
    cost.kept_bytes = meter_bytes() - before;
    harness_end(&harness);
    return cost;
}

static bool is_within(const char *what, double is, double bound)
{
    if (is > bound)
        printf("    FAILED: %s is %.1f, at most %.1f is allowed\n", what, is, bound);
    return is <= bound;
}

static bool judges_times; /* --times */

static bool is_in_time(const char *what, double is_ms, double bound_ms)
{
    return !judges_times || is_within(what, is_ms, bound_ms);
}

/* Some machines count their own pauses as CPU time. Quadratic work takes as long again. */
static double hold_ms_again(const struct attack *attack, double hold_ms)
{
    const double again_ms = measure(attack).hold_ms;
    return again_ms < hold_ms ? again_ms : hold_ms;
}

static bool run(const struct attack *attack)
{
    const struct hostile_manifest *posted = attacks_manifest(attack->name);
    struct cost cost = measure(attack);
    if (judges_times && cost.hold_ms > attack->max_hold_ms)
        cost.hold_ms = hold_ms_again(attack, cost.hold_ms);
    bool ok = cost.sums_are_right;
    printf("%-22s %7zu %12.0f %11.2f %11.2f %12.2f %12.2f %10.2f %14.0f %8zu  %s\n", attack->name,
           attack->n_objects, cost.bytes_each, cost.hold_ms, cost.filter_ms, cost.dry_run_ms,
           cost.asked_ms, cost.ranked_ms, cost.metrics_bytes, cost.n_holds, attack->what);
    if (!ok)
        printf("    FAILED: the self-check has found a difference\n");
    ok &= is_within("bytes each", cost.bytes_each, attack->max_bytes_each);
    ok &= is_in_time("the longest hold, CPU ms,", cost.hold_ms, attack->max_hold_ms);
    ok &= is_in_time("a filter call, CPU ms,", cost.filter_ms, attack->max_filter_ms);
    if (posted) {
        ok &= is_in_time("a dry run, CPU ms,", cost.dry_run_ms, posted->max_ms);
        ok &= is_in_time("pending or explain, CPU ms,", cost.asked_ms, posted->max_asked_ms);
        ok &= is_in_time("prioritize, CPU ms,", cost.ranked_ms, RANKED_MS_MAX);
        ok &= is_within("the longest answer, bytes,", (double)cost.answer_bytes,
                        (double)posted->max_answer_bytes);
    }
    ok &= is_within("more of metrics, bytes,", cost.metrics_bytes, attack->max_metrics_bytes);
    ok &= is_within("what is kept in the end, bytes,", cost.kept_bytes, KEPT_BYTES_MAX);
    return ok;
}

/* ---- what-ifs ---- */

static void put_all(const struct harness *harness, const json_t *objects)
{
    size_t i = 0;
    json_t *object = NULL;
    json_array_foreach (objects, i, object) {
        put(harness, kind_of(object), json_incref(object));
        if (i % FLUSH_EVERY == 0)
            flush(harness, kind_of(object));
    }
    for (enum cluster_kind kind = 0; kind < N_CLUSTER_KINDS; kind++)
        flush(harness, kind);
}

static bool run_what_if(const struct hostile_what_if *what_if)
{
    struct harness harness;
    harness_begin(&harness, ATTACKED_NODES);
    json_auto_t *objects = what_if->objects ? what_if->objects() : json_array();
    put_all(&harness, objects);
    struct api api = {.inventory = harness.inventory,
                      .max_object_bytes = 32 << 20,
                      .max_object_values = harness.settings.policy.object_values,
                      .request_budget = settings_request_budget(&harness.settings.limits),
                      .policy = settings_policy_text,
                      .policy_context = &harness.settings,
                      .read_policy = settings_read_policy};
    char *body = what_if->body();
    const struct fake_question question = {.body = body, .len = strlen(body)};
    const double before = meter_bytes();
    const double began_ms = meter_cpu_ms();
    meter_reset();
    struct fake_answer answer = fake_ask(api_what_if, &api, &question);
    const double took_ms = meter_cpu_ms() - began_ms;
    printf("%-22s %7zu %12.2f %11.2f %11zu  %s\n", what_if->name, strlen(body), took_ms,
           meter_longest_hold_ms(), answer.len, what_if->what);
    bool ok = answer.status == what_if->status;
    if (!ok)
        printf("    FAILED: status %u, not %u: %.200s\n", answer.status, what_if->status,
               answer.body);
    for (const char *at = answer.body; *at; at++)
        ok &= (unsigned char)*at >= ' ' || *at == '\n';
    ok &= is_in_time("a what-if, CPU ms,", took_ms, what_if->max_ms);
    ok &= is_within("the answer, bytes,", (double)answer.len, (double)what_if->max_answer_bytes);
    fake_answer_fini(&answer);
    free(body);
    ok &= is_within("what is kept in the end, bytes,", meter_bytes() - before, KEPT_BYTES_MAX);
    harness_end(&harness);
    return ok;
}

static bool is_wanted(const char *name, char **names, int n)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return n == 0;
}

static bool run_what_ifs(char **names, int n, size_t *n_run)
{
    bool ok = true;
    printf("\n%-22s %7s %12s %11s %11s  %s\n", "what-if", "bytes", "CPU, ms", "hold, ms", "answer",
           "what it attacks");
    for (size_t i = 0; i < N_WHAT_IFS; i++) {
        if (!is_wanted(WHAT_IFS[i].name, names, n))
            continue;
        ok &= run_what_if(&WHAT_IFS[i]);
        (void)fflush(stdout);
        (*n_run)++;
    }
    return ok;
}

/* ---- bodies ---- */

#define DRY_RUN_PATH "/apis/visibility.gpu-extender.io/v1alpha1/namespaces/tenant/dryruns"
#define PIECE_BYTES ((size_t)64 * 1024)
#define PAGE_OBJECTS 500

static void feed(struct reflector *reflector, const char *text)
{
    for (size_t len = strlen(text), n = 0; len > 0; text += n, len -= n) {
        n = len < PIECE_BYTES ? len : PIECE_BYTES;
        reflector_bytes(reflector, 0, text, n);
    }
}

/* Through the reflector, as from the API server. */
static void relist(const struct harness *harness, const struct hostile_body *body, const char *pod)
{
    const struct reflector_settings settings = {.kind = &INVENTORY_KINDS[CLUSTER_PODS].listed,
                                                .page_size = PAGE_OBJECTS,
                                                .silence_ms = 1000,
                                                .max_object_bytes = 16 << 20,
                                                .max_object_values = harness->policy.object_values};
    struct reflector *reflector = reflector_new(&settings, &harness->stores[CLUSTER_PODS]);
    (void)reflector_next(reflector, 0);
    reflector_head(reflector, 0, 200, 0);
    feed(reflector, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[");
    for (size_t i = 0; i < body->n_objects; i++) {
        feed(reflector, i > 0 ? "," : "");
        feed(reflector, pod);
    }
    feed(reflector, "]}");
    reflector_end(reflector, 0, KUBE_ANSWERED, "");
    reflector_free(reflector);
}

/* False: the answer is another one. */
static bool send_body(struct harness *harness, const struct hostile_body *body, const char *text)
{
    struct route routes[API_N_ROUTES + 1] = {0};
    struct api api = {.inventory = harness->inventory,
                      .max_object_bytes = 16 << 20,
                      .max_object_values = harness->settings.policy.object_values,
                      .request_budget = settings_request_budget(&harness->settings.limits)};
    struct kubernetes kubernetes = {&api, routes};
    struct fake_question question = {.body = text, .len = strlen(text)};
    struct fake_answer answer;
    if (body->reader == READ_DRY_RUN_OBJECT)
        question.path = DRY_RUN_PATH;
    if (body->reader == READ_DRY_RUN_TABLE)
        question.output = "table";
    api_routes(&api, NULL, routes);
    meter_reset();
    if (body->reader == READ_DRY_RUN || body->reader == READ_DRY_RUN_TABLE)
        answer = fake_ask(api_dry_run, &api, &question);
    else if (body->reader == READ_DRY_RUN_OBJECT)
        answer = fake_ask(kubernetes_handle, &kubernetes, &question);
    else if (body->reader == READ_WHAT_IF)
        answer = fake_ask(api_what_if, &api, &question);
    else if (body->reader == READ_PREEMPT)
        answer = fake_ask(extender_preempt, &harness->extender, &question);
    else
        answer = fake_ask(extender_filter, &harness->extender, &question);
    const bool ok = answer.status == body->status && strstr(answer.body, body->says);
    if (!ok)
        printf("    FAILED: status %u, not %u with \"%s\": %.200s\n", answer.status, body->status,
               body->says, answer.body);
    fake_answer_fini(&answer);
    return ok;
}

static bool run_body(const struct hostile_body *body)
{
    struct harness harness;
    bool ok = true;
    harness_begin(&harness, body->n_nodes ? body->n_nodes : ATTACKED_NODES);
    char *text = bodies_text(body);
    const double began_ms = meter_cpu_ms();
    meter_reset();
    if (body->reader == READ_PODS)
        relist(&harness, body, text);
    else
        ok = send_body(&harness, body, text);
    const double copied_bytes = body->reader == READ_PODS ? 0 : (double)strlen(text);
    const double most_bytes = meter_most_bytes() - copied_bytes;
    printf("%-22s %9zu %12.2f %14.0f  %s\n", body->name, strlen(text), meter_cpu_ms() - began_ms,
           most_bytes, body->what);
    ok &= is_within("the memory, bytes,", most_bytes, body->max_bytes);
    free(text);
    harness_end(&harness);
    return ok;
}

static bool run_bodies(char **names, int n, size_t *n_run)
{
    bool ok = true;
    printf("\n%-22s %9s %12s %14s  %s\n", "body", "bytes", "CPU, ms", "memory, bytes",
           "what it attacks");
    for (size_t i = 0; i < N_BODIES; i++) {
        if (!is_wanted(BODIES[i].name, names, n))
            continue;
        ok &= run_body(&BODIES[i]);
        (void)fflush(stdout);
        (*n_run)++;
    }
    return ok;
}

static int print_objects(const char *name)
{
    for (size_t i = 0; i < N_ATTACKS; i++) {
        for (size_t p = 0; strcmp(name, ATTACKS[i].name) == 0 && p < ATTACKS[i].n_objects; p++) {
            json_t *object = ATTACKS[i].make(p);
            (void)json_dumpf(object, stdout, JSON_COMPACT);
            (void)putchar('\n');
            json_decref(object);
        }
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--print") == 0)
        return print_objects(argv[2]);
    bool ok = true;
    size_t n_run = 0;
    judges_times = argc > 1 && strcmp(argv[1], "--times") == 0;
    argc -= judges_times;
    argv += judges_times;
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    printf("%-22s %7s %12s %11s %11s %12s %12s %10s %14s %8s  %s\n", "attack", "objects",
           "bytes each", "hold, ms", "filter, ms", "dry run, ms", "asked, ms", "ranked, ms",
           "metrics, bytes", "holds", "what it attacks");
    for (size_t i = 0; i < N_ATTACKS; i++) {
        if (!is_wanted(ATTACKS[i].name, argv + 1, argc - 1))
            continue;
        ok &= run(&ATTACKS[i]);
        (void)fflush(stdout);
        n_run++;
    }
    ok &= run_what_ifs(argv + 1, argc - 1, &n_run);
    ok &= run_bodies(argv + 1, argc - 1, &n_run);
    return ok && n_run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
