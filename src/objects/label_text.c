/* label_text: see include/objects/label_text.h. */
#include "objects/label_text.h"
#include "base/buf.h"
#include "fields.h"

#include <string.h>

static bool is_plain(const struct label *label)
{
    return label->key[0] && !strpbrk(label->key, "=\n") && !strchr(label->value, '\n');
}

const char *label_text_read(const json_t *metadata, struct arena *arena)
{
    struct label_map map = {0};
    struct err err;
    struct buf text;
    if (label_map_read(metadata, "labels", arena, &map, &err) < 0 || map.n > LABEL_TEXT_LABELS_MAX)
        return NULL;
    buf_init(&text, LABEL_TEXT_BYTES_MAX);
    bool is_kept = true;
    for (size_t i = 0; i < map.n; i++) {
        is_kept &= is_plain(&map.labels[i]);
        buf_printf(&text, "%s=%s\n", map.labels[i].key, map.labels[i].value);
    }
    is_kept &= !text.overflowed;
    const char *kept = is_kept ? arena_strdup(arena, buf_text(&text)) : NULL;
    buf_fini(&text);
    return kept;
}

void label_text_split(const char *text, struct label_set *ret_set)
{
    ret_set->n = 0;
    if (!text)
        return;
    memcpy(ret_set->text, text, strlen(text) + 1);
    for (char *at = ret_set->text; *at;) {
        char *value = strchr(at, '=');
        char *end = strchr(value, '\n');
        *value = *end = '\0';
        ret_set->labels[ret_set->n++] = (struct label){at, value + 1};
        at = end + 1;
    }
}
