/* fixture_devices: see fixture_devices.h. */
#include "fixture_devices.h"
#include "unit.h"

#include <inttypes.h>
#include <string.h>

#define DEVICES_MAX 32

/* The parts between ", ". Returns their number. */
static size_t split(struct fixture *fixture, const char *text, const char *parts[DEVICES_MAX])
{
    size_t n = 0;
    while (*text) {
        const size_t len = strcspn(text, ",");
        assert_in_range(n, 0, DEVICES_MAX - 1);
        parts[n++] = arena_strndup(fixture->arena, text, len);
        text += len;
        text += strspn(text, ", ");
    }
    return n;
}

static struct device_facts device_of(struct fixture *fixture, size_t i, const char *text)
{
    const size_t len = strcspn(text, "!");
    const char *model = arena_strndup(fixture->arena, text, len);
    return (struct device_facts){
        .name = arena_printf(fixture->arena, "gpu-%zu", i),
        .model = strcmp(model, "?") == 0 ? "" : model,
        .profile = "",
        .physical = "",
        .node_name = "",
        .is_tainted = text[len] == '!',
    };
}

static const char *slice_name(struct fixture *fixture, const char *node, const char *driver)
{
    return arena_printf(fixture->arena, "%s-%s", node, driver);
}

void fixture_put_slice(struct fixture *fixture, const char *node, const char *driver,
                       const char *models)
{
    const char *texts[DEVICES_MAX];
    struct device_facts devices[DEVICES_MAX];
    const size_t n = split(fixture, models, texts);
    for (size_t i = 0; i < n; i++)
        devices[i] = device_of(fixture, i, texts[i]);
    const struct slice_facts facts = {
        .name = slice_name(fixture, node, driver),
        .driver = driver,
        .pool = node,
        .generation = 1,
        .n_slices = 1,
        .node_name = node,
        .devices = devices,
        .n_devices = n,
    };
    cluster_upsert_slice(fixture->cluster, &facts);
    fixture_check(fixture);
}

void fixture_put_l4_and_h100(struct fixture *fixture)
{
    cluster_upsert_device_class(
        fixture->cluster, &(struct device_class_facts){NVIDIA_DRIVER, .driver = NVIDIA_DRIVER});
    fixture_put_node(fixture, "l4", "cpu=8000 pods=99", "");
    fixture_put_node(fixture, "h100", "cpu=8000 pods=99", "");
    fixture_put_node(fixture, "both", "cpu=8000 pods=99", "");
    fixture_put_slice(fixture, "l4", NVIDIA_DRIVER, "L4, L4, L4, L4, L4, L4, L4, L4");
    fixture_put_slice(fixture, "h100", NVIDIA_DRIVER, "H100, H100, H100, H100");
    fixture_put_slice(fixture, "both", NVIDIA_DRIVER, "H100, H100, H100, L4");
}

void fixture_remove_slice(struct fixture *fixture, const char *node, const char *driver)
{
    cluster_delete_slice(fixture->cluster, slice_name(fixture, node, driver));
    fixture_check(fixture);
}

void fixture_put_claim_of(struct fixture *fixture, const char *name, const char *node,
                          const char *driver, const char *devices, const char *uid)
{
    const char *names[DEVICES_MAX];
    struct claim_result results[DEVICES_MAX];
    const size_t n = split(fixture, devices, names);
    for (size_t i = 0; i < n; i++) {
        const size_t len = strcspn(names[i], "*");
        results[i] = (struct claim_result){.driver = driver,
                                           .pool = node,
                                           .device = arena_strndup(fixture->arena, names[i], len),
                                           .is_admin = names[i][len] == '*'};
    }
    const struct claim_facts facts = {
        .namespace_ = "default",
        .name = name,
        .uid = arena_printf(fixture->arena, "uid-of-%s", name),
        .n_devices = (int64_t)n,
        .is_allocated = n > 0,
        .results = results,
        .n_results = n,
        .extended_for_uid = uid,
    };
    cluster_upsert_resource_claim(fixture->cluster, &facts);
    fixture_check(fixture);
}

void fixture_put_claim(struct fixture *fixture, const char *name, const char *node,
                       const char *driver, const char *devices)
{
    fixture_put_claim_of(fixture, name, node, driver, devices, "");
}

void fixture_remove_claim(struct fixture *fixture, const char *name)
{
    cluster_delete_resource_claim(fixture->cluster, "default", name);
    fixture_check(fixture);
}

const char *fixture_groups(struct fixture *fixture, const struct node *node)
{
    size_t n = 0;
    const struct node_device_group *groups = node_device_groups(node, &n);
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(
            fixture->arena, "%s%s%s %s %" PRId64 ": %" PRId64 " allocated, %" PRId64 " free%s",
            text, i > 0 ? "; " : "", groups[i].driver, groups[i].model, groups[i].total,
            groups[i].allocated, groups[i].free, groups[i].is_shadowed ? ", shadowed" : "");
    return text;
}

void fixture_put_unallocated_claim(struct fixture *fixture, const char *name, int64_t n_devices,
                                   const char *class_name)
{
    const struct claim_want want = {class_name, "", n_devices};
    const struct claim_facts facts = {.namespace_ = "default",
                                      .name = name,
                                      .uid = name,
                                      .n_devices = n_devices,
                                      .wants = &want,
                                      .n_wants = 1,
                                      .extended_for_uid = ""};
    cluster_upsert_resource_claim(fixture->cluster, &facts);
    fixture_check(fixture);
}
