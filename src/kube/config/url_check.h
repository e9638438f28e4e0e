/*
 * url_check: syntax of the addresses in a kubeconfig.
 */
#ifndef KUBE_CONFIG_URL_CHECK_H
#define KUBE_CONFIG_URL_CHECK_H

/* Returns NULL if the text is valid, else a description of a valid one. */
typedef const char *url_check(const char *text);

/* https://HOST[:PORT][/PATH], or http. No user name: messages would show it. */
url_check url_check_server;
/* http, https or socks5, with optional user name and password. */
url_check url_check_proxy;
/* A host name or address, without a port. */
url_check url_check_host;

#endif
