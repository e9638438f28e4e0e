/*
 * source: where the answers come from: a saved cluster in this process, a gpu-extender by its URL,
 * or the aggregated API through kubectl. All give the same JSON.
 */
#ifndef KUBECTL_SOURCE_H
#define KUBECTL_SOURCE_H

#include "api/api.h"
#include "arguments.h"
#include "base/arena.h"
#include "base/buf.h"
#include "child.h"
#include "config/settings.h"
#include "http/local.h"

/* The limit of an answer, and of what kubectl prints. */
#define SOURCE_BYTES_MAX ((size_t)1024 * 1024 * 1024)

/* The path /v1/VIEW. */
struct question {
    const char *view;
    const struct local_parameter *query; /* ends with a name NULL */
    const char *body;                    /* NULL: GET, else POST */
    size_t len;
    const struct child_bound *bound; /* of kubectl or curl; NULL: none */
};

struct reply {
    unsigned status; /* of HTTP */
    struct buf text; /* the body; initialized by the caller */
    /* The Content-Type, "" if absent; NULL: not by HTTP. */
    const char *type;
    bool is_message; /* the text is the message of an error, as kubectl shows it */
};

/* -EINVAL: the cluster file or its policy is at fault; other errors: there is no answer. Errors
 * that the service answers are replies. */
int source_ask(const struct arguments *arguments, const struct question *question,
               struct arena *arena, struct reply *ret_reply, struct err *err);
/* The same for a path of the API server, through kubectl. */
int source_get_kubectl(const struct arguments *arguments, const char *path, struct arena *arena,
                       struct reply *ret_reply, struct err *err);
/* Without USER:PASSWORD@. In the arena, or the URL itself. */
const char *source_url_without_user(const char *url, struct arena *arena);
/* The same for messages; "--url" if an @ or its code is left, around which may be a part of a
 * password. */
const char *source_url_shown(const char *url, struct arena *arena);
/* The namespace of kubectl's context; "default" where it has none. */
const char *source_namespace(const struct arguments *arguments, struct arena *arena);

/* A saved cluster, and what answers over it. */
struct source_file {
    struct settings settings;
    struct inventory *inventory;
    struct api api;
};

/* Reads the cluster file and its policy. -EINVAL: one of them is at fault. source_file_close() in
 * any case. */
int source_file_open(struct source_file *file, const struct arguments *arguments, struct err *err);
void source_file_close(struct source_file *file);

/* ---- private to the files of source ---- */

/* "VIEW?NAME=VALUE&...", encoded. */
const char *source_target(const struct question *question, struct arena *arena);
int source_ask_file(const struct arguments *arguments, const struct question *question,
                    struct reply *ret_reply, struct err *err);
int source_ask_url(const struct arguments *arguments, const struct question *question,
                   struct arena *arena, struct reply *ret_reply, struct err *err);
int source_ask_kubectl(const struct arguments *arguments, const struct question *question,
                       struct arena *arena, struct reply *ret_reply, struct err *err);

#endif
