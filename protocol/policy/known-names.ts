/**
 * The names that a policy may use: those that this server evaluates, and those of AWS and MinIO, for policies that are imported.
 *
 * @see https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
 */
const words = (text: string) => text.trim().split(/\s+/);

const actionsOfService = {
  s3: words(`
    AbortMultipartUpload BypassGovernanceRetention CreateBucket CreateSession DeleteBucket DeleteBucketCors
    DeleteBucketOwnershipControls DeleteBucketPolicy DeleteBucketReplication DeleteBucketWebsite DeleteObject DeleteObjectTagging
    DeleteObjectVersion DeleteObjectVersionTagging ForceDeleteBucket GetAccelerateConfiguration GetAccountPublicAccessBlock
    GetAnalyticsConfiguration GetBucketAcl GetBucketCORS GetBucketLifecycle GetBucketLocation GetBucketLogging
    GetBucketNotification GetBucketObjectLockConfiguration GetBucketOwnershipControls GetBucketPolicy GetBucketPolicyStatus
    GetBucketPublicAccessBlock GetBucketQOS GetBucketRequestPayment GetBucketTagging GetBucketVersioning GetBucketWebsite
    GetEncryptionConfiguration GetIntelligentTieringConfiguration GetInventoryConfiguration GetLifecycleConfiguration
    GetMetricsConfiguration GetObject GetObjectAcl GetObjectAttributes GetObjectLegalHold GetObjectRetention GetObjectTagging
    GetObjectTorrent GetObjectVersion GetObjectVersionAcl GetObjectVersionAttributes GetObjectVersionForReplication
    GetObjectVersionTagging GetObjectVersionTorrent GetReplicationConfiguration HeadBucket InitiateReplication ListAllMyBuckets
    ListBucket ListBucketMultipartUploads ListBucketVersions ListenBucketNotification ListenNotification
    ListMultipartUploadParts ListTagsForResource ObjectOwnerOverrideToBucketOwner PutAccelerateConfiguration
    PutAccountPublicAccessBlock PutAnalyticsConfiguration PutBucketAcl PutBucketCORS PutBucketLifecycle PutBucketLogging
    PutBucketNotification PutBucketObjectLockConfiguration PutBucketOwnershipControls PutBucketPolicy
    PutBucketPublicAccessBlock PutBucketQOS PutBucketRequestPayment PutBucketTagging PutBucketVersioning PutBucketWebsite
    PutEncryptionConfiguration PutIntelligentTieringConfiguration PutInventoryConfiguration PutLifecycleConfiguration
    PutMetricsConfiguration PutObject PutObjectAcl PutObjectFanOut PutObjectLegalHold PutObjectRetention PutObjectTagging
    PutObjectVersionAcl PutObjectVersionTagging PutReplicationConfiguration ReplicateDelete ReplicateObject ReplicateTags
    ResetBucketReplicationState RestoreObject TagResource UntagResource UpdateObjectEncryption
  `),
  admin: words(`
    AddUserToGroup AttachUserOrGroupPolicy BandwidthMonitor CancelBatchJob CheckIdentities ClusterInfo ConfigUpdate ConsoleLog
    CreatePolicy CreateServiceAccount CreateUser DataUsageInfo Decommission DecommissionPool DeletePolicy DeleteUser
    DescribeBatchJob DisableGroup DisableUser EnableGroup EnableUser ExplainPolicy ExportBucketMetadata ExportIAM ForceUnlock
    GenerateBatchJob GetBucketQuota GetBucketTarget GetGroup GetPolicy GetUser Heal HealthInfo ImportBucketMetadata ImportIAM
    InspectData KMSCreateKey KMSDeleteKey KMSImportKey KMSKeyStatus KMSListKeys KMSRotateKey LicenseInfo ListBatchJobs
    ListGroups ListQuarantine ListServiceAccounts ListTemporaryAccounts ListTier ListUserPolicies ListUsers OBDInfo Profiling
    Prometheus Rebalance RebalancePool RemoveServiceAccount RemoveUserFromGroup ReplicationDiff ScrubStatus ServerInfo
    ServerTrace ServerUpdate ServiceCordon ServiceFreeze ServiceRestart ServiceStop SetBucketQuota SetBucketTarget SetReadOnly
    SetTier SiteReplicationAdd SiteReplicationDisable SiteReplicationInfo SiteReplicationOperation SiteReplicationRemove
    SiteReplicationResync SnapshotStore StartBatchJob StorageInfo TopLocksInfo UpdatePolicyAssociation UpdateServiceAccount
    VerifyStore ReadAuditLog PauseBackgroundTask PromoteStore ListSessions RevokeSession ListHeldEvents RetryHeldEvents
    DropHeldEvents
  `),
  kms: words(`
    API AssignPolicy AuditLog CreateKey DeleteIdentity DeleteKey DeletePolicy DescribeIdentity DescribePolicy
    DescribeSelfIdentity ErrorLog GetPolicy ImportKey KeyStatus ListIdentities ListKeys ListPolicies Metrics RotateKey
    SetPolicy Status Version
  `),
  sts: words(`
    AssumeRole AssumeRoleWithCertificate AssumeRoleWithClientGrants AssumeRoleWithCustomToken AssumeRoleWithLDAPIdentity
    AssumeRoleWithSAML AssumeRoleWithSSO AssumeRoleWithWebIdentity GetCallerIdentity GetFederationToken GetSessionToken
    TagSession
  `),
} as const;

/** The documented names, e.g. `s3:GetObject`. */
export const knownActions: readonly string[] = Object.entries(actionsOfService).flatMap(([service, names]) =>
  names.map((name) => `${service}:${name}`),
);

/** Claims of tokens that many providers have. Policies may use any other one, too, as `${jwt:…}` and as a condition key. */
export const knownClaims: readonly string[] = words(`
  sub iss aud jti upn name groups given_name family_name middle_name nickname preferred_username profile picture website
  email gender birthdate phone_number address scope client_id kubernetes.io/namespace kubernetes.io/serviceaccount/name
`);

/** The tags of the object that a request reads, changes, replaces or deletes. The name of the tag follows. */
export const existingTagKey = 's3:ExistingObjectTag/';
/** The tags that a request sends. The name of the tag follows. */
export const requestTagKey = 's3:RequestObjectTag/';
/** The tags of the bucket that a request is for. The name of the tag follows. */
export const bucketTagKey = 's3:BucketTag/';

/** The keys that a request to this server can have. Keys `s3:x-amz-…` are its headers. A `/` at the end matches any suffix. */
export const supportedKeys: readonly string[] = [
  ...words(`
    aws:SourceIp aws:SecureTransport aws:CurrentTime aws:EpochTime aws:UserAgent aws:Referer aws:username aws:userid
    aws:principaltype aws:groups s3:prefix s3:delimiter s3:max-keys s3:versionid s3:LocationConstraint s3:authType s3:signatureAge
    s3:signatureversion s3:TlsVersion s3:ObjectCreationOperation s3:RequestObjectTagKeys s3:if-match s3:if-none-match s3:InventoryAccessibleOptionalFields s3:ResourceAccount aws:ResourceAccount s3:object-lock-mode s3:object-lock-retain-until-date
    s3:object-lock-legal-hold s3:object-lock-remaining-retention-days sts:DurationSeconds ldap:user ldap:username ldap:groups
  `),
  existingTagKey,
  requestTagKey,
  bucketTagKey,
  ...knownClaims.map((claim) => `jwt:${claim}`),
];

/**
 * AWS or MinIO know these keys, and no request to this server has them. An Allow with one never applies. A new Deny with one is refused; a
 * stored Deny with one applies. A `/` at the end matches any suffix.
 */
export const unsupportedKeys: readonly string[] = words(`
  s3:x-amz-server-side-encryption-customer-key s3:x-amz-copy-source-server-side-encryption-customer-key
  s3:DataAccessPointArn s3:DataAccessPointAccount s3:AccessPointNetworkOrigin
  s3:AccessGrantsInstanceArn s3:AccessPointTag/ s3:destinationRegion s3:ExistingJobOperation s3:ExistingJobPriority
  s3:isReplicationPauseRequest s3:JobSuspendedCause s3:RequestJobOperation s3:RequestJobPriority
  svc:DurationSeconds aws:PrincipalArn aws:PrincipalAccount aws:PrincipalOrgID aws:PrincipalOrgPaths aws:PrincipalTag/
  aws:PrincipalIsAWSService aws:PrincipalServiceName aws:PrincipalServiceNamesList aws:RequestTag/ aws:ResourceTag/ aws:TagKeys
  aws:SourceVpc aws:SourceVpce aws:VpcSourceIp aws:SourceArn aws:SourceAccount aws:SourceOrgID aws:SourceIdentity
  aws:MultiFactorAuthPresent aws:MultiFactorAuthAge aws:CalledVia aws:CalledViaFirst aws:CalledViaLast aws:ViaAWSService
  aws:TokenIssueTime aws:RequestedRegion aws:ResourceOrgID aws:FederatedProvider
`);

const evaluated: ReadonlySet<string> = new Set(supportedKeys.map((key) => key.toLowerCase()));
const evaluatedPrefixes = [...evaluated].filter((key) => key.endsWith('/'));

/**
 * Reports whether some request to this server can have the key. Headers that hold a key of a client are not condition keys. `key` is in
 * lower case.
 */
export function isSupported(key: string): boolean {
  if (hasPrefix(key, evaluatedPrefixes) || hasPrefix(key, ['jwt:'])) return true;
  return (evaluated.has(key) && !key.endsWith('/')) || (key.startsWith('s3:x-amz-') && !key.endsWith('-customer-key'));
}

/** Reports whether AWS or MinIO know the key and no request here has it. `key` is in lower case. */
export function isUnsupported(key: string): boolean {
  return unsupportedKeys.some((known) => {
    const name = known.toLowerCase();
    return name.endsWith('/') ? hasPrefix(key, [name]) : key === name;
  });
}

/** Reports whether one of the prefixes, and a name after it, is the key. */
function hasPrefix(key: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => key.length > prefix.length && key.startsWith(prefix));
}

/** Finds the known name with the smallest edit distance. */
export function nearestName(name: string, known: readonly string[]): string {
  const written = name.toLowerCase();
  let nearest = '';
  let fewest = Infinity;
  for (const one of known) {
    const changes = distance(written, one.toLowerCase());
    if (changes < fewest) [nearest, fewest] = [one, changes];
  }
  return nearest;
}

/** Finds the known name that at most `maxChanges` changed letters make of this one. */
export function misspeltName(name: string, known: readonly string[], maxChanges: number): string | undefined {
  if (name.length > 256) return undefined;
  const near = known.filter((one) => Math.abs(one.length - name.length) <= maxChanges);
  const nearest = nearestName(name, near);
  return distance(name.toLowerCase(), nearest.toLowerCase()) <= maxChanges ? nearest : undefined;
}

/** Computes the Levenshtein distance. The caller limits the length of the names. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, same));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
