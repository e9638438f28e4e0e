/* exec_credential: a plugin's input, and each invalid answer. */
#include "kube/credentials/exec_priv.h"

#include "temp_folder.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
#define STATUS(fields) HEAD "\"status\":{" fields "}}"
#define CERT "\"clientCertificateData\":\"-----BEGIN CERTIFICATE-----\""
#define KEY "\"clientKeyData\":\"-----BEGIN PRIVATE KEY-----\""

static void test_a_token(void **state)
{
    (void)state;
    static const char ANSWER[] =
        STATUS("\"token\":\"abc\\n\",\"expirationTimestamp\":\"2026-11-21T10:00:00Z\"");
    struct exec_credential credential;
    assert_int_equal(exec_credential_parse(ANSWER, strlen(ANSWER), &credential, NULL), 0);
    assert_string_equal(credential.token, "abc");
    assert_null(credential.cert_pem);
    assert_int_equal(credential.expires_s, 1795255200);
    exec_credential_fini(&credential);
}

static void test_a_certificate(void **state)
{
    (void)state;
    static const char ANSWER[] = STATUS("\"token\":\"\"," CERT "," KEY);
    struct exec_credential credential;
    assert_int_equal(exec_credential_parse(ANSWER, strlen(ANSWER), &credential, NULL), 0);
    assert_null(credential.token);
    assert_string_equal(credential.cert_pem, "-----BEGIN CERTIFICATE-----");
    assert_string_equal(credential.key_pem, "-----BEGIN PRIVATE KEY-----");
    assert_true(credential.expires_s == INT64_MAX);
    exec_credential_fini(&credential);
}

static void test_invalid_answers_are_rejected(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        {"", "is empty, should be an ExecCredential"},
        {"SECRET", "is not JSON"},
        {"{\"SECRET\": ", "is not JSON"},
        {STATUS("\"token\":\"a\"") "{}", "is not JSON"},
        {"[]", "is not an ExecCredential"},
        {"{\"kind\":\"Secret\"}", "is not an ExecCredential"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\","
         "\"status\":{\"token\":\"SECRET\"}}",
         "has another apiVersion than client.authentication.k8s.io/v1"},
        {HEAD "\"spec\":{}}", "has no status"},
        {HEAD "\"status\":\"SECRET\"}", "has no status"},
        {STATUS(""), "has neither a token nor clientCertificateData in its status"},
        {STATUS("\"token\":3"), "has a status.token that is not a string"},
        {STATUS("\"token\":\"SEC\\r\\nRET\""),
         "has a status.token that has a character that is not allowed in a token"},
        {STATUS("\"token\":\"SEC\\u0000RET\""),
         "has a status.token that has a character that is not allowed in a token"},
        {STATUS("\"token\":\" \""), "has a status.token that is empty, should be a token"},
        {STATUS(CERT), "has one of clientCertificateData and clientKeyData, should have both"},
        {STATUS("\"token\":\"SECRET\"," KEY),
         "has one of clientCertificateData and clientKeyData, should have both"},
        {STATUS(CERT ",\"clientKeyData\":\"SECRET\""),
         "has a status.clientKeyData that is not PEM"},
        {STATUS("\"token\":\"a\",\"expirationTimestamp\":\"soon\""),
         "has a status.expirationTimestamp that is not an RFC 3339 time"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct exec_credential credential = {0};
        struct err err = {.text = ""};
        int r = exec_credential_parse(ROWS[i][0], strlen(ROWS[i][0]), &credential, &err);
        if (r != -EINVAL || strncmp(err.text, "its answer ", 11) != 0 ||
            strcmp(err.text + 11, ROWS[i][1]) != 0)
            fail_msg("%s\ngives %d %s\nshould its answer %s", ROWS[i][0], r, err.text, ROWS[i][1]);
        assert_null(credential.token);
    }
}

static void assert_asked(const struct kube_target *target, const char *expected)
{
    char *text = NULL;
    struct err err = {.text = ""};
    if (exec_credential_ask(target, &text, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(text, expected);
    free(text);
}

static void test_a_plugin_gets_the_cluster_on_request(void **state)
{
    (void)state;
    char server[] = "https://h:1", ca[] = "foo", config[] = "{\"a\":1}", host[] = "k8s",
         proxy[] = "http://p";
    struct kube_target target = {.server = server, .ca_pem = ca, .exec.cluster_config = config};
    assert_asked(&target, "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":"
                          "\"ExecCredential\",\"spec\":{\"interactive\":false}}");
    target.exec.provide_cluster_info = true;
    assert_asked(&target, "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":"
                          "\"ExecCredential\",\"spec\":{\"interactive\":false,\"cluster\":{"
                          "\"server\":\"https://h:1\",\"config\":{\"a\":1},"
                          "\"certificate-authority-data\":\"Zm9v\"}}}");
    target = (struct kube_target){.server = server,
                                  .insecure = true,
                                  .tls_server_name = host,
                                  .proxy_url = proxy,
                                  .exec.provide_cluster_info = true};
    assert_asked(&target, "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":"
                          "\"ExecCredential\",\"spec\":{\"interactive\":false,\"cluster\":{"
                          "\"server\":\"https://h:1\",\"tls-server-name\":\"k8s\",\"proxy-url\":"
                          "\"http://p\",\"insecure-skip-tls-verify\":true}}}");
}

static void test_the_ca_may_be_a_file(void **state)
{
    (void)state;
    struct temp_folder folder;
    char path[100], server[] = "https://h", message[200];
    char *text = NULL;
    struct err err;
    temp_folder_init(&folder);
    (void)snprintf(path, sizeof path, "%s", temp_folder_write(&folder, "ca.crt", "foob"));
    const struct kube_target target = {
        .server = server, .ca_file = path, .exec.provide_cluster_info = true};
    assert_asked(&target,
                 "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":"
                 "\"ExecCredential\",\"spec\":{\"interactive\":false,\"cluster\":{"
                 "\"server\":\"https://h\",\"certificate-authority-data\":\"Zm9vYg==\"}}}");
    temp_folder_fini(&folder);
    assert_int_equal(exec_credential_ask(&target, &text, &err), -ENOENT);
    (void)snprintf(message, sizeof message, "%s: cannot be read: No such file or directory", path);
    assert_string_equal(err.text, message);
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_token),
        cmocka_unit_test(test_a_certificate),
        cmocka_unit_test(test_invalid_answers_are_rejected),
        cmocka_unit_test(test_a_plugin_gets_the_cluster_on_request),
        cmocka_unit_test(test_the_ca_may_be_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
