/* manifest_hints: see manifest_hints.h. */
#include "api/dry_run/manifest_hints.h"
#include "formats/json_get.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Longer than any path on Linux. */
#define NAME_BYTES_MAX ((size_t)4096)

static void add(struct err *err, const char *hint)
{
    const struct err what = *err;
    (void)err_set(err, EINVAL, "%s; %s", what.text, hint);
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    const size_t n = strlen(end);
    return len >= n && memcmp(text + len - n, end, n) == 0;
}

static bool is_file_name(const char *text, size_t len)
{
    static const char *const ENDS[] = {".yaml", ".yml", ".json"};
    while (len > 0 && strchr(" \r\n", text[len - 1]))
        len--;
    if (len > NAME_BYTES_MAX || memchr(text, '\n', len) || memchr(text, ':', len))
        return false;
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        if (ends_with(text, len, ENDS[i]))
            return true;
    }
    return false;
}

/* curl -d @FILE sends a file without its line ends. JSON survives that. */
static bool is_without_line_ends(const char *text, size_t len)
{
    return !memchr(text, '\n', len) && text[0] != '{' && text[0] != '[' &&
           (strstr(text, "kind:") || strstr(text, "apiVersion:"));
}

static bool is_form(const char *text)
{
    return strncmp(text, "--", 2) == 0 && strstr(text, "Content-Disposition: form-data");
}

/* Tabs may be in a text block, so only if the parser stopped at one. */
static bool is_indented_with_tab(const char *text, const struct err *err)
{
    const char *line = text;
    const char *end = NULL;
    if (!strstr(err->text, "cannot start any token") && !strstr(err->text, "tab character"))
        return false;
    while (line[strspn(line, " ")] != '\t' && (end = strchr(line, '\n')))
        line = end + 1;
    return line[strspn(line, " ")] == '\t';
}

/* For faults of the parser, which name the place where it stopped. */
static const char *hint_of_fault(const char *text, const char *fault)
{
    if (strstr(text, "{{"))
        return "the text is a template: send what helm template prints";
    if (strstr(fault, "mapping values are not allowed"))
        return "a colon is missing in the line before, or this line has one too many: text with "
               "\": \" needs quotes";
    if (strstr(fault, "did not find expected key") ||
        strstr(fault, "did not find expected '-' indicator"))
        return "this line, or the one before it, is indented too little or too far";
    return NULL;
}

/* Of that number, from 1; NULL: there are fewer. */
static const char *line_at(const char *text, size_t number)
{
    while (--number > 0 && (text = strchr(text, '\n')))
        text++;
    return text;
}

/* The column of the first key of a line, after the dashes of lists; the key's length, 0: none. */
static size_t key_column(const char *line, size_t *ret_len)
{
    size_t column = strspn(line, " ");
    while (line[column] == '-' && line[column + 1] == ' ')
        column += 1 + strspn(line + column + 1, " ");
    const size_t len = strcspn(line + column, ":\n# ");
    *ret_len = line[column + len] == ':' ? len : 0;
    return column;
}

/* A key whose block may go on in a later line. */
struct open_key {
    const char *key;
    size_t len, column, line;
};

/* Of the blocks that are open before the line, the key with the nearest column: the inner of two.
 * Its len is 0 if there is none, or if the line before opens a block, so that any column is right.
 */
static struct open_key nearest_key(const char *text, size_t number, size_t column)
{
    struct open_key nearest = {.len = 0};
    size_t least = SIZE_MAX;
    size_t outermost = SIZE_MAX;
    for (size_t i = number - 1; i > 0 && outermost > 0; i--) {
        const char *line = line_at(text, i);
        size_t len = 0;
        const size_t at = key_column(line, &len);
        const char *value = line + at + len + 1;
        const size_t away = at > column ? at - column : column - at;
        if (len == 0 || at >= outermost)
            continue;
        if (outermost == SIZE_MAX && value[strspn(value, " ")] == '\n')
            return nearest;
        outermost = at;
        if (away < least)
            nearest = (struct open_key){line + at, len, at, i};
        least = away < least ? away : least;
    }
    return nearest;
}

/* Lines before a fault that are looked at, each from the text's beginning. */
#define FAULT_LINE_MAX 1000

/* "image is indented by 3, should be 4 as name in line 8" */
static bool add_indentation(const char *text, struct err *err)
{
    size_t number = 0;
    size_t at = 0;
    size_t len = 0;
    if (!strstr(err->text, "did not find expected key") ||
        sscanf(err->text, "%zu:%zu:", &number, &at) != 2 || number > FAULT_LINE_MAX)
        return false;
    const char *line = line_at(text, number);
    const size_t column = line ? key_column(line, &len) : 0;
    const struct open_key beside = nearest_key(text, number, column);
    if (len == 0 || beside.len == 0 || beside.column == column)
        return false;
    (void)err_set(
        err, EINVAL,
        "%zu:%zu: %.*s is indented by %zu, should be %zu as %.*s in line %zu (did not find "
        "expected key)",
        number, at, (int)len, line + column, column, beside.column, (int)beside.len, beside.key,
        beside.line);
    return true;
}

static bool lacks_space_after_colon(const char *text, const struct err *err)
{
    const char *kind = strstr(text, "kind:");
    return kind && strstr(err->text, "is a string") && !strchr(" \t\r\n", kind[strlen("kind:")]);
}

void manifest_hints_of_text(const char *text, size_t len, struct err *err)
{
    const char *hint = NULL;
    if (is_file_name(text, len))
        add(err, "the body is the name of a file: send the file with curl --data-binary @FILE");
    else if (is_without_line_ends(text, len))
        add(err, "the body has no line ends, as curl -d @FILE removes them: send the file with "
                 "curl --data-binary @FILE");
    else if (is_form(text))
        add(err, "the body is a form, as curl -F sends it: send the file with curl --data-binary "
                 "@FILE");
    else if (is_indented_with_tab(text, err))
        add(err, "a line is indented with a tab: indent with spaces");
    else if (lacks_space_after_colon(text, err))
        add(err, "write a space after each colon");
    else if (!strstr(text, "{{") && add_indentation(text, err))
        return;
    else if ((hint = hint_of_fault(text, err->text)))
        add(err, hint);
}

static bool is_container(const json_t *object)
{
    return json_is_object(object) && json_member(object, "name") &&
           (json_member(object, "image") || json_member(object, "resources"));
}

void manifest_hints_of_object(const json_t *object, struct err *err)
{
    if (json_is_object(object) && json_member(object, "kind"))
        return;
    if (json_is_array(json_member(object, "containers")))
        add(err, "this is the spec of a pod: send a manifest, as \"kind: Pod\" with this below "
                 "\"spec:\"");
    else if (json_is_array(json_member(json_member(object, "spec"), "containers")))
        add(err, "add \"kind: Pod\"");
    else if (is_container(object) || is_container(json_array_get(object, 0)))
        add(err, "this is a container: send a manifest, as \"kind: Pod\" with this below "
                 "\"spec:\" and \"containers:\"");
    else if (json_is_object(json_array_get(object, 0)))
        add(err, "put \"---\" between objects, or send them as \"kind: List\" with \"items:\"");
    else if (json_is_object(json_member(object, "services")))
        add(err, "this is a file of Docker Compose: send a manifest of Kubernetes");
}
