import { adminPath } from './admin-path.ts';
import { AdminError } from './admin-error.ts';
import { exportIdentities } from './export-identities.ts';
import { importIdentities } from './import-identities.ts';
import type { ImportReport } from './import-report.ts';
import { nowOf } from './now.ts';
import { isWholeRoot, mayOneOf } from './own-account.ts';
import { readIdentityArchive } from './read-identity-archive.ts';
import { type AdminAnswer, type AdminCall, json, nothing, type Route } from './route.ts';

/** Bytes, packed. */
const longestArchive = 16 * 1024 * 1024;

/** Neither gives more than the caller has: secret keys and changes take the rights that the calls for one of them take. */
export const identityArchiveRoutes: readonly Route[] = [
  { method: 'GET', path: adminPath('export-iam'), action: 'admin:ExportIAM', serve: exported },
  {
    method: 'PUT',
    path: adminPath('import-iam-v2'),
    action: 'admin:ImportIAM',
    serve: async (call) => json(await imported(call)),
  },
  { method: 'PUT', path: adminPath('import-iam'), action: 'admin:ImportIAM', serve: importedOrRefused },
];

async function exported(call: AdminCall): Promise<AdminAnswer> {
  const { services, principal } = call;
  // Whoever may give another secret key may know the present one.
  const [ofUsers, ofAccounts] = [
    await mayOneOf(call, ['admin:CreateUser']),
    await mayOneOf(call, ['admin:UpdateServiceAccount']),
  ];
  const asRoot = isWholeRoot(principal);
  const bytes = await exportIdentities(services.identities, {
    rootUser: services.root.user,
    now: nowOf(services),
    mayKnow: (subject) => (subject === 'user' ? ofUsers : subject.kind === 'root' ? asRoot : ofAccounts),
  });
  return { kind: 'bytes', bytes, contentType: 'application/zip' };
}

async function imported(call: AdminCall): Promise<ImportReport> {
  const archive = readIdentityArchive(await call.body(longestArchive));
  const { identities, root } = call.services;
  return importIdentities(archive, { identities, rootUser: root.user, caller: call });
}

/** Older clients read no report: they are told what could not be taken by a refusal, though the rest is there. */
async function importedOrRefused(call: AdminCall): Promise<AdminAnswer> {
  const { reasons } = await imported(call);
  if (reasons.length === 0) return nothing;
  const more = reasons.length > 5 ? ` And ${reasons.length - 5} more.` : '';
  throw new AdminError('XCofferInvalidRequest', `Some could not be imported. ${reasons.slice(0, 5).join(' ')}${more}`);
}
