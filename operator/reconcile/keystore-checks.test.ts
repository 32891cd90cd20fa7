import { beforeEach, describe, expect, it } from 'vitest';
import { kms, Namespace, tenant } from '../../test/support/operator/reconciler-harness.ts';
import type { CofferObject } from '../api/object.ts';
import type { Reconciler } from './reconciler.ts';

const vault = (endpoint: string) => ({
  keystore: {
    vault: {
      endpoint,
      approle: {
        roleIdSecretRef: { name: 'client', key: 'secret' },
        secretIdSecretRef: { name: 'client', key: 'secret' },
      },
    },
  },
});
const demo = () => tenant({ kmsConfigRef: { name: 'keys' } });
const before = () => kms(vault('https://one:8200'));
const after = () => kms(vault('https://two:8200'));

let scope: Namespace;
let operator: Reconciler;
beforeEach(async () => {
  scope = new Namespace();
  operator = await scope.started(demo(), before());
});

const told = () => scope.runtime.told.filter((line) => line.includes('keys-key-service'));
const stalled = () => scope.statuses.get('KMSConfig/keys')?.conditions.find(({ type }) => type === 'Stalled');
const configuration = () => JSON.stringify(scope.runtime.desired.get('keys-key-service')?.mounts);

const canaries = () => {
  const config = scope.runtime.desired.get('keys-key-service')?.mounts.find(({ name }) => name === 'config');
  const file = config?.kind === 'files' ? config.files.find(({ path }) => path === 'canaries.json') : undefined;
  return file?.content.kind === 'text' ? (JSON.parse(file.content.text) as unknown) : undefined;
};
const begin = async (...objects: readonly CofferObject[]) => {
  scope.objects = objects;
  await operator.start();
  await scope.settle(operator);
};

describe('another keystore of a KMSConfig', () => {
  it('touches no instance before its check has passed', async () => {
    const answer = Promise.withResolvers<string | undefined>();
    scope.runtime.verdict = () => answer.promise;
    await scope.change(operator, demo(), after());
    expect(told()).toEqual(['check keys-key-service', 'renew keys-key-service']);
    expect(scope.conditions('KMSConfig/keys')).toContain('Reconciling=True KMSConfigChanged');
    answer.resolve(undefined);
    await scope.settle(operator);
    expect(told()).toContain('update keys-key-service');
    expect(told()).toContain('replace keys-key-service-0');
  });

  it('is refused with what the check says, while everything runs on', async () => {
    scope.runtime.verdict = () =>
      Promise.resolve('data was sealed under the key "first", which the key store does not have');
    await scope.change(operator, demo(), after());
    expect(told().filter((line) => /update|replace/.test(line))).toEqual([]);
    expect(stalled()).toMatchObject({ status: 'True', reason: 'KeystoreNotProven' });
    expect(stalled()?.message).toMatch(/"first".*put spec.keystore back/);
    expect(scope.conditions('KMSConfig/keys')).toContain('RolloutBlocked=True KeystoreNotProven');
  });

  it('does not reach the configuration that an instance reads when it ends by itself', async () => {
    scope.runtime.verdict = () => Promise.resolve('not there');
    await scope.change(operator, demo(), after());
    expect(configuration()).toContain('https://one:8200');
    expect(configuration()).not.toContain('https://two:8200');
  });

  it('is asked about once, and again after half a minute', async () => {
    scope.runtime.verdict = () => Promise.resolve('not there');
    await scope.change(operator, demo(), after());
    await scope.change(operator, demo(), after());
    expect(told().filter((line) => line.startsWith('check'))).toHaveLength(1);
    scope.clock.ms += 31_000;
    scope.runtime.verdict = () => Promise.resolve(undefined);
    await scope.change(operator, demo(), after());
    expect(told()).toContain('update keys-key-service');
  });

  it('is forgotten when the keystore is put back', async () => {
    scope.runtime.verdict = () => Promise.resolve('not there');
    await scope.change(operator, demo(), after());
    await scope.change(operator, demo(), before());
    await scope.allReady(operator);
    expect(scope.conditions('KMSConfig/keys')).toEqual(['Ready=True Ready', 'TLSReady=True Ready']);
    expect(told().filter((line) => /update|replace/.test(line))).toEqual([]);
  });
});

it('proves other credentials for the keystore before a lone key service is replaced', async () => {
  scope.runtime.verdict = () => Promise.resolve('the vault refuses the credentials');
  scope.secrets = [{ name: 'client', data: { secret: 'two' } }];
  await scope.change(operator, demo(), before());
  expect(told().filter((line) => /update|replace/.test(line))).toEqual([]);
  expect(stalled()?.message).toContain('the vault refuses the credentials');
});

it('checks nothing for a change that leaves the keys where they are', async () => {
  await scope.change(operator, demo(), kms({ ...vault('https://one:8200'), cache: { any: '1m' } }));
  expect(told().filter((line) => line.startsWith('check'))).toEqual([]);
});

describe('a tenant whose data stayed, and whose status did not', () => {
  beforeEach(() => {
    scope = new Namespace();
    operator = scope.open();
  });

  it('keeps its default key from being made anew, until its server has told its keys', async () => {
    scope.runtime.volumes.add('demo-server');
    await begin(demo(), kms());
    expect(canaries()).toEqual([{ key: 'first', canaries: [] }]);
  });

  it('is none that is new', async () => {
    await begin(demo(), kms());
    expect(canaries()).toEqual([]);
  });
});

describe('a volume of keys that was not made for it', () => {
  beforeEach(() => {
    scope = new Namespace();
    operator = scope.open();
    scope.runtime.found.set('keys-key-service', ['keys-key-service-keys']);
  });
  it('is taken once it has proven itself', async () => {
    await begin(kms());
    expect(told().slice(0, 3)).toEqual([
      'check keys-key-service',
      'take keys-key-service-keys',
      'start keys-key-service',
    ]);
  });

  it('is left alone otherwise, and nothing is started on it', async () => {
    scope.runtime.verdict = () => Promise.resolve('the key store lacks first');
    await begin(kms());
    expect(told()).toEqual(['check keys-key-service']);
    expect(stalled()).toMatchObject({ reason: 'KeystoreNotProven' });
    expect(stalled()?.message).toMatch(/keys-key-service-keys.*lacks first.*left alone/);
    expect(stalled()?.message).not.toMatch(/delete/);
  });
});
