/* node_conditions: see include/objects/node.h. */
#include "objects/node.h"

#include "formats/json_values.h"

#include <stdbool.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_member(object, member));
    return text ? text : "";
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    const size_t n = strlen(end);
    return len >= n && strncmp(&text[len - n], end, n) == 0;
}

/* "KernelReady", but not "NodeNotReady". */
static bool says_all_is_well(const char *type)
{
    static const char *const ENDS[] = {"Ready", "Healthy", "Available", "IsVoter"};
    const size_t len = strlen(type);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        if (ends_with(type, len, ENDS[i]))
            return !ends_with(type, len - strlen(ENDS[i]), "Not");
    }
    return false;
}

static bool is_problem(const char *type, const char *status)
{
    return type[0] && strcmp(type, "Ready") != 0 &&
           strcmp(status, says_all_is_well(type) ? "False" : "True") == 0;
}

const char *node_conditions_clean(const char *text, size_t max, const char * not,
                                  struct arena *arena)
{
    size_t len = strnlen(text, max + 1);
    if (len > max) {
        len = max;
        while (len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80)
            len--;
    }
    char *copy = arena_printf(arena, "%.*s", (int)len, text);
    for (char *at = copy; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7F || strchr(not, *at))
            *at = not [0] ? '_' : ' ';
    }
    return copy;
}

static const char *line_of(const json_t *condition, struct arena *arena)
{
    const char *type =
        node_conditions_clean(text_of(condition, "type"), NODE_CONDITION_NAME_BYTES, "= ", arena);
    const char *reason =
        node_conditions_clean(text_of(condition, "reason"), NODE_CONDITION_NAME_BYTES, " ", arena);
    const char *message = node_conditions_clean(text_of(condition, "message"),
                                                NODE_CONDITION_MESSAGE_BYTES, "", arena);
    return arena_printf(arena, "%s=%s %s: %s\n", type, text_of(condition, "status"), reason,
                        message);
}

const char *node_conditions_read(const json_t *conditions, struct arena *arena)
{
    const char *lines = "";
    size_t n = 0;
    size_t i = 0;
    json_t *condition = NULL;
    json_array_foreach (conditions, i, condition) {
        if (n < NODE_CONDITIONS_MAX &&
            is_problem(text_of(condition, "type"), text_of(condition, "status"))) {
            lines = arena_printf(arena, "%s%s", lines, line_of(condition, arena));
            n++;
        }
    }
    return lines;
}

/* The rest of the line after "TYPE=STATUS REASON: ". */
static const char *split(const char *line, json_t *condition)
{
    static const char *const MEMBERS[] = {"type", "status", "reason"};
    static const char *const ENDS[] = {"=", " ", ": "};
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        const char *end = strstr(line, ENDS[i]);
        (void)json_object_set_new(condition, MEMBERS[i], json_stringn(line, (size_t)(end - line)));
        line = end + strlen(ENDS[i]);
    }
    return line;
}

void node_conditions_append(const char *lines, json_t *conditions)
{
    for (const char *line = lines; line && *line; line = strchr(line, '\n') + 1) {
        json_t *condition = json_object();
        const char *message = split(line, condition);
        (void)json_object_set_new(condition, "message",
                                  json_stringn(message, strcspn(message, "\n")));
        (void)json_array_append_new(conditions, condition);
    }
}

json_t *node_conditions_list(const char *lines)
{
    json_t *list = lines && *lines ? json_array() : NULL;
    for (const char *line = lines; line && *line; line = strchr(line, '\n') + 1)
        (void)json_array_append_new(list, json_stringn(line, strcspn(line, "\n")));
    return list;
}
