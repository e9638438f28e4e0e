/*
 * first_names: the first names of many, and their number: "a, b, c and 4 more".
 */
#ifndef DOCTOR_FIRST_NAMES_H
#define DOCTOR_FIRST_NAMES_H

#include <stddef.h>

/* Initialize with zeros. */
struct first_names {
    char text[320]; /* the first names */
    size_t n;
    char shown[360];
};

void first_names_add(struct first_names *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Valid until the next call. */
const char *first_names_text(struct first_names *list);

#endif
