/* driver_selector: see driver_selector.h. */
#include "driver_selector.h"

#include "formats/json_get.h"
#include "meta.h"

#include <string.h>

static const char *skip_spaces(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* After the text and spaces; NULL: it does not begin with the text. */
static const char *skip_text(const char *at, const char *text)
{
    const size_t len = strlen(text);
    return at && strncmp(at, text, len) == 0 ? skip_spaces(at + len) : NULL;
}

/* The end of the quoted text that begins at text; NULL: none, or it is not simple to find. */
static const char *skip_quoted(const char *text)
{
    const char stops[] = {*text, '\\', '\n', '\0'};
    const size_t len = strcspn(text + 1, stops);
    const char *end = text + 1 + len;
    return *end == *text && (len > 0 || end[1] != *text) ? end : NULL;
}

/* Whether it has || or ?: outside of brackets, or that is not simple to tell. */
static bool may_have_alternatives(const char *rest)
{
    int depth = 0;
    for (const char *at = rest; *at; at++) {
        if (*at == '"' || *at == '\'')
            at = skip_quoted(at);
        if (!at || strncmp(at, "//", 2) == 0)
            return true;
        depth += (strchr("([{", *at) != NULL) - (strchr(")]}", *at) != NULL);
        const bool is_choice = *at == '?' && at[-1] != '.';
        if (depth < 0 || (depth == 0 && (is_choice || strncmp(at, "||", 2) == 0)))
            return true;
    }
    return false;
}

/* A conjunction holds only if its first part does. */
static bool is_conjunction(const char *rest)
{
    return !rest[0] || (strncmp(rest, "&&", 2) == 0 && !may_have_alternatives(rest));
}

const char *driver_selector_of(const char *expression, struct arena *arena)
{
    const char *name = skip_text(skip_spaces(expression), "device.driver");
    name = skip_text(name, "==");
    if (!name || (*name != '"' && *name != '\''))
        return "";
    const char quote[] = {*name++, '\\', '\n', '\0'};
    const size_t len = strcspn(name, quote);
    if (name[len] != quote[0] || len > META_NAME_BYTES_MAX ||
        !is_conjunction(skip_spaces(name + len + 1)))
        return "";
    return arena_printf(arena, "%.*s", (int)len, name);
}

const char *driver_selector_read(const json_t *selectors, struct arena *arena)
{
    size_t i = 0;
    json_t *selector = NULL;
    json_array_foreach (selectors, i, selector) {
        const char *expression =
            json_string_value(json_member(json_member(selector, "cel"), "expression"));
        const char *driver = driver_selector_of(expression ? expression : "", arena);
        if (driver[0])
            return driver;
    }
    return "";
}

json_t *driver_selector_json(const char *driver)
{
    return json_pack("[{s:{s:o}}]", "cel", "expression",
                     json_sprintf("device.driver == \"%s\"", driver));
}
