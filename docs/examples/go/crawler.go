// A polite crawler on a graphbrain service. go run crawler.go; it needs nothing but Go.
//
// GRAPHBRAIN_SERVICE_URL and GRAPHBRAIN_SERVICE_TOKEN say where; http_proxy is obeyed for pages alone.
// The brain keeps the delays: whatever it hands out may be fetched at once.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"sync"
	"time"
)

type object = map[string]any

// patience: the crawl has ended when nothing can be claimed for so long; pages that have failed and will be tried again
// do not count. A page that another crawler holds counts with the end of its lease: if that is further off, this crawler
// ends, and the other goes on with what the page links to.
const patience = 60 * time.Second

var (
	service = &http.Client{Timeout: 90 * time.Second, Transport: &http.Transport{}}
	web     = &http.Client{Timeout: 30 * time.Second}
	link    = regexp.MustCompile(`(?i)<a\s[^>]*href\s*=\s*["']?([^"'\s>]+)`)
)

// post calls a verb. What may succeed later is sent again by the same key, so that nothing is done twice.
func post(verb string, body any) object {
	text, _ := json.Marshal(body)
	key := rand.Text()
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 10*time.Second) {
		request, err := http.NewRequest("POST", os.Getenv("GRAPHBRAIN_SERVICE_URL")+"/v1/"+verb, bytes.NewReader(text))
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("GRAPHBRAIN_SERVICE_TOKEN"))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", key)
		answer, err := service.Do(request)
		if err == nil {
			var told object
			err = json.NewDecoder(answer.Body).Decode(&told)
			answer.Body.Close()
			failure, _ := told["error"].(object)
			if err == nil && failure == nil {
				return told
			}
			if again, _ := failure["try_again"].(bool); err == nil && !again {
				log.Fatal(verb, ": ", failure["message"])
			}
		}
		time.Sleep(pause)
	}
}

// fetch gets one page and makes a report of it.
func fetch(claim object) object {
	report := object{"url": claim["url"], "claim": claim}
	answer, err := web.Get(claim["url"].(string))
	if err != nil {
		report["error"] = err.Error()
		return report
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 2<<20))
	report["status"], report["body_base64"] = answer.StatusCode, body
	report["content_type"] = answer.Header.Get("Content-Type")
	if to, err := answer.Location(); err == nil && answer.StatusCode < 400 {
		report["redirected_to"] = to.String()
		return report
	}
	if answer.StatusCode >= 400 {
		report["failed"], report["retry_after"] = true, answer.Header.Get("Retry-After")
		return report
	}
	links := []string{}
	for _, found := range link.FindAllSubmatch(body, -1) {
		if to, err := url.Parse(html.UnescapeString(string(found[1]))); err == nil {
			links = append(links, answer.Request.URL.ResolveReference(to).String())
		}
	}
	report["links"] = links
	return report
}

func main() {
	// Where a page is elsewhere for good, the brain is told; where it is so for now, its content is its own.
	web.CheckRedirect = func(request *http.Request, hops []*http.Request) error {
		if status := request.Response.StatusCode; status == 301 || status == 308 || len(hops) > 5 {
			return http.ErrUseLastResponse
		}
		return nil
	}
	for pages := 0; ; {
		told := post("next_urls", object{"n": 10, "wait": 10})
		claims := told["claims"].([]any)
		reports := make([]object, len(claims))
		var all sync.WaitGroup
		for place, claim := range claims { // at once: they are of different hosts, or their turn has come
			all.Go(func() { reports[place] = fetch(claim.(object)) })
		}
		all.Wait()
		next, some := told["next_unfailed"].(float64)
		if len(claims) == 0 && (!some || next > float64(time.Now().Add(patience).Unix())) {
			fmt.Println(pages, "pages")
			return
		}
		for _, answer := range post("report", object{"reports": reports})["answers"].([]any) {
			if answer.(object)["accepted"] != true {
				log.Print(answer.(object)["url"], ": ", answer.(object)["reason"])
			}
		}
		pages += len(reports)
	}
}
