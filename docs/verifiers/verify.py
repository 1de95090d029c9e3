# Usage: python3 verify.py <secret> <svc-signature header> < body
import hashlib, hmac, os, re, sys, time

secret, header = sys.argv[1:]
parts = dict(part.strip().partition("=")[::2] for part in header.split(","))
t, v1 = parts.get("t", ""), parts.get("v1", "")
now = float(os.environ.get("NOW") or time.time())
signed = t.encode() + b"." + sys.stdin.buffer.read()
expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
if not re.fullmatch("[0-9]{1,12}", t) or not re.fullmatch("[0-9a-f]{64}", v1):
    sys.exit("the header has no t or no v1")
if abs(now - int(t)) > 300:
    sys.exit("t is more than five minutes away")
if not hmac.compare_digest(expected, v1):
    sys.exit("the signature is of another secret or body")
print("ok")
