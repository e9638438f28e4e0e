/*
 * print: answers on standard output, in the form that was asked for.
 */
#ifndef KUBECTL_PRINT_H
#define KUBECTL_PRINT_H

#include "session.h"

/* Has the form of the functions in api/tables.h. */
typedef void print_table(const json_t *answer, bool wide, struct arena *arena, struct buf *out);

/* For --output=name: the list's items; with kind NULL each item names its kind. */
struct print_names {
    const char *list, *kind;
};

/* Prints the answer. with_headings: of tables, if they were not left out. Returns the status, or
 * another one after a complaint if standard output cannot be written. */
int print_answer(const struct session *session, const json_t *answer, print_table *write,
                 const struct print_names *names, bool with_headings, int status);

/* Writes the text, and takes it over. */
int print_text(const struct session *session, struct buf *out, int status);

/* Whether to write colours: standard output is a terminal, and the user has not set NO_COLOR. */
bool print_has_colour(void);

#endif
