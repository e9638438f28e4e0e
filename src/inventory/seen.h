/*
 * seen: finds objects that a file contains twice. Private to inventory.
 */
#ifndef INVENTORY_SEEN_H
#define INVENTORY_SEEN_H

#include <stdbool.h>
#include <stddef.h>

struct seen;

struct seen *seen_new(void);
void seen_free(struct seen *seen);

/* Notes the object. `key` must be unique ("Pod default/web", "uid 12-34"); `id` is its key in the
 * ledger. Returns how often the key came before. *ret_first_id is the id of its first use,
 * borrowed. */
size_t seen_note(struct seen *seen, const char *key, const char *id, const char **ret_first_id);

#endif
