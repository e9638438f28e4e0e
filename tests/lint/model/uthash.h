/*
 * uthash.h as clang-tidy sees it: the real one, with the macros that change or search a table
 * replaced by calls of functions that nobody defines.
 *
 * The analyzer follows uthash's expansions but not what keeps them together, and so finds freed and
 * NULL pointers that cannot be. An unknown function makes it assume what a reader assumes: an added
 * item is the table's, a deleted one is not in it, a search finds something or NULL. No program is
 * built with this file.
 */
#ifndef LINT_MODEL_UTHASH_H
#define LINT_MODEL_UTHASH_H

#include_next <uthash.h>

void *uthash_model_added(const void *head, const void *item);
void *uthash_model_without(const void *head, const void *item_handle);
void *uthash_model_found(const void *head, const void *key, size_t key_size);
void uthash_model_cleared(const void *head);

#undef HASH_VALUE
#define HASH_VALUE(keyptr, keylen, hashv) ((hashv) = (unsigned)(keylen))

#undef HASH_ADD_KEYPTR_BYHASHVALUE
#define HASH_ADD_KEYPTR_BYHASHVALUE(hh, head, keyptr, keylen_in, hashval, add)                     \
    ((void)(keyptr), (void)(hashval), (head) = DECLTYPE(head) uthash_model_added((head), (add)))

#undef HASH_DELETE_HH
#define HASH_DELETE_HH(hh, head, delptrhh)                                                         \
    ((head) = DECLTYPE(head) uthash_model_without((head), (delptrhh)))

#undef HASH_FIND_BYHASHVALUE
#define HASH_FIND_BYHASHVALUE(hh, head, keyptr, keylen, hashval, out)                              \
    ((void)(hashval), (out) = DECLTYPE(out) uthash_model_found((head), (keyptr), (keylen)))

#undef HASH_CLEAR
#define HASH_CLEAR(hh, head) (uthash_model_cleared(head), (head) = NULL)

#endif
