/*
 * PostgreSQL: a row a lease. A beat is a compare-and-swap of its row's version, each at its own time; once a second what has run
 * out is deleted by another session, which is so told. Beats that are gathered, a hundred in a statement, are told beside it: who
 * can wait for the others gets them for a tenth, and 34 such statements a second are less than our bare statx calls can be.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/peer.h"

#define BATCH 100

static const char *const beside[] = { "listen_addresses=", "fsync=off", "synchronous_commit=off", "full_page_writes=off",
				      "wal_level=minimal", "max_wal_senders=0", "shared_buffers=256MB" };

/* psql, written to and read from through pipes. */
struct session {
	pid_t pid;
	int in, out;
	long rows; /* changed, as its answers "UPDATE N" say */
	long ends; /* lines "due-N" */
	char part[64];
	size_t n_part;
	int64_t *told_at;
};

static void await_ready(const struct peer *p)
{
	int64_t until = bench_now() + 30 * LEASE_NS_PER_S;
	char path[400], line[512];

	(void)snprintf(path, sizeof(path), "%s/log", p->dir);
	while (bench_now() < until) {
		FILE *f = fopen(path, "re");

		while (f && fgets(line, sizeof(line), f))
			if (strstr(line, "ready to accept connections")) {
				(void)fclose(f);
				return;
			}
		if (f)
			(void)fclose(f);
		bench_until(bench_now() + 20 * LEASE_NS_PER_MS);
	}
	bench_fail("postgres did not come up", 0);
}

static void session_open(struct session *s, const struct peer *p, int64_t *told_at)
{
	char psql[300];
	int in[2], out[2];

	*s = (struct session){ .told_at = told_at };
	if (!peer_find("psql", psql) || pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		bench_fail("psql", errno);
	const char *argv[] = { psql, "-X", "-A", "-t", "-d", "postgres", "-h", p->dir, "-p", p->port_word, NULL };
	s->pid = bench_serve(argv, in[0], out[1], -1);
	close(in[0]);
	close(out[1]);
	s->in = in[1];
	s->out = out[0];
}

static void line_of(struct session *s, const char *line)
{
	long n;
	int i;

	if (sscanf(line, "UPDATE %ld", &n) == 1 || sscanf(line, "INSERT 0 %ld", &n) == 1)
		s->rows += n;
	if (s->told_at && sscanf(line, "due-%d", &i) == 1 && i >= 0 && i < PEER_DUE) {
		s->told_at[i] = bench_now();
		s->ends++;
	}
}

static size_t session_read(struct session *s, int64_t wait)
{
	char buf[8192];
	size_t n = peer_receive(s->out, buf, sizeof(buf), wait);

	for (size_t i = 0; i < n; i++) {
		if (buf[i] == '\n') {
			s->part[s->n_part] = '\0';
			line_of(s, s->part);
			s->n_part = 0;
		} else if (s->n_part < sizeof(s->part) - 1) {
			s->part[s->n_part++] = buf[i];
		}
	}
	return n;
}

static void say(const struct session *s, const char *sql)
{
	for (size_t len = strlen(sql), at = 0; at < len;) {
		ssize_t n = write(s->in, sql + at, len - at);

		if (n < 0 && errno != EINTR)
			bench_fail("psql", errno);
		at += n > 0 ? (size_t)n : 0;
	}
}

static void until_rows(struct session *s, long rows)
{
	while (s->rows < rows)
		if (session_read(s, 60 * LEASE_NS_PER_S) == 0)
			bench_fail("postgres does not answer", 0);
	if (s->rows != rows)
		bench_fail("postgres has lost a lease", 0);
}

static void session_close(struct session *s)
{
	close(s->in);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(s->out);
}

/* What is due is asked for once a second, from `poll`, while beats go by `s`, so many in a statement. */
static double fleet(const struct peer *p, struct session *s, struct session *poll, int batch, int *version, int n, int64_t span)
{
	int64_t gap = 30 * LEASE_NS_PER_S / n * batch, from = bench_now(), cpu = peer_cpu(p), polled = from;
	static char sql[BATCH * 64];
	long before = s->rows, beats = 0;
	int at = 0;

	for (int b = 0; b * gap < span; b++) {
		size_t len = (size_t)snprintf(sql, sizeof(sql), "EXECUTE beat('{");
		char versions[BATCH * 8] = "";
		size_t v = 0;

		for (int i = 0; i < batch; i++, at = (at + 1) % n) {
			len += (size_t)snprintf(sql + len, sizeof(sql) - len, "%slive-%d", i ? "," : "", at);
			v += (size_t)snprintf(versions + v, sizeof(versions) - v, "%s%d", i ? "," : "", version[at]++);
		}
		(void)snprintf(sql + len, sizeof(sql) - len, "}','{%s}');\n", versions);
		if (batch == 1)
			(void)snprintf(sql, sizeof(sql), "EXECUTE one('live-%d', %s);\n", (at + n - 1) % n, versions);
		bench_until(from + b * gap);
		say(s, sql);
		beats += batch;
		if (bench_now() - polled > LEASE_NS_PER_S) {
			say(poll, "EXECUTE due;\n");
			polled += LEASE_NS_PER_S;
		}
		(void)session_read(s, 0);
	}
	bench_until(from + span);
	cpu = peer_cpu(p) - cpu;
	until_rows(s, before + beats);
	return (double)cpu / (double)(bench_now() - from);
}

static void lateness(struct session *s, struct session *poll, struct peer_cost *ret)
{
	int64_t due[PEER_DUE], from = bench_now(), until, polled = from;
	long before = s->rows;
	char sql[256];
	int n = 0;

	until = from + (PEER_DUE_TTL + 2) * LEASE_NS_PER_S + PEER_WAIT;
	while (poll->ends < PEER_DUE && bench_now() < until) {
		int64_t now = bench_now();

		if (n < PEER_DUE && now >= from + n * (2 * LEASE_NS_PER_S / PEER_DUE)) {
			(void)snprintf(sql, sizeof(sql), "INSERT INTO lease VALUES ('due-%d', 0, clock_timestamp() + "
				       "'%d s', '');\n", n, PEER_DUE_TTL);
			due[n++] = now + PEER_DUE_TTL * LEASE_NS_PER_S;
			say(s, sql);
		}
		if (now - polled > LEASE_NS_PER_S) {
			say(poll, "EXECUTE due;\n");
			polled += LEASE_NS_PER_S;
		}
		(void)session_read(poll, 5 * LEASE_NS_PER_MS);
	}
	until_rows(s, before + PEER_DUE);
	for (int i = 0; i < n; i++)
		if (poll->told_at[i] != 0)
			ret->late[ret->told++] = (double)(poll->told_at[i] - due[i]) / 1e6;
}

bool postgres_measure(int n, int64_t span, struct peer_cost *ret)
{
	static int64_t told_at[PEER_DUE];
	const size_t n_beside = sizeof(beside) / sizeof(beside[0]);
	char initdb[300], postgres[300], data[400], sql[1024];
	struct peer p;
	int *version = calloc((size_t)n, sizeof(*version));
	const char *argv[32] = { postgres, "-D", data, "-k", p.dir, "-p", p.port_word };
	struct session s, poll;
	int status, k = 7;

	*ret = (struct peer_cost){ .mass = -1 };
	if (geteuid() == 0 || !peer_find("initdb", initdb) || !peer_find("postgres", postgres) || !peer_find("psql", data)) {
		free(version);
		bench_raw("postgres: skipped, %s", geteuid() == 0 ? "it does not run as root" : "it is not installed");
		return false;
	}
	peer_prepare(&p, "postgres");
	(void)snprintf(data, sizeof(data), "%s/data", p.dir);
	const char *init[] = { initdb, "-D", data, "-A", "trust", "-N", "--no-locale", NULL };
	(void)bench_run(init, NULL, &status);
	if (status != 0)
		bench_fail("initdb", 0);
	for (size_t i = 0; i < n_beside; i++) {
		argv[k++] = "-c";
		argv[k++] = beside[i];
	}
	if (!version)
		bench_fail("calloc", ENOMEM);
	bench_raw("postgres: fsync, synchronous_commit and full_page_writes off, wal_level=minimal; a poll a second");
	peer_start(&p, argv);
	await_ready(&p);
	session_open(&s, &p, NULL);
	session_open(&poll, &p, told_at);
	(void)snprintf(sql, sizeof(sql),
		       "CREATE TABLE lease(id text PRIMARY KEY, version int, expires timestamptz, body text) "
		       "WITH (fillfactor = 50);\n"
		       "PREPARE beat(text[], int[]) AS UPDATE lease l SET version = l.version + 1, expires = now() + '300 s' "
		       "FROM unnest($1, $2) AS b(id, version) WHERE l.id = b.id AND l.version = b.version;\n"
		       "PREPARE one(text, int) AS UPDATE lease SET version = version + 1, expires = now() + '300 s' "
		       "WHERE id = $1 AND version = $2;\n"
		       "INSERT INTO lease SELECT 'live-' || i, 0, now() + '300 s', repeat('x', %d) "
		       "FROM generate_series(0, %d) i;\n",
		       PEER_BODY, n - 1);
	say(&s, sql);
	until_rows(&s, n);
	say(&poll, "PREPARE due AS DELETE FROM lease WHERE expires < clock_timestamp() RETURNING id;\n");
	ret->cpu = fleet(&p, &s, &poll, 1, version, n, span);
	bench_raw("postgres: %.2f %% of a core for beats that are gathered, %d in a statement",
		  100 * fleet(&p, &s, &poll, BATCH, version, n, span), BATCH);
	free(version);
	lateness(&s, &poll, ret);
	session_close(&s);
	session_close(&poll);
	peer_stop(&p);
	return true;
}
