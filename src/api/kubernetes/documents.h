/*
 * documents: discovery and OpenAPI of the aggregated API, made from the table of kinds. They need
 * no inventory. Private to api.
 */
#ifndef API_KUBERNETES_DOCUMENTS_H
#define API_KUBERNETES_DOCUMENTS_H

#include "http/exchange.h"

#include <stdbool.h>

bool documents_have(const char *path);
/* Answers with the document of such a path. */
void documents_answer(struct exchange *exchange);

#endif
