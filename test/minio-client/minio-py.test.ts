import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { startMinio } from '../support/server/start-minio.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';

/** `end` is `done`, or the code of the refusal. `answer` is what the client made of it. */
type Result = readonly [call: string, end: string, answer: unknown];

async function resultsAt(url: string, accessKey: string, secretKey: string): Promise<readonly Result[]> {
  const script = fileURLToPath(new URL('minio_admin.py', import.meta.url));
  const input = JSON.stringify({ address: new URL(url).host, accessKey, secretKey });
  const { code, stdout, stderr } = await runCommand(tool('minio-py/bin/python', 'minio-py'), [script], { input });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Result[];
}

let ours: readonly Result[];
let theirs: readonly Result[];

beforeAll(async () => {
  const [coffer, minio] = [await startServer(), await startMinio()];
  await untilReady(coffer);
  ours = await resultsAt(coffer.s3, coffer.accessKey, coffer.secretKey);
  theirs = await resultsAt(minio.url, minio.accessKey, minio.secretKey);
  await Promise.all([coffer.stop(), minio.stop()]);
}, 240_000);

/** The calls that end otherwise than with a MinIO, and why. */
const differences: Readonly<Record<string, readonly [ours: string | RegExp, why: string]>> = {
  'get_service_account of a removed one': ['XMinioAdminNoSuchAccessKey', 'a MinIO calls it an invalid credential'],
  'config_get of all': [
    /Error/,
    'this client asks for the key "", reads the answer without decrypting it, and fails at both',
  ],
  config_set: ['XMinioAdminConfigEnvOverridden', 'settings come from the environment and from files alone'],
  config_reset: ['XMinioAdminConfigEnvOverridden', 'settings come from the environment and from files alone'],
  top_locks: ['done', 'a MinIO of one drive has none to tell'],
  kms_key_status: ['KMSNotConfigured', 'the MinIO of the test has a key of its own'],
  attach_policy_ldap: ['XCofferRefused', 'a MinIO has a code for LDAP that is not set up'],
  list_access_keys_ldap: ['done', 'a MinIO without LDAP answers InternalError'],
};

/** The fields of the answers of a MinIO that ours do not have, by call. */
const absent: Readonly<Record<string, readonly string[]>> = {
  get_data_usage_info: ['objectsReplicationInfo'],
};

describe('each call of the Python client for administrators', () => {
  it('ends as with a MinIO', () => {
    expect(ours.length).toBeGreaterThan(50);
    for (const [at, [call, end]] of ours.entries()) {
      const expected = differences[call]?.[0] ?? theirs[at]?.[1];
      if (expected instanceof RegExp) expect(end, call).toMatch(expected);
      else expect(end, call).toBe(expected);
    }
  });

  it('has answers with the fields of a MinIO', () => {
    for (const [at, [call, end, answer]] of ours.entries()) {
      const other = theirs[at]?.[2];
      if (end !== 'done' || !isObject(answer) || !isObject(other)) continue;
      const missing = Object.keys(other).filter((field) => !(field in answer));
      expect(missing, call).toEqual(absent[call] ?? []);
    }
  });

  it('reads secrets that the server made, and what it gave', () => {
    const answers = new Map(ours.map(([call, , answer]) => [call, answer]));
    const made = answers.get('add_service_account with a policy') as { credentials: { secretKey: string } };
    expect(made.credentials.secretKey.length).toBeGreaterThanOrEqual(20);
    expect(answers.get('user_list')).toMatchObject({ ann: { status: 'enabled' } });
    expect(answers.get('get_service_account')).toMatchObject({ parentUser: expect.any(String), accountStatus: 'on' });
    expect(answers.get('get_policy_entities')).toMatchObject({ userMappings: [{ user: 'ann' }] });
    expect(answers.get('config_get')).toContain('api');
  });
});

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
