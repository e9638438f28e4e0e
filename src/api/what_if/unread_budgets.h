/*
 * unread_budgets: which PodDisruptionBudgets the ledger may lack, and why. Private to api.
 */
#ifndef API_WHAT_IF_UNREAD_BUDGETS_H
#define API_WHAT_IF_UNREAD_BUDGETS_H

#include "api/what_if/met_budgets.h"
#include "inventory/inventory.h"

/* Returns why the ledger may lack budgets; NULL: at most those of unread_budgets_add(). */
const char *unread_budgets_why(struct inventory *inventory, struct arena *arena);
/* Adds the budgets that could not be read. */
void unread_budgets_add(struct inventory *inventory, struct met_budgets *budgets);

#endif
