import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import type { JWKS } from 'oidc-provider';
import { createFileAtomically } from '../../platform/files/atomic-file.ts';
import { formatAddress, listen, parseAddress } from '../../platform/http/listen.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { onShutdown } from '../../platform/process/shutdown.ts';
import { createDemoProvider } from './provider.ts';
import { newDemoUsers } from './login.ts';

// node bin/run.js examples/demo-identity-provider/main.ts [OPTIONS]
// `--users` holds the users, `--keys` the signing keys: both are made when missing. `--client-secret-file` is read for every call, so
// that the secret can be rotated.

const { values } = parseArgs({
  options: {
    address: { type: 'string', default: '127.0.0.1:9080' },
    realm: { type: 'string', default: 'demo' },
    'client-id': { type: 'string', default: 'coffer' },
    'client-secret-file': { type: 'string' },
    users: { type: 'string' },
    keys: { type: 'string' },
  },
});

interface DemoKeys {
  readonly jwks: JWKS;
  readonly cookieKey: string;
}

async function readOrMake<T>(path: string | undefined, make: () => T): Promise<T> {
  if (path === undefined) return make();
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const made = make();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await createFileAtomically(path, `${JSON.stringify(made)}\n`);
  return made;
}

function newKeys(): DemoKeys {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = {
    ...privateKey.export({ format: 'jwk' }),
    alg: 'RS256',
    use: 'sig',
    kid: randomBytes(8).toString('hex'),
  };
  return { jwks: { keys: [key] }, cookieKey: randomBytes(32).toString('hex') };
}

const address = parseAddress(values.address);
const users = await readOrMake(values.users, newDemoUsers);
const secretFile = values['client-secret-file'];
const randomSecret = randomBytes(24).toString('hex');
const clientSecret = () => (secretFile === undefined ? randomSecret : readFileSync(secretFile, 'utf8').trim());
const keys = await readOrMake(values.keys, newKeys);
const log = createLogger({ name: 'demo-identity-provider' });
const origin = `http://${formatAddress({ host: '127.0.0.1', ...address })}`;
const server = createDemoProvider({
  origin,
  realm: values.realm,
  clientId: values['client-id'],
  clientSecret,
  users,
  ...keys,
});
try {
  await listen(server, address, { setting: '--address' });
} catch (error) {
  process.stderr.write(`demo-identity-provider: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
log.warn('DEMONSTRATION identity provider: two made-up users, not for real use');
log.info({ issuer: `${origin}/realms/${values.realm}` }, 'listening');
onShutdown({ log }, async () => {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});
