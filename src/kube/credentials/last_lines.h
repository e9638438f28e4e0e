/*
 * last_lines: the end of a program's output, as one line.
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
/* One line without control characters or outer white space; "" if empty. Starts at a whole word if
 * the text was cut. ret_text has LAST_LINES_BYTES + 1 bytes and is returned. */
const char *last_lines_text(const struct last_lines *lines, char *ret_text);

#endif
