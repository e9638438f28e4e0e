/*
 * json_stream: see include/formats/json_stream.h. A buffer collects the bytes to keep: member by
 * member where something may be dropped, else in one go. jansson reads the buffer when the object
 * is complete.
 */
#include "formats/json_stream.h"
#include "base/buf.h"
#include "base/mem.h"
#include "drop_paths.h"
#include "encoding.h"
#include "formats/json_parse.h"
#include "json_cost.h"
#include "json_scan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The counted members of an object over its budget. They are found wherever they stand, by a second
 * pass over the valid text, so the order of members changes nothing. */
struct json_kept {
    const char *const *only;                   /* paths, as in json_stream_options; NULL: none */
    const struct json_budget *budget;          /* of these members */
    const struct json_stream_options *options; /* of the stream that read the object */
};

/* The brackets that close all open containers, innermost last. */
static void find_open(const char *text, size_t len, struct buf *closers)
{
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (in_string)
            continue;
        else if (c == '{' || c == '[')
            buf_add(closers, c == '{' ? "}" : "]", 1);
        else if (c == '}' || c == ']')
            closers->len--;
    }
}

struct whole_reading {
    json_t *object;
    struct err over;
};

static int take_whole(void *context, json_t *object, struct text_position at, struct err *err)
{
    struct whole_reading *reading = context;
    if (reading->object)
        return err_set(err, EINVAL, "%zu:%zu: a second object begins here", at.line, at.column);
    reading->object = json_incref(object);
    return 0;
}

static bool take_over(void *context, const json_t *part, const struct json_over *over)
{
    struct whole_reading *reading = context;
    if (reading->object)
        return false;
    reading->object = json_deep_copy(part);
    return err_set(&reading->over, EMSGSIZE, "%s", over->why) < 0;
}

int json_stream_read(const char *text, size_t len, const struct json_stream_options *options,
                     json_t **ret_value, struct err *err)
{
    struct whole_reading reading = {.object = NULL};
    const struct json_stream_handler handler = {
        .on_envelope = take_whole, .on_large_envelope = take_over, .context = &reading};
    struct json_stream *stream = json_stream_new(options, &handler);
    int r = json_stream_feed(stream, text, len, err);
    if (r == 0)
        r = json_stream_end(stream, err);
    if (r == -ECANCELED && reading.object)
        r = 0;
    json_stream_free(stream);
    if (r < 0) {
        json_decref(reading.object);
        return r;
    }
    *ret_value = reading.object;
    return reading.over.text[0] ? err_set(err, EMSGSIZE, "%s", reading.over.text) : 0;
}

/* An object with these members; the caller's. NULL: it is over the budget, or jansson cannot read
 * it. */
static json_t *json_kept_read(const struct json_kept *kept, const char *text, size_t len)
{
    static const char *const NONE[] = {"", NULL};
    json_t *object = NULL;
    const struct json_stream_options options = {
        .only = kept->only ? kept->only : NONE,
        .object_budget = kept->budget,
        .max_object_bytes = kept->options->max_object_bytes,
        .max_depth = kept->options->max_depth,
        .json_flags = kept->options->json_flags,
    };
    if (json_stream_read(text, len, &options, &object, NULL) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* The same for the first part of an object. text ends after its '{' or after a member of it, or of
 * an object or list inside. Closes what is open. */
static json_t *json_kept_read_part(const struct json_kept *kept, const char *text, size_t len)
{
    struct buf whole;
    struct buf closers;
    buf_init(&closers, len);
    find_open(text, len, &closers);
    buf_init(&whole, len + closers.len);
    buf_add(&whole, text, len);
    while (closers.len > 0)
        buf_add(&whole, &closers.data[--closers.len], 1);
    json_t *part = json_kept_read(kept, buf_text(&whole), whole.len);
    buf_fini(&whole);
    buf_fini(&closers);
    return part;
}

/* A container read member by member: an object, the list of items, or another list whose elements
 * have members to drop. */
enum frame_kind { FRAME_OBJECT, FRAME_ITEMS, FRAME_ELEMENTS };

struct frame {
    enum frame_kind kind;
    struct drop_place place; /* inside the object, or inside each of FRAME_ELEMENTS */
};

enum member_kind { MEMBER_KEPT, MEMBER_LOOKED_INTO, MEMBER_DROPPED, MEMBER_ITEMS };

/* An object, or an item of any type, being collected. */
struct parcel {
    struct buf text;
    struct text_position at;
    struct json_cost before; /* the scan's cost where it began, and of what was cut since */
};

struct json_stream {
    struct json_stream_options options;
    struct json_stream_handler handler;
    struct json_scan scan;
    struct json_cost spent; /* by earlier texts */
    struct parcel envelope;
    struct parcel item;
    struct parcel *open; /* the one being written */
    struct frame *frames;
    size_t n_frames;
    /* The current member. */
    struct text_position key_at;
    size_t before_key; /* length of the open parcel's text */
    size_t key_begin;
    struct json_cost cost_before_key;
    struct json_cost cost_before_item;
    enum member_kind kind;
    struct drop_place inside;
    const char *copy_from; /* start of bytes to keep; NULL: none */
    bool copies_on;        /* keep from the next piece's first byte */
    bool has_items;
    bool has_documents;
    bool is_full; /* the open parcel exceeds a limit */
    bool skips;   /* skip the rest of the open parcel */
};

/* Each '.' of a path may enter an object, each '[' a list. Three more for the outer object, the
 * list of items and the item. */
static size_t frames_needed(const char *const *paths)
{
    size_t most = 0;
    for (; paths && *paths; paths++) {
        size_t n = 0;
        for (const char *p = *paths; (p = strpbrk(p, ".[")) != NULL; p++)
            n++;
        most = n > most ? n : most;
    }
    return most + 3;
}

struct json_stream *json_stream_new(const struct json_stream_options *options,
                                    const struct json_stream_handler *handler)
{
    struct json_stream *stream = MEM_NEW(struct json_stream);
    stream->options = *options;
    stream->handler = *handler;
    if (options->spent)
        stream->spent = *options->spent;
    json_scan_init(&stream->scan, SCAN_OBJECTS, options->max_depth);
    buf_init(&stream->envelope.text, options->max_object_bytes);
    buf_init(&stream->item.text, options->max_object_bytes);
    stream->frames =
        MEM_ARRAY(struct frame, frames_needed(options->only ? options->only : options->drop));
    return stream;
}

void json_stream_free(struct json_stream *stream)
{
    if (!stream)
        return;
    json_scan_fini(&stream->scan);
    buf_fini(&stream->envelope.text);
    buf_fini(&stream->item.text);
    free(stream->frames);
    free(stream);
}

/* ---- the text of a parcel ---- */

static int add(struct json_stream *stream, const char *bytes, size_t len, struct err *err)
{
    struct parcel *parcel = stream->open;
    buf_add(&parcel->text, bytes, len);
    if (!parcel->text.overflowed)
        return 0;
    stream->is_full = true;
    return err_set(err, EMSGSIZE, "%zu:%zu: the object that begins here is larger than %zu bytes",
                   parcel->at.line, parcel->at.column, stream->options.max_object_bytes);
}

static void cut(const struct json_stream *stream, size_t len)
{
    stream->open->text.len = len;
}

/* What was counted since then is not in the parcel. */
static void discount(const struct json_stream *stream, struct parcel *parcel, struct json_cost then)
{
    const struct json_cost n = json_cost_since(stream->scan.cost, then);
    parcel->before.n_values += n.n_values;
    parcel->before.n_bytes += n.n_bytes;
}

static struct json_cost cost_of(const struct json_stream *stream, const struct parcel *parcel)
{
    struct json_cost cost = json_cost_since(stream->scan.cost, parcel->before);
    cost.n_bytes += parcel->text.len;
    return cost;
}

/* Appends the bytes to keep, up to `to`, to the parcel. */
static int flush(struct json_stream *stream, const char *to, struct err *err)
{
    if (!stream->copy_from)
        return 0;
    int r = add(stream, stream->copy_from, (size_t)(to - stream->copy_from), err);
    stream->copy_from = NULL;
    return r;
}

/* ---- objects over a limit ---- */

/* False: the handler does not take it. Takes over part. */
static bool hand_over_over(const struct json_stream *stream, bool is_item, json_t *part,
                           const struct json_over *over)
{
    bool (*take)(void *, const json_t *, const struct json_over *) =
        is_item ? stream->handler.on_large_item : stream->handler.on_large_envelope;
    const bool is_taken = part && take && take(stream->handler.context, part, over);
    json_decref(part);
    return is_taken;
}

/* The object has ended. */
static bool hand_over_counted(const struct json_stream *stream, bool is_item, const struct err *why)
{
    const struct buf *text = &stream->open->text;
    struct json_budget budget = *stream->options.object_budget;
    budget.max_values *= JSON_KEPT_BUDGETS;
    const struct json_kept counted = {stream->options.keep, &budget, &stream->options};
    const struct json_kept least = {stream->options.keep_least, &JSON_ANSWER, &stream->options};
    struct json_over over = {.why = why->text, .is_counted = true};
    if (text->len == 0 || text->data[0] != '{')
        return false;
    json_t *part = stream->options.keep ? json_kept_read(&counted, text->data, text->len) : NULL;
    if (part)
        return hand_over_over(stream, is_item, part, &over);
    over.is_counted = false;
    return hand_over_over(stream, is_item, json_kept_read(&least, text->data, text->len), &over);
}

/* The object is too long. False: also if it is no object. */
static bool hand_over_part(const struct json_stream *stream, bool is_item)
{
    const struct buf *text = &stream->open->text;
    const struct json_kept least = {stream->options.keep_least, &JSON_ANSWER, &stream->options};
    struct err why;
    if (text->len == 0 || text->data[0] != '{')
        return false;
    const size_t len = stream->before_key > 0 ? stream->before_key : 1;
    (void)err_set(&why, EMSGSIZE, "is larger than %zu bytes (limits.objectBytes)",
                  stream->options.max_object_bytes);
    return hand_over_over(stream, is_item, json_kept_read_part(&least, text->data, len),
                          &(struct json_over){.why = why.text});
}

/* The scan's cost before the value that has begun with this byte. */
static struct json_cost cost_before(const struct json_stream *stream, char first)
{
    struct json_cost cost = stream->scan.cost;
    cost.n_values--;
    cost.n_bytes -= first == '{' ? JSON_COST_OBJECT : JSON_COST_LITERAL;
    return cost;
}

static void open_parcel(struct json_stream *stream, struct parcel *parcel, const char *first)
{
    buf_clear(&parcel->text);
    parcel->at = json_scan_position(&stream->scan, first);
    parcel->before = cost_before(stream, *first);
    stream->open = parcel;
    stream->before_key = 0;
}

/* Decodes the parcel. NULL and err: jansson cannot read it. */
static json_t *read_parcel(const struct json_stream *stream, const struct parcel *parcel,
                           struct err *err)
{
    json_error_t error;
    encoding_replace_nuls(parcel->text.data, parcel->text.len);
    json_t *value = json_cost_load(parcel->text.data, parcel->text.len,
                                   stream->options.json_flags | JSON_DECODE_ANY, &error);
    if (!value)
        (void)err_set(err, EINVAL, "%zu:%zu: in the object that begins here: %s", parcel->at.line,
                      parcel->at.column, error.text);
    return value;
}

static int hand_over(const struct json_stream *stream, const struct parcel *parcel,
                     int (*take)(void *, json_t *, struct text_position, struct err *),
                     struct err *err)
{
    if (!take)
        return 0;
    json_t *value = read_parcel(stream, parcel, err);
    if (!value)
        return -EINVAL;
    int r = take(stream->handler.context, value, parcel->at, err);
    json_decref(value);
    return r;
}

/* Hands over the outer object so far, closed here. */
static int hand_over_list(struct json_stream *stream, struct err *err)
{
    if (!stream->handler.on_list)
        return 0;
    int r = add(stream, "}", 1, err);
    if (r == 0)
        r = hand_over(stream, &stream->envelope, stream->handler.on_list, err);
    cut(stream, stream->before_key);
    return r;
}

/* ---- frames ---- */

static void push_frame(struct json_stream *stream, enum frame_kind kind, struct drop_place place)
{
    stream->frames[stream->n_frames++] = (struct frame){kind, place};
    stream->scan.watch_depth = stream->n_frames;
}

static int push_object(struct json_stream *stream, struct drop_place place, struct err *err)
{
    push_frame(stream, FRAME_OBJECT, place);
    return add(stream, "{", 1, err);
}

static int push_elements(struct json_stream *stream, struct drop_place place, struct err *err)
{
    place.of_elements = false;
    push_frame(stream, FRAME_ELEMENTS, place);
    return add(stream, "[", 1, err);
}

static struct drop_place root_of(const struct json_stream *stream)
{
    return stream->options.only ? drop_paths_only(stream->options.only)
                                : drop_paths_root(stream->options.drop);
}

static int begin_document(struct json_stream *stream, const char *first, struct err *err)
{
    open_parcel(stream, &stream->envelope, first);
    stream->has_items = false;
    return push_object(stream, root_of(stream), err);
}

static int begin_item(struct json_stream *stream, const char *first, struct err *err)
{
    struct drop_place root = root_of(stream);
    stream->cost_before_item = cost_before(stream, *first);
    if (!stream->handler.on_item)
        return 0;
    open_parcel(stream, &stream->item, first);
    if (*first == '{' && root.first)
        return push_object(stream, root, err);
    stream->copy_from = first;
    return 0;
}

/* Takes the object, or only its counted members. */
static int end_parcel(struct json_stream *stream, bool is_item, struct err *err)
{
    const struct json_stream_handler *handler = &stream->handler;
    const struct parcel *parcel = is_item ? &stream->item : &stream->envelope;
    struct err why;
    if (stream->skips) {
        stream->skips = false;
        return 0;
    }
    if (!stream->options.object_budget ||
        json_cost_check(cost_of(stream, parcel), stream->options.object_budget, "", &why) == 0)
        return hand_over(stream, parcel, is_item ? handler->on_item : handler->on_envelope, err);
    if (hand_over_counted(stream, is_item, &why))
        return 0;
    return err_set(err, EMSGSIZE, "%zu:%zu: the object that begins here %s", parcel->at.line,
                   parcel->at.column, why.text);
}

static int end_item(struct json_stream *stream, struct err *err)
{
    const int r = stream->handler.on_item ? end_parcel(stream, true, err) : 0;
    discount(stream, &stream->envelope, stream->cost_before_item);
    stream->open = &stream->envelope;
    stream->before_key = stream->envelope.text.len;
    return r;
}

static int end_document(struct json_stream *stream, struct err *err)
{
    stream->has_documents = true;
    return end_parcel(stream, false, err);
}

/* ---- members of a watched object ---- */

static int begin_key(struct json_stream *stream, const char *quote, struct err *err)
{
    const struct buf *text = &stream->open->text;
    stream->cost_before_key = stream->scan.cost;
    stream->cost_before_key.n_bytes -= JSON_COST_KEY;
    stream->key_at = json_scan_position(&stream->scan, quote);
    stream->before_key = text->len;
    int r = text->data[text->len - 1] == '{' ? 0 : add(stream, ",", 1, err);
    stream->key_begin = text->len;
    stream->copy_from = quote;
    return r;
}

/* The key with escapes resolved, as a JSON string; NULL: it has no escapes. */
static json_t *unescaped(const char *quoted, size_t len)
{
    if (!memchr(quoted, '\\', len))
        return NULL;
    return json_cost_load(quoted, len, JSON_DECODE_ANY, NULL);
}

static enum member_kind kind_of(struct json_stream *stream, const char *key, size_t len)
{
    static const char ITEMS[] = "items";
    struct drop_place place = stream->frames[stream->n_frames - 1].place;
    enum drop_verdict verdict = drop_paths_member(place, key, len, &stream->inside);
    if (stream->n_frames == 1 && len == sizeof ITEMS - 1 && memcmp(key, ITEMS, len) == 0)
        return MEMBER_ITEMS;
    if (verdict == DROP_MEMBER)
        return MEMBER_DROPPED;
    return verdict == DROP_BELOW ? MEMBER_LOOKED_INTO : MEMBER_KEPT;
}

static enum member_kind kind_of_quoted(struct json_stream *stream)
{
    const char *quoted = stream->open->text.data + stream->key_begin;
    size_t len = stream->open->text.len - stream->key_begin;
    json_auto_t *plain = unescaped(quoted, len);
    if (plain)
        return kind_of(stream, json_string_value(plain), json_string_length(plain));
    return kind_of(stream, quoted + 1, len - 2);
}

static int end_key(struct json_stream *stream, const char *at, struct err *err)
{
    int r = flush(stream, at, err);
    if (r < 0)
        return r;
    stream->kind = kind_of_quoted(stream);
    if (stream->kind == MEMBER_DROPPED) {
        cut(stream, stream->before_key);
        return 0;
    }
    if (stream->kind == MEMBER_ITEMS) {
        if (stream->has_items)
            return err_set(err, EINVAL, "%zu:%zu: \"items\" is here twice", stream->key_at.line,
                           stream->key_at.column);
        stream->has_items = true;
    }
    return add(stream, ":", 1, err);
}

/* Starts an element of a list with members to drop. */
static int begin_element(struct json_stream *stream, const char *first, struct err *err)
{
    const struct buf *text = &stream->open->text;
    int r = text->data[text->len - 1] == '[' ? 0 : add(stream, ",", 1, err);
    if (r == 0 && *first == '{')
        return push_object(stream, stream->frames[stream->n_frames - 1].place, err);
    stream->copy_from = first;
    return r;
}

static int begin_member(struct json_stream *stream, const char *first, struct err *err)
{
    if (stream->kind == MEMBER_ITEMS && *first == '[') {
        cut(stream, stream->before_key);
        push_frame(stream, FRAME_ITEMS, (struct drop_place){.first = NULL});
        return hand_over_list(stream, err);
    }
    if (stream->kind == MEMBER_LOOKED_INTO && *first == (stream->inside.of_elements ? '[' : '{'))
        return stream->inside.of_elements ? push_elements(stream, stream->inside, err)
                                          : push_object(stream, stream->inside, err);
    if (stream->kind != MEMBER_DROPPED)
        stream->copy_from = first;
    return 0;
}

/* ---- events ---- */

static int begin_value(struct json_stream *stream, const char *first, struct err *err)
{
    if (stream->n_frames == 0)
        return begin_document(stream, first, err);
    switch (stream->frames[stream->n_frames - 1].kind) {
    case FRAME_ITEMS:
        return begin_item(stream, first, err);
    case FRAME_ELEMENTS:
        return begin_element(stream, first, err);
    case FRAME_OBJECT:
        break;
    }
    return begin_member(stream, first, err);
}

/* With the options' ends_early. Closes what is open. */
static int end_here(struct json_stream *stream, struct err *err)
{
    const struct buf *text = &stream->open->text;
    const struct json_kept read = {stream->options.only, &JSON_OWN, &stream->options};
    json_t *part = json_kept_read_part(&read, text->data, text->len);
    const int r =
        part ? stream->handler.on_envelope(stream->handler.context, part, stream->open->at, err)
             : -EINVAL;
    json_decref(part);
    return r < 0 ? r : -ECANCELED;
}

static int pop_frame(struct json_stream *stream, struct err *err)
{
    const struct frame *frame = &stream->frames[--stream->n_frames];
    stream->scan.watch_depth = stream->n_frames;
    if (frame->kind == FRAME_ITEMS)
        return 0;
    int r = add(stream, frame->kind == FRAME_ELEMENTS ? "]" : "}", 1, err);
    return r == 0 && stream->options.ends_early && stream->n_frames > 0 ? end_here(stream, err) : r;
}

static int end_value(struct json_stream *stream, const char *at, struct err *err)
{
    int r = flush(stream, at, err);
    if (stream->kind == MEMBER_DROPPED) {
        discount(stream, stream->open, stream->cost_before_key);
        stream->kind = MEMBER_KEPT;
    }
    if (r == 0 && stream->scan.depth < stream->n_frames)
        r = pop_frame(stream, err);
    if (r < 0)
        return r;
    if (stream->n_frames == 0)
        return end_document(stream, err);
    const bool ends_item = stream->frames[stream->n_frames - 1].kind == FRAME_ITEMS;
    return ends_item ? end_item(stream, err) : 0;
}

/* From now on the scan reports only the object's end, which this event may be. */
static int skip_rest(struct json_stream *stream, enum json_scan_event event, struct err *err)
{
    const bool is_item = stream->open == &stream->item;
    stream->is_full = false;
    if (!hand_over_part(stream, is_item))
        return -EMSGSIZE;
    if (err)
        err->text[0] = '\0';
    stream->copy_from = NULL;
    stream->skips = true;
    stream->kind = MEMBER_KEPT;
    stream->n_frames = is_item ? 2 : 0;
    stream->scan.watch_depth = stream->n_frames;
    if (event == SCAN_FAULT)
        return json_scan_fault(&stream->scan, err);
    if (event != SCAN_VALUE_END || stream->scan.depth > stream->n_frames)
        return 0;
    return is_item ? end_item(stream, err) : end_document(stream, err);
}

/* An object over the limit is reported before the fault, wherever the pieces are split. */
static int end_at_fault(struct json_stream *stream, const char *at, struct err *err)
{
    int r = flush(stream, at, err);
    return r < 0 ? r : json_scan_fault(&stream->scan, err);
}

static int on_event(struct json_stream *stream, enum json_scan_event event, const char *at,
                    struct err *err)
{
    switch (event) {
    case SCAN_KEY_BEGIN:
        return begin_key(stream, at - 1, err);
    case SCAN_KEY_END:
        return end_key(stream, at, err);
    case SCAN_VALUE_BEGIN:
        return begin_value(stream, at - 1, err);
    case SCAN_VALUE_END:
        return end_value(stream, at, err);
    case SCAN_FAULT:
        return end_at_fault(stream, at, err);
    case SCAN_MORE:
        break;
    }
    return 0;
}

/* At the end of a piece: an object that nobody takes need not end. */
static int check_budgets(const struct json_stream *stream, struct err *err)
{
    const struct json_stream_options *options = &stream->options;
    const struct json_cost all = {stream->spent.n_values + stream->scan.cost.n_values,
                                  stream->spent.n_bytes + stream->scan.cost.n_bytes +
                                      (size_t)stream->scan.chunk_offset};
    if (options->spent)
        *options->spent = all;
    int r = options->budget ? json_cost_check(all, options->budget, "the text ", err) : 0;
    const bool is_item = stream->open == &stream->item;
    if (r < 0 || !stream->open || stream->skips || !options->object_budget ||
        (is_item ? stream->handler.on_large_item : stream->handler.on_large_envelope))
        return r;
    r = json_cost_check(cost_of(stream, stream->open), options->object_budget, "", err);
    if (r < 0)
        err_prefix(err, "%zu:%zu: the object that begins here ", stream->open->at.line,
                   stream->open->at.column);
    return r;
}

int json_stream_feed(struct json_stream *stream, const char *bytes, size_t len, struct err *err)
{
    if (len == 0)
        return 0;
    const char *at = bytes;
    const char *end = bytes + len;
    int r = 0;
    if (stream->copies_on)
        stream->copy_from = bytes;
    json_scan_piece(&stream->scan, bytes);
    while (r == 0 && at < end) {
        enum json_scan_event event = json_scan_run(&stream->scan, &at, end);
        r = on_event(stream, event, at, err);
        if (r < 0 && stream->is_full)
            r = skip_rest(stream, event, err);
    }
    stream->copies_on = stream->copy_from != NULL;
    if (r == 0)
        r = flush(stream, end, err);
    if (r < 0 && stream->is_full) {
        stream->copies_on = false;
        r = skip_rest(stream, SCAN_MORE, err);
    }
    json_scan_piece_done(&stream->scan, end);
    return r < 0 ? r : check_budgets(stream, err);
}

bool json_stream_is_between(const struct json_stream *stream)
{
    return stream->scan.state == STATE_TOP;
}

int json_stream_end(struct json_stream *stream, struct err *err)
{
    if (json_scan_end(&stream->scan) == SCAN_FAULT)
        return json_scan_fault(&stream->scan, err);
    if (!stream->has_documents)
        return err_set(err, EINVAL, "1:1: the text is empty, should be a JSON object");
    return 0;
}
