/*
 * yaml_keys: a stack of the open mappings' keys, with their positions.
 */
#ifndef FORMATS_YAML_KEYS_H
#define FORMATS_YAML_KEYS_H

#include "formats/json_stream.h"

struct seen_key {
    char *text;
    struct text_position at;
};

struct yaml_keys;

struct yaml_keys *yaml_keys_new(void) __attribute__((returns_nonnull));
void yaml_keys_free(struct yaml_keys *keys);

/* Takes over the key's text. */
void yaml_keys_push(struct yaml_keys *keys, struct seen_key key);
size_t yaml_keys_count(const struct yaml_keys *keys);
/* Valid until the next push. */
const struct seen_key *yaml_keys_at(const struct yaml_keys *keys, size_t index)
    __attribute__((returns_nonnull));
void yaml_keys_truncate(struct yaml_keys *keys, size_t count);

/* -EINVAL: the last key already occurs at index first or later. */
int yaml_keys_refuse_second(const struct yaml_keys *keys, size_t first, struct err *err);

/* The key text of a scalar, as in sigs.k8s.io/yaml: yes is "true", 0x10 is "16". The caller frees
 * it; NULL: the value cannot be a key. */
char *yaml_keys_text(const json_t *value);

#endif
