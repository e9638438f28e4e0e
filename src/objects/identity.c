/* identity: see include/objects/identity.h. */
#include "objects/identity.h"
#include "base/mem.h"
#include "fields.h"
#include "formats/json_values.h"

#include <string.h>

static int get_metadata(const json_t *metadata, struct arena *arena, struct identity *identity,
                        struct err *err)
{
    int r = meta_name(metadata, "namespace", arena, &identity->namespace_, err);
    if (r == 0)
        r = meta_name(metadata, "uid", arena, &identity->uid, err);
    if (r == 0)
        r = meta_name(metadata, "name", arena, &identity->name, err);
    if (r == 0 && !identity->name[0])
        r = meta_name(metadata, "generateName", arena, &identity->name, err);
    if (r < 0)
        err_prefix(err, "metadata.");
    return r;
}

int identity_from_json(const json_t *object, struct arena *arena, struct identity *ret_identity,
                       struct err *err)
{
    struct identity identity = {"", "", "", "", ""};
    json_t *metadata = NULL;
    if (!json_is_object(object))
        return err_set(err, EINVAL, "is %s, should be an object", json_type_text(object));
    int r = meta_name(object, "kind", arena, &identity.kind, err);
    if (r == 0)
        r = meta_name(object, "apiVersion", arena, &identity.api_version, err);
    if (r == 0)
        r = json_get_object(object, "metadata", &metadata, err);
    if (r == 0)
        r = get_metadata(metadata, arena, &identity, err);
    if (r == 0)
        *ret_identity = identity;
    return r;
}

const char *identity_namespace(const struct identity *identity)
{
    return identity->namespace_[0] ? identity->namespace_ : "default";
}

char *identity_item_kind(const json_t *list)
{
    const char *kind = json_string_value(json_member(list, "kind"));
    const size_t suffix_len = strlen("List");
    size_t len = kind ? strlen(kind) : 0;
    if (len < suffix_len || strcmp(kind + len - suffix_len, "List") != 0)
        return NULL;
    return mem_strndup(kind, len - suffix_len);
}

int priority_class_from_json(const json_t *object, struct arena *arena,
                             struct priority_class_facts *ret_facts, struct err *err)
{
    struct identity identity = {.name = ""};
    struct priority_class_facts facts = {0};
    const char *policy = json_string_value(json_member(object, "preemptionPolicy"));
    int r = identity_from_json(object, arena, &identity, err);
    if (r == 0)
        r = json_get_integer(object, "value", &facts.value, err);
    if (r == 0)
        r = json_get_bool(object, "globalDefault", &facts.is_default, err);
    if (r < 0)
        return r;
    facts.name = identity.name;
    facts.never_preempts = policy && strcmp(policy, "Never") == 0;
    *ret_facts = facts;
    return 0;
}
