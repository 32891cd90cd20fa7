/**
 * The names of the console's calls in the audit log, so that its search by operation finds them. A call that needs a right gets the
 * name of its action when it is authorized; its own name stays where it is refused before, and where it needs none.
 */
export const operationNames: ReadonlyMap<string, string> = new Map([
  ['GET /oauth_callback', 'ConsoleReturnFromProvider'],
  ['GET /api/sign-in-options', 'ConsoleGetSignInOptions'],
  ['GET /api/sign-in/:provider', 'ConsoleStartSignInByProvider'],
  ['POST /api/sign-in', 'ConsoleSignIn'],
  ['POST /api/sign-in-by-directory', 'ConsoleSignInByDirectory'],
  ['POST /api/sign-out', 'ConsoleSignOut'],
  ['GET /api/session', 'ConsoleGetSession'],
  ['GET /api/sessions', 'ConsoleListSessions'],
  ['DELETE /api/sessions', 'ConsoleRevokeSessions'],
  ['PUT /api/own-secret-key', 'ConsoleSetOwnSecretKey'],

  ['GET /api/buckets', 'ConsoleListBuckets'],
  ['POST /api/buckets', 'ConsoleCreateBucket'],
  ['GET /api/buckets/:bucket', 'ConsoleGetBucket'],
  ['DELETE /api/buckets/:bucket', 'ConsoleDeleteBucket'],
  ['PUT /api/buckets/:bucket/encryption', 'ConsoleSetBucketEncryption'],
  ['DELETE /api/buckets/:bucket/encryption', 'ConsoleDeleteBucketEncryption'],
  ['GET /api/buckets/:bucket/growth', 'ConsoleGetBucketGrowth'],
  ['POST /api/buckets/:bucket/lifecycle-preview', 'ConsolePreviewLifecycle'],
  ['GET /api/buckets/:bucket/reach', 'ConsoleGetBucketReach'],
  ['GET /api/reached-buckets', 'ConsoleListReachedBuckets'],
  ['GET /api/buckets/:bucket/rights', 'ConsoleGetBucketRights'],
  ['GET /api/buckets/:bucket/object-rights', 'ConsoleGetObjectRights'],
  ['GET /api/key-rights', 'ConsoleGetKeyRights'],

  ['GET /api/buckets/:bucket/objects', 'ConsoleListObjects'],
  ['DELETE /api/buckets/:bucket/objects', 'ConsoleDeleteObjects'],
  ['GET /api/buckets/:bucket/object', 'ConsoleGetObject'],
  ['DELETE /api/buckets/:bucket/object', 'ConsoleDeleteObject'],
  ['GET /api/buckets/:bucket/content', 'ConsoleDownload'],
  ['POST /api/buckets/:bucket/archive', 'ConsoleDownloadArchive'],
  ['GET /api/buckets/:bucket/share', 'ConsoleShare'],
  ['* /api/s3/:bucket', 'ConsoleCallS3'],
  ['GET /api/transfers', 'ConsoleListTransfers'],
  ['POST /api/transfers', 'ConsoleStartTransfer'],
  ['DELETE /api/transfers', 'ConsoleEndTransfer'],

  ['GET /api/access-keys', 'ConsoleListAccessKeys'],
  ['POST /api/access-keys', 'ConsoleCreateAccessKey'],
  ['GET /api/access-key', 'ConsoleGetAccessKey'],
  ['PUT /api/access-key', 'ConsoleChangeAccessKey'],
  ['DELETE /api/access-key', 'ConsoleDeleteAccessKey'],
  ['GET /api/users', 'ConsoleListUsers'],
  ['POST /api/users', 'ConsoleCreateUser'],
  ['GET /api/user', 'ConsoleGetUser'],
  ['DELETE /api/user', 'ConsoleDeleteUser'],
  ['PUT /api/user/status', 'ConsoleSetUserStatus'],
  ['PUT /api/user/secret-key', 'ConsoleSetUserSecretKey'],
  ['PUT /api/user/policies', 'ConsoleSetUserPolicies'],
  ['PUT /api/user/groups', 'ConsoleSetUserGroups'],
  ['GET /api/groups', 'ConsoleListGroups'],
  ['POST /api/groups', 'ConsoleCreateGroup'],
  ['GET /api/group', 'ConsoleGetGroup'],
  ['DELETE /api/group', 'ConsoleDeleteGroup'],
  ['PUT /api/group/members', 'ConsoleSetGroupMembers'],
  ['PUT /api/group/status', 'ConsoleSetGroupStatus'],
  ['PUT /api/group/policies', 'ConsoleSetGroupPolicies'],
  ['GET /api/policies', 'ConsoleListPolicies'],
  ['GET /api/policy-names', 'ConsoleListPolicyNames'],
  ['GET /api/policy', 'ConsoleGetPolicy'],
  ['PUT /api/policy', 'ConsoleSavePolicy'],
  ['DELETE /api/policy', 'ConsoleDeletePolicy'],
  ['POST /api/policy-check', 'ConsoleCheckPolicy'],
  ['POST /api/policy/attach', 'ConsoleAttachPolicy'],
  ['POST /api/policy/detach', 'ConsoleDetachPolicy'],
  ['POST /api/explain', 'ConsoleExplain'],
  ['GET /api/identity-providers', 'ConsoleListIdentityProviders'],
  ['POST /api/identity-providers', 'ConsoleCreateIdentityProvider'],
  ['GET /api/identity-provider', 'ConsoleGetIdentityProvider'],
  ['PUT /api/identity-provider', 'ConsoleChangeIdentityProvider'],
  ['PUT /api/identity-provider/enabled', 'ConsoleEnableIdentityProvider'],
  ['DELETE /api/identity-provider', 'ConsoleDeleteIdentityProvider'],
  ['POST /api/identity-provider/test', 'ConsoleTestIdentityProvider'],

  ['GET /api/status', 'ConsoleGetStatus'],
  ['GET /api/health', 'ConsoleGetHealth'],
  ['GET /api/metrics', 'ConsoleGetMetrics'],
  ['GET /api/usage-history', 'ConsoleGetUsageHistory'],
  ['GET /api/audit', 'ConsoleSearchAudit'],
  ['GET /api/work', 'ConsoleGetWork'],
  ['PUT /api/work/pause', 'ConsolePauseWork'],
]);

/** The name of an address that the console does not have. */
const unknownCall = 'ConsoleUnknownCall';

/** Names a call by its method and its path below the base path. The bucket is that of the path. */
export function operationOf(method: string, path: string): { readonly name: string; readonly bucket?: string } {
  const [, , , third] = path.split('/');
  // Express ignores the case of a path.
  const [, first, second, lowerThird, ...more] = path.toLowerCase().replace(/\/$/, '').split('/');
  if (first === 'api' && second === 'admin') return { name: 'ConsoleCallAdmin' };
  const parameter = lowerThird === undefined ? undefined : parameters.get(second ?? '');
  const place = [first, second, lowerThird === undefined ? undefined : (parameter ?? lowerThird), ...more];
  const pattern = `/${place.filter((part) => part !== undefined).join('/')}`;
  const name =
    operationNames.get(`${method === 'HEAD' ? 'GET' : method} ${pattern}`) ?? operationNames.get(`* ${pattern}`);
  if (name === undefined) return { name: unknownCall };
  const bucket = parameter === ':bucket' ? decoded(third ?? '') : undefined;
  return bucket === undefined ? { name } : { name, bucket };
}

/** The meaning of the segment after this one. */
const parameters = new Map([
  ['buckets', ':bucket'],
  ['s3', ':bucket'],
  ['sign-in', ':provider'],
]);

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    // The call is refused for it.
    return undefined;
  }
}
