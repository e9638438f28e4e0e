/*
 * lexer: the tokens of CEL (cel-go's parser/gen/CEL.g4).
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

#endif
