package main

import (
	"encoding/json"
	"io"

	"github.com/minio/madmin-go/v3"
)

// A report is two documents: its version, and itself.
func healthOf(version string, body io.Reader) (any, error) {
	decoder := json.NewDecoder(body)
	var report madmin.HealthInfo
	for decoder.More() {
		report = madmin.HealthInfo{}
		if err := decoder.Decode(&report); err != nil {
			return nil, err
		}
	}
	return map[string]any{"version": version, "report": report}, nil
}
