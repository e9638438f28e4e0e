/*
 * syntax: how the words of the configuration must be spelled. Whether an address can be listened
 * on, or a label exists, is not known here.
 */
#ifndef CONFIG_SYNTAX_H
#define CONFIG_SYNTAX_H

/* NULL where the text is right, else what would be right ("a ..., such as ..."). */
typedef const char *syntax_check(const char *text);

/* IPV4:PORT or [IPV6]:PORT; port 0 is allowed (any free one). */
syntax_check syntax_address;
/* Any: whether there is such a file is not known here. */
syntax_check syntax_path;
/* DOMAIN/NAME as Kubernetes has it for extended resources; NAME may end in '*'. */
syntax_check syntax_resource;
/* A Kubernetes label key, [DOMAIN/]NAME. */
syntax_check syntax_label_key;
/* The value of a label; may be empty. */
syntax_check syntax_label_value;
/* A DNS label, as the names of namespaces are. */
syntax_check syntax_dns_label;
/* The same, or nothing. */
syntax_check syntax_dns_label_or_none;
/* Left side of an alias: printable ASCII with at least a letter or digit. */
syntax_check syntax_alias;
/* A model name that types/gpu_model.h can read. */
syntax_check syntax_model;

#endif
