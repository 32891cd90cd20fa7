import { createHash, X509Certificate } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Cache, KubeApi, KubeObject, OwnerReference } from '../../../kube-client/kube-api.ts';
import { ResourceCache } from '../../../kube-client/resource-cache.ts';
import { resourceTypes } from '../../../kube-client/resource-types.ts';
import type { CertificateNeed } from '../../../contract/workload.ts';
import { ObjectWriter } from '../workload/object-writer.ts';
import { ClusterRules } from '../workload/cluster-rules.ts';
import { CertificateKeeper } from './certificate-keeper.ts';
import { secretData } from '../namespace/made-secret.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const times = { authorityLifeMs: 30 * day, leafLifeMs: 3 * day, spreadMs: 5 * minute, graceMs: day };

const server: CertificateNeed = {
  name: 'keys-server',
  owner: { kind: 'KMSConfig', name: 'keys' },
  commonName: 'keys',
  authority: 'keys',
  usages: ['server'],
  validFor: ['keys'],
  alsoValidFor: ['keys.example.com', '0.0.0.0', '10.0.0.1'],
};
const client: CertificateNeed = {
  name: 'demo-client',
  owner: { kind: 'Tenant', name: 'demo' },
  commonName: 'demo',
  authority: 'keys',
  usages: ['client'],
  validFor: [],
  alsoValidFor: [],
};

let now: Date;
let writes: string[];
let secrets: Cache;
let certificates: Cache | undefined;
let keeper: CertificateKeeper;
let version = 1_000;

beforeEach(() => {
  now = new Date('2030-01-01T00:00:00Z');
  writes = [];
  certificates = undefined;
  secrets = new ResourceCache(resourceTypes.secret, { failed: (error) => expect.fail(String(error)) });
  keeper = restarted();
});

const refuse = () => Promise.reject(new Error('not expected'));

/** A keeper that knows nothing but what the Secrets hold. */
function restarted(): CertificateKeeper {
  const api: KubeApi = {
    get: () => Promise.resolve(undefined),
    list: refuse,
    watch: () => {
      throw new Error('not expected');
    },
    create: refuse,
    apply: (object: KubeObject) => {
      writes.push(`${object.kind} ${object.metadata.name}`);
      version += 1;
      return Promise.resolve({
        ...object,
        metadata: { ...object.metadata, uid: object.metadata.name, resourceVersion: String(version) },
      });
    },
    applyStatus: refuse,
    patch: refuse,
    delete: refuse,
  };
  return new CertificateKeeper({
    writer: new ObjectWriter({
      api,
      rules: new ClusterRules(() => new Date()),
      fingerprint: (value) => createHash('sha256').update(value).digest('hex'),
    }),
    secrets,
    certificates: () => certificates,
    namespace: 'store',
    owner: ({ kind, name }): OwnerReference => ({ apiVersion: 'v1', kind, name, uid: name, controller: true }),
    times,
    now: () => now,
  });
}

function data(secret: string) {
  return secretData(secrets.get('store', secret));
}

function bundle(of: string): readonly string[] {
  return data(`${of}-certificate`)['ca.crt']?.match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g) ?? [];
}

function certificate(of: string): X509Certificate {
  return new X509Certificate(data(`${of}-certificate`)['tls.crt'] ?? '');
}

async function pass(milliseconds = 0, needs: readonly CertificateNeed[] = [server, client]) {
  now = new Date(now.getTime() + milliseconds);
  return keeper.ensure(needs);
}

describe('certificates', () => {
  it('are made for every name of their workloads, signed by one authority', async () => {
    const issued = await pass();
    const authority = new X509Certificate(data('keys-authority')['tls.crt'] ?? '');
    expect([...issued.keys()]).toEqual(['keys-server', 'demo-client']);
    for (const name of ['keys-server', 'demo-client']) expect(certificate(name).verify(authority.publicKey)).toBe(true);
    for (const name of ['keys', 'keys.store.svc', 'keys-0.keys-headless.store.svc', 'keys.example.com', 'localhost']) {
      expect(certificate('keys-server').checkHost(name), name).toBeDefined();
    }
    expect(certificate('keys-server').checkIP('10.0.0.1')).toBe('10.0.0.1');
  });

  it('are written once', async () => {
    await pass();
    const before = [...writes];
    await pass(minute);
    keeper = restarted();
    await pass(minute);
    expect(writes).toEqual(before);
  });

  it('are renewed at two thirds of their life, with the same key', async () => {
    const before = await pass();
    const serial = certificate('demo-client').serialNumber;
    const after = await pass(2.1 * day);
    expect(certificate('demo-client').serialNumber).not.toBe(serial);
    expect(after.get('demo-client')).toMatchObject({ identity: before.get('demo-client')?.identity });
  });

  it('are renewed for another name', async () => {
    await pass();
    await pass(minute, [{ ...server, alsoValidFor: ['other.example.com'] }]);
    expect(certificate('keys-server').checkHost('other.example.com')).toBeDefined();
  });

  it('never hold the key of their authority', async () => {
    await pass();
    const key = data('keys-authority')['tls.key'];
    for (const name of ['keys-server-certificate', 'demo-client-certificate']) {
      expect(Object.values(data(name))).not.toContain(key);
    }
  });

  it('tell when they expire', async () => {
    await pass();
    expect(keeper.expiries().map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'authority keys',
      'certificate keys-server',
      'certificate demo-client',
    ]);
  });
});

describe('a key that is exchanged on demand', () => {
  const rotated = { ...client, rotation: '2' };

  it('is told of before it is used, and for a while after', async () => {
    const first = (await pass()).get('demo-client')?.identity;
    const announced = (await pass(minute, [server, rotated])).get('demo-client');
    expect(announced?.formerIdentity).toBe(first);
    const pem = certificate('demo-client').publicKey.export({ type: 'spki', format: 'pem' });

    keeper = restarted();
    const used = (await pass(6 * minute, [server, rotated])).get('demo-client');
    expect(used).toMatchObject({ identity: announced?.identity, formerIdentity: first });
    expect(certificate('demo-client').publicKey.export({ type: 'spki', format: 'pem' })).not.toBe(pem);

    const settled = (await pass(6 * minute, [server, rotated])).get('demo-client');
    expect(settled?.identity).toBe(announced?.identity);
    expect(settled?.formerIdentity).toBeUndefined();
  });
});

describe('an authority at two thirds of its life', () => {
  it('is trusted beside its successor until nothing signed by it is left', async () => {
    await pass();
    const old = bundle('demo-client')[0];
    await pass(20.1 * day);
    expect(bundle('demo-client')).toHaveLength(2);
    expect(bundle('keys-server')).toEqual(bundle('demo-client'));
    expect(certificate('demo-client').checkIssued(new X509Certificate(old ?? ''))).toBe(true);

    keeper = restarted();
    await pass(6 * minute);
    const successor = bundle('demo-client')[0] ?? '';
    expect(successor).not.toBe(old);
    expect(bundle('demo-client')).toContain(old);
    expect(certificate('demo-client').verify(new X509Certificate(successor).publicKey)).toBe(true);
    expect(data('keys-authority')['previous.crt']).toContain('BEGIN CERTIFICATE');

    await pass(1.1 * day);
    expect(bundle('demo-client')).toEqual([successor]);
  });

  it('stays trusted while a tenant shows what it signed', async () => {
    await pass();
    await pass(20.1 * day);
    await pass(6 * minute, [server]);
    await pass(1.1 * day, [server]);
    expect(bundle('keys-server')).toHaveLength(2);
  });

  it('is due for everybody who trusts it', async () => {
    await pass();
    now = new Date(now.getTime() + 20.1 * day);
    expect(keeper.due(now).owners).toEqual([server.owner, client.owner]);
  });
});

describe('a certificate of cert-manager', () => {
  const managed: CertificateNeed = { ...server, issuer: { kind: 'ClusterIssuer', name: 'corporate' } };

  it('is asked for, and missing until it is made', async () => {
    certificates = new ResourceCache(resourceTypes.certificate, { failed: () => undefined });
    expect((await pass(0, [managed])).size).toBe(0);
    expect(writes).toEqual(['Certificate keys-server']);
    const { spec } = certificates.get('store', 'keys-server') as unknown as { spec: Record<string, unknown> };
    expect(spec).toMatchObject({
      secretName: 'keys-server-certificate',
      issuerRef: { kind: 'ClusterIssuer', name: 'corporate' },
      privateKey: { rotationPolicy: 'Never' },
      usages: ['digital signature', 'server auth'],
    });
  });

  it('is refused by name where the cluster has no cert-manager', async () => {
    await expect(pass(0, [managed])).rejects.toThrow(/keys-server .* ClusterIssuer corporate .* install cert-manager/);
    expect(writes).toEqual([]);
  });
});
