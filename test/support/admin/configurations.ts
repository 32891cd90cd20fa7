import { Readable } from 'node:stream';
import { cheapestAnswer, decryptPayload, encryptPayload } from '../../../protocol/admin/admin-payload.ts';
import type { GivenSetting } from '../../../platform/settings/setting-source.ts';
import type { OpenIdProviderSettings } from '../../../platform/settings/server-settings.ts';
import { createAccess } from '../../../server/auth/access.ts';
import { testIdentities } from '../auth/identities.ts';
import { openIdConfigurations } from '../../../server/federation/configurations/openid-configurations.ts';
import { storedConfigurations } from '../../../server/federation/configurations/stored-configurations.ts';
import { createAdminHandler } from '../../../server/admin/admin-handler.ts';
import type { AdminServices } from '../../../server/administration/services.ts';
import { bodyFrom } from '../../../server/objects/contract/body-source.ts';

const secret = 'root-password';
const clock = () => new Date('2026-01-01T00:00:00Z');
const bucketAccess = () => Promise.resolve(undefined);
const objectTags = () => Promise.resolve(undefined);
const objectAcl = () => Promise.resolve(undefined);

/** The calls about configurations, as root sends them, over records in memory; no provider is asked. */
export async function configurationsTest(changes: Partial<AdminServices> = {}) {
  const { records, identities } = await testIdentities({ clock });
  const stored = storedConfigurations(records, clock);
  const access = createAccess({
    records,
    identities,
    root: { user: 'root', password: secret },
    bucketAccess,
    objectTags,
    objectAcl,
    clock,
  });
  const openid = openIdConfigurations({
    stored,
    environment: [fromEnvironment],
    region: '',
    policyExists: async (name) => (await identities.policy(name)) !== undefined,
    apply: () => Promise.resolve(),
    probe: () => Promise.resolve(),
  });
  const handle = createAdminHandler({
    authenticate: ({ body }) =>
      Promise.resolve({ principal: { kind: 'root', accessKey: 'root' }, body, size: undefined }),
    access,
    identities,
    temporary: access.temporary,
    root: { user: 'root' },
    objects: { listBuckets: () => Promise.resolve([]) },
    server: { deploymentId: 'D', version: '1', region: '', endpoint: '', dataFolder: '/', startedAt: clock() },
    space: () => Promise.resolve(undefined),
    identityProviders: [openid],
    configurationHistory: stored,
    given,
    clock,
    ...changes,
  });

  /** `text` is sent encrypted; an encrypted answer comes back as it was before. */
  return async (method: string, target: string, text?: string) => {
    const body = text === undefined ? [] : [await encryptPayload(secret, Buffer.from(text))];
    const [path = '', rawQuery = ''] = target.split('?');
    const answer = await handle({
      requestId: 'R',
      method,
      rawPath: path.startsWith('/') ? path : `/minio/admin/v3/${path}`,
      rawQuery,
      headers: cheapestAnswer,
      body: bodyFrom(Readable.from(body)),
      secure: false,
      remoteAddress: '127.0.0.1',
    });
    const { status, headers } = answer;
    const sent = answer.body.kind === 'slow' ? (await answer.body.result).body : answer.body;
    const bytes = sent.kind === 'bytes' ? sent.bytes : Buffer.alloc(0);
    const isSealed = headers['content-type'] === 'application/octet-stream';
    const plain = (isSealed ? await decryptPayload(secret, bytes) : bytes).toString();
    return { status, text: plain, isSealed, applied: headers['x-minio-config-applied'] === 'true' };
  };
}

const fromEnvironment: OpenIdProviderSettings = {
  id: 'fixed',
  enabled: true,
  configUrl: 'https://idp/.well-known/openid-configuration',
  clientId: 'fixed-client',
  clientSecret: 'fixed-secret',
  scopes: [],
  claimName: 'policy',
  claimUserinfo: false,
  rolePolicy: [],
  redirectUriDynamic: false,
  realm: 'master',
};

function fromVariable(variable: string, value: string | undefined): GivenSetting {
  return { variable, value };
}

const given = new Map<string, GivenSetting>([
  ['SVC_REGION', { variable: 'MINIO_SITE_REGION', value: 'eu-central-1' }],
  ['SVC_AUDIT_WEBHOOK_ENDPOINT_SIEM', fromVariable('MINIO_AUDIT_WEBHOOK_ENDPOINT_SIEM', 'https://siem.test/')],
  ['SVC_AUDIT_WEBHOOK_AUTH_TOKEN_SIEM', fromVariable('MINIO_AUDIT_WEBHOOK_AUTH_TOKEN_SIEM', undefined)],
  ['SVC_AUDIT_WEBHOOK_ENDPOINT', fromVariable('SVC_AUDIT_WEBHOOK_ENDPOINT', 'https://me:hunter3@siem.test/?token=x1')],
  ['SVC_STORE_RECORDS', { variable: 'SVC_STORE_RECORDS', value: undefined }],
]);
