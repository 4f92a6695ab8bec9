// A polite crawler on a graphbrain service. go run crawler.go; it needs nothing but Go.
//
// GRAPHBRAIN_SERVICE_URL and GRAPHBRAIN_SERVICE_TOKEN say where; http_proxy is obeyed for pages alone.
// The brain keeps the delays: whatever it hands out may be fetched at once. It also hands out the robots.txt and the
// sitemaps of hosts, which are fetched and reported as pages are; it reads and obeys them itself.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"sync"
	"time"
)

type object = map[string]any

// reply: what a verb answers, as far as it is read here.
type reply struct {
	Claims, Answers []object
	NextReady       *float64 `json:"next_ready"`
	NextUnfailed    *float64 `json:"next_unfailed"`
	NextBecause     string   `json:"next_because"`
	Now             float64
	Paused          bool
	Error           object
}

// patience: the crawl has ended when nothing can be claimed for so long; pages that have failed and will be tried again
// do not count. A page that another crawler holds is waited for, because it may bring links.
const patience = 60 // seconds

// longest, longestSitemap: bytes that are read; ten pages go into one request, which may have 16 MB. Sitemaps are packed.
const longest, longestSitemap = 1 << 20, 50 << 20

var (
	service = &http.Client{Timeout: 90 * time.Second, Transport: &http.Transport{}}
	web     = &http.Client{Timeout: 30 * time.Second, CheckRedirect: unfollowed}
	kinds   = []string{"page", "robots", "sitemap"}
	link    = regexp.MustCompile(`(?i)<a\s[^>]*href\s*=\s*["']?([^"'\s>]+)`)
)

// unfollowed: redirects are told to the brain, which knows when it is the turn of the host they lead to.
func unfollowed(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// post calls a verb. What may succeed later is sent again by the same key, so that nothing is done twice.
func post(verb string, body object) reply {
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
		if err != nil {
			say(fmt.Sprintf("the service does not answer (%v); it is asked again", err))
		} else {
			var told reply
			err = json.NewDecoder(answer.Body).Decode(&told)
			answer.Body.Close()
			if err == nil && told.Error == nil {
				return told
			} else if err == nil && told.Error["try_again"] != true {
				log.Fatal(verb, ": ", told.Error["message"])
			}
		}
		time.Sleep(pause)
	}
}

// said: the last sentence about a wait, which is said once.
var said string

func say(sentence string) {
	if sentence != said {
		log.Print(sentence)
	}
	said = sentence
}

// get asks for what is claimed. What has not changed since the last visit is not sent again.
func get(claim object) (*http.Response, error) {
	request, err := http.NewRequest("GET", claim["url"].(string), nil)
	if err != nil {
		return nil, err
	}
	for name, header := range map[string]string{"etag": "If-None-Match", "last_modified": "If-Modified-Since"} {
		if value, known := claim[name].(string); known {
			request.Header.Set(header, value)
		}
	}
	return web.Do(request)
}

// fetch gets one page and makes a report of it.
func fetch(claim object) object {
	report, most := object{"url": claim["url"], "claim": claim}, int64(longest)
	if claim["kind"] == "sitemap" {
		most = longestSitemap
	}
	answer, err := get(claim)
	var body []byte
	if err == nil {
		defer answer.Body.Close()
		if body, err = io.ReadAll(io.LimitReader(answer.Body, most)); err != nil {
			report["fault"] = "not_understood" // the host has answered
		}
	}
	if err != nil {
		report["error"] = err.Error()
		return report
	}
	report["status"], report["content_type"] = answer.StatusCode, answer.Header.Get("Content-Type")
	if answer.StatusCode == http.StatusNotModified {
		report["not_modified"] = true
	} else if to, err := answer.Location(); err == nil && answer.StatusCode < 400 {
		report["redirected_to"] = to.String()
	} else if answer.StatusCode >= 400 {
		report["failed"], report["retry_after"] = true, answer.Header.Get("Retry-After")
	} else if claim["kind"] == "robots" {
		report["body_base64"] = body
	} else if claim["kind"] == "sitemap" {
		remember(report, answer)
		report["body_base64"] = packed(body)
	} else {
		remember(report, answer)
		links := []string{}
		for _, found := range link.FindAllSubmatch(body, -1) {
			if to, err := answer.Request.URL.Parse(html.UnescapeString(string(found[1]))); err == nil {
				links = append(links, to.String())
			}
		}
		report["links"], report["body_base64"] = links, body
	}
	return report
}

// remember reports the headers with which the next visit asks for changes alone.
func remember(report object, answer *http.Response) {
	for name, header := range map[string]string{"etag": "ETag", "last_modified": "Last-Modified"} {
		if value := answer.Header.Get(header); value != "" {
			report[name] = value
		}
	}
}

// packed: by gzip, which the brain unpacks.
func packed(body []byte) []byte {
	var out bytes.Buffer
	by := gzip.NewWriter(&out)
	by.Write(body)
	by.Close()
	return out.Bytes()
}

// pagesOf: how many of these claims are of pages, which have no kind.
func pagesOf(claims []object) (pages int) {
	for _, claim := range claims {
		if claim["kind"] == nil {
			pages++
		}
	}
	return
}

// giveBack lets others fetch these pages at once; else they are held for five minutes.
func giveBack(claims []object) {
	if len(claims) > 0 {
		post("give_back", object{"claims": claims})
	}
}

func main() {
	if os.Getenv("GRAPHBRAIN_SERVICE_URL") == "" || os.Getenv("GRAPHBRAIN_SERVICE_TOKEN") == "" {
		log.Fatal("set GRAPHBRAIN_SERVICE_URL and GRAPHBRAIN_SERVICE_TOKEN: see docs/tutorials/http.md")
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	for pages := 0; ; {
		told := post("next_urls", object{"n": 10, "wait": 10, "kinds": kinds})
		if told.Paused {
			say("the brain is paused: nothing is handed out until 'graphbrain resume'")
			select { // a second, for a service that does not wait
			case <-stop:
				log.Fatal("stopped: no pages were held")
			case <-time.After(time.Second):
			}
			continue
		}
		said = ""
		far := told.NextUnfailed == nil || *told.NextUnfailed > told.Now+patience && told.NextBecause != "lease"
		if len(told.Claims) == 0 && far {
			fmt.Println(pages, "pages")
			if told.NextReady != nil {
				fmt.Println("The next one may be fetched from", time.Unix(int64(*told.NextReady), 0), "on.")
			}
			if pages == 0 {
				log.Fatal("nothing was fetched: no page waits for this crawler now")
			}
			return
		}
		reports := make([]object, len(told.Claims))
		fetched := make(chan bool)
		go func() {
			var all sync.WaitGroup
			for place, claim := range told.Claims { // at once: they are of different hosts, or their turn has come
				all.Go(func() { reports[place] = fetch(claim) })
			}
			all.Wait()
			close(fetched)
		}()
		select {
		case <-stop:
			giveBack(told.Claims)
			log.Fatal("stopped: ", len(told.Claims), " pages are given back")
		case <-fetched:
		}
		for _, answer := range post("report", object{"reports": reports}).Answers {
			if answer["accepted"] != true {
				log.Print(answer["url"], ": ", answer["reason"])
			}
		}
		pages += pagesOf(told.Claims)
		if len(reports) > 0 {
			fmt.Println(pages, "pages so far")
		}
	}
}
