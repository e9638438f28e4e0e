/*
 * reflector_priv: the reflector's state, for the files that are it.
 *
 * reflector.c has the public functions, the time and what every answer shares; reflector_wire.c
 * writes the requests and reads pages and events; reflector_verdict.c says what follows.
 */
#ifndef KUBE_WATCH_REFLECTOR_PRIV_H
#define KUBE_WATCH_REFLECTOR_PRIV_H

#include "backoff.h"
#include "base/buf.h"
#include "base/err.h"
#include "formats/json_stream.h"
#include "kube/reflector.h"
#include "log_dedup.h"

enum reflector_step {
    STEP_LIST,
    STEP_WATCH,
    STEP_PROBE,   /* the watch was silent, or could not be opened for too long */
    STEP_REWATCH, /* a short watch that has to show what the probe saw */
};

/* A request on its way, and what came of it so far. */
struct flight {
    bool is_open; /* sent, and its end has not come */
    bool settled; /* what it says is decided: nothing more of it is read, and it is dropped */
    struct kube_request request;
    int64_t sent_ms;
    int64_t head_ms;  /* 0: none yet */
    int64_t heard_ms; /* the last head or byte, or when it was sent */
    unsigned status;
    int64_t retry_after_s;
    struct buf error_body;
    struct json_stream *stream; /* of an answer with status 200 */
    bool has_text;              /* something but white space came */
    size_t n_objects;           /* events, or lists */
};

/* A list that is being taken over, page by page. */
struct listing {
    enum relist_cause cause;
    bool is_counted;     /* as a relist */
    bool has_begun;      /* the store knows of it */
    bool has_items;      /* in the page that is being read */
    uint64_t catches_up; /* the catch-up that was there when its first page was asked for */
    int64_t began_ms;    /* when that was */
    struct buf version;
    struct buf continue_; /* the next page; empty: the first */
    struct buf page_version;
    struct buf page_continue;
};

struct catching_up {
    uint64_t number;    /* the last */
    uint64_t done;      /* the last that is done */
    struct buf version; /* the resourceVersion to catch up with; empty: none */
    int64_t until_ms;   /* when it is listed anew */
};

struct reflector {
    struct reflector_settings settings;
    struct reflector_store store;
    struct reflector_status status;
    bool is_dirty;      /* the store was called, or the status changed */
    bool fresh;         /* the next request asks for another connection */
    bool watch_is_open; /* its head was 200 */
    bool is_absent;     /* the server did not know the collection when it was asked last */
    char why[400];
    struct log_dedup log;
    bool told_of_watch;
    const char **event_drop; /* kind->drop, inside the object of an event */
    uint64_t random;
    struct backoff backoff;
    enum reflector_step step;
    int64_t not_before_ms; /* of the next request */
    struct flight flight;
    struct listing listing;
    struct buf path;
    struct buf version; /* to watch on from */
    struct buf probed;  /* what the probe saw */
    struct catching_up catch_up;
    int64_t heard_ms;     /* the last byte of a watch, or when the data was fresh */
    int64_t unopened_ms;  /* since then, where no watch is open, there was none */
    int64_t listed_ms;    /* the end of the last whole list */
    int64_t lag_since_ms; /* reflector_lag_ms() */
    bool has_news;        /* events came since the watch was last drained */
    enum { EVENT_FINE, EVENT_FAILED } event_verdict;
    unsigned event_code; /* of an ERROR event: its Status's code */
    int64_t event_retry_after_s;
};

/* A watch that ended so soon, and without an event, has told nothing. */
#define VERY_SHORT_MS 1000

/* A resourceVersion or a continue token is no longer than this. */
#define REFLECTOR_TOKEN_MAX ((size_t)8192)

/* ---- reflector_wire.c ---- */

/* The request of the step, as it goes out. */
struct kube_request reflector_request(struct reflector *reflector);

struct json_stream *reflector_page_stream(struct reflector *reflector);
/* A page ended well: the next, or the list's end. */
void reflector_page_end(struct reflector *reflector, int64_t now_ms);
/* The server does not know the collection: that is known to be all of it, for a while. */
void reflector_page_absent(struct reflector *reflector, int64_t now_ms);
/* The probe ended well. */
void reflector_probe_end(struct reflector *reflector, int64_t now_ms);

struct json_stream *reflector_event_stream(struct reflector *reflector);
bool reflector_event_failed(const struct reflector *reflector);
/* After the events of some bytes. */
void reflector_events_end(struct reflector *reflector, int64_t now_ms);
/* The server ended the watch between two events. */
void reflector_watch_end(struct reflector *reflector, int64_t now_ms);

/* ---- reflector_verdict.c ---- */

enum reflector_failure {
    FAILURE_BUSY, /* 429 */
    FAILURE_CUT,  /* cut off, or never sent */
    FAILURE_GONE, /* 410 */
    FAILURE_GARBAGE,
    FAILURE_OTHER,
};
/* The request failed, reflector->why says how: what to do next, and when. retry_after_s -1: the
 * server did not say. */
void reflector_failed(struct reflector *reflector, int64_t now_ms, enum reflector_failure failure,
                      int64_t retry_after_s);
void reflector_relist(struct reflector *reflector, enum relist_cause cause);
/* Only of what was once fresh. */
void reflector_set_stale(struct reflector *reflector);
/* The data is known to be complete, as of now. */
void reflector_set_fresh(struct reflector *reflector, int64_t now_ms);
/* Nothing more of the flight is read. */
void reflector_settle(struct reflector *reflector);

/* They fill reflector->why, and say of what sort it is. */
void reflector_say(struct reflector *reflector, enum reflector_trouble trouble, const char *what);
/* An answer with another status than 200. */
void reflector_say_status(struct reflector *reflector);
/* A 401 whose answer is not known yet. */
void reflector_say_refused(struct reflector *reflector, const char *why);
/* A Status object, as the value of an ERROR event. */
void reflector_say_error(struct reflector *reflector, const json_t *status);
void reflector_say_nothing(struct reflector *reflector);
/* It brought something, or ended well: what was told has ended. */
void reflector_watch_works(struct reflector *reflector);

void reflector_lag_runs(struct reflector *reflector, int64_t now_ms);
void reflector_lag_stands(struct reflector *reflector, int64_t now_ms);
/* Nothing of the open watch is unread. */
void reflector_lag_drained(struct reflector *reflector, int64_t now_ms);
void reflector_lag_tell(const struct reflector *reflector);
/* A whole list was taken over; is_first: nothing was there before. */
void reflector_lag_ends(struct reflector *reflector, int64_t now_ms, bool is_first);

/* When the collection is to be listed anew for it. */
int64_t reflector_catch_up_due_ms(const struct reflector *reflector);
/* The data came to reflector->version. */
void reflector_catch_up_look(struct reflector *reflector);
/* A whole list was taken over. */
void reflector_catch_up_listed(struct reflector *reflector, int64_t now_ms);

#endif
