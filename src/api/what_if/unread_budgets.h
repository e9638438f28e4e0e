/*
 * unread_budgets: which PodDisruptionBudgets the ledger may lack, and why. Private to api.
 */
#ifndef API_WHAT_IF_UNREAD_BUDGETS_H
#define API_WHAT_IF_UNREAD_BUDGETS_H

#include "api/what_if/met_budgets.h"
#include "inventory/inventory.h"

/* Why the ledger may lack any; NULL: it lacks none but those of unread_budgets_add(). */
const char *unread_budgets_why(struct inventory *inventory, struct arena *arena);
/* Adds those that could not be read. */
void unread_budgets_add(struct inventory *inventory, struct met_budgets *budgets);

#endif
