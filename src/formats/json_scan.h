/*
 * json_scan: a validating byte machine for JSON (RFC 8259) whose input may be cut anywhere.
 *
 * It stores nothing of the text. Where keys and values begin and end is told only down to a depth
 * that the caller sets; below it the bytes are judged at full speed. Stricter than the RFC as
 * jansson is: no lone surrogates. Numbers that are too large and keys that come twice
 * are not its business.
 */
#ifndef FORMATS_JSON_SCAN_H
#define FORMATS_JSON_SCAN_H

#include "base/err.h"
#include "formats/json_stream.h"

#include <stdbool.h>
#include <stdint.h>

enum json_scan_shape {
    SCAN_OBJECTS, /* objects one after another, white space between */
    SCAN_ONE_VALUE,
};

enum json_scan_event {
    SCAN_MORE,        /* all bytes are read */
    SCAN_KEY_BEGIN,   /* a key's opening quote was read */
    SCAN_KEY_END,     /* its closing quote was read */
    SCAN_VALUE_BEGIN, /* a value's first byte was read */
    SCAN_VALUE_END,   /* its last byte was read */
    SCAN_FAULT,
};

enum json_scan_state {
    STATE_TOP, /* between the objects */
    STATE_END, /* after the one value */
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
    STATE_LOW_SURROGATE, /* a second \u has to follow */
    STATE_LITERAL,
    STATE_NUMBER,
};

/* The members are json_scan.c's, but for depth and watch_depth. */
struct json_scan {
    enum json_scan_state state;
    enum json_scan_event event;
    size_t depth;       /* open arrays and objects */
    size_t watch_depth; /* members of containers no deeper than this are told; set by the caller */
    size_t max_depth;
    char *brackets; /* of the open containers */
    const char *chunk;
    uint64_t chunk_offset; /* of the whole input */
    uint64_t line;
    uint64_t line_offset; /* where the line begins */
    uint64_t escape_offset;
    const char *literal; /* the word; what is left of it to come */
    const char *literal_rest;
    enum json_scan_state top; /* once the outermost value ended */
    int number;               /* state of the number's own machine */
    unsigned code;            /* of \uXXXX */
    unsigned n_hex;           /* digits still to come */
    unsigned n_utf8;          /* continuation bytes still to come */
    unsigned char utf8_low;   /* range of the next one */
    unsigned char utf8_high;
    bool is_key;
    bool wants_low_surrogate;
    char fault[200];
};

void json_scan_init(struct json_scan *scan, enum json_scan_shape shape, size_t max_depth);
void json_scan_fini(struct json_scan *scan);

/* The next bytes to read: one piece of the input. */
void json_scan_piece(struct json_scan *scan, const char *bytes);
/* Reads on from *at, to the next event or to the end; *at is moved to the first byte not read.
 * After SCAN_FAULT the only thing to do is json_scan_fault(). */
enum json_scan_event json_scan_run(struct json_scan *scan, const char **at, const char *end);
/* The first byte from p that a string does not hold as it is (a quote, a backslash, a control
 * character), or that is not ASCII; or the end. */
const char *json_scan_skip_plain(const char *p, const char *end);
/* All bytes of the piece are read. */
void json_scan_piece_done(struct json_scan *scan, const char *end);

/* The end of the input: SCAN_FAULT where something is open. */
enum json_scan_event json_scan_end(struct json_scan *scan);
/* -EINVAL and "LINE:COLUMN: what is wrong". */
int json_scan_fault(const struct json_scan *scan, struct err *err);

/* Of a byte of the piece that is being read. */
struct text_position json_scan_position(const struct json_scan *scan, const char *at);

#endif
