// The tour (docs/tour.md) through the generated client, on a first start: `tour URL EMAIL PASSWORD API_KEY`.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"strings"

	waitlist "github.com/example/waitlist-client-go"
)

func main() {
	log.SetFlags(log.Lshortfile)
	url, email, password, apiKey := os.Args[1], os.Args[2], os.Args[3], os.Args[4]

	client := waitlist.NewAPIClient(&waitlist.Configuration{Servers: waitlist.ServerConfigurations{{URL: url}}})
	ctx := context.Background()

	// Sign up
	must(client.SignupAPI.CreateSignup(ctx).CreateSignup(person("grace@example.com")).Execute())
	must(client.SignupAPI.CreateSignup(ctx).CreateSignup(person("edsger@example.com")).Execute())
	join := waitlist.NewCreateSignup(1)
	join.SetEmail("ada@example.com")
	ada, _, err := client.SignupAPI.CreateSignup(ctx).CreateSignup(*join).Execute()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ada.Priority, ada.ReferralLink)
	equal(ada.Priority, int64(2))

	// Refer, look up
	referred := person("bob@example.com")
	referred.SetReferralLink(ada.ReferralLink)
	bob := must(client.SignupAPI.CreateSignup(ctx).CreateSignup(referred).Execute())
	equal(bob.GetReferredBySignupToken(), ada.ReferralToken)
	found := must(client.SignupAPI.GetSignup(ctx).WaitlistId(1).Email("ada@example.com").Execute())
	equal([]any{found.Uuid, found.Priority, found.AmountReferred}, []any{ada.Uuid, int64(0), int64(1)})

	// Log in, refresh
	missing := problemOf(client.WaiterAPI.ListWaiters(ctx).ApiKey(apiKey).Execute())
	equal([]any{missing.Status, missing.ErrorCode}, []any{int32(401), "MISSING_TOKEN"})
	login := waitlist.NewCreateTokens(email, password)
	tokens := must(client.AuthAPI.CreateTokens(ctx).CreateTokens(*login).Execute())
	refresh := context.WithValue(ctx, waitlist.ContextAccessToken, tokens.RefreshToken)
	tokens = must(client.AuthAPI.RefreshAccessToken(refresh).Execute())
	owner := context.WithValue(ctx, waitlist.ContextAccessToken, tokens.AccessToken)

	// List
	list := client.WaiterAPI.ListWaiters(owner).ApiKey(apiKey)
	line := must(list.Order("queue").Execute())
	equal(emails(line), []string{"ada@example.com", "grace@example.com", "edsger@example.com", "bob@example.com"})
	equal(line[0].TotalWaitersCurrently, int64(4))
	equal(emails(must(list.Limit(1).Execute())), []string{"grace@example.com"})
	equal(emails(must(list.Offset(1).Limit(1).Execute())), []string{"edsger@example.com"})
	equal(emails(must(list.AfterId(line[0].Id).Execute())), []string{"bob@example.com"})
	equal(emails(must(list.ReferralToken(ada.ReferralToken).Execute())), []string{"bob@example.com"})
	equal(emails(must(list.ReferralToken("true").Execute())), []string{"bob@example.com"})
	question, asked := must(list.QuestionsRequest(true).Execute())[0].GetQuestion1Ok()
	equal([]any{*question, asked}, []any{"", true})
	equal(emails(must(list.OffboardedRequest(true).Execute())), []string{})

	// Offboard
	turn := waitlist.NewOffboardWaiters(true)
	turn.SetWaiters([]waitlist.WaiterId{{Id: line[0].Id}})
	turn.SetApiKey(apiKey)
	gone := must(client.WaiterAPI.OffboardWaiters(owner).OffboardWaiters(*turn).Execute())
	equal([]any{len(gone), gone[0].Uuid, gone[0].RemovedFromWaitlist}, []any{1, ada.Uuid, true})
	equal(must(list.OffboardedRequest(true).Execute()), gone)

	// Find
	equal(emails(must(list.Search("ED").Execute())), []string{"edsger@example.com"})
	byId := client.WaiterAPI.ListWaiters(owner).WaitlistId(1).OffboardedRequest(true)
	left := must(byId.Email("ada@example.com").Execute())[0]
	equal([]any{left.Id, left.Status, left.WaitlistApiKey.Get() == nil}, []any{line[0].Id, "offboarded", true})

	// Offer a seat, explain a place, accept, return
	next := waitlist.NewMakeOffers()
	next.SetCount(1)
	next.SetHours(48)
	offered := must(client.OfferAPI.MakeOffers(owner, 1).MakeOffers(*next).Execute())[0]
	equal([]any{offered.GetEmail(), offered.Status, offered.Priority}, []any{"grace@example.com", "offered", int64(0)})
	link := strings.Split(offered.GetOfferUrl(), "/")
	code := *waitlist.NewOfferCode(link[len(link)-1])
	equal(must(client.OfferAPI.CheckOffer(owner).OfferCode(code).Execute()).State, "open")
	place := must(client.SignupAPI.GetPlace(ctx).WaitlistId(1).Uuid(bob.Uuid).Execute())
	equal([]any{place.Priority, place.GetJoinedPriority(), place.GetOthers()}, []any{int64(1), int64(3), int64(2)})
	accepted := must(client.OfferAPI.AcceptOffer(owner).OfferCode(code).Execute())
	equal([]any{accepted.State, accepted.Signup.GetRemovedReason()}, []any{"accepted", "accepted"})
	person := waitlist.SignupUuid{Uuid: offered.Uuid}
	returning := *waitlist.NewReturnWaiters([]waitlist.SignupUuid{person})
	back := must(client.OfferAPI.ReturnWaiters(owner, 1).ReturnWaiters(returning).Execute())
	equal([]any{len(back), back[0].Uuid, back[0].Status}, []any{1, offered.Uuid, "waiting"})
	ended := problemOf(client.OfferAPI.AcceptOffer(owner).OfferCode(code).Execute())
	equal([]any{ended.Status, ended.ErrorCode}, []any{int32(409), "OFFER_ENDED"})

	// Another waitlist, with questions; its key in the header
	which, why := waitlist.NewQuestion("Which?"), waitlist.NewQuestion("Why?")
	which.SetAnswerValue([]string{"One", "Two"})
	settings := waitlist.NewCreateWaitlist("Launch")
	settings.SetWaitlistUrlLocation("https://example.com/join")
	settings.SetQuestions([]waitlist.Question{*which, *why})
	launch := must(client.WaitlistAPI.CreateWaitlist(owner).CreateWaitlist(*settings).Execute())
	answer := waitlist.ArrayOfStringAsAnswerValue(&[]string{"One", "Two"})
	answering := waitlist.NewCreateSignup(launch.Id)
	answering.SetEmail("ada@example.com")
	answering.SetAnswers([]waitlist.Answer{*waitlist.NewAnswer("Which?", *waitlist.NewNullableAnswerValue(&answer))})
	answered := must(client.SignupAPI.CreateSignup(ctx).CreateSignup(*answering).Execute()).Answers
	equal(*answered[0].AnswerValue.Get().ArrayOfString, []string{"One", "Two"})
	equal(answered[1].AnswerValue.Get() == nil, true)
	seen := must(client.WaitlistAPI.GetWaitlist(owner, launch.Id).Execute())
	equal([]any{seen.GetStatistics().CurrentSignups, seen.SpotsToMoveUponReferral}, []any{int64(1), int32(3)})
	shown := must(client.WaitlistAPI.GetWaitlist(ctx, launch.Id).Execute())
	equal([]any{shown.GetStatistics().TotalSignups, shown.SpotsToMoveUponReferral}, []any{int64(1), int32(3)})
	preview := must(client.WaitlistAPI.PreviewMail(owner, launch.Id).Kind("welcome").Execute())
	equal(preview.Subject, "You’re on the list: Launch")
	equal(len(must(client.WaitlistAPI.ListWaitlists(owner).Limit(1).Execute())), 1)
	equal(len(must(client.WaitlistAPI.ListWaitlists(owner).AfterId(launch.Id).Execute())), 0)
	key := map[string]waitlist.APIKey{"api_key": {Key: launch.ApiKey}}
	other := context.WithValue(owner, waitlist.ContextAPIKeys, key)
	equal(must(client.WaiterAPI.ListWaiters(other).QuestionsRequest(true).Execute())[0].GetAnswer1(), "One, Two")

	// An account key, for a program that runs without a login
	report := waitlist.NewCreateAccountKey("Report", waitlist.KEYSCOPE_READ)
	created := must(client.AccountKeyAPI.CreateAccountKey(owner).CreateAccountKey(*report).Execute())
	program := context.WithValue(ctx, waitlist.ContextAPIKeys, map[string]waitlist.APIKey{"account_key": {Key: created.Key}})
	listing := client.WaiterAPI.ListWaiters(program).WaitlistId(launch.Id)
	equal(len(must(listing.Execute())), 1)
	if _, err := client.AccountKeyAPI.RevokeAccountKey(owner, created.Id).Execute(); err != nil {
		log.Fatal(err)
	}
	revoked := problemOf(listing.Execute())
	equal([]any{revoked.Status, revoked.ErrorCode}, []any{int32(401), "INVALID_ACCOUNT_KEY"})

	// Members of the account
	myself := waitlist.NewUpdateOwnMember()
	myself.SetName("Ada")
	me := must(client.MemberAPI.UpdateOwnMember(owner).UpdateOwnMember(*myself).Execute())
	equal([]any{me.Email, me.GetName(), me.Role, me.Status}, []any{email, "Ada", "owner", "active"})
	equal(must(client.MemberAPI.ListMembers(owner).Limit(1).Execute())[0].Id, me.Id)
	demoted := waitlist.NewUpdateMember()
	demoted.SetRole(waitlist.ROLE_VIEWER)
	last := problemOf(client.MemberAPI.UpdateMember(owner, me.Id).UpdateMember(*demoted).Execute())
	equal([]any{last.Status, last.ErrorCode}, []any{int32(409), "LAST_OWNER"})

	// An answer of a later version, with values that this one does not list
	var later waitlist.Signup
	reread(ada, &later, `"waiting"`, `"invited"`)
	equal(later.Status, "invited")
	var laterMember waitlist.Member
	reread(me, &laterMember, `"owner"`, `"auditor"`)
	equal(laterMember.Role, "auditor")

	// What can go wrong
	nobody := problemOf(client.SignupAPI.GetSignup(ctx).WaitlistId(1).Email("nobody@example.com").Execute())
	equal([]any{nobody.Status, nobody.ErrorCode}, []any{int32(404), "NO_WAITER_FOUND"})
	expired := context.WithValue(ctx, waitlist.ContextAccessToken, "expired")
	stranger := problemOf(client.WaiterAPI.ListWaiters(expired).ApiKey(apiKey).Execute())
	equal([]any{stranger.Status, stranger.ErrorCode}, []any{int32(401), "INVALID_TOKEN"})
	incomplete := problemOf(client.SignupAPI.CreateSignup(ctx).CreateSignup(*waitlist.NewCreateSignup(1)).Execute())
	equal([]any{incomplete.Status, incomplete.ErrorCode}, []any{int32(422), "WAITLIST_RULE_BROKEN"})
	equal(incomplete.Errors[0].Field, "email")
}

func person(email string) waitlist.CreateSignup {
	signup := waitlist.NewCreateSignup(1)
	signup.SetEmail(email)
	return *signup
}

func emails(waiters []waitlist.Waiter) []string {
	all := []string{}
	for _, waiter := range waiters {
		all = append(all, waiter.GetEmail())
	}
	return all
}

func must[Answer, Response any](answer Answer, _ Response, err error) Answer {
	if err != nil {
		log.Output(2, err.Error())
		os.Exit(1)
	}
	return answer
}

// reread reads an answer whose text has changed.
func reread(answer, changed any, oldnew ...string) {
	text, err := json.Marshal(answer)
	if err == nil {
		err = json.Unmarshal([]byte(strings.NewReplacer(oldnew...).Replace(string(text))), changed)
	}
	if err != nil {
		log.Output(2, err.Error())
		os.Exit(1)
	}
}

func problemOf[Answer, Response any](_ Answer, _ Response, err error) waitlist.Problem {
	var failure *waitlist.GenericOpenAPIError
	if !errors.As(err, &failure) {
		log.Output(2, fmt.Sprintf("this call should have failed, but gave %v", err))
		os.Exit(1)
	}
	return failure.Model().(waitlist.Problem)
}

func equal(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		log.Output(2, fmt.Sprintf("%v should be %v", actual, expected))
		os.Exit(1)
	}
}
