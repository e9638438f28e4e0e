/*
 * review: bearer tokens, and the JSON of TokenReview and SubjectAccessReview.
 *
 * The answer to a TokenReview contains the token, and its messages might: only the user is passed
 * on.
 */
#ifndef AUTH_REVIEW_H
#define AUTH_REVIEW_H

#include "kube/request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The token of an Authorization header (RFC 6750, RFC 9110). */
struct bearer {
    const char *token; /* within the header; not NUL-terminated */
    size_t len;
};

/* False: another scheme, or no token: visible ASCII except " and \, so it needs no escape in
 * JSON. */
bool bearer_read(const char *authorization, struct bearer *ret_bearer);

#define REVIEW_TOKEN_PATH "/apis/authentication.k8s.io/v1/tokenreviews"
#define REVIEW_ACCESS_PATH "/apis/authorization.k8s.io/v1/subjectaccessreviews"
/* Limit of a user with groups and extra values, as JSON. */
#define REVIEW_USER_BYTES_MAX ((size_t)64 * 1024)
#define REVIEW_WHY_SIZE 160

enum review_result {
    REVIEW_YES,
    REVIEW_NO,
    REVIEW_FAILED, /* neither */
    N_REVIEW_RESULTS
};

struct review_user {
    char *name;
    uint64_t caller; /* auth_caller_of() */
    char *members;   /* of a SubjectAccessReview's spec: user, groups, uid, extra */
};
/* auth_caller_of() of a user's name and groups, an array of strings or NULL. */
uint64_t review_caller(const char *name, const json_t *groups);

void review_user_fini(struct review_user *user);

/* The body of a TokenReview, NUL-terminated; free it with review_wipe(). It names no audience, so
 * the token must be for the API server itself. */
char *review_token_body(const struct bearer *bearer);
void review_wipe(char *body);
/* Sets *ret_user with REVIEW_YES; ret_why (REVIEW_WHY_SIZE bytes) with REVIEW_FAILED. */
enum review_result review_read_token(const struct kube_answer *answer, const struct bearer *bearer,
                                     struct review_user *ret_user, char *ret_why);

/* The body of a SubjectAccessReview; the caller frees it. */
char *review_access_body(const struct review_user *user, const char *verb, const char *path);
/* members: user, groups, uid, extra. attributes: resourceAttributes. Both as JSON. */
char *review_resource_body(const char *members, const char *attributes);
enum review_result review_read_access(const struct kube_answer *answer, char *ret_why);

#endif
