/*
 * listening: the addresses to listen on, the policy's check of them, and the certificate.
 */
#ifndef DAEMON_LISTENING_H
#define DAEMON_LISTENING_H

#include "base/buf.h"
#include "config/options.h"
#include "config/settings.h"
#include "http/server.h"

#include <stdbool.h>

struct listening {
    const char *verbs; /* ADDR:PORT */
    const char *people;
    const char *probes;
    const char *policy_file; /* for error messages; NULL: none */
    bool has_tls;
    bool insecure_verbs; /* reachable by other machines without client authentication */
    bool insecure_people;
    struct tls_files tls_files; /* only with TLS */
    struct tls *tls;            /* set by listening_begin() */
};

/* Borrows from both. -EINVAL: other machines could reach the verbs or the users' routes against the
 * policy, or only some of the TLS files are named. */
int listening_decide(const struct settings *settings, const struct options *options,
                     struct listening *ret_listening, struct err *err);
/* Checks the certificate files. */
int listening_check(const struct listening *listening, struct err *err);
/* Reads the files, and again when they change; warns of insecure listeners. */
int listening_begin(struct listening *listening, struct err *err);
/* Call after the server has stopped. */
void listening_end(struct listening *listening);

void listening_metrics(const struct listening *listening, struct buf *out);

#endif
