/*
 * manifest_lines: the lines of a manifest that its warnings are about. Reads the text again, with
 * the position of every key, because positions take more memory than the values.
 */
#ifndef API_DRY_RUN_MANIFEST_LINES_H
#define API_DRY_RUN_MANIFEST_LINES_H

#include "objects/workload.h"

/* Sets the lines of the warnings from the first on, where they are found. Not in long texts, or in
 * one line. */
void manifest_lines_find(const char *text, size_t len, struct workload_list *list, size_t first);

#endif
