/* unjudged_containers: what containers use that is not judged. See unjudged.h. */
#include "unjudged.h"

#include "formats/json_get.h"
#include "quoted.h"

#include <string.h>

static const char *name_of(const json_t *container, struct lines *lines)
{
    const char *name = json_string_value(json_member(container, "name"));
    return quoted(lines->arena, name ? name : "");
}

static void add_host_ports(const json_t *spec, const json_t *container, struct lines *lines)
{
    /* In the host's network every port is one of the host's. */
    const bool host_network = json_is_true(json_member(spec, "hostNetwork"));
    const json_t *ports = json_member(container, "ports");
    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *entry = json_array_get(ports, i);
        json_int_t port = json_integer_value(json_member(entry, "hostPort"));
        if (port == 0 && host_network)
            port = json_integer_value(json_member(entry, "containerPort"));
        if (port != 0)
            lines_add(lines, "container %s: host port %" JSON_INTEGER_FORMAT,
                      name_of(container, lines), port);
    }
}

/* A request, or the limit that it defaults to. */
static bool has_request(const json_t *object, const char *resource)
{
    const json_t *resources = json_member(object, "resources");
    return json_member(json_member(resources, "requests"), resource) ||
           json_member(json_member(resources, "limits"), resource);
}

static void add_missing_requests(const json_t *spec, const json_t *container, struct lines *lines)
{
    bool cpu = has_request(container, "cpu") || has_request(spec, "cpu");
    bool memory = has_request(container, "memory") || has_request(spec, "memory");
    if (cpu && memory)
        return;
    const char *missing = cpu ? "memory" : memory ? "cpu" : "cpu and memory";
    lines_add(lines, "container %s: no request for %s; a LimitRange could add one",
              name_of(container, lines), missing);
}

/* The names in spec.resourceClaims, as keys. */
static json_t *declared_claims(const json_t *spec)
{
    const json_t *entries = json_member(spec, "resourceClaims");
    json_t *declared = json_object();
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const char *name = json_string_value(json_member(json_array_get(entries, i), "name"));
        if (name)
            (void)json_object_set_new(declared, name, json_true());
    }
    return declared;
}

static void add_claims(const json_t *declared, const json_t *container, struct lines *lines)
{
    const json_t *claims = json_member(json_member(container, "resources"), "claims");
    for (size_t i = 0; i < json_array_size(claims); i++) {
        const char *name = json_string_value(json_member(json_array_get(claims, i), "name"));
        if (name && !json_object_get(declared, name))
            lines_add(lines, "container %s: resource claim %s is not in spec.resourceClaims",
                      name_of(container, lines), quoted_plain(lines->arena, name));
    }
}

void unjudged_containers(const json_t *spec, bool admitted, struct lines *lines)
{
    static const char *const MEMBERS[] = {"containers", "initContainers"};
    json_auto_t *declared = declared_claims(spec);
    for (size_t i = 0; i < sizeof MEMBERS / sizeof MEMBERS[0]; i++) {
        const json_t *containers = json_member(spec, MEMBERS[i]);
        for (size_t j = 0; j < json_array_size(containers); j++) {
            const json_t *container = json_array_get(containers, j);
            add_claims(declared, container, lines);
            add_host_ports(spec, container, lines);
            if (!admitted)
                add_missing_requests(spec, container, lines);
        }
    }
}
