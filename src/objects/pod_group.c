/* pod_group: see include/objects/kinds.h. */
#include "objects/kinds.h"

#include "formats/json_values.h"
#include "objects/identity.h"

#include <errno.h>

static int read_min_count(const json_t *object, int64_t *ret_count, struct err *err)
{
    json_t *spec = NULL;
    json_t *policy = NULL;
    json_t *gang = NULL;
    int64_t count = 0;
    int r = json_get_object(object, "spec", &spec, err);
    if (r < 0)
        return r;
    if ((r = json_get_object(spec, "schedulingPolicy", &policy, err)) < 0 ||
        (r = json_get_object(policy, "gang", &gang, err)) < 0 ||
        (r = json_get_integer(gang, "minCount", &count, err)) < 0)
        err_prefix(err, "spec.schedulingPolicy.gang: ");
    else if (gang && (count < 1 || count > INT32_MAX))
        r = err_set(err, EINVAL,
                    "spec.schedulingPolicy.gang.minCount: is %lld, should be 1 or more",
                    (long long)count);
    else
        *ret_count = count;
    return r;
}

int pod_group_from_json(const json_t *object, struct arena *arena,
                        struct pod_group_facts *ret_facts, struct err *err)
{
    struct identity identity;
    struct pod_group_facts facts = {0};
    int r = 0;
    if ((r = identity_from_json(object, arena, &identity, err)) < 0 ||
        (r = read_min_count(object, &facts.min_count, err)) < 0)
        return r;
    facts.namespace_ = identity_namespace(&identity);
    facts.name = identity.name;
    *ret_facts = facts;
    return 0;
}
