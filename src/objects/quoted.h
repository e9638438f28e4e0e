/*
 * quoted: foreign text for messages: quoted, escaped, truncated.
 */
#ifndef OBJECTS_QUOTED_H
#define OBJECTS_QUOTED_H

#include "base/arena.h"

/* text in double quotes with JSON escapes. Longer text is cut to 60 bytes at a character boundary,
 * plus "...". In the arena. */
const char *quoted(struct arena *arena, const char *text);
/* The same without quotes and escapes, for parts of paths or lists. */
const char *quoted_plain(struct arena *arena, const char *text);

#endif
