/* manifest: see manifest.h. */
#include "api/dry_run/manifest.h"
#include "api/text.h"
#include "base/err.h"
#include "base/mem.h"
#include "formats/documents.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "objects/identity.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- what to do about bodies that people send by mistake ---- */

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
        text_place(err->text, &number, &at) == 0 || number > FAULT_LINE_MAX)
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

/* Adds a hint to why the body is unreadable, if its text shows a known mistake. */
static void manifest_hints_of_text(const char *text, size_t len, struct err *err)
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

/* The same for an object that is unreadable. */
static void manifest_hints_of_object(const json_t *object, struct err *err)
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

/* ---- manifest ---- */

#define MAX_DEPTH ((size_t)100)

struct manifest_reader {
    const struct manifest_texts *texts;
    size_t at; /* of the texts */
    const struct api *api;
    const struct policy *policy;
    struct arena *arena;
    struct workload_list list;
    json_t *kindless; /* items whose kind depends on the list's kind, not yet known */
    size_t first_at;  /* the text of the first unreadable object */
    struct err first; /* why it is so */
};

static void name_text(const struct manifest_reader *reader, struct err *err)
{
    if (reader->texts->n > 1)
        err_prefix(err, "%s[%zu]: ", reader->texts->name, reader->at);
}

/* The others are read, but not if too many are unreadable. */
static int skip(struct manifest_reader *reader, const json_t *object, const struct err *why)
{
    struct err named = *why;
    name_text(reader, &named);
    if (reader->list.n_unreadable == 0) {
        reader->first = named;
        reader->first_at = reader->at;
    }
    return workload_add_unreadable(object, named.text, reader->arena, &reader->list) ? 0 : -EINVAL;
}

static int read_workload(struct manifest_reader *reader, json_t *object, struct err *err)
{
    const size_t n_values = json_count_values(object);
    if (n_values > reader->api->max_object_values)
        return err_set(err, EINVAL, "has %zu values, should have at most %zu (limits.objectValues)",
                       n_values, reader->api->max_object_values);
    return workload_from_json(object, reader->policy, reader->arena, &reader->list, err);
}

static int read_object(struct manifest_reader *reader, json_t *object, struct text_position at,
                       struct err *err)
{
    int r = read_workload(reader, object, err);
    if (r == 0)
        return 0;
    err_prefix(err, "%zu:%zu: ", at.line, at.column);
    manifest_hints_of_object(object, err);
    return skip(reader, object, err);
}

/* The other texts, or objects, are apart from it. */
static int read_objects(struct manifest_reader *reader, const struct manifest_text *text,
                        struct err *err)
{
    const size_t n = text->object ? 1 : json_array_size(text->objects);
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        json_t *object = text->object ? text->object : json_array_get(text->objects, i);
        if (read_workload(reader, object, err) == 0)
            continue;
        if (!text->object)
            err_prefix(err, "%s[%zu]: ", reader->texts->name, i);
        manifest_hints_of_object(object, err);
        r = skip(reader, object, err);
    }
    return r;
}

static int on_item(void *context, json_t *item, struct text_position at, struct err *err)
{
    struct manifest_reader *reader = context;
    if (!json_is_object(item) || json_member(item, "kind"))
        return read_object(reader, item, at, err);
    if (!reader->kindless)
        reader->kindless = json_array();
    (void)json_array_append(reader->kindless, item);
    return 0;
}

/* Items of a PodList may omit their kind and its version, NULL if the list has none. */
static int read_kindless(struct manifest_reader *reader, const char *kind, json_t *version,
                         struct text_position at, struct err *err)
{
    size_t i = 0;
    json_t *item = NULL;
    int r = 0;
    json_array_foreach (reader->kindless, i, item) {
        if (kind && kind[0])
            (void)json_object_set_new(item, "kind", json_string(kind));
        if (version && !json_member(item, "apiVersion"))
            (void)json_object_set(item, "apiVersion", version);
        r = read_object(reader, item, at, err);
        if (r < 0)
            break;
    }
    json_decref(reader->kindless);
    reader->kindless = NULL;
    return r;
}

/* Only the envelope remains after its items were read. */
static int on_envelope(void *context, json_t *envelope, struct text_position at, struct err *err)
{
    struct manifest_reader *reader = context;
    char *item_kind CLEANUP(mem_free_ptr) = identity_item_kind(envelope);
    int r = read_kindless(reader, item_kind, json_object_get(envelope, "apiVersion"), at, err);
    return r < 0 || item_kind ? r : read_object(reader, envelope, at, err);
}

static int on_fault(void *context, const struct err *fault)
{
    struct manifest_reader *reader = context;
    json_decref(reader->kindless);
    reader->kindless = NULL;
    return skip(reader, NULL, fault);
}

static int read_text(struct manifest_reader *reader, struct err *err)
{
    const struct manifest_text *text = &reader->texts->items[reader->at];
    const struct json_budget *budget = &reader->api->request_budget;
    const struct document_options options = {
        .budget = budget,
        .spent = reader->texts->spent,
        .max_object_bytes = reader->api->max_object_bytes,
        .max_values = budget->max_values,
        .max_depth = MAX_DEPTH,
        .json_flags = JSON_REJECT_DUPLICATES,
    };
    const struct json_stream_handler handler = {
        .on_item = on_item, .on_envelope = on_envelope, .on_fault = on_fault, .context = reader};
    const size_t n_warnings = reader->list.n_warnings;
    if (!text->text)
        return read_objects(reader, text, err);
    int r = documents_each_text(text->text, text->len, &options, &handler, err);
    json_decref(reader->kindless);
    reader->kindless = NULL;
    if (r < 0) {
        manifest_hints_of_text(text->text, text->len, err);
        name_text(reader, err);
    } else {
        manifest_lines_find(text->text, text->len, &reader->list, n_warnings);
    }
    return r;
}

/* If nothing is readable. */
static int fail(const struct manifest_reader *reader, struct err *err)
{
    const struct manifest_text *text = &reader->texts->items[reader->first_at];
    const bool is_named = reader->texts->n > 1;
    if (reader->list.n_unreadable > 0)
        *err = reader->first;
    else
        (void)err_set(err, EINVAL, "%s%sis empty, should be one or more manifests",
                      is_named ? reader->texts->name : "", is_named ? ": " : "");
    if (text->text)
        manifest_hints_of_text(text->text, text->len, err);
    return -EINVAL;
}

/* Those of which lines are found. The caller may free what the request had. */
static void keep_texts(struct manifest_reader *reader)
{
    const struct manifest_texts *texts = reader->texts;
    const char **kept = ARENA_ARRAY(reader->arena, const char *, texts->n);
    for (size_t i = 0; i < texts->n; i++) {
        if (texts->items[i].text && texts->items[i].len <= MANIFEST_LINES_BYTES_MAX)
            kept[reader->list.n_texts++] =
                arena_strndup(reader->arena, texts->items[i].text, texts->items[i].len);
    }
    reader->list.texts = kept;
}

int manifest_read(const struct manifest_texts *texts, const struct api *api, struct arena *arena,
                  struct workload_list *ret_list, struct err *err)
{
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(api->inventory);
    struct manifest_reader reader = {.texts = texts, .api = api, .policy = policy, .arena = arena};
    int r = 0;
    for (; r == 0 && reader.at < texts->n; reader.at++)
        r = read_text(&reader, err);
    if (r == 0 && reader.list.n + reader.list.n_skipped == reader.list.n_unreadable)
        r = fail(&reader, err);
    if (r < 0 && texts->n == 1 && texts->items[0].text)
        err_prefix(err, "manifest: ");
    if (r == 0) {
        keep_texts(&reader);
        *ret_list = reader.list;
    }
    return r;
}

/* ---- lists ---- */

/* The reading of a text costs some microseconds, even if it is short. */
#define TEXTS_MAX ((size_t)1000)

static bool has_texts(const json_t *workloads)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (workloads, i, item) {
        if (json_is_string(item))
            return true;
    }
    return false;
}

/* Objects alone are one list. */
static struct manifest_texts texts_of(json_t *workloads, struct json_cost *spent,
                                      struct arena *arena)
{
    const bool is_apart = has_texts(workloads);
    const size_t n = is_apart ? json_array_size(workloads) : 1;
    struct manifest_text *texts = ARENA_ARRAY(arena, struct manifest_text, n);
    for (size_t i = 0; i < n; i++) {
        json_t *item = is_apart ? json_array_get(workloads, i) : workloads;
        if (!is_apart)
            texts[i].objects = item;
        else if (json_is_string(item))
            texts[i] = (struct manifest_text){.text = json_string_value(item),
                                              .len = json_string_length(item)};
        else
            texts[i].object = item;
    }
    return (struct manifest_texts){texts, n, "workloads", spent};
}

int manifest_read_list(json_t *workloads, const struct api *api, struct arena *arena,
                       struct workload_list *ret_list, struct err *err)
{
    struct json_cost spent = {0};
    if (workloads && !json_is_array(workloads))
        return err_set(err, EINVAL, "workloads: is %s, should be an array",
                       json_type_text(workloads));
    if (json_array_size(workloads) == 0)
        return 0;
    if (has_texts(workloads) && json_array_size(workloads) > TEXTS_MAX)
        return err_set(err, E2BIG, "workloads: are %zu, with texts should be at most %zu",
                       json_array_size(workloads), TEXTS_MAX);
    const struct manifest_texts texts = texts_of(workloads, &spent, arena);
    int r = manifest_read(&texts, api, arena, ret_list, err);
    if (r < 0 && texts.n == 1 && texts.items[0].text)
        err_prefix(err, "workloads: ");
    return r;
}

/* No object of Kubernetes begins so. */
static bool is_list_of_manifests(const char *text)
{
    static const char MEMBER[] = "\"workloads\"";
    text += strspn(text, " \t\r\n");
    if (*text != '{')
        return false;
    text++;
    text += strspn(text, " \t\r\n");
    return strncmp(text, MEMBER, strlen(MEMBER)) == 0;
}

int manifest_read_body(const struct manifest_texts *body, const struct api *api,
                       struct arena *arena, struct workload_list *ret_list, struct err *err)
{
    const struct manifest_text *text = &body->items[0];
    json_t *root = NULL;
    if (body->n != 1 || !text->text || !is_list_of_manifests(text->text))
        return manifest_read(body, api, arena, ret_list, err);
    int r =
        json_parse(text->text, text->len, JSON_REJECT_DUPLICATES, &api->request_budget, &root, err);
    const json_t *workloads = json_member(root, "workloads");
    if (r == 0 && json_object_size(root) > 1)
        r = err_set(err, EINVAL, "workloads: should be the only member of the body");
    else if (r == 0 && json_is_array(workloads) && json_array_size(workloads) == 0)
        r = err_set(err, EINVAL, "workloads: is empty, should have one or more manifests");
    if (r == 0)
        r = manifest_read_list(json_object_get(root, "workloads"), api, arena, ret_list, err);
    json_decref(root);
    return r;
}

/* ---- mistakes ---- */

/* "spec.template.spec.containers[0].resources.limit": "limit"; of "spec.nvidia.com/gpu" the
 * resource; of one that is shortened, what is there of it. */
static const char *field_of(const char *path)
{
    static const char *const PARENTS[] = {"].", "spec.", "resources.", "limits.", "requests."};
    const char *start = path;
    for (size_t i = 0; i < sizeof PARENTS / sizeof *PARENTS; i++) {
        for (const char *at = path; (at = strstr(at, PARENTS[i])) != NULL;) {
            at += strlen(PARENTS[i]);
            start = at > start ? at : start;
        }
    }
    const char *dot = strrchr(path, '.');
    return strchr(start, '/') || !dot || !dot[1] ? start : dot + 1;
}

/* The end of the sentence that begins with a part of the message. */
static const char *ending(const char *message)
{
    return message[0] && message[strlen(message) - 1] == '?' ? "" : ".";
}

/* Each returns NULL if it is something else. line: " in line 7", or "". */

/* The API server rejects unknown fields, or ignores them. */
static const char *unknown_field(const struct manifest_warning *warning, const char *line,
                                 bool asks_for_gpus, struct arena *arena)
{
    static const char UNKNOWN[] = "unknown field";
    const char *rest = warning->message + strlen(UNKNOWN);
    if (strncmp(warning->message, UNKNOWN, strlen(UNKNOWN)) != 0)
        return NULL;
    asks_for_gpus |= strchr(rest, ':') != NULL; /* which is long enough */
    return arena_printf(arena, "Unknown field %s%s%s%s%s", field_of(warning->path), line, rest,
                        ending(rest), asks_for_gpus ? "" : " As written, the pods ask for no GPU.");
}

/* "The cpu request 8 in line 13 is more than its limit 2." */
static const char *over_limit(const struct manifest_warning *warning, const char *line,
                              struct arena *arena)
{
    const char *rest = strstr(warning->message, WARNING_OVER_LIMIT);
    const char *key = strrchr(warning->path, '[');
    if (!rest || !key)
        return NULL;
    return arena_printf(arena, "The %.*s %.*s%s%s.", (int)strcspn(key + 1, "]"), key + 1,
                        (int)(rest - warning->message), warning->message, line, rest);
}

/* "The label gpu-extender.io/models in line 7 has no effect; write it under metadata.annotations."
 * Of our keys that wish nothing, so that the pods may go anywhere. */
static const char *lost_wish(const struct manifest_warning *warning, const char *line,
                             struct arena *arena)
{
    const char *key = strrchr(warning->path, '[');
    const char *text = warning->message;
    const bool is_unknown = strncmp(text, "unknown key", 11) == 0;
    const bool is_label = strncmp(text, "a label ", 8) == 0;
    if (!key || (!is_unknown && !is_label && strncmp(text, "has no effect", 13) != 0))
        return NULL;
    return arena_printf(arena, "The %s %.*s%s %s%s%s", is_label ? "label" : "annotation",
                        (int)strcspn(key + 1, "]"), key + 1, line, is_unknown ? "is an " : "",
                        text + (is_label ? 8 : 0), ending(text));
}

/* "args in line 9: item 1 should be a string: write "4"." The API server rejects it. */
static const char *wrong_value(const struct manifest_warning *warning, const char *line,
                               struct arena *arena)
{
    static const char SHOULD[] = ", should be ";
    const char *text = warning->message;
    const char *right = strstr(text, SHOULD);
    const char *is = strstr(text, "is ");
    if (!right || !is || is > right)
        return NULL;
    if (strncmp(text, "is missing", strlen("is missing")) == 0)
        return arena_printf(arena, "%s %s.", field_of(warning->path), text);
    return arena_printf(arena, "%s%s%s%.*s%s.", field_of(warning->path), line,
                        is == text ? " " : ": ", (int)(is - text), text, right + 2);
}

/* Of the kind, the name and the selector, and of amounts that no container can start with. */
static const char *wrong_object(const struct manifest_warning *warning, const char *line,
                                struct arena *arena)
{
    const char *text = warning->message;
    const char *meant = strchr(text, ';');
    const char *slash = strrchr(warning->object, '/');
    if (strcmp(warning->path, "metadata.name") == 0 && slash)
        return arena_printf(arena, "The API server rejects the name %s.", slash + 1);
    if (strcmp(warning->path, "kind") == 0 && meant)
        return arena_printf(arena, "The kind%s is unknown%s", line, meant);
    if (strcmp(warning->path, "apiVersion") == 0 && strstr(text, " is not in this group;"))
        return arena_printf(arena, "The apiVersion%s is of another group%s", line, meant);
    if (strcmp(warning->path, "apiVersion") == 0 && strstr(text, " do not serve "))
        return arena_printf(arena, "The apiVersion%s is not served any more%s.", line, meant);
    if (strstr(text, WARNING_REJECTED))
        return arena_printf(arena, "%s%s %s.", warning->path, line, text);
    const char *key = strrchr(warning->path, '[');
    const char *small = strstr(text, " is less than 1Mi");
    if (small && key)
        return arena_printf(arena, "The memory %.*s%s%s%s", (int)(small - text), text, line, small,
                            ending(text));
    if (key && strchr(key, '/') && strncmp(text, "has no value", strlen("has no value")) == 0)
        return arena_printf(arena, "The amount of %.*s%s has no value, which counts as 0.",
                            (int)strcspn(key + 1, "]"), key + 1, line);
    return NULL;
}

const char *manifest_mistake(const struct manifest_warning *warning, bool asks_for_gpus,
                             struct arena *arena)
{
    const bool has_line = warning->line > 0 && strncmp(warning->message, "is missing", 10) != 0;
    const char *line = has_line ? arena_printf(arena, " in line %zu", warning->line) : "";
    const char *text = unknown_field(warning, line, asks_for_gpus, arena);
    if (!text)
        text = over_limit(warning, line, arena);
    if (!text)
        text = wrong_value(warning, line, arena);
    if (!text)
        text = wrong_object(warning, line, arena);
    return text ? text : lost_wish(warning, line, arena);
}
