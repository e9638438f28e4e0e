/*
 * reflector: keeps a store equal to one collection of the API server, by LIST and WATCH.
 *
 * A state machine without I/O: bytes, ends and the time go in, actions come out. watch.h carries
 * the actions out over a loop; tests and the simulator do it themselves.
 *
 * It makes a consistent LIST in pages (resourceVersion unset), then a WATCH from the list's
 * resourceVersion with bookmarks. After a clean end it watches on at once from the last
 * resourceVersion (after a back-off if the watch ended at once). Cut off, not sent, or 429: back
 * off, watch on. 410, as an HTTP status or as an ERROR event: list again (back off first, within 2
 * min after the last list). Any other failure: back off, list again. A page that got a 429 is
 * requested again. Retry-After is respected. Back-off is 0.8 s doubling to 30 s with jitter, reset
 * after 2 min without one.
 *
 * After silence_ms without a byte on a watch the reflector sends a probe: a consistent LIST
 * ?limit=1 on a fresh connection. Then it opens the watch again from the last resourceVersion with
 * a short timeoutSeconds (servers send a bookmark near its end). The data are complete if the
 * probe's resourceVersion is ours, or if an event or bookmark has it or a later one (decimal
 * numbers of any length). If the watch ends without that, the collection is listed again. The data
 * become stale if the probe or that list fails, or if nothing arrives on the watch in 10 s. They
 * also become stale if for silence_ms the watch could not be opened, or ended at once without an
 * event. A complete list, or the probe's resourceVersion, ends that.
 *
 * The lag is 0 while the watch has no unread bytes and no partial event. An event alone does not
 * show this: it may be old. resourceVersions are not compared, so neither a quiet cluster nor a
 * server without comparable versions ever lags. While no watch is open the lag is frozen;
 * silence_ms covers that case. A list resets the lag to 0. Only the first list sets it to its own
 * duration, so a new service waits until its watch has caught up after a long list.
 *
 * A kind may have paths in older versions (reflector_kind). Every list begins with the newest. A
 * 404 to its first page leads to the next version at once. A 404 to all of them means that the
 * server has no such kind: the collection is empty, and is requested again at least once a minute.
 * The store is emptied only after the second such answer. Any other 404 is a failure, after which
 * it is listed at once (back off first, within 2 min after the last list).
 *
 * reflector_catch_up() requests current data. The request is met when the watch reaches the
 * resourceVersion of a list made after the call (the caller makes it, ?limit=1). In a quiet cluster
 * nothing arrives; so after a moment (300 ms) the collection is listed anew.
 *
 * Sources: Kubernetes API concepts (efficient detection of changes); client-go's reflector
 * (PROTOCOL 8.1 to 8.6).
 */
#ifndef KUBE_REFLECTOR_H
#define KUBE_REFLECTOR_H

#include "formats/json_stream.h"
#include "kube/request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum relist_cause {
    RELIST_START,
    RELIST_GONE,      /* 410: the resourceVersion is too old */
    RELIST_PAGE_GONE, /* 410: a page's continue token is too old */
    RELIST_SILENT,    /* the watch was silent, and then did not reach the probe's resourceVersion */
    RELIST_FAILED,    /* a request failed in a way that says nothing about the data */
    RELIST_GARBAGE,   /* an answer that is no list, or an event that is none */
    RELIST_BEHIND,    /* the watch did not catch up in time */
    RELIST_POLICY,    /* a new policy reads more of the objects: reflector_list_again() */
    N_RELIST_CAUSES
};
const char *reflector_cause_name(enum relist_cause cause); /* "gone" */

enum watch_event {
    WATCH_ADDED,
    WATCH_MODIFIED,
    WATCH_DELETED,
    WATCH_BOOKMARK,
    WATCH_ERROR,
    N_WATCH_EVENTS
};
const char *reflector_event_name(enum watch_event event); /* "added" */

/* The class of a failure, for readers who may not see a server's message. */
enum reflector_trouble {
    TROUBLE_NONE,
    TROUBLE_REFUSED,     /* 401, 403 */
    TROUBLE_UNREACHABLE, /* no request could be sent, or no complete answer came */
    TROUBLE_FAILED,      /* the answer was not the expected one */
    N_TROUBLES
};
const char *
reflector_trouble_name(enum reflector_trouble trouble); /* "refused"; "" for TROUBLE_NONE */

#define REFLECTOR_NOT_LISTED "not listed yet"

struct reflector_status {
    bool synced; /* at least one complete list is in the store */
    bool stale;
    /* For one flush: why is new and belongs in the log. A repeated failure is not news. A failure
     * of a watch ends when a watch works, not with a list. */
    bool is_news;
    /* Why the data are stale or not synced, or else the failure being recovered from; NULL: none.
     * One printable line, "GET /api/v1/pods: 403: ...", valid for the call. REFLECTOR_NOT_LISTED:
     * nothing has failed so far. */
    const char *why;
    enum reflector_trouble trouble; /* the class of why */
    size_t n_unserved; /* newer versions that the server lacked at the last whole list */
    int64_t fresh_ms;  /* when the data were last known to be complete; 0: never */
    uint64_t relists[N_RELIST_CAUSES];
    uint64_t watches; /* opened */
    uint64_t events[N_WATCH_EVENTS];
    uint64_t probes;
};

/* Receives the objects. All are called from within the functions below, on the caller's thread. */
struct reflector_store {
    void (*list_begin)(void *context);
    /* An object that was listed, ADDED or MODIFIED; borrowed for the call. */
    void (*upsert)(void *context, const json_t *object);
    /* The same for an object over max_object_values or max_object_bytes: the kind's keep, or only
     * what names it. */
    void (*too_large)(void *context, const json_t *part, const struct json_over *over);
    /* The list is complete: objects that it did not name since list_begin are gone. A list that
     * breaks off begins again, without a list_end. */
    void (*list_end)(void *context);
    void (*removed)(void *context,
                    const json_t *object); /* object: its last state; borrowed for the call */
    /* Called at the end of each function below that called one of those above or changed the
     * status: apply now what was batched. */
    void (*flush)(void *context, const struct reflector_status *status);
    void *context;
    /* How far the store may be behind the API server, in the form of reflector_lag_ms(). Called
     * when it changes, and with each look at an open watch. May be NULL. */
    void (*lags)(void *context, int64_t lag_since_ms);
};

/* lag_since_ms > 0: a watch is open, and at that moment everything that had arrived was in the
 * store. So the lag grows by itself while the watch is read too slowly or not at all. <= 0: no
 * watch is open, and the lag is frozen at -lag_since_ms. */
static inline int64_t reflector_lag_ms(int64_t lag_since_ms, int64_t now_ms)
{
    if (lag_since_ms <= 0)
        return -lag_since_ms;
    return now_ms > lag_since_ms ? now_ms - lag_since_ms : 0;
}

/* One collection. */
struct reflector_kind {
    const char *name;           /* "pods": for metrics, log lines and messages */
    const char *path;           /* "/api/v1/pods" */
    const char *field_selector; /* encoded; NULL: none */
    const char *const *drop;    /* subtrees of an object that nothing reads; NULL-terminated */
    /* Subtrees that must be counted though the object has too many values, in the same form. NULL:
     * none, such an object is unreadable. */
    const char *const *keep;
    /* For a kind that a server may serve in an older version, or not at all: its paths in older
     * versions, newest first; NULL-terminated. NULL: a server without it is a failure. */
    const char *const *older;
};

/* Objects of a page of a list. The API server works on a page before it sends any of it, while we
 * wait; but it holds each in memory. */
#define REFLECTOR_PAGE_SIZE 5000

struct reflector_settings {
    const struct reflector_kind *kind;
    int page_size;
    int64_t silence_ms;
    size_t max_object_bytes;
    size_t max_object_values; /* without dropped subtrees; 0: no limit */
    uint64_t seed;            /* for the jitter and the durations of watches */
};

struct reflector;
struct reflector *reflector_new(const struct reflector_settings *settings,
                                const struct reflector_store *store);
void reflector_free(struct reflector *reflector);

/* Requests current data (above). version: the resourceVersion to reach; NULL or no decimal number:
 * list anew. number is greater than every earlier one; this request replaces them. */
void reflector_catch_up(struct reflector *reflector, int64_t now_ms, uint64_t number,
                        const char *version);
/* The number of the last completed request of that kind. */
uint64_t reflector_caught_up(const struct reflector *reflector);

/* Lists the collection again, also if a list is in progress: the store reads objects differently
 * from now on. */
void reflector_list_again(struct reflector *reflector);

enum reflector_want {
    REFLECTOR_WAIT,    /* for an event, or until until_ms */
    REFLECTOR_REQUEST, /* send the request; its events follow */
    REFLECTOR_CANCEL,  /* abandon the request in flight; pass on no more of its events */
};
struct reflector_action {
    enum reflector_want want;
    int64_t until_ms;
    struct kube_request request; /* valid until the next call */
};
/* Returns what to do now. Call it until it returns REFLECTOR_WAIT. */
struct reflector_action reflector_next(struct reflector *reflector, int64_t now_ms);

/* The result of the request: one head, any number of bytes, one end; or only the end.
 * reflector_refused() may precede them: a 401 waits for a newer credential, and the status says
 * so. */
void reflector_refused(struct reflector *reflector, const char *why);
void reflector_head(struct reflector *reflector, int64_t now_ms, unsigned status,
                    int64_t retry_after_s);
void reflector_bytes(struct reflector *reflector, int64_t now_ms, const char *bytes, size_t len);
void reflector_end(struct reflector *reflector, int64_t now_ms, enum kube_outcome outcome,
                   const char *why);
/* At now_ms no byte of the answer was unread. Call it at least once a second while a watch is
 * open. */
void reflector_drained(struct reflector *reflector, int64_t now_ms);

#endif
