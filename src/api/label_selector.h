/*
 * label_selector: label selectors of queries, as kubectl's -l writes them: "a=b, c in (d, e), !f".
 * Private to api.
 */
#ifndef API_LABEL_SELECTOR_H
#define API_LABEL_SELECTOR_H

#include "http/exchange.h"
#include "types/selector.h"

/* Requirements of a selector and their values together: each is compared with each object. */
#define LABEL_SELECTOR_TERMS_MAX ((size_t)64)

/* NULL, or how the text should be. text "" or NULL: *ret_term stays unchanged. In the arena. */
const char *label_selector_read(const char *text, struct arena *arena,
                                struct selector_term *ret_term);
/* The same of a parameter of the query. Returns false after answering 400. */
bool label_selector_of_query(struct exchange *exchange, const char *parameter,
                             struct selector_term *ret_term);

#endif
