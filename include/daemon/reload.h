/*
 * reload: reads the policy file again when it changes. SIGHUP reads it at once, and then the
 * cluster file, if there is one.
 *
 * A new policy takes effect as a whole, except for values that need a restart. These stay
 * unchanged, and the log and GET /v1/policy name them. An unusable file changes nothing. Over a
 * cluster file, a new policy takes effect only if that file can be read under it.
 */
#ifndef DAEMON_RELOAD_H
#define DAEMON_RELOAD_H

#include "base/arena.h"
#include "base/buf.h"
#include "config/options.h"
#include "config/settings.h"
#include "daemon/live_mode.h"

struct reload;

struct reload_parts {
    const struct options *options;
    const struct settings *settings; /* those of the start; they must outlive the reload */
    struct inventory *inventory;
    struct live_mode *live; /* NULL: over a cluster file */
};

/* Call before starting threads that ask for the policy in force. Borrows the parts. */
struct reload *reload_new(const struct reload_parts *parts);
/* Call once the loops of live mode run. */
int reload_start(struct reload *reload, struct err *err);
/* Call on SIGHUP. */
void reload_now(struct reload *reload);
/* Ends the thread; the policy in force stays. Call before live_mode_stop(). */
void reload_stop(struct reload *reload);
void reload_free(struct reload *reload);

/* The policy in force, for GET /v1/policy: a JSON object. From any thread. */
char *reload_report(struct reload *reload, struct arena *arena);
void reload_metrics(struct reload *reload, struct buf *out);

#endif
