package doctor

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/owners"
	"github.com/openloop-go/openloop/engines/internal/server"
	"github.com/openloop-go/openloop/engines/openai"
)

// reach asks for the models: whether there is a server, lets one in, and has
// an API that is understood.
func (v *visit) reach() bool {
	models, err := v.client.Models(v.ctx)
	if v.ctx.Err() != nil {
		return false
	}
	if err == nil {
		v.say(reach, OK, "", "GET /v1/models is answered")
		v.models = models
		return true
	}
	failure := (*engines.Error)(nil)
	if !errors.As(err, &failure) {
		failure = &engines.Error{Message: err.Error()}
	}
	if failure.Status == 0 {
		remedy := "start the server, correct the URL, or go round what is between here and it"
		if untrusted(err) {
			remedy = "trust its certificate on this host (SSL_CERT_FILE names a file of roots), and in tests by Config.TLS; or correct the URL's host name"
		}
		v.say(reach, Fault, remedy, "%s", v.words(err))
		return false
	}
	v.say(reach, OK, "", "GET /v1/models is answered")
	switch failure.Class {
	case engines.Unauthorized:
		seen, remedy := "no key was sent", "set OPENLOOP_API_KEY to the server's key"
		if v.cfg.APIKey != "" {
			seen, remedy = "the key that was sent is refused", "correct OPENLOOP_API_KEY: it must be the server's key"
		}
		v.say("key", Fault, remedy, "GET /v1/models: status %d: %s", failure.Status, seen)
	case engines.Refused:
		v.say("api", Fault, "wait until it has loaded its model", "%s", v.words(err))
	default:
		// The whole URL: its path may be what is wrong with it.
		said := strings.Replace(v.words(err), "GET /v1/models", "GET "+v.report.URL+"/v1/models", 1)
		v.say("api", Fault, "correct the URL: it must be the root of a server with OpenAI's routes", "%s", said)
	}
	return false
}

// untrusted reports that a connection failed for its certificate.
func untrusted(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
	)
	return errors.As(err, &certificate) || errors.As(err, &authority)
}

// identify finds the kind of the server and the model to ask for.
func (v *visit) identify() bool {
	kind, said, err := server.Identify(v.ctx, v.client, v.models)
	if err != nil {
		v.say("kind", Fault, "find out why the server does not answer", "%s", v.words(err))
		return false
	}
	v.report.Kind = kind
	seen := kind
	if kind == "" {
		other, _ := owners.By(said)
		v.other = other.Name
		v.report.Kind, seen = "openai", cmp.Or(v.other, "unknown")
		if said != "" {
			seen += fmt.Sprintf(", its models are owned by %q", said)
		}
	}
	switch want := v.cfg.Kind; {
	case want == "openai":
		v.report.Kind = want
		v.say("kind", OK, "", "%s, looked at as any server with OpenAI's routes", seen)
	case want != "" && want != kind:
		v.say("kind", Fault, "correct the URL, or ask for what is there", "%s, expected %s", seen, want)
		return false
	case v.other != "":
		v.say("kind", OK, "", "%s: it is measured by engines/openai, which reads neither its queue nor its counters", seen)
	case kind == "":
		v.say("kind", Warn, "if it is a gateway, go round it to the server itself: through it neither queue nor counters are read, and perhaps nothing is flushed",
			"%s: it is measured by engines/openai", seen)
	default:
		v.say("kind", OK, "", "%s", seen)
	}
	return v.choose()
}

// choose settles the model.
func (v *visit) choose() bool {
	var names []string
	var bases []openai.Model
	for _, m := range v.models {
		names = append(names, fmt.Sprintf("%q", m.ID))
		if m.Parent == "" {
			bases = append(bases, m)
		}
	}
	want := v.cfg.Model
	i := slices.IndexFunc(v.models, func(m openai.Model) bool { return m.ID == want || m.Parent == "" && m.Root == want })
	switch {
	case len(v.models) == 0:
		v.say("model", Fault, "start the server with a model", "it serves none")
		return false
	case want == "" && len(bases) == 1:
		v.model = bases[0]
	case want == "":
		v.say("model", Fault, "name one of them (-model NAME, or OPENLOOP_MODEL)", "it serves %s", strings.Join(names, ", "))
		return false
	case i < 0:
		v.say("model", Fault, "ask for what it serves (-model NAME, or OPENLOOP_MODEL), or correct the URL", "it serves %s, not %q", strings.Join(names, ", "), want)
		return false
	default:
		v.model = v.models[i]
	}
	v.report.Model = v.model.ID
	seen := v.model.ID
	if v.model.MaxLen.Known {
		seen += fmt.Sprintf(", of at most %d tokens", v.model.MaxLen.N)
	}
	v.say("model", OK, "", "%s", seen)
	return true
}

// fit is a length that leaves the model room for so many tokens more.
func (v *visit) fit(n, beside int) int {
	if most := v.model.MaxLen; most.Known {
		n = min(n, most.N-beside)
	}
	return max(n, 1)
}
