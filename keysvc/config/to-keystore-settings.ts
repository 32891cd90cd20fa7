import { ProgramError } from '../../platform/errors/program-error.ts';
import type { z } from 'zod';
import { isLoopback, type AzureLogin, type KeyStoreSettings, type VaultLogin } from '../keystores/keystore-settings.ts';
import { describeIssues } from './config-error.ts';
import { innerSections, keyStoreSchemas, unsupportedKeyStores, type KeyStoreFile } from './keystore-schema.ts';

/**
 * Converts the settings of the one key store below `keystore`.
 *
 * @throws ProgramError
 */
export function toKeyStoreSettings(keystore: Readonly<Record<string, unknown>>): KeyStoreSettings {
  const written = Object.keys(keystore);
  const valued = written.filter((kind) => hasValue(kind, keystore[kind]));
  // The names of other stores may be left without a value. One alone gets the error of what it lacks.
  const [kind, ...others] = valued.length === 0 ? written : valued;
  if (kind === undefined)
    throw new ProgramError(
      'configuration',
      'keystore is missing: for example keystore.fs.path, the folder of the keys',
    );
  if (others.length > 0)
    throw new ProgramError(
      'configuration',
      `keystore names ${[kind, ...others].join(' and ')}: keys are kept in one place, so write one`,
    );
  if (!isKnown(kind)) {
    const known = Object.keys(keyStoreSchemas).join(', ');
    throw new ProgramError(
      'configuration',
      unsupportedKeyStores.includes(kind)
        ? `keystore.${kind} is not supported; what is: ${known}`
        : `keystore.${kind} is unknown; known are ${known}`,
    );
  }
  return settingsOf[kind](keystore[kind]);
}

/** Reports whether a store is set. Other programs of the protocol take one without its section for one that is not. */
function hasValue(kind: string, value: unknown): boolean {
  if (value === null || value === '') return false;
  const section = Object.hasOwn(innerSections, kind) ? innerSections[kind] : undefined;
  if (section === undefined || typeof value !== 'object') return true;
  const others = Object.keys(value ?? {}).filter((name) => name !== section);
  const inner = (value as Readonly<Record<string, unknown>>)[section];
  return others.length > 0 || (inner !== undefined && inner !== null && inner !== '');
}

type Kind = keyof typeof keyStoreSchemas;

function isKnown(kind: string): kind is Kind {
  return Object.hasOwn(keyStoreSchemas, kind);
}

const settingsOf: Readonly<Record<Kind, (written: unknown) => KeyStoreSettings>> = {
  fs: (written) => ({ kind: 'files', path: read('fs', keyStoreSchemas.fs, written).path }),
  azure: (written) => azure(read('azure', keyStoreSchemas.azure, written)),
  vault: (written) => vault(read('vault', keyStoreSchemas.vault, written)),
  aws: (written) => aws(read('aws', keyStoreSchemas.aws, written)),
  gcp: (written) => gcp(read('gcp', keyStoreSchemas.gcp, written)),
  kes: (written) => kes(read('kes', keyStoreSchemas.kes, written)),
};

function read<T>(kind: Kind, schema: z.ZodType<T>, written: unknown): T {
  const parsed = schema.safeParse(written === '' ? {} : (written ?? {}));
  if (parsed.success) return parsed.data;
  throw new ProgramError('configuration', describeIssues(parsed.error, written, `keystore.${kind}`));
}

function azure({ keyvault }: KeyStoreFile['azure']): KeyStoreSettings {
  const where = 'keystore.azure.keyvault';
  const { credentials, managed_identity: managed, workload_identity: workload } = keyvault;
  const logins: AzureLogin[] = [];
  if (credentials !== undefined) {
    const { tenant_id: tenantId, client_id: clientId, client_secret: clientSecret } = credentials;
    logins.push({ kind: 'client-secret', tenantId, clientId, clientSecret });
  }
  // The sample configurations have it beside the credentials, with an empty text. Alone it is the identity of the machine.
  if (managed !== undefined && (managed.client_id !== undefined || logins.length === 0))
    logins.push({ kind: 'managed-identity', clientId: managed.client_id });
  if (workload !== undefined) {
    logins.push({
      kind: 'workload-identity',
      tenantId: workload.tenant_id,
      clientId: workload.client_id,
      tokenFile: workload.token_file,
    });
  }
  const login = onlyOne(logins, where, ['credentials', 'managed_identity', 'workload_identity']);
  const { endpoint, authority, audience, tls } = keyvault;
  return {
    kind: 'azure',
    endpoint: address(endpoint, `${where}.endpoint`, 'https'),
    authority: authority && address(authority, `${where}.authority`, 'https'),
    audience: audience && address(audience, `${where}.audience`, 'https'),
    caFile: tls?.ca,
    login,
  };
}

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

function vault(written: KeyStoreFile['vault']): KeyStoreSettings {
  const { approle, kubernetes, tls, transit } = written;
  const logins: VaultLogin[] = [];
  if (approle !== undefined) {
    const { engine = 'approle', namespace, id: roleId, secret: secretId } = approle;
    logins.push({ kind: 'approle', engine: trimSlashes(engine), namespace, roleId, secretId });
  }
  if (kubernetes !== undefined) {
    const { engine = 'kubernetes', namespace, role, jwt = serviceAccountToken } = kubernetes;
    if (role !== undefined) logins.push({ kind: 'kubernetes', engine: trimSlashes(engine), namespace, role, jwt });
    // Some samples have the path of the token beside the login by AppRole.
    else if (approle === undefined)
      throw new ProgramError('configuration', 'keystore.vault.kubernetes.role: is missing');
  }
  if ((tls?.cert === undefined) !== (tls?.key === undefined))
    throw new ProgramError('configuration', 'keystore.vault.tls: cert and key belong together, and one is missing');
  return {
    kind: 'vault',
    endpoint: address(written.endpoint, 'keystore.vault.endpoint', 'http'),
    engine: trimSlashes(written.engine ?? 'kv'),
    version: written.version ?? 'v1',
    namespace: written.namespace,
    prefix: trimSlashes(written.prefix ?? ''),
    login: onlyOne(logins, 'keystore.vault', ['approle', 'kubernetes']),
    ...(transit !== undefined && { transit: { engine: trimSlashes(transit.engine ?? 'transit'), key: transit.key } }),
    tls: { caFile: tls?.ca, certFile: tls?.cert, keyFile: tls?.key },
  };
}

function aws({ secretsmanager: written }: KeyStoreFile['aws']): KeyStoreSettings {
  const where = 'keystore.aws.secretsmanager';
  const { accesskey: accessKey, secretkey: secretKey, token } = written.credentials ?? {};
  if ((accessKey === undefined) !== (secretKey === undefined))
    throw new ProgramError(
      'configuration',
      `${where}.credentials: accesskey and secretkey belong together, and one is missing`,
    );
  if (!/^[a-z0-9-]{1,63}$/.test(written.region))
    throw new ProgramError(
      'configuration',
      `${where}.region: "${written.region}" is no region; write for example eu-west-1`,
    );
  return {
    kind: 'aws',
    endpoint: written.endpoint && address(written.endpoint, `${where}.endpoint`, 'https'),
    region: written.region,
    kmsKey: written.kmskey,
    ...(accessKey === undefined || secretKey === undefined
      ? {}
      : { credentials: { accessKey, secretKey, sessionToken: token } }),
  };
}

const cloudPlatform = 'https://www.googleapis.com/auth/cloud-platform';

function gcp({ secretmanager: written }: KeyStoreFile['gcp']): KeyStoreSettings {
  const where = 'keystore.gcp.secretmanager';
  const {
    client_email: clientEmail,
    private_key_id: privateKeyId = '',
    private_key: privateKey,
  } = written.credentials ?? {};
  if ((clientEmail === undefined) !== (privateKey === undefined))
    throw new ProgramError(
      'configuration',
      `${where}.credentials: client_email and private_key belong together, and one is missing`,
    );
  return {
    kind: 'gcp',
    endpoint: address(written.endpoint ?? 'secretmanager.googleapis.com', `${where}.endpoint`, 'https'),
    projectId: written.project_id,
    scopes: written.scopes === undefined || written.scopes.length === 0 ? [cloudPlatform] : written.scopes,
    ...(clientEmail === undefined || privateKey === undefined
      ? {}
      : // An environment variable holds it on one line.
        { credentials: { clientEmail, privateKeyId, privateKey: privateKey.replaceAll('\\n', '\n') } }),
  };
}

function kes({ endpoint, enclave, tls }: KeyStoreFile['kes']): KeyStoreSettings {
  return {
    kind: 'kes',
    endpoints: endpoint.map((one) => address(one, 'keystore.kes.endpoint', 'https')),
    enclave,
    certFile: tls.cert,
    keyFile: tls.key,
    caFile: tls.ca,
  };
}

function onlyOne<T>(logins: readonly T[], where: string, names: readonly string[]): T {
  const [login, other] = logins;
  if (login !== undefined && other === undefined) return login;
  const issue = login === undefined ? 'says not how to log in' : 'says in two ways how to log in';
  throw new ProgramError('configuration', `${where} ${issue}: write exactly one of ${names.join(', ')}`);
}

/** Checks an address and removes slashes at the end. A store that demands TLS accepts plain HTTP only on this machine, for tests. */
function address(written: string, where: string, least: 'http' | 'https'): string {
  const url = written.includes('://') ? written : `https://${written}`;
  const scheme = URL.canParse(url) ? new URL(url).protocol : '';
  const isFit = scheme === 'https:' || (scheme === 'http:' && (least === 'http' || isLoopback(url)));
  if (!isFit)
    throw new ProgramError(
      'configuration',
      // The text before an "@" may hold a password.
      `${where}: "${written.replace(/^.*@/s, '…@')}" is no address that begins with https://`,
    );
  const { username, password, search, hash } = new URL(url);
  // The message omits the value, since it may hold a password.
  if (username !== '' || password !== '' || search !== '' || hash !== '')
    throw new ProgramError(
      'configuration',
      `${where} must be https://HOST and nothing more: no user, no password, no query`,
    );
  return url.replace(/\/+$/, '');
}

function trimSlashes(path: string): string {
  return path.replace(/^\/+|\/+$/g, '');
}
