/*
 * text_time: times as RFC 3339 text.
 */
#ifndef BASE_TEXT_TIME_H
#define BASE_TEXT_TIME_H

#include <stdint.h>

#define TEXT_TIME_SIZE 64

/* "2026-11-21T10:00:00Z", in UTC. text must have TEXT_TIME_SIZE bytes and is returned. */
const char *text_time(int64_t seconds_since_1970, char *text);

/* Accepts any zone; drops fractions of a second. -EINVAL: not such a text. */
int text_time_read(const char *text, int64_t *ret_seconds_since_1970);

#endif
