/*
 * selection: which objects a request wants: by namespace, name, labels and fields, and which page
 * of them. Private to api.
 *
 * Lists are in the order of namespace and name. The token of a list's next page is the last object
 * of the page before it.
 */
#ifndef API_KUBERNETES_SELECTION_H
#define API_KUBERNETES_SELECTION_H

#include "http/exchange.h"
#include "types/selector.h"

/* Objects of a page, also without a limit. */
#define SELECTION_PAGE_MAX ((size_t)10000)
/* Of a field selector: each is compared with each object. */
#define SELECTION_FIELDS_MAX ((size_t)64)

struct selection_field {
    enum { FIELD_NAME, FIELD_NAMESPACE, FIELD_OF_STATUS } field;
    bool is_equal;
    const char *value;
};

struct selection {
    const char *namespace_; /* "": all, or none */
    const char *name;       /* NULL: a list */
    struct selector_term labels;
    struct selection_field *fields;
    size_t n_fields;
    const char *after_namespace, *after_name; /* "": from the start */
    size_t limit;
};

/* An object as selectors see it. */
struct selection_object {
    const char *namespace_, *name;
    const char *field;          /* that the kind selects by; "": none */
    const struct label *labels; /* sorted by key */
    size_t n_labels;
};

/* Reads the query of a list or a get; field: a member of status, or NULL. namespace_, name: of the
 * path. NULL, or what is wrong, in the exchange's arena. */
const char *selection_read(struct exchange *exchange, const char *field,
                           struct selection *ret_selection);
/* Not whether it is on the page. */
bool selection_admits(const struct selection *selection, const struct selection_object *object);
/* The only name that it admits; "": it admits several. */
const char *selection_only_name(const struct selection *selection);

#endif
