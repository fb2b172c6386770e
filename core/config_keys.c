/* SPDX-License-Identifier: MIT */
/* Every setting there is. --help and the documentation print this table. */
#include "core/config.h"

#define TEXT(key, preset, doc)                                                 \
	{                                                                      \
		key, CONFIG_TEXT, preset, 0, 0, NULL, doc, false, false        \
	}
#define FILE_PATH(key, preset, doc)                                            \
	{                                                                      \
		key, CONFIG_TEXT, preset, 0, 0, NULL, doc, false, true         \
	}
#define SECRET(key, doc)                                                       \
	{                                                                      \
		key, CONFIG_TEXT, "", 0, 0, NULL, doc, true, false             \
	}
#define NUMBER(key, preset, min, max, doc)                                     \
	{                                                                      \
		key, CONFIG_NUMBER, preset, min, max, NULL, doc, false, false  \
	}
#define BOOL(key, preset, doc)                                                 \
	{                                                                      \
		key, CONFIG_BOOL, preset, 0, 0, NULL, doc, false, false        \
	}
#define CHOICE(key, preset, choices, doc)                                      \
	{                                                                      \
		key, CONFIG_CHOICE, preset, 0, 0, choices, doc, false, false   \
	}

static const struct config_key keys[] = {
	TEXT("http.listen", "127.0.0.1", "address to serve HTTP on"),
	NUMBER("http.port", "8443", 0, 65535, "port; 0 picks a free one"),
	BOOL("http.tls", "on",
	     "off is for a reverse proxy on the same machine"),
	FILE_PATH("http.certificate", "", "PEM chain for HTTPS"),
	FILE_PATH("http.key", "", "PEM key for HTTPS"),
	TEXT("http.public_url", "",
	     "how clients reach the service; empty: listen and port"),
	SECRET("http.metrics_token",
	       "bearer token for /metrics; empty: loopback alone"),
	NUMBER("http.max_connections", "2000", 1, 100000,
	       "HTTP connections at once"),

	TEXT("sip.listen", "127.0.0.1", "address to serve SIP over TLS on"),
	NUMBER("sip.port", "5061", 0, 65535, "port; 0 picks a free one"),
	FILE_PATH("sip.certificate", "", "PEM chain for SIP"),
	FILE_PATH("sip.key", "", "PEM key for SIP"),
	FILE_PATH("sip.ca_file", "",
		  "PEM authorities trusted for outgoing SIP, beside the "
		  "system's"),
	TEXT("sip.domain", "", "domain of our own SIP addresses"),
	TEXT("sip.public_address", "",
	     "address to announce in SIP; empty: that of the connection"),
	TEXT("sip.allowed_networks", "",
	     "networks that may call in, comma separated; empty: all, but "
	     "strangers are not transferred (REFER)"),
	BOOL("sip.require_client_certificate", "off",
	     "callers must show a certificate we trust"),
	FILE_PATH("sip.client_certificate", "",
		  "PEM chain shown to trunks that ask; empty: "
		  "sip.certificate"),
	FILE_PATH("sip.client_key", "", "PEM key of sip.client_certificate"),
	BOOL("sip.allow_wildcard", "on",
	     "a trunk's certificate for *.example.com serves its names"),
	BOOL("sip.allow_private_trunks", "on",
	     "trunks may be in private networks and on this machine; off where "
	     "organisations are strangers"),
	NUMBER("sip.max_connections", "1024", 1, 100000,
	       "SIP connections from others at once"),
	NUMBER("sip.max_connections_per_address", "128", 0, 100000,
	       "of them from one address; 0: no limit"),
	NUMBER("sip.invites_per_s", "50", 0, 100000,
	       "new calls from one address in a second; 0: no limit"),
	NUMBER("sip.invites_burst", "100", 1, 100000,
	       "new calls from one address at once, after a quiet time"),
	NUMBER("sip.ring_timeout_s", "60", 5, 600,
	       "how long an outgoing call may ring"),
	NUMBER("sip.trace_days", "7", 0, 365,
	       "how long the SIP messages of calls are kept; 0: not at all"),
	NUMBER("sip.session_expires_s", "1800", 90, 86400,
	       "calls are refreshed twice in so long (RFC 4028)"),
	NUMBER("sip.probe_interval_s", "60", 0, 86400,
	       "how often each trunk is asked whether it is there; 0: never"),

	TEXT("media.address", "", "address for audio; empty: sip.listen"),
	TEXT("media.public_address", "",
	     "address to announce for audio; empty: media.address"),
	NUMBER("media.port_min", "16384", 16384, 32768, "first audio port"),
	NUMBER("media.port_max", "32767", 16384, 32768, "last audio port"),
	TEXT("media.codecs", "PCMU,PCMA", "codecs to offer, best first"),
	NUMBER("media.timeout_s", "30", 5, 3600,
	       "a call without audio for so long is ended"),

	FILE_PATH("store.path", "data", "folder for the database and its key"),
	FILE_PATH("recordings.path", "recordings", "folder for recordings"),

	CHOICE("log.level", "info", "debug|info|warn|error|off",
	       "least level to log"),
	CHOICE("log.format", "text", "text|json", "form of a log line"),

	CHOICE("speech.tts", "embedded", "embedded", "voice: embedded"),
	CHOICE("speech.stt", "embedded", "embedded", "recognition: embedded"),
	NUMBER("speech.recognisers", "0", 0, 256,
	       "open recognisers, about 90 MB each; 0: cores + 1"),

	BOOL("webhook.allow_private", "off",
	     "webhooks may go to private networks"),
	BOOL("webhook.allow_loopback", "off",
	     "webhooks may go to this machine"),
	FILE_PATH("webhook.ca_file", "",
		  "PEM authorities trusted for webhooks, beside the system's"),

	NUMBER("shutdown.drain_s", "30", 0, 3600,
	       "how long calls may go on after SIGTERM"),
	NUMBER("agent.max_calls", "500", 1, 100000, "calls at once"),
	NUMBER("agent.max_late_ms", "40", 0, 1000,
	       "no new calls while the loop is later than this, mean of a "
	       "second; 0: never"),
};

const struct config_key *config_keys(size_t *n)
{
	*n = sizeof(keys) / sizeof(keys[0]);
	return keys;
}
