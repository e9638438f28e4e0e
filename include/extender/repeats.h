/*
 * repeats: which pods filter has refused lately, and by which ledger.
 *
 * Who is refused waits in kube-scheduler until something happens that may help: a pod ends, a node
 * comes or changes. kube-scheduler often asks again before our watch has it, and then the same
 * refusal would leave the pod waiting for the next event, or for five minutes. So where the same
 * question comes again, and the ledger is still the same, it is to be asked once more.
 *
 * The same question is the same pod in the same version: what kube-scheduler writes into its status
 * after a refusal wakes it, too, and means nothing.
 *
 * Most of what wakes a pod helps nobody and changes no ledger, such as the status of a pod that
 * runs; and each time that a pod is to be asked about once more, kube-scheduler writes its status
 * twice. So the gaps between two such times grow. Where much happens, the next event is near; where
 * little does, the gap is over.
 */
#ifndef EXTENDER_REPEATS_H
#define EXTENDER_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

/* Of more pods than this some are forgotten, and refused at once. */
#define REPEATS_MAX ((size_t)4096)
/* The first gap of a pod; each is twice as long as the last one, up to the time after which
 * kube-scheduler asks about who waits by itself. */
#define REPEATS_GAP_MS 2000
#define REPEATS_GAP_MAX_MS 300000

struct repeats;

struct repeats *repeats_new(void);
void repeats_free(struct repeats *repeats);

/* The pod (its UID and its resourceVersion, "" where they are not said) is refused by this version
 * of the ledger. True: it was before, so it may be the ledger that is late; not within a gap.
 * From any thread. */
bool repeats_is_one(struct repeats *repeats, const char *uid, const char *resource_version,
                    uint64_t ledger_version, int64_t now_ms);

#endif
