import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Objects;
import waitlist.client.ApiClient;
import waitlist.client.ApiException;
import waitlist.client.api.AccountKeyApi;
import waitlist.client.api.AuthApi;
import waitlist.client.api.MemberApi;
import waitlist.client.api.OfferApi;
import waitlist.client.api.SignupApi;
import waitlist.client.api.WaiterApi;
import waitlist.client.api.WaitlistApi;
import waitlist.client.auth.ApiKeyAuth;
import waitlist.client.auth.HttpBearerAuth;
import waitlist.client.model.Answer;
import waitlist.client.model.CreateAccountKey;
import waitlist.client.model.CreateSignup;
import waitlist.client.model.CreateTokens;
import waitlist.client.model.CreateWaitlist;
import waitlist.client.model.KeyScope;
import waitlist.client.model.MakeOffers;
import waitlist.client.model.OffboardWaiters;
import waitlist.client.model.OfferCode;
import waitlist.client.model.Problem;
import waitlist.client.model.Question;
import waitlist.client.model.ReturnWaiters;
import waitlist.client.model.Role;
import waitlist.client.model.Signup;
import waitlist.client.model.SignupUuid;
import waitlist.client.model.UpdateMember;
import waitlist.client.model.UpdateOwnMember;
import waitlist.client.model.Waiter;
import waitlist.client.model.WaiterId;
import waitlist.client.model.WordedMail;

/** The tour (docs/tour.md) through the generated client, on a first start: `Tour URL EMAIL PASSWORD API_KEY`. */
public class Tour {
  public static void main(String[] args) throws Exception {
    String url = args[0], email = args[1], password = args[2], apiKey = args[3];

    ApiClient client = new ApiClient().setBasePath(url);
    SignupApi signups = new SignupApi(client);
    AuthApi auth = new AuthApi(client);
    WaiterApi waiters = new WaiterApi(client);

    // Sign up
    for (String name : List.of("grace", "edsger"))
      signups.createSignup(new CreateSignup().waitlistId(1L).email(name + "@example.com")).execute();
    var ada = signups.createSignup(new CreateSignup().waitlistId(1L).email("ada@example.com")).execute();
    System.out.println(ada.getPriority() + " " + ada.getReferralLink());
    equal(ada.getPriority(), 2L);

    // Refer, look up
    var referred = new CreateSignup().waitlistId(1L).email("bob@example.com");
    referred.setReferralLink(ada.getReferralLink().toString());
    var bob = signups.createSignup(referred).execute();
    equal(bob.getReferredBySignupToken(), ada.getReferralToken());
    var found = signups.getSignup(1L).email("ada@example.com").execute();
    equal(List.of(found.getUuid(), found.getPriority(), found.getAmountReferred()), List.of(ada.getUuid(), 0L, 1L));

    // Log in, refresh
    var missing = problemOf(() -> waiters.listWaiters().apiKey(apiKey).execute());
    equal(List.of(missing.getStatus(), missing.getErrorCode()), List.of(401, "MISSING_TOKEN"));
    var tokens = auth.createTokens(new CreateTokens().email(email).password(password)).execute();
    ((HttpBearerAuth) client.getAuthentication("refresh_token")).setBearerToken(tokens.getRefreshToken());
    tokens = auth.refreshAccessToken().execute();
    var access = (HttpBearerAuth) client.getAuthentication("access_token");
    access.setBearerToken(tokens.getAccessToken());

    // List
    var line = waiters.listWaiters().apiKey(apiKey).order("queue").execute();
    equal(emails(line), List.of("ada@example.com", "grace@example.com", "edsger@example.com", "bob@example.com"));
    equal(line.get(0).getTotalWaitersCurrently(), 4L);
    Long adasId = line.get(0).getId();
    equal(emails(waiters.listWaiters().apiKey(apiKey).limit(1).execute()), List.of("grace@example.com"));
    equal(emails(waiters.listWaiters().apiKey(apiKey).offset(1L).limit(1).execute()), List.of("edsger@example.com"));
    equal(emails(waiters.listWaiters().apiKey(apiKey).afterId(adasId).execute()), List.of("bob@example.com"));
    for (String referrer : List.of(ada.getReferralToken(), "true"))
      equal(emails(waiters.listWaiters().apiKey(apiKey).referralToken(referrer).execute()), List.of("bob@example.com"));
    equal(waiters.listWaiters().apiKey(apiKey).questionsRequest(true).execute().get(0).getQuestion1(), "");
    equal(waiters.listWaiters().apiKey(apiKey).offboardedRequest(true).execute(), List.of());

    // Offboard
    var turn = new OffboardWaiters().apiKey(apiKey).offboardRequest(true).addWaitersItem(new WaiterId().id(adasId));
    var gone = waiters.offboardWaiters(turn).execute();
    equal(gone.size(), 1);
    equal(List.of(gone.get(0).getUuid(), gone.get(0).getRemovedPriority()), List.of(ada.getUuid(), 0L));
    equal(waiters.listWaiters().apiKey(apiKey).offboardedRequest(true).execute(), gone);

    // Find
    equal(emails(waiters.listWaiters().apiKey(apiKey).search("ED").execute()), List.of("edsger@example.com"));
    var left = waiters.listWaiters().waitlistId(1L).email("ada@example.com").offboardedRequest(true).execute().get(0);
    equal(List.of(left.getId(), left.getStatus()), List.of(adasId, "offboarded"));
    equal(left.getWaitlistApiKey(), null);

    // Offer a seat, explain a place, accept, return
    var offers = new OfferApi(client);
    var offered = offers.makeOffers(1L, new MakeOffers().count(1).hours(48)).execute().get(0);
    equal(List.of(offered.getEmail(), offered.getStatus()), List.of("grace@example.com", "offered"));
    var link = offered.getOfferUrl().toString();
    var code = new OfferCode().code(link.substring(link.lastIndexOf('/') + 1));
    equal(offers.checkOffer(code).execute().getState(), "open");
    var place = signups.getPlace(1L, bob.getUuid()).execute();
    equal(List.of(place.getPriority(), place.getJoinedPriority(), place.getOthers()), List.of(1L, 3L, 2L));
    var accepted = offers.acceptOffer(code).execute();
    equal(List.of(accepted.getState(), accepted.getSignup().getRemovedReason()), List.of("accepted", "accepted"));
    var returning = new ReturnWaiters().addSignupsItem(new SignupUuid().uuid(offered.getUuid()));
    var back = offers.returnWaiters(1L, returning).execute();
    equal(List.of(back.get(0).getUuid(), back.get(0).getStatus()), List.of(offered.getUuid(), "waiting"));
    var ended = problemOf(() -> offers.acceptOffer(code).execute());
    equal(List.of(ended.getStatus(), ended.getErrorCode()), List.of(409, "OFFER_ENDED"));

    // Another waitlist, with questions; its key in the header
    WaitlistApi waitlists = new WaitlistApi(client);
    var settings = new CreateWaitlist().waitlistName("Launch").waitlistUrlLocation("https://example.com/join");
    settings.addQuestionsItem(new Question().questionValue("Which?").answerValue(List.of("One", "Two")));
    settings.addQuestionsItem(new Question().questionValue("Why?"));
    var launch = waitlists.createWaitlist(settings).execute();
    var answer = new Answer().questionValue("Which?").answerValue(List.of("One", "Two"));
    var answering = new CreateSignup().waitlistId(launch.getId()).email("ada@example.com").addAnswersItem(answer);
    var answered = signups.createSignup(answering).execute().getAnswers();
    equal(answered.get(0).getAnswerValue(), List.of("One", "Two"));
    equal(answered.get(1).getAnswerValue(), null);
    var seen = waitlists.getWaitlist(launch.getId()).execute();
    equal(List.of(seen.getStatistics().getCurrentSignups(), seen.getSpotsToMoveUponReferral()), List.of(1L, 3));
    var shown = new WaitlistApi(new ApiClient().setBasePath(url)).getWaitlist(launch.getId()).execute();
    equal(List.of(shown.getStatistics().getTotalSignups(), shown.getSpotsToMoveUponReferral()), List.of(1L, 3));
    var preview = waitlists.previewMail(launch.getId(), WordedMail.WELCOME).execute();
    equal(preview.getSubject(), "You’re on the list: Launch");
    equal(waitlists.listWaitlists().limit(1).execute().size(), 1);
    equal(waitlists.listWaitlists().afterId(launch.getId()).execute().size(), 0);
    ((ApiKeyAuth) client.getAuthentication("api_key")).setApiKey(launch.getApiKey());
    equal(waiters.listWaiters().questionsRequest(true).execute().get(0).getAnswer1(), "One, Two");

    // An account key, for a program that runs without a login
    var accountKeys = new AccountKeyApi(client);
    var report = new CreateAccountKey().name("Report").scope(KeyScope.READ);
    var created = accountKeys.createAccountKey(report).execute();
    var program = new ApiClient().setBasePath(url);
    ((ApiKeyAuth) program.getAuthentication("account_key")).setApiKey(created.getKey());
    var listing = new WaiterApi(program).listWaiters().waitlistId(launch.getId());
    equal(listing.execute().size(), 1);
    accountKeys.revokeAccountKey(created.getId()).execute();
    var revoked = problemOf(listing::execute);
    equal(List.of(revoked.getStatus(), revoked.getErrorCode()), List.of(401, "INVALID_ACCOUNT_KEY"));

    // Members of the account
    var team = new MemberApi(client);
    var me = team.updateOwnMember(new UpdateOwnMember().name("Ada")).execute();
    equal(List.of(me.getEmail(), me.getName(), me.getRole(), me.getStatus()), List.of(email, "Ada", "owner", "active"));
    equal(team.listMembers().limit(1).execute().get(0).getId(), me.getId());
    var demoted = new UpdateMember().role(Role.VIEWER);
    var last = problemOf(() -> team.updateMember(me.getId(), demoted).execute());
    equal(List.of(last.getStatus(), last.getErrorCode()), List.of(409, "LAST_OWNER"));

    // An answer of a later version, with values that this one does not list
    var lookup = HttpRequest.newBuilder(URI.create(url + "/api/v1/signup?waitlist_id=1&email=ada@example.com")).build();
    var text = HttpClient.newHttpClient().send(lookup, HttpResponse.BodyHandlers.ofString()).body();
    equal(Signup.fromJson(text.replace("\"offboarded\"", "\"invited\"")).getStatus(), "invited");
    equal(created.getScope(), "read");

    // What can go wrong
    var nobody = problemOf(() -> signups.getSignup(1L).email("nobody@example.com").execute());
    equal(List.of(nobody.getStatus(), nobody.getErrorCode()), List.of(404, "NO_WAITER_FOUND"));
    access.setBearerToken("expired");
    var expired = problemOf(() -> waiters.listWaiters().apiKey(apiKey).execute());
    equal(List.of(expired.getStatus(), expired.getErrorCode()), List.of(401, "INVALID_TOKEN"));
    var incomplete = problemOf(() -> signups.createSignup(new CreateSignup().waitlistId(1L)).execute());
    equal(List.of(incomplete.getStatus(), incomplete.getErrorCode()), List.of(422, "WAITLIST_RULE_BROKEN"));
    equal(incomplete.getErrors().get(0).getField(), "email");
    System.exit(0); // the HTTP client's idle connections would keep the process for a minute
  }

  interface Call {
    Object execute() throws ApiException;
  }

  static Problem problemOf(Call call) throws Exception {
    try {
      throw new AssertionError("This call should have failed, but gave " + call.execute());
    } catch (ApiException error) {
      return Problem.fromJson(error.getResponseBody());
    }
  }

  static List<String> emails(List<Waiter> waiters) {
    return waiters.stream().map(Waiter::getEmail).toList();
  }

  static void equal(Object actual, Object expected) {
    if (!Objects.equals(actual, expected)) throw new AssertionError(actual + " should be " + expected);
  }
}
