/* fixture_random: see fixture_random.h. */
#include "fixture_random.h"
#include "fixture_devices.h"

#define GPU "nvidia.com/gpu"

#define PICK(dice, texts) ((texts)[dice_below((dice), sizeof(texts) / sizeof *(texts))])

void fixture_random_node(struct fixture *fixture, struct dice *dice, const char *name)
{
    static const char *const MODELS[] = {"A100", "H100", "L4", "nvidia"};
    static const char *const TAINTS[] = {"", "", "a=1:PreferNoSchedule",
                                         "a=1:PreferNoSchedule b=1:PreferNoSchedule"};
    static const char *const OTHERS[] = {"", "", " amd.com/gpu=2"};
    static const char *const RUNNING[] = {GPU "=1", GPU "=8", "amd.com/gpu=1", "cpu=3"};
    static const char *const DRIVERS[] = {NVIDIA_DRIVER, AMD_DRIVER, AMD_DRIVER};
    static const char *const DEVICES[] = {"A100, A100", "A100, ?, ?, A100!"};
    const char *labels = arena_printf(fixture->arena, "accelerator=%s,zone=%u", PICK(dice, MODELS),
                                      dice_below(dice, 3));
    const char *amounts =
        arena_printf(fixture->arena, GPU "=%u cpu=%u memory=%u%s", 1 + dice_below(dice, 8),
                     4 * dice_below(dice, 3), 8 * dice_below(dice, 2), PICK(dice, OTHERS));
    struct node_facts facts = fixture_node_facts(fixture, name, amounts, labels);
    facts.taints = fixture_taints(fixture, PICK(dice, TAINTS), &facts.n_taints);
    facts.unschedulable = dice_one_in(dice, 6);
    fixture_put_node_facts(fixture, &facts);
    if (dice_one_in(dice, 3)) {
        const char *driver = PICK(dice, DRIVERS);
        fixture_put_slice(fixture, name, driver, PICK(dice, DEVICES));
    }
    if (dice_one_in(dice, 4)) {
        struct pod_facts pod = fixture_pod_facts(
            fixture, arena_printf(fixture->arena, "on-%s", name), name, PICK(dice, RUNNING));
        pod.replica_of = dice_below(dice, 2) ? FIXTURE_OWNER : "";
        fixture_put_pod_facts(fixture, &pod);
    }
}

struct shape_facts fixture_random_shape(struct fixture *fixture, struct dice *dice)
{
    static const char *const DEMANDS[] = {
        GPU "=1", GPU "=1", GPU "=1", GPU "=2 cpu=1", GPU "=1 amd.com/gpu=1", "cpu=1"};
    struct shape_facts facts = fixture_shape_facts(fixture, PICK(dice, DEMANDS));
    if (dice_one_in(dice, 3))
        facts.wants.accept = fixture_models(fixture, "H100, A100, L4", &facts.wants.n_accept);
    if (dice_one_in(dice, 3)) {
        struct preferred_term *term = ARENA_NEW(fixture->arena, struct preferred_term);
        *term = (struct preferred_term){5, fixture_term(fixture, "zone In 1")};
        facts.preferred = term;
        facts.n_preferred = 1;
    }
    return facts;
}
