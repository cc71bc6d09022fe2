package openai

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/openloop-go/openloop/engines"
)

// Page is a page of metrics in the Prometheus text format.
type Page struct {
	families map[string]*dto.MetricFamily
}

// acceptPage asks for the text format: servers that can would else choose
// OpenMetrics or protobuf.
var acceptPage = http.Header{"Accept": {"text/plain; version=0.0.4"}}

// Page fetches and parses a Prometheus page; path is usually "/metrics". A
// server without the route gives an *engines.Error with Status 404.
func (e *Engine) Page(ctx context.Context, path string) (*Page, error) {
	answer, err := e.do(ctx, http.MethodGet, path, nil, acceptPage)
	if err != nil {
		return nil, err
	}
	what := "GET " + path
	if answer.Status/100 != 2 {
		return nil, e.status(what, answer.Status, answer.Header, answer.Body)
	}
	p, err := ParsePage(bytes.NewReader(answer.Body))
	if err != nil {
		return nil, e.fail(engines.Protocol, answer.Status, err, "%s: no page of metrics came but %s: %v", what, serverWords(answer.Body), err)
	}
	return p, nil
}

// ParsePage parses a page in the Prometheus text format. An empty page, and
// one that is cut off or is not in the format, is an error.
func ParsePage(r io.Reader) (*Page, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		return nil, fmt.Errorf("parse metrics: %w", err)
	}
	if len(families) == 0 {
		return nil, fmt.Errorf("parse metrics: the page has none")
	}
	return &Page{families: families}, nil
}

// Sum adds the series of the first of the names that the page has, over all
// labels: one series for each data-parallel engine is usual. Names are exact
// but for "_total", which may be there or not; "x_sum" and "x_count" also find
// the histogram or summary x. False: no name is there, or the sum is not a
// number.
func (p *Page) Sum(names ...string) (float64, bool) {
	for _, name := range names {
		bare := strings.TrimSuffix(name, "_total")
		for _, spelling := range []string{name, bare, bare + "_total"} {
			if sum, ok := p.sum(spelling); ok {
				return sum, !math.IsNaN(sum) && !math.IsInf(sum, 0)
			}
		}
	}
	return 0, false
}

// sum adds the values that a name gets from its family.
func (p *Page) sum(name string) (sum float64, ok bool) {
	family, value := p.families[name], scalar
	if family == nil || len(family.Metric) == 0 || distribution(family) {
		bare := strings.TrimSuffix(name, "_sum")
		if value = total; bare == name {
			bare, value = strings.TrimSuffix(name, "_count"), observations
		}
		if family = p.families[bare]; bare == name || family == nil || !distribution(family) {
			return 0, false
		}
	}
	for _, m := range family.Metric {
		sum += value(m)
	}
	return sum, len(family.Metric) > 0
}

// distribution reports a histogram or summary, whose bare name has no value.
func distribution(f *dto.MetricFamily) bool {
	switch f.GetType() {
	case dto.MetricType_HISTOGRAM, dto.MetricType_GAUGE_HISTOGRAM, dto.MetricType_SUMMARY:
		return true
	}
	return false
}

// scalar is the value of a counter, gauge or untyped series; only one of the
// three is there, and the others read as zero.
func scalar(m *dto.Metric) float64 {
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
}

func total(m *dto.Metric) float64 {
	return m.GetHistogram().GetSampleSum() + m.GetSummary().GetSampleSum()
}

func observations(m *dto.Metric) float64 {
	return float64(m.GetHistogram().GetSampleCount() + m.GetSummary().GetSampleCount())
}

// Count is Sum as a whole number. It is unknown when Sum finds nothing, and
// when the sum is negative, too large, or not whole.
func (p *Page) Count(names ...string) engines.Count {
	sum, ok := p.Sum(names...)
	if !ok || sum < 0 || sum > 1<<53 || sum != math.Trunc(sum) {
		return engines.Count{}
	}
	return engines.Known(int(sum))
}

// Labels returns the labels of each series of a name, which is exact; nil
// when there is none.
func (p *Page) Labels(name string) []map[string]string {
	var all []map[string]string
	for _, m := range p.families[name].GetMetric() {
		labels := make(map[string]string, len(m.GetLabel()))
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		all = append(all, labels)
	}
	return all
}
