/*
 * lease.pml: the protocol between holder, tree, daemon and crash, for spin(1). tests/model/check builds it, searches
 * all of it, and then breaks it in every way of its list (the words that begin with BUG_), each of which must be found.
 *
 * One statement here (an atomic or d_step) is one system call there, or a part of a turn that nobody else can see into;
 * the comment above it names the function that it stands for, as name() file, and tests/model/check looks whether that
 * is still there.
 *
 * Left out on purpose: hibernation and idleness (they move no lock), sessions, holds, and what a back-off waits: a retry
 * may come at any time. A lock that its owner moves out of active/ to a place of his own and back again in the very
 * moment of its end is not kept from being touched then: nothing of it is left to rename. And one owner either gives his
 * lock other names or makes ghosts, not both: with two files of one id, the daemon decides which one counts when it
 * hears of them, and no sooner.
 *
 * Time is two marks a lease. `silent`: nobody has touched the lock for a ttl: the truth. `due`: a ttl has passed since
 * the beat that the daemon credited last. What is silent is due. A beat resets the first, the look that sees it the
 * second.
 *
 * An mtime is a version: `fresh` says that it differs from the one that the daemon knows, `row_fresh` that it differs
 * from the one that the registry knows. A second beat is as good as one.
 */
#ifndef LEASES
#define LEASES 1
#endif
#ifndef RENEWERS
#define RENEWERS 1 /* klease renew, side by side, a lease; without any, shells alone beat it */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef HANDS
#define HANDS 3 /* things that the owner's shells do by hand, a lease */
#endif
#ifndef MISHAPS
#define MISHAPS 255 /* of crashes, failures and things done by hand, all together: bounds a small model */
#endif
#ifndef FAILURES
#define FAILURES 1 /* acts of a runtime that fail, a lease */
#endif

/* Where a name stands; each but AWAY is one name, so one file. */
#define AWAY 0 /* removed, in the quarantine, or never made */
#define QUEUE 1
#define ACTIVE 2
#define OTHER 3 /* in active/ too, under another name that ends in the same id */
#define REAP 4
#define ARCHIVE 5
#define DAY 6 /* archive/YYYY-MM-DD */

/* Files: the lock as it was made, and what a shell's 1<> makes where no file has its name. */
#define LOCK 0
#define GHOST 1
#define NONE 2

/* core/state.h, without those that are left out */
#define UNKNOWN 0
#define REQUESTED 1
#define STARTING 2
#define LIVE 3
#define EXPIRED 4
#define REAPING 5
#define ROLLBACK 6
#define OVER 7 /* REAPED or DENIED: the row is gone, the ledger has the end */

#define CREATE 1
#define DESTROY 2
/* answers */
#define CREATED 1
#define NOT_CREATED 2
#define DESTROYED 3
#define NOT_DESTROYED 4

typedef Lease {
	/* the tree */
	byte at[2];
	bit fresh[2], row_fresh[2];
	/* the daemon's memory, gone with a crash */
	byte state, name, inode, act, answer;
	bit missed;
	/* on disk */
	byte row, row_name, row_inode;
	byte ends; /* in the ledger */
	bit view_over; /* the state file says that it is over */
	/* the workload, and the act that the actor has in hand */
	bit runs;
	byte doing, failures;
	/* the truth */
	bit due, silent;
	bit unseen; /* touched since the beat that was credited last */
	bit held; /* "renewed" was answered, and no ttl has passed since */
	bit released;
	bit for_silence; /* what ends it is its silence, and nothing that is known */
}
Lease L[LEASES];
byte crashes = 0, mishaps = 0;
byte boot = 0, row_boot = 0; /* the boot id, and the one in the registry: who ran before runs no more */

/* The file that has this name, or NONE. */
#define FILE_AT(l, place) (L[l].at[LOCK] == place -> LOCK : (L[l].at[GHOST] == place -> GHOST : NONE))
#define IN_ACTIVE(l) (L[l].at[LOCK] == ACTIVE || L[l].at[LOCK] == OTHER)
#define LIVING(l) (L[l].state == STARTING || L[l].state == LIVE)
#define ENDED_ROW(l) (L[l].row == EXPIRED || L[l].row == REAPING || L[l].row == ROLLBACK || L[l].row == OVER)

/* A beat, by whatever name: the mtime is another one now, for memory and registry. */
inline touch(l, f)
{
	L[l].fresh[f] = 1;
	L[l].row_fresh[f] = 1;
	if
	:: f == LOCK -> L[l].unseen = 1; L[l].silent = 0
	:: else /* whoever beats a ghost is told nothing */
	fi
}

/* ------------------------------------------------------------ holders */

/* klease renew, again and again; it may stop after any of them. */
proctype Klease(byte l)
{
	byte name, fd, f;
	byte my_boot = boot;
again:
	atomic {
		name = AWAY; fd = NONE; f = NONE;
		if
		:: true -> goto stop
		/*
		 * cmd_renew() klease/cmd-renew.c: the state file first; an old one may say that it lives still. find_lock() there: by the
		 * name that is known, else by any that ends in the id. lease_touch() lease/change.c, the first of four calls: the path.
		 */
		:: my_boot == boot && !L[l].view_over && FILE_AT(l, ACTIVE) != NONE -> name = ACTIVE
		:: my_boot == boot && !L[l].view_over && FILE_AT(l, OTHER) != NONE -> name = OTHER
		fi;
		fd = FILE_AT(l, name)
	}
	/* The second: utimensat, by name. */
	atomic {
		f = FILE_AT(l, name);
		if
		:: my_boot != boot -> goto stop
		:: my_boot == boot && f == NONE -> goto again /* "lost" */
		:: my_boot == boot && f != NONE -> touch(l, f)
		fi
	}
	/* The others: stat, by name, and a compare; and a look whether there is a record in it. */
	atomic {
#ifndef BUG_RENEW_WITHOUT_SECOND_LOOK
		f = FILE_AT(l, name);
#endif
		if
		:: my_boot != boot -> goto stop
#ifndef BUG_RENEW_BELIEVES_GHOSTS
		:: my_boot == boot && f == fd && f == LOCK ->
#else
		:: my_boot == boot && f == fd ->
#endif
			/* "renewed": what is over is never called so, and what is called so is not ended within its ttl. */
			assert(!(ENDED_ROW(l) && L[l].for_silence));
			L[l].held = !L[l].silent;
			goto again
		:: else -> goto again /* "lost" */
		fi
	}
stop:
	skip
}

/* What the owner's shells do besides: each one a single system call, so one process stands for any number of them. */
proctype Hand(byte l)
{
	byte n = 0, f;
	bit ghosts, renames; /* one of the two, not both */

	do
	:: true -> break
	/*
	 * A shell's 1<>: hooks/lease.bash looks first, so it makes a file only where the lock stood a moment ago; here it may at any
	 * time after that.
	 */
	:: atomic { n < HANDS && mishaps < MISHAPS && !renames && L[l].at[LOCK] != QUEUE && !(L[l].released && L[l].at[LOCK] == AWAY) ->
		n++; mishaps++; ghosts = 1;
		f = FILE_AT(l, ACTIVE);
		if
		:: f != NONE -> touch(l, f)
		:: f == NONE && L[l].at[GHOST] == AWAY -> L[l].at[GHOST] = ACTIVE; touch(l, GHOST)
		:: f == NONE && L[l].at[GHOST] != AWAY
		fi;
		f = NONE }
	/* cmd_release() klease/cmd-release.c, or mv by hand: a request is taken back, or a lock moved to archive/. */
	:: atomic { n < HANDS && mishaps < MISHAPS && L[l].at[LOCK] == QUEUE -> n++; mishaps++; L[l].at[LOCK] = AWAY; L[l].released = 1 }
	:: atomic { n < HANDS && mishaps < MISHAPS && IN_ACTIVE(l) && FILE_AT(l, ARCHIVE) == NONE ->
		n++; mishaps++; L[l].at[LOCK] = ARCHIVE; L[l].released = 1; L[l].held = 0 }
	/* mv -n: another name, and back. */
	:: atomic { n < HANDS && mishaps < MISHAPS && !ghosts && L[l].at[LOCK] == ACTIVE && FILE_AT(l, OTHER) == NONE ->
		n++; mishaps++; renames = 1; L[l].at[LOCK] = OTHER }
	:: atomic { n < HANDS && mishaps < MISHAPS && renames && L[l].at[LOCK] == OTHER && FILE_AT(l, ACTIVE) == NONE ->
		n++; mishaps++; L[l].at[LOCK] = ACTIVE }
	od;
	atomic { n = 0; ghosts = 0; renames = 0 }
}

/* Time passes, whatever anybody does. */
proctype Clock(byte l)
{
end:	do
	:: atomic { !L[l].due -> L[l].due = 1;
		if
		:: !L[l].unseen -> L[l].silent = 1; L[l].held = 0
		:: else
		fi }
	:: atomic { L[l].due && !L[l].silent -> L[l].silent = 1; L[l].held = 0 }
	od
}

/* ------------------------------------------------------------ the actor and the runtimes */

/*
 * act_start() leasewatch/actor-act.c and a runtime's program. It goes with the daemon; what it had in hand was done or was
 * not.
 */
inline do_act(l)
{
	if
	:: L[l].doing == CREATE ->
		/* Nothing is begun that is not on disk, so nothing can be left over that nobody knows. */
		assert(L[l].row != UNKNOWN && L[l].row != REQUESTED && L[l].row != OVER);
		L[l].runs = 1;
		L[l].answer = CREATED
	:: L[l].doing == DESTROY ->
		/* Nothing is ended before its end is on disk, and nobody's whose beat was confirmed. */
		assert(L[l].row == EXPIRED || L[l].row == REAPING || L[l].row == ROLLBACK);
		assert(!(L[l].held && L[l].for_silence));
		L[l].runs = 0;
		L[l].answer = DESTROYED
	:: L[l].failures < FAILURES && mishaps < MISHAPS ->
		L[l].failures++;
		mishaps++;
		L[l].answer = (L[l].doing == CREATE -> NOT_CREATED : NOT_DESTROYED)
	fi;
	L[l].doing = 0
}
active proctype Actor()
{
	byte l = 0;
end:	do
	:: atomic { L[0].doing != 0 -> do_act(0) }
#if LEASES > 1
	:: atomic { L[1].doing != 0 -> do_act(1) }
#endif
	od
}

/* ------------------------------------------------------------ the daemon */

/* Killed, or the power goes. Only between two statements: a system call is done or is not. */
#define MAY_CRASH if :: crashes < CRASHES && mishaps < MISHAPS -> goto down :: true fi

/* A release is no silence, and is told as what it is. */
inline silent_end(l)
{
	assert(!L[l].released);
	L[l].for_silence = 1;
	L[l].state = EXPIRED
}

/* credit_renewal() leasewatch/core/lease.c, where the event itself is the renewal. */
inline credit_now(l)
{
	L[l].due = 0;
	L[l].silent = 0;
	L[l].unseen = 0
}

/* lease_looked() leasewatch/core/lease.c: another version is a beat, credited at its own stamp. */
inline looked(l, f)
{
	if
	:: L[l].fresh[f] && f == LOCK -> L[l].due = L[l].silent; L[l].unseen = 0
	:: L[l].fresh[f] && f == GHOST -> credit_now(l)
	:: else
	fi;
	L[l].fresh[f] = 0;
	L[l].fresh[1 - f] = 1; /* another file, another stamp */
	L[l].inode = f
}

/* lease_move() lease/change.c; what has the new name makes room. Nothing, where nothing has the old one. */
inline move(l, from, to)
{
	g = FILE_AT(l, from);
	h = FILE_AT(l, to);
	if
	:: g != NONE && h != NONE -> L[l].at[h] = AWAY
	:: else
	fi;
	if
	:: g != NONE -> L[l].at[g] = to
	:: else
	fi;
	g = NONE; h = NONE
}
/* move_in() leasewatch/store/locks.c: never replaces; what squats the name makes room. */
inline move_in(l, from, to)
{
	move(l, from, to)
}
/* to_reap() leasewatch/store/locks.c */
inline to_reap(l, from)
{
	move(l, from, REAP)
}

active proctype Daemon()
{
	byte l, f, fd, g, h, place;
	bit rejected;

	/* One of each, asked for in queue/ or made in active/ by hand. */
	atomic {
		l = 0;
		do
		:: l < LEASES ->
			if
			:: L[l].at[LOCK] = QUEUE
			:: L[l].at[LOCK] = ACTIVE
			fi;
			L[l].fresh[LOCK] = 1; L[l].row_fresh[LOCK] = 1; L[l].fresh[GHOST] = 1; L[l].row_fresh[GHOST] = 1;
			run Hand(l);
			run Clock(l);
#if RENEWERS > 0
			run Klease(l);
#endif
#if RENEWERS > 1
			run Klease(l);
#endif
			l++
		:: else -> break
		od;
		l = 0
	}
	goto turn;

down:	/* Memory is gone; what the registry had committed is not. */
	atomic {
		crashes++;
		mishaps++;
		if
		:: true -> place = NONE
		:: true -> boot++; place = AWAY
		fi;
		l = 0;
		do
		:: l < LEASES ->
			/* become() leasewatch/os/proc.c: programs of runtimes are killed with the actor. What one was at, it did or did not. */
			if
			:: L[l].doing == CREATE -> L[l].runs = 1
			:: L[l].doing == DESTROY && L[l].row != STARTING -> L[l].runs = 0
			:: true
			fi;
			L[l].doing = 0; L[l].answer = 0; L[l].act = 0; L[l].missed = 0; L[l].state = UNKNOWN;
			if
			:: place == AWAY ->
				L[l].runs = 0; L[l].held = 0;
				/* In system mode the tree is on a tmpfs; in user mode it may be anywhere. */
				if
				:: true
				:: L[l].at[LOCK] = AWAY; L[l].at[GHOST] = AWAY
				fi
			:: else
			fi;
			l++
		:: else -> break
		od;
		f = NONE; fd = NONE; rejected = 0; place = AWAY; l = 0
	}

	/* restart_load() leasewatch/restart.c */
	do
	:: l < LEASES ->
		/* load_one() leasewatch/restart.c: the row's numbers; a beat since then shows in the mtime. */
		d_step {
			L[l].state = (L[l].row == OVER -> UNKNOWN : L[l].row);
			L[l].for_silence = L[l].for_silence && ENDED_ROW(l);
			L[l].name = L[l].row_name;
			L[l].inode = L[l].row_inode;
#ifndef BUG_RESTART_FORGETS_VERSIONS
			L[l].fresh[LOCK] = L[l].row_fresh[LOCK];
			L[l].fresh[GHOST] = L[l].row_fresh[GHOST]
#else
			L[l].due = L[l].due || L[l].row_fresh[LOCK];
			L[l].fresh[LOCK] = 0
#endif
		}
		/* find_lock() leasewatch/restart.c: taken out, and that was not written down: it was not the end. */
		atomic {
#ifndef BUG_RESTART_FORGETS_REAP
			if
			:: LIVING(l) && L[l].inode != NONE && L[l].at[L[l].inode] == REAP -> move_in(l, REAP, L[l].name)
			:: else
			fi;
#endif
			f = FILE_AT(l, L[l].name);
			if
			:: f != NONE -> L[l].due = L[l].due || L[l].fresh[f] /* what was credited since is not in the row */
			:: else
			fi;
			f = NONE
		}
		MAY_CRASH;
		/* take_up() leasewatch/restart.c: EV_BOOT or EV_RESTART. */
		atomic {
			if
			:: row_boot != boot && LIVING(l) -> to_reap(l, L[l].name); L[l].state = EXPIRED
			:: row_boot != boot && L[l].state == REQUESTED -> L[l].state = OVER
#ifndef BUG_RESTART_WAITS_FOR_OLD_ANSWERS
			:: L[l].state == REAPING -> L[l].state = EXPIRED
#endif
#ifndef BUG_RESTART_FORGETS_STARTS
			:: row_boot == boot && L[l].state == STARTING -> L[l].act = CREATE
#endif
			:: else
			fi;
			l++
		}
	:: else -> l = 0; break
	od;
	goto judged;

turn:	/* turn() leasewatch/watcher.c: observe, judge, step, commit, act. */
	do
	:: l < LEASES ->
		/* Names: what stands in active/ and queue/ and is nobody's, or has another name than it had. */
		atomic {
			if
			/* newcomer() leasewatch/scan.c, admit_receive() leasewatch/admit.c */
			:: L[l].state == UNKNOWN && L[l].row == UNKNOWN && L[l].at[LOCK] == QUEUE ->
				L[l].state = REQUESTED; L[l].name = ACTIVE; L[l].inode = LOCK; L[l].fresh[LOCK] = 0
			:: L[l].state == UNKNOWN && L[l].row == UNKNOWN && (L[l].at[LOCK] == ACTIVE || L[l].at[LOCK] == OTHER) ->
				L[l].state = REQUESTED; L[l].name = L[l].at[LOCK]; L[l].inode = LOCK; L[l].fresh[LOCK] = 0
			/* refuse_file() leasewatch/scan.c: its id is over. A ghost is removed. */
			:: L[l].row == OVER && (L[l].at[LOCK] == ACTIVE || L[l].at[LOCK] == OTHER) -> L[l].at[LOCK] = AWAY
			:: L[l].state == UNKNOWN && L[l].at[GHOST] == ACTIVE && L[l].at[LOCK] != ACTIVE -> L[l].at[GHOST] = AWAY
			/* namesake() leasewatch/scan.c: the lock itself under another name, or a second file with its id. */
			:: (L[l].state == REQUESTED || LIVING(l)) && L[l].inode == LOCK && L[l].at[LOCK] == OTHER && L[l].name == ACTIVE ->
				if
				:: L[l].at[GHOST] != ACTIVE -> L[l].name = OTHER; L[l].missed = 0
				:: else -> L[l].at[LOCK] = AWAY /* "one more link": to the quarantine */
				fi
			:: (L[l].state == REQUESTED || LIVING(l)) && L[l].inode == LOCK && L[l].at[LOCK] == ACTIVE && L[l].name == OTHER ->
				L[l].name = ACTIVE; L[l].missed = 0
			:: LIVING(l) && L[l].name == OTHER && L[l].at[GHOST] == ACTIVE -> L[l].at[GHOST] = AWAY
			:: else
			fi
		}

		/* look_at_lock() leasewatch/judge.c, locks_place() leasewatch/store/locks.c: first in active/, then elsewhere. */
		atomic {
			f = FILE_AT(l, L[l].name);
			if
			:: L[l].state != REQUESTED && !LIVING(l) -> place = AWAY
#ifndef BUG_A_GHOST_HIDES_A_RELEASE
			:: (L[l].state == REQUESTED || LIVING(l)) && f != NONE && f == L[l].inode -> place = ACTIVE
#else
			:: (L[l].state == REQUESTED || LIVING(l)) && f != NONE -> place = ACTIVE
#endif
			:: else ->
				if
				:: L[l].at[L[l].inode] == ARCHIVE || L[l].at[L[l].inode] == QUEUE -> place = L[l].at[L[l].inode]
				:: else -> place = (f != NONE -> ACTIVE : AWAY) /* its owner put another file there */
				fi
			fi;
			if
			:: place == ACTIVE -> looked(l, f); L[l].missed = 0
			:: else
			fi;
			f = NONE
		}

		/* What the look, or an answer, says. step() leasewatch/step.c takes each through the table of core/state.c. */
		if
		:: atomic { L[l].state == REQUESTED && place == QUEUE ->
			/* locks_move_in() leasewatch/store/locks.c, AC_MOVE_IN: taken back meanwhile is EV_WITHDRAWN. */
			if
			:: L[l].at[LOCK] == QUEUE ->
				move_in(l, QUEUE, L[l].name);
				L[l].state = STARTING; L[l].act = CREATE
			:: else -> L[l].state = OVER
			fi }
		:: atomic { L[l].state == REQUESTED && place == ACTIVE -> L[l].state = STARTING; L[l].act = CREATE }
		:: atomic { L[l].state == REQUESTED && (place == AWAY || place == ARCHIVE) -> L[l].state = OVER }
		/* EV_RELEASED; a lock in archive/ is left there till the end. */
		:: atomic { LIVING(l) && place == ARCHIVE -> L[l].state = EXPIRED; L[l].act = 0 }
		/* answered() leasewatch/answer.c */
		:: atomic { L[l].state == STARTING && place != ARCHIVE && L[l].answer == CREATED ->
			L[l].state = LIVE; L[l].answer = 0; credit_now(l) }
		:: atomic { L[l].state == STARTING && place != ARCHIVE && L[l].answer == NOT_CREATED ->
			to_reap(l, L[l].name); L[l].state = ROLLBACK; L[l].answer = 0 }
		:: atomic { (L[l].state == REAPING || L[l].state == ROLLBACK) && L[l].answer == NOT_DESTROYED ->
			L[l].answer = 0;
#ifdef BUG_A_FAILED_DESTROY_IS_AN_END
			L[l].state = OVER
#endif
#ifndef BUG_A_FAILED_DESTROY_IS_FORGOTTEN
			L[l].state = (L[l].state == REAPING -> EXPIRED : L[l].state)
#endif
			}
		:: atomic { (L[l].state == REAPING || L[l].state == ROLLBACK) && L[l].answer == DESTROYED ->
			/* locks_archive() leasewatch/store/locks.c, AC_END */
			L[l].answer = 0;
			L[l].state = OVER;
			if
			:: FILE_AT(l, REAP) != NONE -> move(l, REAP, DAY)
			:: else -> move(l, ARCHIVE, DAY)
			fi }
		/* Late: the create of one that was released while it started. */
		:: atomic { (L[l].state == EXPIRED || L[l].state == REAPING) && (L[l].answer == CREATED || L[l].answer == NOT_CREATED) ->
			L[l].answer = 0 }
		/* ends_by_time() leasewatch/core/lease.c: EV_EXPIRY_DUE; move_lock() leasewatch/step.c: AC_COMMIT. */
		:: L[l].state == LIVE && place != ARCHIVE && L[l].due ->
			/* locks_commit() leasewatch/store/locks.c: rename, stat, and back again. */
#if defined(BUG_LOOK_THEN_RENAME) || defined(BUG_COMMIT_BELIEVES_A_DESCRIPTOR)
			atomic { fd = FILE_AT(l, L[l].name) }
#endif
#ifdef BUG_LOOK_THEN_RENAME
			atomic {
				L[l].missed = 1;
				if
				:: fd != NONE -> rejected = L[l].fresh[fd] || fd != L[l].inode
				:: else
				fi
			}
#endif
			atomic {
				f = FILE_AT(l, L[l].name);
#ifdef BUG_LOOK_THEN_RENAME
				if
				:: !rejected -> to_reap(l, L[l].name)
				:: else
				fi
#else
				to_reap(l, L[l].name)
#endif
			}
			MAY_CRASH;
			atomic {
				if
				:: f == NONE ->
					/* Its new name may be on its way to us, or it is in archive/ by now: this time it is only marked. */
					if
#ifndef BUG_A_LOST_LOCK_ENDS_AT_ONCE
					:: !L[l].missed -> L[l].missed = 1
					:: L[l].missed -> silent_end(l)
#else
					:: silent_end(l)
#endif
					fi
				:: else ->
#ifdef BUG_LOOK_THEN_RENAME
					skip
#elif defined(BUG_COMMIT_BELIEVES_A_DESCRIPTOR)
					rejected = fd != NONE && L[l].fresh[fd]
#else
					rejected = L[l].fresh[f] || f != L[l].inode
#endif
					;
					if
					:: !rejected -> silent_end(l)
					:: else ->
						/* locks_put_back() leasewatch/store/locks.c; the beat is credited now. */
#ifdef BUG_PUT_BACK_GIVES_WAY
						if
						:: FILE_AT(l, L[l].name) == NONE -> move(l, REAP, L[l].name)
						:: else
						fi;
#else
						move_in(l, REAP, L[l].name);
#endif
						f = FILE_AT(l, L[l].name);
						L[l].fresh[f] = 0;
						L[l].fresh[1 - f] = 1;
#ifndef BUG_PUT_BACK_WITHOUT_CREDIT
						credit_now(l)
#else
						L[l].due = 1
#endif
					fi
				fi;
				f = NONE; fd = NONE; rejected = 0
			}
		:: else
		fi;
judged:
		/* EV_RETRY_DUE, in the same turn or in a later one. */
		atomic {
			if
			:: l < LEASES && L[l].state == EXPIRED -> L[l].state = REAPING; L[l].act = DESTROY
			:: l < LEASES && L[l].state == ROLLBACK && L[l].doing == 0 && L[l].answer == 0 -> L[l].act = DESTROY
			:: else
			fi;
			l++; f = NONE; fd = NONE; place = AWAY
		}
	:: else -> break
	od;
	MAY_CRASH;

#ifdef BUG_ACTS_BEFORE_THE_COMMIT
	atomic {
		l = 0;
		do
		:: l < LEASES ->
			if
			:: L[l].act != 0 && L[l].doing == 0 && L[l].answer == 0 -> L[l].doing = L[l].act; L[l].act = 0
			:: else
			fi;
			l++
		:: else -> break
		od
	}
	MAY_CRASH;
#endif
	/* turn_commit() leasewatch/step.c: all rows and ledger lines of the turn, synced, or none of them. */
	atomic {
		l = 0;
		row_boot = boot;
		do
		:: l < LEASES ->
			/* A living lease's lock is never left where nobody can beat it. */
			assert(!(LIVING(l) && L[l].at[LOCK] == REAP));
			if
			:: L[l].state == OVER && L[l].row != OVER ->
				L[l].ends++;
				/* Exactly one end, and nothing runs after it. */
				assert(L[l].ends == 1);
				assert(!L[l].runs)
			:: else
			fi;
			if
			:: L[l].state != UNKNOWN && (L[l].state != L[l].row || L[l].name != L[l].row_name) ->
				/* A beat alone writes no row, so what that knows of the lock is of its last change. */
#ifdef BUG_THE_ROW_ENDS_IN_ANOTHER_COMMIT
				L[l].row = (L[l].state == OVER -> L[l].row : L[l].state);
#else
				L[l].row = L[l].state;
#endif
				L[l].row_name = L[l].name;
				L[l].row_inode = L[l].inode;
				L[l].row_fresh[LOCK] = L[l].fresh[LOCK];
				L[l].row_fresh[GHOST] = L[l].fresh[GHOST]
			:: else
			fi;
			l++
		:: else -> break
		od;
		l = 0
	}
	MAY_CRASH;
#ifdef BUG_THE_ROW_ENDS_IN_ANOTHER_COMMIT
	atomic {
		if
		:: L[0].state == OVER -> L[0].row = OVER
		:: else
		fi
	}
#endif
	/* flush() leasewatch/step.c: acts, state files, and what is over is forgotten. */
	do
	:: l < LEASES ->
		atomic {
			if
			:: L[l].act != 0 && L[l].doing == 0 && L[l].answer == 0 -> L[l].doing = L[l].act; L[l].act = 0
			:: else
			fi
		}
		atomic {
			if
			:: L[l].state != UNKNOWN -> L[l].view_over = !(LIVING(l) || L[l].state == REQUESTED)
			:: else
			fi;
			if
			:: L[l].state == OVER -> L[l].state = UNKNOWN; L[l].act = 0; L[l].answer = 0
			:: else
			fi;
			l++
		}
	:: else -> l = 0; break
	od;
	MAY_CRASH;
	goto turn
}

/* A request that was taken back before anybody saw it leaves nothing. */
#define IS_OVER(l) (L[l].row == OVER || (L[l].row == UNKNOWN && L[l].at[LOCK] != QUEUE && !IN_ACTIVE(l)))
/* With finitely many crashes and failures, and every process getting its turns. */
ltl silence_ends { [] (([] L[0].silent) -> <> IS_OVER(0)) }
ltl release_ends { [] (L[0].released -> <> IS_OVER(0)) }
