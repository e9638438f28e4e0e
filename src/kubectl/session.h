/*
 * session: one run of kubectl gpu: what was asked for, and how it asks and complains. The exit
 * status is made for CI.
 */
#ifndef KUBECTL_SESSION_H
#define KUBECTL_SESSION_H

#include "arguments.h"
#include "base/arena.h"
#include "base/buf.h"
#include "http/local.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum end { EXIT_FINE = 0, EXIT_NOT = 1, EXIT_MISTAKE = 2, EXIT_NO_ANSWER = 3 };

#define SESSION_QUERY_MAX 5
/* Larger files than any policy allows are not read. */
#define SESSION_FILE_BYTES_MAX ((size_t)1024 * 1024 * 1024)

struct session {
    const char *program; /* the command as users type it: "kubectl gpu" */
    struct arguments arguments;
    struct arena *arena;
    const char *namespace_;                              /* NULL: all */
    struct local_parameter query[SESSION_QUERY_MAX + 1]; /* ends with a name NULL */
    size_t n_query;
    struct file_names files; /* that -f named, one for each text of the request */
    size_t first_file;       /* the place of their first among its workloads */
};

/* "kubectl gpu" of the file kubectl-gpu, "kubectl gpu-extender" of kubectl-gpu_extender. In the
 * arena. */
const char *session_program(const char *file, struct arena *arena);

/* Whether the file is the one that kubectl runs for completion: kubectl_complete-gpu. */
bool session_is_completer(const char *file);

/* Writes to standard error, one line if that is no terminal, and returns the status. */
int session_complain(const struct session *session, const char *text, int status);

/* Reads a file, "-": standard input. Returns the status, after a complaint. */
int session_read_file(const struct session *session, const char *file, struct buf *text);

/* value NULL: nothing is added. */
void session_add_parameter(struct session *session, const char *name, const char *value);

struct asked {
    int status;          /* EXIT_FINE: value is the caller's */
    unsigned http;       /* status of HTTP; 0: there was no answer */
    const char *message; /* of a failure, in the arena */
    json_t *value;       /* the whole answer, with the members that such an answer has */
};

/* Asks for /v1/VIEW, with POST if a body is given. Complains of nothing. */
struct asked session_ask(const struct session *session, const char *view, const struct buf *body);
/* The same with a complaint of failures. Returns the status. */
int session_ask_or_complain(const struct session *session, const char *view, const struct buf *body,
                            json_t **ret_value);

#endif
