// Makes each call of madmin-go's AdminClient once, in an order in which each has something to act on, and prints what came of them: a line for each
// call with its requests, "done" or the code of the refusal, and the answer as the client read it. The argument "metrics" reads the text of
// Prometheus from the input instead, and prints its families.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/minio/madmin-go/v3"
)

type account struct {
	Address   string `json:"address"`
	AccessKey string `json:"accessKey"`
	SecretKey string `json:"secretKey"`
}

type job struct {
	account
	// Where tiers and replicas go: a bucket "other" is there.
	Target account `json:"target"`
	// Calls to make; all of them if there are none.
	Only []string `json:"only"`
	// The key that calls about one key name; each its own if there is none.
	Key string `json:"key"`
}

func (j job) keyOr(usual string) string {
	if j.Key == "" {
		return usual
	}
	return j.Key
}

type result struct {
	Call     string   `json:"call"`
	Requests []string `json:"requests"`
	End      string   `json:"end"`
	Answer   any      `json:"answer"`
}

// A call may have a variant: "Method: variant".
type step struct {
	call string
	make func(ctx context.Context, c *madmin.AdminClient) (any, error)
}

type recorder struct{ requests []string }

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.requests = append(r.requests, request.Method+" "+request.URL.Path)
	return http.DefaultTransport.RoundTrip(request)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "metrics" {
		printMetrics()
		return
	}
	var asked job
	must(json.NewDecoder(os.Stdin).Decode(&asked))
	client, err := madmin.New(asked.Address, asked.AccessKey, asked.SecretKey, false)
	must(err)
	recorded := &recorder{}
	client.SetCustomTransport(recorded)
	output := json.NewEncoder(os.Stdout)
	must(output.Encode(map[string]any{"methods": methods()}))
	for _, step := range steps(asked) {
		if len(asked.Only) > 0 && !contains(asked.Only, step.call) {
			continue
		}
		if step.make == nil {
			must(output.Encode(result{Call: step.call, Requests: []string{}, End: "not called"}))
			continue
		}
		recorded.requests = nil
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		answer, err := step.make(ctx, client)
		cancel()
		made := result{Call: step.call, Requests: recorded.requests, End: endOf(err)}
		if err == nil {
			made.Answer = answer
		}
		must(output.Encode(made))
	}
}

// What the client offers, so that a test sees a method without a step.
func methods() []string {
	names := []string{}
	kind := reflect.TypeOf(&madmin.AdminClient{})
	for at := range kind.NumMethod() {
		names = append(names, kind.Method(at).Name)
	}
	sort.Strings(names)
	return names
}

func endOf(err error) string {
	if err == nil {
		return "done"
	}
	if response := madmin.ToErrorResponse(err); response.Code != "" {
		return response.Code
	}
	return "error: " + err.Error()
}

func contains(list []string, one string) bool {
	for _, other := range list {
		if other == one {
			return true
		}
	}
	return false
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func done(err error) (any, error) { return nil, err }

func raw(bytes []byte, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	var value any
	if json.Unmarshal(bytes, &value) == nil {
		return value, nil
	}
	return string(bytes), nil
}

func size(reader io.ReadCloser, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	read, err := io.ReadAll(reader)
	return map[string]any{"some": len(read) > 0}, err
}

func restart(restart bool, err error) (any, error) { return map[string]any{"restart": restart}, err }

// The first value of a stream that ends with its context.
func first[T any](cancel context.CancelFunc, values <-chan T, errorOf func(T) error) (any, error) {
	defer cancel()
	value, open := <-values
	if !open {
		return nil, nil
	}
	go func() {
		for range values {
		}
	}()
	return value, errorOf(value)
}

var readOne = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::madmin/*"]}]}`

func tier(asked job, name string) *madmin.TierConfig {
	return &madmin.TierConfig{Version: "v1", Type: madmin.MinIO, Name: name, MinIO: &madmin.TierMinIO{
		Endpoint: "http://" + asked.Target.Address, AccessKey: asked.Target.AccessKey, SecretKey: asked.Target.SecretKey, Bucket: "other", Prefix: name + "/"}}
}

func steps(asked job) []step {
	var archive, bucketArchive []byte
	var jobID, remoteARN string
	return []step{
		{"ServerInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.ServerInfo(ctx) }},
		{"StorageInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.StorageInfo(ctx) }},
		{"DataUsageInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.DataUsageInfo(ctx) }},
		{"AccountInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.AccountInfo(ctx, madmin.AccountOpts{PrefixUsage: true})
		}},
		{"BackgroundHealStatus", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.BackgroundHealStatus(ctx) }},
		{"Heal", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			start, _, err := c.Heal(ctx, "madmin", "", madmin.HealOpts{DryRun: true}, "", false, false)
			return start, err
		}},
		{"BucketScanInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.BucketScanInfo(ctx, "madmin") }},
		{"TopLocks", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.TopLocks(ctx) }},
		{"TopLocksWithOpts", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.TopLocksWithOpts(ctx, madmin.TopLockOpts{Count: 3, Stale: true})
		}},
		{"ForceUnlock", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.ForceUnlock(ctx, "madmin/a"))
		}},
		{"ListPoolsStatus", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.ListPoolsStatus(ctx) }},
		{"StatusPool", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.StatusPool(ctx, "/data") }},
		{"DecommissionPool", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.DecommissionPool(ctx, "/data"))
		}},
		{"CancelDecommissionPool", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.CancelDecommissionPool(ctx, "/data"))
		}},
		{"RebalanceStart", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.RebalanceStart(ctx) }},
		{"RebalanceStatus", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.RebalanceStatus(ctx) }},
		{"RebalanceStop", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return done(c.RebalanceStop(ctx)) }},
		{"GetLicenseInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.GetLicenseInfo(ctx) }},

		// Users, groups, policies
		{"AddUser", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.AddUser(ctx, "ann", "ann-secret-key"))
		}},
		{"SetUser", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SetUser(ctx, "bob", "bob-secret-key", madmin.AccountEnabled))
		}},
		{"SetUserReq", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SetUserReq(ctx, "eve", madmin.AddOrUpdateUserReq{SecretKey: "eve-secret-key", Status: madmin.AccountEnabled}))
		}},
		{"SetUserStatus", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SetUserStatus(ctx, "bob", madmin.AccountDisabled))
		}},
		{"GetUserInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.GetUserInfo(ctx, "bob") }},
		{"SetUserStatus: enabled", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SetUserStatus(ctx, "bob", madmin.AccountEnabled))
		}},
		{"GetUserInfo: nobody", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.GetUserInfo(ctx, "nobody") }},
		{"ListUsers", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.ListUsers(ctx) }},
		{"UpdateGroupMembers", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.UpdateGroupMembers(ctx, madmin.GroupAddRemove{Group: "team", Members: []string{"ann", "bob"}, Status: madmin.GroupEnabled}))
		}},
		{"SetGroupStatus", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SetGroupStatus(ctx, "team", madmin.GroupDisabled))
		}},
		{"GetGroupDescription", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.GetGroupDescription(ctx, "team")
		}},
		{"SetGroupStatus: enabled", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SetGroupStatus(ctx, "team", madmin.GroupEnabled))
		}},
		{"GetGroupDescription: none", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.GetGroupDescription(ctx, "none")
		}},
		{"ListGroups", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.ListGroups(ctx) }},
		{"AddCannedPolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.AddCannedPolicy(ctx, "reader", []byte(readOne)))
		}},
		{"InfoCannedPolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return raw(c.InfoCannedPolicy(ctx, "reader"))
		}},
		{"InfoCannedPolicyV2", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.InfoCannedPolicyV2(ctx, "reader")
		}},
		{"ListCannedPolicies", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.ListCannedPolicies(ctx) }},
		{"AttachPolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.AttachPolicy(ctx, madmin.PolicyAssociationReq{Policies: []string{"reader"}, User: "ann"})
		}},
		{"AttachPolicy: again", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.AttachPolicy(ctx, madmin.PolicyAssociationReq{Policies: []string{"reader"}, User: "ann"})
		}},
		{"AttachPolicy: a group", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.AttachPolicy(ctx, madmin.PolicyAssociationReq{Policies: []string{"reader"}, Group: "team"})
		}},
		{"GetPolicyEntities", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.GetPolicyEntities(ctx, madmin.PolicyEntitiesQuery{Policy: []string{"reader"}})
		}},
		{"DetachPolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.DetachPolicy(ctx, madmin.PolicyAssociationReq{Policies: []string{"reader"}, Group: "team"})
		}},
		{"SetPolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SetPolicy(ctx, "reader", "bob", false))
		}},
		{"GetLDAPPolicyEntities", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.GetLDAPPolicyEntities(ctx, madmin.PolicyEntitiesQuery{})
		}},
		{"AttachPolicyLDAP", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.AttachPolicyLDAP(ctx, madmin.PolicyAssociationReq{Policies: []string{"reader"}, User: "uid=ann"})
		}},
		{"DetachPolicyLDAP", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.DetachPolicyLDAP(ctx, madmin.PolicyAssociationReq{Policies: []string{"reader"}, User: "uid=ann"})
		}},

		// Access keys
		{"AddServiceAccount", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.AddServiceAccount(ctx, madmin.AddServiceAccountReq{Policy: []byte(readOne), AccessKey: "given-access-key", SecretKey: "given-secret-key", Name: "given", Description: "by madmin"})
		}},
		{"AddServiceAccount: made up", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.AddServiceAccount(ctx, madmin.AddServiceAccountReq{TargetUser: "ann"})
		}},
		{"InfoServiceAccount", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.InfoServiceAccount(ctx, "given-access-key")
		}},
		{"InfoServiceAccount: none", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.InfoServiceAccount(ctx, "no-access-key")
		}},
		{"InfoAccessKey", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.InfoAccessKey(ctx, "given-access-key")
		}},
		{"UpdateServiceAccount", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.UpdateServiceAccount(ctx, "given-access-key", madmin.UpdateServiceAccountReq{NewStatus: "off", NewDescription: "changed"}))
		}},
		{"TemporaryAccountInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.TemporaryAccountInfo(ctx, "no-access-key")
		}},
		{"ListServiceAccounts", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ListServiceAccounts(ctx, asked.AccessKey)
		}},
		{"ListAccessKeysBulk", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ListAccessKeysBulk(ctx, nil, madmin.ListAccessKeysOpts{ListType: "all", All: true})
		}},
		{"ListAccessKeysLDAP", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ListAccessKeysLDAP(ctx, "uid=ann", "all")
		}},
		{"ListAccessKeysLDAPBulk", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ListAccessKeysLDAPBulk(ctx, nil, "all", true)
		}},
		{"ListAccessKeysLDAPBulkWithOpts", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ListAccessKeysLDAPBulkWithOpts(ctx, nil, madmin.ListAccessKeysOpts{ListType: "all", All: true})
		}},
		{"ListAccessKeysOpenIDBulk", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ListAccessKeysOpenIDBulk(ctx, nil, madmin.ListAccessKeysOpts{ListType: "all", All: true})
		}},
		{"AddServiceAccountLDAP", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.AddServiceAccountLDAP(ctx, madmin.AddServiceAccountReq{TargetUser: "uid=ann"})
		}},
		{"RevokeTokens", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.RevokeTokens(ctx, madmin.RevokeTokensReq{User: "ann", FullRevoke: true}))
		}},
		{"RevokeTokensLDAP", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.RevokeTokensLDAP(ctx, madmin.RevokeTokensReq{User: "uid=ann", FullRevoke: true}))
		}},

		// Archives
		{"ExportIAM", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			reader, err := c.ExportIAM(ctx)
			if err != nil {
				return nil, err
			}
			defer reader.Close()
			archive, err = io.ReadAll(reader)
			return map[string]any{"some": len(archive) > 0}, err
		}},
		{"ImportIAM", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.ImportIAM(ctx, io.NopCloser(bytes.NewReader(archive))))
		}},
		{"ImportIAMV2", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ImportIAMV2(ctx, io.NopCloser(bytes.NewReader(archive)))
		}},
		{"SetBucketQuota", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SetBucketQuota(ctx, "madmin", &madmin.BucketQuota{Quota: 1 << 30, Size: 1 << 30, Type: madmin.HardQuota}))
		}},
		{"ExportBucketMetadata", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			reader, err := c.ExportBucketMetadata(ctx, "madmin")
			if err != nil {
				return nil, err
			}
			defer reader.Close()
			bucketArchive, err = io.ReadAll(reader)
			return map[string]any{"some": len(bucketArchive) > 0}, err
		}},
		{"ImportBucketMetadata", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ImportBucketMetadata(ctx, "", io.NopCloser(bytes.NewReader(bucketArchive)))
		}},

		// Buckets
		{"GetBucketQuota", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.GetBucketQuota(ctx, "madmin") }},
		{"GetBucketQuota: no bucket", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.GetBucketQuota(ctx, "no-such-bucket")
		}},
		{"SetRemoteTarget", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			target := madmin.BucketTarget{SourceBucket: "madmin", TargetBucket: "other", Endpoint: asked.Target.Address, Type: madmin.ReplicationService,
				Credentials: &madmin.Credentials{AccessKey: asked.Target.AccessKey, SecretKey: asked.Target.SecretKey}}
			arn, err := c.SetRemoteTarget(ctx, "madmin", &target)
			remoteARN = arn
			return map[string]any{"arn": arn != ""}, err
		}},
		{"ListRemoteTargets", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ListRemoteTargets(ctx, "madmin", "")
		}},
		{"UpdateRemoteTarget", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			target := madmin.BucketTarget{SourceBucket: "madmin", TargetBucket: "other", Endpoint: asked.Target.Address, Type: madmin.ReplicationService, Arn: remoteARN,
				Credentials: &madmin.Credentials{AccessKey: asked.Target.AccessKey, SecretKey: asked.Target.SecretKey}}
			return c.UpdateRemoteTarget(ctx, &target, madmin.CredentialsUpdateType)
		}},
		{"RemoveRemoteTarget", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.RemoveRemoteTarget(ctx, "madmin", remoteARN))
		}},
		{"BucketReplicationDiff", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			return first(cancel, c.BucketReplicationDiff(ctx, "madmin", madmin.ReplDiffOpts{}), func(info madmin.DiffInfo) error { return info.Err })
		}},
		{"BucketReplicationMRF", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			return first(cancel, c.BucketReplicationMRF(ctx, "madmin", ""), func(mrf madmin.ReplicationMRF) error {
				if mrf.Err != "" {
					return fmt.Errorf("%s", mrf.Err)
				}
				return nil
			})
		}},
		// The client waits for ever where this call is refused: it writes the error into a channel that nothing reads yet.
		{"GetBucketBandwidth", nil},
		{"ObjectSummary", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ObjectSummary(ctx, madmin.ObjectSummaryOptions{Bucket: "madmin", Object: "a"})
		}},

		// Settings
		{"GetConfig", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			text, err := c.GetConfig(ctx)
			return map[string]any{"some": len(text) > 0}, err
		}},
		{"GetConfigKV", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			text, err := c.GetConfigKV(ctx, "api")
			return map[string]any{"begin": strings.SplitN(string(text), " ", 2)[0]}, err
		}},
		{"GetConfigKVWithOptions", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			text, err := c.GetConfigKVWithOptions(ctx, "api", madmin.KVOptions{Env: true})
			return map[string]any{"some": len(text) > 0}, err
		}},
		{"HelpConfigKV", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			help, err := c.HelpConfigKV(ctx, "scanner", "", false)
			return map[string]any{"subSys": help.SubSys, "some": len(help.KeysHelp) > 0}, err
		}},
		{"SetConfigKV", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return restart(c.SetConfigKV(ctx, "scanner speed=fast"))
		}},
		{"SetConfigKV: unknown key", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return restart(c.SetConfigKV(ctx, "scanner sped=fast"))
		}},
		{"DelConfigKV", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return restart(c.DelConfigKV(ctx, "scanner"))
		}},
		{"SetConfig", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SetConfig(ctx, strings.NewReader("scanner speed=default\n")))
		}},
		{"ListConfigHistoryKV", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			_, err := c.ListConfigHistoryKV(ctx, 1)
			return done(err)
		}},
		{"RestoreConfigHistoryKV", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.RestoreConfigHistoryKV(ctx, "no-such-entry"))
		}},
		{"ClearConfigHistoryKV", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.ClearConfigHistoryKV(ctx, "all"))
		}},
		{"ListIDPConfig", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ListIDPConfig(ctx, madmin.OpenidIDPCfg)
		}},
		{"GetIDPConfig", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.GetIDPConfig(ctx, madmin.OpenidIDPCfg, "none")
		}},
		{"AddOrUpdateIDPConfig", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return restart(c.AddOrUpdateIDPConfig(ctx, madmin.OpenidIDPCfg, "idp", "client_id=a", false))
		}},
		{"AddOrUpdateIDPConfig: update", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return restart(c.AddOrUpdateIDPConfig(ctx, madmin.OpenidIDPCfg, "idp", "client_id=b", true))
		}},
		{"DeleteIDPConfig", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return restart(c.DeleteIDPConfig(ctx, madmin.OpenidIDPCfg, "none"))
		}},

		// Keys
		{"KMSStatus", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.KMSStatus(ctx) }},
		{"KMSMetrics", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.KMSMetrics(ctx) }},
		{"KMSAPIs", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.KMSAPIs(ctx) }},
		{"KMSVersion", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.KMSVersion(ctx) }},
		{"CreateKey", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.CreateKey(ctx, asked.keyOr("another-key")))
		}},
		{"GetKeyStatus", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.GetKeyStatus(ctx, asked.keyOr("some-key")) }},
		{"ListKeys", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.ListKeys(ctx, "*") }},
		{"ImportKey", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.ImportKey(ctx, "imported", []byte(`{"bytes":""}`)))
		}},
		{"DeleteKey", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.DeleteKey(ctx, asked.keyOr("another-key")))
		}},
		{"SetKMSPolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SetKMSPolicy(ctx, "p", []byte(`{}`)))
		}},
		{"AssignPolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.AssignPolicy(ctx, "p", []byte(`{}`)))
		}},
		{"DescribePolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.DescribePolicy(ctx, "p") }},
		{"GetPolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.GetPolicy(ctx, "p") }},
		{"ListPolicies", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.ListPolicies(ctx, "*") }},
		{"DeletePolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return done(c.DeletePolicy(ctx, "p")) }},
		{"DescribeIdentity", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.DescribeIdentity(ctx, "i") }},
		{"DescribeSelfIdentity", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.DescribeSelfIdentity(ctx) }},
		{"ListIdentities", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.ListIdentities(ctx, "*") }},
		{"DeleteIdentity", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return done(c.DeleteIdentity(ctx, "i")) }},

		// Tiers
		{"AddTier", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.AddTier(ctx, tier(asked, "COLD")))
		}},
		{"AddTierIgnoreInUse", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.AddTierIgnoreInUse(ctx, tier(asked, "COLDER")))
		}},
		{"ListTiers", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.ListTiers(ctx) }},
		{"TierStats", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.TierStats(ctx) }},
		{"EditTier", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.EditTier(ctx, "COLD", madmin.TierCreds{AccessKey: asked.Target.AccessKey, SecretKey: asked.Target.SecretKey}))
		}},
		{"VerifyTier", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return done(c.VerifyTier(ctx, "COLD")) }},
		{"VerifyTier: none", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return done(c.VerifyTier(ctx, "NONE")) }},
		{"RemoveTier", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return done(c.RemoveTier(ctx, "COLD")) }},
		{"RemoveTierV2", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.RemoveTierV2(ctx, "COLDER", madmin.RemoveTierOpts{Force: true}))
		}},

		// Jobs
		{"GetSupportedBatchJobTypes", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			types, _, err := c.GetSupportedBatchJobTypes(ctx)
			return types, err
		}},
		{"GenerateBatchJob", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			text, err := c.GenerateBatchJob(ctx, madmin.GenerateBatchJobOpts{Type: madmin.BatchJobExpire})
			return map[string]any{"some": text != ""}, err
		}},
		{"GenerateBatchJobV2", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			text, _, err := c.GenerateBatchJobV2(ctx, madmin.GenerateBatchJobOpts{Type: madmin.BatchJobExpire})
			return map[string]any{"some": text != ""}, err
		}},
		{"StartBatchJob", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			started, err := c.StartBatchJob(ctx, "expire:\n  apiVersion: v1\n  bucket: madmin\n  rules:\n    - type: object\n      name: none*\n      olderThan: 1h\n      purge:\n        retainVersions: 0\n")
			jobID = started.ID
			return started, err
		}},
		{"BatchJobStatus", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.BatchJobStatus(ctx, jobID) }},
		{"DescribeBatchJob", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			text, err := c.DescribeBatchJob(ctx, jobID)
			return map[string]any{"some": text != ""}, err
		}},
		{"ListBatchJobs", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ListBatchJobs(ctx, &madmin.ListBatchJobsFilter{})
		}},
		{"CancelBatchJob", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.CancelBatchJob(ctx, "no-such-job"))
		}},

		// Sites
		{"SiteReplicationInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.SiteReplicationInfo(ctx) }},
		{"SRStatusInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.SRStatusInfo(ctx, madmin.SRStatusOptions{Buckets: true, Users: true, Groups: true, Policies: true})
		}},
		{"SRMetaInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.SRMetaInfo(ctx, madmin.SRStatusOptions{Buckets: true})
		}},
		{"SiteReplicationAdd", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			here := madmin.PeerSite{Name: "here", Endpoint: "http://" + asked.Address, AccessKey: asked.AccessKey, SecretKey: asked.SecretKey}
			away := madmin.PeerSite{Name: "away", Endpoint: "http://127.0.0.1:1", AccessKey: asked.AccessKey, SecretKey: asked.SecretKey}
			return c.SiteReplicationAdd(ctx, []madmin.PeerSite{here, away}, madmin.SRAddOptions{})
		}},
		{"SiteReplicationEdit", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.SiteReplicationEdit(ctx, madmin.PeerInfo{Name: "none", Endpoint: "http://127.0.0.1:1", DeploymentID: "none"}, madmin.SREditOptions{})
		}},
		{"SiteReplicationRemove", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.SiteReplicationRemove(ctx, madmin.SRRemoveReq{SiteNames: []string{"none"}})
		}},
		{"SiteReplicationResyncOp", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.SiteReplicationResyncOp(ctx, madmin.PeerInfo{DeploymentID: "none"}, madmin.SiteResyncStart)
		}},
		{"SiteReplicationPerf", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.SiteReplicationPerf(ctx, time.Second)
		}},
		{"SRPeerGetIDPSettings", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.SRPeerGetIDPSettings(ctx) }},
		{"SRPeerBucketOps", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SRPeerBucketOps(ctx, "madmin", madmin.ConfigureReplBktOp, nil))
		}},
		{"SRPeerEdit", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SRPeerEdit(ctx, madmin.PeerInfo{}))
		}},
		{"SRPeerJoin", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SRPeerJoin(ctx, madmin.SRPeerJoinReq{}))
		}},
		{"SRPeerRemove", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.SRPeerRemove(ctx, madmin.SRRemoveReq{})
		}},
		{"SRPeerReplicateBucketMeta", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SRPeerReplicateBucketMeta(ctx, madmin.SRBucketMeta{Type: "tags", Bucket: "madmin"}))
		}},
		{"SRPeerReplicateIAMItem", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SRPeerReplicateIAMItem(ctx, madmin.SRIAMItem{Type: "policy", Name: "reader"}))
		}},
		{"SRStateEdit", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.SRStateEdit(ctx, madmin.SRStateEditReq{}))
		}},

		// Support
		{"ServerHealthInfo", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			response, version, err := c.ServerHealthInfo(ctx, madmin.HealthDataTypesList, 20*time.Second, "")
			if err != nil {
				return nil, err
			}
			defer response.Body.Close()
			return healthOf(version, response.Body)
		}},
		{"Metrics", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			var last madmin.RealtimeMetrics
			err := c.Metrics(ctx, madmin.MetricsOptions{Type: madmin.MetricsAll, N: 1}, func(metrics madmin.RealtimeMetrics) { last = metrics })
			return last, err
		}},
		{"ServiceTrace", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			go func() {
				for ctx.Err() == nil {
					time.Sleep(200 * time.Millisecond)
					request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+asked.Address+"/madmin/a", nil)
					if response, err := http.DefaultClient.Do(request); err == nil {
						response.Body.Close()
					}
				}
			}()
			return first(cancel, c.ServiceTrace(ctx, madmin.ServiceTraceOpts{S3: true}), func(info madmin.ServiceTraceInfo) error { return info.Err })
		}},
		{"ServiceTelemetry", nil},
		{"ServiceTelemetryStream", nil},
		{"GetLogs", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			for info := range c.GetLogs(ctx, "", 10, "all") {
				return map[string]any{"some": info.Err == nil}, info.Err
			}
			return map[string]any{"some": false}, nil
		}},
		{"Profile", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return size(c.Profile(ctx, madmin.ProfilerCPU, time.Second))
		}},
		{"StartProfiling", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.StartProfiling(ctx, madmin.ProfilerCPU)
		}},
		{"DownloadProfilingData", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return size(c.DownloadProfilingData(ctx))
		}},
		{"Inspect", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			_, reader, err := c.Inspect(ctx, madmin.InspectOptions{Volume: "madmin", File: "a/xl.meta"})
			return size(reader, err)
		}},
		{"DriveSpeedtest", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			results, err := c.DriveSpeedtest(ctx, madmin.DriveSpeedTestOpts{BlockSize: 1 << 16, FileSize: 1 << 20})
			if err != nil {
				cancel()
				return nil, err
			}
			return first(cancel, results, func(madmin.DriveSpeedTestResult) error { return nil })
		}},
		{"Speedtest", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			results, err := c.Speedtest(ctx, madmin.SpeedtestOpts{Size: 1 << 16, Duration: 1100 * time.Millisecond, Concurrency: 2})
			if err != nil {
				cancel()
				return nil, err
			}
			return first(cancel, results, func(madmin.SpeedTestResult) error { return nil })
		}},
		{"Netperf", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.Netperf(ctx, time.Second) }},
		{"ClientPerf", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return c.ClientPerf(ctx, time.Second) }},

		// Removals
		{"RemoveUser", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return done(c.RemoveUser(ctx, "bob")) }},
		{"RemoveUser: nobody", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.RemoveUser(ctx, "nobody"))
		}},
		{"RemoveCannedPolicy", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.RemoveCannedPolicy(ctx, "reader"))
		}},
		{"DeleteServiceAccount", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return done(c.DeleteServiceAccount(ctx, "given-access-key"))
		}},

		// The server
		{"ServiceFreezeV2", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return done(c.ServiceFreezeV2(ctx)) }},
		{"ServiceUnfreezeV2", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return done(c.ServiceUnfreezeV2(ctx)) }},
		{"ServiceUnfreeze", func(ctx context.Context, c *madmin.AdminClient) (any, error) { return done(c.ServiceUnfreeze(ctx)) }},
		{"ServiceAction", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			return c.ServiceAction(ctx, madmin.ServiceActionOpts{Action: madmin.ServiceActionRestart, DryRun: true})
		}},
		{"ServerUpdate", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return c.ServerUpdate(ctx, "http://127.0.0.1:1/none")
		}},
		{"ServerUpdateV2", func(ctx context.Context, c *madmin.AdminClient) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return c.ServerUpdateV2(ctx, madmin.ServerUpdateOpts{UpdateURL: "http://127.0.0.1:1/none", DryRun: true})
		}},
		{"ServiceRestart", nil},
		{"ServiceRestartV2", nil},
		{"ServiceStop", nil},
		{"ServiceStopV2", nil},
	}
}
