/*
 * log_dedup: logs each failure of a repeated request once. Private to kube.
 */
#ifndef KUBE_WATCH_LOG_DEDUP_H
#define KUBE_WATCH_LOG_DEDUP_H

#include <stdbool.h>

struct log_dedup {
    char what[512]; /* the part of the last failure that repetitions share; "": no failure */
};

/* Whether this failure, "GET /api/v1/pods: 403: ...", is new and belongs in the log. With an HTTP
 * status the text after it is ignored, as two texts may alternate. Without one digits are ignored,
 * as in "after 3 ms". "": the failure has ended; returns false. */
bool log_dedup_is_news(struct log_dedup *dedup, const char *failure);
void log_dedup_forget(struct log_dedup *dedup);

#endif
