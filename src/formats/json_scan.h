/*
 * json_scan: a validating byte machine for JSON (RFC 8259) whose input may be split anywhere.
 *
 * It stores no text. It reports begin and end of keys and values down to a depth that the caller
 * sets; below, it validates at full speed. Like jansson, it is stricter than the RFC: no lone
 * surrogates. It accepts too large numbers and duplicate keys. It counts what jansson would
 * allocate.
 */
#ifndef FORMATS_JSON_SCAN_H
#define FORMATS_JSON_SCAN_H

#include "base/err.h"
#include "base/words.h"
#include "formats/json_stream.h"
#include "json_cost.h"

#include <stdbool.h>
#include <stdint.h>

enum json_scan_shape {
    SCAN_OBJECTS, /* objects in sequence, white space between them */
    SCAN_ONE_VALUE,
};

enum json_scan_event {
    SCAN_MORE,        /* all bytes are consumed */
    SCAN_KEY_BEGIN,   /* after a key's opening quote */
    SCAN_KEY_END,     /* after its closing quote */
    SCAN_VALUE_BEGIN, /* after a value's first byte */
    SCAN_VALUE_END,   /* after its last byte */
    SCAN_FAULT,
};

enum json_scan_state {
    STATE_TOP, /* between objects */
    STATE_END, /* after the only value */
    STATE_VALUE,
    STATE_VALUE_OR_END, /* after '[' */
    STATE_KEY,
    STATE_KEY_OR_END, /* after '{' */
    STATE_COLON,
    STATE_AFTER_VALUE,
    STATE_STRING,
    STATE_UTF8,
    STATE_ESCAPE,
    STATE_HEX,
    STATE_LOW_SURROGATE, /* a second \u must follow */
    STATE_LITERAL,
    STATE_NUMBER,
};

/* Private to json_scan.c, except depth, watch_depth and cost. */
struct json_scan {
    enum json_scan_state state;
    enum json_scan_event event;
    size_t depth;       /* open arrays and objects */
    size_t watch_depth; /* set by the caller: reports members of containers down to this depth */
    size_t max_depth;
    struct json_cost cost; /* of all values and keys that have begun; see json_cost.h */
    char *brackets;        /* of open containers */
    const char *chunk;
    uint64_t chunk_offset; /* in the whole input */
    uint64_t line;
    uint64_t line_offset; /* start of the line */
    uint64_t escape_offset;
    const char *literal; /* the literal, and its rest to come */
    const char *literal_rest;
    enum json_scan_state top; /* state after the outermost value */
    int number;               /* state of the number machine */
    unsigned code;            /* of \uXXXX */
    unsigned n_hex;           /* digits to come */
    unsigned n_utf8;          /* continuation bytes to come */
    unsigned char utf8_low;   /* range of the next one */
    unsigned char utf8_high;
    bool is_key;
    bool wants_low_surrogate;
    char fault[200];
};

void json_scan_init(struct json_scan *scan, enum json_scan_shape shape, size_t max_depth);
void json_scan_fini(struct json_scan *scan);

/* Sets the next piece of input. */
void json_scan_piece(struct json_scan *scan, const char *bytes);
/* Reads from *at to the next event or to end, and moves *at to the first unread byte. After
 * SCAN_FAULT only json_scan_fault() may follow. */
enum json_scan_event json_scan_run(struct json_scan *scan, const char **at, const char *end);
/* Call when all bytes of the piece are consumed. */
void json_scan_piece_done(struct json_scan *scan, const char *end);

/* Ends the input. SCAN_FAULT: a value is incomplete. */
enum json_scan_event json_scan_end(struct json_scan *scan);
/* -EINVAL and "LINE:COLUMN: what is wrong". */
int json_scan_fault(const struct json_scan *scan, struct err *err);

/* Position of a byte in the current piece. */
struct text_position json_scan_position(const struct json_scan *scan, const char *at);

#endif
