# strip.awk: C without its comments, and with its strings and character constants emptied, as FILE<tab>LINE<tab>CODE.
# Blank lines are left out. With -v keep=1 strings stay (for #include lines). Knows no trigraphs and no line splice inside a token.
FNR == 1 { comment = 0 }
{
	out = ""
	n = length($0)
	quote = ""
	for (i = 1; i <= n; i++) {
		c = substr($0, i, 1)
		two = substr($0, i, 2)
		if (comment) {
			if (two == "*/") { comment = 0; i++; out = out " " }
		} else if (quote != "") {
			if (keep) out = out c
			if (c == "\\") { i++; if (keep) out = out substr($0, i, 1) }
			else if (c == quote) { if (!keep) out = out c; quote = "" }
		} else if (two == "/*") { comment = 1; i++ }
		else if (two == "//") break
		else {
			if (c == "\"" || c == "'") quote = c
			out = out (c == "\t" ? " " : c)
		}
	}
	sub(/ +$/, "", out)
	if (out != "") print FILENAME "\t" FNR "\t" out
}
