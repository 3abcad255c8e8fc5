// Verifies the webhook message on standard input by the reference library: {"secret", "body", "headers"}.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	var message struct {
		Secret, Body string
		Headers      map[string]string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&message); err != nil {
		log.Fatal(err)
	}
	headers := http.Header{}
	for name, value := range message.Headers {
		headers.Set(name, value)
	}
	webhook, err := standardwebhooks.NewWebhook(message.Secret)
	if err != nil {
		log.Fatal(err)
	}
	if err := webhook.Verify([]byte(message.Body), headers); err != nil {
		log.Fatal(err)
	}
}
