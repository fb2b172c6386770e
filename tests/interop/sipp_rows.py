# SPDX-License-Identifier: MIT
"""The scenarios: name, file in sipp/, what is given to it, what the call object
says afterwards; the rest is explained at Row."""
from sipp_run import (
    CALLER, HUNG_UP, STOPPED, Row, check_digest, check_invite, check_mapped,
    check_redirected, cut_and_stop, cut_when_ringing, from_number, has, lacks,
    says, stop_second, stop_when_asked, stop_when_refused, stop_when_replaced,
    stop_when_ringing, stop_when_trying, stop_when_up, variables, wait_gone)

ALICE = {"sip_username": "alice", "sip_password": "right"}
SHORT = {"PARLEY_SIP_RING_TIMEOUT_S": "5", "PARLEY_MEDIA_TIMEOUT_S": "5"}
ONE_CALL = {"PARLEY_AGENT_MAX_CALLS": "1"}
ONE_A_SECOND = {"PARLEY_SIP_INVITES_PER_S": "1",
                "PARLEY_SIP_INVITES_BURST": "1"}
IPV6 = {"PARLEY_SIP_LISTEN": "::1"}
ELSEWHERE = {"PARLEY_SIP_ALLOWED_NETWORKS": "192.0.2.0/24, 2001:db8::/32"}
KNOWN = {"PARLEY_SIP_REQUIRE_CLIENT_CERTIFICATE": "on"}
SHOWS = ["cert = {data}/node.pem", "key = {data}/node.key"]
ASKS = ["CAfile = {ca}", "verifyChain = yes"]


def refused(name, status, **given):
    return Row(f"in: {name}", "in_refused", {"status": status, **given})


def alone(name, method, status, **given):
    return Row(f"in: {name}", "in_alone", {
        "method": method, "status": status, "body": "none", **given})


def inside(name, method, status, **given):
    return Row(f"in: {name}", "in_request", {
        "method": method, "status": status, "body": "none", **given},
        HUNG_UP)


def rejected(line, call_status, error, **given):
    return Row(f"out: {line}", "out_refused", {"status": line, **given},
               {"status": call_status}, error, is_up=False)


def challenge(header, nonce, more=""):
    return f'{header}: Digest realm="here", nonce="{nonce}"{more}'


WWW, PROXY = "WWW-Authenticate", "Proxy-Authenticate"
ROUTES = ("Record-Route: <sip:one.example;lr>, <sip:two.example;lr>\n"
          "Record-Route: <sip:three.example;lr>")

INBOUND = [
    Row("in: basic call", "in_call", call=HUNG_UP),
    Row("in: we hang up", "in_ended_by_us", call=STOPPED, act=stop_when_up),
    Row("in: number without plus", "in_call", {
        "uri": "sip:{{plain_number}}@127.0.0.1"}, HUNG_UP),
    Row("in: tel URI", "in_call", {"uri": "tel:{{number}}"}, HUNG_UP),
    Row("in: number in To alone", "in_call", {
        "uri": "sip:127.0.0.1:{{sip_port}}"}, HUNG_UP),
    Row("in: number in To, our name before", "in_call", {
        "uri": "sip:trunk@127.0.0.1:{{sip_port}}"}, HUNG_UP),
    Row("in: Max-Forwards 0", "in_call", {"hops": 0}, HUNG_UP),
    Row("in: P-Asserted-Identity", "in_call", {
        "more": "P-Asserted-Identity: \"Ann\" <sip:+14155550144@there>"},
        HUNG_UP, check=from_number("+14155550144")),
    Row("in: long headers", "in_call", {
        "more": "Subject: " + "long " * 1500}, HUNG_UP),
    Row("in: multipart body", "in_call", {"body": "multipart"}, HUNG_UP),
    Row("in: empty Supported", "in_call", {"more": "Supported:"}, HUNG_UP),
    Row("in: Record-Route is repeated", "in_call", {
        "more": ROUTES, "check": has("Record-Route",
                                     "one.example;lr")}, HUNG_UP),
    Row("in: BYE by the route set", "in_ended_by_us", {
        "more": ROUTES, "check": says("BYE sip:sipp@") + says(
            "Route:.*one.example.*Route:.*two.*Route:.*three")},
        STOPPED, act=stop_when_up),
    Row("in: BYE by a strict router", "in_ended_by_us", {
        "more": "Record-Route: <sip:strict.example>",
        "check": says("BYE sip:strict.example SIP/2.0") + has(
            "Route", "sip:sipp@")}, STOPPED, act=stop_when_up),
    Row("in: no offer", "in_offerless", {"body": "none"}, HUNG_UP),
    Row("in: a body that may be ignored", "in_offerless",
        {"body": "optional"}, HUNG_UP),
    Row("in: no offer, no answer", "in_offerless_unanswered",
        call={"status": "failed"}, error="SDP", is_up=False),
    Row("in: BYE before ACK", "in_bye_before_ack",
        call={"status": "canceled"}, is_up=False),
    Row("in: late CANCEL", "in_cancel_late", call=HUNG_UP),
    Row("in: late ACK", "in_ack_late", call=HUNG_UP),
    Row("in: merged request", "in_merged", call=HUNG_UP),
    Row("in: re-INVITE before ACK", "in_reinvite_glare", call=HUNG_UP),
    Row("in: hold and resume", "in_hold", call=HUNG_UP),
    Row("in: re-INVITE without offer", "in_reinvite_offerless",
        call=HUNG_UP),
    Row("in: re-INVITE with new key and port", "in_reinvite", {
        "body": "new_key"}, HUNG_UP),
    Row("in: re-INVITE with another codec", "in_reinvite", {
        "body": "pcma", "says": "RTP/SAVP 8"}, HUNG_UP),
    Row("in: re-INVITE refresh", "in_reinvite", {"body": "sdp"}, HUNG_UP),
    Row("in: re-INVITE drops SRTP", "in_reinvite_refused", {
        "body": "plain", "status": 488, "check": has(
            "Accept", "application/sdp")}, HUNG_UP),
    Row("in: re-INVITE drops the key", "in_reinvite_refused", {
        "body": "no_crypto", "status": 488}, HUNG_UP),
    Row("in: re-INVITE with a strange body", "in_reinvite_refused", {
        "body": "json", "status": 415}, HUNG_UP),
    Row("in: the connection dies", "in_ended_by_us", {}, STOPPED,
        act=cut_and_stop, sees_all=False),
    Row("in: no audio", "in_ended_by_us", {}, {
        "status": "failed"}, "audio", settings=SHORT),
    Row("in: number unknown", "in_refused", {"status": 404}, number=False),
    refused("RTP alone", 488, body="plain"),
    refused("RTP/AVP with a key", 488, body="plain_with_crypto"),
    refused("a key too short", 488, body="short_key"),
    refused("body is no SDP", 400, body="not_sdp"),
    refused("strange body", 415, body="json",
            check=has("Accept", "application/sdp")),
    refused("Require", 420, more="Require: foo, 100rel",
            check=has("Unsupported", "foo") + says("100rel")),
    refused("header over 8 KiB", 513, more="Subject: " + "long " * 1700),
    refused("more than 100 headers", 400, more="\n".join(
        f"X-Line: {n}" for n in range(100))),
    refused("strange scheme", 416, uri="http://127.0.0.1/"),
    alone("OPTIONS", "OPTIONS", 200, check=has("Allow", "INVITE") + has(
        "Accept", "application/sdp") + says("Supported:")),
    alone("unknown method", "MESSAGE", 405, check=has("Allow", "INVITE")),
    alone("strange method", "PARLEZ", 501, check=has("Allow", "INVITE")),
    alone("OPTIONS with Require", "OPTIONS", 420, more="Require: foo",
          check=has("Unsupported", "foo")),
    alone("BYE without dialog", "BYE", 481, to_tag=";tag=gone"),
    alone("UPDATE without dialog", "UPDATE", 481, to_tag=";tag=gone"),
    alone("INFO without dialog", "INFO", 405, to_tag=";tag=gone"),
    alone("CANCEL for nothing", "CANCEL", 481),
    inside("OPTIONS in the call", "OPTIONS", 200,
           check=has("Allow", "BYE")),
    inside("INFO in the call", "INFO", 405, check=has("Allow", "BYE")),
    inside("Require in the call", "UPDATE", 420, more="Require: foo"),
    inside("UPDATE with an offer", "UPDATE", 200, body="new_key",
           check=says("RTP/SAVP .*a=crypto:")),
    inside("UPDATE without an offer", "UPDATE", 200,
           check=lacks("a=crypto:")),
    inside("UPDATE drops SRTP", "UPDATE", 488, body="plain"),
    inside("lower CSeq", "OPTIONS", 500, cseq=0),
    Row("in: requests after BYE", "in_after_bye", call=HUNG_UP),
    Row("in: anonymous", "in_call", {
        "from": "sip:anonymous@anonymous.invalid"}, HUNG_UP,
        check=from_number("anonymous")),
    Row("in: no room", "in_full", call=HUNG_UP, settings=ONE_CALL),
    Row("in: From without a tag", "in_call", {"from_tag": ""}, HUNG_UP),
    Row("in: compact headers", "in_compact", call=HUNG_UP),
    Row("in: UPDATE from a new Contact", "in_target_refresh", {
        "method": "UPDATE", "after": ""}, STOPPED, act=stop_when_up),
    Row("in: SIPS", "in_call", {
        "uri": "sips:{{number}}@127.0.0.1:{{sip_port}}",
        "check": has("Contact", "sips:")}, HUNG_UP),
    Row("in: RTP/SAVPF", "in_call", {
        "body": "savpf", "check": says("RTP/SAVPF 0")}, HUNG_UP),
    Row("in: a key with a lifetime", "in_call", {
        "body": "lifetime", "check": says("a=crypto:7 AES_CM_128")},
        HUNG_UP),
    Row("in: two suites", "in_call", {
        "body": "two_suites", "check": says("a=crypto:2 AES_CM_128")},
        HUNG_UP),
    Row("in: several m-lines", "in_call", {
        "body": "several_lines", "check": says(
            "m=audio 0 RTP/AVP.*m=audio [1-9][0-9]+ RTP/SAVP 0.*"
            "m=video 0 RTP/SAVP")}, HUNG_UP),
    Row("in: session timer, nobody says who", "in_call", {
        "more": "Supported: timer\nSession-Expires: 1800",
        "check": has("Session-Expires", "1800;refresher=ua[cs]")}, HUNG_UP),
    Row("in: session timer, the caller has none", "in_call", {
        "check": lacks("Require:")}, HUNG_UP),
    refused("no codec of ours", 488, body="strange_codec"),
    refused("UNENCRYPTED_SRTP", 488, body="unencrypted"),
    refused("an encoded body", 415, more="Content-Encoding: gzip"),
    Row("in: two at once from one address", "in_flood", call=HUNG_UP,
        settings=ONE_A_SECOND),
    Row("in: a certificate of the caller's", "in_call", call=HUNG_UP,
        settings=KNOWN, tls=SHOWS),
    Row("in: no certificate of the caller's", "in_call", settings=KNOWN,
        act=wait_gone, sees_all=False),
    Row("in: IPv6", "in_call", {
        "uri": "sip:{{number}}@localhost:{{sip_port}};transport=tls",
        "body": "sdp_v6", "check": has("Contact", "@.::1]:") + says(
            "c=IN IP6 ::1")}, HUNG_UP, settings=IPV6),
    Row("in: not from an allowed network", "in_refused", {"status": 403},
        settings=ELSEWHERE),
    refused("From of no SIP address", 400, **{"from": "news:here"}),
    refused("From host is none", 400, **{"from": "sip:a@two..points"}),
    refused("SDP not accepted", 406, more="Accept: text/plain"),
    Row("in: session timer, we refresh", "in_call", {
        "more": "Supported: timer\nSession-Expires: 1800;refresher=uas",
        "check": has("Session-Expires", "1800;refresher=uas") + has(
            "Require", "timer")}, HUNG_UP),
    Row("in: session timer, they refresh", "in_timer", call=HUNG_UP),
    refused("session interval too small", 422,
            more="Supported: timer\nSession-Expires: 60",
            check=has("Min-SE", "90")),
    refused("session interval is none", 400,
            more="Supported: timer\nSession-Expires: soon"),
    Row("in: headers become variables", "in_call", {
        "more": "X-Account: 42\n"
                "User-to-User: 6f72646572;encoding=hex;purpose=shop"},
        HUNG_UP, check=variables(account="42", order="order", shop="a b"),
        mapping=[
            {"type": "custom", "key": "X-Account", "value": "account"},
            {"type": "custom", "key": "shop", "value": "a b",
             "passthrough": True},
            {"type": "uui", "target": "order", "encoding": "hex",
             "purpose": "shop"}]),
]

SEND_AWAY = {
    "name": "Send away",
    "nodes": [{"id": "send", "type": "Transfer Node", "data": {
        "name": "Send", "isStart": True, "text": "Hold.",
        "transferNumber": "+14155550166"}}],
    "edges": []}
THERE = "<sip:+14155550166@localhost:{{trunk_port}}>"
TRANSFERS = [
    inside("REFER without Refer-To", "REFER", 400),
    inside("REFER without a trunk", "REFER", 403,
           more="Refer-To: <sip:+14155550166@localhost>"),
    alone("REFER for no call", "REFER", 403,
          more="Refer-To: <sip:+14155550166@localhost>"),
    inside("NOTIFY nobody asked for", "NOTIFY", 481,
           more="Event: refer\nSubscription-State: active"),
    Row("in: REFER", "in_refer", {
        "refer_to": THERE, "outcome": "200",
        "second_check": has("Referred-By", CALLER[1:])}, STOPPED,
        second="second_taken", act=stop_second),
    Row("in: REFER with Replaces", "in_refer", {
        "refer_to": THERE.replace(
            ">", "?Replaces=a%40b%3Bto-tag%3D1%3Bfrom-tag%3D2>"),
        "outcome": "200", "second_check": has(
            "Replaces", "a@b;to-tag=1;from-tag=2")}, STOPPED,
        second="second_taken", act=stop_second),
    Row("in: REFER after hold", "in_refer", {
        "before": "after_hold", "refer_to": THERE, "outcome": "200",
        "second_check": ""}, STOPPED, second="second_taken",
        act=stop_second),
    Row("in: REFER twice", "in_refer_twice", {"refer_to": THERE}, STOPPED,
        second="second_cancelled", act=stop_when_refused),
    Row("in: REFER to one who is busy", "in_refer", {
        "refer_to": THERE, "outcome": "486"}, HUNG_UP,
        second="second_busy"),
    Row("in: REFER, Refer-Sub: false", "in_refer_untold", {
        "refer_to": THERE, "second_check": ""}, STOPPED,
        second="second_taken", act=stop_second),
    Row("in: REFER elsewhere", "in_request", {
        "method": "REFER", "status": 403, "body": "none",
        "more": "Refer-To: <sip:+14155550166@elsewhere.example>"},
        HUNG_UP),
    Row("in: Replaces", "in_replaced", {"flag": ""}, STOPPED,
        act=stop_when_replaced),
    Row("in: Replaces, early-only", "in_replaces_refused", call=HUNG_UP),
    refused("Replaces of nobody", 481,
            more="Replaces: gone;to-tag=a;from-tag=b"),
    refused("Replaces twice", 400,
            more="Replaces: gone;to-tag=a;from-tag=b\n"
                 "Replaces: gone;to-tag=a;from-tag=c"),
    Row("out: we transfer", "out_transferred", {"outcome": "200 OK"},
        {**STOPPED, "transferred_to": "+14155550166"}, pathway=SEND_AWAY),
    Row("out: we transfer to one who is busy", "out_transferred", {
        "outcome": "486 Busy Here"}, {**STOPPED, "transferred_to": None},
        pathway=SEND_AWAY),
    Row("out: our REFER is refused", "out_transfer_refused", {
        "status": "405 Method Not Allowed"},
        {**STOPPED, "transferred_to": None}, pathway=SEND_AWAY),
]

OUTBOUND = [
    Row("out: basic call", "out_call", call=HUNG_UP, check=check_invite),
    Row("out: we hang up", "out_ended_by_us", call=STOPPED,
        act=stop_when_up),
    Row("out: early media", "out_early", call=HUNG_UP),
    Row("out: early media without SRTP", "out_early", {"early": "plain"},
        HUNG_UP),
    Row("out: ringing without a tag", "out_tagless", call=HUNG_UP),
    Row("out: a dozen forks", "out_many_forks", call=HUNG_UP),
    Row("out: held from the start", "out_call", {"body": "held"}, HUNG_UP),
    Row("out: 200 without Contact", "out_call", {"contact": ""}, HUNG_UP),
    Row("out: the 200 comes again", "out_answer_again", call=HUNG_UP),
    Row("out: fork", "out_fork", call=HUNG_UP),
    Row("out: two ring, none answers", "out_forks_refused",
        call={"status": "busy"}, error="busy", is_up=False),
    Row("out: route set", "out_ended_by_us", {
        "more": ROUTES, "check": has("Route", "three") + says(
            "Route:.*three.example.*Route:.*two.*Route:.*one")},
        STOPPED, act=stop_when_up),
    Row("out: strict router", "out_ended_by_us", {
        "more": "Record-Route: <sip:strict.example>",
        "check": says("sip:strict.example SIP/2.0") + has(
            "Route", "sip:sipp@")}, STOPPED, act=stop_when_up),
    Row("out: answer without SDP", "out_broken_answer", {"body": "none"},
        {"status": "failed"}, "SDP", is_up=False),
    Row("out: answer without SRTP", "out_broken_answer", {"body": "plain"},
        {"status": "failed"}, "SRTP", is_up=False),
    Row("out: answer without a key", "out_broken_answer", {
        "body": "no_crypto"}, {"status": "failed"}, "SRTP", is_up=False),
    Row("out: answer takes no audio", "out_broken_answer", {
        "body": "no_media"}, {"status": "failed"}, "SRTP", is_up=False),
    Row("out: answer with a key for another line", "out_broken_answer", {
        "body": "other_tag"}, {"status": "failed"}, "SRTP", is_up=False),
    Row("out: answer with another codec", "out_broken_answer", {
        "body": "strange_codec"}, {"status": "failed"}, "SRTP", is_up=False),
    Row("out: answer is no SDP", "out_broken_answer", {"body": "not_sdp"},
        {"status": "failed"}, "SDP", is_up=False),
    Row("out: the callee holds", "out_hold", call=HUNG_UP),
    Row("out: OPTIONS by the callee", "out_request", {
        "method": "OPTIONS", "status": 200, "body": "none"}, HUNG_UP),
    Row("out: UPDATE by the callee", "out_request", {
        "method": "UPDATE", "status": 200, "body": "new_key"}, HUNG_UP),
    Row("out: UPDATE before the answer", "out_early_update", call=HUNG_UP),
    Row("out: stopped while it rings", "out_cancel", {"first": "ringing"},
        {"status": "canceled"}, is_up=False, act=stop_when_ringing),
    Row("out: stopped in early media", "out_cancel", {"first": "progress"},
        {"status": "canceled"}, is_up=False, act=stop_when_ringing),
    Row("out: stopped after 100", "out_cancel", {"first": "trying"},
        {"status": "canceled"}, is_up=False, act=stop_when_trying),
    Row("out: nobody answers", "out_cancel", {"first": "ringing"},
        {"status": "no-answer"}, "did not answer", is_up=False,
        settings=SHORT),
    Row("out: stopped before any answer", "out_cancel_early",
        call={"status": "canceled"}, is_up=False, act=stop_when_asked),
    Row("out: stopped, then answered", "out_cancel_early_answered",
        call={"status": "canceled"}, is_up=False, act=stop_when_asked),
    Row("out: CANCEL is refused", "out_cancel_refused",
        call={"status": "canceled"}, is_up=False, act=stop_when_ringing),
    Row("out: CANCEL crosses 200", "out_cancel_late",
        call={"status": "canceled"}, is_up=False, act=stop_when_ringing),
    Row("out: 200 after CANCEL", "out_cancel_answered",
        call={"status": "canceled"}, is_up=False, act=stop_when_ringing),
    Row("out: redirected", "out_redirect", {"redirect":
        "Contact: <sip:+14155550177@localhost:{{trunk_port}}>"}, HUNG_UP,
        check=check_redirected),
    Row("out: redirected, one of two is ours", "out_redirect", {"redirect":
        "Contact: <sip:+14155550188@elsewhere.example>, "
        "<sip:+14155550177@localhost:{{trunk_port}}>"}, HUNG_UP,
        check=check_redirected),
    Row("out: redirected twice", "out_redirect_twice",
        call={"status": "failed"}, error="redirect", is_up=False),
    Row("out: variables become headers", "out_call", call=HUNG_UP, mapping=[
        {"type": "custom", "key": "name", "value": "X-Name"},
        {"type": "custom", "key": "bad", "value": "X-Bad"},
        {"type": "custom", "key": "X-Fixed", "value": "call {{call_id}}",
         "passthrough": True},
        {"type": "uui", "target": "buyer", "encoding": "hex",
         "purpose": "shop", "content": "buyer"}],
        fields={"request_data": {"name": "Ann", "buyer": "Joe",
                                 "bad": "a\r\nX-Evil: b"}},
        check=check_mapped),
    Row("out: the trunk asks who we are", "out_call", call=HUNG_UP,
        tls=ASKS),
    Row("out: session timer", "out_timer", call=HUNG_UP),
    Row("out: our BYE is refused", "out_bye_refused", call=STOPPED,
        act=stop_when_up),
    rejected("422 Session Interval Too Small", "failed", "session timers"),
    rejected("302 Moved Temporarily", "failed", "302",
             contact="Contact: <sip:+14155550177@elsewhere.example>"),
    rejected("403 Forbidden", "failed", "refused"),
    rejected("404 Not Found", "failed", "not found"),
    rejected("408 Request Timeout", "no-answer", "in time"),
    rejected("480 Temporarily Unavailable", "no-answer", "unavailable"),
    rejected("484 Address Incomplete", "failed", "not complete"),
    rejected("486 Busy Here", "busy", "busy"),
    rejected("487 Request Terminated", "canceled", "canceled"),
    rejected("488 Not Acceptable Here", "failed", "SRTP"),
    rejected("500 Server Internal Error", "failed", "internal error"),
    rejected("503 Service Unavailable", "failed", "out of service",
             more="Retry-After: 5"),
    rejected("600 Busy Everywhere", "busy", "busy"),
    rejected("603 Decline", "failed", "declined"),
    rejected("607 Unwanted", "failed", "unwanted"),
    rejected("608 Rejected", "failed", "network"),
    rejected("401 Unauthorized", "failed", "credentials",
             more=challenge(WWW, "n"), contact=""),
    Row("out: the connection dies while it rings", "out_lost",
        call={"status": "failed"}, error="lost", is_up=False,
        act=cut_when_ringing, sees_all=False),
    Row("out: the connection dies in the call", "out_ended_by_us",
        call=STOPPED, act=cut_and_stop, sees_all=False),
]


def digest_row(name, scenario, **given):
    return Row(f"out: {name}", scenario, given, HUNG_UP,
               options=ALICE, check=check_digest)


DIGEST = [
    digest_row("401, MD5, qop", "out_challenged",
               status="401 Unauthorized",
               challenge=challenge(WWW, "n", ', algorithm=MD5, qop="auth"'),
               check=has("Authorization", "qop=auth, nc=00000001")),
    digest_row("407, no qop", "out_challenged",
               status="407 Proxy Authentication Required",
               challenge=challenge(PROXY, "n", ', opaque="kept"'),
               check=has("Proxy-Authorization", "opaque=.kept")),
    digest_row("401, SHA-256", "out_challenged", status="401 Unauthorized",
               challenge=challenge(WWW, "n", ', algorithm=SHA-256, '
                                   'qop="auth,auth-int"'),
               check=has("Authorization", "algorithm=SHA-256")),
    digest_row("401, SHA-512-256, no qop", "out_challenged",
               status="401 Unauthorized",
               challenge=challenge(WWW, "n", ', algorithm=SHA-512-256'),
               check=has("Authorization", "algorithm=SHA-512-256")),
    digest_row("401, MD5-sess", "out_challenged", status="401 Unauthorized",
               challenge=challenge(WWW, "n", ', algorithm=MD5-sess, '
                                   'qop="auth"')),
    digest_row("401, the stronger of two", "out_challenged",
               status="401 Unauthorized",
               challenge=challenge(WWW, "m", ', algorithm=MD5, qop="auth"') +
               "\n" + challenge(WWW, "s", ', algorithm=SHA-256, '
                                'qop="auth"'),
               check=has("Authorization", "algorithm=SHA-256")),
    digest_row("stale nonce", "out_challenged_twice",
               first="401 Unauthorized", second="401 Unauthorized",
               challenge=challenge(WWW, "first", ', qop="auth"'),
               again=challenge(WWW, "second", ', qop="auth", stale=true')),
    digest_row("proxy, then server", "out_challenged_twice",
               first="407 Proxy Authentication Required",
               second="401 Unauthorized",
               challenge=challenge(PROXY, "first", ', qop="auth"'),
               again=challenge(WWW, "second", ', qop="auth"'),
               check=says("Proxy-Authorization: Digest") +
               says("nonce=.first")),
    Row("out: no algorithm of ours", "out_refused", {
        "status": "401 Unauthorized", "contact": "", "more": challenge(
            WWW, "n", ', algorithm=AKAv1-MD5, qop="auth"')},
        {"status": "failed"}, "credentials", is_up=False, options=ALICE),
    Row("out: wrong password", "out_wrong_password", {
        "challenge": challenge(WWW, "first", ', qop="auth"'),
        "again": challenge(WWW, "second", ', qop="auth"')},
        {"status": "failed"}, "credentials", is_up=False,
        options={**ALICE, "sip_password": "wrong"}),
    Row("out: BYE is challenged", "out_bye_challenged", {
        "challenge": challenge(PROXY, "n", ', qop="auth"')}, STOPPED,
        act=stop_when_up, options=ALICE, check=check_digest),
]
ROWS = INBOUND + TRANSFERS + OUTBOUND + DIGEST
