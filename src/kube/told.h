/*
 * told: which failure is in the log already, of something that is tried again and again. Private to
 * kube.
 */
#ifndef KUBE_TOLD_H
#define KUBE_TOLD_H

#include <stdbool.h>

struct told {
    char what[512]; /* what of it is the same each time; "": none, as all is well */
};

/* Whether this failure, "GET /api/v1/pods: 403: ...", is another one than the last, and so to be
 * told. Where there is an answer's status its words do not matter, as two may take turns; where
 * there is none the numbers in them do not, as in "after 3 ms". "": it has ended, and is no news.
 */
bool told_is_news(struct told *told, const char *failure);
void told_forget(struct told *told);

#endif
