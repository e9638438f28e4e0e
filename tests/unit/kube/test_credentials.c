/* credentials: requests of each kind of user, and tokens in files that change. The test sets the
 * time. */
#include "kube/credentials.h"
#include "temp_folder.h"
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MINUTE ((int64_t)60000)

static struct temp_folder folder;
static int n_changes;

static int set_up(void **state)
{
    (void)state;
    temp_folder_init(&folder);
    n_changes = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temp_folder_fini(&folder);
    return 0;
}

static void on_change(void *context)
{
    (void)context;
    n_changes++;
}

static struct kube_credentials *credentials_of(const struct kube_target *target)
{
    struct kube_credentials *credentials = NULL;
    struct err err = {.text = ""};
    if (kube_credentials_new(target, &credentials, &err) < 0)
        fail_msg("%s", err.text);
    kube_credentials_on_change(credentials, on_change, NULL);
    return credentials;
}

/* The token is in the file "token" of the folder. */
static struct kube_credentials *credentials_of_file(const char *token)
{
    static char path[100];
    static const struct kube_target TARGET = {.token_file = path};
    (void)snprintf(path, sizeof path, "%s", temp_folder_write(&folder, "token", token));
    return credentials_of(&TARGET);
}

static uint64_t assert_token(struct kube_credentials *credentials, int64_t now_ms,
                             const char *authorization)
{
    struct kube_identity identity;
    kube_credentials_get(credentials, now_ms, &identity);
    if (authorization)
        assert_string_equal(identity.authorization, authorization);
    else
        assert_null(identity.authorization);
    uint64_t version = identity.version;
    kube_identity_fini(&identity);
    return version;
}

static void test_no_user_has_no_credentials(void **state)
{
    (void)state;
    const struct kube_target target = {.server = NULL};
    struct kube_credentials *credentials = credentials_of(&target);
    assert_true(assert_token(credentials, 1, NULL) > 0);
    kube_credentials_free(credentials);
    kube_credentials_free(NULL);
}

static void test_a_token_and_a_certificate(void **state)
{
    (void)state;
    char token[] = "abc", cert[] = "CERT", cert_file[] = "/c", key_file[] = "/k";
    const struct kube_target target = {
        .token = token, .cert_pem = cert, .cert_file = cert_file, .key_file = key_file};
    struct kube_credentials *credentials = credentials_of(&target);
    struct kube_identity identity;
    kube_credentials_get(credentials, 1, &identity);
    assert_string_equal(identity.authorization, "Bearer abc");
    assert_string_equal(identity.cert_pem, "CERT");
    assert_null(identity.cert_file);
    assert_null(identity.key_pem);
    assert_string_equal(identity.key_file, "/k");
    kube_credentials_refused(credentials, identity.version, 1);
    assert_true(assert_token(credentials, 2 * MINUTE, "Bearer abc") == identity.version);
    assert_int_equal(n_changes, 0);
    kube_identity_fini(&identity);
    kube_credentials_free(credentials);
}

/* Like kubelet: token -> ..data/token, and ..data -> a folder, which is swapped. */
static void swap_folder(const char *name, const char *token)
{
    char file[64];
    assert_int_equal(mkdir(temp_folder_path(&folder, name), 0700), 0);
    (void)snprintf(file, sizeof file, "%s/token", name);
    (void)temp_folder_write(&folder, file, token);
    assert_int_equal(symlink(name, temp_folder_path(&folder, "..data_new")), 0);
    assert_int_equal(
        rename(temp_folder_path(&folder, "..data_new"), temp_folder_path(&folder, "..data")), 0);
}

static void test_a_token_file_is_read_again_each_minute(void **state)
{
    (void)state;
    char path[100];
    (void)snprintf(path, sizeof path, "%s", temp_folder_path(&folder, "token"));
    swap_folder("a", " first\n");
    assert_int_equal(symlink("..data/token", path), 0);
    const struct kube_target target = {.token_file = path};
    struct kube_credentials *credentials = credentials_of(&target);
    uint64_t version = assert_token(credentials, 1000, "Bearer first");
    swap_folder("b", "second");
    assert_true(assert_token(credentials, 1000 + MINUTE - 1, "Bearer first") == version);
    assert_int_equal(n_changes, 0);
    assert_true(assert_token(credentials, 1000 + MINUTE, "Bearer second") > version);
    assert_int_equal(n_changes, 1);
    swap_folder("c", "second\n\n");
    (void)assert_token(credentials, 1000 + 2 * MINUTE, "Bearer second");
    assert_int_equal(n_changes, 1);
    kube_credentials_free(credentials);
}

static void test_a_token_file_wins_over_a_token(void **state)
{
    (void)state;
    char path[100], token[] = "static";
    (void)snprintf(path, sizeof path, "%s", temp_folder_write(&folder, "token", "file"));
    const struct kube_target target = {.token = token, .token_file = path};
    struct kube_credentials *credentials = credentials_of(&target);
    (void)assert_token(credentials, 1, "Bearer file");
    kube_credentials_free(credentials);
}

static void test_a_rejected_token_is_read_again_at_once(void **state)
{
    (void)state;
    struct kube_credentials *credentials = credentials_of_file("first");
    uint64_t version = assert_token(credentials, 1000, "Bearer first");
    (void)temp_folder_write(&folder, "token", "second");
    kube_credentials_refused(credentials, version, 1001);
    assert_int_equal(n_changes, 1);
    uint64_t second = assert_token(credentials, 1001, "Bearer second");
    assert_true(second > version);
    /* The rejected token is no longer in use: nothing to do. */
    (void)temp_folder_write(&folder, "token", "third");
    kube_credentials_refused(credentials, version, 5000);
    (void)assert_token(credentials, 5000, "Bearer second");
    assert_int_equal(n_changes, 1);
    kube_credentials_free(credentials);
}

static void test_a_rejected_token_is_read_once_a_second(void **state)
{
    (void)state;
    struct kube_credentials *credentials = credentials_of_file("first");
    uint64_t version = assert_token(credentials, 1000, "Bearer first");
    kube_credentials_refused(credentials, version, 1000);
    (void)temp_folder_write(&folder, "token", "second");
    kube_credentials_refused(credentials, version, 1999);
    (void)assert_token(credentials, 1999, "Bearer first");
    (void)assert_token(credentials, 2000, "Bearer second");
    assert_int_equal(n_changes, 1);
    /* Not rejected: a minute again. */
    (void)temp_folder_write(&folder, "token", "third");
    (void)assert_token(credentials, 2000 + MINUTE - 1, "Bearer second");
    (void)assert_token(credentials, 2000 + MINUTE, "Bearer third");
    kube_credentials_free(credentials);
}

static void test_the_old_token_stays_if_there_is_no_new_one(void **state)
{
    (void)state;
    struct kube_credentials *credentials = credentials_of_file("first");
    static const char *const BAD[] = {"", " \n", "a b", "a\r\nHost: x", "a\tb", "\xc3\xa9"};
    int64_t now_ms = 1;
    (void)assert_token(credentials, now_ms, "Bearer first");
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        (void)temp_folder_write(&folder, "token", BAD[i]);
        (void)assert_token(credentials, now_ms += MINUTE, "Bearer first");
    }
    (void)temp_folder_write_bytes(&folder, "token", "a\0b", 3);
    (void)assert_token(credentials, now_ms += MINUTE, "Bearer first");
    assert_int_equal(remove(temp_folder_path(&folder, "token")), 0);
    (void)assert_token(credentials, now_ms += MINUTE, "Bearer first");
    /* opening it would block */
    assert_int_equal(mkfifo(temp_folder_path(&folder, "token"), 0600), 0);
    (void)assert_token(credentials, now_ms += MINUTE, "Bearer first");
    assert_int_equal(n_changes, 0);
    (void)temp_folder_write(&folder, "token", "second");
    (void)assert_token(credentials, now_ms + MINUTE, "Bearer second");
    kube_credentials_free(credentials);
}

/* How often it is logged, through a pipe instead of standard error. */
static void test_a_missing_file_is_logged_once(void **state)
{
    (void)state;
    char path[100], said[2000];
    int fds[2];
    (void)snprintf(path, sizeof path, "%s", temp_folder_write(&folder, "token", "SECRET"));
    const struct kube_target target = {.token_file = path};
    struct kube_credentials *credentials = credentials_of(&target);
    int64_t now_ms = 1;
    (void)assert_token(credentials, now_ms, "Bearer SECRET");
    (void)temp_folder_write(&folder, "token", "SEC RET");
    assert_int_equal(pipe(fds), 0);
    int standard_error = dup(STDERR_FILENO);
    (void)dup2(fds[1], STDERR_FILENO);
    for (int i = 0; i < 5; i++)
        (void)assert_token(credentials, now_ms += MINUTE, "Bearer SECRET");
    (void)dup2(standard_error, STDERR_FILENO);
    (void)close(standard_error);
    (void)close(fds[1]);
    ssize_t n = read(fds[0], said, sizeof said - 1);
    said[n < 0 ? 0 : n] = '\0';
    (void)close(fds[0]);
    assert_non_null(strstr(said, "level=warn mod=credentials msg=\"the token file is unusable: "
                                 "keeping the old token\" err=\""));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1); /* one line */
    assert_null(strstr(said, "SEC"));
    kube_credentials_free(credentials);
}

static void test_without_a_token_there_are_no_credentials(void **state)
{
    (void)state;
    char path[100], message[200];
    struct kube_credentials *credentials = NULL;
    struct err err;
    (void)snprintf(path, sizeof path, "%s", temp_folder_path(&folder, "token"));
    const struct kube_target target = {.token_file = path};
    assert_int_equal(kube_credentials_new(&target, &credentials, &err), -ENOENT);
    (void)snprintf(message, sizeof message, "%s: cannot be read: No such file or directory", path);
    assert_string_equal(err.text, message);
    (void)temp_folder_write(&folder, "token", "\n");
    assert_int_equal(kube_credentials_new(&target, &credentials, &err), -EINVAL);
    (void)snprintf(message, sizeof message, "%s: is empty, should be a token", path);
    assert_string_equal(err.text, message);
    char *huge = calloc(70000, 1);
    memset(huge, 'a', 70000);
    (void)temp_folder_write_bytes(&folder, "token", huge, 70000);
    free(huge);
    assert_int_equal(kube_credentials_new(&target, &credentials, &err), -EFBIG);
    assert_null(credentials);
}

static void assert_name(const struct kube_target *target, const char *name)
{
    struct kube_credentials *credentials = credentials_of(target);
    assert_string_equal(kube_credentials_name(credentials), name);
    kube_credentials_free(credentials);
}

static void test_the_name_of_a_credential_hides_the_secret(void **state)
{
    (void)state;
    char path[100], name[200];
    char secret[] = "SECRET", cert[] = "CERTIFICATE", cert_file[] = "/pki/me.crt";
    (void)snprintf(path, sizeof path, "%s", temp_folder_write(&folder, "token", "SECRET"));
    (void)snprintf(name, sizeof name, "the token of %s", path);
    assert_name(&(struct kube_target){.token_file = path, .token = secret}, name);
    assert_name(&(struct kube_target){.token = secret}, "the token of the kubeconfig");
    assert_name(&(struct kube_target){.cert_file = cert_file},
                "the client certificate of /pki/me.crt");
    assert_name(&(struct kube_target){.cert_pem = cert, .cert_file = cert_file},
                "the client certificate of the kubeconfig");
    assert_name(&(struct kube_target){0}, "a caller without credentials");
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown((test), set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(test_no_user_has_no_credentials),
        WITH_FILES(test_a_token_and_a_certificate),
        WITH_FILES(test_a_token_file_is_read_again_each_minute),
        WITH_FILES(test_a_token_file_wins_over_a_token),
        WITH_FILES(test_a_rejected_token_is_read_again_at_once),
        WITH_FILES(test_a_rejected_token_is_read_once_a_second),
        WITH_FILES(test_the_old_token_stays_if_there_is_no_new_one),
        WITH_FILES(test_a_missing_file_is_logged_once),
        WITH_FILES(test_without_a_token_there_are_no_credentials),
        WITH_FILES(test_the_name_of_a_credential_hides_the_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
