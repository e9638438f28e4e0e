/*
 * tls_set: one certificate, its key and the trusted authorities, as they were read together; and
 * all else that is asked of GnuTLS, whose one home tls_set.c is. A set never changes, but for whom
 * it knows already, and is freed by its last holder.
 */
#ifndef HTTP_TLS_SET_H
#define HTTP_TLS_SET_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "http/exchange.h"
#include "http/tls.h"

#include <stdint.h>

struct tls_set;

/* In the order of struct tls_files. */
enum tls_file { TLS_CERTIFICATE, TLS_PRIVATE_KEY, TLS_CLIENT_CA, TLS_CLIENT_CRL, N_TLS_FILES };

/* The texts are those of the files, whose names are for the messages. -EINVAL: one is not what it
 * should be, or they do not belong together. */
int tls_set_new(const struct tls_files *files, const struct buf texts[N_TLS_FILES],
                struct tls_set **ret_set, struct err *err);
struct tls_set *tls_set_hold(struct tls_set *set);
/* NULL does nothing. */
void tls_set_drop(struct tls_set *set);

/* When the server's certificate ends, in seconds since 1970. */
int64_t tls_set_not_after(const struct tls_set *set);
/* When the first list of revoked certificates should be renewed, in seconds since 1970; -1: there
 * is none, or none that says so. */
int64_t tls_set_crl_next_update(const struct tls_set *set);
/* -EINVAL: that is over. */
int tls_set_check_crl_dates(const struct tls_set *set, const struct tls_files *files,
                            struct err *err);
/* -EINVAL: it is not valid now. */
int tls_set_check_dates(const struct tls_set *set, const struct tls_files *files, struct err *err);

/* Who the client of the session (a gnutls_session_t) is, in the arena. NULL: *ret_fault says why
 * there is nobody, a literal. */
const struct exchange_peer *tls_set_peer(struct tls_set *set, void *session, struct arena *arena,
                                         const char **ret_fault);

/* Sends what is the last on the session; if it does not go out at once it is lost. */
void tls_set_send_last(void *session, const void *bytes, size_t len);

/* Has transport_greeted() called when the handshake on the session is done. */
void tls_set_watch_handshake(void *session);

/* A gnutls_certificate_retrieve_function3: the certificate of a new connection is that of
 * tls_serving(). */
typedef void tls_function(void);
extern tls_function *const TLS_RETRIEVE_CERTIFICATE;
/* What the library is to allow: TLS 1.2 and 1.3, nothing that is known to be weak, and no groups
 * but of curves, as others cost us a third of a second where the client wants them so large. */
#define TLS_PRIORITIES                                                                             \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:-AES-256-CBC:-AES-128-CBC:"          \
    "-GROUP-DH-ALL:%SERVER_PRECEDENCE"

/* In tls.c: the set in force, held for the caller; and what it says of a client. */
struct tls_set *tls_serving(void);
const struct exchange_peer *tls_peer(void *session, struct arena *arena, const char **ret_fault);

#endif
