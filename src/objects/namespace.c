/* namespace: see include/objects/kinds.h. */
#include "objects/kinds.h"

#include "fields.h"
#include "formats/json_values.h"
#include "objects/identity.h"

int namespace_from_json(const json_t *object, struct arena *arena,
                        struct namespace_facts *ret_facts, struct err *err)
{
    struct identity identity;
    struct label_map labels = {0};
    int r = identity_from_json(object, arena, &identity, err);
    if (r < 0)
        return r;
    r = label_map_read(json_member(object, "metadata"), "labels", arena, &labels, err);
    if (r < 0) {
        err_prefix(err, "metadata.");
        return r;
    }
    *ret_facts = (struct namespace_facts){identity.name, labels.labels, labels.n};
    return 0;
}
