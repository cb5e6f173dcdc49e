/*
 * The values: durations, numbers, signals, lists, words
 */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>

#define HOUR	INT64_C(3600000)

static void
test_durations(void)
{
	static const struct { const char *text; int64_t ms; } rows[] = {
		{ "0", 0 }, { "0s", 0 }, { "0ms", 0 }, { "0m", 0 }, { "0h", 0 },
		{ "0.0", 0 }, { "0.000000000", 0 }, { "000", 0 }, { "1", 1000 },
		{ "2", 2000 }, { "3s", 3000 }, { "1ms", 1 }, { "500ms", 500 },
		{ "1m", 60000 }, { "30m", 1800000 }, { "1h", HOUR },
		{ "24h", 24 * HOUR }, { "007", 7000 },
		{ "0000000000000000000000000000001", 1000 }, { "0.25", 250 },
		{ "0.25s", 250 }, { "0.5m", 30000 }, { "1.5h", 5400000 },
		{ "1.50", 1500 }, { "1.050", 1050 }, { "00.125", 125 },
		{ "0.001", 1 }, { "0.001s", 1 }, { "0.000001h", 4 },
		{ "0.1m", 6000 }, { "0.016m", 960 }, { "12.345678s", 12346 },
		{ "1.999", 1999 }, { "0.3333333333", 334 },
		{ "0.9999999999", 1000 },
		{ "2.000000000000000000000000000000", 2000 },

		/* A part of a millisecond is one, however small. */
		{ "0.5ms", 1 }, { "0.0004", 1 }, { "0.0001ms", 1 },
		{ "0.0000001", 1 }, { "0.0000001h", 1 }, { "1.1ms", 2 },
		{ "0.000000000000000000000000000001", 1 },
		{ "1.0000000000000000000000000000001", 1001 },
		{ "1.0001", 1001 }, { "2.0009s", 2001 },

		/* Years, and longer. */
		{ "99999h", 99999 * HOUR }, { "2000000h", 2000000 * HOUR },
		{ "2147483647", INT64_C(2147483647000) },
		{ "21474836469", INT64_C(21474836469000) },
		{ "21474836469ms", INT64_C(21474836469) },
		{ "21474836469h", INT64_C(21474836469) * HOUR },
		{ "00000021474836469m", INT64_C(21474836469) * 60000 }
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = -2;

		CHECK(rows[i].text, parse_duration(rows[i].text, &ms), true);
		CHECK(rows[i].text, ms, rows[i].ms);
	}
}

static void
test_what_is_no_duration(void)
{
	static const char *const rows[] = {
		"", " ", " 1", "1 ", "\t1", "1\n", "1 s", "1 h", "-1", "+1",
		"-0", "1,5", "1e3", "0x10", "0x", "s", "ms", "m", "h", ".",
		".5", ".s", "1.", "1.s", "1.ms", "1..2", "1.2.3", "1.5.",
		"1.-5", "1. 5", "5S", "5H", "5M", "5MS", "5Ms", "5sec", "5min",
		"5hr", "1d", "1w", "1y", "1us", "1ns", "1ss", "1sm", "1mss",
		"1hs", "1h30m", "1m30", "1s1", "1ms1", "nan", "inf", "INF",
		"infinity", "one", "1:30", "1;", "1/2", "1%", "1s ", "1ms ",
		"1\v", "\xd9\xa1", "\xff", "1\xff", "21474836470",
		"21474836470ms", "99999999999", "99999999999h",
		"9223372036854775807", "9223372036854775808",
		"18446744073709551616", "99999999999999999999",
		"99999999999999999999999999999999999999999999.5h"
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = -2;

		CHECK(rows[i], parse_duration(rows[i], &ms), false);
		CHECK(rows[i], ms, -2);
	}
}

/* Whatever it is, in each unit, with each fraction of three digits. */
static void
test_each_millisecond(void)
{
	static const struct { const char *name; int64_t ms; } units[] = {
		{ "", 1000 }, { "s", 1000 }, { "ms", 1 }, { "m", 60000 },
		{ "h", HOUR }
	};
	char text[32];

	for (size_t u = 0; u < COUNT(units); u++)
		for (int n = 0; n < 3000; n++) {
			int64_t ms = -2, part = n % 1000 * units[u].ms;

			snprintf(text, sizeof(text), "%d.%03d%s", n / 1000,
			    n % 1000, units[u].name);
			CHECK(text, parse_duration(text, &ms), true);
			CHECK(text, ms, n / 1000 * units[u].ms +
			    part / 1000 + (part % 1000 != 0));
		}
}

static void
test_numbers(void)
{
	static const struct {
		const char *s;
		size_t len;
		uint64_t lo, hi, value;
	} rows[] = {
		{ "0", 1, 0, 0, 0 }, { "1", 1, 1, 1, 1 },
		{ "42", 2, 0, 99, 42 }, { "007", 3, 1, 9, 7 },
		{ "99", 2, 0, 99, 99 }, { "8080,9090", 4, 1, 65535, 8080 },
		{ "1 ", 1, 0, 9, 1 }, { "4711:99", 4, 1, INT32_MAX, 4711 },
		{ "65535", 5, 1, 65535, 65535 },
		{ "2147483647", 10, 1, INT32_MAX, INT32_MAX },
		{ "18446744073709551615", 20, 0, UINT64_MAX, UINT64_MAX },
		{ "0000000000000000000000000000001", 31, 0, 9, 1 }
	};
	/* The last one would be 5 if it wrapped. */
	static const struct { const char *s; size_t len; } wrong[] = {
		{ "", 0 }, { "1", 0 }, { " 1", 2 }, { "1 ", 2 }, { "\t1", 2 },
		{ "+1", 2 }, { "-1", 2 }, { "-0", 2 }, { "0x10", 4 },
		{ "x", 1 }, { "1x", 2 }, { "1.0", 3 }, { "1,2", 3 },
		{ "12", 1 }, { ",1", 2 }, { "1e2", 3 }, { "a", 1 },
		{ "\xff", 1 }, { "-", 1 }, { "0", 1 }, { "4", 1 }, { "101", 3 },
		{ "65536", 5 }, { "2147483648", 10 },
		{ "18446744073709551616", 20 }, { "99999999999999999999", 20 },
		{ "18446744073709551621", 20 }	/* 5, if it wrapped */
	};
	uint64_t v;

	for (size_t i = 0; i < COUNT(rows); i++) {
		CHECK(rows[i].s, parse_number(rows[i].s, rows[i].len,
		    rows[i].lo, rows[i].hi, &v), true);
		CHECK(rows[i].s, v, rows[i].value);
	}
	for (size_t i = 0; i < COUNT(wrong); i++)
		CHECK(wrong[i].s, parse_number(wrong[i].s, wrong[i].len, 5, 100,
		    &v), false);
	CHECK("2^64", parse_number("18446744073709551616", 20, 0, UINT64_MAX,
	    &v), false);
}

static void
test_signals(void)
{
	static const struct { const char *text; int signo; } rows[] = {
		{ "TERM", SIGTERM }, { "SIGTERM", SIGTERM },
		{ "sigterm", SIGTERM }, { "SigInt", SIGINT }, { "hup", SIGHUP },
		{ "SIGWINCH", SIGWINCH }, { "Usr1", SIGUSR1 },
		{ "sigUSR2", SIGUSR2 }, { "kill", SIGKILL },
		{ "STOP", SIGSTOP }, { "VTALRM", SIGVTALRM },
		{ "SIGIO", SIGIO }, { "1", 1 }, { "9", 9 }, { "15", 15 },
		{ "64", 64 }, { "015", 15 }
	};
	static const char *const wrong[] = {
		"", "0", "-1", "+15", "65", "1000", "99999999999999999999",
		"TERMX", "TER", "SIGSIGTERM", "SIG", "SIG15", "sig", "TERM ",
		" TERM", "15x", "15,2", "15 ", " 15", "0xf", "SIG TERM",
		"RTMIN", "signal 15", "TERM,INT", "\xff"
	};
	char buf[16], text[32];
	int signo;

	for (size_t i = 0; i < COUNT(rows); i++) {
		CHECK(rows[i].text, parse_signal(rows[i].text, 65, &signo),
		    true);
		CHECK(rows[i].text, signo, rows[i].signo);
	}
	for (size_t i = 0; i < COUNT(wrong); i++)
		CHECK(wrong[i], parse_signal(wrong[i], 65, &signo), false);
	CHECK("64 of 64", parse_signal("64", 64, &signo), false);
	CHECK_TEXT("99", signal_name(99, buf), "signal 99");
	CHECK_TEXT("0", signal_name(0, buf), "signal 0");
	CHECK_TEXT("TERM", signal_name(SIGTERM, buf), "TERM");

	/* What has a name is found by it, with SIG and without. */
	for (int n = 1; n < 65; n++) {
		const char *name = signal_name(n, buf);

		CHECK(name, parse_signal(name, 65, &signo), name != buf);
		if (name == buf)
			continue;
		CHECK(name, signo, n);
		snprintf(text, sizeof(text), "sig%s", name);
		CHECK(text, parse_signal(text, 65, &signo), true);
		CHECK(text, signo, n);
	}
}

static void
test_kinds_of_signals(void)
{
	static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU };
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	int stop = 0, end = 0;

	for (size_t i = 0; i < COUNT(stops); i++)
		CHECK("stops", is_terminal_stop(stops[i]), true);
	for (size_t i = 0; i < COUNT(ends); i++)
		CHECK("ends", is_ending(ends[i]), true);
	for (int n = -1; n < 65; n++) {
		stop += is_terminal_stop(n);
		end += is_ending(n);
	}
	CHECK("all", stop, COUNT(stops));
	CHECK("all", end, COUNT(ends));
}

static void
test_lists(void)
{
	struct list l = { NULL, 0, 0 };
	uint64_t *added;
	int wrong = 0;

	for (uint64_t i = 0; i < 10000; i++) {
		added = list_add(&l, sizeof(*added));
		wrong += added != (uint64_t *)l.at + i || *added != 0;
		*added = i * i + 1;
	}
	CHECK("10000", l.n, 10000);
	for (uint64_t i = 0; i < 10000; i++)
		wrong += ((uint64_t *)l.at)[i] != i * i + 1;
	CHECK("10000", wrong, 0);

	/* Emptied, it keeps its room, and what is added is zeros again. */
	l.n = 0;
	added = list_add(&l, sizeof(*added));
	CHECK("again", added == l.at && *added == 0, true);
	CHECK("again", l.n, 1);
	CHECK("again", l.room >= 10000, true);

	/* Without memory it stays as it was. */
	l.n = l.room;
	added = l.at;
	CHECK("too much", list_add(&l, SIZE_MAX / l.room / 2) == NULL, true);
	CHECK("too much", l.at == added && l.n == l.room, true);
	free(l.at);
}

static void
test_words(void)
{
	static const struct {
		const char *list, *word;
		size_t len;
		const char *suffix;
		bool listed;
	} rows[] = {
		{ "a", "a", 1, "", true }, { "a", "b", 1, "", false },
		{ "sh bash", "sh", 2, "", true },
		{ "sh bash", "bash", 4, "", true },
		{ "sh bash", "BaSh", 4, "", true },
		{ "sh bash", "as", 2, "", false },
		{ "sh bash", "shb", 3, "", false },
		{ "sh bash", "bash", 2, "", false },
		{ "sh bash", "s", 1, "", false },
		{ "sh bash", "sh bash", 7, "", false },
		{ "sh bash", "sh -c", 2, "", true },
		{ "sh bash", "bash5", 4, "", true },
		{ "sh bash", "bash5", 5, "", false },
		{ "sh bash", "bash5", 5, "12345", true },
		{ "sh bash", "bash-5.2", 8, "-.0123456789", true },
		{ "sh bash", "bash-5.2x", 9, "-.0123456789", false },
		{ "sh bash", "bashx", 5, "-.0123456789", false },
		{ "sh bash", "", 0, "", false }, { "", "sh", 2, "", false },
		{ "", "", 0, "", false }
	};
	char words[12] = "";

	for (size_t i = 0; i < COUNT(rows); i++)
		CHECK(rows[i].word, is_listed(rows[i].list, rows[i].word,
		    rows[i].len, rows[i].suffix), rows[i].listed);

	add_word(words, sizeof(words), ", ", "one");
	CHECK_TEXT("one", words, "one");
	add_word(words, sizeof(words), ", ", "two");
	CHECK_TEXT("two", words, "one, two");
	add_word(words, sizeof(words), ", ", "three");
	CHECK_TEXT("three", words, "one, two, t");
	add_word(words, sizeof(words), ", ", "four");
	CHECK_TEXT("four", words, "one, two, t");

	CHECK_TEXT("none", base_name("name"), "name");
	CHECK_TEXT("root", base_name("/name"), "name");
	CHECK_TEXT("path", base_name("/a/b.c/name"), "name");
	CHECK_TEXT("here", base_name("./name"), "name");
	CHECK_TEXT("directory", base_name("name/"), "");
	CHECK_TEXT("empty", base_name(""), "");
}

static void
test_times(void)
{
	static const struct {
		int64_t ms;
		const char *age, *seconds;
	} rows[] = {
		{ 0, "up 0s", "0s" }, { 1, "up 0s", "0.001s" },
		{ 250, "up 0s", "0.25s" }, { 999, "up 0s", "0.999s" },
		{ 1000, "up 1s", "1s" }, { 2000, "up 2s", "2s" },
		{ 59999, "up 59s", "59.999s" }, { 60000, "up 1m", "60s" },
		{ 119999, "up 1m", "119.999s" }, { 1800000, "up 30m", "1800s" },
		{ HOUR - 1, "up 59m", "3599.999s" },
		{ HOUR, "up 1h00m", "3600s" },
		{ HOUR + 60000, "up 1h01m", "3660s" },
		{ 2 * HOUR + 3 * 60000 + 59999, "up 2h03m", "7439.999s" },
		{ 24 * HOUR, "up 24h00m", "86400s" },
		{ 1000 * HOUR + 59 * 60000, "up 1000h59m", "3603540s" },
		{ 2000000 * HOUR, "up 2000000h00m", "7200000000s" }
	};
	char buf[32];

	for (size_t i = 0; i < COUNT(rows); i++) {
		CHECK_TEXT(rows[i].age, age(rows[i].ms, buf), rows[i].age);
		CHECK_TEXT(rows[i].seconds, seconds(rows[i].ms, buf),
		    rows[i].seconds);
	}

	CHECK("both", shorter(1, 2), 1);
	CHECK("both", shorter(2, 1), 1);
	CHECK("same", shorter(2, 2), 2);
	CHECK("one", shorter(FOREVER, 2), 2);
	CHECK("one", shorter(2, FOREVER), 2);
	CHECK("none", shorter(FOREVER, FOREVER), FOREVER);
	CHECK("now", shorter(0, FOREVER), 0);
	CHECK("now", shorter(FOREVER, 0), 0);
}

int
main(void)
{
	test_durations();
	test_what_is_no_duration();
	test_each_millisecond();
	test_numbers();
	test_signals();
	test_kinds_of_signals();
	test_lists();
	test_words();
	test_times();
	return report();
}
