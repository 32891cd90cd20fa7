import { ProgramError } from '../../platform/errors/program-error.ts';
import { parseAddress } from '../../platform/http/listen.ts';
import { loadSettings } from '../../platform/settings/load-settings.ts';
import { storePlaces } from '../../platform/store-address/store-address.ts';
import { checkAuthorities, checkTlsPair } from '../../platform/tls/tls-files.ts';
import { ResourceError } from '../api/resource-error.ts';
import type { Secret } from '../contract/secret.ts';
import type { MountedFile, Text, Workload } from '../contract/workload.ts';
import { secretValue } from './render-context.ts';

/** A file as the server finds it. The operator makes certificates itself, and knows nothing of their keys here. */
interface KnownFile {
  readonly path: string;
  /** Undefined for a certificate of the operator. */
  readonly text: string | undefined;
  /** `rootPassword of the Secret root`; undefined for text. */
  readonly source: string | undefined;
}

/**
 * Reads the environment and the files of a server as its start does, with the code of the server. A server that is running goes on; one that got
 * what is refused here would end at its start. Errors with a `ResourceError` that lists every problem.
 */
export function checkServerStart(
  { environment, mounts, arguments: args, ports }: Pick<Workload, 'environment' | 'mounts' | 'arguments' | 'ports'>,
  secrets: ReadonlyMap<string, Secret>,
): void {
  const files = new Map<string, MountedFile>(
    mounts.flatMap((mount) =>
      mount.kind === 'files' ? mount.files.map((file) => [`${folderOf(mount.name)}/${file.path}`, file] as const) : [],
    ),
  );
  const find = (path: string): KnownFile | undefined => {
    const file = files.get(path);
    return file === undefined ? undefined : knownFile(path, file, secrets);
  };
  const resolved = (value: Text) =>
    value.parts.map((part) => (typeof part === 'string' ? part : symbol(part, ports))).join('');
  const env = Object.fromEntries(environment.map(({ name, value }) => [name, resolved(value)]));
  try {
    const settings = loadSettings({ env, readFile: (path) => textOf(find(path), path) });
    const [folder] = args.map(resolved).filter((argument) => argument.startsWith('/'));
    storePlaces(settings.stores, folder ?? settings.dataFolder);
    checkWebsiteAddress(settings.websiteAddress, ports);
    checkCertificates(env, find);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new ResourceError('InvalidSettings', withSources(error.message.replaceAll('\n', '; '), env, find));
  }
}

/** The server opens it beside its other ports, which the operator gives it. */
function checkWebsiteAddress(address: string | undefined, ports: Workload['ports']): void {
  if (address === undefined) return;
  const { port } = parseAddress(address, 'SVC_WEBSITE_ADDRESS');
  const taken = ports.find((other) => other.port === port);
  if (taken === undefined) return;
  throw new ProgramError('settings', `SVC_WEBSITE_ADDRESS has the port ${port}, which is that of ${taken.field}`);
}

function knownFile(path: string, { content }: MountedFile, secrets: ReadonlyMap<string, Secret>): KnownFile {
  switch (content.kind) {
    case 'text':
      return { path, text: content.text, source: undefined };
    case 'secret': {
      const { secret: name, key } = content;
      const source = `${key} of the Secret ${name}`;
      // The renderer has checked the reference, and says it with the field that has it.
      const isThere = secrets.get(name)?.data[key] !== undefined && secrets.get(name)?.data[key] !== '';
      return { path, text: isThere ? secretValue(secrets, { name, key }, source, 'own') : '', source };
    }
    case 'certificate':
    case 'yaml':
      return { path, text: undefined, source: undefined };
  }
}

function textOf(file: KnownFile | undefined, path: string): string {
  if (file?.text !== undefined) return file.text;
  throw Object.assign(new Error(`${path} is not there`), { code: 'ENOENT' });
}

/** The pair of the server, and the authorities that it reads. A path of the user's own is a file of the image, which is not known here. */
function checkCertificates(env: Readonly<Record<string, string>>, find: (path: string) => KnownFile | undefined): void {
  const of = (name: string) => find(env[name] ?? '');
  const [cert, key] = [of('SVC_TLS_CERT_FILE'), of('SVC_TLS_KEY_FILE')];
  if (cert?.text !== undefined && key?.text !== undefined) {
    checkTlsPair({
      cert: { name: cert.source ?? cert.path, pem: Buffer.from(cert.text) },
      key: { name: key.source ?? key.path, pem: Buffer.from(key.text) },
    });
  }
  for (const [name, path] of Object.entries(env)) {
    const file = /_CA_FILE(_|$)/.test(name) ? find(path) : undefined;
    if (file?.text !== undefined) checkAuthorities(file.source ?? name, Buffer.from(file.text));
  }
}

/** Names the Secret beside the variable, since a user of the operator does not know the variables. */
function withSources(
  message: string,
  env: Readonly<Record<string, string>>,
  find: (path: string) => KnownFile | undefined,
): string {
  return Object.entries(env).reduce((text, [name, path]) => {
    const source = find(path)?.source;
    return source === undefined ? text : text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), `${source} (${name})`);
  }, message);
}

function folderOf(mount: string): string {
  return `/mounted/${mount}`;
}

function symbol(part: Exclude<Text['parts'][number], string>, ports: Workload['ports']): string {
  switch (part.kind) {
    case 'listen':
      return `0.0.0.0:${ports.find(({ name }) => name === part.port)?.port ?? 0}`;
    case 'address':
      return `${part.workload}:443`;
    case 'mount':
      return part.path === undefined ? folderOf(part.mount) : `${folderOf(part.mount)}/${part.path}`;
    default:
      return part satisfies never;
  }
}
