/*
 * lexer: the tokens of CEL (cel-go's parser/gen/CEL.g4) and their values; UTF-8.
 */
#ifndef CEL_LEXER_H
#define CEL_LEXER_H

#include "cel_priv.h"

enum cel_token_kind {
    T_END,
    T_IDENT,
    T_INT,
    T_UINT,
    T_DOUBLE,
    T_STRING,
    T_BYTES,
    T_OPERATOR, /* operators, brackets, and the words in, true, false, null */
    T_BAD       /* no token of CEL */
};

struct cel_token {
    enum cel_token_kind kind;
    struct cel_text text;
    size_t at;
};

struct cel_lexer {
    struct cel_text source;
    size_t at;
};

struct cel_token cel_next_token(struct cel_lexer *lexer);
bool cel_token_is(const struct cel_token *token, const char *op);

/* The values of number and string tokens (cel-go's parser/unescape.go). */

/* Decodes the token. False, with the fault, if it is out of range or has a bad escape. */
bool cel_literal(const struct cel_token *token, bool negative, struct cel_fault *fault,
                 struct cel_value *ret);

/* Reads one code point of valid UTF-8. */
uint32_t cel_utf8_get(struct cel_text text, size_t *at);
bool cel_utf8_is_valid(struct cel_text text);
size_t cel_utf8_count(struct cel_text text);

#endif
