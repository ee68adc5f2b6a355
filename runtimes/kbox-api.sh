# shellcheck shell=sh disable=SC2154,SC2034
# kbox-api.sh: sourced by kbox: what oci.sh asks of the engine, over its socket. curl speaks, jq reads.
need curl jq

# api METHOD PATH [CURL OPTION...]: the answer in out, the status of HTTP in code. Fails for all but 2xx and 304, saying why.
api() {
	api_method=$1 api_path=$2
	shift 2
	api_said=${LEASE_DIR:+$LEASE_DIR/said}
	code=
	time_left
	out=$(curl --silent --show-error --unix-socket "$socket" --max-time "$((left / 1000)).$(printf %03d $((left % 1000)))" --request "$api_method" \
		--write-out '\n%{http_code}' --header 'Content-Type: application/json' "$@" "http://kbox$api_path" 2>"${api_said:-/dev/null}") || {
		api_status=$?
		[ $api_status != 28 ] || api_status=124
		out=
		return $api_status
	}
	code=${out##*
}
	out=${out%
*}
	case $code in 2* | 304) return 0 ;; esac
	printf '%s' "$out" | jq -r '.message // .cause // empty' >"${api_said:-/dev/null}" 2>/dev/null
	return 1
}
engine_up() { (api GET "$api/version"); }

do_inspect() {
	if api GET "$api/containers/$name/json"; then
		out=$(printf '%s' "$out" | jq -r '[.Id, .State.Status, .State.Pid, .Config.Labels["leasewatch.id"], .Config.Labels["leasewatch.generation"], "/"]
			| map(. // "" | tostring) | join("|")')
		return 0
	else inspect_status=$?; fi
	out=
	[ "$code" = 404 ] || failed $inspect_status "asking for $name"
}
do_run() {
	case ${LEASE_PROFILE_NET:-engine} in
	engine) net= ;;
	*) net=$LEASE_PROFILE_NET ;;
	esac
	run_body=$(jq -n --arg image "$LEASE_PROFILE_IMAGE" --arg command "${LEASE_PROFILE_COMMAND:-}" --arg net "$net" \
		--arg cpu "${LEASE_PROFILE_CPU:-}" --arg memory "${LEASE_PROFILE_MEMORY:-}" --arg storage "${LEASE_PROFILE_STORAGE:-}" \
		--arg profile "${LEASE_PROFILE_PROFILE:-}" --arg id "$LEASE_ID" --arg generation "$LEASE_GENERATION" --arg uid "${LEASE_UID:-}" '
		def given(f): if . == "" then {} else f end;
		{Image: $image, Labels: {"leasewatch.id": $id, "leasewatch.generation": $generation, "leasewatch.uid": $uid}}
		+ ($command | given({Cmd: ["/bin/sh", "-c", .]})) + ($profile | given({Profile: .}))
		+ {HostConfig: ({RestartPolicy: {Name: "no"}} + ($net | given({NetworkMode: .}))
			+ ($cpu | given({NanoCpus: (tonumber * 1000000)})) + ($memory | given({Memory: tonumber}))
			+ ($storage | given({StorageOpt: {size: .}})))}')
	printf '%s' "$run_body" >"$LEASE_DIR/body"
	if api POST "$api/containers/create?name=$name" --data-binary "@$LEASE_DIR/body"; then run_status=0; else run_status=$?; fi
	rm -f "$LEASE_DIR/body"
	[ $run_status = 0 ] || return $run_status
	cid=$(printf '%s' "$out" | jq -r .Id)
	do_start && out=$cid
}
do_pause() { api POST "$api/containers/$cid/pause"; }
do_unpause() { api POST "$api/containers/$cid/unpause"; }
do_start() { api POST "$api/containers/$cid/start"; }
do_stop() { api POST "$api/containers/$cid/stop?t=0"; }
do_remove() { api DELETE "$api/containers/$1?force=true&v=true" || [ "$code" = 404 ]; }
do_commit() { api GET "$api/images/$1:$2/json" || api POST "$api/commit?container=$cid&repo=$1&tag=$2" --data '{}'; }
# Of an old box that stopped, too: all=true.
do_list() {
	api GET "$api/containers/json?all=true&filters=%7B%22label%22%3A%5B%22leasewatch.id%22%5D%7D" || return
	printf '%s' "$out" | jq -r '.[] | "\(.Names[0] | ltrimstr("/"))|\(.State // .Status)"'
}
dump() { api POST "$checkpoint/containers/$cid/checkpoint"; }
restore() { api POST "$checkpoint/containers/$cid/restore"; }

# The stream's first line is the use until now, and comes at once; stream=false would wait for a second one.
stats() {
	time_left
	# Whoever has the first line ends the stream.
	# shellcheck disable=SC2016
	stats_out=$(sh -c 'echo $$; exec "$@"' - curl --silent --no-buffer --max-time "$((left / 1000 + 1))" --unix-socket "$socket" \
		"http://kbox$api/containers/$name/stats?stream=true" 2>/dev/null |
		{ read -r stats_pid && read -r stats_line && kill "$stats_pid" && printf '%s\n' "$stats_line"; } |
		jq -r '"cpu_usec=\(.cpu_stats.cpu_usage.total_usage / 1000 | floor)", "memory=\(.memory_stats.usage // 0)",
			"net_bytes=\([.networks // {} | .[] | .rx_bytes + .tx_bytes] | add // 0)"' 2>/dev/null)
	[ -n "$stats_out" ] && printf '%s\n' "$stats_out"
}
# Where the host has no cgroup of it, kbox tells what it uses.
verb_stat() {
	look
	[ -n "$status" ] || gone
	state "$status"
	echo "state=$state"
	[ "$state" != running ] || stats || answer_use
}

probe() {
	disk='' freezes=1 why='' hibernates=frozen snapshots=yes
	engine_up >/dev/null || later "the socket does not answer"
	# Whether there is a checkpoint: a box that isn't there is told from a path that isn't there by the message.
	api POST "$checkpoint/containers/lease-probe/checkpoint"
	case $code:$out in
	404:*ontainer* | 409:* | 500:*) disk=1 hibernates=disk ;;
	*) why="no checkpoint below $checkpoint" ;;
	esac
}
