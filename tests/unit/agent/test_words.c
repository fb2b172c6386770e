/* SPDX-License-Identifier: MIT */
/* Words of a sentence: splitting any UTF-8, roots and synonyms, yes and no,
 * numbers and dates as they are said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "agent/engine/dates.h"
#include "agent/engine/extract_text.h"
#include "agent/engine/numbers.h"
#include "agent/engine/stem.h"
#include "agent/engine/words.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void join(char *out, size_t size, const struct words *words)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < words->n; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s",
					 i ? "|" : "", words->word[i].text);
}

static void test_split(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "", "" },
		{ "  ,.!? ", "" },
		{ "Hello, World!", "hello|world" },
		{ "don't stop", "don't|stop" },
		{ "don\xe2\x80\x99t", "don't" },
		{ "\xe2\x80\x9cYes\xe2\x80\x9d \xe2\x80\x94 no", "yes|no" },
		{ "twenty-one", "twenty|one" },
		{ "1,000 or 3.5.", "1000|or|3.5" },
		{ "1,00", "1|00" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "'quoted'", "quoted" },
		{ "a\xc2\xa0"
		  "b",
		  "a|b" },
		{ "\xff\xfe ok", "\xff\xfe|ok" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct words words;
		char text[256];

		words_init(&words, rows[i].text);
		join(text, sizeof(text), &words);
		assert_string_equal(text, rows[i].words);
		words_reset(&words);
	}
}

static void test_null_and_long_texts(void **state)
{
	static char text[6000];
	struct words words;

	words_init(&words, NULL);
	assert_int_equal(words.n, 0);
	words_reset(&words);
	memset(text, 'x', sizeof(text) - 1);
	words_init(&words, text);
	assert_int_equal(words.n, 1);
	assert_int_equal(strlen(words.word[0].text), WORD_SIZE - 1);
	assert_int_equal(words.word[0].end, sizeof(text) - 1);
	words_reset(&words);
	for (size_t i = 1; i < sizeof(text) - 1; i += 2)
		text[i] = ' ';
	words_init(&words, text);
	assert_int_equal(words.n, WORDS_MAX);
	words_reset(&words);
}

static void test_same_root(void **state)
{
	static const struct {
		const char *a, *b;
		bool is_same;
	} rows[] = {
		{ "schedule", "scheduling", true },
		{ "schedule", "booked", true },
		{ "appointments", "appointment", true },
		{ "appointment", "meeting", true },
		{ "cancel", "cancellation", true },
		{ "cancelled", "canceling", true },
		{ "prices", "cost", true },
		{ "companies", "company", true },
		{ "human", "representative", true },
		{ "agent", "operator", true },
		{ "talk", "speaking", true },
		{ "refunded", "refund", true },
		{ "one", "1", true },
		{ "third", "3", true },
		{ "boxes", "box", true },
		{ "confirmation", "confirm", true },
		{ "paying", "payment", true },
		{ "sales", "support", false },
		{ "call", "cancel", false },
		{ "bus", "bu", false },
		{ "price", "prize", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char a[WORD_SIZE], b[WORD_SIZE];

		word_root(a, rows[i].a);
		word_root(b, rows[i].b);
		if ((strcmp(a, b) == 0) != rows[i].is_same)
			fail_msg("%s: %s, %s: %s", rows[i].a, a, rows[i].b, b);
	}
}

static void test_answer(void **state)
{
	static const struct {
		const char *text;
		enum polarity answer;
	} rows[] = {
		{ "yes", POLARITY_YES },
		{ "Yeah, sure.", POLARITY_YES },
		{ "okay", POLARITY_YES },
		{ "that's right", POLARITY_YES },
		{ "of course", POLARITY_YES },
		{ "no problem", POLARITY_YES },
		{ "why not", POLARITY_YES },
		{ "sounds good to me", POLARITY_YES },
		{ "yes I would like to talk about my bill", POLARITY_YES },
		{ "no", POLARITY_NO },
		{ "nope", POLARITY_NO },
		{ "no thank you", POLARITY_NO },
		{ "not really", POLARITY_NO },
		{ "of course not", POLARITY_NO },
		{ "that's not correct", POLARITY_NO },
		{ "I don't want that", POLARITY_NO },
		{ "that is wrong", POLARITY_NO },
		{ "absolutely not", POLARITY_NO },
		{ "I'm not sure", POLARITY_NONE },
		{ "I don't know", POLARITY_NONE },
		{ "no idea", POLARITY_NONE },
		{ "what time is it", POLARITY_NONE },
		{ "turn right at the corner after the bank", POLARITY_NONE },
		{ "", POLARITY_NONE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct words words;

		words_init(&words, rows[i].text);
		if (words_answer(&words) != rows[i].answer)
			fail_msg("\"%s\": %d", rows[i].text,
				 (int)words_answer(&words));
		words_reset(&words);
	}
}

static void test_label_polarity(void **state)
{
	static const struct {
		const char *label;
		enum polarity polarity;
	} rows[] = {
		{ "User says yes", POLARITY_YES },
		{ "user confirms", POLARITY_YES },
		{ "Interested", POLARITY_YES },
		{ "not interested", POLARITY_NO },
		{ "Caller declines", POLARITY_NO },
		{ "User does not agree", POLARITY_NO },
		{ "no", POLARITY_NO },
		{ "wants sales", POLARITY_NONE },
		{ "", POLARITY_NONE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct words words;

		words_init(&words, rows[i].label);
		assert_int_equal(words_polarity(&words), rows[i].polarity);
		words_reset(&words);
	}
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text, *digits;
		double value;
	} rows[] = {
		{ "five", "5", 5 },
		{ "twenty five", "25", 25 },
		{ "twenty-five people", "25", 25 },
		{ "a hundred", "100", 100 },
		{ "two hundred and five", "205", 205 },
		{ "three thousand four hundred twelve", "3412", 3412 },
		{ "two million", "2000000", 2000000 },
		{ "four one five", "415", 415 },
		{ "oh one two", "012", 12 },
		{ "nineteen eighty four", "1984", 1984 },
		{ "twenty twenty six", "2026", 2026 },
		{ "double seven one", "771", 771 },
		{ "triple five", "555", 555 },
		{ "3.5 miles", "3.5", 3.5 },
		{ "three point one four", "3.14", 3.14 },
		{ "1,250 dollars", "1250", 1250 },
		{ "minus four", "4", -4 },
		{ "call 555 0199", "5550199", 5550199 },
		{ "oh I see six", "6", 6 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct number number;
		struct words words;

		words_init(&words, rows[i].text);
		assert_true(number_find(&number, &words, 0));
		assert_string_equal(number.digits, rows[i].digits);
		assert_true(number.value > rows[i].value - 1e-9 &&
			    number.value < rows[i].value + 1e-9);
		words_reset(&words);
	}
}

static void test_no_number(void **state)
{
	static const char *const rows[] = {
		"",	  "oh",	 "hello",	   "second to none",
		"double", "b2b", "hundred percent"
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct number number;
		struct words words;

		words_init(&words, rows[i]);
		if (number_find(&number, &words, 0))
			fail_msg("%s: %s", rows[i], number.digits);
		words_reset(&words);
	}
}

/* Today is Saturday, 2026-11-21: day 20778. */
static void test_dates(void **state)
{
	static const struct {
		const char *text, *date;
	} rows[] = {
		{ "today", "2026-11-21" },
		{ "tomorrow morning", "2026-11-22" },
		{ "the day after tomorrow", "2026-11-23" },
		{ "yesterday", "2026-11-20" },
		{ "on monday", "2026-11-23" },
		{ "next saturday please", "2026-11-28" },
		{ "in three days", "2026-11-24" },
		{ "two weeks from now", "2026-12-05" },
		{ "five days ago", "2026-11-16" },
		{ "march fifth", "2027-03-05" },
		{ "december twenty fourth", "2026-12-24" },
		{ "the 3rd of May 2027", "2027-05-03" },
		{ "May the fourth twenty twenty eight", "2028-05-04" },
		{ "June 7, 1984", "1984-06-07" },
		{ "my birthday is the twenty ninth of february 2000",
		  "2000-02-29" },
		{ "2026-03-05", "2026-03-05" },
		{ "3/5/2026", "2026-03-05" },
		{ "25/12/2026", "2026-12-25" },
		{ "Friday, September 12, 2025 1:39 PM", "2025-09-12" },
		{ "november twenty first", "2026-11-21" },
		{ "hello there", NULL },
		{ "february thirtieth", NULL },
		{ "415 555 1234", NULL },
		{ "i may come", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[DATE_TEXT_SIZE];
		struct words words;
		int64_t days;
		bool is_found;

		words_init(&words, rows[i].text);
		is_found = date_find(&days, &words, 20778);
		if (is_found != (rows[i].date != NULL))
			fail_msg("%s", rows[i].text);
		if (is_found)
			assert_string_equal(date_write(text, days),
					    rows[i].date);
		words_reset(&words);
	}
}

static bool person(char *out, size_t size, const struct words *said)
{
	return extract_person(out, size, said, false);
}

static bool introduced(char *out, size_t size, const struct words *said)
{
	return extract_person(out, size, said, true);
}

static bool phone(char *out, size_t size, const struct words *said)
{
	return extract_digits(out, size, said, 7);
}

static void test_texts(void **state)
{
	static const struct {
		bool (*read)(char *, size_t, const struct words *);
		const char *said, *text;
	} rows[] = {
		{ person, "my name is john smith", "John Smith" },
		{ person, "my name is john smith and I want a refund",
		  "John Smith" },
		{ person, "hi this is maria from accounting", "Maria" },
		{ person, "i'm calling about a bill", NULL },
		{ person, "John Smith", "John Smith" },
		{ person, "it's ann", "Ann" },
		{ person, "j o h n", "John" },
		{ person, "peter speaking", "Peter" },
		{ person, "My name is Zo\xc3\xab.", "Zo\xc3\xab" },
		{ person, "no thanks", NULL },
		{ person, "i would like to know your prices", NULL },
		{ introduced, "billing", NULL },
		{ introduced, "call me ann", "Ann" },
		{ extract_email, "john dot smith at example dot com",
		  "john.smith@example.com" },
		{ extract_email, "my email is j o e five at gmail dot com",
		  "joe5@gmail.com" },
		{ extract_email, "it's joe at gmail", "joe@gmail.com" },
		{ extract_email, "write to Ann.Lee@Example.org please",
		  "Ann.Lee@Example.org" },
		{ extract_email, "mary underscore jane at mail dot co dot uk",
		  "mary_jane@mail.co.uk" },
		{ extract_email, "i am at home", NULL },
		{ extract_email, "@", NULL },
		{ phone, "four one five five five five one two three four",
		  "4155551234" },
		{ phone, "(415) 555-1234", "4155551234" },
		{ phone, "plus one 415 555 1234", "+14155551234" },
		{ phone, "+1 415 555 1234", "+14155551234" },
		{ phone, "five five five double one two three", "5551123" },
		{ phone, "five", NULL },
		{ extract_time, "at three pm", "15:00" },
		{ extract_time, "half past nine", "09:30" },
		{ extract_time, "quarter to one in the afternoon", "12:45" },
		{ extract_time, "ten fifteen am", "10:15" },
		{ extract_time, "3:30 pm works", "15:30" },
		{ extract_time, "noon", "12:00" },
		{ extract_time, "whenever", NULL },
		{ extract_answer, "um well it's a red bicycle please",
		  "red bicycle" },
		{ extract_answer, "yes", "yes" },
		{ extract_answer, "I live at 12 Main Street, Springfield",
		  "12 Main Street, Springfield" },
		{ extract_answer, "", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[EXTRACT_TEXT_SIZE];
		struct words said;
		bool is_found;

		words_init(&said, rows[i].said);
		is_found = rows[i].read(text, sizeof(text), &said);
		if (is_found != (rows[i].text != NULL) ||
		    (is_found && strcmp(text, rows[i].text) != 0))
			fail_msg("\"%s\": %s", rows[i].said,
				 is_found ? text : "nothing");
		words_reset(&said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_null_and_long_texts),
		cmocka_unit_test(test_same_root),
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_label_polarity),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_no_number),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
