/*
 * tls: the server's certificate and key, and the CAs for client certificates, from files that are
 * read again when they change.
 *
 * Connections are TLS 1.2 or 1.3. A client may connect with or without a certificate; without one
 * it has no exchange_peer(). Its certificate is verified at each request: the chain to a trusted
 * CA, the dates, the client purpose. (A valid result is cached for five seconds, but not beyond the
 * expiry or a change of the files.) So a certificate that has expired, is revoked or lost its CA is
 * rejected on open connections, too. A revocation list past its next update stays in force. Without
 * it revoked certificates would be accepted again, and rejecting all would stop scheduling. The log
 * and a metric report it.
 */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include "base/buf.h"
#include "base/err.h"
#include "http/exchange.h"

/* Paths of PEM files. */
struct tls_files {
    const char *certificate; /* the server's, and intermediates */
    const char *private_key;
    const char *client_ca; /* CAs of client certificates; one or more */
    /* Revocation lists (CRLs) of CAs in client_ca. "": none. */
    const char *client_crl;
};

struct tls;

/* Makes the checks of tls_open(). Also requires that the certificate and the revocation list are
 * valid now. */
int tls_check(const struct tls_files *files, struct err *err);

/* The properties of a certificate that --doctor checks. Times are in seconds since 1970. */
struct tls_facts {
    int64_t not_before, not_after;
    /* For the server's certificate: it has subject alternative names, and one matches the host. */
    bool has_names, is_for_host;
    /* For a client's certificate. peer NULL: it would be rejected, and fault, a literal, says why.
     */
    const struct exchange_peer *peer;
    const char *fault;
};
/* host: a DNS name or an IP address. The errors are those of tls_open(). */
int tls_look_at_server(const struct tls_files *files, const char *host, struct tls_facts *ret_facts,
                       struct err *err);
/* pem: a client's certificate, and intermediates; verified as when the client shows it. All in the
 * arena. -EINVAL: pem cannot be read, or an error of tls_open(). */
int tls_look_at_client(const struct tls_files *files, const struct buf *pem, struct arena *arena,
                       struct tls_facts *ret_facts, struct err *err);
/* authorities: certificates in PEM. Whether a client that trusts only these accepts the server's
 * certificate; the host's name and revocation are not judged. Errors as above. */
int tls_look_at_trust(const struct tls_files *files, const struct buf *authorities,
                      bool *ret_is_trusted, struct err *err);
/* -EINVAL: the PEM texts are not a certificate and its private key. */
int tls_check_pair(const struct buf *certificate, const struct buf *private_key, struct err *err);

/* Reads the files (names are borrowed), which must be complete and match; an expired certificate
 * only causes a warning. A thread then looks for changes every few seconds. Valid new files apply
 * to new connections and requests; for invalid ones, the log and metrics report, and the old stay.
 * One struct tls per process. */
int tls_open(const struct tls_files *files, struct tls **ret_tls, struct err *err);
/* Call after the server that uses it has stopped; NULL does nothing. */
void tls_close(struct tls *tls);

/* authorities: certificates in PEM that vouch for front proxies; NULL: none. exchange_front() goes
 * by them from now on, and exchange_peer() never does. -EINVAL: no certificate that can be read;
 * then no front proxy is trusted. From any thread. */
int tls_trust_front(struct tls *tls, const struct buf *authorities, struct err *err);

/* Writes the certificate's expiry and the number of reloads: Prometheus text. */
void tls_metrics(struct tls *tls, struct buf *out);

#endif
