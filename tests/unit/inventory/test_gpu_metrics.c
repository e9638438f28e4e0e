/* gpu_metrics: devices of dynamic resource allocation among the GPUs of the metrics. */
#include "base/buf.h"
#include "fixture_devices.h"
#include "gpu_metrics.h"
#include "unit.h"

#include <stdint.h>
#include <string.h>

#define GPU "nvidia.com/gpu"

/* The lines of that node, without the name of the metric: "resource state n". */
static const char *series_of(struct fixture *fixture, const char *node)
{
    struct cluster *fork = cluster_fork(fixture->cluster);
    struct buf out;
    buf_init(&out, SIZE_MAX);
    gpu_metrics(fork, &out);
    cluster_fork_free(fork);
    const char *text = "";
    const char *wanted = arena_printf(fixture->arena, "gpu_extender_node_gpus{node=\"%s\",", node);
    for (const char *at = strstr(buf_text(&out), wanted); at; at = strstr(at + 1, wanted)) {
        const char *label = strchr(at, ',') + 1;
        text = arena_printf(fixture->arena, "%s%.*s\n", text, (int)strcspn(label, "\n"), label);
    }
    buf_fini(&out);
    return text;
}

#define SERIES(model, resource, state, n)                                                          \
    "model=\"" model "\",resource=\"" resource "\",state=\"" state "\"} " n "\n"

static void test_devices_are_counted_by_driver(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100!");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    assert_string_equal(series_of(fixture, "n1"),
                        SERIES("H100", NVIDIA_DRIVER, "used", "1")
                            SERIES("H100", NVIDIA_DRIVER, "free", "1")
                                SERIES("H100", NVIDIA_DRIVER, "unallocatable", "1"));
    struct node_facts facts = fixture_node_facts(fixture, "n1", "cpu=8000", "");
    facts.ready = false;
    fixture_put_node_facts(fixture, &facts);
    assert_non_null(strstr(series_of(fixture, "n1"), SERIES("H100", NVIDIA_DRIVER, "closed", "1")));
}

static void test_shadowed_devices_are_not_counted(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 " GPU "=2", "accelerator=H100");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    assert_string_equal(series_of(fixture, "n1"),
                        SERIES("H100", GPU, "used", "0") SERIES("H100", GPU, "free", "2"));
}

/* kube-scheduler allocated the devices of the claim for the first pod's request. */
static void test_requests_met_by_claims_count_once(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1");
    fixture_put_pod(fixture, "p", "n1", GPU "=2");
    assert_string_equal(series_of(fixture, "n1"), SERIES("H100", NVIDIA_DRIVER, "used", "2")
                                                      SERIES("H100", NVIDIA_DRIVER, "free", "0"));
    fixture_put_pod(fixture, "q", "n1", "nvidia.com/mig-1g.10gb=3");
    assert_non_null(strstr(series_of(fixture, "n1"), SERIES("H100", "other", "used", "3")));
}

/* The same where the kubelet keeps the name of a device plugin that is gone. */
static void test_a_leftover_row_counts_no_request_again(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 " GPU "=0", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1");
    fixture_put_pod(fixture, "p", "n1", GPU "=2");
    assert_non_null(strstr(series_of(fixture, "n1"),
                           SERIES("H100", GPU, "used", "0") SERIES("H100", GPU, "free", "0")));
    assert_non_null(strstr(series_of(fixture, "n1"), SERIES("H100", NVIDIA_DRIVER, "used", "2")));
    fixture_put_pod(fixture, "q", "n1", GPU "=1");
    fixture_put_pod(fixture, "r", "n1", "nvidia.com/mig-1g.10gb=3");
    assert_non_null(strstr(series_of(fixture, "n1"),
                           SERIES("H100", GPU, "used", "1") SERIES("H100", GPU, "free", "-1")));
    assert_non_null(strstr(series_of(fixture, "n1"), SERIES("H100", "other", "used", "3")));
}

/* Any claim may use them. An alert for GPUs that nobody gets must not fire, nor one for none free.
 */
static void test_use_is_unknown_while_claims_are(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 " GPU "=0", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    fixture_put_pod(fixture, "p", "n1", GPU "=2");
    cluster_set_known(fixture->cluster, CLUSTER_CLAIMS, false);
    assert_string_equal(series_of(fixture, "n1"),
                        SERIES("H100", NVIDIA_DRIVER, "unknown", "2")
                            SERIES("H100", GPU, "used", "0") SERIES("H100", GPU, "free", "0"));
    cluster_set_known(fixture->cluster, CLUSTER_CLAIMS, true);
    assert_non_null(strstr(series_of(fixture, "n1"), SERIES("H100", NVIDIA_DRIVER, "free", "2")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_devices_are_counted_by_driver),
        TEST(test_shadowed_devices_are_not_counted),
        TEST(test_requests_met_by_claims_count_once),
        TEST(test_a_leftover_row_counts_no_request_again),
        TEST(test_use_is_unknown_while_claims_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
