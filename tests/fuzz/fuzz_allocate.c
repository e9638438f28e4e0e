/*
 * Makes slices, classes and claims of the bytes, and allocates on a node. Nothing crashes; the work
 * is bounded; a device that is given reaches the node, is free, and is given once.
 */
#include "base/mem.h"
#include "byte_dice.h"
#include "question.h"
#include "random_objects.h"
#include "require.h"

#define SLICES 6
#define CLAIMS 3
#define STEPS_MAX 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_t *question_of(struct dice *dice)
{
    json_t *slices = json_array();
    json_t *classes = json_array();
    json_t *others = json_array();
    json_t *asked = random_asked(dice);
    for (size_t i = 0; i < OBJECTS_CLASSES; i++)
        (void)json_array_append_new(classes, random_class(dice, i));
    for (size_t i = dice_below(dice, SLICES + 1); i > 0; i--)
        (void)json_array_append_new(slices, random_slice(dice, i));
    for (size_t i = dice_below(dice, CLAIMS + 1); i > 0; i--)
        (void)json_array_append_new(others, random_claim(dice, i));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i}", "node", object_node(0), "slices", slices,
                     "classes", classes, "claims", asked, "others", others, "maxSteps", STEPS_MAX);
}

static void check_result(const struct allocate_claim *claim, const struct allocate_result *result)
{
    const struct allocate_slice *slice = result->slice;
    const struct allocate_device *device = result->device;
    const size_t i = (size_t)(device - slice->devices);
    require(result->request < claim->n_requests && i < slice->n_devices);
    require(result->want < claim->requests[result->request].n_wants);
    const struct allocate_want *want = &claim->requests[result->request].wants[result->want];
    require(slice->devices_reach ? slice->devices_reach[i] : slice->reaches_node);
    require(want->is_admin || !device->is_allocated);
    require(!allocate_keeps_off(want, device->taints, device->n_taints));
}

static bool is_exclusive(const struct allocate_claim *claim, const struct allocate_result *result)
{
    const struct allocate_request *request = &claim->requests[result->request];
    return !request->wants[result->want].is_admin && !result->device->facts->allows_multiple;
}

static void check_results(const struct allocate_question *question,
                          const struct allocate_results *results)
{
    const struct allocate_device *given[2 * ALLOCATE_RESULTS_MAX];
    size_t n_given = 0;
    for (size_t c = 0; c < question->n_claims; c++) {
        require(results[c].n <= ALLOCATE_RESULTS_MAX);
        for (size_t i = 0; i < results[c].n; i++) {
            const struct allocate_result *result = &results[c].devices[i];
            check_result(&question->claims[c], result);
            if (!is_exclusive(&question->claims[c], result))
                continue;
            for (size_t j = 0; j < n_given; j++)
                require(given[j] != result->device);
            given[n_given++] = result->device;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct dice dice = {0};
    byte_dice_start(data, size);
    json_auto_t *json = question_of(&dice);
    const struct allocate_question question = question_from_json(json, arena);
    const struct allocate_answer answer = allocate_on_node(&question, arena);
    require((answer.verdict == ALLOCATE_FITS) == (answer.message[0] == '\0'));
    if (answer.verdict == ALLOCATE_FITS)
        check_results(&question, answer.results);
    return 0;
}
