/* budget: see include/objects/kinds.h. */
#include "objects/kinds.h"

#include "formats/json_values.h"
#include "objects/identity.h"
#include "tolerations.h"

#include <errno.h>
#include <string.h>

static int read_spec(const json_t *object, struct arena *arena, struct budget_facts *facts,
                     struct err *err)
{
    json_t *spec = NULL;
    const char *unready = "";
    int r = json_get_object(object, "spec", &spec, err);
    if (r < 0)
        return r;
    if ((r = peer_terms_read_selector(spec, "selector", arena, &facts->selector,
                                      &facts->selects_none, err)) < 0 ||
        (r = json_get_string(spec, "unhealthyPodEvictionPolicy", &unready, err)) < 0)
        err_prefix(err, "spec.");
    facts->frees_unready = strcmp(unready, "AlwaysAllow") == 0;
    return r;
}

static int read_status(const json_t *object, struct budget_facts *facts, struct err *err)
{
    json_t *status = NULL;
    int64_t generation = 0;
    int64_t observed = 0;
    int r = json_get_object(object, "status", &status, err);
    if (r < 0)
        return r;
    if ((r = json_get_integer(status, "disruptionsAllowed", &facts->allowed, err)) < 0 ||
        (r = json_get_integer(status, "currentHealthy", &facts->healthy, err)) < 0 ||
        (r = json_get_integer(status, "desiredHealthy", &facts->desired, err)) < 0 ||
        (r = json_get_integer(status, "observedGeneration", &observed, err)) < 0) {
        err_prefix(err, "status.");
        return r;
    }
    r = json_get_integer(json_member(object, "metadata"), "generation", &generation, err);
    if (r < 0)
        err_prefix(err, "metadata.");
    facts->is_outdated = !status || observed < generation;
    return r;
}

int budget_from_json(const json_t *object, struct arena *arena, struct budget_facts *ret_facts,
                     struct err *err)
{
    struct identity identity;
    struct budget_facts facts = {0};
    int r = 0;
    if ((r = identity_from_json(object, arena, &identity, err)) < 0 ||
        (r = read_spec(object, arena, &facts, err)) < 0 ||
        (r = read_status(object, &facts, err)) < 0)
        return r;
    facts.namespace_ = identity_namespace(&identity);
    facts.name = identity.name;
    *ret_facts = facts;
    return 0;
}
