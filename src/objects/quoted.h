/*
 * quoted: other people's text, made fit for a message: in quotes, escaped, and cut.
 */
#ifndef OBJECTS_QUOTED_H
#define OBJECTS_QUOTED_H

#include "base/arena.h"

/* "text" in double quotes with JSON's escapes; of a long one the first 60 bytes, never half of a
 * character, and "...". In the arena. */
const char *quoted(struct arena *arena, const char *text);
/* The same without quotes and escapes: a part of a path or of a list for people. */
const char *quoted_plain(struct arena *arena, const char *text);

#endif
