/*
 * yaml_build: builds JSON values from YAML events: tags, merges, anchors, aliases, limits.
 *
 * Aliases share the anchor's value, and their expanded size counts. The handler gets the members of
 * a document's "items" one at a time. yaml_json.c separates documents.
 */
#ifndef FORMATS_YAML_BUILD_H
#define FORMATS_YAML_BUILD_H

#include "formats/yaml_json.h"
#include "yaml_source.h"

struct yaml_build;

/* Borrows all arguments. handler and places may be NULL: items are not streamed, places not
 * recorded. */
struct yaml_build *yaml_build_new(struct yaml_source *source, const struct yaml_options *options,
                                  const struct json_stream_handler *handler,
                                  struct yaml_places *places) __attribute__((returns_nonnull));
void yaml_build_free(struct yaml_build *build);

/* Reads a document to its SOURCE_DOCUMENT_END; its SOURCE_DOCUMENT_BEGIN was read before. *ret_root
 * is the caller's; it lacks "items" that the handler got. */
int yaml_build_document(struct yaml_build *build, json_t **ret_root, struct text_position *ret_at,
                        struct err *err);
/* Hands over the object that was read last, to the handler of items or of envelopes, or as a large
 * one. */
int yaml_build_hand_over(struct yaml_build *build, json_t *object, struct text_position at,
                         struct err *err);

#endif
