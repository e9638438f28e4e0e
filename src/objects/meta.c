/* meta: see meta.h. */
#include "meta.h"

#include "formats/json_get.h"

#include <string.h>
#include <time.h>

int meta_name(const json_t *object, const char *member, struct arena *arena, const char **ret_name,
              struct err *err)
{
    const char *text = "";
    int r = json_get_string(object, member, &text, err);
    if (r < 0)
        return r;
    size_t len = strlen(text);
    if (len > META_NAME_BYTES_MAX)
        return err_set(err, EINVAL, "%s: is %zu bytes long, should be at most %d", member, len,
                       META_NAME_BYTES_MAX);
    if (len > 0)
        *ret_name = arena_strdup(arena, text);
    return 0;
}

int64_t meta_time_s(const char *text)
{
    struct tm time = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &time);
    if (!rest)
        return 0;
    if (*rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    struct tm zone = {0};
    const char *end = strptime(rest, "%z", &zone);
    if (!end || *end != '\0')
        return 0;
    return (int64_t)timegm(&time) - zone.tm_gmtoff;
}
