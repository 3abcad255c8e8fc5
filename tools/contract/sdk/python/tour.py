"""The tour (docs/tour.md) through the generated client, on a first start: `tour.py URL EMAIL PASSWORD API_KEY`."""

import sys

from waitlist_client import ApiClient, Configuration, CreateSignup, SignupApi
from waitlist_client import AccountKeyApi, Answer, AnswerValue, AuthApi, CreateAccountKey, CreateTokens, CreateWaitlist
from waitlist_client import AccountKey, MakeOffers, MemberApi, OffboardWaiters, OfferApi, OfferCode, Question
from waitlist_client import ReturnWaiters, SignupUuid, UpdateMember, UpdateOwnMember
from waitlist_client import Waiter, WaiterApi, WaiterId, WaitlistApi
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
turn = OffboardWaiters(api_key=api_key, offboard_request=True, waiters=[WaiterId(id=line[0].id)])
gone = waiters.offboard_waiters(turn)
assert [(waiter.uuid, waiter.removed_priority, waiter.removed_from_waitlist) for waiter in gone] == [(ada.uuid, 0, True)]
assert waiters.list_waiters(api_key=api_key, offboarded_request=True) == gone

# Find
assert emails(search="ED") == ["edsger@example.com"]
[left] = waiters.list_waiters(waitlist_id=1, email="ada@example.com", offboarded_request=True)
assert (left.id, left.status, left.waitlist_api_key) == (line[0].id, "offboarded", None)

# Offer a seat, explain a place, accept, return
offers = OfferApi(client)
[offered] = offers.make_offers(1, MakeOffers(count=1, hours=48))
assert (offered.email, offered.status, offered.priority) == ("grace@example.com", "offered", 0)
code = OfferCode(code=offered.offer_url.split("/")[-1])
assert offers.check_offer(code).state == "open"
place = signups.get_place(waitlist_id=1, uuid=bob.uuid)
assert (place.priority, place.joined_priority, place.referrals.count, place.others) == (1, 3, 0, 2)
accepted = offers.accept_offer(code)
assert (accepted.state, accepted.signup.removed_reason) == ("accepted", "accepted")
[back] = offers.return_waiters(1, ReturnWaiters(signups=[SignupUuid(uuid=offered.uuid)]))
assert (back.uuid, back.status, back.priority) == (offered.uuid, "waiting", 0)
ended = problem_of(offers.accept_offer, code)
assert (ended.status, ended.error_code) == (409, "OFFER_ENDED")

# Another waitlist, with questions; its key in the header
waitlists = WaitlistApi(client)
questions = [Question(question_value="Which?", answer_value=["One", "Two"]), Question(question_value="Why?")]
page = "https://example.com/join"
launch = waitlists.create_waitlist(
    CreateWaitlist(waitlist_name="Launch", waitlist_url_location=page, questions=questions)
)
answers = [Answer(question_value="Which?", answer_value=AnswerValue(["One", "Two"]))]
asked = signups.create_signup(CreateSignup(waitlist_id=launch.id, email="ada@example.com", answers=answers))
assert asked.answers[0].answer_value.actual_instance == ["One", "Two"]
assert asked.answers[1].answer_value is None
seen = waitlists.get_waitlist(launch.id)
assert (seen.statistics.current_signups, seen.spots_to_move_upon_referral) == (1, 3)
shown = WaitlistApi(ApiClient(Configuration(host=url))).get_waitlist(launch.id)
assert (shown.statistics.total_signups, shown.spots_to_move_upon_referral) == (1, 3)
assert waitlists.preview_mail(launch.id, "welcome").subject == "You’re on the list: Launch"
assert [len(waitlists.list_waitlists(limit=1)), len(waitlists.list_waitlists(after_id=launch.id))] == [1, 0]
client.configuration.api_key["api_key"] = launch.api_key
assert waiters.list_waiters(questions_request=True)[0].answer_1 == "One, Two"

# An account key, for a program that runs without a login
account_keys = AccountKeyApi(client)
account_key = account_keys.create_account_key(CreateAccountKey(name="Report", scope="read"))
program = WaiterApi(ApiClient(Configuration(host=url, api_key={"account_key": account_key.key})))
assert len(program.list_waiters(waitlist_id=launch.id)) == 1
account_keys.revoke_account_key(account_key.id)
revoked = problem_of(program.list_waiters, waitlist_id=launch.id)
assert (revoked.status, revoked.error_code) == (401, "INVALID_ACCOUNT_KEY")

# Members of the account
del client.configuration.api_key["api_key"]
team = MemberApi(client)
me = team.update_own_member(UpdateOwnMember(name="Ada"))
assert (me.email, me.name, me.role, me.status) == (email, "Ada", "owner", "active")
assert [member.id for member in team.list_members(limit=1)] == [me.id]
last = problem_of(team.update_member, me.id, UpdateMember(role="viewer"))
assert (last.status, last.error_code) == (409, "LAST_OWNER")

# An answer of a later version, with values that this one does not list
later = Waiter.from_dict({**line[0].to_dict(), "status": "invited", "credit": "bought", "credit_reasons": ["rumor"]})
assert (later.status, later.credit, later.credit_reasons) == ("invited", "bought", ["rumor"])
assert AccountKey.from_dict({**account_key.to_dict(), "scope": "delete"}).scope == "delete"

# What can go wrong
nobody = problem_of(signups.get_signup, waitlist_id=1, email="nobody@example.com")
assert (nobody.status, nobody.error_code) == (404, "NO_WAITER_FOUND")
client.configuration.access_token = "expired"
stranger = problem_of(emails)
assert (stranger.status, stranger.error_code) == (401, "INVALID_TOKEN")
incomplete = problem_of(signups.create_signup, CreateSignup(waitlist_id=1))
assert (incomplete.status, incomplete.error_code) == (422, "WAITLIST_RULE_BROKEN")
assert incomplete.errors[0].field == "email"
