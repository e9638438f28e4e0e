/*
 * verbs: what kubectl gpu does. Each asks, prints, and returns the exit status.
 */
#ifndef KUBECTL_VERBS_H
#define KUBECTL_VERBS_H

#include "base/buf.h"
#include "session.h"

#include <jansson.h>
#include <stdbool.h>

int verbs_nodes(struct session *session);
int verbs_pending(struct session *session);
int verbs_quota(struct session *session);
int verbs_frag(struct session *session);
int verbs_groups(struct session *session);
int verbs_node_groups(struct session *session);
int verbs_version(struct session *session);   /* version.c */
int verbs_claims(struct session *session);    /* holders.c */
int verbs_pods(struct session *session);      /* holders.c */
int verbs_fit(struct session *session);       /* fit.c */
int verbs_what_if(struct session *session);   /* what_if.c */
int verbs_decisions(struct session *session); /* decisions.c */
int verbs_why(struct session *session);       /* why.c */
int verbs_doctor(struct session *session);    /* doctor.c */
int verbs_ui(struct session *session);        /* ui.c */

/* The argument POD, pod/POD or NAMESPACE/POD; the last one sets the session's namespace. Returns
 * the status, after a complaint. */
int verbs_read_pod(struct session *session, const char **ret_name); /* why.c */

/* kubectl_complete-gpu WORD... LAST: writes what LAST may be, as cobra's __complete does: a
 * candidate a line, and ":N". */
int verbs_complete(struct session *session, int argc, char **argv); /* complete.c */

/* ---- command ---- */
/* How another run of kubectl gpu asks where this one asks. For commands that the page copies. */

/* {program, options, needsToken} as JSON: each option as --NAME=VALUE, with the whole names of
 * files, so that it holds in every folder. The value of --token is left out; needsToken says so.
 * Users and passwords in addresses are left out, too. NULL: an option is no UTF-8, or the current
 * folder has no name. */
json_t *command_json(const struct session *session);

/* ---- answers on standard output, in the form that was asked for ---- */

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

/* Characters of a line there; COLUMNS wins, as with other programs. 0: it is no terminal. */
size_t print_width(int fd);

/* Whether to write colours: standard output is a terminal, and the user has not set NO_COLOR. */
bool print_has_colour(void);

/* ---- shown ---- */
/* Answers on standard output. Control characters of stored names never reach a terminal. */

struct shown_style {
    bool has_headings;
    bool has_colour; /* bold headings, verdicts in colours */
};

/* Tables of the API, with marked headings. */
void shown_add_table(const char *text, const struct shown_style *style, struct buf *out);
/* The JSON text as it is, with control characters escaped. */
void shown_add_json(const char *text, struct buf *out);
void shown_add_yaml(const json_t *value, struct buf *out);

#endif
