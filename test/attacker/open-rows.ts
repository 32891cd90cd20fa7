import type { Identity } from './stage.ts';

/** A row that answers some identities, and why it may. */
interface OpenRow {
  /** The API and the name of the row. */
  readonly row: string;
  readonly to: (identity: Identity) => boolean;
  /** The caller may do some of what the body could ask for. */
  readonly readsBody?: true;
  /** The two answers have secrets of the caller's own, or the row ends what it is about. */
  readonly differs?: true;
  /** The answer repeats the caller's own policies, which name a bucket. */
  readonly ownPolicies?: true;
}

const everyone = () => true;
const users = ({ known }: Identity) => known;
const named =
  (...names: readonly string[]) =>
  ({ name }: Identity) =>
    names.includes(name);

const withBuckets = named(
  'other bucket',
  'other prefix',
  'Deny in the policy',
  'Deny in the bucket policy',
  'narrow service account',
  'narrow session',
  'session with a Deny',
);

const isBounded = named('narrow service account', 'narrow session', 'session with a Deny');

/** Their policies have no Deny, and no boundary: they administer the own account by default. */
const ownAccount = named('no policy', 'other bucket', 'other prefix', 'Deny in the bucket policy');

export const openRows: readonly OpenRow[] = [
  // The names of the buckets that the caller may list.
  {
    row: 's3 ListBuckets (GET service)',
    to: named('other bucket', 'Deny in the policy', 'narrow service account', 'narrow session', 'session with a Deny'),
  },
  // The body has the keys, of which some are the caller's.
  { row: 's3 DeleteObjects (POST bucket?delete)', to: named('other prefix'), readsBody: true },
  // A form has its key and its signature in the body.
  { row: 's3 PostObject (POST bucket)', to: named('anonymous', 'other prefix'), readsBody: true },

  { row: 'admin GET /minio/admin/v3/accountinfo', to: users, ownPolicies: true },
  { row: 'admin PUT /minio/admin/v3/add-service-account', to: ownAccount, readsBody: true },
  { row: 'admin POST /minio/admin/v3/update-service-account', to: ownAccount, readsBody: true },
  { row: 'admin PUT /minio/admin/v3/idp/ldap/add-service-account', to: ownAccount, readsBody: true },
  // They list the keys of users of a kind, and ask which.
  { row: 'admin GET /minio/admin/v3/list-access-keys-bulk', to: ownAccount },
  { row: 'admin GET /minio/admin/v3/idp/openid/list-access-keys-bulk', to: ownAccount },
  { row: 'admin GET /minio/admin/v3/idp/ldap/list-access-keys-bulk', to: ownAccount },
  { row: 'admin GET /minio/admin/v3/idp/ldap/list-access-keys', to: ownAccount },

  // They come before a session.
  { row: 'console GET /oauth_callback', to: everyone },
  { row: 'console GET /api/sign-in-options', to: everyone },
  { row: 'console GET /api/sign-in/provider-there', to: everyone },
  { row: 'console POST /api/sign-in', to: everyone, readsBody: true },
  { row: 'console POST /api/sign-in-by-directory', to: everyone, readsBody: true },
  // They are about the session and the account of the caller.
  { row: 'console POST /api/sign-out', to: users, differs: true },
  { row: 'console GET /api/session', to: users, ownPolicies: true },
  { row: 'console GET /api/transfers', to: users },
  { row: 'console DELETE /api/transfers', to: users },
  { row: 'console GET /api/access-keys', to: ownAccount },
  { row: 'console POST /api/access-keys', to: ownAccount, readsBody: true },
  // They say what the caller may do, whether the bucket is there or not.
  { row: 'console GET /api/buckets', to: users },
  { row: 'console GET /api/buckets/matrix-there/rights', to: users },
  { row: 'console GET /api/buckets/matrix-there/object-rights', to: users },
  { row: 'console GET /api/key-rights', to: users },
  // The names of actions, which are in the guide.
  { row: 'console GET /api/policy-names', to: users },
  // The caller may do so with other buckets and keys, which the body could name.
  { row: 'console POST /api/buckets', to: withBuckets, readsBody: true },
  { row: 'console POST /api/transfers', to: withBuckets, readsBody: true },
  { row: 'console DeleteObjects (POST bucket?delete)', to: named('other prefix'), readsBody: true },
  { row: 'console PostObject (POST bucket)', to: named('other prefix'), readsBody: true },
  { row: 'console POST /api/buckets/matrix-there/archive', to: named('other prefix'), readsBody: true },
  { row: 'console PUT /api/own-secret-key', to: users, readsBody: true },
  { row: 'console POST /api/policy-check', to: users, readsBody: true },

  // Users without a boundary get credentials of their own, each time others.
  { row: 'sts AssumeRole', to: (identity) => identity.known && !isBounded(identity), differs: true },
  { row: 'sts GetCallerIdentity', to: users },
  { row: 'sts ListSignInProviders', to: everyone },
  // The token is refused, with the status of STS.
  { row: 'sts AssumeRoleWithWebIdentity', to: everyone },
  { row: 'sts AssumeRoleWithClientGrants', to: everyone },
  { row: 'sts AssumeRoleWithLDAPIdentity', to: everyone },
  { row: 'sts AssumeRoleWithCertificate', to: everyone },
  { row: 'sts AssumeRoleWithCustomToken', to: everyone },
];
