"""Verifies the webhook message on standard input by the reference library: {"secret", "body", "headers"}."""

import json
import sys

from standardwebhooks import Webhook

message = json.load(sys.stdin)
verified = Webhook(message["secret"]).verify(message["body"], message["headers"])
assert verified["event"] == "test", verified
