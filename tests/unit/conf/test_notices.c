/* notices(5): its examples do what it says, on a tree of their own with a stand-in for the daemon; its keys
 * are those of the code. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lease/beacon.h"
#include "core/view.h"
#include "help.h"
#include "lease/duration.h"
#include "lease/tree.h"

/* What the daemon would have done before each example. */
static const char *const between[] = {
    "tree=$KLEASE_NOTICES\n",
    "mv \"$tree/queue/$name\" \"$tree/active/\"; touch -d @1000 \"$tree/active/$name\"\n",
    /* both beats, each by itself */
    "touch -d @1000 \"$lock\"; [ -f \"$lock\" ] && printf '#' 1<>\"$lock\"; [ \"$(stat -c %Y \"$lock\")\" "
    "-gt 1000 ]\n"
    "touch -d @1000 \"$lock\"; touch -c \"$lock\"; [ \"$(stat -c %Y \"$lock\")\" -gt 1000 ]\n"
    "mkdir \"$tree/state\"; printf '#leasewatch 1\\nstate=%s\\n' \"$tree/state\" >\"$tree/.leasewatch\"\n"
    "printf '#leasewatch 1\\nid=%s\\nstate=active\\nwhy=its command runs\\n' \"$id\" >\"$tree/state/$id\"\n",
    "",
    "",
    "kill \"$pid\"\n",
};
#define EXAMPLES 5

static char tree[] = "/tmp/leasewatch-notices-XXXXXX";

static int run(char *const argv[])
{
	extern char **environ;
	pid_t pid;
	int status;

	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_examples(void **state)
{
	char *manual = source_file("man/notices.5"), *text, *script;
	char sh[] = "/bin/sh", eu[] = "-euc", output[64];
	size_t len;
	FILE *f = open_memstream(&script, &len);
	int n, r;

	(void)state;
	if (!mkdtemp(tree))
		return -1;
	snprintf(output, sizeof(output), "%s/output", tree);
	(void)setenv("KLEASE_NOTICES", tree, 1);
	fprintf(f, "cd \"$KLEASE_NOTICES\"; mkdir queue active archive; exec >output\n");
	for (n = 0; (text = manual_example(manual, n)) && n < EXAMPLES; n++) {
		fprintf(f, "%s%s", between[n], text);
		free(text);
	}
	free(text);
	fprintf(f, "%s", between[EXAMPLES]);
	(void)fclose(f);
	r = run((char *[]){sh, eu, script, NULL});
	if (r != 0 || n != EXAMPLES)
		print_error("%d examples, exit %d:\n%s\n", n, r, script);
	free(script);
	free(manual);
	return r == 0 && n == EXAMPLES ? 0 : -1;
}

static int remove_tree(void **state)
{
	char rm[] = "/bin/rm", rf[] = "-rf";

	(void)state;
	return run((char *[]){rm, rf, tree, NULL});
}

static int keep_name(void *arg, const char *name)
{
	snprintf(arg, LEASE_NAME_SIZE, "%s", name);
	return 0;
}

/* The only file in this folder of the tree, read as the daemon reads it. */
static size_t only_file(const char *folder, char name[LEASE_NAME_SIZE], char *buf, size_t size)
{
	struct lease_tree t = LEASE_TREE_CLOSED;
	struct lease_stat st;
	size_t len;
	int dir;

	*name = '\0';
	assert_int_equal(lease_tree_open(&t, tree), 0);
	dir = !strcmp(folder, "queue") ? t.queue : t.archive;
	assert_int_equal(lease_list(dir, keep_name, name), 0);
	assert_int_equal(lease_read(dir, name, getuid(), buf, size, &len, &st), 0);
	assert_int_equal(st.mode & 07777, 0644);
	lease_tree_close(&t);
	return len;
}

static void a_lock_made_by_hand_is_a_good_record_after_its_beats(void **state)
{
	char name[LEASE_NAME_SIZE], buf[LEASE_FILE_MAX];
	struct lease_record r;
	struct lease_error err;
	size_t len = only_file("archive", name, buf, sizeof(buf));

	(void)state;
	assert_non_null(lease_name_lock_id(name));
	if (lease_record_parse(buf, len, &r, &err) < 0)
		fail_msg("line %d: %s", err.line, err.what);
	assert_string_equal(r.id, lease_name_lock_id(name));
	assert_string_equal(r.surface, "cli");
	assert_int_equal(r.ttl, 300 * LEASE_NS_PER_S);
	assert_true(r.workload.pid > 1);
	assert_true(r.workload.start > 0);
	assert_int_equal(r.n_labels, 1);
}

static void an_ask_made_by_hand_is_a_good_ask(void **state)
{
	char name[LEASE_NAME_SIZE], lock[LEASE_NAME_SIZE], buf[LEASE_FILE_MAX];
	struct lease_error err;
	struct ask a;
	size_t len;

	(void)state;
	(void)only_file("archive", lock, buf, sizeof(buf));
	len = only_file("queue", name, buf, sizeof(buf));
	assert_non_null(lease_name_ask_id(name));
	if (ask_parse(buf, len, &a, &err) < 0)
		fail_msg("line %d: %s", err.line, err.what);
	assert_int_equal(a.verb, ASK_HIBERNATE);
	assert_string_equal(a.lease, lease_name_lock_id(lock));
}

static void the_state_is_found_through_the_beacon(void **state)
{
	char path[64], buf[100] = "";
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/output", tree);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_true(fread(buf, 1, sizeof(buf) - 1, f) > 0);
	(void)fclose(f);
	assert_string_equal(buf, "state=active\nwhy=its command runs\n");
}

/* True when a `.It Cm` line of this .Ss names the key. */
static bool heading_has(const char *manual, const char *heading, const char *key)
{
	char ss[64], word[64];
	const char *p, *end;

	snprintf(ss, sizeof(ss), "\n.Ss %s\n", heading);
	p = strstr(manual, ss);
	assert_non_null(p);
	end = strstr(p + 1, "\n.S");
	snprintf(word, sizeof(word), " %s", key);
	while ((p = strstr(p + 1, "\n.It Cm ")) && p < end) {
		const char *eol = strchr(p + 1, '\n'), *at = p;

		while ((at = strstr(at + 1, word)) && at < eol)
			if (at[strlen(word)] == ' ' || at[strlen(word)] == '\n')
				return true;
	}
	return false;
}

/* Every key that this text has must be told under that heading. */
static void each_key_is_told(const char *manual, const char *heading, const char *text, size_t len)
{
	struct lease_error err;
	struct lease_pair pair;
	struct lease_kv kv;
	int r, n = 0;

	assert_int_equal(lease_kv_begin(&kv, text, len, LEASE_STATE_FILE_MAX, &err), 0);
	while ((r = lease_kv_next(&kv, &pair, &err)) > 0) {
		if (!heading_has(manual, heading, pair.key))
			fail_msg("notices(5), %s: nothing on '%s'", heading, pair.key);
		n++;
	}
	assert_int_equal(r, 0);
	assert_true(n > 0);
}

static void every_key_that_is_written_is_in_the_manual(void **state)
{
	static const struct lease_process process = {7, 7};
	static const char boot[] = "01234567-89ab-cdef-0123-456789abcdef";
	char *manual = source_file("man/notices.5"), buf[LEASE_STATE_FILE_MAX];
	struct lease_record r;
	struct ask a = {
	    .verb = ASK_EXEC, .lease = "kls-aaaaaaaaaa", .ttl = LEASE_NS_PER_S, .process = process};
	struct ask_answer answer = {.result = "done", .what = "it runs", .n_words = 1, .words = {"x"}};
	struct lease_beacon b = {.state = "/s", .db = "/d", .daemon = process, .hold_until = 1, .hold_by = "root",
				 .degraded = "d", .breaker_until = 1, .breaker_why = "8 of 9 sessions silent"};
	struct view v = {
	    .id = "kls-aaaaaaaaaa",
	    .session = "kls-aaaaaaaaab",
	    .lock = "l",
	    .user = "u",
	    .surface = "s",
	    .runtime = "r",
	    .profile = "p",
	    .state = "idle",
	    .hibernated = "disk",
	    .usage = "hybrid",
	    .generation = 1,
	    .requester = 1,
	    .priority = 1,
	    .leader = 1,
	    .run = true,
	    .ttl = 1,
	    .renew_grace = 1,
	    .linger = 1,
	    .created_at = 1,
	    .since = 1,
	    .expires_at = 1,
	    .last_beat = 1,
	    .last_use = 1,
	    .mtime = 1,
	    .renewed_by = "r",
	    .why = "w",
	    .signals = "s",
	    .warning = "w",
	    .held = "h",
	    .degraded = "d",
	    .n_labels = 1,
	    .labels = {"a=b"},
	    .n_history = 1,
	    .history = {{.seq = 1, .at = 1, .from = "-", .to = "idle", .why = "w"}},
	};
	size_t len;

	(void)state;
	lease_record_init(&r);
	memcpy(r.id, "kls-aaaaaaaaaa", LEASE_ID_SIZE);
	memcpy(r.session, r.id, LEASE_ID_SIZE);
	memcpy(r.boot, boot, sizeof(boot));
	memcpy(a.boot, boot, sizeof(boot));
	memcpy(b.boot, boot, sizeof(boot));
	*r.surface = *r.profile = *r.runtime = 'x';
	r.ttl = r.linger = LEASE_NS_PER_S;
	r.usage = LEASE_USAGE_HYBRID;
	r.priority = 1;
	r.workload = r.leader = r.waiter = process;
	r.run = true;
	r.n_labels = 1;
	memcpy(r.labels[0], "a=b", 4);
	assert_int_equal(lease_record_format(&r, buf, sizeof(buf), &len), 0);
	each_key_is_told(manual, "Keys of a lock", buf, len);
	assert_int_equal(ask_format(&a, buf, sizeof(buf), &len), 0);
	each_key_is_told(manual, "Asks", buf, len);
	assert_int_equal(ask_answer_format(&answer, buf, sizeof(buf), &len), 0);
	each_key_is_told(manual, "Asks", buf, len);
	assert_int_equal(lease_beacon_format(&b, buf, sizeof(buf), &len), 0);
	each_key_is_told(manual, "The beacon", buf, len);
	assert_int_equal(view_format(&v, buf, sizeof(buf), &len), 0);
	each_key_is_told(manual, "State files", buf, len);
	free(manual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_lock_made_by_hand_is_a_good_record_after_its_beats),
	    cmocka_unit_test(an_ask_made_by_hand_is_a_good_ask),
	    cmocka_unit_test(the_state_is_found_through_the_beacon),
	    cmocka_unit_test(every_key_that_is_written_is_in_the_manual),
	};

	return cmocka_run_group_tests(tests, run_examples, remove_tree);
}
