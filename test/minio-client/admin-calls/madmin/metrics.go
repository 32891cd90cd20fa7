package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/prometheus/common/expfmt"
)

type family struct {
	Type   string   `json:"type"`
	Help   string   `json:"help"`
	Series []series `json:"series"`
}

type series struct {
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
}

// Reads the text as Prometheus does, and refuses what Prometheus drops: a series that is there twice.
func printMetrics() {
	var parser expfmt.TextParser
	families, err := parser.TextToMetricFamilies(os.Stdin)
	must(err)
	found := map[string]family{}
	for name, read := range families {
		made := family{Type: strings.ToLower(read.GetType().String()), Help: read.GetHelp()}
		seen := map[string]bool{}
		for _, metric := range read.GetMetric() {
			labels := map[string]string{}
			keys := []string{}
			for _, pair := range metric.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
				keys = append(keys, fmt.Sprintf("%q=%q", pair.GetName(), pair.GetValue()))
			}
			sort.Strings(keys)
			key := strings.Join(keys, ",")
			if seen[key] {
				must(fmt.Errorf("%s{%s} is there twice", name, key))
			}
			seen[key] = true
			value := metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + metric.GetUntyped().GetValue()
			if histogram := metric.GetHistogram(); histogram != nil {
				value = float64(histogram.GetSampleCount())
			}
			made.Series = append(made.Series, series{labels, value})
		}
		found[name] = made
	}
	must(json.NewEncoder(os.Stdout).Encode(found))
}
