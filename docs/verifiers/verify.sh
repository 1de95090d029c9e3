#!/bin/sh
# Usage: sh verify.sh <secret> <svc-signature header> < body
secret=$1 header=$2 now=${NOW:-$(date +%s)}
part() { printf '%s\n' "$header" | tr ',' '\n' | sed -n "s/^ *$1=//p" | tail -n 1; }
# Of both sides the digests are compared: how long that takes tells nothing of what was expected.
digest() { openssl dgst -sha256 -r | cut -d ' ' -f 1; }
fail() { echo "$1" >&2; exit 1; }

t=$(part t) v1=$(part v1)
expected=$({ printf '%s.' "$t"; cat; } | openssl dgst -sha256 -hmac "$secret" -r | cut -d ' ' -f 1)
case $t in '' | *[!0-9]* | ?????????????*) fail 'the header has no t or no v1' ;; esac
case $v1 in '' | *[!0-9a-f]*) fail 'the header has no t or no v1' ;; esac
[ $((now - 300)) -le "$t" ] && [ "$t" -le $((now + 300)) ] || fail 't is more than five minutes away'
[ "$(printf %s "$expected" | digest)" = "$(printf %s "$v1" | digest)" ] || fail 'the signature is of another secret or body'
echo ok
