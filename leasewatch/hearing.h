/*
 * hearing.h: how the daemon hears of the tree, and what is wrong with that.
 *
 * Events come by inotify (store/watch.h), and are proven to come: at a wake-up that is due anyway, once in a
 * renew_grace, a canary. Where they can't be had, prove to be silent, or can't tell all (other machines, layers
 * below), the folders are read at a pace, and inotify is tried again at times. No verdict by silence needs any of
 * this: it looks at its own lock.
 */
#ifndef HEARING_H
#define HEARING_H

#include <stddef.h>

#include "core/lease.h"

/* Each is one line in the log when it begins and one when it is over, and stands in the beacon meanwhile. */
enum trouble {
	TROUBLE_TREE,	/* the tree, or a folder of it, is not where it was opened */
	TROUBLE_EVENTS, /* there is no inotify, or it tells nothing */
	TROUBLE_PROOF,	/* no canary can be made: whether events come is not known */
	TROUBLE_FAR,	/* a file system where not everybody's changes make events here */
	TROUBLE_LOST,	/* events were lost, and not everything has been looked at anew yet */
	TROUBLE_LOCKS,	/* single locks cannot be watched, for want of watches */
	TROUBLE_ROWS,	/* leases of the registry cannot be read; no hearing of ours, but it is told with it */
	TROUBLES
};

#define TROUBLE_SIZE 256
struct trouble_state {
	char now[TROUBLE_SIZE], told[TROUBLE_SIZE]; /* "" = none */
	char brief[TROUBLE_SIZE]; /* what was over before it was told */
	int64_t told_at; /* mono; how much of its ration of lines is used up */
};

struct hearing {
	bool unread;	   /* events that were read from the kernel wait for the next turn */
	bool proving;	   /* a canary is in the queue */
	int64_t prove_at;  /* mono; from then on, at whatever wake-up comes */
	int64_t retry_at;  /* mono; without inotify: not before this is it tried again */
	int64_t place_at;  /* mono; from then on it is looked whether the tree stands in its place */
	int64_t scan_at;   /* mono; when the folders are read next; LEASE_NEVER = events tell */
	int64_t away_since; /* mono; since when the tree is not in its place; 0 = it is */
	int polled;	   /* leases whose lock should be watched and can't be */
	bool locks_too;	   /* of those that are watched not every touch is told: they are looked at as well */
	struct trouble_state troubles[TROUBLES];
};

/* A lock that no lease is known for, met by a scan. */
struct newcome {
	int kind; /* enum watch_kind */
	int64_t ctime;
	char *name;
};

enum rescan_phase { RESCAN_NONE, RESCAN_ACTIVE, RESCAN_QUEUE, RESCAN_NEW, RESCAN_KNOWN };

/* Looking at everything anew, a piece a turn. */
struct rescan {
	enum rescan_phase phase;
	int64_t began, began_wall; /* mono, and wall */
	int64_t since_wall; /* when the one before began: what is older was seen by it */
	int64_t not_before; /* mono; the next one: so that it takes a part of our time only */
	int fd;		    /* the folder that is being read */
	struct newcome *found; /* in the order in which they came, once all are there */
	size_t n_found, found_size, at;
	char id[LEASE_ID_SIZE]; /* the last lease looked at */
};

#endif
