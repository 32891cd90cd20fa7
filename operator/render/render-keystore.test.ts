import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { keystores } from '../../test/support/operator/rules/kms-config-cases.ts';
import { restartReasons } from '../reconcile/rollout.ts';
import { context, kms, issue } from '../../test/support/operator/render-cases.ts';
import { renderKeyService } from './render-key-service.ts';
import { renderKeystore } from './render-keystore.ts';

const rendered = (title: string, more = {}) =>
  renderKeystore(kms({ keystore: keystores[title] }), 'keystore', context(more));

const serviceWith = (secret: string) =>
  renderKeyService(kms({ keystore: keystores['azure-client-secret'] }), [], context({ azure: { secret } }));

describe('the keystores (golden/)', () => {
  it.each(Object.keys(keystores))('are rendered as the key service reads them: %s', async (title) => {
    await expect(stringify(rendered(title), { singleQuote: true })).toMatchFileSnapshot(
      `golden/keystore-${title}.yaml`,
    );
  });
});

describe('credentials of a keystore', () => {
  it.each(Object.keys(keystores))('are nowhere in the workload: %s', (title) => {
    const workload = renderKeyService(kms({ keystore: keystores[title] }), [], context());
    expect(JSON.stringify(workload)).not.toMatch(/-value/);
  });
  it('restart the key service when they change', () => {
    const [before, after] = [serviceWith('old'), serviceWith('new')];
    expect(restartReasons(before.inputs, after.inputs, before.owner)).toEqual([
      { reason: 'SecretChanged', field: 'key secret of Secret azure' },
    ]);
  });
  it('have a session token where the Secret has one', () => {
    expect(JSON.stringify(rendered('aws-credentials').document)).not.toContain('token');
    const aws = { accessKey: 'a', secretKey: 'b', token: 'c' };
    expect(JSON.stringify(rendered('aws-credentials', { aws }).document)).toContain('"key":"token"');
  });
  it('are missed by the name of the field', () => {
    expect(issue(() => rendered('vault-approle', { vault: {} }))).toContain(
      'spec.keystore.vault.approle.roleIdSecretRef of KMSConfig keys names the key role-id of the Secret vault',
    );
  });
});
