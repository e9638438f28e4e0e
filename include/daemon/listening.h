/*
 * listening: by which rules the service may listen where it is told to, and with which certificate.
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
    bool insecure_verbs; /* others than this machine reach them, and nobody is asked who they are */
    bool insecure_people;
    struct tls_files tls_files; /* where there is TLS */
    struct tls *tls;            /* from listening_begin() on */
};

/* Borrows from both. -EINVAL: the verbs, or what is people's, would be open to others than this
 * machine, and that is not said to be wanted; or what belongs together is there in part only. */
int listening_decide(const struct settings *settings, const struct options *options,
                     struct listening *ret_listening, struct err *err);
/* Whether the files of certificates are good. */
int listening_check(const struct listening *listening, struct err *err);
/* Reads these files, from now on again and again; warns of what is insecure. */
int listening_begin(struct listening *listening, struct err *err);
/* After the server. */
void listening_end(struct listening *listening);

void listening_metrics(const struct listening *listening, struct buf *out);

#endif
