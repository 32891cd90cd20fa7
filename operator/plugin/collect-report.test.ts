import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../kube-client/kube-api.ts';
import { redactLog, redactObject, secretRedactor } from './collect-report.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'company-client',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":"x"}', mine: 'kept' },
  },
  type: 'Opaque',
  data: { 'client-secret': base64('s3cr3t/value+1'), 'tls.crt': base64('public-certificate') },
};

describe('secretStriker', () => {
  const strike = secretRedactor([secret]);
  it.each([
    ['as it is', 'said s3cr3t/value+1.'],
    ['in base64', `said ${base64('s3cr3t/value+1')}.`],
    ['in a URL', `said ${encodeURIComponent('s3cr3t/value+1')}.`],
  ])('strikes a value out %s', (_title, text) => {
    expect(strike(text)).toBe('said [redacted].');
  });
  it('leaves certificates', () => {
    expect(strike('public-certificate')).toBe('public-certificate');
  });
  it('leaves words too short to be told from others', () => {
    expect(secretRedactor([{ ...secret, data: { a: base64('demo') } }])('tenant demo')).toBe('tenant demo');
  });
});

describe('redactLog', () => {
  it.each([
    ['{"accessKey":"AKIA12345678","bucket":"b"}', '{"accessKey":"[redacted]","bucket":"b"}'],
    ['{"client_secret":"a\\"b"}', '{"client_secret":"[redacted]"}'],
    ['Credential=AKIA12345678/20261121/us-east-1', 'Credential=[redacted]/20261121/us-east-1'],
    ['password=hunter22 next', 'password=[redacted] next'],
    ['postgres://u:pass@db/x', 'postgres://u:[redacted]@db/x'],
  ])('%s', (text, clean) => {
    expect(redactLog(text)).toBe(clean);
  });
  it('keeps what tells a person what is wrong', () => {
    const text = 'SecretChanged: key client-secret of Secret company-client; token endpoint: invalid_client';
    expect(redactLog(text)).toBe(text);
  });
});

describe('redactObject', () => {
  it('keeps of a Secret its type and the names of its keys', () => {
    expect(redactObject(secret)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'company-client', annotations: { mine: 'kept' } },
      type: 'Opaque',
      keys: ['client-secret', 'tls.crt'],
    });
  });
  it('hides values of settings and variables by their names, and no reference to a Secret', () => {
    const tenant = {
      apiVersion: 'coffer.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name: 'demo' },
      spec: {
        rootCredentialsSecret: { name: 'root' },
        settings: [
          { name: 'SVC_X_PASSWORD', value: 'hunter22' },
          { name: 'SVC_REGION', value: 'eu' },
          { name: 'SVC_Y_TOKEN', valueFrom: { secretKeyRef: { name: 'n', key: 'k' } } },
        ],
        volumes: [{ secret: { secretName: 'files' } }],
      },
    };
    expect(redactObject(tenant)).toEqual({
      ...tenant,
      spec: {
        ...tenant.spec,
        settings: [{ name: 'SVC_X_PASSWORD', value: '[redacted]' }, ...tenant.spec.settings.slice(1)],
      },
    });
  });
});
