/* target: precedence of sources, the ServiceAccount of a pod, and invalid files. */
#include "kube/target.h"
#include "temp_folder.h"
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG(server)                                                                             \
    "contexts: [{name: c, context: {cluster: c, user: u}}, {name: d, context: {cluster: d}}]\n"    \
    "current-context: c\n"                                                                         \
    "clusters: [{name: c, cluster: {server: 'https://" server "'}},\n"                             \
    "           {name: d, cluster: {server: 'https://d." server "'}}]\n"                           \
    "users: [{name: u, user: {tokenFile: token}}]\n"

static struct temp_folder folder;

static int set_up(void **state)
{
    (void)state;
    temp_folder_init(&folder);
    if (mkdir(temp_folder_path(&folder, ".kube"), 0700) < 0)
        return -1;
    (void)temp_folder_write(&folder, "token", "t");
    (void)temp_folder_write(&folder, "ca.crt", "c");
    (void)temp_folder_write(&folder, "flag", CONFIG("flag"));
    (void)temp_folder_write(&folder, "env", CONFIG("env"));
    (void)temp_folder_write(&folder, ".kube/config", CONFIG("home"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temp_folder_fini(&folder);
    return 0;
}

static void assert_server(const struct kube_lookup *lookup, const char *server)
{
    struct kube_target target = {0};
    struct err err = {.text = ""};
    if (kube_target_find(lookup, &target, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(target.server, server);
    kube_target_fini(&target);
}

static void assert_fault(const struct kube_lookup *lookup, int code, const char *message)
{
    struct kube_target target = {0};
    struct err err = {.text = ""};
    assert_int_equal(kube_target_find(lookup, &target, &err), code);
    assert_string_equal(err.text, message);
    assert_null(target.server);
}

/* Expects a message that names a file of the folder. */
static void assert_fault_of(const struct kube_lookup *lookup, int code, const char *file,
                            const char *message)
{
    char whole[400];
    (void)snprintf(whole, sizeof whole, "%s%s", file, message);
    assert_fault(lookup, code, whole);
}

static void test_the_first_existing_source_is_used(void **state)
{
    (void)state;
    struct kube_lookup lookup = {
        .kubeconfig = temp_folder_path(&folder, "flag"),
        .kubeconfig_env = temp_folder_path(&folder, "env"),
        .service_host = "10.0.0.1",
        .service_port = "443",
        .service_account = folder.path,
        .home = folder.path,
    };
    assert_server(&lookup, "https://flag");
    lookup.kubeconfig = NULL;
    assert_server(&lookup, "https://env");
    lookup.context = "d";
    assert_server(&lookup, "https://d.env");
    lookup.context = NULL;
    lookup.kubeconfig_env = "";
    assert_server(&lookup, "https://10.0.0.1:443");
    lookup.service_host = NULL;
    assert_server(&lookup, "https://home");
    static const char NO_PLACE[] =
        "no API server is configured: no --kubeconfig, no KUBECONFIG, no ServiceAccount of a pod, "
        "and no ~/.kube/config";
    lookup.home = NULL;
    assert_fault(&lookup, -ENOENT, NO_PLACE);
    lookup.home = temp_folder_path(&folder, "none");
    assert_fault(&lookup, -ENOENT, NO_PLACE);
}

static void test_a_requested_file_must_exist(void **state)
{
    (void)state;
    const char *gone = temp_folder_path(&folder, "gone");
    struct kube_lookup lookup = {.kubeconfig = gone, .home = folder.path};
    assert_fault_of(&lookup, -ENOENT, gone, ": cannot be read: No such file or directory");
    char list[300];
    char message[400];
    (void)snprintf(list, sizeof list, ":%s::%s2", gone, gone);
    (void)snprintf(message, sizeof message, "KUBECONFIG: none of its files exists: %s", list);
    lookup = (struct kube_lookup){.kubeconfig_env = list, .home = folder.path};
    assert_fault(&lookup, -ENOENT, message);
}

static void test_files_of_a_list_may_be_missing(void **state)
{
    (void)state;
    char list[400];
    (void)snprintf(list, sizeof list, "%s:%s:%s", temp_folder_path(&folder, "gone"),
                   temp_folder_path(&folder, "env"), temp_folder_path(&folder, "flag"));
    const struct kube_lookup lookup = {.kubeconfig_env = list};
    assert_server(&lookup, "https://env");
}

static void test_the_list_of_files_is_bounded(void **state)
{
    (void)state;
    char list[4000] = "";
    const char *path = temp_folder_path(&folder, "env");
    for (int i = 0; i < 33; i++)
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), ":%s", path);
    const struct kube_lookup lookup = {.kubeconfig_env = list};
    assert_fault(&lookup, -EINVAL, "KUBECONFIG: names more than 32 files");
}

static void test_a_pod_uses_its_service_account(void **state)
{
    (void)state;
    const struct kube_lookup lookup = {
        .service_host = "fd00::1", .service_port = "6443", .service_account = folder.path};
    struct kube_target target = {0};
    assert_int_equal(kube_target_find(&lookup, &target, NULL), 0);
    assert_string_equal(target.server, "https://[fd00::1]:6443");
    assert_string_equal(target.token_file, temp_folder_path(&folder, "token"));
    assert_string_equal(target.ca_file, temp_folder_path(&folder, "ca.crt"));
    assert_string_equal(target.source, "in-cluster");
    assert_null(target.token);
    assert_false(target.insecure);
    kube_target_fini(&target);
}

static void test_faults_of_a_service_account(void **state)
{
    (void)state;
    struct kube_lookup lookup = {.service_host = "10.0.0.1",
                                 .service_port = "https",
                                 .service_account = folder.path,
                                 .home = folder.path};
    assert_fault(&lookup, -EINVAL,
                 "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT: give https://10.0.0.1:https, "
                 "should give an address such as https://10.0.0.1:6443");
    lookup.service_port = "443";
    lookup.context = "prod";
    assert_fault(&lookup, -EINVAL,
                 "--context prod: a pod's ServiceAccount has no contexts, should be used with "
                 "--kubeconfig or KUBECONFIG");
    lookup.context = NULL;
    (void)remove(temp_folder_path(&folder, "ca.crt"));
    assert_fault_of(&lookup, -ENOENT, temp_folder_path(&folder, "ca.crt"),
                    ": cannot be read: No such file or directory");
    (void)remove(temp_folder_path(&folder, "token"));
    assert_server(&lookup, "https://home");
}

static void test_relative_paths_begin_at_the_file(void **state)
{
    (void)state;
    assert_int_equal(chdir(folder.path), 0);
    char *here = getcwd(NULL, 0);
    char expected[200];
    const struct {
        const char *file, *token;
    } CASES[] = {{"flag", "%s/token"}, {".kube/config", "%s/.kube/token"}};
    for (size_t i = 0; i < 2; i++) {
        const struct kube_lookup lookup = {.kubeconfig = CASES[i].file};
        struct kube_target target = {0};
        assert_int_equal(kube_target_find(&lookup, &target, NULL), 0);
        (void)snprintf(expected, sizeof expected, i == 0 ? "%s/token" : "%s/.kube/token", here);
        assert_string_equal(target.token_file, expected);
        kube_target_fini(&target);
    }
    free(here);
    assert_int_equal(chdir("/"), 0);
}

static void test_invalid_kubeconfig_files_are_rejected(void **state)
{
    (void)state;
    struct kube_lookup lookup = {.kubeconfig = folder.path};
    assert_fault_of(&lookup, -EISDIR, folder.path, ": cannot be read: Is a directory");
    lookup.kubeconfig = temp_folder_write(&folder, "empty", "");
    assert_fault_of(&lookup, -EINVAL, lookup.kubeconfig,
                    ":1:1: current-context: is missing, should be one of the contexts: (there is "
                    "none)");
    lookup.kubeconfig = temp_folder_write(&folder, "latin", "a: \xe9t\xe9\n");
    assert_fault_of(&lookup, -EINVAL, lookup.kubeconfig,
                    ":1:5: invalid trailing UTF-8 octet (0x74)");
    lookup.kubeconfig = temp_folder_write_bytes(&folder, "nul", "a: b\0\n", 6);
    assert_fault_of(&lookup, -EINVAL, lookup.kubeconfig,
                    ":1:5: control characters are not allowed (0x00)");
    char *huge = calloc(1024 * 1024 + 1, 1);
    memset(huge, '#', 1024 * 1024 + 1);
    lookup.kubeconfig = temp_folder_write_bytes(&folder, "huge", huge, 1024 * 1024 + 1);
    free(huge);
    assert_fault_of(&lookup, -EFBIG, lookup.kubeconfig, ": is larger than 1048576 bytes");
}

static void test_lookup_reads_the_environment(void **state)
{
    (void)state;
    assert_int_equal(setenv("KUBECONFIG", "/a:/b", 1), 0);
    assert_int_equal(setenv("KUBERNETES_SERVICE_HOST", "1.2.3.4", 1), 0);
    assert_int_equal(setenv("KUBERNETES_SERVICE_PORT", "443", 1), 0);
    assert_int_equal(setenv("HOME", "/h", 1), 0);
    struct kube_lookup lookup;
    kube_lookup_from_env(&lookup);
    assert_null(lookup.kubeconfig);
    assert_null(lookup.context);
    assert_string_equal(lookup.kubeconfig_env, "/a:/b");
    assert_string_equal(lookup.service_host, "1.2.3.4");
    assert_string_equal(lookup.service_port, "443");
    assert_string_equal(lookup.service_account, "/var/run/secrets/kubernetes.io/serviceaccount");
    assert_string_equal(lookup.home, "/h");
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown((test), set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(test_the_first_existing_source_is_used),
        WITH_FILES(test_a_requested_file_must_exist),
        WITH_FILES(test_files_of_a_list_may_be_missing),
        WITH_FILES(test_the_list_of_files_is_bounded),
        WITH_FILES(test_a_pod_uses_its_service_account),
        WITH_FILES(test_faults_of_a_service_account),
        WITH_FILES(test_relative_paths_begin_at_the_file),
        WITH_FILES(test_invalid_kubeconfig_files_are_rejected),
        cmocka_unit_test(test_lookup_reads_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
