/*
 * text_time: moments as RFC 3339 text in UTC.
 */
#ifndef BASE_TEXT_TIME_H
#define BASE_TEXT_TIME_H

#include <stdint.h>

#define TEXT_TIME_SIZE 64

/* "2026-11-21T10:00:00Z". text must hold TEXT_TIME_SIZE bytes. Returns text. */
const char *text_time(int64_t seconds_since_1970, char *text);

#endif
