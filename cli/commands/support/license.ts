import { ProgramError } from '../../../platform/errors/program-error.ts';
import { adminOf } from '../admin-client.ts';
import type { Context } from '../context.ts';

interface ServerVersions {
  readonly servers?: readonly { readonly version?: string; readonly commitID?: string }[];
}

/** Shows under which license the server is. */
export async function licenseInfo(context: Context, [alias = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const { servers = [] } = await admin.json<ServerVersions>({ method: 'GET', call: 'info' });
  // A version of MinIO is a time.
  const isMinio = /^\d{4}-\d\d-\d\dT/.test(servers[0]?.version ?? '');
  const plan = isMinio ? 'AGPLv3' : 'Apache-2.0';
  const message = isMinio
    ? 'The server is MinIO under the GNU AGPL v3, https://www.gnu.org/licenses/agpl-3.0.html'
    : 'The server is under the Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0. It needs no registration';
  context.output.message(message, { info: { plan, message } });
}

/** Registrations are an affair of MinIO's company: this client sends nothing there. */
export async function refuseRegistration(_: Context, [alias = '']: readonly string[]): Promise<void> {
  await Promise.resolve();
  throw new ProgramError(
    'BadArgument',
    `\`${alias}\` is not registered anywhere: Coffer needs no registration, and this client registers no MinIO`,
  );
}
