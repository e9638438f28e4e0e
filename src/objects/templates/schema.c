/* schema: see schema.h. */
#include "objects/templates/schema.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t schema_group_len(const char *api_version)
{
    const char *slash = strchr(api_version, '/');
    return slash ? (size_t)(slash - api_version) : 0;
}

bool schema_is_own_group(const char *api_version)
{
    return !memchr(api_version, '.', schema_group_len(api_version));
}

bool schema_may_be_in_group(const char *api_version, const char *group)
{
    const size_t len = strlen(group);
    return *api_version == '\0' ||
           (strncmp(api_version, group, len) == 0 && api_version[len] == '/');
}

static int type_of_versioned(const char *kind, const char *api_version)
{
    for (size_t i = 0; i < SCHEMA_VERSIONED_N; i++) {
        if (strcmp(kind, SCHEMA_VERSIONED[i].kind) == 0 &&
            strcmp(api_version, SCHEMA_VERSIONED[i].api_version) == 0)
            return SCHEMA_VERSIONED[i].type;
    }
    return SCHEMA_ANY;
}

bool schema_version_lacks(const char *api_version, const char *kind)
{
    bool is_version = false;
    for (size_t i = 0; i < SCHEMA_VERSIONED_N; i++)
        is_version |= strcmp(api_version, SCHEMA_VERSIONED[i].api_version) == 0;
    return is_version && type_of_versioned(kind, api_version) == SCHEMA_ANY;
}

int schema_type_of_kind(const char *kind, const char *api_version)
{
    if (!schema_is_own_group(api_version))
        return type_of_versioned(kind, api_version);
    for (size_t i = 0; i < SCHEMA_KINDS_N; i++) {
        if (strcasecmp(kind, SCHEMA_KINDS[i].name) == 0)
            return SCHEMA_KINDS[i].type;
    }
    return SCHEMA_ANY;
}

static int compare(const void *name, const void *field)
{
    return strcmp(name, ((const struct schema_field *)field)->name);
}

const struct schema_field *schema_field(int type, const char *name)
{
    return bsearch(name, SCHEMA_FIELDS + SCHEMA_TYPES[type].first, SCHEMA_TYPES[type].n,
                   sizeof *SCHEMA_FIELDS, compare);
}
