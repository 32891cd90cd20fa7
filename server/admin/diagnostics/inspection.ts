import { randomBytes } from 'node:crypto';
import { encryptFile } from '../../../protocol/admin/admin-payload.ts';
import { profileKinds, type ProfileKind, diagnosticsOf } from '../../administration/diagnostics.ts';
import { readZip, writeZip, type ZipEntry } from '../../administration/zip.ts';
import { type AdminAnswer, type AdminCall, adminPath, json, nowOf, type Route } from '../call.ts';
import { askedServers, type CallableServer } from '../../administration/other-servers.ts';
import { namesOf } from '../streams/merged-lines.ts';
import { goDuration } from '../streams/trace.ts';
import { adminError } from '../../administration/admin-error.ts';
import type { RequestError } from '../../../protocol/request-error.ts';

/** `mc support top locks`, `profile` and `inspect`. */
export const inspectionRoutes: readonly Route[] = [
  { method: 'GET', path: adminPath('top/locks'), action: 'admin:TopLocksInfo', serve: locks },
  { method: 'POST', path: adminPath('profile'), action: 'admin:Profiling', serve: profile },
  { method: 'GET|POST', path: adminPath('inspect-data'), action: 'admin:InspectData', serve: inspect },
];

async function locks({ services, query }: AdminCall): Promise<AdminAnswer> {
  const count = Math.min(1_000, Number(query.get('count') ?? '10') || 10);
  const stale = query.get('stale') === 'true';
  const now = nowOf(services).getTime();
  const held = (await diagnosticsOf(services).locks()).filter((lock) => stale || !lock.stale);
  return json(
    held.slice(0, count).map(({ resource, type, source, owner, id, since }) => ({
      time: new Date(since).toISOString(),
      elapsed: Math.max(0, now - since) * 1e6,
      resource,
      type,
      source,
      serverlist: [owner],
      owner,
      id,
      quorum: 1,
    })),
  );
}

const maxProfileMs = 10 * 60_000;

/** The answer is a zip. It leaves when the time of the profile is over. */
async function profile({ services, query }: AdminCall): Promise<AdminAnswer> {
  const asked = (query.get('profilerType') || 'cpu,mem').split(',').map((kind) => kind.trim().toLowerCase());
  const unknown = asked.find((kind) => !(profileKinds as readonly string[]).includes(kind));
  if (unknown !== undefined) {
    const known = profileKinds.join(', ');
    throw invalid(`There is no profile of the type ${JSON.stringify(unknown.slice(0, 40))}: ${known}.`);
  }
  const durationMs = goDuration(query.get('duration') || '10s');
  if (durationMs === undefined || durationMs < 1 || durationMs > maxProfileMs)
    throw invalid('The parameter duration is a duration of at most 10m, such as 10s.');
  const servers = askedServers(services, namesOf(query, 'node'));
  const others = servers.others();
  const diagnostics = diagnosticsOf(services);
  const own = servers.self ? diagnostics.profile(asked as ProfileKind[], durationMs) : Promise.resolve([]);
  const isAlone = servers.self && others.length === 0;
  const [files, ...more] = await Promise.all([own, ...others.map((other) => profileOf(other, query))]);
  const inFolder = (endpoint: string, entries: readonly ZipEntry[]) =>
    isAlone ? entries : entries.map(({ name, content }) => ({ name: `${folderOf(endpoint)}/${name}`, content }));
  const entries = [
    ...inFolder(services.server.endpoint, files),
    ...others.flatMap(({ endpoint }, at) => inFolder(endpoint, more[at] ?? [])),
  ];
  return { kind: 'bytes', bytes: await writeZip(entries, nowOf(services)), contentType: 'application/zip' };
}

const profileLimits = { entries: 1_000, size: 512 * 1024 ** 2 };

/** Returns the files of another server, or the reason why there are none as a file. */
async function profileOf(other: CallableServer, query: URLSearchParams): Promise<readonly ZipEntry[]> {
  try {
    const asked = { ...Object.fromEntries(query), node: other.endpoint };
    const over = AbortSignal.timeout(maxProfileMs + 60_000);
    const answer = await other.call({ method: 'POST', call: 'profile', query: asked }, over);
    return await readZip(Buffer.concat(await Array.fromAsync(answer)), profileLimits);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ name: 'MISSING.txt', content: Buffer.from(`There is no profile of this server: ${reason}\n`) }];
  }
}

/** A colon is not allowed in a name of a file on Windows. */
function folderOf(endpoint: string): string {
  return endpoint.replaceAll(/[^\w.-]/g, '_');
}

const maxFormBytes = 16 * 1024;
/** The first byte of an answer whose next 32 bytes are the key of what follows. */
const withKey = 1;

/**
 * Answers a zip, encrypted under a random key that goes with it: clients keep the two apart. A client may send a public key, to which MinIO
 * encrypts for its own support. Coffer does not use it, since the caller could not read the file then.
 */
async function inspect(call: AdminCall): Promise<AdminAnswer> {
  const { services, request, query } = call;
  const form = request.method === 'POST' ? new URLSearchParams((await call.body(maxFormBytes)).toString()) : query;
  const [bucket, pattern] = [form.get('volume') ?? '', form.get('file') ?? ''];
  if (bucket === '' || pattern === '') throw invalid('Name the bucket (volume) and the objects (file).');
  const files = await diagnosticsOf(services).inspect(bucket, pattern);
  const key = randomBytes(32);
  const sealed = encryptFile(key, await writeZip(files, nowOf(services)));
  return {
    kind: 'bytes',
    bytes: Buffer.concat([Buffer.of(withKey), key, sealed]),
    contentType: 'application/octet-stream',
  };
}

function invalid(message: string): RequestError {
  return adminError('XMinioAdminInvalidArgument', message);
}
