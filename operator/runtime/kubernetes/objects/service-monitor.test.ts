import { jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  exampleContext,
  exampleServer,
  fullServer,
  plainOptions,
} from '../../../../test/support/operator/example-workload.ts';
import { metricsToken, scrapeToken } from './service-monitor.ts';
import { workloadObjects } from './workload-objects.ts';

const tokenOf = (password: string) => {
  const [secret] = metricsToken(fullServer(), {
    ...exampleContext,
    secret: (_name, key) => (key === 'rootUser' ? 'root' : password),
  });
  return Buffer.from((secret!['data'] as { token: string }).token, 'base64').toString();
};

const monitored = (monitoring: ReturnType<typeof fullServer>['kubernetes']['monitoring']) =>
  exampleServer({ kubernetes: { ...plainOptions, monitoring } });

describe('the token for Prometheus', () => {
  it('is what the server accepts of the root user', async () => {
    const { payload, protectedHeader } = await jwtVerify(tokenOf('root-password'), Buffer.from('root-password'));
    expect({ ...protectedHeader, ...payload }).toEqual({ alg: 'HS512', typ: 'JWT', iss: 'prometheus', sub: 'root' });
  });
  it('follows a change of the root credentials', () => {
    expect(tokenOf('another-password')).not.toBe(tokenOf('root-password'));
  });
  it('is the same for the same credentials', () => {
    expect(scrapeToken('root', 'root-password')).toBe(scrapeToken('root', 'root-password'));
  });
  it('is not made where nobody asks for it', () => {
    expect(metricsToken(monitored(undefined), exampleContext)).toEqual([]);
    expect(metricsToken(monitored({ port: 's3', path: '/metrics', labels: {} }), exampleContext)).toEqual([]);
  });
  it('is where the ServiceMonitor looks for it', () => {
    const objects = workloadObjects(fullServer(), { files: [], keptFiles: {}, kept: undefined }, exampleContext);
    const monitor = objects.find(({ kind }) => kind === 'ServiceMonitor');
    const spec = monitor?.['spec'] as {
      endpoints: { authorization: { credentials: { name: string; key: string } } }[];
    };
    const { name, key } = spec.endpoints[0]!.authorization.credentials;
    const secret = objects.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === name);
    expect(Object.keys(secret?.['data'] as object)).toEqual([key]);
  });
});
