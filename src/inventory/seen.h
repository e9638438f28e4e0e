/*
 * seen: which objects a file has had, to find those that are there twice. Private to inventory.
 */
#ifndef INVENTORY_SEEN_H
#define INVENTORY_SEEN_H

#include <stdbool.h>
#include <stddef.h>

struct seen;

struct seen *seen_new(void);
void seen_free(struct seen *seen);

/* Notes the object. `key` says what must be there only once ("Pod default/web", "uid 12-34"); `id`
 * is what it is kept under in the ledger. How often the key came before; *ret_first_id is the id it
 * came with first, borrowed. */
size_t seen_note(struct seen *seen, const char *key, const char *id, const char **ret_first_id);

#endif
