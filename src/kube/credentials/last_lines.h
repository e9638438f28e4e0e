/*
 * last_lines: the end of what a program said, to be told in one line.
 */
#ifndef KUBE_CREDENTIALS_LAST_LINES_H
#define KUBE_CREDENTIALS_LAST_LINES_H

#include <stddef.h>

#define LAST_LINES_BYTES 300

struct last_lines {
    char bytes[LAST_LINES_BYTES + 1]; /* NUL-terminated */
    size_t len;
};

void last_lines_add(struct last_lines *lines, const char *bytes, size_t len);
/* One line without control characters and without the white space around it; "" if there is
 * nothing. What begins in the middle of a word begins after it. ret_text has
 * LAST_LINES_BYTES + 1 bytes. Returns it. */
const char *last_lines_text(const struct last_lines *lines, char *ret_text);

#endif
