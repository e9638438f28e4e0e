/* kubeconfig_exec: a user's credential plugin, and what its cluster holds for it. See
 * kubeconfig_fields.h. */
#include "base/mem.h"
#include "formats/json_put.h"
#include "kubeconfig_fields.h"

#include <string.h>

#define API_VERSION "client.authentication.k8s.io/v1"
#define EXTENSION "client.authentication.k8s.io/exec"

/* Older plugins' answers have another meaning of what is missing; all current ones speak v1. */
static int check_version(const struct kubeconfig_value *exec, struct err *err)
{
    struct kubeconfig_value version;
    int r = kubeconfig_get(exec, "apiVersion", JSON_STRING, &version, err);
    if (r < 0)
        return r;
    if (!version.value)
        return kubeconfig_wrong(&version, API_VERSION, err);
    const char *text = json_string_value(version.value);
    if (strcmp(text, API_VERSION) != 0)
        return kubeconfig_fault(&version, err, "is %.60s, should be %s", text, API_VERSION);
    return 0;
}

static int check_mode(const struct kubeconfig_value *exec, struct err *err)
{
    struct kubeconfig_value mode;
    int r = kubeconfig_get(exec, "interactiveMode", JSON_STRING, &mode, err);
    if (r < 0 || !mode.value)
        return r;
    const char *text = json_string_value(mode.value);
    if (strcmp(text, "Never") == 0 || strcmp(text, "IfAvailable") == 0)
        return 0;
    return kubeconfig_fault(
        &mode, err, "is %.60s, should be Never or IfAvailable: nobody is there to be asked", text);
}

static int read_command(const struct kubeconfig_value *exec, char **ret_command, struct err *err)
{
    struct kubeconfig_value command;
    int r = kubeconfig_get(exec, "command", JSON_STRING, &command, err);
    if (r < 0)
        return r;
    if (!command.value)
        return kubeconfig_wrong(&command, "a program's path, or its name in PATH", err);
    const char *text = json_string_value(command.value);
    *ret_command = strchr(text, '/') ? kubeconfig_path(&command) : mem_strdup(text);
    return 0;
}

static int read_args(const struct kubeconfig_value *exec, char ***ret_args, struct err *err)
{
    struct kubeconfig_value list;
    int r = kubeconfig_get(exec, "args", JSON_ARRAY, &list, err);
    if (r < 0)
        return r;
    size_t n = json_array_size(list.value);
    for (size_t i = 0; i < n; i++) {
        const struct kubeconfig_value item = kubeconfig_item(&list, i);
        if (!json_is_string(item.value))
            return kubeconfig_wrong(&item, "a string, in quotes", err);
    }
    *ret_args = MEM_ARRAY(char *, n + 1);
    for (size_t i = 0; i < n; i++)
        (*ret_args)[i] = mem_strdup(json_string_value(json_array_get(list.value, i)));
    return 0;
}

static int read_variable(const struct kubeconfig_value *item, struct kube_exec *exec,
                         struct err *err)
{
    struct kubeconfig_value name = {0};
    struct kubeconfig_value value = {0};
    if (!json_is_object(item->value))
        return kubeconfig_wrong(item, "a mapping of name and value", err);
    int r = kubeconfig_get(item, "name", JSON_STRING, &name, err);
    if (r == 0)
        r = kubeconfig_get(item, "value", JSON_STRING, &value, err);
    if (r < 0)
        return r;
    if (!name.value || strchr(json_string_value(name.value), '='))
        return kubeconfig_wrong(&name, "the name of an environment variable", err);
    exec->env[exec->n_env++] = (struct kube_env_var){
        mem_strdup(json_string_value(name.value)),
        mem_strdup(value.value ? json_string_value(value.value) : ""),
    };
    return 0;
}

static int read_env(const struct kubeconfig_value *object, struct kube_exec *exec, struct err *err)
{
    struct kubeconfig_value list;
    int r = kubeconfig_get(object, "env", JSON_ARRAY, &list, err);
    if (r < 0 || !list.value)
        return r;
    size_t n = json_array_size(list.value);
    exec->env = MEM_ARRAY(struct kube_env_var, n);
    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct kubeconfig_value item = kubeconfig_item(&list, i);
        r = read_variable(&item, exec, err);
    }
    return r;
}

int kubeconfig_read_exec(const struct kubeconfig_value *exec, struct kube_exec *ret_exec,
                         struct err *err)
{
    struct kubeconfig_value hint = {0};
    struct kubeconfig_value with_cluster = {0};
    int r = check_version(exec, err);
    if (r == 0)
        r = check_mode(exec, err);
    if (r == 0)
        r = read_command(exec, &ret_exec->command, err);
    if (r == 0)
        r = read_args(exec, &ret_exec->args, err);
    if (r == 0)
        r = read_env(exec, ret_exec, err);
    if (r == 0)
        r = kubeconfig_get(exec, "installHint", JSON_STRING, &hint, err);
    if (r == 0)
        r = kubeconfig_get(exec, "provideClusterInfo", JSON_TRUE, &with_cluster, err);
    if (r < 0)
        return r;
    if (hint.value)
        ret_exec->install_hint = mem_strdup(json_string_value(hint.value));
    ret_exec->provide_cluster_info = json_is_true(with_cluster.value);
    return 0;
}

int kubeconfig_read_exec_cluster(const struct kubeconfig_value *cluster, struct kube_exec *ret_exec,
                                 struct err *err)
{
    struct kubeconfig_value list;
    int r = kubeconfig_get(cluster, "extensions", JSON_ARRAY, &list, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const json_t *item = json_array_get(list.value, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        json_t *extension = json_object_get(item, "extension");
        size_t len = 0;
        if (!name || strcmp(name, EXTENSION) != 0 || !extension || ret_exec->cluster_config)
            continue;
        ret_exec->cluster_config = json_take_text(json_incref(extension), JSON_COMPACT, &len);
    }
    return 0;
}
