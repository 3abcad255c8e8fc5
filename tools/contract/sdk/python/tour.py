"""The tour of the README through the generated client, on a first start: `tour.py URL EMAIL PASSWORD API_KEY`."""

import sys

from waitlist_client import ApiClient, Configuration, CreateSignup, SignupApi
from waitlist_client import AuthApi, CreateTokens, OffboardWaiters, WaiterApi, WaiterId
from waitlist_client.exceptions import ApiException

url, email, password, api_key = sys.argv[1:]

client = ApiClient(Configuration(host=url))
signups = SignupApi(client)
auth = AuthApi(client)
waiters = WaiterApi(client)


def problem_of(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except ApiException as error:
        assert error.status == error.data.status
        return error.data
    raise AssertionError("This call should have failed")


def emails(**filters):
    return [waiter.email for waiter in waiters.list_waiters(api_key=api_key, **filters)]


# Sign up
for name in ["grace", "edsger"]:
    signups.create_signup(CreateSignup(waitlist_id=1, email=f"{name}@example.com"))
ada = signups.create_signup(CreateSignup(waitlist_id=1, email="ada@example.com"))
print(ada.priority, ada.referral_link)
assert ada.priority == 2

# Refer, look up
bob = signups.create_signup(CreateSignup(waitlist_id=1, email="bob@example.com", referral_link=ada.referral_link))
assert bob.referred_by_signup_token == ada.referral_token
found = signups.get_signup(waitlist_id=1, email="ada@example.com")
assert (found.uuid, found.priority, found.amount_referred) == (ada.uuid, 0, 1)

# Log in, refresh
assert problem_of(emails).error_code == "MISSING_TOKEN"
tokens = auth.create_tokens(CreateTokens(email=email, password=password))
client.configuration.access_token = tokens.refresh_token
client.configuration.access_token = auth.refresh_access_token().access_token

# List
line = waiters.list_waiters(api_key=api_key, order="queue")
assert [waiter.email for waiter in line] == [f"{name}@example.com" for name in ["ada", "grace", "edsger", "bob"]]
assert line[0].total_waiters_currently == 4
assert emails(limit=1) == ["grace@example.com"]
assert emails(offset=1, limit=1) == ["edsger@example.com"]
assert emails(after_id=line[0].id) == ["bob@example.com"]
assert emails(referral_token=ada.referral_token) == ["bob@example.com"]
assert emails(referral_token="true") == ["bob@example.com"]
assert waiters.list_waiters(api_key=api_key, questions_request=True)[0].question_1 == ""
assert emails(offboarded_request=True) == []

# Offboard
turn = OffboardWaiters(offboard_request=True, waiters=[WaiterId(id=line[0].id)])
gone = waiters.offboard_waiters(turn, api_key=api_key)
assert [(waiter.uuid, waiter.removed_priority, waiter.removed_from_waitlist) for waiter in gone] == [(ada.uuid, 0, True)]
assert emails(offboarded_request=True) == ["ada@example.com"]

# What can go wrong
nobody = problem_of(signups.get_signup, waitlist_id=1, email="nobody@example.com")
assert (nobody.status, nobody.error_code) == (404, "NO_WAITER_FOUND")
client.configuration.access_token = "expired"
stranger = problem_of(emails)
assert (stranger.status, stranger.error_code) == (401, "INVALID_TOKEN")
incomplete = problem_of(signups.create_signup, CreateSignup(waitlist_id=1))
assert (incomplete.status, incomplete.error_code) == (422, "WAITLIST_RULE_BROKEN")
assert incomplete.errors[0].field == "email"
