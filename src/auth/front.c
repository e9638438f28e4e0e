/* front: see include/auth/front.h. */
#include "auth/front.h"
#include "base/base64.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "review.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONFIG_MAP "extension-apiserver-authentication"
#define MASTERS "system:masters"

/* Arrays of strings, in the order of LISTS. */
enum { ALLOWED_NAMES, USER_HEADERS, UID_HEADERS, GROUP_HEADERS, EXTRA_PREFIXES, N_LISTS };

static const char *const LISTS[N_LISTS] = {
    "requestheader-allowed-names", "requestheader-username-headers", "requestheader-uid-headers",
    "requestheader-group-headers", "requestheader-extra-headers-prefix"};

struct front {
    struct tls *tls;
    bool is_listed; /* by the list in progress; on the reflector's thread */
    struct mutex lock;
    json_t *lists; /* array of N_LISTS arrays; NULL: nobody is trusted. Replaced, never changed */
};

struct front *front_new(struct tls *tls)
{
    struct front *front = MEM_NEW(struct front);
    front->tls = tls;
    mutex_init(&front->lock);
    return front;
}

void front_free(struct front *front)
{
    if (!front)
        return;
    json_decref(front->lists);
    mutex_fini(&front->lock);
    free(front);
}

/* ---- the ConfigMap ---- */

static json_t *read_list(const json_t *data, const char *key)
{
    const char *text = "[]";
    size_t i = 0;
    const json_t *item = NULL;
    if (json_get_string(data, key, &text, NULL) < 0)
        return NULL;
    json_t *list = NULL;
    (void)json_parse(text, strlen(text), 0, &JSON_ANSWER, &list, NULL);
    bool is_list = json_is_array(list);
    json_array_foreach (list, i, item)
        is_list = is_list && json_string_length(item) > 0;
    if (is_list)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *read_lists(const json_t *data)
{
    json_t *lists = json_array();
    for (size_t i = 0; i < N_LISTS; i++) {
        json_t *list = read_list(data, LISTS[i]);
        if (!list) {
            json_decref(lists);
            return NULL;
        }
        (void)json_array_append_new(lists, list);
    }
    if (json_array_size(json_array_get(lists, USER_HEADERS)) > 0)
        return lists;
    json_decref(lists);
    return NULL;
}

/* Takes the lists over. No request may see the new authorities with the old names: nobody is
 * trusted in between. */
static bool put_in_force(struct front *front, json_t *lists, const struct buf *authorities,
                         struct err *err)
{
    mutex_lock(&front->lock);
    json_t *old = front->lists;
    front->lists = NULL;
    mutex_unlock(&front->lock);
    json_decref(old);
    if (tls_trust_front(front->tls, authorities, err) < 0) {
        json_decref(lists);
        return false;
    }
    mutex_lock(&front->lock);
    front->lists = lists;
    mutex_unlock(&front->lock);
    return true;
}

static void distrust(struct front *front)
{
    (void)put_in_force(front, NULL, NULL, NULL);
}

static void take(struct front *front, const json_t *data)
{
    const char *pem = "";
    struct err err = {.text = "its requestheader members cannot be read, or are missing"};
    json_t *lists = read_lists(data);
    struct buf authorities;
    buf_init(&authorities, BUF_UNBOUNDED); /* an object of the API server is bounded */
    (void)json_get_string(data, "requestheader-client-ca-file", &pem, NULL);
    buf_add_text(&authorities, pem);
    const bool is_taken = lists && put_in_force(front, lists, &authorities, &err);
    buf_fini(&authorities);
    if (is_taken) {
        LOG(LOG_INFO, "front", LOG_MSG("the front proxy's authorities were read"));
        return;
    }
    distrust(front);
    LOG(LOG_WARN, "front",
        LOG_MSG("the ConfigMap " CONFIG_MAP " is unusable: requests for /apis get 401"),
        LOG_STR("err", err.text));
}

static void on_list_begin(void *context)
{
    struct front *front = context;
    front->is_listed = false;
}

static void on_upsert(void *context, const json_t *object)
{
    struct front *front = context;
    const char *name = "";
    (void)json_get_string(json_member(object, "metadata"), "name", &name, NULL);
    if (strcmp(name, CONFIG_MAP) != 0)
        return;
    front->is_listed = true;
    take(front, json_member(object, "data"));
}

static void on_list_end(void *context)
{
    struct front *front = context;
    if (front->is_listed)
        return;
    distrust(front);
    LOG(LOG_WARN, "front",
        LOG_MSG("there is no ConfigMap " CONFIG_MAP ": requests for /apis get 401"));
}

static void on_removed(void *context, const json_t *object)
{
    struct front *front = context;
    (void)object;
    front->is_listed = false;
    on_list_end(front);
}

static void on_too_large(void *context, const json_t *part, const struct json_over *over)
{
    (void)over;
    on_removed(context, part);
}

static void on_flush(void *context, const struct reflector_status *status)
{
    (void)context;
    if (status->why && status->is_news)
        LOG(LOG_WARN, "front", LOG_MSG("the ConfigMap " CONFIG_MAP " cannot be followed"),
            LOG_STR("err", status->why));
}

struct reflector_store front_store(struct front *front)
{
    return (struct reflector_store){.list_begin = on_list_begin,
                                    .upsert = on_upsert,
                                    .too_large = on_too_large,
                                    .list_end = on_list_end,
                                    .removed = on_removed,
                                    .flush = on_flush,
                                    .context = front};
}

/* ---- the headers ---- */

struct header_reading {
    const json_t *lists;
    json_t *name, *uid, *groups, *extra;
    const char *fault;
};

static bool names(const struct header_reading *reading, size_t list, const char *header)
{
    size_t i = 0;
    const json_t *item = NULL;
    json_array_foreach (json_array_get(reading->lists, list), i, item) {
        if (strcasecmp(json_string_value(item), header) == 0)
            return true;
    }
    return false;
}

/* The rest of the header's name; NULL: it has none of the prefixes. */
static const char *after_prefix(const struct header_reading *reading, const char *header)
{
    size_t i = 0;
    const json_t *item = NULL;
    json_array_foreach (json_array_get(reading->lists, EXTRA_PREFIXES), i, item) {
        const size_t len = json_string_length(item);
        if (strncasecmp(json_string_value(item), header, len) == 0 && header[len])
            return header + len;
    }
    return NULL;
}

static void read_once(struct header_reading *reading, json_t **at, const char *value)
{
    if (*at)
        reading->fault = "a header of the front proxy is given twice";
    else if (*value)
        *at = json_string(value);
}

/* In lower case, with %XX decoded. */
static void add_extra(struct header_reading *reading, const char *name, const char *value)
{
    struct buf key;
    buf_init(&key, BUF_UNBOUNDED); /* part of a bounded header */
    while (*name) {
        const int high = *name == '%' ? hex_digit(name[1]) : -1;
        int low = high >= 0 ? hex_digit(name[2]) : -1;
        if (high + low == 0) /* %00 would end the string */
            low = -1;
        const char c = (char)(low >= 0 ? high * 16 + low : tolower((unsigned char)*name));
        buf_add(&key, &c, 1);
        name += low >= 0 ? 3 : 1;
    }
    if (!json_object_get(reading->extra, buf_text(&key)))
        (void)json_object_set_new(reading->extra, buf_text(&key), json_array());
    json_t *values = json_object_get(reading->extra, buf_text(&key));
    if (json_array_append_new(values, json_string(value)) < 0)
        reading->fault = "a header of the front proxy is not UTF-8";
    buf_fini(&key);
}

static void read_header(void *context, const char *name, const char *value)
{
    struct header_reading *reading = context;
    const char *extra = after_prefix(reading, name);
    if (names(reading, USER_HEADERS, name))
        read_once(reading, &reading->name, value);
    else if (names(reading, UID_HEADERS, name))
        read_once(reading, &reading->uid, value);
    else if (names(reading, GROUP_HEADERS, name) &&
             json_array_append_new(reading->groups, json_string(value)) < 0)
        reading->fault = "a header of the front proxy is not UTF-8";
    else if (extra)
        add_extra(reading, extra, value);
}

static void add_member(struct buf *out, const char *name, const json_t *value)
{
    if (!value)
        return;
    buf_add_text(out, name);
    json_put(value, JSON_COMPACT | JSON_SORT_KEYS, out);
}

static bool has_masters(const json_t *groups)
{
    size_t i = 0;
    const json_t *group = NULL;
    json_array_foreach (groups, i, group) {
        if (strcmp(json_string_value(group), MASTERS) == 0)
            return true;
    }
    return false;
}

static const struct front_user *user_of(struct header_reading *reading, struct arena *arena)
{
    struct buf members;
    buf_init(&members, REVIEW_USER_BYTES_MAX);
    if (!reading->fault && json_string_length(reading->name) == 0)
        reading->fault = "the front proxy names no user";
    add_member(&members, "\"user\":", reading->name);
    add_member(&members, ",\"groups\":", reading->groups);
    add_member(&members, ",\"uid\":", reading->uid);
    add_member(&members, ",\"extra\":", reading->extra);
    if (members.overflowed)
        reading->fault = "the front proxy's headers are too large";
    struct front_user *user = NULL;
    if (!reading->fault) {
        user = ARENA_NEW(arena, struct front_user);
        user->name = arena_strdup(arena, json_string_value(reading->name));
        user->members = arena_strdup(arena, buf_text(&members));
        user->caller = review_caller(user->name, reading->groups);
        user->is_master = has_masters(reading->groups);
    }
    buf_fini(&members);
    return user;
}

static const struct front_user *read_user(const json_t *lists, struct exchange *exchange,
                                          const char **ret_fault)
{
    struct header_reading reading = {
        .lists = lists, .groups = json_array(), .extra = json_object()};
    exchange_each_header(exchange, read_header, &reading);
    const struct front_user *user = user_of(&reading, exchange_arena(exchange));
    *ret_fault = reading.fault;
    json_decref(reading.name);
    json_decref(reading.uid);
    json_decref(reading.groups);
    json_decref(reading.extra);
    return user;
}

/* An empty list allows every name. */
static bool is_allowed(const json_t *lists, const struct exchange_peer *peer)
{
    size_t i = 0;
    const json_t *item = NULL;
    const json_t *allowed = json_array_get(lists, ALLOWED_NAMES);
    json_array_foreach (allowed, i, item) {
        if (strcmp(json_string_value(item), peer->common_name) == 0)
            return true;
    }
    return json_array_size(allowed) == 0;
}

const struct front_user *front_user(struct front *front, struct exchange *exchange,
                                    const char **ret_fault)
{
    /* Within the lock: put_in_force() has no lists in force while it replaces the authorities. */
    mutex_lock(&front->lock);
    json_t *lists = json_incref(front->lists);
    const struct exchange_peer *peer = lists ? exchange_front(exchange, ret_fault) : NULL;
    mutex_unlock(&front->lock);
    const struct front_user *user = NULL;
    if (!lists)
        *ret_fault =
            "the front proxy's authorities are not known (ConfigMap " CONFIG_MAP " in kube-system)";
    else if (!peer)
        *ret_fault = "the certificate is not a front proxy's: requests for this path must come "
                     "through the API server";
    else if (!is_allowed(lists, peer))
        *ret_fault = "the certificate's common name is not among requestheader-allowed-names";
    else
        user = read_user(lists, exchange, ret_fault);
    json_decref(lists);
    return user;
}
