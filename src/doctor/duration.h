/*
 * duration: times as Kubernetes' configuration files have them: "3s", "1m30s", "500ms".
 *
 * Source: time.ParseDuration of Go, which reads metav1.Duration.
 */
#ifndef DOCTOR_DURATION_H
#define DOCTOR_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* False: the text is no duration, or longer than a thousand years. Less than a millisecond is
 * dropped. */
bool duration_parse(const char *text, int64_t *ret_ms);

#endif
