/* meta: see meta.h. */
#include "meta.h"

#include "base/text_time.h"
#include "formats/json_get.h"

#include <string.h>

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
    int64_t seconds = 0;
    (void)text_time_read(text, &seconds);
    return seconds;
}
