/*
 * shape_accounts: who keeps how many bytes of shapes, and who may keep more. Private to ledger.
 *
 * A shape that pods of two namespaces have is kept once, and counts for both. A namespace may take
 * on a shape while all that it keeps, with the new one, is no more than what then stays free. So
 * one namespace gets half of the sum at most, n of them 1/(n + 1) each, and as much is always left
 * for those that come later. Source: A. K. Choudhury, E. L. Hahne: Dynamic queue length thresholds
 * for shared-memory packet switches (IEEE/ACM Transactions on Networking 6, 1998), alpha = 1.
 */
#ifndef LEDGER_SHAPE_ACCOUNTS_H
#define LEDGER_SHAPE_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>

struct payer;
struct charge;
struct shape_entry;

struct shape_accounts {
    struct payer *payers;   /* namespaces that keep any */
    struct charge *charges; /* which shapes they have, and how often */
};

/* Whether the namespace has the shape already, or may take it on. total_bytes: of all shapes, with
 * this one, of max_bytes. */
bool shape_accounts_may_have(const struct shape_accounts *accounts, const char *namespace_,
                             const struct shape_entry *shape, size_t total_bytes, size_t max_bytes);
/* The same for one that nobody has, of so many bytes. */
bool shape_accounts_may_add(const struct shape_accounts *accounts, const char *namespace_,
                            size_t bytes, size_t total_bytes, size_t max_bytes);
/* One more user, or one less, in the namespace. */
void shape_accounts_charge(struct shape_accounts *accounts, const char *namespace_,
                           const struct shape_entry *shape);
void shape_accounts_release(struct shape_accounts *accounts, const char *namespace_,
                            const struct shape_entry *shape);
/* Bytes of the shapes that the namespace has. */
size_t shape_accounts_kept(const struct shape_accounts *accounts, const char *namespace_);

#endif
