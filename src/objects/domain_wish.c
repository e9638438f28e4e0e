/* domain_wish: see domain_wish.h. */
#include "domain_wish.h"

#include "annotations.h"
#include "fields.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *word;
    enum domain_rule rule;
} RULES[] = {{"require ", DOMAIN_REQUIRE}, {"prefer ", DOMAIN_PREFER}};

static bool find_level(const char *name, const struct policy *policy, size_t *ret_level)
{
    for (size_t i = policy->n_topology_levels; i > 0; i--) {
        const char *key = policy->topology_levels[i - 1];
        *ret_level = i - 1;
        if (strcmp(name, key) == 0 || strcmp(name, policy_level_name(policy, i - 1)) == 0)
            return true;
    }
    return false;
}

int domain_wish_read(const char *text, const struct policy *policy, struct arena *arena,
                     struct domain_wish *ret_wish, struct err *err)
{
    const char *levels = "";
    size_t level = 0;
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        const size_t len = strlen(RULES[i].word);
        if (strncmp(text, RULES[i].word, len) != 0 || !find_level(text + len, policy, &level))
            continue;
        *ret_wish = (struct domain_wish){RULES[i].rule, level};
        return 0;
    }
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
