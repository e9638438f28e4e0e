/*
 * yaml_build: JSON values out of YAML's events: tags, merges, anchors and aliases, limits.
 *
 * Aliases share the anchor's value (nothing is copied); what they would expand to is counted. The
 * members of a document's "items" go to the handler one at a time. Documents are cut in
 * yaml_json.c.
 */
#ifndef FORMATS_YAML_BUILD_H
#define FORMATS_YAML_BUILD_H

#include "formats/yaml_json.h"
#include "yaml_source.h"

struct yaml_build;

/* All is borrowed. handler and places may be NULL: no streaming of items, no places. */
struct yaml_build *yaml_build_new(struct yaml_source *source, const struct yaml_options *options,
                                  const struct json_stream_handler *handler,
                                  struct yaml_places *places) __attribute__((returns_nonnull));
void yaml_build_free(struct yaml_build *build);

/* One document, whose SOURCE_DOCUMENT_BEGIN was just read, to its SOURCE_DOCUMENT_END. *ret_root is
 * the caller's; without "items" where these were handed over. */
int yaml_build_document(struct yaml_build *build, json_t **ret_root, struct text_position *ret_at,
                        struct err *err);

#endif
