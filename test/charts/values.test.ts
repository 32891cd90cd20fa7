import { describe, expect, it } from 'vitest';
import { refusalOfValues } from './chart-values.ts';

const provider = {
  configUrl: 'https://sso.example.com/.well-known/openid-configuration',
  clientId: 'coffer',
  clientSecretRef: { name: 'company-client', key: 'client-secret' },
};

describe('values of coffer-operator', () => {
  it('are good as they come', () => {
    expect(refusalOfValues('coffer-operator')).toBeUndefined();
  });
  it.each([
    ['a pinned image', { image: { digest: `sha256:${'a'.repeat(64)}` } }],
    ['namespaces', { scope: 'namespaces', watchNamespaces: ['a', 'b'] }],
    ['a share of replicas', { podDisruptionBudget: { maxUnavailable: '50%' } }],
    ['an upgrade window', { upgradeWindow: 'Sat,Sun 22:00-02:00' }],
    ['monitoring', { metrics: { serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } } }],
  ])('take %s', (_title, values) => {
    expect(refusalOfValues('coffer-operator', values)).toBeUndefined();
  });
  it.each([
    ['a digest that is none', { image: { digest: 'sha256:abc' } }],
    ['an unknown field', { image: { tags: '1' } }],
    ['a scope that is none', { scope: 'everything' }],
    ['a namespace that is none', { scope: 'namespaces', watchNamespaces: ['a.b'] }],
    ['no rollout at all', { maxConcurrentRollouts: 0 }],
    ['a window that is none', { upgradeWindow: 'Sat 2-5' }],
    ['a privileged port', { ports: { health: 80 } }],
  ])('refuse %s', (_title, values) => {
    expect(refusalOfValues('coffer-operator', values)).toBeDefined();
  });
});

describe('values of coffer-tenant', () => {
  it('are good as they come', () => {
    expect(refusalOfValues('coffer-tenant')).toBeUndefined();
  });
  it('leave to the chart what it fills in', () => {
    const values = { kms: { enabled: true, spec: { keystore: { files: { size: '1Gi' } } } }, buckets: { photos: {} } };
    expect(refusalOfValues('coffer-tenant', values)).toBeUndefined();
  });
  it('take identity providers by name', () => {
    expect(refusalOfValues('coffer-tenant', { identityProviders: { company: provider } })).toBeUndefined();
  });
  it.each([
    ['a misspelt field of a spec', { tenant: { spec: { storge: {} } } }],
    ['a size that is none', { tenant: { spec: { storage: { size: 'big' } } } }],
    ['a setting that is none', { tenant: { spec: { settings: [{ name: 'MINIO_REGION', value: 'eu' }] } } }],
    ['a secret written where it is to be named', { identityProviders: { company: { ...provider, clientSecret: 'x' } } }],
    ['a provider without its client', { identityProviders: { company: { configUrl: provider.configUrl } } }],
    ['a name that is none', { identityProviders: { Company_1: provider } }],
  ])('refuse %s', (_title, values) => {
    expect(refusalOfValues('coffer-tenant', values)).toBeDefined();
  });
});
