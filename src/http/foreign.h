/*
 * foreign: rejects requests that a web page of another site may have made a browser send. A
 * laptop's loopback address is open to every page that its browser shows.
 */
#ifndef HTTP_FOREIGN_H
#define HTTP_FOREIGN_H

#include "exchange_priv.h"

/* NULL, or a message for a 403. The exchange's route must be known.
 *
 * * Verbs accept no Origin at all: browsers add it to each POST, kube-scheduler never.
 * * Without TLS an Origin must be the service's own, "http://" and the Host.
 * * On a loopback address without TLS the Host must be an IP address, localhost or a name below it:
 *   any other name may be a page's own, which its DNS server now resolves to the loopback address.
 *
 * Source: RFC 6454 (Origin), RFC 6761, 6.3 (localhost), Fetch Standard (when browsers send
 * Origin). */
const char *foreign_fault(const struct exchange *exchange);

#endif
