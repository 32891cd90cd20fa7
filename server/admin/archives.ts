import { adminPath, authorizeAll, nowOf, type AdminAnswer, type AdminCall, json, type Route, nothing } from './call.ts';
import { bucketArchiveLimits, exportBuckets, importBuckets } from '../administration/bucket-archive.ts';
import type { AdminServices } from '../administration/services.ts';
import { invalidArchive, readZip } from '../administration/zip.ts';
import { exportIdentities } from '../administration/export-identities.ts';
import { importIdentities } from '../administration/import-identities.ts';
import { type ImportReport, readIdentityArchive } from '../administration/identity-archive.ts';
import { isUnbounded, isUnrestrictedRoot, mayOneOf } from '../administration/caller.ts';
import { adminError } from '../administration/admin-error.ts';

/** Bytes of the compressed archive. */
const maxArchiveBytes = 16 * 1024 * 1024;

/** `mc admin cluster bucket export|import`: the configuration of buckets, without their objects. */
export const bucketArchiveRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: adminPath('export-bucket-metadata'),
    action: 'admin:ExportBucketMetadata',
    async serve({ services, query }) {
      const bytes = await exportBuckets(bucketsOf(services), query.get('bucket') || undefined, nowOf(services));
      return { kind: 'bytes', bytes, contentType: 'application/zip' };
    },
  },
  {
    method: 'PUT',
    path: adminPath('import-bucket-metadata'),
    action: 'admin:ImportBucketMetadata',
    serve: importBucketArchive,
  },
];

async function importBucketArchive(call: AdminCall): Promise<AdminAnswer> {
  const entries = await readZip(await call.body(maxArchiveBytes), bucketArchiveLimits);
  const { server } = call.services;
  const only = call.query.get('bucket') || undefined;
  const buckets = await importBuckets(bucketsOf(call.services), entries, {
    only,
    region: server.region,
    notificationTargets: call.services.notificationTargets ?? [],
    require: (action, bucket) => call.require(action, bucket),
    requireAll: (rights) => authorizeAll(call, rights),
  });
  if (Object.keys(buckets).length === 0)
    throw invalidArchive(only === undefined ? 'it holds no bucket' : `it has no ${only}`);
  return json({ buckets });
}

function bucketsOf({ buckets }: AdminServices): NonNullable<AdminServices['buckets']> {
  if (buckets !== undefined) return buckets;
  throw adminError('XCofferRefused', 'This server moves no buckets.');
}

/** Export and import need the rights of the single calls for each secret key and change. */
export const identityArchiveRoutes: readonly Route[] = [
  { method: 'GET', path: adminPath('export-iam'), action: 'admin:ExportIAM', serve: exported },
  {
    method: 'PUT',
    path: adminPath('import-iam-v2'),
    action: 'admin:ImportIAM',
    serve: async (call) => json(await importIdentityArchive(call)),
  },
  { method: 'PUT', path: adminPath('import-iam'), action: 'admin:ImportIAM', serve: importedOrRejected },
];

async function exported(call: AdminCall): Promise<AdminAnswer> {
  const { services, principal } = call;
  // A caller who may replace any secret key may read it.
  const unbounded = isUnbounded(principal);
  const [ofUsers, ofAccounts] = [
    unbounded && (await mayOneOf(call, ['admin:CreateUser'])),
    unbounded && (await mayOneOf(call, ['admin:UpdateServiceAccount'])),
  ];
  const asRoot = isUnrestrictedRoot(principal);
  const bytes = await exportIdentities(services.identities, {
    rootUser: services.root.user,
    now: nowOf(services),
    mayKnow: (subject) => (subject === 'user' ? ofUsers : subject.kind === 'root' ? asRoot : ofAccounts),
  });
  return { kind: 'bytes', bytes, contentType: 'application/zip' };
}

async function importIdentityArchive(call: AdminCall): Promise<ImportReport> {
  const archive = await readIdentityArchive(await call.body(maxArchiveBytes));
  const { identities, root, archivedUsers } = call.services;
  return importIdentities(archive, { identities, archivedUsers, rootUser: root.user, caller: call });
}

/** Older clients do not read the report, so the answer is an error that names what failed. The rest was imported. */
async function importedOrRejected(call: AdminCall): Promise<AdminAnswer> {
  const { reasons } = await importIdentityArchive(call);
  if (reasons.length === 0) return nothing;
  const more = reasons.length > 5 ? ` And ${reasons.length - 5} more.` : '';
  throw adminError('XCofferInvalidRequest', `Some could not be imported. ${reasons.slice(0, 5).join(' ')}${more}`);
}
