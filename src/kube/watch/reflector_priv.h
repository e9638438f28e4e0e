/*
 * reflector_priv: the reflector's state, private to its files.
 *
 * reflector.c has the public functions, the time-outs and the steps common to all answers.
 * reflector_wire.c writes the requests and reads pages and events. reflector_verdict.c decides what
 * follows.
 */
#ifndef KUBE_WATCH_REFLECTOR_PRIV_H
#define KUBE_WATCH_REFLECTOR_PRIV_H

#include "base/buf.h"
#include "base/err.h"
#include "formats/json_stream.h"
#include "kube/reflector.h"
#include "pace.h"

enum reflector_step {
    STEP_LIST,
    STEP_WATCH,
    STEP_PROBE,   /* the watch was silent, or for too long could not be opened */
    STEP_REWATCH, /* a short watch that must reach the probe's resourceVersion */
};

/* A request in flight and its progress. */
struct flight {
    bool is_open; /* sent, and its end has not come */
    bool settled; /* its result is decided: the rest is not read, and the request is cancelled */
    struct kube_request request;
    int64_t sent_ms;
    int64_t head_ms;  /* 0: none yet */
    int64_t heard_ms; /* the last head or byte, or the sending */
    unsigned status;
    int64_t retry_after_s;
    struct buf error_body;
    struct json_stream *stream; /* of an answer with status 200 */
    bool has_text;              /* anything but white space arrived */
    size_t n_objects;           /* events, or lists, so far */
};

/* A list in progress, page by page. */
struct listing {
    enum relist_cause cause;
    size_t n_unserved;   /* versions to which its first page was answered 404 */
    bool is_counted;     /* it was counted in status.relists */
    bool has_begun;      /* list_begin() was called */
    bool has_items;      /* the current page has "items" */
    uint64_t catches_up; /* the number of the catch-up that was under way at its first page */
    int64_t began_ms;    /* when its first page was requested */
    struct buf version;
    struct buf continue_; /* the next page; empty: the first */
    struct buf page_version;
    struct buf page_continue;
};

struct catching_up {
    uint64_t number;    /* the last requested */
    uint64_t done;      /* the last completed */
    struct buf version; /* the resourceVersion to catch up with; empty: none */
    int64_t until_ms;   /* if it is not done by then, the collection is listed anew */
};

struct reflector {
    struct reflector_settings settings;
    struct reflector_store store;
    struct reflector_status status;
    bool is_dirty;      /* the store was called, or the status changed */
    bool fresh;         /* the next request retires open connections */
    bool watch_is_open; /* the head was 200 */
    bool is_filled;     /* the store has the objects of a list */
    bool is_doubtful;   /* is_filled, but the last list got a 404 in all versions */
    char why[400];
    struct log_dedup log;
    bool told_of_watch;      /* the failure in `why` was one of a watch */
    const char **event_drop; /* the paths of kind->drop, as paths in an event */
    const char **event_keep; /* the same of kind->keep; empty: none */
    struct json_budget object_budget;
    uint64_t random;
    struct backoff backoff;
    enum reflector_step step;
    int64_t not_before_ms; /* earliest time of the next request */
    struct flight flight;
    struct listing listing;
    struct buf path;
    struct buf version; /* where the next watch starts */
    struct buf probed;  /* the probe's resourceVersion */
    struct catching_up catch_up;
    int64_t heard_ms;     /* the last byte of a watch, or the last fresh_ms */
    int64_t unopened_ms;  /* while no watch is open: since when */
    int64_t listed_ms;    /* the end of the last whole list */
    int64_t lag_since_ms; /* reflector_lag_ms() */
    bool has_news;        /* events came since the watch was last drained */
    enum { EVENT_FINE, EVENT_FAILED } event_verdict;
    unsigned event_code; /* of an ERROR event: its Status's code */
    int64_t event_retry_after_s;
};

/* A shorter watch without an event counts as failed. */
#define VERY_SHORT_MS 1000

/* Limit of a resourceVersion or a continue token. */
#define REFLECTOR_TOKEN_MAX ((size_t)8192)

/* ---- reflector_wire.c ---- */

/* The collection's path in the version that is read. */
const char *reflector_collection(const struct reflector *reflector);

/* The request for the current step. */
struct kube_request reflector_request(struct reflector *reflector);

struct json_stream *reflector_page_stream(struct reflector *reflector);
/* A page is complete: requests the next, or ends the list. */
void reflector_page_end(struct reflector *reflector, int64_t now_ms);
/* The server does not serve this version: requests the next, or lets the collection count as empty
 * for a while. */
void reflector_page_unserved(struct reflector *reflector, int64_t now_ms);
/* The probe ended well. */
void reflector_probe_end(struct reflector *reflector, int64_t now_ms);

struct json_stream *reflector_event_stream(struct reflector *reflector);
bool reflector_event_failed(const struct reflector *reflector);
/* Call after the events of some bytes. */
void reflector_events_end(struct reflector *reflector, int64_t now_ms);
/* The server ended the watch between two events. */
void reflector_watch_end(struct reflector *reflector, int64_t now_ms);

/* ---- reflector_verdict.c ---- */

enum reflector_failure {
    FAILURE_BUSY,     /* 429 */
    FAILURE_CUT,      /* cut off, or never sent */
    FAILURE_GONE,     /* 410 */
    FAILURE_UNSERVED, /* 404 to a version that was served */
    FAILURE_GARBAGE,
    FAILURE_OTHER,
};
/* The request failed; reflector->why says how. Decides the next step and its time. retry_after_s
 * -1: the server gave none. */
void reflector_failed(struct reflector *reflector, int64_t now_ms, enum reflector_failure failure,
                      int64_t retry_after_s);
void reflector_relist(struct reflector *reflector, enum relist_cause cause);
/* Only for data that were fresh. */
void reflector_set_stale(struct reflector *reflector);
/* The data are complete as of now_ms. */
void reflector_set_fresh(struct reflector *reflector, int64_t now_ms);
/* The rest of the answer is not read. */
void reflector_settle(struct reflector *reflector);

/* Each sets reflector->why and its class. */
void reflector_say(struct reflector *reflector, enum reflector_trouble trouble, const char *what);
/* An answer with another status than 200. */
void reflector_say_status(struct reflector *reflector);
/* A 401 that still waits for a newer credential. */
void reflector_say_refused(struct reflector *reflector, const char *why);
/* status: a Status object, the value of an ERROR event. */
void reflector_say_error(struct reflector *reflector, const json_t *status);
void reflector_say_nothing(struct reflector *reflector);
/* The watch brought an event or ended properly: its last failure is over. */
void reflector_watch_works(struct reflector *reflector);

void reflector_lag_runs(struct reflector *reflector, int64_t now_ms);
void reflector_lag_stands(struct reflector *reflector, int64_t now_ms);
/* The open watch has no unread bytes. */
void reflector_lag_drained(struct reflector *reflector, int64_t now_ms);
void reflector_lag_report(const struct reflector *reflector);
/* A complete list is in the store; is_first: the store was empty before. */
void reflector_lag_ends(struct reflector *reflector, int64_t now_ms, bool is_first);

/* When the collection must be listed anew for a catch-up. */
int64_t reflector_catch_up_due_ms(const struct reflector *reflector);
/* The data have reached reflector->version. */
void reflector_catch_up_look(struct reflector *reflector);
/* A complete list is in the store. */
void reflector_catch_up_listed(struct reflector *reflector, int64_t now_ms);

#endif
