import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConnectKeyService } from '../../operator/reconcile/key-service/prove-keys.ts';
import { KeyServiceError, type KeyServiceClient } from '../../platform/key-service/client.ts';
import { keyService, tenant } from '../support/operator/manifests.ts';
import { condition } from '../support/operator/read-cluster.ts';
import { Stage } from '../support/operator/stage.ts';

// A tenant that is to use another key service: what the operator makes for its question, and what it asks. Key services do not run here.

const demo = { kind: 'Tenant', name: 'demo' } as const;
const at = (name: string) => tenant('demo', { kmsConfigRef: { name } });

let stage: Stage;
/** Names of keys that the other key service has. */
let moved: readonly string[];
const calls: string[] = [];

const connect: ConnectKeyService = ({ endpoints, credentials }) => {
  const service = endpoints.join();
  const subject = credentials.kind === 'pem' && credentials.key.includes('PRIVATE KEY') ? 'with a certificate' : '';
  const client: Partial<KeyServiceClient> = {
    once: () => client as KeyServiceClient,
    close: () => undefined,
    listKeys: () => Promise.resolve(['main', 'second']),
    describeKey: (name) => Promise.resolve({ name }),
    generateKey: (name) => {
      calls.push(`${service} seals by ${name} ${subject}`);
      return Promise.resolve({ plaintext: Buffer.from(name), ciphertext: Buffer.from(name) });
    },
    decryptKey: (name, ciphertext) => {
      calls.push(`${service} opens by ${name} ${subject}`);
      return moved.includes(name)
        ? Promise.resolve(ciphertext)
        : Promise.reject(new KeyServiceError('key-not-found', 'key does not exist', { status: 404 }));
    },
  };
  return Promise.resolve(client as KeyServiceClient);
};

beforeEach(async () => {
  moved = ['main'];
  calls.length = 0;
  stage = await Stage.set([], {}, { connectKeyService: connect });
});
afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

const proof = () => stage.double.get('secrets', 'default', 'other-key-proof-certificate');

describe('a tenant that is to use another key service', () => {
  it('stays until that holds its keys, which the condition names, and moves then', async () => {
    await stage.settle(at('keys'), keyService('keys'), keyService('other'));
    stage.put(at('other'));
    await stage.until(
      () => condition(stage.double, demo, 'Stalled')?.message.includes('it lacks second') === true,
      'the missing key is named',
    );
    expect(condition(stage.double, demo, 'Stalled')?.reason).toBe('KeysNotProven');
    expect(calls.slice(0, 2)).toEqual([
      'https://keys-key-service.default.svc:7373 seals by main with a certificate',
      'https://other-key-service.default.svc:7373 opens by main with a certificate',
    ]);
    expect(proof()?.metadata.ownerReferences).toMatchObject([{ kind: 'KMSConfig', name: 'other' }]);
    moved = ['main', 'second'];
    stage.put({ ...at('other'), metadata: { ...at('other').metadata, annotations: { again: 'now' } } });
    await stage.current(demo);
    await stage.until(() => proof() === undefined, 'the certificate of the proof is gone');
  });
});

const madeForKeys = () =>
  [
    ['statefulsets.apps', 'keys-key-service'],
    ['services', 'keys-key-service'],
    ['secrets', 'keys-authority'],
    ['secrets', 'keys-key-service-certificate'],
    ['secrets', 'keys-key-service-reloading-files'],
  ].map(([resource = '', name = '']) => stage.double.get(resource, 'default', name)?.metadata.uid);
const keys = { kind: 'KMSConfig', name: 'keys' } as const;
const deleteInForeground = () =>
  stage.double.delete('kmsconfigs.coffer.dev', 'default', 'keys', { propagationPolicy: 'Foreground' });

const goes = async () => {
  const is = () => stage.double.get('kmsconfigs.coffer.dev', 'default', 'keys');
  await stage.until(
    () => is() === undefined && madeForKeys().every((uid) => uid === undefined),
    'it is gone with all of it',
  );
};

describe('a KMSConfig that is deleted in the foreground, as Argo CD prunes', () => {
  it('keeps all that is made for it while a tenant uses it, and goes with all of it then', async () => {
    await stage.settle(keyService('keys'), at('keys'));
    await stage.until(
      () =>
        stage.double.get('statefulsets.apps', 'default', 'keys-key-service')?.metadata.ownerReferences?.length === 2,
      'the tenant owns the key service too',
    );
    const before = madeForKeys();
    expect(before).not.toContain(undefined);
    deleteInForeground();
    await stage.says(keys, 'Stalled', 'InUse');
    expect(madeForKeys()).toEqual(before);
    stage.double.delete('tenants.coffer.dev', 'default', 'demo');
    await goes();
  });

  it('goes with all that is made for it when its tenant has moved to another', async () => {
    moved = ['main', 'second'];
    await stage.settle(keyService('keys'), keyService('other'), at('keys'));
    deleteInForeground();
    await stage.says(keys, 'Stalled', 'InUse');
    await stage.settle(at('other'));
    await goes();
  });
});
