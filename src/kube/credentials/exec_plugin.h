/*
 * exec_plugin: a credential plugin and the thread that runs it before its credential expires.
 */
#ifndef KUBE_CREDENTIALS_EXEC_PLUGIN_H
#define KUBE_CREDENTIALS_EXEC_PLUGIN_H

#include "exec_credential.h"

#define EXEC_PLUGIN_TIMEOUT_MS 30000

struct exec_plugin;

/* Borrows target until exec_plugin_free(). Runs the plugin once and waits for it, before the thread
 * starts; the caller owns that credential. The thread calls renewed() with each later one, which
 * then owns it. */
int exec_plugin_new(const struct kube_target *target,
                    void (*renewed)(void *context, struct exec_credential *credential),
                    void *context, struct exec_plugin **ret_plugin,
                    struct exec_credential *ret_first, struct err *err);
/* Reports the errors that show without running the plugin. */
int exec_plugin_check(const struct kube_target *target, struct err *err);
/* Kills a running plugin. NULL is allowed. */
void exec_plugin_free(struct exec_plugin *plugin);

/* The API server has rejected the credential: run soon. From any thread. */
void exec_plugin_ask(struct exec_plugin *plugin);

#endif
