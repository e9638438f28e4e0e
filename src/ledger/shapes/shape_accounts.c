/* shape_accounts: see shapes.h. */
#include "base/mem.h"
#include "ledger/shapes/shapes.h"

#include <stdlib.h>
#include <string.h>

struct payer {
    size_t bytes;
    size_t n_charges;
    UT_hash_handle hh;
    char namespace_[];
};

struct charge_key {
    const struct payer *payer;
    const struct shape_entry *shape;
};

struct charge {
    struct charge_key key;
    size_t users;
    UT_hash_handle hh;
};

static struct payer *find_payer(const struct shape_accounts *accounts, const char *namespace_)
{
    struct payer *payer = NULL;
    HASH_FIND_STR(accounts->payers, namespace_, payer);
    return payer;
}

static struct charge *find_charge(const struct shape_accounts *accounts, const struct payer *payer,
                                  const struct shape_entry *shape)
{
    struct charge *charge = NULL;
    const struct charge_key key = {payer, shape};
    HASH_FIND(hh, accounts->charges, &key, sizeof key, charge);
    return charge;
}

size_t shape_accounts_kept(const struct shape_accounts *accounts, const char *namespace_)
{
    const struct payer *payer = find_payer(accounts, namespace_);
    return payer ? payer->bytes : 0;
}

bool shape_accounts_may_add(const struct shape_accounts *accounts, const char *namespace_,
                            size_t bytes, size_t total_bytes, size_t max_bytes)
{
    const size_t left = max_bytes > total_bytes ? max_bytes - total_bytes : 0;
    return shape_accounts_kept(accounts, namespace_) + bytes <= left;
}

bool shape_accounts_may_have(const struct shape_accounts *accounts, const char *namespace_,
                             const struct shape_entry *shape, size_t total_bytes, size_t max_bytes)
{
    const struct payer *payer = find_payer(accounts, namespace_);
    if (payer && find_charge(accounts, payer, shape))
        return true;
    return shape_accounts_may_add(accounts, namespace_, shape->bytes, total_bytes, max_bytes);
}

static struct payer *find_or_add_payer(struct shape_accounts *accounts, const char *namespace_)
{
    struct payer *payer = find_payer(accounts, namespace_);
    if (payer)
        return payer;
    payer = MEM_NEW_WITH_TEXT(struct payer, namespace_, namespace_);
    HASH_ADD_STR(accounts->payers, namespace_, payer);
    return payer;
}

void shape_accounts_add(struct shape_accounts *accounts, const char *namespace_, size_t bytes)
{
    struct payer *payer = find_or_add_payer(accounts, namespace_);
    payer->bytes += bytes;
    payer->n_charges++;
}

void shape_accounts_subtract(struct shape_accounts *accounts, const char *namespace_, size_t bytes)
{
    struct payer *payer = find_payer(accounts, namespace_);
    payer->bytes -= bytes;
    if (--payer->n_charges > 0)
        return;
    HASH_DEL(accounts->payers, payer);
    free(payer);
}

void shape_accounts_charge(struct shape_accounts *accounts, const char *namespace_,
                           const struct shape_entry *shape)
{
    struct payer *payer = find_or_add_payer(accounts, namespace_);
    struct charge *charge = find_charge(accounts, payer, shape);
    if (!charge) {
        charge = MEM_NEW(struct charge);
        charge->key = (struct charge_key){payer, shape};
        HASH_ADD(hh, accounts->charges, key, sizeof charge->key, charge);
        shape_accounts_add(accounts, namespace_, shape->bytes);
    }
    charge->users++;
}

void shape_accounts_release(struct shape_accounts *accounts, const char *namespace_,
                            const struct shape_entry *shape)
{
    struct payer *payer = find_payer(accounts, namespace_);
    struct charge *charge = find_charge(accounts, payer, shape);
    if (--charge->users > 0)
        return;
    HASH_DEL(accounts->charges, charge);
    free(charge);
    shape_accounts_subtract(accounts, namespace_, shape->bytes);
}
