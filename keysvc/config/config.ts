import type { KeyCanaries } from '../../protocol/key-service/canary.ts';
import { maxTimer, maxTimerMs } from '../../platform/settings/parse-value.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { isIdentity, type Identity } from '../../protocol/key-service/identity.ts';
import { matchesNoCall, type KeyServicePolicy } from '../../protocol/key-service/policy.ts';
import { keyServiceLimits, routes } from '../../protocol/key-service/routes.ts';
import { parseAddress, type ListenAddress } from '../../platform/http/listen.ts';
import type { TlsFiles } from '../../platform/tls/tls-files.ts';
import { parseDuration } from './duration.ts';
import type { CacheExpiry } from '../keys/keyring.ts';
import type { KeyStoreSettings } from '../keystores/keystore-settings.ts';
import type { ConfigFile } from './schema.ts';
import { toKeyStoreSettings } from './to-keystore-settings.ts';

/** Trusted TLS proxies, which forward the certificate of the client. */
export interface TlsProxies {
  readonly identities: ReadonlySet<Identity>;
  /** The header with the client's certificate, in lower case. */
  readonly certHeader: string;
}

/** The configuration of the key service. */
export interface Config {
  readonly address: ListenAddress;
  /** The superuser; undefined when it is disabled. */
  readonly admin: Identity | undefined;
  readonly tls: TlsFiles;
  /** True if a trusted authority must have issued a client certificate. */
  readonly verifyClients: boolean;
  /** Trusted TLS proxies. */
  readonly proxies: TlsProxies;
  readonly policies: readonly NamedPolicy[];
  readonly keys: readonly string[];
  /** The canaries of keys that have sealed data, of the file that `KEYSVC_CANARIES` names. */
  readonly canaries: readonly KeyCanaries[];
  readonly keyStore: KeyStoreSettings;
  readonly cache: CacheExpiry;
  /** Paths that need no certificate. */
  readonly skipAuth: ReadonlySet<string>;
  /** Timeouts by path in milliseconds, where they differ from the default. */
  readonly timeouts: ReadonlyMap<string, number>;
  readonly logErrors: boolean;
  readonly logAudit: boolean;
  /** Milliseconds between the end of readiness and the end of accepting connections. */
  readonly shutdownDelayMs: number;
  /** Settings of the file that can have no effect, as sentences for the log. */
  readonly warnings: readonly string[];
}

export interface NamedPolicy extends KeyServicePolicy {
  readonly name: string;
  readonly identities: readonly Identity[];
}

/** Options of the command line that replace settings of the file. */
export interface ConfigOverrides {
  readonly addr?: string;
  readonly key?: string;
  readonly cert?: string;
  readonly auth?: 'on' | 'off';
  /** For example `5s`. */
  readonly shutdownDelay?: string;
}

/**
 * Converts the settings of the file.
 *
 * @throws ProgramError
 */
export function toConfig(file: ConfigFile, overrides: ConfigOverrides = {}): Config {
  const admin = adminOf(file);
  const policies = policiesOf(file, admin);
  const expiry = file.cache?.expiry;
  return {
    address: addressOf(overrides.addr ?? file.address ?? `0.0.0.0:${keyServiceLimits.defaultPort}`),
    admin,
    tls: tlsOf(file, overrides),
    verifyClients: (overrides.auth ?? file.tls?.auth ?? 'on') === 'on',
    proxies: proxiesOf(file, admin, policies),
    policies,
    keys: keysOf(file),
    canaries: [],
    keyStore: toKeyStoreSettings(file.keystore ?? {}),
    cache: { any: expiry?.any ?? 300_000, unused: expiry?.unused ?? 30_000, offline: expiry?.offline ?? 0 },
    skipAuth: new Set(
      Object.entries(file.api ?? {})
        .filter(([, settings]) => settings?.skip_auth === true)
        .map(([path]) => withoutSlash(path)),
    ),
    timeouts: new Map(
      Object.entries(file.api ?? {}).flatMap(([path, settings]) => {
        const timeout = settings?.timeout ?? 0;
        return timeout === 0 ? [] : [[withoutSlash(path), timeout] as const];
      }),
    ),
    logErrors: file.log?.error !== 'off',
    logAudit: file.log?.audit === 'on',
    shutdownDelayMs: shutdownDelayOf(file, overrides),
    warnings: [...warningsOf(file), ...warningsOfTrust(file, overrides)],
  };
}

/**
 * Describes settings that can have no effect: a caller never has such an identity, no call has such a path, or a key has no name. Other programs of the protocol
 * start with them, and a configuration of theirs goes on working.
 */
function warningsOf({ admin, policy, tls, api, keys }: ConfigFile): string[] {
  const superuser = admin?.identity === undefined || !isLikeHash(admin.identity) ? [] : [admin.identity];
  return [
    ...warningsOfIdentities('admin.identity', superuser),
    ...warningsOfIdentities('tls.proxy.identities', tls?.proxy?.identities ?? []),
    ...Object.entries(policy ?? {}).flatMap(([name, of]) => [
      ...warningsOfIdentities(`policy.${name}.identities`, of?.identities ?? []),
      ...[...(of?.allow ?? []), ...(of?.deny ?? [])]
        .filter(matchesNoCall)
        .map((pattern) => `policy.${name}: "${pattern}" matches no call that a policy decides`),
    ]),
    ...Object.keys(api ?? {})
      .filter((path) => !routes.some((route) => route.path === withoutSlash(path)))
      .map((path) => `api.${path} is no path of a call of this key service`),
    ...(keys ?? []).flatMap((key, index) =>
      key?.name === undefined ? [`keys.${index}.name is not set, so that no key is made for it`] : [],
    ),
  ];
}

/** KES since 2024 takes any certificate where its configuration does not say otherwise, as its sample file does. */
function warningsOfTrust({ tls }: ConfigFile, { auth }: ConfigOverrides): string[] {
  if ((auth ?? tls?.auth ?? tls?.ca) !== undefined) return [];
  return [
    'tls.auth is not set, and tls.ca neither: clients are refused unless a public authority issued their certificate. KES since 2024 takes ' +
      'any certificate then: write `auth: off` for that, or name the authorities of clients by tls.ca',
  ];
}

function warningsOfIdentities(where: string, identities: readonly string[]): string[] {
  return identities
    .filter((identity) => !isIdentity(identity))
    .map((identity) => `${where}: "${identity}" is no identity, and no caller has it: ${identityForm}`);
}

const identityForm = 'it has 64 lower-case hexadecimal digits, as "keysvc identity of CERTIFICATE" prints them';

/** Any other word disables the superuser. */
function isLikeHash(word: string): boolean {
  return /^[0-9a-fA-F]{32,}$/.test(word);
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}

function shutdownDelayOf(file: ConfigFile, { shutdownDelay }: ConfigOverrides): number {
  if (shutdownDelay === undefined) return file.shutdown?.delay ?? 0;
  const delay = parseDuration(shutdownDelay);
  if (delay === undefined || delay > maxTimerMs)
    throw new ProgramError(
      'configuration',
      `--shutdown-delay: "${shutdownDelay}" is no duration of at most ${maxTimer}; write for example 5s`,
    );
  return delay;
}

function adminOf(file: ConfigFile): Identity | undefined {
  const { root } = file;
  const identity = file.admin?.identity;
  if (root !== undefined && identity !== undefined && root !== identity) {
    throw new ProgramError(
      'configuration',
      `root is "${root}" and admin.identity is "${identity}": they mean the same, so write only one`,
    );
  }
  const word = root ?? identity;
  if (word === undefined)
    throw new ProgramError(
      'configuration',
      'root is missing: write "root: disabled", or the identity of the superuser',
    );
  if (isIdentity(word)) return word;
  // A truncated hash, or one in capitals, is a mistake. In `admin.identity` of another program it is a warning.
  if (root !== undefined && isLikeHash(root)) {
    throw new ProgramError(
      'configuration',
      `root: "${root}" is neither "disabled" nor an identity of 64 lower-case hexadecimal digits`,
    );
  }
  return undefined;
}

function policiesOf(file: ConfigFile, admin: Identity | undefined): NamedPolicy[] {
  const owner = new Map<string, string>();
  return Object.entries(file.policy ?? {}).map(([name, policy]) => {
    const identities = (policy?.identities ?? []).filter(isIdentity);
    for (const identity of identities) {
      const other = owner.get(identity);
      if (other !== undefined) {
        throw new ProgramError(
          'configuration',
          other === name
            ? `policy.${name}.identities lists ${identity} twice`
            : `the identity ${identity} is in two policies, "${other}" and "${name}": an identity has one policy`,
        );
      }
      if (identity === admin) {
        throw new ProgramError(
          'configuration',
          `policy.${name}.identities lists the superuser ${identity}, who needs no policy`,
        );
      }
      owner.set(identity, name);
    }
    return { name, allow: policy?.allow ?? [], deny: policy?.deny ?? [], identities };
  });
}

/** A proxy calls on behalf of others, so it must not have permissions of its own. */
function proxiesOf(file: ConfigFile, admin: Identity | undefined, policies: readonly NamedPolicy[]): TlsProxies {
  const proxy = file.tls?.proxy;
  const identities = (proxy?.identities ?? []).filter(isIdentity);
  for (const identity of identities) {
    if (identity === admin)
      throw new ProgramError('configuration', `tls.proxy.identities lists the superuser ${identity}`);
    const policy = policies.find((policy) => policy.identities.includes(identity));
    if (policy !== undefined) {
      throw new ProgramError(
        'configuration',
        `tls.proxy.identities lists ${identity}, which is in the policy "${policy.name}" too`,
      );
    }
  }
  const header = proxy?.header?.cert ?? 'X-Tls-Client-Cert';
  if (!/^[A-Za-z0-9-]+$/.test(header))
    throw new ProgramError('configuration', `tls.proxy.header.cert: "${header}" is no header name`);
  return { identities: new Set(identities), certHeader: header.toLowerCase() };
}

function addressOf(text: string): ListenAddress {
  try {
    return parseAddress(text);
  } catch (error) {
    throw new ProgramError('configuration', `address: ${(error as Error).message}`, { cause: error });
  }
}

function tlsOf(file: ConfigFile, overrides: ConfigOverrides): TlsFiles {
  const keyFile = overrides.key ?? file.tls?.key;
  const certFile = overrides.cert ?? file.tls?.cert;
  if (keyFile === undefined || keyFile === '')
    throw new ProgramError('configuration', 'tls.key is missing: the path of the private key');
  if (certFile === undefined || certFile === '')
    throw new ProgramError('configuration', 'tls.cert is missing: the path of the certificate');
  const password = file.tls?.password;
  const caFile = file.tls?.ca;
  return {
    keyFile,
    certFile,
    caFile: caFile || undefined,
    password: password || undefined,
  };
}

function keysOf(file: ConfigFile): string[] {
  const names = (file.keys ?? []).flatMap((key) => key?.name ?? []);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new ProgramError('configuration', `keys lists "${twice}" twice`);
  return names;
}
