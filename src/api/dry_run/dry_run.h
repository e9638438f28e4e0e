/*
 * dry_run: the dry run for other answers. Private to api.
 */
#ifndef API_DRY_RUN_DRY_RUN_H
#define API_DRY_RUN_DRY_RUN_H

#include "api/api.h"

#include <jansson.h>

struct dry_run_question {
    const char *manifest; /* NUL-terminated */
    size_t len;
    const char *only; /* all objects must be of this namespace, and no other is named; NULL: any */
    bool explain;
};

/* The answer of POST /v1/dry-run; NULL: it has answered the exchange. */
json_t *dry_run_answer(const struct api *api, struct exchange *exchange,
                       const struct dry_run_question *question);

#endif
