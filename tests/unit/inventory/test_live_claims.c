/* live: what becomes of claims whose kinds cannot be followed. Decisions go on, and the service
 * says that claims are not counted. */
#include "followed.h"
#include "live_cluster.h"

#define CLAIM(name) "{'metadata':{'name':'" name "','namespace':'ml','uid':'" name "'}}"

static const enum cluster_kind KINDS_OF_CLAIMS[] = {CLUSTER_SLICES, CLUSTER_CLAIMS,
                                                    CLUSTER_DEVICE_TAINTS};

static void list_essential(struct live_cluster *live)
{
    for (int kind = CLUSTER_NODES; kind <= CLUSTER_DEVICE_CLASSES; kind++)
        LIST_NOTHING(live, (enum cluster_kind)kind);
}

/* why NULL: they are counted. */
static void check_counted(struct live_cluster *live, const char *why)
{
    struct err err = {""};
    struct buf metrics;
    const struct inventory_view view = inventory_read(live->inventory);
    assert_int_equal(inventory_counts_claims(&view, &err), why == NULL);
    inventory_done(&view);
    assert_string_equal(err.text, why ? why : "");
    buf_init(&metrics, 1 << 20);
    inventory_live_metrics(live->inventory, &metrics);
    assert_non_null(strstr(buf_text(&metrics), why ? "\ngpu_extender_claims_counted 0\n"
                                                   : "\ngpu_extender_claims_counted 1\n"));
    buf_fini(&metrics);
}

static void trouble(struct live_cluster *live, enum cluster_kind kind, enum reflector_trouble what,
                    const char *why)
{
    live->statuses[kind].trouble = what;
    live->statuses[kind].why = why;
    live_flush(live, kind);
}

static void test_decisions_wait_for_each_first_list_or_its_refusal(void **state)
{
    struct live_cluster *live = *state;
    list_essential(live);
    live_check_usable(live, "not ready: waiting for the first list of resourceslices");
    LIST_NOTHING(live, CLUSTER_SLICES);
    live_check_usable(live, "not ready: waiting for the first list of resourceclaims");
    check_counted(live, "claims are not counted: the resourceclaims are not listed");
    trouble(live, CLUSTER_CLAIMS, TROUBLE_REFUSED, "GET /claims: 403: no");
    live_check_usable(live, "not ready: waiting for the first list of devicetaintrules");
    trouble(live, CLUSTER_DEVICE_TAINTS, TROUBLE_FAILED, "GET /rules: 429");
    live_check_usable(live, "not ready: waiting for the first list of devicetaintrules: "
                            "GET /rules: 429");
    trouble(live, CLUSTER_DEVICE_TAINTS, TROUBLE_REFUSED, "GET /rules: 403");
    for (int kind = CLUSTER_CLAIM_TEMPLATES; kind < N_CLUSTER_KINDS; kind++) {
        char why[200];
        (void)snprintf(why, sizeof why, "not ready: waiting for the first list of %s",
                       INVENTORY_KINDS[kind].listed.name);
        live_check_usable(live, why);
        trouble(live, (enum cluster_kind)kind, TROUBLE_FAILED, "GET: 429");
    }
    live_check_usable(live, NULL);
    assert_null(inventory_waiting_for(live->inventory));
    check_counted(live, "claims are not counted: the resourceclaims are not listed: "
                        "GET /claims: 403: no");
    LIST_NOTHING(live, CLUSTER_CLAIMS);
    check_counted(live, "claims are not counted: the devicetaintrules are not listed: "
                        "GET /rules: 403");
    LIST_NOTHING(live, CLUSTER_DEVICE_TAINTS);
    check_counted(live, NULL);
}

static void test_a_refusal_of_another_kind_is_waited_out(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live->statuses[CLUSTER_DEVICE_CLASSES].synced = false;
    trouble(live, CLUSTER_DEVICE_CLASSES, TROUBLE_REFUSED, "no");
    live_check_usable(live, "not ready: waiting for the first list of deviceclasses: no");
    check_counted(live, NULL);
}

static void on_turn(void *context)
{
    (*(int *)context)++;
}

static void test_stale_kinds_stop_the_count_only(void **state)
{
    struct live_cluster *live = *state;
    int n_turns = 0;
    live_list_nothing(live);
    inventory_on_turn(live->inventory, on_turn, &n_turns);
    for (size_t i = 0; i < sizeof KINDS_OF_CLAIMS / sizeof *KINDS_OF_CLAIMS; i++) {
        const enum cluster_kind kind = KINDS_OF_CLAIMS[i];
        char why[200];
        live->statuses[kind].stale = true;
        trouble(live, kind, TROUBLE_UNREACHABLE, "silent");
        (void)snprintf(why, sizeof why, "claims are not counted: the %s are stale: silent",
                       INVENTORY_KINDS[kind].listed.name);
        check_counted(live, why);
        live_check_usable(live, NULL);
        live->statuses[kind].stale = false;
        trouble(live, kind, TROUBLE_NONE, NULL);
        check_counted(live, NULL);
    }
    assert_int_equal(n_turns, 0);
}

/* Tenants create claims. */
static void test_too_many_claims_stop_the_count_only(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    for (size_t i = 0; i <= LIVE_MAX_PODS; i++)
        live_put(live, CLUSTER_CLAIMS, live_numbered(CLAIM("c-#"), i));
    live_flush(live, CLUSTER_CLAIMS);
    live_check_usable(live, NULL);
    check_counted(live,
                  "claims are not counted: there are more than 200 resourceclaims (limits.pods)");
    live_remove(live, CLUSTER_CLAIMS, CLAIM("c-0"));
    check_counted(live, NULL);
}

#define TEMPLATE(name) "{'metadata':{'name':'" name "','namespace':'ml'}}"

static bool are_templates_known(struct live_cluster *live)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    return cluster_knows(view.cluster, CLUSTER_CLAIM_TEMPLATES);
}

static void check_templates_matter_to_nothing_else(struct live_cluster *live)
{
    check_counted(live, NULL);
    live_check_usable(live, NULL);
}

static void test_templates_stop_nothing(void **state)
{
    struct live_cluster *live = *state;
    assert_false(are_templates_known(live));
    live_list_nothing(live);
    assert_true(are_templates_known(live));
    live->statuses[CLUSTER_CLAIM_TEMPLATES].stale = true;
    trouble(live, CLUSTER_CLAIM_TEMPLATES, TROUBLE_UNREACHABLE, "silent");
    check_templates_matter_to_nothing_else(live);
    live->statuses[CLUSTER_CLAIM_TEMPLATES].stale = false;
    trouble(live, CLUSTER_CLAIM_TEMPLATES, TROUBLE_NONE, NULL);
    for (size_t i = 0; i <= LIVE_MAX_PODS; i++)
        live_put(live, CLUSTER_CLAIM_TEMPLATES, live_numbered(TEMPLATE("t-#"), i));
    live_flush(live, CLUSTER_CLAIM_TEMPLATES);
    check_templates_matter_to_nothing_else(live);
    assert_true(are_templates_known(live));
}

/* A tenant may create any number. */
static void test_templates_that_are_left_out_are_unknown(void **state)
{
    struct live_cluster *live = *state;
    const size_t n_taken = (size_t)LIVE_MAX_PODS * 2 + 1000;
    live_list_nothing(live);
    for (size_t i = 0; i <= n_taken; i++)
        live_put(live, CLUSTER_CLAIM_TEMPLATES, live_numbered(TEMPLATE("t-#"), i));
    live_flush(live, CLUSTER_CLAIM_TEMPLATES);
    check_templates_matter_to_nothing_else(live);
    assert_false(are_templates_known(live));
    LIST(live, CLUSTER_CLAIM_TEMPLATES, TEMPLATE("t-1"));
    assert_true(are_templates_known(live));
}

#define SLICE                                                                                      \
    "{'metadata':{'name':'s'},'spec':{'driver':'gpu.nvidia.com','nodeName':'n1','pool':{"          \
    "'name':'n1','generation':1,'resourceSliceCount':1},'devices':[{'name':'gpu-0'}]}}"

static int64_t free_devices(struct live_cluster *live)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    const struct node *node = cluster_find_node(view.cluster, "n1");
    size_t n = 0;
    const struct node_device_group *groups = node_device_groups(node, &n);
    assert_int_equal(n, 1);
    return groups[0].free;
}

static void put_claims(struct live_cluster *live, size_t n)
{
    for (size_t i = 0; i < n; i++)
        live_put(live, CLUSTER_CLAIMS, live_numbered(CLAIM("c-#"), i));
    live_flush(live, CLUSTER_CLAIMS);
}

/* Claims that are left out may use any device. */
static void test_no_device_is_free_until_all_claims_are_listed(void **state)
{
    struct live_cluster *live = *state;
    list_essential(live);
    live_put(live, CLUSTER_NODES, "{'metadata':{'name':'n1'},'status':{}}");
    live_flush(live, CLUSTER_NODES);
    live_put(live, CLUSTER_SLICES, SLICE);
    live_flush(live, CLUSTER_SLICES);
    assert_int_equal(free_devices(live), 0);
    LIST_NOTHING(live, CLUSTER_CLAIMS);
    assert_int_equal(free_devices(live), 1);
    put_claims(live, (size_t)2 * LIVE_MAX_PODS + 1001);
    assert_int_equal(free_devices(live), 0);
    LIST_NOTHING(live, CLUSTER_CLAIMS);
    assert_int_equal(free_devices(live), 1);
}

static void test_a_lag_of_claims_stops_the_count_only(void **state)
{
    static const struct inventory_limits LIMITS = {.max_object_bytes = 4096,
                                                   .max_nodes = LIVE_MAX_NODES,
                                                   .max_pods = LIVE_MAX_PODS,
                                                   .max_lag_ms = 10000};
    struct live_cluster live;
    (void)state;
    live_init_limited(&live, &LIMITS);
    live_list_nothing(&live);
    const struct reflector_store *claims = &live.stores[CLUSTER_CLAIMS];
    claims->lags(claims->context, clock_ms() - 20000);
    live_check_usable(&live, NULL);
    check_counted(&live, "claims are not counted: the resourceclaims are behind: events of the API "
                         "server have waited unread for more than 10 s "
                         "(kubernetes.watchLagSeconds)");
    claims->lags(claims->context, clock_ms());
    check_counted(&live, NULL);
    live_fini(&live);
}

/* Their age is not the age of what decisions rest on. */
static void test_the_data_are_as_old_as_the_oldest_essential_kind(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live->statuses[CLUSTER_CLAIMS].fresh_ms = clock_ms() - 600000;
    live_flush(live, CLUSTER_CLAIMS);
    const time_t before_s = time(NULL);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    assert_in_range(view.as_of_s, before_s, time(NULL));
}

#define REFUSED "{\"kind\":\"Status\",\"code\":403,\"message\":\"no\"}"
#define EMPTY "{\"kind\":\"SomeList\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}"

static void test_the_log_says_once_that_claims_are_not_counted(void **state)
{
    static const struct reflector_kind KIND = {.name = "resourceclaims", .path = "/claims"};
    struct live_cluster *live = *state;
    struct followed followed;
    followed_begin(&followed, &KIND, &live->stores[CLUSTER_CLAIMS]);
    LIST_NOTHING(live, CLUSTER_SLICES);
    LIST_NOTHING(live, CLUSTER_DEVICE_TAINTS);
    followed_answer(&followed, false, 403, REFUSED);
    followed_check_log(
        &followed, "level=warn mod=inventory msg=\"following the API server failed: trying "
                   "again\" kind=resourceclaims why=\"GET /claims: 403: no\"\n"
                   "level=warn mod=inventory msg=\"claims are not counted\" why=\"claims are not "
                   "counted: the resourceclaims are not listed: GET /claims: 403: no\"\n");
    for (int i = 0; i < 3; i++)
        followed_answer(&followed, false, 403, REFUSED);
    followed_check_log(&followed, "");
    followed_answer(&followed, false, 200, EMPTY);
    followed_check_log(&followed, "level=info mod=inventory msg=\"claims are counted\"\n");
    followed_answer(&followed, true, 500, "no");
    followed_check_log(&followed,
                       "level=warn mod=inventory msg=\"following the API server failed: trying "
                       "again\" kind=resourceclaims why=\"watch /claims: 500: no\"\n");
    followed_end(&followed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE_TEST(test_templates_stop_nothing),
        LIVE_TEST(test_templates_that_are_left_out_are_unknown),
        LIVE_TEST(test_decisions_wait_for_each_first_list_or_its_refusal),
        LIVE_TEST(test_a_refusal_of_another_kind_is_waited_out),
        LIVE_TEST(test_stale_kinds_stop_the_count_only),
        LIVE_TEST(test_too_many_claims_stop_the_count_only),
        LIVE_TEST(test_no_device_is_free_until_all_claims_are_listed),
        LIVE_TEST(test_a_lag_of_claims_stops_the_count_only),
        LIVE_TEST(test_the_data_are_as_old_as_the_oldest_essential_kind),
        LIVE_TEST(test_the_log_says_once_that_claims_are_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
