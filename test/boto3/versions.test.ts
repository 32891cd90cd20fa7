import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const python = tool('boto3/bin/python', 'boto3');
const script = fileURLToPath(new URL('versions.py', import.meta.url));
let server: RunningServer;
let outcome: Record<string, unknown>;

beforeAll(async () => {
  server = await startServer();
  await untilReady(server);
  const job = { endpoint: server.s3, accessKey: server.accessKey, secretKey: server.secretKey };
  const options = { input: JSON.stringify(job), env: { NO_PROXY: '*' }, timeoutMs: 110_000 };
  const result = await runCommand(python, [script], options);
  if (result.code !== 0) throw new Error(result.stderr);
  outcome = JSON.parse(result.stdout) as Record<string, unknown>;
}, 360_000);

afterAll(async () => {
  await server?.stop();
});

describe('boto3', () => {
  it('reads, hides, copies and pages versions', () => {
    expect(outcome['versions']).toEqual({
      status: 'Enabled',
      first: 'first',
      current: true,
      marker: true,
      hidden: [404, 'NoSuchKey'],
      'marker read': [405, 'MethodNotAllowed'],
      'bad version': [400, 'InvalidArgument'],
      'no version': [404, 'NoSuchVersion'],
      'shown again': 'second',
      'copied from': true,
      parts: true,
      part: [3, 5 * 2 ** 20, true],
      attributes: [12 * 2 ** 20, 'STANDARD', 3, 'COMPOSITE', true],
      suspended: 'null',
      paged: [
        ['key', true],
        ['key', false],
        ['key', false],
        ['key', false],
        ['parts', true],
        ['parts', false],
      ],
    });
  });

  it('sends conditions', () => {
    expect(outcome['conditions']).toEqual({
      'match of none': [404, 'NoSuchKey'],
      there: [412, 'PreconditionFailed'],
      other: [412, 'PreconditionFailed'],
      read: [304, '304'],
      since: [412, 'PreconditionFailed'],
      'copy source': [412, 'PreconditionFailed'],
      'delete other': [412, 'PreconditionFailed'],
      complete: [412, 'PreconditionFailed'],
      completed: true,
      deleted: true,
    });
  });

  it('sets, reads, copies and removes tags of versions', () => {
    const first = [
      { Key: 'empty', Value: '' },
      { Key: 'team', Value: 'red' },
    ];
    expect(outcome['tags']).toEqual({
      current: [{ Key: 'größe', Value: 'a b' }],
      first,
      count: 2,
      many: [400, 'BadRequest'],
      twice: [400, 'InvalidTag'],
      copied: first,
      replaced: [{ Key: 'b', Value: '2' }],
      removed: [],
    });
  });

  it('locks versions', () => {
    expect(outcome['lock']).toEqual({
      versioning: 'Enabled',
      suspend: [409, 'InvalidBucketState'],
      head: ['GOVERNANCE', true],
      delete: [403, 'AccessDenied'],
      shorten: [403, 'AccessDenied'],
      shortened: true,
      held: [403, 'AccessDenied'],
      hold: 'OFF',
      'marker on top': true,
      several: [['AccessDenied'], [true]],
      bypassed: [false, false],
      configured: true,
      compliance: [403, 'AccessDenied'],
      'weaker mode': [403, 'AccessDenied'],
    });
  });

  it('empties a bucket of more than 1,000 versions', () => {
    expect(outcome['emptied']).toBe(0);
  });
});
