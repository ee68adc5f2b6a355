#!/bin/bash
# t0320-shells.sh: bash, zsh and fish on a real terminal beat their session's lock, and do nothing else to it or to the user.
. "$(dirname "$0")/../session/lib.sh"
world user
. "$(dirname "$0")/../session/terminal.sh"

own_fresh() { [ "$(stat -c %Y "$NOTICES/active/$(lock "$1")")" -gt 1000 ]; }

promises() {
	local sh=$1
	rc <<<". $hooks/lease.$sh"
	new_lock
	shell "$sh"
	within 5 "$sh: a prompt beats the lock" fresh
	sync
	old
	enter ""
	within 5 "$sh: and so does the next" fresh
	sync
	old
	enter "stat -c %Y \$KLEASE_LOCK >$W/seen"
	within 5 "$sh: a command is seen before it runs" test -s "$W/seen"
	check "$sh: with a beat before it" test "$(cat "$W/seen")" -gt 1000
	check "$sh: the record stays whole" whole
	rm -f "$L" "$W/seen"
	enter ""
	sync
	check "$sh: a lock that has gone is not made again" test ! -e "$L"
	mkdir "$L"
	sync
	check "$sh: a folder in its place is no lock" silent
	rmdir "$L"
	printf 'mine\n' >"$W/mine"
	touch -d @1000 "$W/mine"
	ln -s "$W/mine" "$L"
	sync
	check "$sh: a link in its place is not followed" test "$(stat -c %Y "$W/mine") $(cat "$W/mine")" = "1000 mine"
	new_lock
	chmod 444 "$L"
	chmod 555 "$NOTICES/active"
	sync
	check "$sh: a lock that can't be written is left alone" test "$(stat -c %Y "$L")" = 1000
	chmod 755 "$NOTICES/active"
	check "$sh: and all that in silence" silent
	new_lock
	close

	# The time between two beats.
	new_lock
	KLEASE_BEAT=3600 shell "$sh"
	within 5 "$sh: the first prompt beats" fresh
	sync
	old
	enter ""
	sync
	check "$sh: and the next not before KLEASE_BEAT seconds are over" test "$(stat -c %Y "$L")" = 1000
	close

	# The notice.
	rm -f "$W/notice"
	KLEASE_NOTICE=$W/notice shell "$sh"
	sync
	printf 'leasewatch: it expires\a soon\n' >"$W/notice.new" && mv "$W/notice.new" "$W/notice"
	enter ""
	within 5 "$sh: a notice is shown, and what is no text in it is not" shows "it expires? soon"
	enter ""
	sync
	check "$sh: once" test "$(grep -c 'it expires' "$W/tty")" = 1
	printf 'leasewatch: renewed at last' >"$W/notice.new" && mv "$W/notice.new" "$W/notice"
	enter ""
	within 5 "$sh: and again when it has changed" shows "renewed at last"
	close

	# A file size limit of 0 kills who writes.
	new_lock
	shell "$sh"
	sync
	enter "ulimit -f 0"
	sync
	old
	enter ""
	within 5 "$sh: lives under a file size limit of 0, and beats" fresh
	close

	# A session of its own.
	rm -f "$L"
	shell "$sh" env -u KLEASE_LOCK -u KLEASE_SESSION KLEASE_HOOK_SESSION=yes
	within 10 "$sh: makes a session of its own where the user opted in" present shell-
	id=$(lock shell-)
	id=${id: -14}
	enter "echo \$KLEASE_SESSION >$W/own"
	within 5 "$sh: and knows it" grep -qx "$id" "$W/own"
	sync
	touch -d @1000 "$NOTICES/active/$(lock "$id")"
	enter ""
	within 5 "$sh: its prompts beat it" own_fresh "$id"
	close
	within 5 "$sh: and its exit archives it" archived "$id"
	new_lock
	shell "$sh" env KLEASE_HOOK_SESSION=yes
	sync
	check "$sh: but none where there is one" absent shell-
	close
	rm -f "$W/own" "$L"
	shell "$sh" env KLEASE_HOOK_SESSION=yes
	within 5 "$sh: and one where there is none but in an old environment" present shell-
	sync
	close
}

for sh in bash zsh fish; do
	if command -v $sh >/dev/null; then promises $sh; else skip "$sh" "it is not installed"; fi
done
finish
