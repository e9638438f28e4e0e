/* given_random: see given_random.h. */
#include "given_random.h"

#define GPU "nvidia.com/gpu"

#define PICK(dice, texts) ((texts)[dice_below((dice), sizeof(texts) / sizeof *(texts))])

void given_random_node(struct given *given, struct dice *dice, const char *name)
{
    static const char *const MODELS[] = {"A100", "H100", "L4", "nvidia"};
    static const char *const TAINTS[] = {"", "", "a=1:PreferNoSchedule",
                                         "a=1:PreferNoSchedule b=1:PreferNoSchedule"};
    static const char *const OTHERS[] = {"", "", " amd.com/gpu=2"};
    static const char *const RUNNING[] = {GPU "=1", GPU "=8", "amd.com/gpu=1", "cpu=3"};
    const char *labels = arena_printf(given->arena, "accelerator=%s,zone=%u", PICK(dice, MODELS),
                                      dice_below(dice, 3));
    const char *amounts =
        arena_printf(given->arena, GPU "=%u cpu=%u memory=%u%s", 1 + dice_below(dice, 8),
                     4 * dice_below(dice, 3), 8 * dice_below(dice, 2), PICK(dice, OTHERS));
    struct node_facts facts = given_node_facts(given, name, amounts, labels);
    facts.taints = given_taints(given, PICK(dice, TAINTS), &facts.n_taints);
    facts.unschedulable = dice_one_in(dice, 6);
    given_node_of(given, &facts);
    if (dice_one_in(dice, 4)) {
        struct pod_facts pod = given_pod_facts(given, arena_printf(given->arena, "on-%s", name),
                                               name, PICK(dice, RUNNING));
        pod.replica_of = dice_below(dice, 2) ? GIVEN_OWNER : "";
        given_pod_of(given, &pod);
    }
}

struct shape_facts given_random_shape(struct given *given, struct dice *dice)
{
    static const char *const DEMANDS[] = {
        GPU "=1", GPU "=1", GPU "=1", GPU "=2 cpu=1", GPU "=1 amd.com/gpu=1", "cpu=1"};
    struct shape_facts facts = given_shape_facts(given, PICK(dice, DEMANDS));
    if (dice_one_in(dice, 3))
        facts.wants.accept = given_models(given, "H100, A100, L4", &facts.wants.n_accept);
    if (dice_one_in(dice, 3)) {
        struct preferred_term *term = ARENA_NEW(given->arena, struct preferred_term);
        *term = (struct preferred_term){5, given_term(given, "zone In 1")};
        facts.preferred = term;
        facts.n_preferred = 1;
    }
    return facts;
}
