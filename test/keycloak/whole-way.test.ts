import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  PutBucketEncryptionCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { AssumeRoleWithWebIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { decodeJwt, SignJWT } from 'jose';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { newVisitor, openBrowser } from '../browser/open-browser.ts';
import { runCommand, tool } from '../support/process/run-command.ts';
import { containsAnywhere, startTenant, type RunningTenant } from '../support/server/start-tenant.ts';
import { keycloakAt } from './start-keycloak.ts';

const keycloak = keycloakAt(inject('keycloaks')['26.4.0']);
let tenant: RunningTenant;
let browser: Browser;
const region = 'us-east-1';

function identityProvider(): Record<string, unknown> {
  const { configUrl, clientId } = keycloak;
  return { configUrl, clientId, displayName: 'Keycloak', scopes: ['openid', 'email'], redirectUriDynamic: true };
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

function client(credentials: Credentials): S3Client {
  return new S3Client({ endpoint: tenant.s3, region, forcePathStyle: true, credentials });
}

/** The temporary credentials that a token buys. */
async function credentialsFor(token: string): Promise<Credentials> {
  const sts = new STSClient({
    endpoint: tenant.s3,
    region,
    credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
  });
  const { Credentials } = await sts.send(
    new AssumeRoleWithWebIdentityCommand({
      RoleArn: 'arn:aws:iam::123456789012:role/any',
      RoleSessionName: 'test',
      WebIdentityToken: token,
    }),
  );
  return {
    accessKeyId: Credentials?.AccessKeyId ?? '',
    secretAccessKey: Credentials?.SecretAccessKey ?? '',
    sessionToken: Credentials?.SessionToken ?? '',
  };
}

/** An S3 client with the temporary credentials that a person's token buys. */
async function personClient(username: string): Promise<S3Client> {
  return client(await credentialsFor(await keycloak.token(username, `${username}-password`)));
}

beforeAll(async () => {
  tenant = await startTenant({ identityProvider: identityProvider(), clientSecret: keycloak.clientSecret });
  browser = await openBrowser();
}, 360_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

describe('a tenant whose people come from a real Keycloak', () => {
  it('checks the provider and is ready', () => {
    expect(tenant.lines.join('\n')).toMatch(/IdentityProvider\/primary-iam\s+Ready/);
  });

  it('refuses a token that an application wrote with the secret of the client, though Keycloak lists HS256', async () => {
    const real = decodeJwt(await keycloak.token('bob', 'bob-password'));
    const forged = await new SignJWT({ ...real, policy: ['consoleAdmin'] })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(new TextEncoder().encode(keycloak.clientSecret));
    const discovery = (await (await fetch(keycloak.configUrl)).json()) as Record<string, unknown>;
    expect(discovery['id_token_signing_alg_values_supported']).toContain('HS256');
    await expect(credentialsFor(forged)).rejects.toMatchObject({
      name: 'InvalidIdentityTokenException',
      message: expect.stringContaining('signed by HS256 with the client secret') as string,
    });
  });

  it('stores what root puts under SSE-KMS, with no plaintext of it on disk', async () => {
    const s3 = client(tenant.root);
    const body = randomBytes(200_000);
    await s3.send(new CreateBucketCommand({ Bucket: 'sealed' }));
    const rule = {
      ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms' as const, KMSMasterKeyID: 'tenant-key' },
    };
    await s3.send(
      new PutBucketEncryptionCommand({ Bucket: 'sealed', ServerSideEncryptionConfiguration: { Rules: [rule] } }),
    );
    await s3.send(new PutObjectCommand({ Bucket: 'sealed', Key: 'large', Body: body }));
    await s3.send(new PutObjectCommand({ Bucket: 'sealed', Key: 'small', Body: body.subarray(0, 1000) }));
    const back = await s3.send(new GetObjectCommand({ Bucket: 'sealed', Key: 'large' }));
    expect(back.ServerSideEncryption).toBe('aws:kms');
    expect(Buffer.from((await back.Body?.transformToByteArray()) ?? []).equals(body)).toBe(true);
    expect(await containsAnywhere(tenant.state, body.subarray(100, 132))).toBeUndefined();
  });

  it('lets boto3 go the whole way, and bob only read', async () => {
    const job = {
      endpoint: tenant.s3,
      accessKey: tenant.root.accessKeyId,
      secretKey: tenant.root.secretAccessKey,
      bucket: 'boto3',
      encryption: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: 'tenant-key' },
      token: await keycloak.token('bob', 'bob-password'),
    };
    const script = fileURLToPath(new URL('../boto3/whole_way.py', import.meta.url));
    const result = await runCommand(tool('boto3/bin/python', 'boto3'), [script], { input: JSON.stringify(job) });
    expect(result.stderr).toBe('');
    const whole = Object.fromEntries(['empty', 'one', 'five', 'large'].map((name) => [name, [true, 'aws:kms']]));
    expect(JSON.parse(result.stdout)).toMatchObject({
      whole,
      range: true,
      personReads: '1',
      personWrites: 'AccessDenied',
    });
  }, 360_000);

  it('lets alice, whose claim is consoleAdmin, make buckets', async () => {
    const alice = await personClient('alice');
    await alice.send(new CreateBucketCommand({ Bucket: 'made-by-alice' }));
    const { Buckets } = await alice.send(new ListBucketsCommand({}));
    expect(Buckets?.map((bucket) => bucket.Name)).toContain('made-by-alice');
  });

  it('tells carol, who has no policy, which claim was looked for and which came', async () => {
    await expect(personClient('carol')).rejects.toThrow(/policy.*preferred_username/s);
  });

  it('logs alice in to the console through the pages of Keycloak', async () => {
    const visitor = await newVisitor(browser);
    const { page } = visitor;
    await page.goto(tenant.console);
    await page.getByRole('link', { name: 'Keycloak' }).click();
    await page.locator('#username').fill('alice');
    await page.locator('#password').fill('alice-password');
    await page.locator('#kc-login').click();
    await page.getByText('made-by-alice').first().waitFor();
    await page.goto(`${tenant.console}/account`);
    await page.getByText('consoleAdmin').first().waitFor();
    expect(visitor.complaints).toEqual([]);
    await visitor.context.close();
  });

  it('signs alice out at Keycloak too, so that it asks for her password again', async () => {
    const visitor = await newVisitor(browser);
    const { page } = visitor;
    const signIn = () => page.getByRole('link', { name: 'Keycloak' }).click();
    await page.goto(tenant.console);
    await signIn();
    await page.locator('#username').fill('alice');
    await page.locator('#password').fill('alice-password');
    await page.locator('#kc-login').click();
    await page.getByText('made-by-alice').first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Keycloak' }).waitFor();
    expect(page.url()).toContain(tenant.console);
    await signIn();
    await page.locator('#username').waitFor();
    await page.goto(`${tenant.console}/buckets`);
    await page.getByRole('link', { name: 'Keycloak' }).waitFor();
    expect(visitor.complaints).toEqual([]);
    await visitor.context.close();
  });

  it('shows carol on the sign-in page why she gets no further', async () => {
    const { page, context } = await newVisitor(browser);
    await page.goto(tenant.console);
    await page.getByRole('link', { name: 'Keycloak' }).click();
    await page.locator('#username').fill('carol');
    await page.locator('#password').fill('carol-password');
    await page.locator('#kc-login').click();
    await page.getByText(/claim/i).first().waitFor();
    expect(page.url()).toContain(tenant.console);
    await context.close();
  });
});

describe('changes of the provider while the tenant runs', () => {
  it('restarts the server once for a change of scopes, and names the field', async () => {
    const from = tenant.lines.length;
    await tenant.writeIdentityProvider({ ...identityProvider(), scopes: ['openid', 'email', 'profile'] });
    const line = await tenant.untilSays('IdentityProviderChanged', from);
    expect(line).toContain('spec.scopes');
    await tenant.untilSays('it runs and answers', from);
    const alice = await personClient('alice');
    await alice.send(new HeadObjectCommand({ Bucket: 'boto3', Key: 'sizes/one' }));
    expect(tenant.lines.slice(from).filter((text) => text.includes('IdentityProviderChanged'))).toHaveLength(1);
  });

  it('leaves the server running when configUrl breaks, and says why', async () => {
    const from = tenant.lines.length;
    await tenant.writeIdentityProvider({
      ...identityProvider(),
      configUrl: keycloak.configUrl.replace('coffer', 'no-such-realm'),
    });
    const line = await tenant.untilSays('IdentityProvider/primary-iam', from);
    expect(line).toContain('no-such-realm');
    const alice = await personClient('alice');
    expect((await alice.send(new ListBucketsCommand({}))).Buckets).toBeDefined();
  });

  it('refuses a wrong client secret before it touches the server', async () => {
    await tenant.writeIdentityProvider({ ...identityProvider(), scopes: ['openid', 'email', 'profile'] });
    const from = tenant.lines.length;
    await tenant.writeClientSecret('not the secret');
    await tenant.untilSays('refuses the client', from);
    const alice = await personClient('alice');
    expect((await alice.send(new ListBucketsCommand({}))).Buckets).toBeDefined();
  });
});
