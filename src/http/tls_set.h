/*
 * tls_set: a certificate, its key and the trusted CAs, read together; and all other uses of GnuTLS
 * sessions. A set is immutable except its cache of verified peers. It is reference-counted.
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

/* texts: contents of the files; names are for messages. -EINVAL: a file is invalid, or they do not
 * match. */
int tls_set_new(const struct tls_files *files, const struct buf texts[N_TLS_FILES],
                struct tls_set **ret_set, struct err *err);
/* A set of authorities only: tls_set_peer() works. -EINVAL: there is no certificate that can be
 * read. */
int tls_set_new_front(const struct buf *authorities, struct tls_set **ret_set, struct err *err);
struct tls_set *tls_set_hold(struct tls_set *set);
/* NULL does nothing. */
void tls_set_drop(struct tls_set *set);

/* Expiry of the server's certificate, in seconds since 1970. */
int64_t tls_set_not_after(const struct tls_set *set);
/* Earliest next update of the revocation lists, in seconds since 1970; -1: none given. */
int64_t tls_set_crl_next_update(const struct tls_set *set);
/* -EINVAL: that time has passed. */
int tls_set_check_crl_dates(const struct tls_set *set, const struct tls_files *files,
                            struct err *err);
/* -EINVAL: not valid now. */
int tls_set_check_dates(const struct tls_set *set, const struct tls_files *files, struct err *err);

/* See tls_look_at_server() for the server's certificate, and tls_look_at_client() for a client's in
 * PEM. */
void tls_set_server_facts(const struct tls_set *set, const char *host, struct tls_facts *ret_facts);
int tls_set_client_facts(const struct tls_set *set, const struct buf *pem, struct arena *arena,
                         struct tls_facts *ret_facts, struct err *err);

/* tls_look_at_trust() and tls_check_pair(). */
int tls_set_trust(const struct tls_set *set, const struct buf *authorities, bool *ret_is_trusted,
                  struct err *err);
int tls_set_check_pair(const struct buf *certificate, const struct buf *private_key,
                       struct err *err);

/* The client's identity in the session (a gnutls_session_t), in the arena. NULL: *ret_fault is the
 * reason, a literal. */
const struct exchange_peer *tls_set_peer(struct tls_set *set, void *session, struct arena *arena,
                                         const char **ret_fault);

/* Sends the last bytes of a session; they are lost if they cannot be sent at once. */
void tls_set_send_last(void *session, const void *bytes, size_t len);

/* Makes GnuTLS call transport_greeted() when the session's handshake is complete. */
void tls_set_watch_handshake(void *session);

/* A gnutls_certificate_retrieve_function3: gives a new connection the certificate of
 * tls_serving(). */
typedef void tls_function(void);
extern tls_function *const TLS_RETRIEVE_CERTIFICATE;
/* TLS 1.2 and 1.3, no known weak algorithms, and only elliptic-curve groups: a client can request
 * others so large that they cost a third of a second. */
#define TLS_PRIORITIES                                                                             \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:-AES-256-CBC:-AES-128-CBC:"          \
    "-GROUP-DH-ALL:%SERVER_PRECEDENCE"

/* In tls.c: the current set, with a reference for the caller; and the client's identity by it. */
struct tls_set *tls_serving(void);
const struct exchange_peer *tls_peer(void *session, struct arena *arena, const char **ret_fault);
/* The same by the authorities of tls_trust_front(). */
const struct exchange_peer *tls_front(void *session, struct arena *arena, const char **ret_fault);

#endif
