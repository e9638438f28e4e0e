/*
 * text_time: moments as RFC 3339 text.
 */
#ifndef BASE_TEXT_TIME_H
#define BASE_TEXT_TIME_H

#include <stdint.h>

#define TEXT_TIME_SIZE 64

/* "2026-11-21T10:00:00Z", in UTC. text must hold TEXT_TIME_SIZE bytes. Returns text. */
const char *text_time(int64_t seconds_since_1970, char *text);

/* With any zone; parts of a second are dropped. 0, or -EINVAL: it is no such text. */
int text_time_read(const char *text, int64_t *ret_seconds_since_1970);

#endif
