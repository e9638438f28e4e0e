/*
 * tls: the server's certificate and key, and whose client certificates are trusted, from files that
 * are read again when they change.
 *
 * Connections are TLS 1.2 or 1.3. A client may show a certificate; without one it may connect too,
 * and has no exchange_peer(). Its certificate is judged at each request: signatures up to one of
 * the trusted ones, dates, that it may be a client's. (One that was found good is not judged again
 * for five seconds, until it expires or the files change.) So one that has expired or is revoked,
 * or whose authority is trusted no more, is refused on a connection that is open, too. A list of
 * revoked certificates that should have been renewed by now stays in force: without it they would
 * be let in again, and refusing everybody would stop scheduling. The log and a metric say so.
 */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include "base/buf.h"
#include "base/err.h"

/* Paths of PEM files. */
struct tls_files {
    const char *certificate; /* the server's, and those between it and its authority */
    const char *private_key;
    const char *client_ca; /* who signs the certificates of clients; one or more */
    /* Which of those are revoked: lists (CRLs) of authorities in client_ca. "": none are. */
    const char *client_crl;
};

struct tls;

/* What tls_open() would say; and the certificate, and the list of revoked ones, must be valid now.
 */
int tls_check(const struct tls_files *files, struct err *err);

/* Reads the files (their names are borrowed), which must be whole and belong together; that the
 * certificate is not valid now is only warned of. From now on a thread looks at them every few
 * seconds. What is new there and good is used from then on, for new connections and new requests;
 * of what is not, the log and the metrics tell, and the old stays. One at a time in a process. */
int tls_open(const struct tls_files *files, struct tls **ret_tls, struct err *err);
/* After the server that uses it; NULL does nothing. */
void tls_close(struct tls *tls);

/* When the certificate expires, how often the files were read again: Prometheus text. */
void tls_metrics(struct tls *tls, struct buf *out);

#endif
