/*
 * literal: the values of number and string tokens (cel-go's parser/unescape.go).
 */
#ifndef CEL_LITERAL_H
#define CEL_LITERAL_H

#include "lexer.h"

/* Decodes the token. False, with the fault, if it is out of range or has a bad escape. */
bool cel_literal(const struct cel_token *token, bool negative, struct cel_fault *fault,
                 struct cel_value *ret);

/* Writes the code point as UTF-8; the number of bytes, 0 if it is none. */
size_t cel_utf8_put(uint32_t point, char *out);
/* Reads one code point of valid UTF-8. */
uint32_t cel_utf8_get(struct cel_text text, size_t *at);
bool cel_utf8_is_valid(struct cel_text text);
size_t cel_utf8_count(struct cel_text text);

#endif
