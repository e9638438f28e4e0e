/* facts: small questions about facts. See include/core/facts.h. */
#include "core/facts.h"

#include <string.h>

int64_t shape_demand(const struct shape_facts *shape, const char *resource)
{
    for (size_t i = 0; i < shape->n_demand; i++) {
        if (strcmp(shape->demand[i].resource, resource) == 0)
            return shape->demand[i].amount;
    }
    return 0;
}
