/*
 * command: how another run of kubectl gpu asks where this one asks. For commands that the page
 * copies.
 */
#ifndef KUBECTL_COMMAND_H
#define KUBECTL_COMMAND_H

#include "session.h"

/* {program, options, needsToken} as JSON: each option as --NAME=VALUE, with the whole names of
 * files, so that it holds in every folder. The value of --token is left out; needsToken says so.
 * Users and passwords in addresses are left out, too. NULL: an option is no UTF-8, or the current
 * folder has no name. */
json_t *command_json(const struct session *session);

#endif
