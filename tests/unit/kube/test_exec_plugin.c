/* exec_plugin through kube_credentials: a plugin's thread renews the credentials. Plugins are shell
 * scripts. Nothing sleeps; tests wait for each change. */
#include "kube/credentials.h"

#include "temp_folder.h"
#include "unit.h"

#include "base/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GENEROUS_S 600

/* A plugin that prints the file "status" beside it, and fails without one; also, once, if there is
 * a file "fail". */
#define FROM_FILE                                                                                  \
    "cd \"${0%/*}\"; echo run >> runs; test -f fail && { rm fail; exit 1; }; "                     \
    "test -f status || { echo no status >&2; exit 1; }; "                                          \
    "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","       \
    "\"status\":{'\"$(cat status)\"'}}'"
#define CERT "\"clientCertificateData\":\"-----BEGIN CERTIFICATE-----\""
#define KEY(n) "\"clientKeyData\":\"-----BEGIN PRIVATE KEY----- " n "\""

static struct temp_folder folder;
static char command[100];
static struct kube_target target;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_changes; /* guarded by the lock */

static int set_up(void **state)
{
    (void)state;
    temp_folder_init(&folder);
    (void)snprintf(command, sizeof command, "%s", temp_folder_script(&folder, "plugin", FROM_FILE));
    target = (struct kube_target){.exec.command = command};
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
    (void)pthread_mutex_lock(&lock);
    n_changes++;
    (void)pthread_cond_signal(&changed);
    (void)pthread_mutex_unlock(&lock);
}

static void await_changes(int n)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += GENEROUS_S;
    int code = 0;
    (void)pthread_mutex_lock(&lock);
    while (n_changes < n && code == 0)
        code = pthread_cond_timedwait(&changed, &lock, &until);
    int is = n_changes;
    (void)pthread_mutex_unlock(&lock);
    assert_int_equal(is, n);
}

static struct kube_credentials *credentials_new(void)
{
    struct kube_credentials *credentials = NULL;
    struct err err = {.text = ""};
    if (kube_credentials_new(&target, &credentials, &err) < 0)
        fail_msg("%s", err.text);
    kube_credentials_on_change(credentials, on_change, NULL);
    return credentials;
}

static struct kube_identity identity_of(struct kube_credentials *credentials)
{
    struct kube_identity identity;
    kube_credentials_get(credentials, clock_ms(), &identity);
    return identity;
}

static uint64_t assert_token(struct kube_credentials *credentials, const char *authorization)
{
    struct kube_identity identity = identity_of(credentials);
    uint64_t version = identity.version;
    assert_string_equal(identity.authorization, authorization);
    kube_identity_fini(&identity);
    return version;
}

static long n_runs(void)
{
    struct stat facts;
    assert_int_equal(stat(temp_folder_path(&folder, "runs"), &facts), 0);
    return (long)facts.st_size / (long)strlen("run\n");
}

static void test_a_rejected_token_is_renewed(void **state)
{
    (void)state;
    (void)temp_folder_write(&folder, "status", "\"token\":\"first\"");
    struct kube_credentials *credentials = credentials_new();
    uint64_t first = assert_token(credentials, "Bearer first");
    (void)temp_folder_write(&folder, "status", "\"token\":\"second\"");
    kube_credentials_refused(credentials, first, clock_ms());
    await_changes(1);
    assert_true(assert_token(credentials, "Bearer second") > first);
    kube_credentials_refused(credentials, first, clock_ms()); /* already replaced */
    kube_credentials_free(credentials);
    assert_int_equal(n_runs(), 2);
    assert_int_equal(n_changes, 1);
}

static void test_a_failed_renewal_is_retried(void **state)
{
    (void)state;
    (void)temp_folder_write(&folder, "status", "\"token\":\"first\"");
    struct kube_credentials *credentials = credentials_new();
    (void)temp_folder_write(&folder, "fail", "");
    (void)temp_folder_write(&folder, "status", "\"token\":\"third\"");
    uint64_t first = assert_token(credentials, "Bearer first");
    kube_credentials_refused(credentials, first, clock_ms());
    await_changes(1);
    assert_true(assert_token(credentials, "Bearer third") > first);
    kube_credentials_free(credentials);
    assert_int_equal(n_runs(), 3);
}

static void test_an_expiring_credential_is_renewed_in_advance(void **state)
{
    (void)state;
    (void)temp_folder_write(&folder, "status",
                            "\"token\":\"first\",\"expirationTimestamp\":\"2001-01-01T00:00:00Z\"");
    struct kube_credentials *credentials = credentials_new();
    (void)assert_token(credentials, "Bearer first");
    (void)temp_folder_write(&folder, "status", "\"token\":\"second\"");
    await_changes(1);
    (void)assert_token(credentials, "Bearer second");
    kube_credentials_free(credentials);
    assert_int_equal(n_runs(), 2);
}

static void test_a_certificate_is_renewed(void **state)
{
    (void)state;
    (void)temp_folder_write(&folder, "status", CERT "," KEY("1"));
    struct kube_credentials *credentials = credentials_new();
    struct kube_identity identity = identity_of(credentials);
    assert_null(identity.authorization);
    assert_string_equal(identity.cert_pem, "-----BEGIN CERTIFICATE-----");
    assert_string_equal(identity.key_pem, "-----BEGIN PRIVATE KEY----- 1");
    (void)temp_folder_write(&folder, "status", CERT "," KEY("2"));
    kube_credentials_refused(credentials, identity.version, clock_ms());
    kube_identity_fini(&identity);
    await_changes(1);
    identity = identity_of(credentials);
    assert_string_equal(identity.key_pem, "-----BEGIN PRIVATE KEY----- 2");
    kube_identity_fini(&identity);
    kube_credentials_free(credentials);
}

static void test_the_kubeconfigs_certificate_takes_precedence(void **state)
{
    (void)state;
    char cert[] = "static", key[] = "/key";
    target.cert_pem = cert;
    target.key_file = key;
    (void)temp_folder_write(&folder, "status", "\"token\":\"t\"," CERT "," KEY("1"));
    struct kube_credentials *credentials = credentials_new();
    struct kube_identity identity = identity_of(credentials);
    assert_string_equal(identity.authorization, "Bearer t");
    assert_string_equal(identity.cert_pem, "static");
    assert_null(identity.key_pem);
    assert_string_equal(identity.key_file, "/key");
    kube_identity_fini(&identity);
    kube_credentials_free(credentials);
}

static void test_the_start_fails_without_a_credential(void **state)
{
    (void)state;
    struct kube_credentials *credentials = NULL;
    struct err err = {.text = ""};
    char message[300];
    assert_int_equal(kube_credentials_new(&target, &credentials, &err), -EIO);
    (void)snprintf(message, sizeof message,
                   "credential plugin %s: has ended with status 1; it says: no status", command);
    assert_string_equal(err.text, message);
    (void)temp_folder_write(&folder, "status", "SECRET");
    assert_int_equal(kube_credentials_new(&target, &credentials, &err), -EINVAL);
    (void)snprintf(message, sizeof message, "credential plugin %s: its answer is not JSON",
                   command);
    assert_string_equal(err.text, message);
    assert_null(credentials);
}

/* The plugin's second run holds a pipe, which ends when it exits. */
static void test_the_end_does_not_wait_for_a_hanging_plugin(void **state)
{
    (void)state;
    char byte;
    (void)temp_folder_script(&folder, "plugin",
                             "cd \"${0%/*}\"; test -p lifeline && { exec 9>lifeline; echo >&9; "
                             "sleep 1000; }\n" FROM_FILE);
    (void)temp_folder_write(&folder, "status", "\"token\":\"first\"");
    struct kube_credentials *credentials = credentials_new();
    uint64_t first = assert_token(credentials, "Bearer first");
    assert_int_equal(mkfifo(temp_folder_path(&folder, "lifeline"), 0600), 0);
    kube_credentials_refused(credentials, first, clock_ms());
    int lifeline = open(temp_folder_path(&folder, "lifeline"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(lifeline, &byte, 1), 1); /* it hangs now */
    (void)assert_token(credentials, "Bearer first");
    kube_credentials_free(credentials);
    assert_int_equal(read(lifeline, &byte, 1), 0);
    (void)close(lifeline);
}

struct asker {
    struct kube_credentials *credentials;
    pthread_t thread;
};

static void *ask_often(void *context)
{
    struct asker *asker = context;
    for (int i = 0; i < 300; i++) {
        struct kube_identity identity = identity_of(asker->credentials);
        kube_credentials_refused(asker->credentials, identity.version, clock_ms());
        kube_identity_fini(&identity);
    }
    return NULL;
}

/* For ThreadSanitizer: all functions for any thread, concurrently. */
static void test_many_threads_get_the_credential(void **state)
{
    (void)state;
    struct asker askers[4];
    (void)temp_folder_write(&folder, "status", "\"token\":\"first\"");
    struct kube_credentials *credentials = credentials_new();
    (void)temp_folder_write(&folder, "status", "\"token\":\"second\"");
    for (size_t i = 0; i < 4; i++) {
        askers[i].credentials = credentials;
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_often, &askers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++)
        (void)pthread_join(askers[i].thread, NULL);
    await_changes(1);
    (void)assert_token(credentials, "Bearer second");
    kube_credentials_free(credentials);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown((test), set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(test_a_rejected_token_is_renewed),
        WITH_FILES(test_a_failed_renewal_is_retried),
        WITH_FILES(test_an_expiring_credential_is_renewed_in_advance),
        WITH_FILES(test_a_certificate_is_renewed),
        WITH_FILES(test_the_kubeconfigs_certificate_takes_precedence),
        WITH_FILES(test_the_start_fails_without_a_credential),
        WITH_FILES(test_the_end_does_not_wait_for_a_hanging_plugin),
        WITH_FILES(test_many_threads_get_the_credential),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
