/*
 * Reads any bytes as the API server's answer to a TokenReview and a SubjectAccessReview. Nothing
 * crashes, only a valid object of the right kind admits a user, and the next request is JSON that
 * names the same user.
 *
 * The input is an Authorization header, a newline, and the answer's body.
 */
#include "require.h"
#include "review.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/v1/pods/a\"b"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* The first of each duplicate; with a duplicate no user may be admitted. */
static void check_user(const struct review_user *user, const char *body, size_t len)
{
    json_t *said = json_loadb(body, len, 0, NULL);
    const json_t *status = json_object_get(said, "status");
    require(strcmp(text_of(said, "kind"), "TokenReview") == 0);
    require(json_is_true(json_object_get(status, "authenticated")));
    require(*user->name && strlen(user->members) <= REVIEW_USER_BYTES_MAX);
    require(strcmp(text_of(json_object_get(status, "user"), "username"), user->name) == 0);
    json_decref(said);
}

static void check_question(const struct review_user *user)
{
    char *body = review_access_body(user, "get", PATH);
    json_t *asked = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
    const json_t *spec = json_object_get(asked, "spec");
    const json_t *attributes = json_object_get(spec, "nonResourceAttributes");
    require(strcmp(text_of(spec, "user"), user->name) == 0);
    require(strcmp(text_of(attributes, "path"), PATH) == 0);
    require(json_object_size(spec) <= 5 && json_object_size(attributes) == 2);
    json_decref(asked);
    free(body);
}

static void check_token_review(const struct kube_answer *answer, const struct bearer *bearer)
{
    char why[REVIEW_WHY_SIZE] = "";
    struct review_user user = {0};
    const enum review_result result = review_read_token(answer, bearer, &user, why);
    require((result == REVIEW_YES) == (user.name != NULL));
    require((result == REVIEW_FAILED) == (*why != '\0'));
    if (result == REVIEW_YES) {
        check_user(&user, answer->body, answer->body_len);
        check_question(&user);
    }
    review_user_fini(&user);
}

static void check_access_review(const struct kube_answer *answer)
{
    char why[REVIEW_WHY_SIZE] = "";
    const enum review_result result = review_read_access(answer, why);
    require((result == REVIEW_FAILED) == (*why != '\0'));
    if (result != REVIEW_YES)
        return;
    json_t *said = json_loadb(answer->body, answer->body_len, 0, NULL);
    require(strcmp(text_of(said, "kind"), "SubjectAccessReview") == 0);
    require(json_is_true(json_object_get(json_object_get(said, "status"), "allowed")));
    json_decref(said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct bearer bearer;
    if (!text)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    char *newline = memchr(text, '\n', size);
    const char *body = newline ? newline + 1 : text + size;
    const struct kube_answer answer = {.outcome = KUBE_ANSWERED,
                                       .status = 201,
                                       .retry_after_s = -1,
                                       .body = body,
                                       .body_len = (size_t)(text + size - body),
                                       .why = ""};
    if (newline)
        *newline = '\0';
    if (bearer_read(text, &bearer))
        check_token_review(&answer, &bearer);
    check_access_review(&answer);
    free(text);
    return 0;
}
