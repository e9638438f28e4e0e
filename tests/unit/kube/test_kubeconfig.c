/* kubeconfig: all fields, merging of files, and each fault with its exact position and message. */
#include "fault_table.h"
#include "kube/config/kubeconfig.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PEM "-----BEGIN X-----\n"
#define PEM_64 "LS0tLS1CRUdJTiBYLS0tLS0K"

static int choose(const char *const *texts, size_t n_texts, const char *context,
                  struct kube_target *ret_target, struct err *err)
{
    struct kubeconfig_file files[4];
    char path[32];
    int r = 0;
    size_t n = 0;
    while (r == 0 && n < n_texts) {
        (void)snprintf(path, sizeof path, "/etc/%c/config", (char)('a' + (char)n));
        r = kubeconfig_file_parse(path, texts[n], strlen(texts[n]), &files[n], err);
        n += r == 0;
    }
    if (r == 0)
        r = kubeconfig_choose(files, n, context, ret_target, err);
    while (n > 0)
        kubeconfig_file_fini(&files[--n]);
    return r;
}

static struct kube_target read_text(const char *text)
{
    struct kube_target target = {0};
    struct err err = {.text = ""};
    if (choose(&text, 1, NULL, &target, &err) < 0)
        fail_msg("%s\nfor:\n%s", err.text, text);
    return target;
}

/* Three lines; the cluster starts at line 4, column 5. */
#define HEAD                                                                                       \
    "contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n"                  \
    "clusters: [{name: c, cluster:\n"
#define CLUSTER(fields) HEAD "    {" fields "}}]\nusers: [{name: u, user: {}}]\n"
/* The user starts at line 4, column 3. */
#define USER(fields)                                                                               \
    "contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n"                  \
    "clusters: [{name: c, cluster: {server: 'https://h'}}]\n"                                      \
    "users: [{name: u, user: {\n" fields "}}]\n"
#define EXEC(fields) USER("exec: {" fields "}")
#define V1 "apiVersion: client.authentication.k8s.io/v1"

static void test_a_cluster(void **state)
{
    (void)state;
    struct kube_target target = read_text(
        CLUSTER("server: 'https://[::1]:6443/k8s/c-1//', tls-server-name: k8s.local, "
                "proxy-url: 'socks5://user:pass@10.0.0.1:1080', "
                "certificate-authority-data: " PEM_64 ", certificate-authority: gone.crt, "
                "disable-compression: true, future: [1]"));
    assert_string_equal(target.server, "https://[::1]:6443/k8s/c-1");
    assert_string_equal(target.tls_server_name, "k8s.local");
    assert_string_equal(target.proxy_url, "socks5://user:pass@10.0.0.1:1080");
    assert_string_equal(target.ca_pem, PEM);
    assert_string_equal(target.ca_file, "/etc/a/gone.crt");
    assert_false(target.insecure);
    assert_string_equal(target.source, "kubeconfig /etc/a/config, context c");
    kube_target_fini(&target);
    assert_null(target.server);
}

static void test_a_cluster_without_verification(void **state)
{
    (void)state;
    struct kube_target target =
        read_text(CLUSTER("server: 'http://10.0.0.1', insecure-skip-tls-verify: true"));
    assert_true(target.insecure);
    assert_null(target.ca_file);
    assert_null(target.token);
    assert_null(target.exec.command);
    kube_target_fini(&target);
}

static void test_a_user(void **state)
{
    (void)state;
    struct kube_target target = read_text(USER(
        "token: ' abc.def==\\n', tokenFile: ../t, client-certificate: /dev/null, "
        "client-key-data: " PEM_64 ", username: '', password: , as-groups: [], extensions: []"));
    assert_string_equal(target.token, "abc.def==\\n");
    assert_string_equal(target.token_file, "/etc/a/../t");
    assert_string_equal(target.cert_file, "/dev/null");
    assert_null(target.cert_pem);
    assert_string_equal(target.key_pem, PEM);
    assert_null(target.key_file);
    kube_target_fini(&target);
}

static void test_a_context_may_have_no_user(void **state)
{
    (void)state;
    struct kube_target target =
        read_text("contexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"
                  "clusters: [{name: c, cluster: {server: 'https://h'}}]\n");
    assert_string_equal(target.server, "https://h");
    assert_null(target.token);
    kube_target_fini(&target);
}

/* The plugin's argument. */
static const char *argument(const struct kube_target *target, size_t i)
{
    return target->exec.args ? target->exec.args[i] : "no arguments";
}

static const char *value_of(const struct kube_target *target, const char *name)
{
    for (size_t i = 0; target->exec.env && i < target->exec.n_env; i++) {
        if (strcmp(target->exec.env[i].name, name) == 0)
            return target->exec.env[i].value;
    }
    return "no such variable";
}

static void test_a_plugin(void **state)
{
    (void)state;
    struct kube_target target = read_text(
        "contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n"
        "clusters: [{name: c, cluster: {server: 'https://h', extensions: [{name: other, extension: "
        "1}, {name: client.authentication.k8s.io/exec, extension: {audience: x}}]}}]\n"
        "users: [{name: u, user: {exec: {" V1 ", command: bin/aws, args: [eks, '', \"3\"], "
        "env: [{name: A, value: b}, {name: EMPTY}], installHint: get it, provideClusterInfo: true, "
        "interactiveMode: IfAvailable}}}]\n");
    const struct kube_exec *exec = &target.exec;
    assert_string_equal(exec->command, "/etc/a/bin/aws");
    assert_string_equal(argument(&target, 0), "eks");
    assert_string_equal(argument(&target, 1), "");
    assert_string_equal(argument(&target, 2), "3");
    assert_null(argument(&target, 3));
    assert_int_equal(exec->n_env, 2);
    assert_string_equal(value_of(&target, "A"), "b");
    assert_string_equal(value_of(&target, "EMPTY"), "");
    assert_string_equal(exec->install_hint, "get it");
    assert_true(exec->provide_cluster_info);
    assert_string_equal(exec->cluster_config, "{\"audience\":\"x\"}");
    kube_target_fini(&target);
    target = read_text(EXEC(V1 ", command: aws"));
    assert_string_equal(target.exec.command, "aws");
    assert_null(argument(&target, 0));
    assert_false(target.exec.provide_cluster_info);
    kube_target_fini(&target);
}

static void test_a_kubeconfig_may_be_json(void **state)
{
    (void)state;
    struct kube_target target = read_text(
        "{\"kind\": \"Config\", \"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\": "
        "\"c\"}}],\n\"current-context\": \"c\", \"clusters\": [{\"name\": \"c\", \"cluster\":\n"
        "{\"server\": \"https://h:1\"}}]}");
    assert_string_equal(target.server, "https://h:1");
    kube_target_fini(&target);
}

static const char *const FIRST = "current-context: ''\n"
                                 "contexts: [{name: x, context: {cluster: x, user: x}}]\n"
                                 "clusters: [{name: x, cluster: {server: 'https://first'}}]\n";
static const char *const SECOND =
    "current-context: x\n"
    "contexts: [{name: x, context: {cluster: z}}, {name: z, context: {cluster: z, user: x}}]\n"
    "clusters: [{name: x, cluster: {server: 'https://no', tls-server-name: no}},\n"
    "  {name: z, cluster: {server: 'https://second'}}]\n"
    "users: [{name: x, user: {tokenFile: token}}]\n";
static const char *const THIRD = "current-context: z\n"
                                 "users: [{name: x, user: {token: no}}]\n";

static void test_files_are_merged(void **state)
{
    (void)state;
    const char *const texts[] = {FIRST, SECOND, THIRD};
    struct kube_target target = {0};
    assert_int_equal(choose(texts, 3, NULL, &target, NULL), 0);
    assert_string_equal(target.server, "https://first");
    assert_null(target.tls_server_name);
    assert_string_equal(target.token_file, "/etc/b/token");
    assert_null(target.token);
    assert_string_equal(target.source, "kubeconfig /etc/a/config, context x");
    kube_target_fini(&target);
    assert_int_equal(choose(texts, 3, "z", &target, NULL), 0);
    assert_string_equal(target.server, "https://second");
    assert_string_equal(target.source, "kubeconfig /etc/b/config, context z");
    kube_target_fini(&target);
}

#define PATH "/etc/a/config:"

static void check_faults(void **state)
{
    const struct fault_table *table = *state;
    for (size_t i = 0; i < table->n; i++) {
        const struct fault *fault = &table->faults[i];
        struct kube_target target;
        struct err err = {.text = "(no message)"};
        int r = choose(&fault->text, 1, NULL, &target, &err);
        if (r != -EINVAL || strncmp(err.text, PATH, strlen(PATH)) != 0 ||
            strcmp(err.text + strlen(PATH), fault->message) != 0)
            fail_msg("%s\ngives %d %s\nshould  %s", fault->text, r, err.text, fault->message);
    }
}

static const struct fault CONTEXTS[] = {
    {"", "1:1: current-context: is missing, should be one of the contexts: (there is none)"},
    {"eyJhbGciOiJSUzI1NiJ9",
     "1:1: kubeconfig: is a string, should be a mapping with clusters, users, contexts"},
    {"a: [",
     "2:1: did not find expected node content (while parsing a flow node that begins at 2:1)"},
    {"contexts: [{name: a}, {name: b}, {}]\n",
     "1:1: current-context: is missing, should be one of the contexts: a, b"},
    {"current-context: ''\ncontexts: [{name: a}]\n",
     "1:18: current-context: is missing, should be one of the contexts: a"},
    {"current-context: 7\n", "1:18: current-context: is a whole number, should be a string, "
                             "in quotes"},
    {"contexts: [{name: a}]\ncurrent-context: c\n",
     "2:18: current-context: is \"c\", should be one of the contexts: a"},
    {"current-context: a\ncontexts: {name: a}\n", "2:11: contexts: is an object, should be a list"},
    {"current-context: a\ncontexts: [a]\n",
     "2:12: contexts[0]: is a string, should be a mapping with a name"},
    {"current-context: a\ncontexts: [{name: a}, {name: 3}]\n",
     "2:30: contexts[1].name: is a whole number, should be a string, in quotes"},
    {"current-context: a\ncontexts: [{name: a}, {name: b}, {name: a}]\n",
     "2:34: contexts[2]: has the same name as contexts[0], should be unique"},
    {"current-context: a\ncontexts: [{name: a, context: b}]\n",
     "2:31: contexts[0].context: is a string, should be a mapping"},
    {"current-context: a\ncontexts: [{name: a}]\n",
     "2:12: contexts[0].context.cluster: is missing, should be a cluster"},
    {"current-context: a\ncontexts: [{name: a, context: {cluster: x}}]\nclusters: [{name: "
     "z}]\n",
     "2:41: contexts[0].context.cluster: is \"x\", should be one of the clusters: z"},
    {"current-context: a\ncontexts: [{name: a, context: {cluster: x}}]\nclusters: [{name: "
     "x}]\n",
     "3:12: clusters[0].cluster: is missing, should be a cluster"},
    {"current-context: a\ncontexts: [{name: a, context: {cluster: x, user: "
     "z}}]\nclusters: [{name: x, cluster: {server: 'https://h'}}]\n",
     "2:50: contexts[0].context.user: is \"z\", should be one of the users: (there is none)"},
};

#define SERVER_FAULT                                                                               \
    "clusters[0].cluster.server: cannot be used, should be an address such as "                    \
    "https://10.0.0.1:6443"

#define PROXY_FAULT                                                                                \
    "clusters[0].cluster.proxy-url: cannot be used, should be the address of an http, https or "   \
    "socks5 proxy, such as http://10.0.0.1:3128"

static const struct fault CLUSTERS[] = {
    {CLUSTER("server: ''"),
     "4:14: clusters[0].cluster.server: is missing, should be an address such as "
     "https://10.0.0.1:6443"},
    {CLUSTER("server: [1]"),
     "4:14: clusters[0].cluster.server: is an array, should be a string, in quotes"},
    {CLUSTER("server: 'localhost:8080'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'ftp://h'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'https://'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'https://h:'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'https://h:0'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'https://h:65536'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'https://::1:6443'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'https://[::1'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'https://user:pass@h'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'https://h?x'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: \"https://h/\\r\\nHost: x\""), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'https://h', proxy-url: 'socks4://p:1'"), "4:38: " PROXY_FAULT},
    {CLUSTER("server: 'https://h', proxy-url: 'http://u:%0ap@p:1'"), "4:38: " PROXY_FAULT},
    {CLUSTER("server: 'https://h', proxy-url: 'http://[1.2.3.4]:1'"), "4:38: " PROXY_FAULT},
    {CLUSTER("server: 'https://[1.2.3.4]:1'"), "4:14: " SERVER_FAULT},
    {CLUSTER("server: 'https://h', tls-server-name: 'a b'"),
     "4:44: clusters[0].cluster.tls-server-name: cannot be used, should be the name in the "
     "server's certificate, such as kubernetes.default.svc"},
    {CLUSTER("server: 'https://h', insecure-skip-tls-verify: 'yes'"),
     "4:53: clusters[0].cluster.insecure-skip-tls-verify: is a string, should be true or "
     "false"},
    {CLUSTER("server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: x"),
     "4:53: clusters[0].cluster.insecure-skip-tls-verify: is true beside a "
     "certificate-authority, should be one of the two"},
    {CLUSTER("server: 'https://h', certificate-authority: gone.crt"),
     "4:50: clusters[0].cluster.certificate-authority: /etc/a/gone.crt cannot be read: No such "
     "file or directory"},
    {CLUSTER("server: 'https://h', certificate-authority-data: '%'"),
     "4:55: clusters[0].cluster.certificate-authority-data: is not base64, should be the "
     "base64 of a PEM text"},
    {CLUSTER("server: 'https://h', certificate-authority-data: Zm9v"),
     "4:55: clusters[0].cluster.certificate-authority-data: is not PEM, should be the base64 "
     "of a PEM text"},
    {CLUSTER("server: 'https://h', extensions: 1"),
     "4:39: clusters[0].cluster.extensions: is a whole number, should be a list"},
};

static const struct fault UNSUPPORTED[] = {
    {USER("username: admin"), "5:11: users[0].user.username: is not supported, should be a "
                              "token, tokenFile, client certificate or exec"},
    {USER("password: SECRET"), "5:11: users[0].user.password: is not supported, should be a "
                               "token, tokenFile, client certificate or exec"},
    {USER("auth-provider: {name: gcp}"),
     "5:16: users[0].user.auth-provider: is not supported, should be exec with the provider's "
     "plugin"},
    {USER("token: t, as: admin"), "5:15: users[0].user.as: is not supported, should be left "
                                  "out: this service does not impersonate users"},
    {USER("as-uid: 1"), "5:9: users[0].user.as-uid: is not supported, should be left out: this "
                        "service does not impersonate users"},
    {USER("as-groups: [g]"), "5:12: users[0].user.as-groups: is not supported, should be left "
                             "out: this service does not impersonate users"},
    {USER("as-user-extra: {a: [b]}"),
     "5:16: users[0].user.as-user-extra: is not supported, should be left out: this service "
     "does not impersonate users"},
};

static const struct fault USERS[] = {
    {USER("token: 123"),
     "5:8: users[0].user.token: is a whole number, should be a string, in quotes"},
    {USER("token: ' '"), "5:8: users[0].user.token: is empty, should be a token"},
    {USER("token: \"SECRET\\r\\nHost: x\""),
     "5:8: users[0].user.token: has a character that is not allowed in a token"},
    {USER("token: SECR\u00e9T"),
     "5:8: users[0].user.token: has a character that is not allowed in a token"},
    {USER("client-certificate-data: " PEM_64),
     "4:25: users[0].user.client-key: is missing, should be the key of client-certificate"},
    {USER("client-key-data: " PEM_64),
     "4:25: users[0].user.client-certificate: is missing, should be the certificate of "
     "client-key"},
    {USER("client-certificate-data: " PEM_64 ", client-key: k"),
     "5:64: users[0].user.client-key: /etc/a/k cannot be read: No such file or directory"},
    {USER("client-key-data: SECRET!"),
     "5:18: users[0].user.client-key-data: is not base64, should be the base64 of a PEM text"},
    {USER("token: t, exec: {command: x}"),
     "5:17: users[0].user.exec: is there beside a token, should be one of the two"},
    {"contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n"
     "clusters: [{name: c, cluster: {server: 'https://h'}}]\n"
     "users: [{name: u, user: SECRET}]\n",
     "4:25: users[0].user: is a string, should be a mapping"},
};

static const struct fault PLUGINS[] = {
    {EXEC("command: aws"), "5:7: users[0].user.exec.apiVersion: is missing, should be "
                           "client.authentication.k8s.io/v1"},
    {EXEC("apiVersion: client.authentication.k8s.io/v1beta1, command: aws"),
     "5:20: users[0].user.exec.apiVersion: is client.authentication.k8s.io/v1beta1, should be "
     "client.authentication.k8s.io/v1"},
    {EXEC(V1), "5:7: users[0].user.exec.command: is missing, should be a program's path, or "
               "its name in PATH"},
    {EXEC(V1 ", command: a, interactiveMode: Always"),
     "5:82: users[0].user.exec.interactiveMode: is Always, should be Never or IfAvailable: no "
     "user can answer a prompt"},
    {EXEC(V1 ", command: a, args: -x"),
     "5:71: users[0].user.exec.args: is a string, should be a list"},
    {EXEC(V1 ", command: a, args: [-x, 3]"),
     "5:76: users[0].user.exec.args[1]: is a whole number, should be a string, in quotes"},
    {EXEC(V1 ", command: a, env: {name: A, value: b}"),
     "5:70: users[0].user.exec.env: is an object, should be a list"},
    {EXEC(V1 ", command: a, env: [A]"),
     "5:71: users[0].user.exec.env[0]: is a string, should be a mapping of name and value"},
    {EXEC(V1 ", command: a, env: [{value: SECRET}]"),
     "5:71: users[0].user.exec.env[0].name: is missing, should be the name of an environment "
     "variable"},
    {EXEC(V1 ", command: a, env: [{name: A=B}]"),
     "5:78: users[0].user.exec.env[0].name: is a string, should be the name of an environment "
     "variable"},
    {EXEC(V1 ", command: a, env: [{name: A, value: 3}]"),
     "5:88: users[0].user.exec.env[0].value: is a whole number, should be a string, in quotes"},
    {EXEC(V1 ", command: a, provideClusterInfo: 1"),
     "5:85: users[0].user.exec.provideClusterInfo: is a whole number, should be true or "
     "false"},
};

static void test_an_absent_context_is_an_error(void **state)
{
    (void)state;
    const char *const texts[] = {FIRST, SECOND};
    struct kube_target target;
    struct err err;
    assert_int_equal(choose(texts, 2, "prod", &target, &err), -EINVAL);
    assert_string_equal(err.text,
                        "/etc/a/config: has no context \"prod\", should be one of: x, x, z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cluster),
        cmocka_unit_test(test_a_cluster_without_verification),
        cmocka_unit_test(test_a_user),
        cmocka_unit_test(test_a_context_may_have_no_user),
        cmocka_unit_test(test_a_plugin),
        cmocka_unit_test(test_a_kubeconfig_may_be_json),
        cmocka_unit_test(test_files_are_merged),
        FAULT_TABLE("faults of contexts", check_faults, CONTEXTS),
        FAULT_TABLE("faults of clusters", check_faults, CLUSTERS),
        FAULT_TABLE("unsupported members are rejected by name", check_faults, UNSUPPORTED),
        FAULT_TABLE("faults of users", check_faults, USERS),
        FAULT_TABLE("faults of plugins", check_faults, PLUGINS),
        cmocka_unit_test(test_an_absent_context_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
