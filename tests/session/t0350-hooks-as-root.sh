#!/bin/bash
# t0350-hooks-as-root.sh: a root shell beats another's lock without opening it; on a read-only tree the hooks are silent.
. "$(dirname "$0")/../session/lib.sh"
world system
. "$(dirname "$0")/../session/terminal.sh"

chmod 1777 "$NOTICES/active"
for sh in bash zsh fish; do
	command -v $sh >/dev/null || continue
	rc <<<". $hooks/lease.$sh"
	new_lock
	chown nobody "$L"
	shell "$sh"
	within 5 "$sh as root beats a user's lock" fresh
	check "$sh as root leaves the record whole" whole
	rm -f "$L"
	enter ""
	sync
	check "$sh as root makes none again" test ! -e "$L"
	check "$sh as root says nothing" silent
	close
done

# In a mount namespace of its own. As a user: root of a namespace would touch.
ro() {
	cat >"$W/ro.sh" <<-E
	mount -t tmpfs none '$W/ro' && mkdir '$W/ro/active' || exit 1
	printf '#leasewatch 1\nid=kls-abcdefghij\n' >'$W/ro/active/lock' && touch -d @1000 '$W/ro/active/lock' && chown -R nobody '$W/ro'
	mount -o remount,ro '$W/ro' || exit 1
	: >'$W/ro.there'
	exec setpriv --reuid=nobody --regid=$(id -g nobody) --clear-groups env KLEASE_LOCK='$W/ro/active/lock' $1
	E
	mkdir -p "$W/ro"
	rm -f "$W/ro.there"
	term "unshare -m sh $W/ro.sh"
}
if unshare -m sh -c "mkdir -p '$W/ro' && mount -t tmpfs none '$W/ro'" 2>/dev/null; then
	mkdir -p "$W/zdot" "$W/out.d"
	chmod 777 "$W/out.d"
	for sh in bash zsh fish; do
		command -v $sh >/dev/null || continue
		echo ". $hooks/lease.$sh" | tee "$W/rc" >"$W/zdot/.zshrc"
		case $sh in
		bash) ro "bash --noprofile --rcfile $W/rc -i" ;;
		zsh) ro "ZDOTDIR=$W/zdot zsh -d -i" ;;
		fish) ro "fish --no-config -i -C 'source $W/rc'" ;;
		esac
		within 5 "$sh: the tree is read-only" test -e "$W/ro.there"
		enter ""
		enter "stat -c %Y \$KLEASE_LOCK >$W/out.d/$sh"
		within 5 "$sh: works on a read-only tree" test -s "$W/out.d/$sh"
		check "$sh: beats nothing there" grep -qx 1000 "$W/out.d/$sh"
		check "$sh: and says nothing" silent
		close
	done
else
	skip "a read-only tree" "no mount namespace can be had here"
fi
finish
