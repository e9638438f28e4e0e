/*
 * claims: filter's soft claims on quotas (core/claim.h). Private to extender.
 *
 * A call that hands on a node claims the pod's share of its quotas, under the model of the node
 * that it ranks first; a call that hands on none ends the pod's claim. Pods that no quota covers
 * cost nothing here.
 */
#ifndef EXTENDER_CLAIMS_H
#define EXTENDER_CLAIMS_H

#include "rules.h"

struct claim_wish {
    const char *node_name; /* of the request; NULL: nothing is claimed */
    bool has_claim;        /* the pod has one already */
    uint64_t claims_version;
};

/* Under the inventory's lock, of a settled ledger that follows an API server. left_out: as of
 * shortlist_left_out(). */
struct claim_wish claims_wish(const struct extender *extender, const struct rule_input *judged,
                              const bool *left_out, struct arena *arena);
/* Without it. False: another call has claimed since the nodes were judged. */
bool claims_settle(const struct extender *extender, const struct args *args,
                   const struct claim_wish *wish, int64_t now_ms);

#endif
