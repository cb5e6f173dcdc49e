/*
 * parts - what ownerwrap.c has in place of libc's, beside libc's
 *
 *	parts formats COUNT SEED	format: snprintf
 *	parts patterns COUNT SEED	read_pattern, matches: regcomp, regexec
 *
 * Says each difference, and is 1 if there was one.
 */
#define main ow_main
#include "../ownerwrap.c"
#undef main

#include <inttypes.h>
#include <regex.h>

static uint64_t seed;
static int differences;

/* 0..n-1 */
static size_t
random_below(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed >> 11) % n;
}

static void
differ(const char *what, const char *text, long ours, long theirs)
{
	printf("%s, %s: %ld, libc has %ld\n", what, text, ours, theirs);
	differences++;
}

/* --- formats ------------------------------------------------------------- */

/* Numbers of every length, as often below 0. */
static intmax_t
random_number(void)
{
	intmax_t n = (intmax_t)(random_below(SIZE_MAX) >> random_below(64));

	return random_below(2) ? n : -n;
}

static void compare_format(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* Into room of every size, and none. */
static void
compare_format(const char *fmt, ...)
{
	char ours[64], theirs[64];
	size_t size = random_below(sizeof(ours) + 1);
	va_list ap;
	int n, m;

	memset(ours, '#', sizeof(ours));
	memset(theirs, '#', sizeof(theirs));
	va_start(ap, fmt);
	n = vformat(ours, size, fmt, ap);
	va_end(ap);
	va_start(ap, fmt);
	m = vsnprintf(theirs, size, fmt, ap);
	va_end(ap);
	if (n != m || memcmp(ours, theirs, sizeof(ours)) != 0)
		differ(fmt, size > 0 ? theirs : "", n, m);
}

static void
compare_formats(long count)
{
	static const char *const words[] = { "", "a", "word", "%s %d",
	    "a longer text than the field has columns" };

	while (count-- > 0) {
		intmax_t n = random_number();
		const char *word = words[random_below(COUNT(words))];
		int most = (int)random_below(8);

		compare_format("%s", word);
		compare_format("%7s %-9s|%.3s|", word, word, word);
		compare_format("<%.*s> %9.2s %-9.4s|", most, word, word, word);
		compare_format("%c%3c%-3c|", 'a', 'b', 'c');
		compare_format("%d %7d %-7d|%02d %016d", (int)n, (int)n, (int)n,
		    (int)n & 63, (int)n & INT_MAX);
		compare_format("%jd %9jd %-9jd|%05jd", n, n, n, n & INTMAX_MAX);
		compare_format("%x %08x %jx %016jx", (unsigned)n, (unsigned)n,
		    (uintmax_t)n, (uintmax_t)n);
	}
	compare_format("%d %jd %jd", INT_MIN, INTMAX_MIN, INTMAX_MAX);
	compare_format("%s", "no end");
}

/* --- patterns ------------------------------------------------------------ */
/*
 * Without a line break: glibc takes one for an end, with what is behind it
 * ("$[^a]" matches "\n").  A \ before a letter or a digit, and {,2}, are known
 * to some.
 */

static void
random_text(const char *const *pieces, size_t n, size_t most, char *text)
{
	text[0] = '\0';
	for (size_t i = random_below(most + 1); i > 0; i--)
		strcat(text, pieces[random_below(n)]);
}

static void
compare_pattern(const char *text, const char *const *lines, size_t n)
{
	regex_t r;
	bool read = read_pattern(text);
	bool libc = regcomp(&r, text, REG_EXTENDED | REG_NOSUB) == 0;

	if (read != libc)
		differ(text, "well-formed", read, libc);
	for (size_t i = 0; read && libc && i < n; i++) {
		bool match = regexec(&r, lines[i], 0, NULL, 0) == 0;

		if (matches(lines[i]) != match)
			differ(text, lines[i], !match, match);
	}
	if (libc)
		regfree(&r);
}

static void
check_pattern(const char *text, bool well_formed, const char *line, bool match)
{
	if (read_pattern(text) != well_formed)
		differ(text, "well-formed", !well_formed, well_formed);
	else if (well_formed && matches(line) != match)
		differ(text, line, !match, match);
}

/* What libcs have each in their own way, or not at all. */
static void
check_patterns(void)
{
	static const char *const refused[] = { "\\", "a\\", "\\d", "\\1", "\\<",
	    "\\`", "a{,2}", "a{}", "a{256}", "a{1", "a{1,", "*a", "^*", "a|*",
	    "(*a)", "(", "(a", "[", "[a", "[]", "[^]", "[a-", "[[:", "[[:alpha:",
	    "[[.", "[[.a", "[[.ab.]]", "[[.]]", "((a{255}){255}){255}" };
	char groups[2 * GROUPS_MAX + 4];

	for (size_t i = 0; i < COUNT(refused); i++)
		check_pattern(refused[i], false, "", false);
	check_pattern("a.b", true, "a\nb", true);
	check_pattern("a[^x]b", true, "a\nb", true);
	check_pattern("a$", true, "a\nb", false);
	check_pattern("^b", true, "a\nb", false);
	check_pattern("", true, "", true);
	check_pattern("a|", true, "b", true);
	check_pattern("(a*)*(b|)+c", true, "aaac", true);
	check_pattern("a**", true, "", true);
	check_pattern("a\\/\\-\\ b", true, "a/- b", true);
	check_pattern("^(a{254}|b){2}$", true, "bb", true);
	check_pattern("((a{255}){255}){255}|((b{255}){255}){0}c", false, "", 0);
	for (int n = GROUPS_MAX; n <= GROUPS_MAX + 1; n++) {
		memset(groups, '(', (size_t)n);
		memset(groups + n, ')', (size_t)n);
		groups[2 * n] = '\0';
		check_pattern(groups, n == GROUPS_MAX, "", true);
	}
}

/* What backtracking takes years for, and a set of states moments. */
static void
check_long(void)
{
	char text[4096];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	check_pattern("((a*)*|(a|a)+|a?a?a?)*b", true, text, false);
	check_pattern("^(a|aa|(a{1,50}){2,9})+$", true, text, true);
}

static void
compare_patterns(long count)
{
	static const char *const pieces[] = { "a", "b", "c", "ab", ".", "-",
	    "]", "}", ",", "\377", "(", "(", "(", ")", ")", ")", "()", "|", "|",
	    "*", "*", "+", "?", "{2}", "{1,2}", "{0,1}", "{0}", "{2,}", "{0,}",
	    "{1,3}", "^", "$", "\\.", "\\(", "\\\\", "\\^", "\\[", "\\{",
	    "[ab]", "[^a]", "[^]b]", "[]a]", "[a-c]", "[a-]", "[-b]", "[^-b]",
	    "[%--]", "[+--]", "[b-a]", "[a-b-c]", "[a-c-]", "[^\377]",
	    "[\200-\377]", "[.]", "[*]", "[\\]", "[^^]", "[a^]", "[$-)]",
	    "[[.a.]]", "[[=b=]c]", "[[.-.]-a]", "[[:alpha:]]", "[^[:alnum:]]",
	    "[[:punct:]b]", "[[:cntrl:][:space:]]", "[[:digit:]-]",
	    "[[:blank:][:upper:]]", "[[:graph:]]", "[[:print:]a]",
	    "[[:lower:]]", "[[:xdigit:]]", "[[:nosuch:]]", "[[:alpha]]",
	    "[a-[:alpha:]]", "[", "{", "{1", "{2,1}", "{256000}" };
	static const char *const bytes[] = { "a", "a", "b", "b", "c", "C", "-",
	    "]", "[", "}", ",", "1", "_", " ", "\t", "\001", "\177",
	    "\200", "\377", ".", "(", "\\", "^", "{", "*", "$", "ab", "aab" };
	char text[256], line[8][128];
	const char *lines[8];

	for (size_t i = 0; i < COUNT(line); i++)
		lines[i] = line[i];
	while (count-- > 0) {
		for (size_t i = 0; i < COUNT(line); i++)
			random_text(bytes, COUNT(bytes), i, line[i]);
		random_text(pieces, COUNT(pieces), 9, text);
		compare_pattern(text, lines, COUNT(line));
	}
}

int
main(int argc, char **argv)
{
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	if (argc == 4 && strcmp(argv[1], "formats") == 0)
		compare_formats(count);
	else if (argc == 4 && strcmp(argv[1], "patterns") == 0) {
		check_patterns();
		check_long();
		compare_patterns(count);
	} else
		return 2;
	return differences > 0;
}
