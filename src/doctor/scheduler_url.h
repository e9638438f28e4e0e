/*
 * scheduler_url: the parts of an extender's urlPrefix, and of an address of the policy.
 */
#ifndef DOCTOR_SCHEDULER_URL_H
#define DOCTOR_SCHEDULER_URL_H

#include <stdbool.h>

#define SCHEDULER_HOST_MAX 256

struct scheduler_url {
    bool https;
    char host[SCHEDULER_HOST_MAX]; /* without brackets */
    long port;
    const char *path; /* within the text: "/scheduler"; "" if there is none */
};

/* False: the text is no URL with http or https, or has a user, a query or a fragment. */
bool scheduler_url_parse(const char *text, struct scheduler_url *ret_url);
/* Whether the last part of the path is "scheduler", under which the verbs are. */
bool scheduler_url_is_ours(const struct scheduler_url *url);
/* localhost or a loopback address. */
bool scheduler_host_is_local(const char *host);
/* ADDR:PORT of the policy, which was checked. */
void scheduler_address_split(const char *address, char ret_host[SCHEDULER_HOST_MAX],
                             long *ret_port);

#endif
