/*
 * shape_accounts: counts the bytes of shapes per namespace and limits them. Private to ledger.
 *
 * A shape that pods of two namespaces share is kept once and charged to both. A namespace may add a
 * shape if its own total, with that shape, does not exceed what then remains free. So one namespace
 * gets at most half of the sum, and n namespaces 1/(n + 1) each. As much always remains for later
 * ones. Source: A. K. Choudhury, E. L. Hahne: Dynamic queue length thresholds for shared-memory
 * packet switches (IEEE/ACM Transactions on Networking 6, 1998), alpha = 1.
 */
#ifndef LEDGER_SHAPES_SHAPE_ACCOUNTS_H
#define LEDGER_SHAPES_SHAPE_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>

struct payer;
struct charge;
struct shape_entry;

struct shape_accounts {
    struct payer *payers;   /* namespaces with any shape */
    struct charge *charges; /* users per namespace and shape */
};

/* Whether the namespace already has the shape or may add it. total_bytes: of all shapes, this one
 * included, out of max_bytes. */
bool shape_accounts_may_have(const struct shape_accounts *accounts, const char *namespace_,
                             const struct shape_entry *shape, size_t total_bytes, size_t max_bytes);
/* The same for a new shape of that size. */
bool shape_accounts_may_add(const struct shape_accounts *accounts, const char *namespace_,
                            size_t bytes, size_t total_bytes, size_t max_bytes);
/* Adds or subtracts one user in the namespace. */
void shape_accounts_charge(struct shape_accounts *accounts, const char *namespace_,
                           const struct shape_entry *shape);
void shape_accounts_release(struct shape_accounts *accounts, const char *namespace_,
                            const struct shape_entry *shape);
/* Adds or subtracts bytes of one thing that only this namespace has. */
void shape_accounts_add(struct shape_accounts *accounts, const char *namespace_, size_t bytes);
void shape_accounts_subtract(struct shape_accounts *accounts, const char *namespace_, size_t bytes);
/* Bytes of the namespace's shapes. */
size_t shape_accounts_kept(const struct shape_accounts *accounts, const char *namespace_);

#endif
