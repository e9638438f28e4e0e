/* manifest_hints: see manifest_hints.h. */
#include "api/dry_run/manifest_hints.h"
#include "formats/json_get.h"

#include <stdbool.h>
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

void manifest_hints_of_text(const char *text, size_t len, struct err *err)
{
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
}
