/* resource_version: see resource_version.h. */
#include "resource_version.h"

#include <string.h>

static bool is_decimal(const char *version)
{
    return version[0] >= '1' && version[0] <= '9' && version[strspn(version, "0123456789")] == '\0';
}

bool resource_version_less(const char *a, const char *b)
{
    size_t a_len = strlen(a);
    size_t b_len = strlen(b);
    if (!is_decimal(a) || !is_decimal(b))
        return false;
    return a_len != b_len ? a_len < b_len : strcmp(a, b) < 0;
}

bool resource_version_is_at_least(const char *version, const char *other)
{
    return strcmp(version, other) == 0 || resource_version_less(other, version);
}
