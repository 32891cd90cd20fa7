import { adminPath } from './admin-path.ts';
import { AdminError } from './admin-error.ts';
import { exportIdentities } from './export-identities.ts';
import { importIdentities } from './import-identities.ts';
import type { ImportReport } from './import-report.ts';
import { nowOf } from './now.ts';
import { boundaryOf, callerSubject } from './own-account.ts';
import { readIdentityArchive } from './read-identity-archive.ts';
import { type AdminAnswer, type AdminCall, json, nothing, type Route } from './route.ts';

/** Bytes, packed. */
const longestArchive = 16 * 1024 * 1024;

/** Whoever may do either may do everything: an export holds every secret key, an import makes any. */
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

async function exported({ services }: AdminCall): Promise<AdminAnswer> {
  const now = nowOf(services);
  const bytes = await exportIdentities(services.identities, services.root.user, now);
  return { kind: 'bytes', bytes, contentType: 'application/zip' };
}

async function imported(call: AdminCall): Promise<ImportReport> {
  const archive = readIdentityArchive(await call.body(longestArchive));
  const { identities, root } = call.services;
  const asRoot = callerSubject(call.principal).kind === 'root' && boundaryOf(call.principal) === undefined;
  return importIdentities(archive, { identities, rootUser: root.user, asRoot });
}

/** Older clients read no report: they are told what could not be taken by a refusal, though the rest is there. */
async function importedOrRefused(call: AdminCall): Promise<AdminAnswer> {
  const { reasons } = await imported(call);
  if (reasons.length === 0) return nothing;
  const more = reasons.length > 5 ? ` And ${reasons.length - 5} more.` : '';
  throw new AdminError('XCofferInvalidRequest', `Some could not be imported. ${reasons.slice(0, 5).join(' ')}${more}`);
}
