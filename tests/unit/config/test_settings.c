/* settings: results of valid policy files; printed settings read back. */
#include "base/mem.h"
#include "config/settings.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"

static const char *policy_file; /* config/scheduler-policy.yaml, argv[1] */

static int setup(void **state)
{
    static struct settings settings;
    settings_init(&settings);
    *state = &settings;
    return 0;
}

static int teardown(void **state)
{
    settings_fini(*state);
    return 0;
}

static void assert_reads(struct settings *settings, const char *text)
{
    struct err err = {.text = ""};
    if (settings_read_text(settings, "p.yaml", text, strlen(text), &err) < 0)
        fail_msg("%s", err.text);
}

static void assert_names_equal(char *const *a, size_t n_a, char *const *b, size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++)
        assert_string_equal(a[i], b[i]);
}

static void assert_texts_equal(const char *a, const char *b)
{
    assert_string_equal(a ? a : "(none)", b ? b : "(none)");
}

static void assert_requirements_equal(const struct requirement *a, const struct requirement *b)
{
    assert_string_equal(a->key, b->key);
    assert_int_equal(a->op, b->op);
    assert_int_equal(a->n_values, b->n_values);
    for (size_t i = 0; i < a->n_values; i++)
        assert_string_equal(a->values[i], b->values[i]);
}

static void assert_terms_equal(const struct selector_term *a, const struct selector_term *b)
{
    assert_int_equal(a->n_requirements, b->n_requirements);
    for (size_t i = 0; i < a->n_requirements; i++)
        assert_requirements_equal(&a->requirements[i], &b->requirements[i]);
}

static void assert_quotas_equal(const struct quota *a, const struct quota *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->n_namespaces, b->n_namespaces);
    for (size_t i = 0; i < a->n_namespaces; i++)
        assert_string_equal(a->namespaces[i], b->namespaces[i]);
    assert_int_equal(a->has_selector, b->has_selector);
    assert_terms_equal(&a->selector, &b->selector);
    assert_int_equal(a->n_limits, b->n_limits);
    for (size_t i = 0; i < a->n_limits; i++) {
        assert_texts_equal(a->limits[i].resource, b->limits[i].resource);
        assert_texts_equal(a->limits[i].model, b->limits[i].model);
        assert_int_equal(a->limits[i].gpus, b->limits[i].gpus);
        assert_memory_equal(&a->limits[i].borrow, &b->limits[i].borrow, sizeof a->limits[i].borrow);
        assert_int_equal(a->limits[i].scope, b->limits[i].scope);
        assert_int_equal(a->limits[i].column, b->limits[i].column);
    }
}

static void assert_caps_equal(const struct avoidance_cap *a, const struct avoidance_cap *b)
{
    assert_int_equal(a->share_milli, b->share_milli);
    assert_int_equal(a->nodes, b->nodes);
}

static void assert_quarantines_equal(const struct quarantine_policy *a,
                                     const struct quarantine_policy *b)
{
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->owners, b->owners);
    assert_int_equal(a->namespaces, b->namespaces);
    assert_int_equal(a->window_s, b->window_s);
    assert_int_equal(a->settle_s, b->settle_s);
    assert_int_equal(a->first_min, b->first_min);
    assert_int_equal(a->longest_min, b->longest_min);
    assert_caps_equal(&a->cap, &b->cap);
}

static void assert_policies_equal(const struct policy *a, const struct policy *b)
{
    assert_names_equal(a->gpu_resources, a->n_gpu_resources, b->gpu_resources, b->n_gpu_resources);
    assert_names_equal(a->schedulers, a->n_schedulers, b->schedulers, b->n_schedulers);
    assert_names_equal(a->model_labels, a->n_model_labels, b->model_labels, b->n_model_labels);
    assert_names_equal(a->topology_levels, a->n_topology_levels, b->topology_levels,
                       b->n_topology_levels);
    assert_int_equal(a->n_aliases, b->n_aliases);
    for (size_t i = 0; i < a->n_aliases; i++) {
        assert_string_equal(a->aliases[i].from, b->aliases[i].from);
        assert_string_equal(a->aliases[i].to, b->aliases[i].to);
    }
    assert_int_equal(a->n_units, b->n_units);
    for (size_t i = 0; i < a->n_units; i++) {
        assert_string_equal(a->units[i].resource, b->units[i].resource);
        assert_string_equal(a->units[i].label, b->units[i].label);
        assert_int_equal(a->units[i].says, b->units[i].says);
        assert_string_equal(a->units[i].whole, b->units[i].whole);
        assert_string_equal(a->units[i].replicas, b->units[i].replicas);
        assert_string_equal(a->units[i].unit, b->units[i].unit);
    }
    assert_int_equal(a->n_device_drivers, b->n_device_drivers);
    for (size_t i = 0; i < a->n_device_drivers; i++) {
        const struct device_driver *x = &a->device_drivers[i];
        const struct device_driver *y = &b->device_drivers[i];
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->model_attribute, y->model_attribute);
        assert_string_equal(x->resource, y->resource);
    }
    assert_int_equal(a->extended_resource_toleration, b->extended_resource_toleration);
    assert_int_equal(a->default_toleration_seconds, b->default_toleration_seconds);
    assert_int_equal(a->placement, b->placement);
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->enforce_namespaces.is_set, b->enforce_namespaces.is_set);
    assert_terms_equal(&a->enforce_namespaces.selector, &b->enforce_namespaces.selector);
    assert_int_equal(a->soft_preferences, b->soft_preferences);
    assert_int_equal(a->n_quotas, b->n_quotas);
    for (size_t i = 0; i < a->n_quotas; i++)
        assert_quotas_equal(&a->quotas[i], &b->quotas[i]);
    assert_int_equal(a->replica_spread_milli, b->replica_spread_milli);
    assert_int_equal(a->object_values, b->object_values);
    assert_int_equal(a->pod_shape_bytes, b->pod_shape_bytes);
    assert_int_equal(a->pod_shapes_bytes, b->pod_shapes_bytes);
    assert_int_equal(a->node_slices_bytes, b->node_slices_bytes);
    assert_int_equal(a->driver_slices_bytes, b->driver_slices_bytes);
    assert_int_equal(a->slices_bytes, b->slices_bytes);
    assert_memory_equal(&a->slot_price, &b->slot_price, sizeof a->slot_price);
    assert_quarantines_equal(&a->quarantine, &b->quarantine);
    assert_int_equal(a->shape_trap.mode, b->shape_trap.mode);
    assert_caps_equal(&a->shape_trap.cap, &b->shape_trap.cap);
}

static void assert_clients_equal(const struct settings_clients *a, const struct settings_clients *b)
{
    assert_names_equal(a->names, a->n_names, b->names, b->n_names);
    assert_names_equal(a->organizations, a->n_organizations, b->organizations, b->n_organizations);
}

static void assert_settings_equal(const struct settings *a, const struct settings *b)
{
    assert_string_equal(a->listen_verbs, b->listen_verbs);
    assert_string_equal(a->listen_people, b->listen_people);
    assert_string_equal(a->listen_probes, b->listen_probes);
    assert_int_equal(a->insecure_verbs, b->insecure_verbs);
    assert_int_equal(a->insecure_people, b->insecure_people);
    assert_string_equal(a->tls.certificate_file, b->tls.certificate_file);
    assert_string_equal(a->tls.private_key_file, b->tls.private_key_file);
    assert_string_equal(a->tls.client_ca_file, b->tls.client_ca_file);
    assert_clients_equal(&a->tls.verb_clients, &b->tls.verb_clients);
    assert_clients_equal(&a->tls.people_clients, &b->tls.people_clients);
    assert_int_equal(a->authentication.cache_s, b->authentication.cache_s);
    assert_int_equal(a->aggregated_api, b->aggregated_api);
    assert_int_equal(a->scheduler.weight, b->scheduler.weight);
    assert_int_equal(a->scheduler.http_timeout_s, b->scheduler.http_timeout_s);
    assert_int_equal(a->scheduler.other_extenders, b->scheduler.other_extenders);
    assert_int_equal(a->policy.all_pods, b->policy.all_pods);
    assert_int_equal(a->scheduler.beside, b->scheduler.beside);
    assert_int_equal(a->scheduler.lease_s, b->scheduler.lease_s);
    assert_int_equal(a->scheduler.renew_s, b->scheduler.renew_s);
    assert_int_equal(a->scheduler.shortlist, b->scheduler.shortlist);
    assert_int_equal(a->policy.quota_claim_s, b->policy.quota_claim_s);
    assert_int_equal(a->policy.gangs.mode, b->policy.gangs.mode);
    assert_string_equal(a->policy.gangs.domain, b->policy.gangs.domain);
    assert_int_equal(a->policy.gangs.max_size, b->policy.gangs.max_size);
    assert_names_equal(a->policy.gangs.conventions, a->policy.gangs.n_conventions,
                       b->policy.gangs.conventions, b->policy.gangs.n_conventions);
    assert_int_equal(a->policy.gangs.kept_share_milli, b->policy.gangs.kept_share_milli);
    assert_int_equal(a->policy.gangs.forming_s, b->policy.gangs.forming_s);
    assert_int_equal(a->kubernetes.watch_silence_s, b->kubernetes.watch_silence_s);
    assert_int_equal(a->kubernetes.watch_lag_s, b->kubernetes.watch_lag_s);
    assert_int_equal(a->kubernetes.bind_timeout_s, b->kubernetes.bind_timeout_s);
    assert_int_equal(a->election.lease_s, b->election.lease_s);
    assert_int_equal(a->election.renew_s, b->election.renew_s);
    assert_int_equal(a->election.retry_s, b->election.retry_s);
    assert_string_equal(a->wake_object, b->wake_object);
    assert_int_equal(a->limits.request_bytes, b->limits.request_bytes);
    assert_int_equal(a->limits.user_request_bytes, b->limits.user_request_bytes);
    assert_int_equal(a->limits.user_request_values, b->limits.user_request_values);
    assert_int_equal(a->limits.user_request_tree_bytes, b->limits.user_request_tree_bytes);
    assert_int_equal(a->limits.bodies_bytes, b->limits.bodies_bytes);
    assert_int_equal(a->limits.request_s, b->limits.request_s);
    assert_int_equal(a->limits.connections, b->limits.connections);
    assert_int_equal(a->limits.file_bytes, b->limits.file_bytes);
    assert_int_equal(a->limits.object_bytes, b->limits.object_bytes);
    assert_int_equal(a->limits.nodes, b->limits.nodes);
    assert_int_equal(a->limits.pods, b->limits.pods);
    assert_int_equal(a->limits.replicas, b->limits.replicas);
    assert_policies_equal(&a->policy, &b->policy);
}

/* Aliases and gpuResources come after the quotas that need them. */
#define OTHER_QUOTAS                                                                               \
    "quotas:\n"                                                                                    \
    "- name: team-a\n"                                                                             \
    "  namespaces: [a, a-dev]\n"                                                                   \
    "  limits:\n"                                                                                  \
    "  - {models: {H100: 4, 'Rack 12': 0}, total: 8, resource: example.com/gpu}\n"                 \
    "  - total: {limit: 8, borrow: {limit: 3, maxPriority: -1}}\n"                                 \
    "    models: {A100: {borrow: {maxPriority: 100, limit: 7}, limit: 1000000}, L4: {limit: 2}}\n" \
    "- name: all\n"                                                                                \
    "  namespaceSelector: {}\n"                                                                    \
    "  limits: [{resource: example.com/slice-1*, total: 7}]\n"                                     \
    "- name: labelled\n"                                                                           \
    "  namespaceSelector:\n"                                                                       \
    "    matchLabels: {team: a, example.com/x: ''}\n"                                              \
    "    matchExpressions:\n"                                                                      \
    "    - {key: tier, operator: NotIn, values: [test, dev]}\n"                                    \
    "    - {key: old, operator: DoesNotExist}\n"                                                   \
    "  limits: [{total: 3}]\n"

static const char OTHER_THAN_DEFAULT[] = HEAD OTHER_QUOTAS
    "listen: {verbs: 10.0.0.1:1, people: '[::1]:2', probes: 0.0.0.0:0, insecureVerbs: yes, "
    "insecurePeople: yes}\n"
    "tls:\n"
    "  certificateFile: /etc/tls/tls.crt\n"
    "  privateKeyFile: keys/a b.key\n"
    "  clientCAFile: '12'\n"
    "  clientCRLFile: revoked.pem\n"
    "  verbClients: {names: [kube-scheduler, 'system:\"x\"']}\n"
    "  peopleClients: {organizations: ['ops, EU'], names: null}\n"
    "authentication: {cacheSeconds: 300}\n"
    "aggregatedAPI: {enabled: true}\n"
    "gpuResources: [example.com/gpu, example.com/slice-*]\n"
    "models:\n"
    "  labels: [example.com/model]\n"
    "  aliases: {Rack 12: A100-80GB, 'yes': 'L4', \"quote \\\" and: more\": T4, '12': H100}\n"
    "  units:\n"
    "  - {resource: example.com/gpu, label: example.com/users, says: replicas}\n"
    "  - {resource: example.com/gpu, label: example.com/mode, says: strategy, whole: 'off',\n"
    "     replicas: example.com/users}\n"
    "  - {resource: example.com/slice-*, label: example.com/slice-*.ram, says: memory, unit: Gi}\n"
    "deviceDrivers:\n"
    "  gpu.example.com: {model: card_2, resource: example.com/gpu}\n"
    "  'on': {model: 'n', resource: null}\n"
    "admission: {extendedResourceToleration: yes, defaultTolerationSeconds: no}\n"
    "topology: {levels: [example.com/block, example.com/rack]}\n"
    "placement: {policy: binpack, softPreferences: override, replicaSpread: 0.125}\n"
    "slotPrice: {pressureWeight: 1.5, drainWeight: 0, priorGpus: 1000000, priorConfined: 0.001}\n"
    "quarantine: {mode: avoid, owners: 4, namespaces: 3, windowSeconds: 90, settleSeconds: 0,\n"
    "             firstMinutes: 2, longestMinutes: 50, capShare: 0.1, capNodes: 7}\n"
    "shapeTrap: {mode: off, capShare: 0.001, capNodes: 0}\n"
    "scheduler: {weight: 7, httpTimeoutSeconds: 4, otherExtenders: yes, allPods: yes, names: [a.b, "
    "c],\n"
    "            beside: no, leaseDurationSeconds: 60, renewDeadlineSeconds: 40}\n"
    "filter: {shortlist: 0, quotaClaimSeconds: 7}\n"
    "gangs: {mode: plan, domain: require block, maxSize: 16, conventions: [kueue, lws/a],\n"
    "        maxKeptShare: 0.5, formingSeconds: 60}\n"
    "kubernetes: {watchSilenceSeconds: 5, watchLagSeconds: 600, bindTimeoutSeconds: 3}\n"
    "leaderElection: {enabled: yes, namespace: gpus, leaseName: one, serviceName: '',\n"
    "                 leaseDurationSeconds: 9, renewDeadlineSeconds: 5, retryPeriodSeconds: 2}\n"
    "wake: {objectName: wakes}\n"
    "limits:\n"
    "  requestBytes: 2k\n"
    "  userRequestBytes: 1999\n"
    "  userRequestValues: 1001\n"
    "  userRequestTreeBytes: 3Mi\n"
    "  bodiesBytes: 4k\n"
    "  requestSeconds: 17\n"
    "  connections: 65536\n"
    "  clusterFileBytes: 4096\n"
    "  objectBytes: 1Mi\n"
    "  objectValues: 1002\n"
    "  nodes: 1\n"
    "  pods: 2\n"
    "  podShapeBytes: 5Ki\n"
    "  podShapesBytes: 2Mi\n"
    "  nodeSlicesBytes: 6Ki\n"
    "  driverSlicesBytes: 7Ki\n"
    "  slicesBytes: 8Ki\n"
    "  dryRunReplicas: 3\n";

static void assert_sick_rules_are_read(const struct policy *policy)
{
    const struct quarantine_policy quarantine = {AVOIDANCE_AVOID, 4, 3, 90, 0, 2, 50, {100, 7}};
    assert_quarantines_equal(&policy->quarantine, &quarantine);
    assert_int_equal(policy->shape_trap.mode, AVOIDANCE_OFF);
    assert_int_equal(policy->shape_trap.cap.share_milli, 1);
    assert_int_equal(policy->shape_trap.cap.nodes, 0);
}

static void assert_scheduler_is_read(const struct settings *settings)
{
    assert_int_equal(settings->scheduler.weight, 7);
    assert_int_equal(settings->scheduler.http_timeout_s, 4);
    assert_true(settings->scheduler.other_extenders);
    assert_true(settings->policy.all_pods);
    assert_false(settings->scheduler.beside);
    assert_int_equal(settings->scheduler.lease_s, 60);
    assert_int_equal(settings->scheduler.renew_s, 40);
    assert_int_equal(settings->scheduler.shortlist, 0);
}

static void test_every_key_is_read(void **state)
{
    struct settings *settings = *state;
    assert_reads(settings, OTHER_THAN_DEFAULT);
    assert_string_equal(settings->listen_verbs, "10.0.0.1:1");
    assert_string_equal(settings->listen_people, "[::1]:2");
    assert_string_equal(settings->listen_probes, "0.0.0.0:0");
    assert_true(settings->insecure_verbs && settings->insecure_people && settings->aggregated_api);
    assert_string_equal(settings->tls.certificate_file, "/etc/tls/tls.crt");
    assert_string_equal(settings->tls.private_key_file, "keys/a b.key");
    assert_string_equal(settings->tls.client_ca_file, "12");
    assert_int_equal(settings->tls.verb_clients.n_names, 2);
    assert_string_equal(settings->tls.verb_clients.names[1], "system:\"x\"");
    assert_int_equal(settings->tls.verb_clients.n_organizations, 0);
    assert_int_equal(settings->tls.people_clients.n_names, 0);
    assert_string_equal(settings->tls.people_clients.organizations[0], "ops, EU");
    assert_int_equal(settings->policy.n_gpu_resources, 2);
    assert_true(policy_is_gpu_resource(&settings->policy, "example.com/slice-9"));
    assert_false(policy_is_gpu_resource(&settings->policy, "nvidia.com/gpu"));
    assert_int_equal(settings->policy.n_model_labels, 1);
    assert_string_equal(settings->policy.model_labels[0], "example.com/model");
    assert_int_equal(settings->policy.n_aliases, 4);
    assert_string_equal(settings->policy.aliases[0].from, "Rack 12");
    assert_string_equal(settings->policy.aliases[0].to, "A100-80GB");
    assert_int_equal(settings->policy.n_device_drivers, 2);
    const struct device_driver *driver = policy_device_driver(&settings->policy, "gpu.example.com");
    assert_string_equal(driver->model_attribute, "card_2");
    assert_string_equal(driver->resource, "example.com/gpu");
    assert_string_equal(policy_device_driver(&settings->policy, "on")->resource, "");
    assert_null(policy_device_driver(&settings->policy, "gpu.nvidia.com"));
    assert_true(settings->policy.extended_resource_toleration);
    assert_false(settings->policy.default_toleration_seconds);
    assert_int_equal(settings->policy.replica_spread_milli, 125);
    const struct slot_price_policy slot_price = {1500, 0, 1000000000, 1};
    assert_memory_equal(&settings->policy.slot_price, &slot_price, sizeof slot_price);
    assert_sick_rules_are_read(&settings->policy);
    assert_int_equal(settings->authentication.cache_s, 300);
    assert_true(settings->election.enabled);
    assert_string_equal(settings->election.namespace_, "gpus");
    assert_string_equal(settings->election.lease_name, "one");
    assert_string_equal(settings->election.service_name, "");
    assert_int_equal(settings->election.lease_s, 9);
    assert_int_equal(settings->election.renew_s, 5);
    assert_int_equal(settings->election.retry_s, 2);
    assert_string_equal(settings->wake_object, "wakes");
    assert_scheduler_is_read(settings);
    assert_int_equal(settings->policy.quota_claim_s, 7);
    assert_int_equal(settings->policy.gangs.mode, GANGS_PLAN);
    assert_string_equal(settings->policy.gangs.domain, "require block");
    assert_int_equal(settings->kubernetes.watch_silence_s, 5);
    assert_int_equal(settings->kubernetes.bind_timeout_s, 3);
    const struct settings_limits limits = {2000,  1999, 1001,    3 << 20, 4000, 17,
                                           65536, 4096, 1 << 20, 1,       2,    3};
    assert_memory_equal(&settings->limits, &limits, sizeof limits);
}

static void test_levels_are_read_in_their_order(void **state)
{
    struct settings *settings = *state;
    assert_reads(settings, OTHER_THAN_DEFAULT);
    assert_int_equal(settings->policy.n_topology_levels, 2);
    assert_string_equal(settings->policy.topology_levels[1], "example.com/rack");
    assert_reads(settings, HEAD "topology: {levels: []}\ngangs: {domain: ''}\n");
    assert_int_equal(settings->policy.n_topology_levels, 0);
}

static void test_quotas_are_read(void **state)
{
    struct settings *settings = *state;
    const struct policy *policy = &settings->policy;
    assert_reads(settings, OTHER_THAN_DEFAULT);
    assert_int_equal(policy->n_quotas, 3);
    const struct quota *team = &policy->quotas[0];
    assert_string_equal(team->name, "team-a");
    assert_int_equal(team->n_limits, 6);
    assert_null(team->limits[0].model); /* the total comes first */
    assert_int_equal(team->limits[0].gpus, 8);
    assert_string_equal(team->limits[2].model, "Rack 12");
    assert_int_equal(team->limits[2].gpus, 0);
    assert_string_equal(policy->quota_models[team->limits[2].column - 1].chip, "A100");
    assert_null(team->limits[3].resource);
    assert_int_equal(team->limits[3].borrow.gpus, 3);
    assert_int_equal(team->limits[3].borrow.max_priority, -1);
    assert_int_equal(team->limits[4].borrow.layer, 2);
    assert_int_equal(policy->quota_priorities[1], 100);
    assert_int_equal(team->limits[5].gpus, 2);
    assert_false(team->limits[5].borrow.is_set);
    assert_true(policy_quota_covers(team, "a-dev", NULL, 0));
    assert_false(policy_quota_covers(team, "a-test", NULL, 0));
    assert_true(policy_quota_covers(&policy->quotas[1], "any", NULL, 0));
    const struct label labels[] = {{"example.com/x", ""}, {"team", "a"}, {"tier", "prod"}};
    assert_true(policy_quota_covers(&policy->quotas[2], "any", labels, 3));
    assert_true(policy_quota_covers(&policy->quotas[2], "any", labels, 2));
    assert_false(policy_quota_covers(&policy->quotas[2], "any", labels, 1));
    assert_reads(settings, HEAD "quotas: []\n");
    assert_int_equal(policy->n_quotas, 0);
    assert_int_equal(policy->n_quota_models, 0);
}

/* Changes every setting first, so that a value missing in the file would show. */
static void test_shipped_policy_file_equals_the_defaults(void **state)
{
    struct settings *settings = *state;
    struct settings defaults;
    struct err err = {.text = ""};
    settings_init(&defaults);
    assert_reads(settings, OTHER_THAN_DEFAULT);
    if (settings_read_file(settings, policy_file, &err) < 0)
        fail_msg("%s", err.text);
    assert_settings_equal(settings, &defaults);
    settings_fini(&defaults);
}

static void test_absent_keys_keep_their_defaults(void **state)
{
    struct settings defaults;
    settings_init(&defaults);
    assert_reads(*state, HEAD);
    assert_reads(*state, HEAD "listen:\nmodels:\n  aliases:\ngpuResources: null\nplacement: {}\n");
    assert_settings_equal(*state, &defaults);
    settings_fini(&defaults);
}

static void test_json_is_yaml(void **state)
{
    struct settings *settings = *state;
    assert_reads(settings, "{\"apiVersion\": \"gpu-extender.io/v1alpha1\", \"kind\": "
                           "\"SchedulerPolicy\", \"limits\": {\"pods\": 7}}");
    assert_int_equal(settings->limits.pods, 7);
}

static void assert_prints_what_reads_back(const struct settings *settings)
{
    struct buf text;
    struct settings back;
    buf_init(&text, 100000);
    settings_print(settings, &text);
    settings_init(&back);
    assert_reads(&back, buf_text(&text));
    assert_settings_equal(settings, &back);
    settings_fini(&back);
    buf_fini(&text);
}

static json_t *values_of(const struct settings *settings)
{
    struct buf text;
    json_t *values = NULL;
    buf_init(&text, BUF_UNBOUNDED);
    settings_json(settings, &text);
    assert_int_equal(json_parse(buf_text(&text), text.len, 0, &JSON_OWN, &values, NULL), 0);
    buf_fini(&text);
    return values;
}

static void assert_values_read_back(const struct settings *settings)
{
    struct err err;
    const struct policy *policy = NULL;
    json_auto_t *values = values_of(settings);
    assert_int_equal(settings_read_policy(values, &policy, &err), 0);
    assert_settings_equal(settings, CONTAINER_OF(policy, const struct settings, policy));
    policy_drop(policy);
}

static void test_print_reads_back(void **state)
{
    assert_prints_what_reads_back(*state);
    assert_values_read_back(*state);
    assert_reads(*state, OTHER_THAN_DEFAULT);
    assert_prints_what_reads_back(*state);
    assert_values_read_back(*state);
}

/* A fault has no position, and a real number of JSON is not rounded. */
static void test_values_that_are_changed(void **state)
{
    struct err err;
    const struct policy *policy = NULL;
    json_auto_t *values = values_of(*state);
    json_t *prices = json_object_get(values, "slotPrice");
    (void)json_object_set_new(prices, "drainWeight", json_real(0.125));
    assert_int_equal(settings_read_policy(values, &policy, &err), 0);
    assert_int_equal(policy->slot_price.drain_weight_milli, 125);
    policy_drop(policy);
    (void)json_object_set_new(prices, "drainWeight", json_real(0.1255));
    assert_int_equal(settings_read_policy(values, &policy, &err), -EINVAL);
    assert_string_equal(err.text, "slotPrice.drainWeight: is the number 0.1255, should be a number "
                                  "from 0 to 100 with at most three decimals");
}

static void test_print_quotes_only_where_yaml_needs_it(void **state)
{
    struct buf text;
    assert_reads(*state, OTHER_THAN_DEFAULT);
    buf_init(&text, 100000);
    settings_print(*state, &text);
    assert_non_null(strstr(buf_text(&text), "\n  verbs: \"10.0.0.1:1\"\n"));
    assert_non_null(strstr(buf_text(&text), "\n  - example.com/slice-*\n"));
    assert_non_null(strstr(buf_text(&text), "\n    \"Rack 12\": A100-80GB\n"));
    assert_non_null(strstr(buf_text(&text), "\n    \"yes\": L4\n"));
    assert_non_null(strstr(buf_text(&text), "\n    \"quote \\\" and: more\": T4\n"));
    assert_non_null(strstr(buf_text(&text), "\n    \"12\": H100\n"));
    assert_non_null(strstr(buf_text(&text),
                           "\n  gpu.example.com: {model: card_2, resource: example.com/gpu}\n"));
    assert_non_null(strstr(buf_text(&text), "\n  \"on\": {model: \"n\"}\n"));
    assert_non_null(strstr(buf_text(&text), "\n  objectBytes: 1Mi\n"));
    buf_fini(&text);
}

static void test_enforced_namespaces_are_selected(void **state)
{
    struct settings *settings = *state;
    const struct policy *policy = &settings->policy;
    const struct label labels[] = {{"mode", "enforce"}, {"team", "a"}};
    assert_reads(settings, HEAD "mode: observe\nenforceNamespaces:\n");
    assert_false(policy_enforces(policy, labels, 2));
    assert_reads(settings, HEAD "mode: observe\nenforceNamespaces: {matchLabels: {team: a}, "
                                "matchExpressions: [{key: mode, operator: Exists}]}\n");
    assert_true(policy_enforces(policy, labels, 2));
    assert_false(policy_enforces(policy, labels, 1));
    assert_prints_what_reads_back(settings);
    assert_reads(settings, HEAD "mode: observe\nenforceNamespaces: {}\n");
    assert_true(policy_enforces(policy, NULL, 0));
    assert_prints_what_reads_back(settings);
}

/* Unlike the other lists, this one may be empty: no devices count. */
static void test_no_drivers(void **state)
{
    struct settings *settings = *state;
    assert_reads(settings, HEAD "deviceDrivers: {}\n");
    assert_int_equal(settings->policy.n_device_drivers, 0);
    assert_null(policy_device_driver(&settings->policy, "gpu.nvidia.com"));
    assert_prints_what_reads_back(settings);
}

/* Names of aliases that YAML would not read as strings. */
static void test_print_quotes_yaml_keywords(void **state)
{
    static const char *const WORDS[] = {
        "y",   "n",   "yes", "No",  "true",  "FALSE", "on",  "Off", "null", "Null", "1",  "0x10",
        "1e3", "1.5", "-a",  "a:",  "a: b",  "a #",   " a",  "a ",  "*a",   "&a",   "!a", "%a",
        "@a",  "[a",  "{a",  "a,b", "12:30", "<<a",   "? a", "- a", "a\\b", "'a'",  "~a"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        struct buf text;
        buf_init(&text, 1000);
        buf_add_text(&text, HEAD "models:\n  aliases:\n    ");
        buf_add_quoted(&text, WORDS[i]);
        buf_add_text(&text, ": A100\n");
        assert_reads(*state, buf_text(&text));
        assert_prints_what_reads_back(*state);
        buf_fini(&text);
    }
}

static void test_files_that_cannot_be_read(void **state)
{
    struct err err;
    assert_int_equal(settings_read_file(*state, "/nonexistent/p.yaml", &err), -ENOENT);
    assert_string_equal(err.text, "/nonexistent/p.yaml: cannot be read: No such file or directory");
    assert_int_equal(settings_read_file(*state, "/", &err), -EISDIR);
    assert_string_equal(err.text, "/: cannot be read: Is a directory");
    assert_int_equal(settings_read_file(*state, "/dev/zero", &err), -EFBIG);
    assert_string_equal(err.text,
                        "/dev/zero: is larger than 1Mi, should be a policy file of at most 1Mi");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s config/scheduler-policy.yaml\n", argv[0]);
        return EXIT_FAILURE;
    }
    policy_file = argv[1];
    const struct CMUnitTest tests[] = {
        TEST(test_every_key_is_read),
        TEST(test_levels_are_read_in_their_order),
        TEST(test_quotas_are_read),
        TEST(test_shipped_policy_file_equals_the_defaults),
        TEST(test_absent_keys_keep_their_defaults),
        TEST(test_json_is_yaml),
        TEST(test_print_reads_back),
        TEST(test_values_that_are_changed),
        TEST(test_print_quotes_only_where_yaml_needs_it),
        TEST(test_enforced_namespaces_are_selected),
        TEST(test_no_drivers),
        TEST(test_print_quotes_yaml_keywords),
        TEST(test_files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
