# pure.awk: reads FILE<tab>TYPE<tab>SYMBOL of the objects of lease/ and leasewatch/core/ (nm), says which call what they may not.
BEGIN {
	# Functions of libc that look at memory they are given and do nothing else. One that is missing here is added with its reason.
	n = split("bcmp memchr memcmp memcpy memmove memrchr memset mempcpy memmem stpcpy stpncpy strcasecmp strncasecmp strchr strchrnul " \
		"strcmp strcspn strlen strncmp strncpy strnlen strpbrk strrchr strspn strstr strlcpy strlcat bsearch abs labs llabs", a, " ")
	for (i = 1; i <= n; i++) memory[a[i]] = 1
	# What a guest in sshd never calls (pam_lease links lease/): output, allocation, and what changes the process or another one.
	n = split("printf fprintf dprintf sprintf snprintf vsnprintf vprintf vfprintf asprintf puts fputs putchar fopen fdopen fclose fread " \
		"fwrite fflush getline perror stdin stdout stderr syslog vsyslog malloc calloc realloc reallocarray free strdup strndup abort " \
		"exit _exit fork vfork execve execv execvp posix_spawn system popen signal sigaction umask chdir fchdir chroot setenv putenv " \
		"unsetenv setuid seteuid setreuid setresuid setgid setegid setgroups sleep usleep nanosleep opendir readdir getpwnam getpwuid " \
		"strtonum flopen", a, " ")
	for (i = 1; i <= n; i++) guest_never[a[i]] = 1
	# In an object that asks the kernel, but do not ask it themselves.
	still_pure["lease_id_valid"] = 1
}
# Checked and instrumented forms of the same functions, and the compiler's own helpers.
function plain(symbol) {
	sub(/@.*/, "", symbol)
	if (symbol ~ /^__[a-z]+_chk$/) { sub(/^__/, "", symbol); sub(/_chk$/, "", symbol) }
	return symbol
}
function compilers(symbol) {
	return symbol ~ /^(__asan_|__ubsan_|__sanitizer_|__sancov|__gcov|__llvm_|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__[a-z]+[sdt]i[0-9]$)/
}
{ sym = plain($3) }
$2 ~ /^[UwW]$/ && !compilers(sym) { uses[$1] = uses[$1] " " sym }
$2 ~ /^[A-TV-Z]$/ { owner[sym] = $1 }
# asan makes small writable companions of its own for every global.
$2 ~ /^[bBdDC]$/ && $1 ~ /^lease\// && sym !~ /^(__|\.|asan\.|___asan)/ { print $1 ":1: lease/ may have no writable static: " sym }
END {
	do {
		changed = 0
		for (f in uses) if (f ~ /^lease\// && !(f in asks)) {
			n = split(uses[f], a, " ")
			for (i = 1; i <= n; i++) {
				ours = a[i] in owner
				if ((!ours && !(a[i] in memory)) || (ours && (owner[a[i]] in asks) && !(a[i] in still_pure))) {
					asks[f] = a[i]; changed = 1; break
				}
			}
		}
	} while (changed)
	for (f in uses) {
		n = split(uses[f], a, " ")
		for (i = 1; i <= n; i++) {
			if (f ~ /^lease\// && (a[i] in guest_never)) print f ":1: " a[i] "(): lease/ is a guest in sshd and may not call it"
			if (f !~ /^leasewatch\/core\//) continue
			if (!(a[i] in owner) && !(a[i] in memory)) print f ":1: " a[i] "(): core/ is pure and may not call it"
			else if ((a[i] in owner) && (owner[a[i]] in asks) && !(a[i] in still_pure))
				print f ":1: " a[i] "(): core/ is pure, and " owner[a[i]] " asks the machine (" asks[owner[a[i]]] ")"
		}
	}
}
