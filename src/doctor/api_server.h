/*
 * api_server: one request after the other to the API server, each waited for.
 *
 * The doctor only asks: GETs, and POSTs of reviews, which change nothing.
 */
#ifndef DOCTOR_API_SERVER_H
#define DOCTOR_API_SERVER_H

#include "base/err.h"
#include "kube/credentials.h"
#include "kube/target.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct api_server;

/* Borrows both until api_server_close(). max_answer_bytes: of one answer. */
int api_server_open(const struct kube_target *target, struct kube_credentials *credentials,
                    size_t max_answer_bytes, struct api_server **ret_server, struct err *err);
void api_server_close(struct api_server *server);

struct api_reply {
    unsigned status; /* of HTTP; 0: there was no answer */
    json_t *object;  /* of an answer 2xx that is a JSON object; else NULL */
    char why[160];   /* why object is NULL */
};

/* body NULL: a GET, else a POST of a review, whose reference it takes over. At most 15 s. The
 * caller frees with api_reply_fini(). */
void api_server_ask(struct api_server *server, const char *path, json_t *body,
                    struct api_reply *ret_reply);
void api_reply_fini(struct api_reply *reply);

#endif
