/* unknown_key: see unknown_key.h. */
#include "unknown_key.h"

#include "base/nearest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 48

/* A known key: a setting's, or a section's name (section ""). */
struct known_key {
    char section[WORD_MAX];
    char key[WORD_MAX];
};

static struct known_key key_of_setting(const struct setting *row)
{
    struct known_key known;
    (void)snprintf(known.section, sizeof known.section, "%.*s", (int)setting_section_len(row),
                   row->path);
    (void)snprintf(known.key, sizeof known.key, "%s", setting_key(row));
    return known;
}

/* The name of the row's section, or its key if it has none. */
static struct known_key outermost_key(const struct setting *row)
{
    struct known_key known = key_of_setting(row);
    if (known.section[0] == '\0')
        return known;
    struct known_key section = {.section = ""};
    memcpy(section.key, known.section, sizeof section.key);
    return section;
}

/* False: none is near. */
static bool find_nearest(const char *key, struct known_key *ret_nearest)
{
    struct nearest nearest = {.asked = key, .least = SIZE_MAX};
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        const struct known_key candidates[] = {key_of_setting(row), outermost_key(row)};
        for (size_t i = 0; i < 2; i++) {
            if (nearest_try(&nearest, candidates[i].key))
                *ret_nearest = candidates[i];
        }
    }
    return nearest.least < SIZE_MAX;
}

void unknown_key_list(const char *section, struct buf *out)
{
    struct known_key last = {.key = ""};
    const char *separator = "";
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        struct known_key known = *section ? key_of_setting(row) : outermost_key(row);
        if (strcmp(known.section, section) != 0 || strcmp(known.key, last.key) == 0)
            continue;
        buf_printf(out, "%s%s", separator, known.key);
        separator = ", ";
        last = known;
    }
}

static void add_hint(const char *section, const char *key, struct buf *out)
{
    struct known_key nearest = {.section = "", .key = ""};
    const char *last_part = strrchr(key, '.') ? strrchr(key, '.') + 1 : key;
    if (!find_nearest(last_part, &nearest)) {
        buf_add_text(out, "known here: ");
        unknown_key_list(section, out);
    } else if (strcmp(nearest.section, section) == 0) {
        buf_printf(out, "did you mean %s?", nearest.key);
    } else if (nearest.section[0] == '\0') {
        buf_printf(out, "did you mean %s, outside of %s?", nearest.key, section);
    } else {
        buf_printf(out, "did you mean %s in %s?", nearest.key, nearest.section);
    }
}

int unknown_key(const struct yaml_file *file, const char *section, const struct yaml_value *at,
                struct err *err)
{
    struct buf hint;
    buf_init(&hint, ERR_TEXT_MAX);
    add_hint(section, at->key, &hint);
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    int r = yaml_fault(file, &key_only, err, "unknown key; %s", buf_text(&hint));
    buf_fini(&hint);
    return r;
}
