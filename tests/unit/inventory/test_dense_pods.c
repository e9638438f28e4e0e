/*
 * A pod over its budget of values uses what it used without the padding: random pods, with and
 * without members that take many values, in any order of members, and with escapes in keys.
 */
#include "formats/json_stream.h"
#include "inventory/live.h"
#include "live_cluster.h"
#include "objects/pod.h"

#define SEEDS 400
#define MOST_VALUES 300

static const struct json_budget BUDGET = {.max_values = MOST_VALUES,
                                          .max_tree_bytes = SIZE_MAX,
                                          .max_depth = 50,
                                          .values_key = "limits.objectValues"};

static unsigned roll(unsigned *seed, unsigned n)
{
    *seed = *seed * 1103515245U + 12345U;
    return (*seed >> 16) % n;
}

/* ---- pods ---- */

static json_t *amounts(unsigned *seed)
{
    json_t *map = json_object();
    json_object_set_new(map, "cpu", json_integer(1 + roll(seed, 8)));
    if (roll(seed, 2))
        json_object_set_new(map, "nvidia.com/gpu", json_sprintf("%u", roll(seed, 9)));
    if (roll(seed, 3) == 0)
        json_object_set_new(map, "example.com/invented", json_string("0"));
    return map;
}

static json_t *containers(unsigned *seed, bool is_status)
{
    json_t *list = json_array();
    const unsigned n = roll(seed, 4);
    for (unsigned i = 0; i < n; i++) {
        json_t *one = json_pack("{s:o}", "name", json_sprintf("c%u", i));
        json_t *requests = amounts(seed);
        if (roll(seed, 3) == 0)
            json_object_set_new(one, "restartPolicy", json_string("Always"));
        if (is_status && roll(seed, 2))
            json_object_set(one, "allocatedResources", requests);
        json_object_set_new(
            one, "resources",
            json_pack("{s:o, s:o}", "requests", requests, "limits", json_deep_copy(requests)));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *random_pod(unsigned *seed)
{
    static const char *const PHASES[] = {"Pending", "Running", "Succeeded", "Failed"};
    json_t *metadata = json_pack("{s:s, s:s, s:s, s:s}", "name", "p", "namespace", "ml", "uid", "u",
                                 "resourceVersion", "7");
    json_t *spec = json_pack("{s:o, s:o}", "containers", containers(seed, false), "initContainers",
                             containers(seed, false));
    json_t *status = json_pack("{s:s, s:o}", "phase", PHASES[roll(seed, 4)], "containerStatuses",
                               containers(seed, true));
    if (roll(seed, 2))
        json_object_set_new(spec, "nodeName", json_string("node"));
    if (roll(seed, 3) == 0)
        json_object_set_new(spec, "overhead", amounts(seed));
    if (roll(seed, 3) == 0)
        json_object_set_new(spec, "resources", json_pack("{s:o}", "requests", amounts(seed)));
    if (roll(seed, 2))
        json_object_set_new(spec, "resourceClaims",
                            json_pack("[{s:s, s:s}]", "name", "a", "resourceClaimName", "claim"));
    if (roll(seed, 3) == 0)
        json_object_set_new(metadata, "deletionTimestamp", json_string("2026-01-02T03:04:05Z"));
    return json_pack("{s:o, s:o, s:o}", "metadata", metadata, "spec", spec, "status", status);
}

static json_t *many(void)
{
    json_t *list = json_array();
    for (int i = 0; i <= MOST_VALUES; i++)
        json_array_append_new(list, json_object());
    return list;
}

/* One kind of padding at least. */
static void pad(json_t *pod, unsigned *seed)
{
    const unsigned which = 1 + roll(seed, 15);
    json_t *spec = json_object_get(pod, "spec");
    if (which & 1)
        json_object_set_new(spec, "affinity", json_pack("{s:o}", "nodeAffinity", many()));
    if (which & 2)
        json_object_set_new(spec, "tolerations", many());
    if (which & 4)
        json_object_set_new(json_object_get(pod, "metadata"), "unheardOf", many());
    if (which & 8)
        json_object_set_new(pod, "aaa", json_pack("{s:o}", "b", many()));
}

/* ---- texts ---- */

static void write_value(const json_t *value, unsigned *seed, struct buf *out);

static void write_key(const char *key, unsigned *seed, struct buf *out)
{
    if (roll(seed, 4) == 0)
        buf_printf(out, "\"\\u%04x%s\":", (unsigned)(unsigned char)key[0], key + 1);
    else
        buf_printf(out, "\"%s\":", key);
}

/* The members begin with any of them. */
static void write_object(const json_t *object, unsigned *seed, struct buf *out)
{
    const size_t n = json_object_size(object);
    const size_t first = n > 0 ? roll(seed, (unsigned)n) : 0;
    buf_add_text(out, "{");
    for (size_t i = 0; i < n; i++) {
        void *at = json_object_iter((json_t *)(uintptr_t)object);
        for (size_t skip = (first + i) % n; skip > 0; skip--)
            at = json_object_iter_next((json_t *)(uintptr_t)object, at);
        buf_add_text(out, i > 0 ? "," : "");
        write_key(json_object_iter_key(at), seed, out);
        write_value(json_object_iter_value(at), seed, out);
    }
    buf_add_text(out, "}");
}

static void write_value(const json_t *value, unsigned *seed, struct buf *out)
{
    size_t i = 0;
    const json_t *item = NULL;
    if (json_is_object(value)) {
        write_object(value, seed, out);
        return;
    }
    if (!json_is_array(value)) {
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        buf_add_text(out, text);
        free(text);
        return;
    }
    buf_add_text(out, "[");
    json_array_foreach (value, i, item) {
        buf_add_text(out, i > 0 ? "," : "");
        write_value(item, seed, out);
    }
    buf_add_text(out, "]");
}

/* ---- reading ---- */

struct taken {
    json_t *object;
    bool is_counted;
};

static int take(void *context, json_t *item, struct text_position at, struct err *err)
{
    (void)at;
    (void)err;
    ((struct taken *)context)->object = json_incref(item);
    return 0;
}

static bool take_over(void *context, const json_t *part, const struct json_over *over)
{
    struct taken *taken = context;
    assert_non_null(strstr(over->why, " values, should have at most 300 (limits.objectValues)"));
    *taken = (struct taken){json_deep_copy(part), over->is_counted};
    return true;
}

static struct taken read_listed(const char *text, size_t len)
{
    struct taken taken = {0};
    const struct json_stream_options options = {.drop = INVENTORY_KINDS[CLUSTER_PODS].listed.drop,
                                                .keep = INVENTORY_KINDS[CLUSTER_PODS].listed.keep,
                                                .object_budget = &BUDGET,
                                                .max_object_bytes = 1 << 20,
                                                .max_depth = 50};
    const struct json_stream_handler handler = {
        .on_item = take, .on_large_item = take_over, .context = &taken};
    struct json_stream *stream = json_stream_new(&options, &handler);
    assert_int_equal(json_stream_feed(stream, "{\"items\":[", 10, NULL), 0);
    assert_int_equal(json_stream_feed(stream, text, len, NULL), 0);
    assert_int_equal(json_stream_feed(stream, "]}", 2, NULL), 0);
    json_stream_free(stream);
    assert_non_null(taken.object);
    return taken;
}

static void read_pod(const json_t *pod, unsigned *seed, bool is_over, struct arena *arena,
                     struct pod_facts *ret_facts)
{
    struct policy policy;
    struct buf text;
    struct err err;
    policy_init(&policy);
    buf_init(&text, 1 << 20);
    write_value(pod, seed, &text);
    const struct taken taken = read_listed(buf_text(&text), text.len);
    assert_int_equal(taken.is_counted, is_over);
    if (pod_from_json_unasked(taken.object, &policy, arena, ret_facts, &err) < 0)
        fail_msg("%s: %s", err.text, buf_text(&text));
    json_decref(taken.object);
    buf_fini(&text);
    policy_fini(&policy);
}

static const char *used(const struct pod_facts *facts, struct arena *arena)
{
    const char *text =
        arena_printf(arena, "%s %s/%s on '%s'%s%s%s%s claims %s:", facts->uid, facts->namespace_,
                     facts->name, facts->node_name, facts->finished ? " finished" : "",
                     facts->terminating ? " ends" : "", facts->unstarted ? " unstarted" : "",
                     facts->gated ? " gated" : "", facts->claims ? facts->claims : "-");
    for (size_t i = 0; i < facts->shape.n_demand; i++)
        text = arena_printf(arena, "%s %s=%lld", text, facts->shape.demand[i].resource,
                            (long long)facts->shape.demand[i].amount);
    return text;
}

static void test_padding_changes_no_usage(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SEEDS; i++) {
        unsigned seed = i;
        struct arena *arena = arena_new();
        struct pod_facts plain;
        struct pod_facts padded;
        json_t *pod = random_pod(&seed);
        read_pod(pod, &seed, false, arena, &plain);
        pad(pod, &seed);
        read_pod(pod, &seed, true, arena, &padded);
        assert_string_equal(used(&padded, arena), used(&plain, arena));
        json_decref(pod);
        arena_free(arena);
    }
}

/* Zero amounts of invented resources, which an API server accepts: they are fewer than four
 * budgets. Beyond, only the name is read. */
static void test_requests_have_four_budgets(void **state)
{
    (void)state;
    for (unsigned n = 900; n <= 1300; n += 400) {
        unsigned seed = n;
        struct buf text;
        json_t *requests = json_pack("{s:s}", "nvidia.com/gpu", "2");
        for (unsigned i = 0; i < n; i++) {
            char name[40];
            (void)snprintf(name, sizeof name, "example.com/r%u", i);
            json_object_set_new(requests, name, json_string("0"));
        }
        json_t *pod =
            json_pack("{s:{s:s}, s:{s:[{s:s, s:{s:o}}]}}", "metadata", "name", "p", "spec",
                      "containers", "name", "c", "resources", "requests", requests);
        buf_init(&text, 1 << 20);
        write_value(pod, &seed, &text);
        const struct taken taken = read_listed(buf_text(&text), text.len);
        assert_int_equal(taken.is_counted, n == 900);
        json_decref(taken.object);
        json_decref(pod);
        buf_fini(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_padding_changes_no_usage),
        cmocka_unit_test(test_requests_have_four_budgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
