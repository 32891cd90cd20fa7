import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const python = tool('boto3/bin/python', 'boto3');
const script = fileURLToPath(new URL('whole_way.py', import.meta.url));
let server: RunningServer;
let outcome: Record<string, unknown>;

/** Encryption and web identity by boto3 are tried against the whole tenant, in the Keycloak tier. */
beforeAll(async () => {
  server = await startServer();
  await untilReady(server);
  const job = { endpoint: server.s3, accessKey: server.accessKey, secretKey: server.secretKey, bucket: 'boto3' };
  const result = await runCommand(python, [script], { input: JSON.stringify(job), env: { NO_PROXY: '*' } });
  if (result.code !== 0) throw new Error(result.stderr);
  outcome = JSON.parse(result.stdout) as Record<string, unknown>;
}, 360_000);

afterAll(async () => {
  await server?.stop();
});

describe('boto3', () => {
  it('gets back what it put, from 0 bytes to 100 MiB by multipart', () => {
    expect(outcome['whole']).toEqual({
      empty: [true, null],
      one: [true, null],
      five: [true, null],
      large: [true, null],
    });
  });

  it('reads a range', () => {
    expect(outcome['range']).toBe(true);
  });

  it('lists with a delimiter', () => {
    expect(outcome['keys']).toEqual(['top']);
    expect(outcome['prefixes']).toEqual(['sizes/']);
  });

  it('lists by pages', () => {
    expect(outcome['paged']).toEqual(['sizes/empty', 'sizes/five', 'sizes/large', 'sizes/one', 'top']);
  });

  it('makes URLs that work without credentials', async () => {
    // Deleted by the end of the script: the signature holds, the key is gone.
    expect((await fetch(String(outcome['presigned']))).status).toBe(404);
  });

  it('makes forms that upload, within the sizes of their policy', async () => {
    const forms = outcome['forms'] as readonly { readonly url: string; readonly fields: Record<string, string> }[];
    for (const [index, { url, fields }] of forms.entries()) {
      const post = (content: string) => {
        const form = new FormData();
        for (const [name, value] of Object.entries(fields)) form.append(name, value);
        form.append('file', new Blob([content]), `${index}.txt`);
        return fetch(url, { method: 'POST', body: form });
      };
      const answer = await post('from boto3');
      expect([answer.status, await answer.text()]).toEqual([
        201,
        expect.stringContaining(`<Key>forms/${index}.txt</Key>`),
      ]);
      expect(await (await post('from boto3!')).text()).toContain('<Code>EntityTooLarge</Code>');
    }
    expect(forms).toHaveLength(2);
  });

  it('sees NoSuchKey for an absent key', () => {
    expect(outcome['absent']).toBe('NoSuchKey');
  });

  it('deletes many, absent ones included', () => {
    expect(outcome['deleted']).toEqual(['never-there', 'top']);
  });
});
