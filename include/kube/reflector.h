/*
 * reflector: keeps a store equal to one collection of the API server, by LIST and WATCH.
 *
 * A state machine without I/O: bytes, ends and the time go in, actions come out. watch.h carries
 * the actions out over a loop; tests and the simulator do it themselves.
 *
 * Consistent LIST in pages (resourceVersion unset), then WATCH from the list's resourceVersion with
 * bookmarks. A clean end: watch on at once from the last resourceVersion (one that was too short
 * backs off first). Cut off, not sent, or 429: back off, watch on. 410, as an HTTP status or as an
 * ERROR event: list again (less than 2 min after the last list: back off before). Any other
 * failure: back off, list again; a page that got a 429 is asked for again. Retry-After is kept.
 * Back-off is 0.8 s doubling to 30 s with jitter, reset after 2 min without one.
 *
 * Silence (no byte for silence_ms on a watch) is asked about by a probe, a consistent LIST ?limit=1
 * on a fresh connection, and then the watch is opened again from the last resourceVersion with a
 * short timeoutSeconds (near its end servers send a bookmark). That is well when the probe's
 * resourceVersion is ours, or an event or bookmark has it or a later one (decimal numbers of any
 * length, the longer is greater). If it ends without, the collection is listed again. Only a probe
 * or such a list that fails, or a watch of which nothing came in 10 s, makes the data stale; so
 * does a watch that for silence_ms could not be opened, or ended at once without an event whenever
 * it was. A complete list, or the probe's resourceVersion, ends that.
 *
 * Lag: there is none whenever the watch has no unread bytes and no half event. An event
 * alone does not show this: it may be old. No resourceVersions are compared, so a quiet cluster, or
 * a server whose versions do not compare, never lags. While no watch is open the lag stands still;
 * silence_ms covers that case. A list resets the lag to 0. Only the first list sets it to the time
 * that the list took, so that a new service waits until its watch has read on after a long list.
 *
 * reflector_catch_up() asks for data as of now. The store has caught up when the watch has come to
 * the resourceVersion of a list made in between (the caller makes it, ?limit=1). If the watch has
 * not in a moment (in a quiet cluster nothing comes), the collection is listed anew.
 *
 * Sources: Kubernetes API concepts (efficient detection of changes); client-go's reflector
 * (extender contract 8).
 */
#ifndef KUBE_REFLECTOR_H
#define KUBE_REFLECTOR_H

#include "kube/request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum relist_cause {
    RELIST_START,
    RELIST_GONE,      /* 410: the resourceVersion is too old */
    RELIST_PAGE_GONE, /* 410: a page's continue token is */
    RELIST_SILENT,    /* the watch was silent, and then did not show what a probe saw */
    RELIST_FAILED,    /* a request failed in a way that says nothing about the data */
    RELIST_GARBAGE,   /* an answer that is no list or no event */
    RELIST_BEHIND,    /* the watch had not caught up in time */
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

/* Of what sort a failure is, in fixed words: for those who may not be told what a server said. */
enum reflector_trouble {
    TROUBLE_NONE,
    TROUBLE_REFUSED,     /* 401, 403 */
    TROUBLE_UNREACHABLE, /* nothing could be asked, or no whole answer came */
    TROUBLE_FAILED,      /* it answered something else than what was asked for */
    N_TROUBLES
};
const char *reflector_trouble_name(enum reflector_trouble trouble); /* "refused"; of none "" */

#define REFLECTOR_NOT_LISTED "not listed yet"

struct reflector_status {
    bool synced; /* at least one whole list was taken over */
    bool stale;
    /* Of why, for one flush: it is to be told. A failure is, until another one comes or it ends,
     * however often it is tried again; one of a watch ends when a watch works, not with a list. */
    bool is_news;
    /* Of stale, or of not being synced; else the failure that is being recovered from, NULL: none.
     * One printable line, "GET /api/v1/pods: 403: ...", valid for the call. REFLECTOR_NOT_LISTED:
     * nothing has failed so far. */
    const char *why;
    enum reflector_trouble trouble; /* of why */
    int64_t fresh_ms;               /* when the data was last known to be complete; 0: never */
    uint64_t relists[N_RELIST_CAUSES];
    uint64_t watches; /* opened */
    uint64_t events[N_WATCH_EVENTS];
    uint64_t probes;
};

/* Where the objects go. All called from within the functions below. */
struct reflector_store {
    void (*list_begin)(void *context);
    /* An object as listed, or ADDED, or MODIFIED: borrowed for the call. */
    void (*upsert)(void *context, const json_t *object);
    /* The same of an object that is larger than max_object_bytes: its first members, as a rule what
     * it is called and more. */
    void (*too_large)(void *context, const json_t *part);
    /* The list is complete: what it did not name since list_begin is gone. A list that breaks off
     * is begun again without an end. */
    void (*list_end)(void *context);
    void (*removed)(void *context, const json_t *object); /* its last state */
    /* At the end of each of the functions below that called one of those above or changed the
     * status: what was batched must be taken over now. */
    void (*flush)(void *context, const struct reflector_status *status);
    void *context;
    /* How far the store may be behind the API server, as reflector_lag_ms() reads it. Called when
     * it changes, and with each look at an open watch. NULL: nobody asks. */
    void (*lags)(void *context, int64_t lag_since_ms);
};

/* lag_since_ms > 0: a watch is open, and at that moment everything that had arrived was in the
 * store. So the lag grows by itself while the watch is read too slowly or not at all. <= 0: no
 * watch is open, and the lag stands at -lag_since_ms. */
static inline int64_t reflector_lag_ms(int64_t lag_since_ms, int64_t now_ms)
{
    if (lag_since_ms <= 0)
        return -lag_since_ms;
    return now_ms > lag_since_ms ? now_ms - lag_since_ms : 0;
}

/* One collection. */
struct reflector_kind {
    const char *name;           /* "pods": of metrics, log lines and messages */
    const char *path;           /* "/api/v1/pods" */
    const char *field_selector; /* encoded; NULL: none */
    const char *const *drop;    /* subtrees of an object that nobody reads; NULL-terminated */
    /* A server may not know it (404): then there are none, and it is asked again now and then. */
    bool is_optional;
};

struct reflector_settings {
    const struct reflector_kind *kind;
    int page_size;
    int64_t silence_ms;
    size_t max_object_bytes;
    uint64_t seed; /* of the jitter and of the watches' length */
};

struct reflector;
struct reflector *reflector_new(const struct reflector_settings *settings,
                                const struct reflector_store *store);
void reflector_free(struct reflector *reflector);

/* version: the resourceVersion to catch up with; NULL, or one that is no decimal number: list anew.
 * number is greater than that of any catch-up before, which this one replaces. */
void reflector_catch_up(struct reflector *reflector, int64_t now_ms, uint64_t number,
                        const char *version);
/* The number of the last catch-up that is done. */
uint64_t reflector_caught_up(const struct reflector *reflector);

enum reflector_want {
    REFLECTOR_WAIT,    /* for an event, or until until_ms */
    REFLECTOR_REQUEST, /* send the request; its events follow */
    REFLECTOR_CANCEL,  /* drop the request in flight; no event of it may follow */
};
struct reflector_action {
    enum reflector_want want;
    int64_t until_ms;
    struct kube_request request; /* valid until the next call */
};
/* What to do now. Called again and again until it says WAIT. */
struct reflector_action reflector_next(struct reflector *reflector, int64_t now_ms);

/* What came of the request: one head, any number of bytes, one end; or only the end. Before these
 * it may be refused (401) and wait for a newer credential: the status says so. */
void reflector_refused(struct reflector *reflector, const char *why);
void reflector_head(struct reflector *reflector, int64_t now_ms, unsigned status,
                    int64_t retry_after_s);
void reflector_bytes(struct reflector *reflector, int64_t now_ms, const char *bytes, size_t len);
void reflector_end(struct reflector *reflector, int64_t now_ms, enum kube_outcome outcome,
                   const char *why);
/* At now_ms nothing of the request's answer was unread. To be told regularly while a watch is open,
 * at least once a second. */
void reflector_drained(struct reflector *reflector, int64_t now_ms);

#endif
