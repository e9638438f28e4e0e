/* selection: see selection.h. Source: Kubernetes' document on field selectors. */
#include "api/kubernetes/selection.h"
#include "api/label_selector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *wrong(struct exchange *exchange, const char *parameter, const char *value,
                         const char *right)
{
    return arena_printf(exchange_arena(exchange), "%s=%.100s: %s", parameter, value, right);
}

static const char *read_labels(struct exchange *exchange, struct selection *selection)
{
    const char *text = exchange_query(exchange, "labelSelector");
    const char *right = label_selector_read(text, exchange_arena(exchange), &selection->labels);
    return right ? wrong(exchange, "labelSelector", text, right) : NULL;
}

/* "metadata.name=x" */
static bool read_field(struct arena *arena, const char *text, size_t len, const char *field,
                       struct selection_field *ret_field)
{
    const char *item = arena_strndup(arena, text, len);
    const size_t n = strcspn(item, "!=");
    const char *name = arena_strndup(arena, item, n);
    const char *rest = item + n;
    ret_field->is_equal = *rest != '!';
    rest += !ret_field->is_equal;
    if (*rest != '=')
        return false;
    rest += ret_field->is_equal && rest[1] == '=' ? 2 : 1;
    ret_field->value = rest;
    ret_field->field = FIELD_NAME;
    if (strcmp(name, "metadata.name") == 0)
        return true;
    ret_field->field = FIELD_NAMESPACE;
    if (strcmp(name, "metadata.namespace") == 0)
        return true;
    ret_field->field = FIELD_OF_STATUS;
    return field && strcmp(name, arena_printf(arena, "status.%s", field)) == 0;
}

static const char *read_fields(struct exchange *exchange, const char *field,
                               struct selection *selection)
{
    const char *text = exchange_query(exchange, "fieldSelector");
    struct arena *arena = exchange_arena(exchange);
    selection->fields = ARENA_ARRAY(arena, struct selection_field, SELECTION_FIELDS_MAX);
    for (const char *at = text; at && *at;) {
        const size_t len = strcspn(at, ",");
        if (selection->n_fields == SELECTION_FIELDS_MAX ||
            !read_field(arena, at, len, field, &selection->fields[selection->n_fields++]))
            return wrong(exchange, "fieldSelector", text,
                         arena_printf(arena,
                                      "should compare metadata.name, metadata.namespace%s%s with "
                                      "=, == or !=",
                                      field ? ", status." : "", field ? field : ""));
        at += len + (at[len] == ',');
    }
    return NULL;
}

/* The token "NAMESPACE/NAME". */
static const char *read_page(struct exchange *exchange, struct selection *selection)
{
    const char *limit = exchange_query(exchange, "limit");
    const char *token = exchange_query(exchange, "continue");
    const char *slash = token ? strchr(token, '/') : NULL;
    selection->after_namespace = selection->after_name = "";
    selection->limit = SELECTION_PAGE_MAX;
    if (limit && *limit) {
        errno = 0;
        const unsigned long n = strtoul(limit, NULL, 10);
        if (strspn(limit, "0123456789") != strlen(limit))
            return wrong(exchange, "limit", limit, "should be a whole number from 0");
        if (errno == 0 && n > 0 && n < SELECTION_PAGE_MAX)
            selection->limit = n;
    }
    if (!token || !*token)
        return NULL;
    if (!slash || !slash[1])
        return wrong(exchange, "continue", token, "should be the token of a list before");
    selection->after_namespace =
        arena_strndup(exchange_arena(exchange), token, (size_t)(slash - token));
    selection->after_name = slash + 1;
    return NULL;
}

/* Objects are made for each request: there are no older ones, and nobody knows how old a list of
 * the API server was. */
static const char *read_version(struct exchange *exchange)
{
    const char *version = exchange_query(exchange, "resourceVersion");
    if (!version || !*version || strcmp(version, "0") == 0)
        return NULL;
    return wrong(exchange, "resourceVersion", version,
                 "these objects have no versions: leave it out, or give 0");
}

const char *selection_read(struct exchange *exchange, const char *field,
                           struct selection *ret_selection)
{
    const char *fault = read_version(exchange);
    if (!fault)
        fault = read_page(exchange, ret_selection);
    if (fault || ret_selection->name)
        return fault;
    fault = read_labels(exchange, ret_selection);
    return fault ? fault : read_fields(exchange, field, ret_selection);
}

bool selection_admits(const struct selection *selection, const struct selection_object *object)
{
    const struct label_view view = {.labels = object->labels, .n_labels = object->n_labels};
    const char *const values[] = {[FIELD_NAME] = object->name,
                                  [FIELD_NAMESPACE] = object->namespace_,
                                  [FIELD_OF_STATUS] = object->field};
    if ((*selection->namespace_ && strcmp(selection->namespace_, object->namespace_) != 0) ||
        (selection->name && strcmp(selection->name, object->name) != 0))
        return false;
    for (size_t i = 0; i < selection->n_fields; i++) {
        const struct selection_field *field = &selection->fields[i];
        if ((strcmp(field->value, values[field->field]) == 0) != field->is_equal)
            return false;
    }
    return selector_term_holds(&selection->labels, &view);
}

const char *selection_only_name(const struct selection *selection)
{
    if (selection->name)
        return selection->name;
    for (size_t i = 0; i < selection->n_fields; i++) {
        if (selection->fields[i].field == FIELD_NAME && selection->fields[i].is_equal)
            return selection->fields[i].value;
    }
    return "";
}
