/*
 * reload: reads the policy file again when it changes and on SIGHUP; on SIGHUP also a cluster file.
 *
 * A policy is taken as a whole, but for values that need a restart: these stay, and are named. A
 * file that cannot be used changes nothing. Over a cluster file a new policy comes with a new
 * reading of that file, or not at all.
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
    const struct settings *settings; /* of the start; they outlive the reload */
    struct inventory *inventory;
    struct live_mode *live; /* NULL: over a file */
};

/* Call before the threads that ask for the policy in force. Borrows the parts. */
struct reload *reload_new(const struct reload_parts *parts);
/* Call when the loops of live mode run. */
int reload_start(struct reload *reload, struct err *err);
/* SIGHUP. */
void reload_now(struct reload *reload);
/* Ends the thread; the policy in force stays. Before live_mode_stop(). */
void reload_stop(struct reload *reload);
void reload_free(struct reload *reload);

/* The policy in force, for GET /v1/policy: a JSON object. From any thread. */
char *reload_report(struct reload *reload, struct arena *arena);
void reload_metrics(struct reload *reload, struct buf *out);

#endif
