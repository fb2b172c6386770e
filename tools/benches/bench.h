/* SPDX-License-Identifier: MIT */
/* tools/benches/bench.h - the parts of tools/bench that are written in C: what
 * is measured, its far ends, and floors that do the same system calls and
 * cryptography without us. Each is a role of one program and speaks JSON, a
 * line at a time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

typedef int bench_role_fn(int argc, char **argv);

/* Starts one of the next two, and measures it. */
int bench_media(int argc, char **argv);
int bench_media_host(int argc, char **argv);
int bench_media_floor(int argc, char **argv);
int bench_media_sip(int argc, char **argv);
int bench_http_load(int argc, char **argv);
int bench_tls_floor(int argc, char **argv);
int bench_tls_floor_load(int argc, char **argv);

/* A number among the arguments, "--name N"; preset when it is not there. */
uint64_t bench_number(char **argv, const char *name, uint64_t preset);
/* Likewise a text. */
const char *bench_text(char **argv, const char *name, const char *preset);
