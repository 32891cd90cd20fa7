export type Client = 'mc' | 'minio-py' | 'minio-java' | 'madmin-go';

interface Difference {
  readonly calls: RegExp;
  /** How ours ends. */
  readonly ours: RegExp;
  readonly why: string;
}

/** The calls that end otherwise than with a MinIO, and why. The first that fits counts. */
export const differentEnds: readonly Difference[] = [
  {
    calls: /heal|unlock|pool|decommission|rebalance/i,
    ours: /^NotImplemented$/,
    why: 'an object is there once, on one drive: nothing heals, and nothing can be balanced',
  },
  {
    calls: /update ALIAS http|^ServerUpdate/,
    ours: /^NotImplemented$/,
    why: 'an image or a package brings the update',
  },
  {
    calls: /^(?:SR|SiteReplicationPerf$)/,
    ours: /^(?:NotImplemented|XCofferInvalidRequest)$/,
    why: 'the servers of a MinIO make these calls of each other; sites replicate between Coffer servers only',
  },
  {
    calls: /^(?:SiteReplication|admin replicate|(?:add|edit|remove)_site)/,
    ours: /^(?:XCofferRefused|XMinioAdminInvalidArgument|XMinioAdminConfigBadJSON)$/,
    why: 'no sites replicate here; each server has its codes for that',
  },
  {
    calls: /ldap/i,
    ours: /^(?:done|XCofferRefused|XMinioAdminPolicyChangeAlreadyApplied)$/,
    why: 'a MinIO has codes for a directory that is not set up; here lists are empty, and changes are refused',
  },
  {
    calls: /^(?:config_set|SetConfigKV|config_reset|DelConfigKV|admin config reset .*|admin config set .*)$/,
    ours: /^XMinioAdminConfigEnvOverridden$/,
    why: 'settings come from the environment and from files alone',
  },
  {
    calls: /config_restore|RestoreConfig|config restore/,
    ours: /^XMinioAdminNoSuchConfigTarget$/,
    why: 'as above: there is no history',
  },
  {
    calls: /IDPConfig|idp openid/,
    ours: /^XMinio(?:AdminConfigIDPCfgNameDoesNotExist|ConfigError)$/,
    why: 'the codes of a MinIO where it has a provider, or refuses a setting',
  },
  {
    calls: /^get_?service_?account(?:info)? of|^InfoServiceAccount: none|accesskey info ALIAS no-/i,
    ours: /^XMinioAdminNoSuchAccessKey$/,
    why: 'a MinIO calls it an invalid credential',
  },
  {
    calls: /^TemporaryAccountInfo|sts info/,
    ours: /^XMinioAdminNoSuchAccessKey$/,
    why: 'a MinIO answers InternalError',
  },
  { calls: /^RemoveCannedPolicy/i, ours: /^XMinioAdminPolicyInUse$/, why: 'a MinIO has another name for it' },
  {
    calls: /^BucketReplication/,
    ours: /replication configuration|ReplicationConfigurationNotFound/i,
    why: 'a MinIO shows nothing where nothing is set up',
  },
  {
    calls: /^KMS(?:Metrics|APIs|Version)|key_create|CreateKey|kms key create/,
    ours: /^KMSNotSupported$/,
    why: 'the key is in the settings; a MinIO has zeros for it, or fails',
  },
  {
    calls: /^(?:Import|Delete)Key$/,
    ours: /^(?:XCofferInvalidRequest|XMinioKMSKeyNotFound)$/,
    why: 'a MinIO does not know the call of its client',
  },
  {
    calls: /^(?:SetKMSPolicy|AssignPolicy|DescribePolicy|GetPolicy|ListPolicies|DeletePolicy|.*Identit(?:y|ies))$/,
    ours: /^XMinioAdminVersionMismatch$/,
    why: 'a MinIO does not know the call of its client either, and answers BadRequest',
  },
  {
    calls: /^BatchJobStatus|batch (?:status|cancel)|CancelBatchJob/,
    ours: /^(?:done|XMinioAdminNoSuchJob)$/,
    why: 'a MinIO forgets a job that ended, and ends what there is not',
  },
  {
    calls: /^(?:Start|Download)Profiling/,
    ours: /^XMinioAdminVersionMismatch$/,
    why: 'older calls, in the place of which is `profile`',
  },
  {
    calls: /top[_ ]?locks|scanner status|^BucketScanInfo/i,
    ours: /^done$/,
    why: 'a MinIO that is not distributed does not have them',
  },
  {
    calls: /^config_get of all|^profile_start/,
    ours: /Error/,
    why: 'the client reads no answer of a MinIO either',
  },
];

interface Absence {
  readonly calls: RegExp;
  readonly fields: RegExp;
  /** It does not count for an answer that has one of these fields. */
  readonly unless?: RegExp;
  readonly why: string;
}

/** What a client reads from a MinIO, and not from a Coffer. */
export const absentFields: readonly Absence[] = [
  {
    calls: /info|diag|Metrics/i,
    fields: /mem_stats|gc_stats|go_max_procs|runtime_version|num_cpu|minio_env_vars|commitID/,
    why: 'figures of a Go program, its settings, and the commit of a build',
  },
  {
    calls: /info|diag/i,
    fields:
      /parity$|disk_index$|drives\.\*\.(?:uuid|major|minor|metrics\..*)$|Disks\.\*\.(?:major|minor|metrics\..*)$/i,
    why: 'there is one drive, the first, and no parity',
  },
  { calls: /diag|Health/, fields: /servers\.\*\.network/, why: 'a server names no others, unless there are some' },
  { calls: /info|diag|Health/i, fields: /kmsStatus/, why: 'the key of the test is in the settings: no server has it' },
  { calls: /info/i, fields: /deletemarkers?\.?count/i, why: 'what the counts of a MinIO found in between' },
  {
    calls: /batch list|ListBatchJobs/,
    fields: /^(?:\*\.)?jobs\.\*\.(?:id|type|user|started|elapsed)$/i,
    unless: /^(?:\*\.)?jobs\.\*/i,
    why: 'the small job of the test may have ended on either server; server/admin/batch-jobs.test.ts has the fields',
  },
  { calls: /^KMSStatus/, fields: /^endpoints/, why: 'the key of the test is in the settings: no server has it' },
  {
    calls: /account_?info/i,
    fields: /^Buckets\.\*\.details/,
    why: 'null, as the guide says: each has a call of its own',
  },
  {
    calls: /account_?info|usage/i,
    fields: /prefixUsage|Histogram|^buckets|^objects|size$|versions/i,
    why: 'both count in between',
  },
  { calls: /config_?history|config history/i, fields: /./, why: 'settings come from the environment' },
  { calls: /^ListServiceAccounts/, fields: /impliedPolicy$/, why: 'a MinIO says so of a key that has a policy too' },
  { calls: /OpenIDBulk|^ListIDPConfig/, fields: /configName$|name$|type$/, why: 'a MinIO has a row for no provider' },
  {
    calls: /^ImportBucketMetadata|bucket import/,
    fields: /(?:notification|quota)\.isSet$/,
    why: 'a MinIO says so of a bucket without any',
  },
  { calls: /^BatchJobStatus/, fields: /complete$/, why: 'the job still runs' },
  { calls: /^replicate status/, fields: /queueStats/, why: 'replicas wait in records, for all servers together' },
  {
    calls: /diag|HealthInfo/,
    fields: /^(?:\*\.|report\.)(?:sys|minio\.config|minio\.info\.metrics|minio\.info\.is_docker)/,
    why: 'the report has what /proc and the settings say, by the names of this server',
  },
  { calls: /^Metrics/, fields: /aggregated|by_/, why: 'a Coffer measures itself, and not its calls of the system' },
  { calls: /Trace/, fields: /Trace\.(?:bytes|http)/, why: 'bodies are not shown, and each has headers of its own' },
];

/** Values that are others than a MinIO's, where both have one. */
export const differentValues: readonly Absence[] = [
  { calls: /perf|Speedtest|Netperf|ClientPerf/i, fields: /^/, why: 'what was measured' },
  {
    calls: /diag|Health|metrics|support top net|trace/i,
    fields: /^/,
    why: 'what the machine and its processes did meanwhile',
  },
  { calls: /accesskey info ALIAS no-/, fields: /error/, why: 'the refusal is another one' },
  { calls: /config (?:get|export)|config_get|GetConfig/i, fields: /^/, why: 'each has settings of its own' },
  {
    calls: /./,
    fields: /time|uptime|update|date|created|started|elapsed|expir|timestamp|duration/i,
    why: 'the moment, and what passed since',
  },
  {
    calls: /./,
    fields: /deploymentID|uuid|HostID|RequestID|version$|endpoint|path$|host$|\.file$|nodename|address/i,
    why: 'names, addresses and releases of the two servers',
  },
  {
    calls: /./,
    fields:
      /AccountName|parentUser|(?:^|\.)user$|accessKey|secretKey|serviceAccounts|\.arn|\.ID$|^id$|Destination\.Bucket/i,
    why: 'names of root, and keys and ids that a server makes up',
  },
  {
    calls: /info|usage|storage/i,
    fields:
      /drives|disks|onlineDisks|SCData|Set\.\*$|pools|rawUsage|rawCapacity|space|inodes|objects|Histogram|versions|usage|size/i,
    why: 'a MinIO has four drives, and both count in between',
  },
  {
    calls: /info|usage|diag|Health/i,
    fields: /buckets\.?count$/i,
    why: 'a MinIO counts in between, and before that a removed bucket too',
  },
  { calls: /^KMSStatus/, fields: /^name$/, why: 'each has its name for a key that is in the settings' },
  { calls: /ListTiers/, fields: /Prefix$/, why: 'a MinIO ends a prefix with a slash' },
  { calls: /batch|Batch/, fields: /jobs\.\*\.id|result\.id|jobID/i, why: 'an id that a server makes up' },
  { calls: /^UpdateRemoteTarget/, fields: /^$/, why: 'the ARN of the target' },
  {
    calls: /^get_service_account$/,
    fields: /^policy$/,
    why: 'a MinIO shows none where the policy is that of the user',
  },
  { calls: /listCannedPolicies/, fields: /^diagnostics$/, why: 'the built-in policy allows what a Coffer has to show' },
];
