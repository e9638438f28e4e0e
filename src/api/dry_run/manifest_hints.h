/*
 * manifest_hints: what to do about bodies that people send by mistake: a file's name, a file
 * without its line ends, tabs, a form; a pod's spec or a container alone. Private to api.
 */
#ifndef API_DRY_RUN_MANIFEST_HINTS_H
#define API_DRY_RUN_MANIFEST_HINTS_H

#include "base/err.h"

#include <jansson.h>
#include <stddef.h>

/* Adds a hint to why the body is unreadable, if its text shows a known mistake. */
void manifest_hints_of_text(const char *text, size_t len, struct err *err);
/* The same for an object that is unreadable. */
void manifest_hints_of_object(const json_t *object, struct err *err);

#endif
