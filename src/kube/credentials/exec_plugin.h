/*
 * exec_plugin: a credential plugin and the thread that runs it before its credential expires.
 */
#ifndef KUBE_CREDENTIALS_EXEC_PLUGIN_H
#define KUBE_CREDENTIALS_EXEC_PLUGIN_H

#include "exec_credential.h"

#define EXEC_PLUGIN_TIMEOUT_MS 30000

struct exec_plugin;

/* target is borrowed for its life. The plugin is run, and waited for, once, before the thread
 * starts; what it gives is the caller's. Later credentials are handed to `renewed` on the thread,
 * which owns them then. */
int exec_plugin_new(const struct kube_target *target,
                    void (*renewed)(void *context, struct exec_credential *credential),
                    void *context, struct exec_plugin **ret_plugin,
                    struct exec_credential *ret_first, struct err *err);
/* What of that can be seen to go wrong without running the plugin. */
int exec_plugin_check(const struct kube_target *target, struct err *err);
/* Kills the plugin where it is running. NULL is allowed. */
void exec_plugin_free(struct exec_plugin *plugin);

/* The server has refused the credential: run it soon. From any thread. */
void exec_plugin_ask(struct exec_plugin *plugin);

#endif
