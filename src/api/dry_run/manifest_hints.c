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
