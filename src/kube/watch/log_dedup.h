/*
 * log_dedup: which failure is in the log already, of something that is tried again and again.
 * Private to kube.
 */
#ifndef KUBE_WATCH_LOG_DEDUP_H
#define KUBE_WATCH_LOG_DEDUP_H

#include <stdbool.h>

struct log_dedup {
    char what[512]; /* what of it is the same each time; "": none, as all is well */
};

/* Whether this failure, "GET /api/v1/pods: 403: ...", is another one than the last, and so to be
 * told. Where there is an answer's status its words do not matter, as two may take turns; where
 * there is none the numbers in them do not, as in "after 3 ms". "": it has ended, and is no news.
 */
bool log_dedup_is_news(struct log_dedup *dedup, const char *failure);
void log_dedup_forget(struct log_dedup *dedup);

#endif
