/*
 * regex: patterns of RE2's syntax, as Go's regexp reads them, matched in linear time (Thompson,
 * Pike). Unicode classes, and letters beyond ASCII without case, are not judged.
 */
#ifndef CEL_REGEX_H
#define CEL_REGEX_H

#include "cel_priv.h"

/* Go repeats at most 1,000 times, and so do we; instructions are ours. */
#define CEL_REGEX_REPEAT_MAX 1000
#define CEL_REGEX_INSTRUCTIONS_MAX 2000

struct cel_regex;

/* NULL if *ret_verdict is not CEL_VALID. */
const struct cel_regex *cel_regex_compile(struct cel_text pattern, struct arena *arena,
                                          enum cel_verdict *ret_verdict);
/* Whether the pattern is found anywhere in the text. Work: instructions times bytes. */
bool cel_regex_match(const struct cel_regex *regex, struct cel_text text, struct arena *arena);
size_t cel_regex_size(const struct cel_regex *regex);

#endif
