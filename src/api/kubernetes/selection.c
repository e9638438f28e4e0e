/* selection: see selection.h. Source: Kubernetes' documents on label and field selectors. */
#include "api/kubernetes/selection.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN " \t"

struct selector_reading {
    struct arena *arena;
    const char *at;
    struct requirement *requirements;
    size_t n_requirements;
    size_t n_terms;
};

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static void skip_spaces(struct selector_reading *reading)
{
    reading->at += strspn(reading->at, BETWEEN);
}

static bool take(struct selector_reading *reading, const char *text)
{
    skip_spaces(reading);
    if (strncmp(reading->at, text, strlen(text)) != 0)
        return false;
    reading->at += strlen(text);
    return true;
}

/* A key or a value; "" without one. */
static const char *take_word(struct selector_reading *reading)
{
    skip_spaces(reading);
    const char *from = reading->at;
    while (isalnum((unsigned char)*reading->at) || is_one_of(*reading->at, "-_./"))
        reading->at++;
    return arena_strndup(reading->arena, from, (size_t)(reading->at - from));
}

static bool add_value(struct selector_reading *reading, struct requirement *requirement)
{
    if (reading->n_terms++ == SELECTION_TERMS_MAX)
        return false;
    const char **values = ARENA_ARRAY(reading->arena, const char *, requirement->n_values + 1);
    for (size_t i = 0; i < requirement->n_values; i++)
        values[i] = requirement->values[i];
    values[requirement->n_values++] = take_word(reading);
    requirement->values = values;
    return true;
}

/* "(a, b)" */
static bool read_values(struct selector_reading *reading, struct requirement *requirement)
{
    if (!take(reading, "("))
        return false;
    do {
        if (!add_value(reading, requirement))
            return false;
    } while (take(reading, ","));
    return take(reading, ")");
}

/* Reads the operator, after the key. */
static bool read_operator(struct selector_reading *reading, struct requirement *requirement)
{
    static const struct {
        const char *text;
        enum selector_operator op;
        bool is_set;
    } OPERATORS[] = {
        {"==", SELECTOR_IN, false},       {"=", SELECTOR_IN, false},
        {"!=", SELECTOR_NOT_IN, false},   {">", SELECTOR_GREATER, false},
        {"<", SELECTOR_LESS, false},      {"in", SELECTOR_IN, true},
        {"notin", SELECTOR_NOT_IN, true},
    };
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        if (!take(reading, OPERATORS[i].text))
            continue;
        requirement->op = OPERATORS[i].op;
        return OPERATORS[i].is_set ? read_values(reading, requirement)
                                   : add_value(reading, requirement);
    }
    requirement->op = SELECTOR_EXISTS;
    return true;
}

static bool read_requirement(struct selector_reading *reading)
{
    struct requirement *requirement = &reading->requirements[reading->n_requirements];
    if (reading->n_terms++ == SELECTION_TERMS_MAX)
        return false;
    reading->n_requirements++;
    const bool is_absence = take(reading, "!");
    requirement->key = take_word(reading);
    if (!*requirement->key)
        return false;
    requirement->op = SELECTOR_DOES_NOT_EXIST;
    return is_absence || read_operator(reading, requirement);
}

static const char *wrong(struct exchange *exchange, const char *parameter, const char *value,
                         const char *right)
{
    return arena_printf(exchange_arena(exchange), "%s=%.100s: %s", parameter, value, right);
}

static const char *read_labels(struct exchange *exchange, struct selection *selection)
{
    const char *text = exchange_query(exchange, "labelSelector");
    struct arena *arena = exchange_arena(exchange);
    struct selector_reading reading = {.arena = arena, .at = text ? text : ""};
    skip_spaces(&reading);
    if (!*reading.at)
        return NULL;
    reading.requirements = ARENA_ARRAY(arena, struct requirement, SELECTION_TERMS_MAX);
    do {
        if (!read_requirement(&reading))
            return wrong(exchange, "labelSelector", text,
                         "should be requirements such as a=b, a!=b, a in (b, c), a and !a, of at "
                         "most 64 keys and values");
    } while (take(&reading, ","));
    skip_spaces(&reading);
    if (*reading.at)
        return wrong(exchange, "labelSelector", text, "there is more than requirements");
    selection->labels = (struct selector_term){reading.requirements, reading.n_requirements};
    return NULL;
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
    selection->fields = ARENA_ARRAY(arena, struct selection_field, SELECTION_TERMS_MAX);
    for (const char *at = text; at && *at;) {
        const size_t len = strcspn(at, ",");
        if (selection->n_fields == SELECTION_TERMS_MAX ||
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

int selection_order(const char *namespace_, const char *name, const char *other_namespace,
                    const char *other_name)
{
    const int order = strcmp(namespace_, other_namespace);
    return order != 0 ? order : strcmp(name, other_name);
}
