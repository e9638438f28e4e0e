/*
 * json_kept: the counted members of an object over its budget. The caller has validated the text.
 * Private to formats.
 *
 * They are found wherever they stand, by a second pass over the text, so the order of members
 * changes nothing.
 */
#ifndef FORMATS_JSON_KEPT_H
#define FORMATS_JSON_KEPT_H

#include "formats/json_parse.h"
#include "formats/json_stream.h"

struct json_kept {
    const char *const *only;                   /* paths, as in json_stream_options; NULL: none */
    const struct json_budget *budget;          /* of these members */
    const struct json_stream_options *options; /* of the stream that read the object */
};

/* An object with these members; the caller's. NULL: it is over the budget, or jansson cannot read
 * it. */
json_t *json_kept_read(const struct json_kept *kept, const char *text, size_t len);
/* The same for the first part of an object. text ends after its '{' or after a member of it, or of
 * an object or list inside. Closes what is open. */
json_t *json_kept_read_part(const struct json_kept *kept, const char *text, size_t len);

#endif
