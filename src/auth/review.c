/* review: see review.h. */
#include "review.h"
#include "auth/auth.h"
#include "base/buf.h"
#include "base/mem.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SCHEME "Bearer "

static bool may_be_in_token(char c)
{
    return c > ' ' && c <= '~' && c != '"' && c != '\\';
}

bool bearer_read(const char *authorization, struct bearer *ret_bearer)
{
    if (strncasecmp(authorization, SCHEME, strlen(SCHEME)) != 0)
        return false;
    const char *token = authorization + strlen(SCHEME);
    token += strspn(token, " ");
    size_t len = 0;
    while (may_be_in_token(token[len]))
        len++;
    if (len == 0 || token[len + strspn(token + len, " ")])
        return false;
    *ret_bearer = (struct bearer){token, len};
    return true;
}

#define TOKEN_MEMBER "\"token\":\""
#define BEFORE_TOKEN                                                                               \
    "{\"apiVersion\":\"authentication.k8s.io/"                                                     \
    "v1\",\"kind\":\"TokenReview\",\"spec\":{" TOKEN_MEMBER
#define AFTER_TOKEN "\"}}"

void review_user_fini(struct review_user *user)
{
    free(user->name);
    free(user->members);
    *user = (struct review_user){0};
}

uint64_t review_caller(const char *name, const json_t *groups)
{
    const size_t n = json_array_size(groups);
    const char **names CLEANUP(mem_free_ptr) = MEM_ARRAY(const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        names[i] = json_string_value(json_array_get(groups, i));
    names[n] = NULL;
    return auth_caller_of(name, names);
}

/* ---- requests ---- */

/* Allocated in full: growing would leave copies behind. */
char *review_token_body(const struct bearer *bearer)
{
    const size_t size = sizeof BEFORE_TOKEN + bearer->len + sizeof AFTER_TOKEN;
    char *body = mem_new(size);
    (void)snprintf(body, size, "%s%.*s%s", BEFORE_TOKEN, (int)bearer->len, bearer->token,
                   AFTER_TOKEN);
    return body;
}

void review_wipe(char *body)
{
    explicit_bzero(body, strlen(body));
    free(body);
}

char *review_access_body(const struct review_user *user, const char *verb, const char *path)
{
    struct buf body;
    buf_init(&body, BUF_UNBOUNDED); /* the user and a request's path are bounded */
    buf_add_text(&body, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":"
                        "\"SubjectAccessReview\",\"spec\":{");
    buf_add_text(&body, user->members);
    buf_add_text(&body, ",\"nonResourceAttributes\":{\"path\":");
    buf_add_quoted(&body, path);
    buf_add_text(&body, ",\"verb\":");
    buf_add_quoted(&body, verb);
    buf_add_text(&body, "}}}");
    return buf_take(&body);
}

char *review_resource_body(const char *members, const char *attributes)
{
    struct buf body;
    buf_init(&body, BUF_UNBOUNDED); /* both are bounded */
    buf_printf(&body,
               "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\","
               "\"spec\":{%s,\"resourceAttributes\":%s}}",
               members, attributes);
    return buf_take(&body);
}

/* ---- answers ---- */

__attribute__((format(printf, 2, 3))) static enum review_result fail(char *why, const char *format,
                                                                     ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, REVIEW_WHY_SIZE, format, args);
    va_end(args);
    return REVIEW_FAILED;
}

static bool is_answer(const struct kube_answer *answer, char *why)
{
    if (answer->outcome != KUBE_ANSWERED) {
        (void)fail(why, "%s", answer->why);
        return false;
    }
    if (answer->status == 403) {
        (void)fail(why, "403: this service's account may not create the review; bind the "
                        "ClusterRole system:auth-delegator to it");
        return false;
    }
    if (answer->status < 200 || answer->status >= 300) {
        (void)fail(why, "the API server answered %u", answer->status);
        return false;
    }
    return true;
}

/* The API server returns the token, which jansson would copy and free without wiping. */
static void blank_token(char *text, size_t len, const struct bearer *bearer)
{
    const size_t member = strlen(TOKEN_MEMBER);
    const char *end = text + len;
    char *at = text;
    while ((at = memmem(at, (size_t)(end - at), TOKEN_MEMBER, member))) {
        at += member;
        if ((size_t)(end - at) > bearer->len && at[bearer->len] == '"' &&
            memcmp(at, bearer->token, bearer->len) == 0)
            memset(at, '-', bearer->len);
    }
}

/* NULL: no such object, or without a status. Rejects U+0000: a name cut there would be another
 * user's. */
static json_t *parse(const char *text, size_t len, const char *kind)
{
    static const char NUL[] = "\\u0000";
    json_t *root = NULL;
    const char *is = "";
    if (memmem(text, len, NUL, sizeof NUL - 1))
        return NULL;
    (void)json_parse(text, len, JSON_REJECT_DUPLICATES, &JSON_ANSWER, &root, NULL);
    const bool right = json_get_string(root, "kind", &is, NULL) == 0 && strcmp(is, kind) == 0 &&
                       json_is_object(json_member(root, "status"));
    if (right)
        return root;
    json_decref(root);
    return NULL;
}

static bool are_texts(const json_t *array)
{
    size_t i = 0;
    const json_t *item = NULL;
    if (!json_is_array(array))
        return false;
    json_array_foreach (array, i, item) {
        if (!json_is_string(item))
            return false;
    }
    return true;
}

static bool is_extra(json_t *object)
{
    const char *key = NULL;
    const json_t *value = NULL;
    if (!json_is_object(object))
        return false;
    json_object_foreach (object, key, value) {
        if (!are_texts(value))
            return false;
    }
    return true;
}

static void add_member(struct buf *out, const char *name, const json_t *value)
{
    buf_add_text(out, name);
    json_put(value, JSON_COMPACT, out);
}

/* False: not a user, or too large. */
static bool add_user(const json_t *user, struct buf *out)
{
    const json_t *name = json_member(user, "username");
    const json_t *groups = json_member(user, "groups");
    const json_t *uid = json_member(user, "uid");
    json_t *extra = json_member(user, "extra");
    if (json_string_length(name) == 0 || (groups && !are_texts(groups)) ||
        (uid && !json_is_string(uid)) || (extra && !is_extra(extra)))
        return false;
    add_member(out, "\"user\":", name);
    if (groups)
        add_member(out, ",\"groups\":", groups);
    if (uid)
        add_member(out, ",\"uid\":", uid);
    if (extra)
        add_member(out, ",\"extra\":", extra);
    return !out->overflowed;
}

static enum review_result read_user(const json_t *user, struct review_user *ret_user, char *why)
{
    struct buf members;
    buf_init(&members, REVIEW_USER_BYTES_MAX);
    const bool is_user = add_user(user, &members);
    if (is_user) {
        ret_user->name = mem_strdup(json_string_value(json_member(user, "username")));
        ret_user->caller = review_caller(ret_user->name, json_member(user, "groups"));
        ret_user->members = buf_take(&members);
    }
    buf_fini(&members);
    return is_user ? REVIEW_YES : fail(why, "the answer's status.user is missing or too large");
}

static enum review_result read_authenticated(const json_t *root, struct review_user *ret_user,
                                             char *why)
{
    const json_t *status = json_member(root, "status");
    bool authenticated = false; /* absent means false */
    if (json_get_bool(status, "authenticated", &authenticated, NULL) < 0)
        return fail(why, "the answer's status.authenticated is neither true nor false");
    if (!authenticated)
        return REVIEW_NO;
    return read_user(json_member(status, "user"), ret_user, why);
}

enum review_result review_read_token(const struct kube_answer *answer, const struct bearer *bearer,
                                     struct review_user *ret_user, char *ret_why)
{
    if (!is_answer(answer, ret_why))
        return REVIEW_FAILED;
    char *text = mem_new(answer->body_len + 1);
    memcpy(text, answer->body, answer->body_len);
    blank_token(text, answer->body_len, bearer);
    json_t *root = parse(text, answer->body_len, "TokenReview");
    free(text);
    if (!root)
        return fail(ret_why, "the answer is not a TokenReview");
    const enum review_result result = read_authenticated(root, ret_user, ret_why);
    json_decref(root);
    return result;
}

/* allowed and denied together count as no. */
static enum review_result read_allowed(const json_t *root, char *why)
{
    const json_t *status = json_member(root, "status");
    const json_t *allowed = json_member(status, "allowed");
    bool denied = false;
    if (!json_is_boolean(allowed) || json_get_bool(status, "denied", &denied, NULL) < 0)
        return fail(why, "the answer's status.allowed or status.denied is not true or false");
    return json_is_true(allowed) && !denied ? REVIEW_YES : REVIEW_NO;
}

enum review_result review_read_access(const struct kube_answer *answer, char *ret_why)
{
    if (!is_answer(answer, ret_why))
        return REVIEW_FAILED;
    json_t *root = parse(answer->body, answer->body_len, "SubjectAccessReview");
    if (!root)
        return fail(ret_why, "the answer is not a SubjectAccessReview");
    const enum review_result result = read_allowed(root, ret_why);
    json_decref(root);
    return result;
}
