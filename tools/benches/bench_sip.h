/* SPDX-License-Identifier: MIT */
/* tools/benches/bench_sip.h - the roles of bench_parts that signal and hear
 * nothing. */
#pragma once

int bench_sip_host(int argc, char **argv);
int bench_sip_load(int argc, char **argv);
int bench_sip_dialer(int argc, char **argv);
int bench_sip_callers(int argc, char **argv);
int bench_sip_callees(int argc, char **argv);
int bench_sip_dialogs(int argc, char **argv);
int bench_sip_text(int argc, char **argv);
