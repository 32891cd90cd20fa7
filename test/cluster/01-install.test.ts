import { randomBytes } from 'node:crypto';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { AssumeRoleWithWebIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { beforeAll, describe, expect, it, inject } from 'vitest';
import { runCommand } from '../support/process/run-command.ts';
import { helm, operatorNamespace, release } from '../support/cluster/operator.ts';
import { keycloak, kubectl, Team } from '../support/cluster/team.ts';
import { until } from '../support/cluster/until.ts';

const team = new Team('team-one');
const region = 'us-east-1';

describe('an operator installed by helm, and three resources applied', () => {
  beforeAll(async () => {
    const started = Date.now();
    await team.commitAll();
    await team.untilSettled();
    console.log(`Ready ${((Date.now() - started) / 1000).toFixed(1)} s after kubectl apply`);
  });

  it('passes the helm test', async () => {
    expect(await helm(kubectl, ['test', release, '--namespace', operatorNamespace, '--timeout', '1m'])).toMatch(
      /Phase:\s+Succeeded/,
    );
  });

  it('is what kubectl wait waits for', async () => {
    const wait = ['wait', '--for=condition=Ready', '--timeout=10s', '--namespace', team.namespace];
    expect(await kubectl.run([...wait, 'tenant/demo', 'idp/primary-iam', 'kms/keys'])).toMatch(
      /tenant.* condition met/,
    );
  });

  it('takes an object in, encrypted, under credentials of single sign-on', async () => {
    const endpoint = await team.endpoint();
    await team.createBucket('first');
    const sts = new STSClient({ endpoint, region, credentials: { accessKeyId: 'none', secretAccessKey: 'none' } });
    const { Credentials: got } = await sts.send(
      new AssumeRoleWithWebIdentityCommand({
        RoleArn: 'arn:aws:iam::123456789012:role/any',
        RoleSessionName: 'test',
        WebIdentityToken: await keycloak.token('alice', 'alice-password'),
      }),
    );
    const credentials = {
      accessKeyId: got?.AccessKeyId ?? '',
      secretAccessKey: got?.SecretAccessKey ?? '',
      sessionToken: got?.SessionToken ?? '',
    };
    const s3 = new S3Client({ endpoint, region, forcePathStyle: true, credentials });
    const words = `never in clear ${randomBytes(16).toString('hex')}`;
    const object = { Bucket: 'first', Key: 'object' };
    await s3.send(new PutObjectCommand({ ...object, Body: words.repeat(10_000), ServerSideEncryption: 'aws:kms' }));
    expect((await s3.send(new HeadObjectCommand(object))).ServerSideEncryption).toBe('aws:kms');
    const answer = await s3.send(new GetObjectCommand(object));
    expect((await answer.Body?.transformToString()) === words.repeat(10_000)).toBe(true);
    // Exit code 1: nothing found.
    const found = await runCommand('grep', [
      '--recursive',
      '--quiet',
      '--text',
      words,
      `${inject('clusterState')}/volumes`,
    ]);
    expect(found.code).toBe(1);
  });

  it('keeps secrets out of pod specs, arguments, events and logs', async () => {
    const { secretAccessKey } = await team.rootCredentials();
    const where = ['--namespace', team.namespace];
    const shown = await Promise.all([
      kubectl.run([
        'get',
        'pods,statefulsets,events,tenants,kmsconfigs,identityproviders',
        ...where,
        '--output',
        'yaml',
      ]),
      kubectl.run(['logs', ...where, '--selector', 'app.kubernetes.io/name=coffer', '--tail=-1']),
      kubectl.run([
        'logs',
        '--namespace',
        operatorNamespace,
        '--selector',
        'app.kubernetes.io/name=coffer-operator',
        '--tail=-1',
      ]),
    ]);
    const all = shown.join('\n');
    expect([secretAccessKey, keycloak.clientSecret].filter((secret) => all.includes(secret))).toEqual([]);
  });

  it('gives its pods no credentials of the API', async () => {
    const pods = [...(await team.pods('demo-server')), ...(await team.pods('keys-key-service'))];
    expect(pods.map(({ spec }) => spec?.['automountServiceAccountToken'])).toEqual([false, false]);
  });

  it('writes nothing when nothing changed', async () => {
    const versions = async () => {
      const kinds = 'tenants,identityproviders,kmsconfigs,statefulsets,services,secrets,networkpolicies';
      const text = await kubectl.run(['get', kinds, '--namespace', team.namespace, '--output', 'json']);
      const { items } = JSON.parse(text) as {
        items: { kind: string; metadata: { name: string; resourceVersion: string } }[];
      };
      return items.map(({ kind, metadata }) => `${kind}/${metadata.name} ${metadata.resourceVersion}`);
    };
    // What the tests before this one set in motion has its time to end.
    const before = await until(
      'writes of earlier changes to end',
      async () => {
        const first = await versions();
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        return (await versions()).join() === first.join() ? first : undefined;
      },
      { timeoutMs: 60_000 },
    );
    // Something else happens meanwhile: the operator looks at everything of the namespace again.
    await kubectl.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'other', namespace: team.namespace },
    });
    await kubectl.run(['annotate', 'tenant/demo', 'example.com/note=1', '--namespace', team.namespace]);
    await team.untilSettled();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const after = await versions();
    const changed = after.filter((line) => !before.includes(line)).map((line) => line.split(' ')[0]);
    expect(changed).toEqual(['Tenant/demo']);
  });
});
