/* SPDX-License-Identifier: MIT */
/* tools/callee/main.c - a simulated far end: a SIP phone on TLS and SRTP that
 * answers, plays a script by speech and keys, and prints what it hears. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "core/loop.h"
#include "core/timer.h"
#include "core/tls.h"
#include "core/work.h"
#include "media/media.h"
#include "sip/ua.h"
#include "tools/callee/party.h"

struct settings {
	const char *certificate, *key, *ca;
	const char *voice;
	const char *record;
	uint64_t port, rtp_min, rtp_max;
	uint64_t reject; /* SIP status; 0: take calls */
	bool is_once;
	bool is_mute; /* rings, never answers */
};

struct callee {
	struct settings settings;
	struct script script;
	struct loop *loop;
	struct work *work;
	struct tls *tls;
	struct media *media;
	struct speech *speech;
	struct ua *ua;
	struct party *party; /* one call at a time */
	struct session *ringing; /* owned; with --ring */
	struct timer *timer; /* closes the party after its callback */
	int status;
};

static const char help[] =
	"usage: callee --certificate FILE --key FILE --ca FILE [OPTIONS] "
	"[STEPS]\n\n"
	"Answers SIP calls over TLS with SRTP, one at a time, and prints what "
	"it hears.\n"
	"Each step waits until the other side has spoken and fallen silent.\n\n"
	"steps, in order:\n"
	"  --say TEXT       speaks\n"
	"  --press DIGITS   presses keys (RFC 4733)\n"
	"  --wait           lets the other side speak once more\n"
	"  --hangup         hangs up\n"
	"options:\n"
	"  --port N         TLS port; 0 (default) picks one and prints it\n"
	"  --reject CODE    refuses each call with this SIP status\n"
	"  --ring           rings and never answers\n"
	"  --voice NAME     voice to speak with\n"
	"  --record FILE    stereo WAV of the call\n"
	"  --once           exits after one call: 0 when it was up\n";

static void after_call(void *arg)
{
	struct callee *callee = arg;

	party_close(&callee->party);
	if (callee->settings.is_once)
		loop_stop(callee->loop);
}

static void on_end(void *owner, const struct leg_end *end)
{
	struct callee *callee = owner;

	callee->status = end->was_up ? EXIT_SUCCESS : EXIT_FAILURE;
	timer_start(callee->timer, 0, after_call, callee);
}

/* ---- ringing without an answer ---- */

static void on_ring_end(void *owner, const struct session_end *end)
{
	struct callee *callee = owner;

	(void)end;
	printf("end: given up by the caller\n");
	fflush(stdout);
	session_close(&callee->ringing);
	if (callee->settings.is_once)
		loop_stop(callee->loop);
}

static int ring(struct callee *callee, struct session *session)
{
	static const struct session_events events = { .on_end = on_ring_end };

	if (callee->ringing)
		return 486;
	callee->ringing = session;
	session_accept(session, &events, callee);
	session_ring(session);
	return 0;
}

static int on_invite(void *owner, struct session *session,
		     const struct ua_invite *invite)
{
	struct callee *callee = owner;
	struct party_options options = {
		.loop = callee->loop,
		.speech = callee->speech,
		.script = &callee->script,
		.voice = callee->settings.voice,
		.record = callee->settings.record,
		.env = { .ua = callee->ua, .media = callee->media },
	};
	struct leg_incoming incoming = { .session = session,
					 .offer = invite->offer };

	printf("call: from %s for %s\n", invite->from_number,
	       invite->to_number);
	fflush(stdout);
	if (callee->settings.reject)
		return (int)callee->settings.reject;
	if (callee->settings.is_mute)
		return ring(callee, session);
	if (callee->party)
		return 486;
	return party_open(&callee->party, &options, &incoming, on_end, callee);
}

static void on_signal(void *owner, int signum)
{
	struct callee *callee = owner;

	(void)signum;
	loop_stop(callee->loop);
}

/* ---- life ---- */

static int open_tls(struct callee *callee)
{
	struct tls_options options = {
		.loop = callee->loop,
		.work = callee->work,
		.certificate_file = callee->settings.certificate,
		.key_file = callee->settings.key,
		.ca_file = callee->settings.ca,
	};
	struct buffer why;
	int err;

	buffer_init(&why, 1024);
	err = tls_open(&callee->tls, &options, &why);
	if (err)
		fprintf(stderr, "callee: %s\n", buffer_str(&why));
	buffer_reset(&why);
	return err;
}

static int open_ua(struct callee *callee)
{
	static const struct ua_events events = { .on_invite = on_invite };
	struct ua_options options = {
		.transport = { .loop = callee->loop,
			       .tls = callee->tls,
			       .public_address = "",
			       .user_agent = "Parley-callee" },
		.domain = "localhost",
		.max_sessions = 1000,
	};

	addr_parse(&options.transport.listen.bind, SLICE("127.0.0.1"),
		   (uint16_t)callee->settings.port);
	return ua_open(&callee->ua, &options, &events, callee);
}

static int open_all(struct callee *callee)
{
	struct media_options media = {
		.port_min = (uint16_t)callee->settings.rtp_min,
		.port_max = (uint16_t)callee->settings.rtp_max,
		.codecs = { MEDIA_PCMU, MEDIA_PCMA },
		.n_codecs = 2,
		.timeout_ms = 30000,
	};
	int err = loop_open(&callee->loop);

	if (!err)
		err = work_open(&callee->work, callee->loop);
	if (!err)
		err = open_tls(callee);
	if (err)
		return err;
	callee->timer = timer_new(callee->loop);
	media.loop = callee->loop;
	media.work = callee->work;
	addr_parse(&media.bind, SLICE("127.0.0.1"), 0);
	err = media_open(&callee->media, &media);
	if (!err)
		err = speech_open_embedded(&callee->speech, callee->loop,
					   callee->work, 1);
	if (!err)
		err = open_ua(callee);
	return err;
}

static void close_all(struct callee *callee)
{
	party_close(&callee->party);
	session_close(&callee->ringing);
	if (callee->ua)
		ua_close(&callee->ua);
	if (callee->speech)
		speech_close(&callee->speech);
	if (callee->media)
		media_close(&callee->media);
	if (callee->timer)
		timer_close(&callee->timer);
	tls_close(&callee->tls);
	if (callee->work)
		work_close(&callee->work);
	if (callee->loop)
		loop_close(&callee->loop);
}

static int serve(struct callee *callee)
{
	int err = open_all(callee);

	if (err) {
		fprintf(stderr, "callee: cannot start: %s\n", strerror(-err));
		callee->status = EXIT_FAILURE;
	} else {
		loop_on_signals(callee->loop, on_signal, callee);
		printf("ready: port %u\n", ua_port(callee->ua));
		fflush(stdout);
		loop_run(callee->loop);
	}
	close_all(callee);
	return callee->status;
}

/* ---- the command line ---- */

enum option_id {
	O_CERTIFICATE = 1,
	O_KEY,
	O_CA,
	O_VOICE,
	O_RECORD,
	O_PORT,
	O_RTP_MIN,
	O_RTP_MAX,
	O_REJECT,
	O_ONCE,
	O_RING,
	O_SAY,
	O_PRESS,
	O_WAIT,
	O_HANGUP,
	O_HELP
};

static int number(uint64_t *out, const char *text, uint64_t max)
{
	if (!slice_to_u64(out, slice_of(text), max))
		return 0;
	fprintf(stderr, "callee: \"%s\" is not a number up to %llu\n", text,
		(unsigned long long)max);
	return -EINVAL;
}

static int take_step(struct script *script, int id, const char *text)
{
	if (id == O_SAY)
		return script_add(script, STEP_SAY, text);
	if (id == O_PRESS)
		return script_add(script, STEP_PRESS, text);
	if (id == O_WAIT)
		return script_add(script, STEP_WAIT, NULL);
	return script_add(script, STEP_HANGUP, NULL);
}

static int take_number(struct settings *settings, int id, const char *text)
{
	if (id == O_PORT)
		return number(&settings->port, text, 65535);
	if (id == O_RTP_MIN)
		return number(&settings->rtp_min, text, 32767);
	if (id == O_RTP_MAX)
		return number(&settings->rtp_max, text, 32768);
	return number(&settings->reject, text, 699);
}

static int take_option(struct callee *callee, int id, const char *text)
{
	struct settings *settings = &callee->settings;
	const char **const texts[] = {
		[O_CERTIFICATE] = &settings->certificate,
		[O_KEY] = &settings->key,
		[O_CA] = &settings->ca,
		[O_VOICE] = &settings->voice,
		[O_RECORD] = &settings->record,
	};

	if (id <= O_RECORD) {
		*texts[id] = text;
		return 0;
	}
	if (id <= O_REJECT)
		return take_number(settings, id, text);
	if (id == O_ONCE)
		settings->is_once = true;
	else if (id == O_RING)
		settings->is_mute = true;
	else
		return take_step(&callee->script, id, text);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "certificate", required_argument, NULL, O_CERTIFICATE },
		{ "key", required_argument, NULL, O_KEY },
		{ "ca", required_argument, NULL, O_CA },
		{ "voice", required_argument, NULL, O_VOICE },
		{ "record", required_argument, NULL, O_RECORD },
		{ "port", required_argument, NULL, O_PORT },
		{ "rtp-min", required_argument, NULL, O_RTP_MIN },
		{ "rtp-max", required_argument, NULL, O_RTP_MAX },
		{ "reject", required_argument, NULL, O_REJECT },
		{ "once", no_argument, NULL, O_ONCE },
		{ "ring", no_argument, NULL, O_RING },
		{ "say", required_argument, NULL, O_SAY },
		{ "press", required_argument, NULL, O_PRESS },
		{ "wait", no_argument, NULL, O_WAIT },
		{ "hangup", no_argument, NULL, O_HANGUP },
		{ "help", no_argument, NULL, O_HELP },
		{ 0 },
	};
	struct callee callee = { .settings = { .rtp_min = 24576,
					       .rtp_max = 32767,
					       .voice = "cmu_us_slt" } };
	struct log_options log = { .level = LOG_WARN, .fd = 2 };
	int id;

	while ((id = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (id == O_HELP)
			return fputs(help, stdout), EXIT_SUCCESS;
		if (id == '?' || take_option(&callee, id, optarg))
			return EXIT_FAILURE;
	}
	if (!callee.settings.certificate || !callee.settings.key ||
	    !callee.settings.ca) {
		fputs(help, stderr);
		return EXIT_FAILURE;
	}
	log_setup(&log);
	return serve(&callee);
}
