"""What Schemathesis must know beyond the document, each with its reason.

The service takes more than the document promises, because clients of the product whose API it serves exist already
(`True` and `1` in a query, ids written as text). The document does not promise it, so that SDKs have plain types; a
fuzzer that expects a refusal there would call the kindness a lie. Such cases are left out, and nothing else is.
"""

import base64
import json
import os
import re
import uuid

import requests
import schemathesis
from hypothesis import strategies as st

API_KEY = os.environ["WAITLIST_API_KEY"]
TOKEN = os.environ["WAITLIST_TOKEN"]
SIGNUPS = ("createSignup", "createWaiter", "submitUser")
# Public operations that take a key in place of an id. `getWaiter` is the lookup of an earlier generation without a token.
NAMING = ("createSignup", "getSignup", "getPlace", "watchPlace", "resendVerification", "createHeartbeat", "createWaiter", "viewWaitlist", "getWaiter")
KEPT_WAITLIST = int(os.environ["WAITLIST_ID"])

# Formats that JSON Schema does not know. Their full rule can't be written as a pattern, so the document names them.
_names = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12)
schemathesis.openapi.format("idn-email", st.builds("{}@{}.example".format, _names, _names))
schemathesis.openapi.format("contact", st.builds("{}@{}.example".format, _names, _names))
schemathesis.openapi.format("phone", st.integers(2000000, 9999999).map("+1415{}".format))
schemathesis.openapi.format("country-code", st.sampled_from(["US", "DE", "IN", "BR"]))
schemathesis.openapi.format("language", st.sampled_from(["en", "de", "pt-BR", "ar"]))
schemathesis.openapi.format("plain-text", st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=80))
schemathesis.openapi.format("http-url", st.builds("https://{}.example/join".format, _names))

# The document says no more of a file than that it is CSV.
_lines = st.builds("{0}@{1}.example,{0},2026-03-0{2}T09:00:00Z".format, _names, _names, st.integers(1, 9))
_files = st.lists(_lines, max_size=5).map(lambda lines: "\n".join(["email,first_name,created_at", *lines]).encode())
schemathesis.openapi.media_type("text/csv", _files)
# A mapping names columns of the file.
_mappings = st.sampled_from(["{}", '{"first_name": "metadata"}', '{"first_name": "last_name", "created_at": null}'])
schemathesis.openapi.format("column-mapping", _mappings)


class AccessToken:
    def get(self, case, context):
        return TOKEN

    def set(self, case, token, context):
        case.headers["Authorization"] = f"Bearer {token}"


# Without a token, only public operations are called.
if TOKEN:
    schemathesis.auth().skip_for(path=["/api/v1/auth/refresh_access_token", "/api/v1/auth/session/refresh"])(AccessToken)


@schemathesis.auth(refresh_interval=None).apply_to(path="/api/v1/auth/refresh_access_token")
class RefreshToken:
    """A refresh token works once, so that each request needs one of its own."""

    def get(self, case, context):
        account = {"email": os.environ["WAITLIST_EMAIL"], "password": os.environ["WAITLIST_PASSWORD"]}
        answer = requests.post(f"{os.environ['WAITLIST_URL']}/api/v1/auth/create_tokens", json=account, timeout=10)
        return answer.json()["refresh_token"]

    def set(self, case, token, context):
        case.headers["Authorization"] = f"Bearer {token}"


@schemathesis.auth(refresh_interval=None).apply_to(path="/api/v1/auth/session/refresh")
class SessionCookie(RefreshToken):
    """The same, in the cookie of a browser."""

    def set(self, case, token, context):
        case.cookies["waitlist_session"] = token


_plain_texts = set()


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Hypothesis takes minutes to draw long text from a negated character class; as a format it is drawn at once."""
    stack = [("", raw_schema)]
    while stack:
        name, node = stack.pop()
        if isinstance(node, dict):
            if str(node.get("pattern", "")).startswith("^[^"):
                del node["pattern"]
                node.setdefault("format", "plain-text")
                _plain_texts.add(name)
            stack.extend(node.items())
        elif isinstance(node, list):
            stack.extend((name, item) for item in node)


@schemathesis.hook
def before_add_examples(context, examples):
    """The examples are drawn field by field, but only an existing question has an id."""
    for case in examples:
        body = case.body if isinstance(case.body, dict) else {}
        for question in body.get("questions", []):
            question.pop("id", None)


@schemathesis.hook
def map_headers(context, headers):
    """A key that is drawn twice gets the earlier answer again, and what that had made may be deleted by now."""
    key = (headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and 1 <= len(key) <= 255:
        return {**headers, "Idempotency-Key": str(uuid.uuid4())}
    return headers


@schemathesis.hook
def before_call(context, case, kwargs):
    """
    Listings and offboardings keep the rules between their fields, which OpenAPI has no words for. Not in filter_case:
    examples do not pass it, links add fields after it, and Hypothesis gives up when too many cases are left out.
    """
    # A link takes ids from events of the audit log, which are null where an event has no waitlist.
    for name, value in (case.path_parameters or {}).items():
        if str(value) == "None":
            case.path_parameters = {**case.path_parameters, name: 2**53 - 1}
    # Schemathesis reuses by its name what answers hold, but `email` and `phone` of `required_contact` are settings.
    for fields in (case.query, case.body):
        if isinstance(fields, dict):
            for name, value in (("email", "ada@example.com"), ("phone", "+14155550123")):
                if fields.get(name) in ("required", "optional", "off"):
                    fields[name] = value
    # Other scripts take three times their length in a URL, more than Node.js reads.
    if _id_of(case) == "importWaiters" and isinstance(case.query, dict) and len(str(case.query.get("columns"))) > 8192:
        case.query["columns"] = "x" * 8193
    if _id_of(case) in ("createWaitlist", "updateWaitlist") and isinstance(case.body, dict):
        # The schema of a map has no words for its keys. A text that breaks a rule stays.
        if isinstance(case.body.get("texts"), dict):
            case.body["texts"] = {"button": text for text in case.body["texts"].values()}
        # Only beside the keys that are stored may the secret be left out.
        if isinstance(case.body.get("captcha"), dict):
            case.body["captcha"].setdefault("secret", "secret")
    if case.media_type == "application/x-www-form-urlencoded" and isinstance(case.body, dict):
        # A form has a field for each member of an object, and no null, which the schema of the JSON does not say.
        case.body = {
            name: value
            for name, value in case.body.items()
            if name not in ("metadata", "answers") and value not in (None, "null")
        }
    if _id_of(case) in ("createWebhook", "updateWebhook") and isinstance(case.body, dict):
        # No name is asked of the DNS, and no message leaves this machine. A URL that breaks the contract stays.
        if re.fullmatch(r"https://[a-z0-9]+\.example/join", str(case.body.get("url"))):
            case.body["url"] = "https://93.184.215.14/join"
        if case.body.get("is_active", True) is True:
            case.body["is_active"] = False
    if _id_of(case) == "replayDeliveries" and isinstance(case.body, dict):
        # One of the two.
        if "since" in case.body:
            case.body.pop("delivery_ids", None)
        elif "delivery_ids" not in case.body:
            case.body["since"] = "2026-11-21T09:30:00Z"
    if _id_of(case) in ("refreshSession", "logOut"):
        # Browsers send it with each request of a page of the service.
        case.headers = {**(case.headers or {}), "Sec-Fetch-Site": "same-origin"}
    if _id_of(case) == "getStatistics" and isinstance(case.query, dict) and _is_day(case.query.get("from")):
        # Days drawn apart are no span. What is no day stays, because the service must refuse it.
        if "to" not in case.query or _is_day(case.query["to"]):
            case.query["to"] = case.query["from"]
    if _id_of(case) in ("listWaiters", "listSignups") and isinstance(case.query, dict):
        _drop_what_excludes(case.query)
    fields = {"listWaiters": case.query, "offboardWaiters": case.body}.get(_id_of(case))
    if not TOKEN or not isinstance(fields, dict):
        return
    # Half of the requests carry the key of a real waitlist, so that they get past the refusal of a random one.
    if _takes_the_key(fields):
        fields["api_key"] = API_KEY
    # A request names its waitlist by an id or by a key.
    if _is_id(fields.get("waitlist_id")):
        if _is_key(fields.get("api_key")):
            del fields["api_key"]
    else:
        case.headers = {**(case.headers or {}), "api-key": API_KEY}
    if _id_of(case) == "listWaiters":
        if fields.get("status") in ("waiting", "offboarded"):
            fields.pop("offboarded_request", None)
        has_own_order = not fields.keys().isdisjoint(("search", "status", "credit"))
        if has_own_order and fields.get("order") in ("joined", "queue", "referrals"):
            del fields["order"]
        if has_own_order and _is_number(fields.get("offset")):
            del fields["offset"]
    elif "waiters" in fields and _is_id(fields.get("offboard_next")):
        del fields["offboard_next"]
    elif "waiters" not in fields and "offboard_next" not in fields:
        fields["waiters"] = [{"id": 2**53 - 1}]


@schemathesis.hook
def filter_case(context, case):
    return not (
        _is_kindness(case) or _ends_the_run(case) or _breaks_a_rule_between_fields(case) or _stays_plain_text(case)
    )


# A public key or an API key.
_KEY = r"[0-9A-Z]{6,12}|[0-9a-f]{40}"
# The fields of an answer that can't be set.
_SENT_BACK = {
    "api_key", "created_at", "statistics", "records_moved", "now", "required_contact_detail", "uses_signup_verification",
    "uses_waiter_verification", "redirects_to_status_page", "organization_uuid_fk",
}


def _drop_what_excludes(query):
    """Names have an order of their own, and only active people are sorted by their referrals."""
    if _is_name(query.get("name")) and not query.keys().isdisjoint(("search", "credit")):
        del query["name"]
    if "name" in query and query.get("order") in ("joined", "queue", "referrals"):
        del query["order"]
    if "name" in query and _is_number(query.get("offset")):
        del query["offset"]
    if query.get("order") == "referrals" and _is_number(query.get("offset")):
        del query["offset"]
    if query.get("order") == "referrals" and str(query.get("offboarded_request")).lower() in ("true", "1"):
        del query["order"]


def _is_kindness(case):
    """Values that the service understands although the document does not promise it."""
    query = case.query if isinstance(case.query, dict) else {}
    body = case.body if isinstance(case.body, dict) else {}
    truths = [query.get("questions_request"), query.get("offboarded_request")]
    if any(isinstance(value, str) and re.fullmatch(r"(?i)true|false|0|1", value) for value in truths):
        return True
    if isinstance(body.get("waitlist_id"), str) and re.fullmatch(r"\d{1,16}", body["waitlist_id"]):
        return True
    if _id_of(case) in NAMING:
        named = {**query, **body}
        name = named.get("waitlist_id")
        if "waitlist_id" not in named and "api_key" in named or isinstance(name, str) and re.fullmatch(_KEY, name):
            return True
    if _id_of(case) in ("createWaitlist", "updateWaitlist") and any(name in body for name in _SENT_BACK):
        return True
    if _id_of(case) == "updateWaitlist" and ("id" in body or "public_key" in body):
        return True
    if _id_of(case) == "createAccountKey" and any(
        name in body for name in ("id", "prefix", "created_at", "last_used_at", "key")
    ):
        return True
    if _id_of(case) in ("createWebhook", "updateWebhook") and any(
        name in body for name in ("id", "created_at", "secret", "secret_available")
    ):
        return True
    if _id_of(case) not in SIGNUPS:
        return False
    # A waitlist whose owner asks for no email takes a phone alone; an earlier change may have made it one.
    if "email" not in body and "phone" in body:
        return True
    # Blank contact data is none.
    if any(isinstance(body.get(name), str) and body[name].strip() == "" for name in ("email", "phone")):
        return True
    # On a waitlist without questions `answers` does not matter, whatever it holds.
    return "answers" in body and body["answers"] not in ([], None)


def _is_day(value):
    return isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None


def _ends_the_run(case):
    """The waitlist whose key the run uses stays, and keeps its key; its login stays too."""
    if _id_of(case) == "endSession":
        return str((case.path_parameters or {}).get("id")).lower() == _login_of(TOKEN)
    kept = str((case.path_parameters or {}).get("waitlist_id")) == str(KEPT_WAITLIST)
    return kept and _id_of(case) in ("deleteWaitlist", "replaceApiKey")


def _login_of(token):
    claims = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["sid"]


def _breaks_a_rule_between_fields(case):
    """Rules that OpenAPI has no words for: the descriptions say them."""
    query = case.query if isinstance(case.query, dict) else {}
    body = case.body if isinstance(case.body, dict) else {}
    # Without any of them, `GET /api/v1/waiter` is the owner's listing.
    if _id_of(case) == "getSignup" or (case.method == "GET" and case.path == "/api/v1/waiter" and not TOKEN):
        return not (query.get("email") or query.get("phone") or query.get("uuid"))
    # Without a name, it is the owner's listing too.
    if case.method == "GET" and case.path == "/api/v1/waitlist" and not TOKEN:
        return not ("waitlist_id" in query or "api_key" in query)
    if _id_of(case) in ("listWaiters", "offboardWaiters"):
        # The service trims the key, and a key of spaces is none.
        key = {**query, **body}.get("api_key", API_KEY)
        if isinstance(key, str) and key.strip(" \ufeff\t\r\n\v\f\u00a0\u2028\u2029") == "":
            return True
    if _id_of(case) == "makeOffers" and ("count" in body) == (body.get("signups") is not None):
        return True
    # A name of spaces or marks conforms to the schema, but finds nobody.
    if isinstance(query.get("name"), str) and not any(character.isprintable() and not character.isspace() for character in query["name"]):
        return True
    # A time in the past conforms to the schema too.
    if _id_of(case) == "createAccountKey" and re.match(r"\d{4}-\d\d-\d\d", str(body.get("expires_at"))):
        return True
    # The service knows times from 1970 on.
    time = {"replayDeliveries": "since", **dict.fromkeys(SIGNUPS, "form_opened_at")}.get(_id_of(case))
    if time and re.match(r"0\d{3}-|1[0-8]\d\d-|19[0-6]\d-", str(body.get(time))):
        return True
    text = json.dumps(body)
    if "__proto__" in text or "\\u0000" in text:
        return True
    contact = body.get("required_contact")
    if isinstance(contact, dict) and contact.get("email") == "off" and contact.get("phone") in ("off", None):
        return True
    questions = body.get("questions")
    if isinstance(questions, list):
        live = [item for item in questions if isinstance(item, dict) and item.get("soft_deleted") is not True]
        texts = [item.get("question_value") for item in live]
        is_new = all("id" not in item for item in live)
        return not is_new or len(live) > 3 or len(json.dumps(live)) > 8192 or any(texts.count(text) > 1 for text in texts)
    return False


def _stays_plain_text(case):
    """Our own format has no validator, so that a text that is drawn to break it may well keep it."""
    mutations = getattr(getattr(case.meta.phase, "data", None), "mutations", ()) if case.meta else ()
    body = case.body if isinstance(case.body, dict) else {}
    return len(mutations) > 0 and all(
        mutation.keywords == ("format",)
        and not _plain_texts.isdisjoint(mutation.schema_pointer.split("/"))
        and not any(isinstance(value, str) and re.search(r"[\0-\x1f\x7f-\x9f\ud800-\udfff]", value) for value in body.values())
        for mutation in mutations
    )


def _takes_the_key(fields):
    """Every other request; a key that breaks the contract stays as it is, for its refusal is what is looked for."""
    if not isinstance(fields, dict) or len(str(fields)) % 2 == 1:
        return False
    return "api_key" not in fields or _is_key(fields["api_key"])


def _is_key(value):
    return isinstance(value, str) and 1 <= len(value) <= 64


def _is_name(value):
    return isinstance(value, str) and 2 <= len(value) <= 100


def _is_number(value):
    """Queries hold numbers as text."""
    return isinstance(value, (int, str)) and re.fullmatch(r"\d{1,16}", str(value)) is not None


def _is_id(value):
    return _is_number(value) and 1 <= int(value) < 2**53


def _id_of(case):
    return case.operation.definition.raw.get("operationId")
