/*
 * retry: when filter has kube-scheduler ask again, rather than believe what was found. Private to
 * extender.
 *
 * By an Error kube-scheduler tries the pod again in seconds, whatever happens, and evicts nobody
 * for it. Meanwhile the text is what it tells users of the pod.
 */
#ifndef EXTENDER_RETRY_H
#define EXTENDER_RETRY_H

#include "args.h"
#include "extender/extender.h"

/* Of what was found of the nodes asked about, by a ledger that follows an API server: a file never
 * catches up. That the pod is refused is remembered (extender/repeats.h). */
enum retry retry_of(const struct extender *extender, const struct args *args,
                    const struct decision *found, int64_t now_ms);
/* The Error; in the arena, or it lives for ever. NULL of RETRY_NONE. */
const char *retry_text(enum retry retry, const struct decision *found, struct arena *arena);
/* How often each was answered. */
void retry_metrics(const struct extender *extender, struct buf *out);

#endif
