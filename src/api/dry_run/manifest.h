/*
 * manifest: decodes the body of a dry run into workloads. Private to api.
 */
#ifndef API_DRY_RUN_MANIFEST_H
#define API_DRY_RUN_MANIFEST_H

#include "api/api.h"
#include "objects/workload.h"

/* A text, or objects of a body that has been parsed. */
struct manifest_text {
    const char *text; /* NUL-terminated; NULL: objects */
    size_t len;
    json_t *objects; /* a list; borrowed for the call */
    json_t *object;  /* or only one */
};
/* The texts of one request. Lines count from the beginning of each. */
struct manifest_texts {
    const struct manifest_text *items;
    size_t n; /* > 0 */
    /* Of their list, or of the only list of objects: messages begin with NAME[I] then. */
    const char *name;
    struct json_cost *spent; /* of the budget of the request; the texts' cost is added */
};

/* All in the arena. Unreadable objects, such as one without a kind, are among the skipped. -EINVAL:
 * no YAML or JSON, an empty body, no readable object, or too many unreadable ones; -EMSGSIZE: a
 * limit. */
int manifest_read(const struct manifest_texts *texts, const struct api *api, struct arena *arena,
                  struct workload_list *ret_list, struct err *err);
/* The same of {"workloads": [...]}: texts and objects, or objects alone. NULL, or an empty list:
 * none. -E2BIG: more texts than a request may have. */
int manifest_read_list(json_t *workloads, const struct api *api, struct arena *arena,
                       struct workload_list *ret_list, struct err *err);
/* Of a dry run, which may also be such a list. */
int manifest_read_body(const struct manifest_texts *body, const struct api *api,
                       struct arena *arena, struct workload_list *ret_list, struct err *err);

/* The warning as the verdict of its object: "The cpu request 8 in line 13 is more than its limit
 * 2." NULL: with it the manifest may still be what its author meant. In the arena. */
const char *manifest_mistake(const struct manifest_warning *warning, bool asks_for_gpus,
                             struct arena *arena);

/* ---- manifest lines ---- */
/* The lines of a manifest that its warnings are about. Reads the text again, with the position
 * of every key, because positions take more memory than the values. */

#define MANIFEST_LINES_BYTES_MAX ((size_t)256 * 1024)

/* Sets the lines of the warnings from the first on, where they are found. Not in longer texts,
 * or in one line. */
void manifest_lines_find(const char *text, size_t len, struct workload_list *list, size_t first);

#endif
