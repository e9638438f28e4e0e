/* domain_wish: see tolerations.h. */
#include "tolerations.h"

#include "annotations.h"
#include "fields.h"

#include <errno.h>

int domain_wish_read(const char *text, const struct policy *policy, struct arena *arena,
                     struct domain_wish *ret_wish, struct err *err)
{
    const char *levels = "";
    if (policy_read_domain(policy, text, ret_wish))
        return 0;
    if (policy->n_topology_levels == 0)
        return err_set(err, EINVAL,
                       "annotation " ANNOTATION_DOMAIN
                       ": is %s, but the policy has no topology.levels",
                       quoted(arena, text));
    for (size_t i = 0; i < policy->n_topology_levels; i++)
        levels = arena_printf(arena, "%s%s%s", levels, levels[0] ? ", " : "",
                              policy_level_name(policy, i));
    return err_set(err, EINVAL,
                   "annotation " ANNOTATION_DOMAIN
                   ": is %s, should be \"require LEVEL\" or \"prefer LEVEL\"; levels here: %s",
                   quoted(arena, text), levels);
}
