/* kinds: skipped members do not affect the ledger. */
#include "formats/json_stream.h"
#include "live_shown.h"
#include "objects/claims.h"

/* All members that decoders read, and some others. */
static const char POD_WITH_ALL[] =
    "{'metadata':{'name':'p','namespace':'ml','uid':'u','creationTimestamp':'2026-01-02T03:04:05Z',"
    "'deletionTimestamp':'2026-01-02T03:05:05Z','labels':{'a':'b'},'managedFields':[{}],"
    "'annotations':{'gpu-extender.io/models':'A100, T4','gpu-extender.io/exclude-models':'K80',"
    "'gpu-extender.io/model':'A100',"
    "'scheduler.alpha.kubernetes.io/affinity':'{\\'nodeAffinity\\':{"
    "\\'requiredDuringSchedulingIgnoredDuringExecution\\':{\\'nodeSelectorTerms\\':[{"
    "\\'matchExpressions\\':[{\\'key\\':\\'z\\',\\'operator\\':\\'Exists\\'}]}]}}}'}},"
    "'spec':{'nodeName':'NODE','priorityClassName':'high','priority':7,"
    "'schedulingGates':[{'name':'g'}],'nodeSelector':{'zone':'x'},"
    "'overhead':{'cpu':'1'},'resources':{'requests':{'memory':'1Gi'}},"
    "'topologySpreadConstraints':[{'labelSelector':{}}],"
    "'volumes':[{'name':'data','persistentVolumeClaim':{'claimName':'c'}},{'name':'token',"
    "'projected':{}}],'hostNetwork':true,'schedulerName':'volcano',"
    "'affinity':{'podAffinity':{'x':[]},'podAntiAffinity':{'y':[]},'nodeAffinity':{"
    "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{'matchExpressions':["
    "{'key':'k','operator':'In','values':['v']}]}]},"
    "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':3,'preference':{"
    "'matchExpressions':[{'key':'w','operator':'Exists'}]}}]}},"
    "'tolerations':[{'key':'t','operator':'Exists','effect':'NoSchedule'}],"
    "'containers':[{'name':'c','image':'i','env':[{}],'workingDir':'/"
    "','ports':[{'containerPort':80}],'resources':{"
    "'limits':{'nvidia.com/gpu':'2','cpu':'2'},'requests':{'cpu':'1','nvidia.com/gpu':'2'}}}],"
    "'initContainers':[{'name':'i','command':[''],'restartPolicy':'Always','resources':{"
    "'limits':{'nvidia.com/gpu':'1'}}}]},"
    "'status':{'phase':'Running','nominatedNodeName':'n','qosClass':'Burstable',"
    "'startTime':'2026-01-02T03:04:06Z','conditions':["
    "{'type':'PodScheduled','status':'False','reason':'Unschedulable','message':'0/1 nodes',"
    "'lastProbeTime':null},{'type':'PodResizePending','status':'True','reason':'Infeasible'}],"
    "'containerStatuses':[{'name':'c','state':{},'resources':{'requests':{'cpu':'3'}},"
    "'allocatedResources':{'cpu':'3'}}],"
    "'initContainerStatuses':[{'name':'i','resources':{'requests':{'cpu':'5'}},"
    "'allocatedResources':{'cpu':'6'}}]}}";

static const char NODE_WITH_ALL[] =
    "{'metadata':{'name':'n','labels':{'nvidia.com/gpu.product':'Tesla-T4'},'managedFields':[{}],"
    "'annotations':{'gpu-extender.io/quarantine-lifted':'b'}},"
    "'spec':{'unschedulable':true,'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]},"
    "'status':{'conditions':[{'type':'Ready','status':'True'},"
    "{'type':'GpuXidError','status':'True','reason':'Bad','message':'79'}],'images':[{}],"
    "'nodeInfo':{'bootID':'6f'},"
    "'capacity':{'cpu':'8','nvidia.com/gpu':'4'},'allocatable':{'cpu':'7','nvidia.com/gpu':'3'}}}";

static const char CLAIM_WITH_ALL[] =
    "{'metadata':{'name':'c','namespace':'ml','uid':'u-c','labels':{'a':'b'},'managedFields':[{}],"
    "'annotations':{'resource.kubernetes.io/extended-resource-claim':'true'},'finalizers':['f'],"
    "'deletionTimestamp':'2026-01-02T03:05:05Z',"
    "'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','uid':'u','controller':true}]},"
    "'spec':{'devices':{'config':[{}],'constraints':[{}],'requests':["
    "{'name':'a','exactly':{'deviceClassName':'x','count':2,'selectors':[{}],'tolerations':[{}],"
    "'capacity':{}}},"
    "{'name':'b','deviceClassName':'x','allocationMode':'All','selectors':[{}]},"
    "{'name':'c','firstAvailable':[{'name':'d','count':3,'selectors':[{}]},"
    "{'name':'e','count':4,'tolerations':[{}]}]},"
    "{'name':'f','exactly':{'adminAccess':true}}]}},"
    "'status':{'allocation':{'nodeSelector':{'nodeSelectorTerms':[{}]},'devices':{'config':[{}],'"
    "results':["
    "{'request':'a','driver':'gpu.nvidia.com','pool':'n','device':'gpu-0','shareID':'s'},"
    "{'request':'f','driver':'gpu.nvidia.com','pool':'n','device':'gpu-1','adminAccess':true,"
    "'bindingConditions':['ready']}]}},"
    "'reservedFor':[{'resource':'pods','name':'p','uid':'u'}],"
    "'devices':[{'driver':'gpu.nvidia.com','pool':'n','device':'gpu-1','data':{},"
    "'conditions':[{'type':'ready','status':'True'}]}]}}";

static const char CLASS_WITH_ALL[] = "{'metadata':{'name':'high','labels':{'a':'b'}},'value':9,"
                                     "'globalDefault':true,'description':'x'}";

static int keep(void *context, json_t *item, struct text_position at, struct err *err)
{
    (void)at;
    (void)err;
    *(json_t **)context = json_incref(item);
    return 0;
}

/* As parsed from a list of the API server. */
static json_t *as_listed(enum cluster_kind kind, const json_t *object)
{
    json_t *kept = NULL;
    struct err err;
    char *text = json_dumps(object, JSON_COMPACT);
    const struct json_stream_options options = {
        .drop = INVENTORY_KINDS[kind].listed.drop, .max_object_bytes = 10000, .max_depth = 50};
    const struct json_stream_handler handler = {.on_item = keep, .context = &kept};
    struct json_stream *stream = json_stream_new(&options, &handler);
    assert_int_equal(json_stream_feed(stream, "{\"items\":[", 10, &err), 0);
    assert_int_equal(json_stream_feed(stream, text, strlen(text), &err), 0);
    assert_int_equal(json_stream_feed(stream, "]}", 2, &err), 0);
    json_stream_free(stream);
    free(text);
    assert_non_null(kept);
    return kept;
}

/* text with NODE replaced; the caller owns it. */
static char *on_node(const char *text, const char *node)
{
    const char *at = strstr(text, "NODE");
    if (!at)
        return strdup(text);
    char *with_node = NULL;
    assert_true(
        asprintf(&with_node, "%.*s%s%s", (int)(at - text), text, node, at + strlen("NODE")) > 0);
    return with_node;
}

static uint64_t version_of(struct live_cluster *live)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    assert_int_equal(view.n_problems, 0);
    const uint64_t version = cluster_version(view.cluster);
    return version;
}

/* Stored data that the version does not cover. */
static void check_words(struct live_cluster *live)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    const struct pod *pod = cluster_find_pod(view.cluster, "u");
    if (pod)
        assert_int_equal(pod->started_s, 1767323046);
    if (pod && !pod->node_name[0]) {
        assert_string_equal(pod->unscheduled_reason, "Unschedulable");
        assert_string_equal(pod->unscheduled_message, "0/1 nodes");
        assert_string_equal(
            pod->not_evaluated,
            "spec.volumes: data (persistentVolumeClaim)\n"
            "container \"c\": host port 80\n"
            "annotation gpu-extender.io/model is unknown; did you mean gpu-extender.io/models?\n"
            "scheduling gate g: the pod waits until it is removed\n"
            "spec.schedulerName volcano: that scheduler's own rules are not "
            "judged\n");
    }
}

/* The ledger's version grows with any change that could affect a decision. */
static void check_same(struct live_cluster *live, enum cluster_kind kind, const char *text)
{
    const struct reflector_store *store = &live->stores[kind];
    json_t *whole = live_object(text);
    json_t *listed = as_listed(kind, whole);
    assert_false(json_equal(whole, listed));
    const uint64_t before = version_of(live);
    store->upsert(store->context, whole);
    live_flush(live, kind);
    const uint64_t with_all = version_of(live);
    assert_true(with_all > before);
    store->upsert(store->context, listed);
    live_flush(live, kind);
    if (version_of(live) != with_all)
        fail_msg("%s says something else than\n%s", json_dumps(listed, 0), text);
    check_words(live);
    json_decref(whole);
    json_decref(listed);
}

static void test_dropped_members_change_no_facts(void **state)
{
    static const char *const NODES[] = {"n", ""}; /* decoding of a pod depends on it */
    struct live_cluster *live = *state;
    live_list_nothing(live);
    for (size_t i = 0; i < sizeof NODES / sizeof *NODES; i++) {
        char *pod = on_node(POD_WITH_ALL, NODES[i]);
        check_same(live, CLUSTER_PODS, pod);
        free(pod);
    }
    check_same(live, CLUSTER_NODES, NODE_WITH_ALL);
}

static void test_dropped_members_of_named_kinds_change_no_facts(void **state)
{
    (void)state;
    json_t *whole = live_object(CLASS_WITH_ALL);
    json_t *listed = as_listed(CLUSTER_PRIORITY_CLASSES, whole);
    json_t *expected = live_object("{'metadata':{'name':'high'},'value':9,'globalDefault':true}");
    assert_true(json_equal(listed, expected));
    json_decref(whole);
    json_decref(listed);
    json_decref(expected);
}

static void check_claim(const json_t *object, struct arena *arena, struct claim_facts *ret_facts)
{
    struct claim_facts facts;
    struct err err;
    if (resource_claim_from_json(object, arena, &facts, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(facts.namespace_, "ml");
    assert_string_equal(facts.name, "c");
    assert_string_equal(facts.uid, "u-c");
    assert_string_equal(facts.extended_for_uid, "u");
    assert_true(facts.terminating && facts.wants_all && facts.has_alternatives);
    assert_int_equal(facts.n_devices, 2 + 1 + 3);
    assert_int_equal(facts.n_results, 2);
    assert_true(facts.results[0].is_shared && facts.results[1].is_admin);
    assert_string_equal(facts.results[1].device, "gpu-1");
    assert_false(facts.is_unready);
    assert_int_equal(facts.n_holders, 1);
    assert_string_equal(facts.holders[0], "u");
    assert_string_equal(facts.labels, "a=b\n");
    *ret_facts = facts;
}

static void test_dropped_members_of_claims_change_no_facts(void **state)
{
    (void)state;
    json_t *whole = live_object(CLAIM_WITH_ALL);
    json_t *listed = as_listed(CLUSTER_CLAIMS, whole);
    assert_false(json_equal(listed, whole));
    struct arena *arena = arena_new();
    struct claim_facts facts, of_listed;
    check_claim(whole, arena, &facts);
    check_claim(listed, arena, &of_listed);
    assert_non_null(strstr(facts.spec, "constraints"));
    assert_string_equal(facts.spec, of_listed.spec);
    assert_string_equal(facts.nodes, of_listed.nodes);
    arena_free(arena);
    json_decref(whole);
    json_decref(listed);
}

static void test_dropped_members_of_templates_change_no_facts(void **state)
{
    (void)state;
    json_t *claim = live_object(CLAIM_WITH_ALL);
    json_t *whole =
        json_pack("{s:{s:s, s:s, s:[{}]}, s:{s:O}}", "metadata", "name", "t", "namespace", "ml",
                  "managedFields", "spec", "spec", json_object_get(claim, "spec"));
    json_t *listed = as_listed(CLUSTER_CLAIM_TEMPLATES, whole);
    assert_false(json_equal(listed, whole));
    struct arena *arena = arena_new();
    struct claim_template_facts facts, of_listed;
    struct err err;
    assert_int_equal(claim_template_from_json(whole, arena, &facts, &err), 0);
    assert_int_equal(claim_template_from_json(listed, arena, &of_listed, &err), 0);
    assert_non_null(strstr(facts.spec, "constraints"));
    assert_string_equal(facts.spec, of_listed.spec);
    arena_free(arena);
    json_decref(claim);
    json_decref(whole);
    json_decref(listed);
}

/* {"a":[{"b":true}]} for "a[].b". */
static json_t *object_with(const char *path)
{
    const size_t len = strcspn(path, ".");
    const bool is_last = path[len] == '\0';
    const bool is_list = len > 2 && path[len - 1] == ']';
    json_t *value = is_last ? json_true() : object_with(path + len + 1);
    char *key = strndup(path, is_list ? len - 2 : len);
    assert_non_null(key);
    json_t *object = is_list ? json_pack("{s:[o]}", key, value) : json_pack("{s:o}", key, value);
    free(key);
    return object;
}

/* A path that is not next to others with its prefix has no effect. */
static void test_every_drop_path_has_an_effect(void **state)
{
    (void)state;
    for (int kind = 0; kind < N_CLUSTER_KINDS; kind++) {
        for (const char *const *path = INVENTORY_KINDS[kind].listed.drop; *path; path++) {
            json_t *whole = object_with(*path);
            json_t *listed = as_listed((enum cluster_kind)kind, whole);
            if (json_equal(listed, whole))
                fail_msg("%s drops nothing", *path);
            json_decref(whole);
            json_decref(listed);
        }
    }
}

static void test_each_row_is_whole(void **state)
{
    (void)state;
    for (int kind = 0; kind < N_CLUSTER_KINDS; kind++) {
        const struct kind_row *row = &INVENTORY_KINDS[kind];
        const char *last = strrchr(row->listed.path, '/');
        assert_string_equal(last + 1, row->listed.name);
        assert_ptr_equal(kinds_find(row->kind, ""), row);
        assert_ptr_equal(kinds_in_ledger((enum cluster_kind)kind), row);
        assert_true(row->use->is_essential == (row->use->without[0] == '\0'));
        assert_non_null(row->use->lost);
        assert_true(row->facts_size > 0 || !row->read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE_TEST(test_dropped_members_change_no_facts),
        cmocka_unit_test(test_dropped_members_of_named_kinds_change_no_facts),
        cmocka_unit_test(test_dropped_members_of_claims_change_no_facts),
        cmocka_unit_test(test_dropped_members_of_templates_change_no_facts),
        cmocka_unit_test(test_every_drop_path_has_an_effect),
        cmocka_unit_test(test_each_row_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
