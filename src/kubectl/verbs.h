/*
 * verbs: what kubectl gpu does. Each asks, prints, and returns the exit status.
 */
#ifndef KUBECTL_VERBS_H
#define KUBECTL_VERBS_H

#include "session.h"

int verbs_nodes(struct session *session);
int verbs_pending(struct session *session);
int verbs_quota(struct session *session);
int verbs_frag(struct session *session);
int verbs_groups(struct session *session);
int verbs_node_groups(struct session *session);
int verbs_version(struct session *session);   /* version.c */
int verbs_claims(struct session *session);    /* holders.c */
int verbs_pods(struct session *session);      /* holders.c */
int verbs_fit(struct session *session);       /* fit.c */
int verbs_what_if(struct session *session);   /* what_if.c */
int verbs_decisions(struct session *session); /* decisions.c */
int verbs_why(struct session *session);       /* why.c */
int verbs_doctor(struct session *session);    /* doctor.c */
int verbs_ui(struct session *session);        /* ui.c */

/* The argument POD, pod/POD or NAMESPACE/POD; the last one sets the session's namespace. Returns
 * the status, after a complaint. */
int verbs_read_pod(struct session *session, const char **ret_name); /* why.c */

/* kubectl_complete-gpu WORD... LAST: writes what LAST may be, as cobra's __complete does: a
 * candidate a line, and ":N". */
int verbs_complete(struct session *session, int argc, char **argv); /* complete.c */

#endif
