/*
 * foreign: rejects requests that a web page of another site may have sent through a browser. Every
 * page in a laptop's browser can reach the laptop's loopback address.
 */
#ifndef HTTP_FOREIGN_H
#define HTTP_FOREIGN_H

#include "exchange_priv.h"

/* Returns NULL, or a message for a 403. The exchange's route must be set.
 *
 * * Verbs reject every request with an Origin: browsers add it to each POST, kube-scheduler never.
 * * Without TLS an Origin must be the service's own: "http://" and the Host.
 * * On a loopback address without TLS the Host must be an IP address, localhost or a name below it.
 *   Any other name may belong to the page's site, whose DNS server can change it to the loopback
 *   address (DNS rebinding).
 *
 * Source: RFC 6454 (Origin), RFC 6761, 6.3 (localhost), Fetch Standard (when browsers send
 * Origin). */
const char *foreign_fault(const struct exchange *exchange);

#endif
