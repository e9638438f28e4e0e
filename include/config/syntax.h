/*
 * syntax: spelling rules for configured values. Whether an address is available, or a label exists,
 * is not checked.
 */
#ifndef CONFIG_SYNTAX_H
#define CONFIG_SYNTAX_H

/* Returns NULL if the text is valid, else a description of valid ones ("a ..., such as ..."). */
typedef const char *syntax_check(const char *text);

/* IPV4:PORT or [IPV6]:PORT; port 0 means any free port. */
syntax_check syntax_address;
/* Accepts any; the file need not exist. */
syntax_check syntax_path;
/* DOMAIN/NAME like Kubernetes extended resources; NAME may end in '*'. */
syntax_check syntax_resource;
/* The same without '*'. */
syntax_check syntax_whole_resource;
/* A Kubernetes label key, [DOMAIN/]NAME. */
syntax_check syntax_label_key;
/* The same, with one '*' anywhere. */
syntax_check syntax_label_pattern;
/* The value of a label; a final '*' matches any ending. */
syntax_check syntax_value_pattern;
/* The value of a label; may be empty. */
syntax_check syntax_label_value;
/* "require LEVEL", "prefer LEVEL" or "", whatever LEVEL is. */
syntax_check syntax_domain_wish;
/* A name of gangs.conventions. */
syntax_check syntax_gang_convention;
/* A DNS label, like names of namespaces. */
syntax_check syntax_dns_label;
/* A DNS label or "". */
syntax_check syntax_dns_label_or_none;
/* Left side of an alias: printable ASCII with at least one letter or digit. */
syntax_check syntax_alias;
/* A DNS subdomain, like names of pods. */
syntax_check syntax_object_name;
/* The name of a DRA driver: a DNS subdomain of at most 63 characters. */
syntax_check syntax_driver;
/* The name of a device's attribute, without a domain. */
syntax_check syntax_attribute;
/* A model name that types/gpu_model.h can parse. */
syntax_check syntax_model;

#endif
