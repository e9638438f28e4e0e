/* node: see node.h. */
#include "node.h"

#include "base/mem.h"

#include <stdlib.h>

static const struct allocate_class any_class = {.name = "any"};

struct node *node_new(void)
{
    struct node *node = MEM_NEW(struct node);
    node->arena = arena_new();
    node->max_steps = ALLOCATE_STEPS_MAX;
    return node;
}

void node_free(struct node **node)
{
    arena_free((*node)->arena);
    free(*node);
}

struct allocate_slice *node_add_slice(struct node *node, const char *pool, const char *name)
{
    size_t i = node->n_slices++;
    struct allocate_slice *slice = &node->slices[i];
    *slice = (struct allocate_slice){
        .name = name,
        .driver = "d",
        .pool = pool,
        .generation = 1,
        .n_slices = 1,
        .reaches_node = true,
        .devices = node->devices[i],
    };
    return slice;
}

struct allocate_device *node_add_model(struct node *node, struct allocate_slice *slice,
                                       const char *name, const char *model)
{
    struct cel_fact *facts = ARENA_ARRAY(node->arena, struct cel_fact, 2);
    facts[0] = (struct cel_fact){.domain = "d", .name = "model", .kind = CEL_STRING, .text = model};
    facts[1] = (struct cel_fact){
        .domain = "d", .name = "index", .kind = CEL_INT, .integer = (int64_t)slice->n_devices};
    struct cel_device *seen = ARENA_NEW(node->arena, struct cel_device);
    *seen = (struct cel_device){.driver = "d", .facts = facts, .n_facts = 2};
    struct allocate_device *devices = node->devices[slice - node->slices];
    devices[slice->n_devices] =
        (struct allocate_device){.name = arena_strdup(node->arena, name), .facts = seen};
    return &devices[slice->n_devices++];
}

struct allocate_device *node_add_device(struct node *node, struct allocate_slice *slice,
                                        const char *name)
{
    return node_add_model(node, slice, name, "a");
}

void node_add_devices(struct node *node, struct allocate_slice *slice, const char *prefix, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)node_add_device(node, slice, arena_printf(node->arena, "%s%zu", prefix, i));
}

struct allocate_claim *node_add_claim(struct node *node)
{
    size_t i = node->n_claims++;
    node->claims[i] = (struct allocate_claim){
        .namespace_ = "ns",
        .name = arena_printf(node->arena, "c%zu", i),
        .requests = node->requests[i],
        .constraints = &node->constraints[i],
    };
    return &node->claims[i];
}

/* To the claim's last request. */
static struct allocate_want *add_want(struct node *node, const struct allocate_claim *claim,
                                      int64_t n_devices)
{
    size_t i = (size_t)(claim - node->claims), last = claim->n_requests - 1;
    struct allocate_request *request = &node->requests[i][last];
    struct allocate_want *want = &node->wants[i][last][request->n_wants++];
    request->wants = node->wants[i][last];
    *want = (struct allocate_want){.name = arena_printf(node->arena, "a%zu", request->n_wants - 1),
                                   .class_name = "any",
                                   .device_class = &any_class,
                                   .n_devices = n_devices};
    return want;
}

struct allocate_want *node_add_request(struct node *node, struct allocate_claim *claim,
                                       int64_t n_devices)
{
    size_t last = claim->n_requests++;
    node->requests[claim - node->claims][last] =
        (struct allocate_request){.name = arena_printf(node->arena, "r%zu", last)};
    return add_want(node, claim, n_devices);
}

struct allocate_want *node_add_alternative(struct node *node, const struct allocate_claim *claim,
                                           int64_t n_devices)
{
    node->requests[claim - node->claims][claim->n_requests - 1].has_alternatives = true;
    return add_want(node, claim, n_devices);
}

void node_select(struct node *node, struct allocate_want *want, const char *expression)
{
    struct cel_program **programs = ARENA_ARRAY(node->arena, struct cel_program *, 1);
    programs[0] = cel_compile(expression, node->arena);
    want->selectors = (struct allocate_selectors){programs, 1};
}

struct allocate_constraint *node_constrain(struct node *node, struct allocate_claim *claim,
                                           enum allocate_constraint_kind kind,
                                           const char *attribute)
{
    struct allocate_constraint *constraint = &node->constraints[claim - node->claims];
    *constraint = (struct allocate_constraint){.kind = kind, .attribute = attribute};
    claim->n_constraints = 1;
    return constraint;
}

static const char *separator(size_t claim, const struct allocate_results *results, size_t i)
{
    if (i)
        return results->devices[i].request == results->devices[i - 1].request ? " " : ",";
    return claim ? ";" : "";
}

const char *node_answer(struct node *node)
{
    struct allocate_question question = {.slices = node->slices,
                                         .n_slices = node->n_slices,
                                         .claims = node->claims,
                                         .n_claims = node->n_claims,
                                         .max_steps = node->max_steps};
    node->answer = allocate_on_node(&question, node->arena);
    if (node->answer.verdict != ALLOCATE_FITS)
        return node->answer.message;
    const char *text = "";
    for (size_t i = 0; i < node->n_claims; i++) {
        const struct allocate_results *results = &node->answer.results[i];
        for (size_t j = 0; j < results->n; j++)
            text = arena_printf(node->arena, "%s%s%s", text, separator(i, results, j),
                                results->devices[j].device->name);
    }
    return text;
}
