/*
 * listening: the addresses to listen on, whether the policy allows them, and their certificate.
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
    const char *policy_file; /* named in faults; NULL: there is none */
    bool has_tls;
    bool insecure_verbs; /* other machines reach them, and no client is authenticated */
    bool insecure_people;
    struct tls_files tls_files; /* where there is TLS */
    struct tls *tls;            /* from listening_begin() on */
};

/* Borrows from both. -EINVAL: the verbs or the users' routes would be open to other machines, and
 * the policy does not allow that; or some of the TLS files are named and not all. */
int listening_decide(const struct settings *settings, const struct options *options,
                     struct listening *ret_listening, struct err *err);
/* Whether the certificate files are valid. */
int listening_check(const struct listening *listening, struct err *err);
/* Reads these files, and again when they change; warns of insecure listeners. */
int listening_begin(struct listening *listening, struct err *err);
/* After the server. */
void listening_end(struct listening *listening);

void listening_metrics(const struct listening *listening, struct buf *out);

#endif
