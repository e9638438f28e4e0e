/* clients: see clients.h. */
#include "clients.h"

#include "base/mem.h"
#include "formats/json_get.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_list(char ***texts, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        free((*texts)[i]);
    free(*texts);
    *texts = NULL;
    *n = 0;
}

void clients_fini(struct settings_clients *clients)
{
    free_list(&clients->names, &clients->n_names);
    free_list(&clients->organizations, &clients->n_organizations);
}

static int check_list(const struct yaml_file *file, const struct yaml_value *list, struct err *err)
{
    if (!json_is_array(list->value))
        return yaml_wrong(file, list, "a list of strings", err);
    for (size_t i = 0; i < json_array_size(list->value); i++) {
        char key[24];
        char path[160];
        json_t *item = json_array_get(list->value, i);
        (void)snprintf(key, sizeof key, "%zu", i);
        (void)snprintf(path, sizeof path, "%s[%zu]", list->path, i);
        if (json_string_length(item) == 0)
            return yaml_wrong(file, &(struct yaml_value){list->value, key, path, item},
                              "a string that is not empty", err);
    }
    return 0;
}

static int read_list(const struct yaml_file *file, const struct yaml_value *list, char ***texts,
                     size_t *n, struct err *err)
{
    int r = check_list(file, list, err);
    if (r < 0)
        return r;
    free_list(texts, n);
    *n = json_array_size(list->value);
    *texts = MEM_ARRAY(char *, *n);
    for (size_t i = 0; i < *n; i++)
        (*texts)[i] = mem_strdup(json_string_value(json_array_get(list->value, i)));
    return 0;
}

static int read_member(const struct yaml_file *file, const struct yaml_value *at,
                       struct settings_clients *clients, struct err *err)
{
    if (strcmp(at->key, "names") == 0)
        return read_list(file, at, &clients->names, &clients->n_names, err);
    if (strcmp(at->key, "organizations") == 0)
        return read_list(file, at, &clients->organizations, &clients->n_organizations, err);
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    return yaml_fault(file, &key_only, err, "unknown key; known here: names, organizations");
}

int clients_read(const struct yaml_file *file, const struct yaml_value *at,
                 struct settings_clients *clients, struct err *err)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(at->value))
        return yaml_wrong(file, at, "a mapping of names, organizations", err);
    clients_fini(clients);
    json_object_foreach (at->value, key, value) {
        char path[160];
        (void)snprintf(path, sizeof path, "%s.%s", at->path, key);
        const struct yaml_value member = {at->value, key, path, value};
        int r = json_is_null(value) ? 0 : read_member(file, &member, clients, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_one_of(const char *text, char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, list[i]) == 0)
            return true;
    }
    return false;
}

bool settings_names_client(const struct settings_clients *clients, const char *common_name,
                           const char *const *organizations)
{
    if (is_one_of(common_name, clients->names, clients->n_names))
        return true;
    for (const char *const *each = organizations; *each; each++) {
        if (is_one_of(*each, clients->organizations, clients->n_organizations))
            return true;
    }
    return false;
}
