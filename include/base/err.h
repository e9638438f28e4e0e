/*
 * err: an error as one line that an operator can act on.
 *
 * Every function that can fail returns 0 or a negative errno, and the message through its last
 * parameter. The message names the object, the value and what would be right. Callers add context
 * with err_prefix(). The caller that handles the error logs it, once.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <errno.h>

#define ERR_TEXT_MAX 512

struct err {
    char text[ERR_TEXT_MAX];
};

/* Writes the message and returns -code (code is a positive errno). err may be NULL. */
int err_set(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix" before the existing message. err may be NULL. */
void err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
