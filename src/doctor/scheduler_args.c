/* scheduler_args: see scheduler_args.h. */
#include "scheduler_args.h"

#include "formats/json_get.h"
#include "scheduler_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RATIO "RequestedToCapacityRatio"

static bool is_zero(const json_t *object, const char *key)
{
    const json_t *value = json_member(object, key);
    return json_is_integer(value) && json_integer_value(value) == 0;
}

static const char *preemption_fault(const json_t *args)
{
    return is_zero(args, "minCandidateNodesPercentage") &&
                   is_zero(args, "minCandidateNodesAbsolute")
               ? "minCandidateNodesPercentage and minCandidateNodesAbsolute are both 0"
               : NULL;
}

/* Whether two items have the same texts under both keys. */
static bool repeats(const json_t *list, const char *key, const char *other_key)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        for (size_t k = 0; k < i; k++) {
            const json_t *before = json_array_get(list, k);
            if (strcmp(scheduler_text(item, key), scheduler_text(before, key)) == 0 &&
                strcmp(scheduler_text(item, other_key), scheduler_text(before, other_key)) == 0)
                return true;
        }
    }
    return false;
}

static const char *balanced_fault(const json_t *args)
{
    return repeats(json_member(args, "resources"), "name", "name") ? "lists a resource twice"
                                                                   : NULL;
}

static const char *spread_fault(const json_t *args)
{
    const json_t *constraints = json_member(args, "defaultConstraints");
    if (json_array_size(constraints) > 0 &&
        strcmp(scheduler_text(args, "defaultingType"), "List") != 0)
        return "has defaultConstraints, so defaultingType should be List";
    return repeats(constraints, "topologyKey", "whenUnsatisfiable")
               ? "has two constraints with the same topologyKey and whenUnsatisfiable"
               : NULL;
}

static const char *strategy_fault(const json_t *strategy)
{
    const bool is_ratio = strcmp(scheduler_text(strategy, "type"), RATIO) == 0;
    const bool has_ratio = json_member(strategy, "requestedToCapacityRatio");
    if (is_ratio == has_ratio)
        return NULL;
    return is_ratio ? "has the type " RATIO " and no requestedToCapacityRatio"
                    : "has requestedToCapacityRatio, which is for the type " RATIO " only";
}

static json_int_t utilization(const json_t *shape, size_t i)
{
    return json_integer_value(json_object_get(json_array_get(shape, i), "utilization"));
}

static const char *ratio_fault(const json_t *ratio)
{
    const json_t *shape = json_member(ratio, "shape");
    if (json_array_size(shape) == 0)
        return "has no point in shape";
    for (size_t i = 1; i < json_array_size(shape); i++) {
        if (utilization(shape, i - 1) >= utilization(shape, i))
            return "has a shape whose points do not rise in utilization";
    }
    return NULL;
}

static bool is_integer(const char *text)
{
    char *end = NULL;
    (void)strtoll(text, &end, 10);
    return end != text && *end == '\0';
}

static const char *requirement_fault(const json_t *requirement)
{
    const char *op = scheduler_text(requirement, "operator");
    const json_t *values = json_member(requirement, "values");
    const size_t n = json_array_size(values);
    const char *first = json_string_value(json_array_get(values, 0));
    if (strcmp(op, "In") == 0 || strcmp(op, "NotIn") == 0)
        return n == 0 ? "has no values, which In and NotIn need" : NULL;
    if (strcmp(op, "Gt") == 0 || strcmp(op, "Lt") == 0)
        return n != 1 || !first || !is_integer(first)
                   ? "should have one value, a whole number, for Gt and Lt"
                   : NULL;
    return n > 0 ? "has values, which Exists and DoesNotExist forbid" : NULL;
}

static const char *field_requirement_fault(const json_t *requirement)
{
    return json_array_size(json_member(requirement, "values")) != 1 ? "should have one value"
                                                                    : NULL;
}

static const struct args_rule {
    const char *of;
    const char *(*fault)(const json_t *object);
} RULES[] = {
    {"DefaultPreemptionArgs", preemption_fault},
    {"NodeResourcesBalancedAllocationArgs", balanced_fault},
    {"PodTopologySpreadArgs", spread_fault},
    {"scoringStrategy", strategy_fault},
    {"ratio", ratio_fault},
    {"requirement", requirement_fault},
    {"fieldRequirement", field_requirement_fault},
};

const char *scheduler_args_fault(const char *of, const json_t *object)
{
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        if (strcmp(RULES[i].of, of) == 0)
            return RULES[i].fault(object);
    }
    return NULL;
}
