import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { issueBy, startTestKeyService, type TestKeyService } from '../../../test/support/keysvc/test-key-service.ts';
import { openKeyServiceClient, type KeyServiceClient } from '../../../platform/key-service/client.ts';
import { createLogger } from '../../../platform/output/logger.ts';
import { identityOfCertificate } from '../../../protocol/key-service/identity.ts';
import { proofKeyPaths, tenantKeyPaths } from '../../render/key-service-configuration.ts';
import { compareKeys } from './prove-keys.ts';

// Real key services, whose policies are those that the operator renders: for the tenant at the first, for the operator at the second.

interface Side {
  readonly keys: TestKeyService;
  readonly root: KeyServiceClient;
  readonly client: KeyServiceClient;
}

let from: Side;
let to: Side;
const sides: Side[] = [];
const log = createLogger({ name: 'test', level: 'silent' });

async function start(paths: readonly string[]): Promise<Side> {
  let root = { certPem: '', keyPem: '' };
  let asker = root;
  const keys = await startTestKeyService(async (ca) => {
    root = await issueBy(ca, 'root');
    asker = await issueBy(ca, 'asker');
    return `
root: ${identityOfCertificate(root.certPem)}
policy:
  asker: { allow: ${JSON.stringify(paths)}, identities: [${identityOfCertificate(asker.certPem)}] }`;
  });
  const open = ({ certPem, keyPem }: typeof root) =>
    openKeyServiceClient({
      endpoints: [`https://${keys.service.address}`],
      credentials: { kind: 'pem', cert: certPem, key: keyPem, ca: keys.ca.certPem },
      log,
    });
  const side = { keys, root: await open(root), client: (await open(asker)).once() };
  sides.push(side);
  return side;
}

beforeAll(async () => {
  from = await start(tenantKeyPaths('demo-'));
  to = await start(proofKeyPaths('demo-'));
});
afterAll(async () => {
  for (const { keys, root, client } of sides) {
    root.close();
    client.close();
    await keys.stop();
  }
});

const bytes = (value: number) => Buffer.alloc(32, value);
const compared = () => compareKeys({ name: 'old', client: from.client }, { name: 'new', client: to.client }, 'demo-');

beforeEach(async () => {
  for (const { root } of [from, to]) for (const name of await root.listKeys()) await root.deleteKey(name);
});

/** A key of both with the ID of both, as a keystore that was copied has it. */
async function copied(name: string): Promise<void> {
  await from.root.createKey(name);
  await copyRecords(name);
}
async function copyRecords(prefix: string): Promise<void> {
  for await (const name of from.keys.store.list()) {
    if (!name.startsWith(prefix)) continue;
    const record = await from.keys.store.get(name);
    await to.keys.store.create(name, record);
  }
}

describe('the keys of a tenant at another key service', () => {
  it('are proven where it opens what each of them sealed', async () => {
    await copied('demo-first');
    await copied('demo-second');
    expect(await compared()).toBeUndefined();
  });

  it('are not where it lacks one, which is named', async () => {
    await copied('demo-first');
    await from.root.createKey('demo-second');
    expect(await compared()).toBe('it lacks demo-second');
  });

  it('are not where it has another key of that name', async () => {
    await from.root.importKey('demo-first', bytes(1));
    await to.root.importKey('demo-first', bytes(2));
    expect(await compared()).toBe('it holds other keys of the names demo-first');
  });

  it('are not where it lacks an earlier version of one', async () => {
    await copied('demo-first');
    await from.root.rotateKey('demo-first');
    expect(await compared()).toBe('it holds other keys of the names demo-first');
  });

  it('are those that the tenant can use: others are not asked for', async () => {
    await copied('demo-first');
    await from.root.createKey('other-first');
    expect(await compared()).toBeUndefined();
  });

  it('are not while one does not answer, or does not admit the operator', async () => {
    await copied('demo-first');
    const away = await openKeyServiceClient({
      endpoints: ['https://127.0.0.1:1'],
      credentials: { kind: 'pem', cert: '', key: '', ca: '' },
      log,
    });
    const target = { name: 'new', client: to.client };
    expect(await compareKeys({ name: 'old', client: away.once() }, target, 'demo-')).toMatch(
      /^KMSConfig old cannot be asked for its keys: .*127\.0\.0\.1:1/,
    );
    expect(await compareKeys({ name: 'old', client: from.root }, target, '')).toBeUndefined();
    await from.root.createKey('other-first');
    expect(await compareKeys({ name: 'old', client: from.root }, target, '')).toMatch(
      /^KMSConfig new cannot be asked for its keys: .*not authorized/,
    );
  });
});
