/* given_claims: see given_claims.h. */
#include "given_claims.h"

#include "formats/json_get.h"
#include "objects/claim_spec.h"
#include "objects/resource_claim.h"

#include <strings.h>

static int append(const struct claim_template_facts *facts, struct given_list *list,
                  struct arena *arena, struct err *err)
{
    if (list->n == GIVEN_CLAIMS_MAX)
        return err_set(err, EINVAL, "is beyond the first %zu of its kind", GIVEN_CLAIMS_MAX);
    if (!list->items)
        list->items = ARENA_ARRAY(arena, struct claim_template_facts, GIVEN_CLAIMS_MAX);
    list->items[list->n++] = *facts;
    return 0;
}

static int add_template(const json_t *object, struct arena *arena, struct given_claims *given,
                        struct err *err)
{
    struct claim_template_facts facts = {0};
    const int r = claim_template_from_json(object, arena, &facts, err);
    return r < 0 ? r : append(&facts, &given->templates, arena, err);
}

/* A manifest does not tell what is allocated. */
static int add_claim(const json_t *object, struct arena *arena, struct given_claims *given,
                     struct err *err)
{
    struct claim_facts claim = {0};
    const int r = resource_claim_from_json(object, arena, &claim, err);
    const struct claim_template_facts facts = {claim.namespace_, claim.name, claim.wants,
                                               claim.n_wants,
                                               claim_spec_text(json_member(object, "spec"), arena)};
    return r < 0 ? r : append(&facts, &given->claims, arena, err);
}

int given_claims_add(const json_t *object, const char *kind, struct arena *arena,
                     struct given_claims *given, struct err *err)
{
    if (!json_is_string(json_member(json_member(object, "metadata"), "name")))
        return 0;
    if (strcasecmp(kind, "ResourceClaimTemplate") == 0)
        return add_template(object, arena, given, err);
    return strcasecmp(kind, "ResourceClaim") == 0 ? add_claim(object, arena, given, err) : 0;
}
