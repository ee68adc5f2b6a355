# layers.awk: who may use whom. Reads FILE<tab>LINE<tab>CODE (strip.awk -v keep=1), prints `file:line: what`.
#
#	lease/                       nobody: it is safe inside sshd
#	pam_lease/                   lease/, libpam, libc
#	leasewatch/core/             lease/ (pure: no header through which it could reach the machine)
#	leasewatch/{store,os,conf}/  lease/, core/, not each other; os/log.h for store/ and conf/
#	leasewatch/*.c               all of these
#	klease/                      lease/, leasewatch/core/
#	runtimes/                    lease/
#
# A name in quotes is found as the compiler finds it: beside the file, then from the top folder, then from leasewatch/.
BEGIN {
	may["lease"] = "lease"
	may["pam_lease"] = "pam_lease lease"
	may["core"] = "core lease"
	may["store"] = "store core lease"
	may["os"] = "os core lease"
	may["conf"] = "conf core lease"
	may["daemon"] = "daemon core store os conf lease"
	may["klease"] = "klease core lease"
	may["runtimes"] = "runtimes lease"

	# System headers that need no machine: all that core/ may have.
	n = split("assert.h bsd/sys/queue.h bsd/sys/tree.h ctype.h errno.h float.h inttypes.h limits.h math.h stdalign.h stdarg.h " \
		"stdbool.h stddef.h stdint.h stdlib.h string.h strings.h sys/queue.h sys/tree.h sys/types.h", pure, " ")
	for (i = 1; i <= n; i++) core_may[pure[i]] = 1
}

function layer(path) {
	if (path ~ /^leasewatch\/(core|store|os|conf)\//) { split(path, part, "/"); return part[2] }
	if (path ~ /^leasewatch\/[^\/]*$/) return "daemon"
	if (path ~ /^(lease|pam_lease|klease|runtimes)\//) { split(path, part, "/"); return part[1] }
	return ""
}
function exists(path,   line, r) {
	if (path in seen) return seen[path]
	r = (getline line < (root "/" path)) >= 0
	close(root "/" path)
	return seen[path] = r
}
function find(file, name,   dir) {
	dir = file
	sub(/[^\/]*$/, "", dir)
	if (exists(dir name)) return dir name
	if (exists(name)) return name
	if (exists("leasewatch/" name)) return "leasewatch/" name
	return ""
}
function bad(what) { print $1 ":" $2 ": " what }

function ours(file, name,   from, path, to) {
	if (name == "config.h") return
	if (name ~ /(^|\/)\.\.?\//) { bad("\"" name "\": say the layer (\"core/state.h\"), not the way to it"); return }
	path = find(file, name)
	if (path == "" && name ~ /^(lease|pam_lease|leasewatch|klease|runtimes)\//) path = name
	if (path == "" && name ~ /^(core|store|os|conf)\//) path = "leasewatch/" name
	from = layer(file)
	to = layer(path)
	if (to == "") { bad("\"" name "\": no header of ours by that name"); return }
	if (path == "leasewatch/os/log.h" && (from == "store" || from == "conf")) return
	if (index(" " may[from] " ", " " to " ") == 0)
		bad(place[from] " may not use " place[to] " (\"" name "\"); it may use: " may[from])
}
function system_header(file, name,   from) {
	from = layer(file)
	if (exists(name) || exists("leasewatch/" name)) { bad("<" name ">: headers of ours stand in quotes"); return }
	if (from == "core" && !(name in core_may)) bad("leasewatch/core/ is pure and may not use <" name ">")
	# Not <stdio.h>: renameat2 is declared there. What is called from it is pure's business.
	if (from == "lease" && name == "syslog.h") bad("lease/ is a guest in sshd: no <" name ">")
	if ((from == "lease" || from == "pam_lease") && name ~ /^(bsd\/|libutil\.h|vis\.h)/)
		bad(place[from] " may not use libbsd (<" name ">)")
	if (name == "sqlite3.h" && from != "store" && file !~ /^klease\/[a-z_-]*ledger[a-z_-]*\.[ch]$/)
		bad("<sqlite3.h> is for leasewatch/store/ and klease's ledger only")
	if (name == "ini.h" && from != "conf") bad("<ini.h> is for leasewatch/conf/ only")
	if (name == "jansson.h" && from != "klease") bad("<jansson.h> is for klease/ only")
	if (name ~ /^security\// && from != "pam_lease") bad("<" name "> is for pam_lease/ only")
}
BEGIN {
	place["lease"] = "lease/"; place["pam_lease"] = "pam_lease/"; place["core"] = "leasewatch/core/"
	place["store"] = "leasewatch/store/"; place["os"] = "leasewatch/os/"; place["conf"] = "leasewatch/conf/"
	place["daemon"] = "leasewatch/*.c"; place["klease"] = "klease/"; place["runtimes"] = "runtimes/"
}
$3 ~ /^ *# *include/ {
	name = $3
	sub(/^ *# *include */, "", name)
	if (name ~ /^"[^"]+"/) { split(name, q, "\""); ours($1, q[2]) }
	else if (name ~ /^<[^>]+>/) { split(name, q, /[<>]/); system_header($1, q[2]) }
	else bad("an #include that cannot be read: " name)
}
