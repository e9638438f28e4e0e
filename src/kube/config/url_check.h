/*
 * url_check: the addresses that a kubeconfig may hold.
 */
#ifndef KUBE_CONFIG_URL_CHECK_H
#define KUBE_CONFIG_URL_CHECK_H

/* NULL where the text is one, else what would be right. */
typedef const char *url_check(const char *text);

/* https://HOST[:PORT][/PATH], or http. No user name: it would be in every message. */
url_check url_check_server;
/* http, https or socks5, with a user name and password if need be. */
url_check url_check_proxy;
/* A host name or address, without a port. */
url_check url_check_host;

#endif
