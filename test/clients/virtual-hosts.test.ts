import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, connect, type LookupFunction } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { type HostedServer, startHostedServer } from '../support/server/start-hosted-server.ts';

let hosted: HostedServer;
beforeAll(async () => {
  // boto3 signs by version 2 in the second half of its test.
  hosted = await startHostedServer({ SVC_API_SIGNATURE_V2: 'on' });
});
afterAll(() => hosted.stop());

const lookup: LookupFunction = (_host, options, done) => {
  if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};

function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { lookup, ca: hosted.ca, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (part: Buffer) => (text += part.toString()));
      answer.on('end', () => resolve(`${answer.statusCode} ${text}`));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** The hosts that the server saw with requests for a bucket. */
async function hostsOf(bucket: string): Promise<string[]> {
  const entries = (await hosted.audit()).filter(({ api }) => api.bucket === bucket);
  return [...new Set(entries.map(({ requestHost }) => requestHost ?? ''))];
}

const hostOf = (bucket: string) => `${bucket}.${hosted.domain}:${hosted.port}`;

it('boto3 uses buckets in the host, by either version of signatures', async () => {
  const script = fileURLToPath(new URL('virtual_hosts.py', import.meta.url));
  const { accessKey, secretKey } = hosted.server;
  const job = { endpoint: hosted.endpoint, accessKey, secretKey, caFile: hosted.caFile };
  const { code, stdout, stderr } = await runCommand(tool('boto3/bin/python', 'boto3'), [script], {
    input: JSON.stringify(job),
  });
  expect(code, stderr).toBe(0);
  const outcome = JSON.parse(stdout) as Record<string, { url: string }>;
  for (const version of ['s3v4', 's3']) {
    const bucket = `by-boto3-${version}`;
    const tags = [{ Key: 'a', Value: 'b' }];
    expect(outcome[version]).toMatchObject({ keys: ['copy', 'minio/admin/a b+ü'], body: 'content', tags });
    expect(outcome[version]?.url).toContain(`https://${hostOf(bucket)}/copy?`);
    expect(await read(outcome[version]?.url ?? '')).toBe('200 content');
    expect(await hostsOf(bucket)).toEqual([hostOf(bucket)]);
  }
  expect(outcome['hosts']).toEqual(['by-boto3-s3', 'by-boto3-s3v4'].map((name) => `${name}.${hosted.domain}`));
});

it('stock mc uses buckets in the host', async () => {
  const config = join(hosted.folder, 'mc');
  await mkdir(join(config, 'certs/CAs'), { recursive: true });
  await copyFile(hosted.caFile, join(config, 'certs/CAs/ca.crt'));
  const bucket = 'by-mc';
  const resolve = [hosted.domain, `${bucket}.${hosted.domain}`].flatMap((name) => [
    '--resolve',
    `${name}:${hosted.port}=127.0.0.1`,
  ]);
  const mc = async (...args: string[]) => {
    const options = ['--config-dir', config, '--disable-pager', '--json', ...resolve];
    const { code, stdout, stderr } = await runCommand(tool('bin/mc', 'mc'), [...options, ...args]);
    expect(code, `mc ${args.join(' ')}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  const { accessKey, secretKey } = hosted.server;
  await mc('alias', 'set', '--path', 'off', 'c', hosted.endpoint, accessKey, secretKey);
  await mc('mb', `c/${bucket}`);
  const large = randomBytes(20 * 2 ** 20);
  await writeFile(join(hosted.folder, 'large'), large);
  await mc('cp', join(hosted.folder, 'large'), `c/${bucket}/minio/health/a b+ü`);
  await mc('cp', `c/${bucket}/minio/health/a b+ü`, `c/${bucket}/copy`);
  await mc('cp', `c/${bucket}/copy`, join(hosted.folder, 'back'));
  expect((await readFile(join(hosted.folder, 'back'))).equals(large)).toBe(true);
  expect(await mc('ls', '-r', `c/${bucket}`)).toMatch(/"key":"copy"[^]*"key":"minio\/health\/a b\+ü"/);
  await mc('anonymous', 'set', 'download', `c/${bucket}/copy`);
  await mc('rm', '-r', '--force', `c/${bucket}/minio`);
  await mc('rb', '--force', `c/${bucket}`);
  expect(await hostsOf(bucket)).toContain(hostOf(bucket));
  expect((await hosted.audit()).filter(({ api }) => api.object === 'copy').map((entry) => entry.requestHost)).toEqual(
    expect.not.arrayContaining([`${hosted.domain}:${hosted.port}`]),
  );
});

it('rclone uses buckets in the host', async () => {
  // Go reads names from the system alone. A proxy resolves them for it.
  const proxy = createServer();
  proxy.on('connect', (_message, socket) => {
    const server = connect({ host: '127.0.0.1', port: Number(hosted.port) });
    for (const [one, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      one.on('error', () => other.destroy());
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(server).pipe(socket);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const bucket = 'by-rclone';
  const env = {
    HOME: hosted.folder,
    HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    RCLONE_CA_CERT: hosted.caFile,
    RCLONE_CONFIG_C_TYPE: 's3',
    RCLONE_CONFIG_C_PROVIDER: 'Other',
    RCLONE_CONFIG_C_ENDPOINT: hosted.endpoint,
    RCLONE_CONFIG_C_FORCE_PATH_STYLE: 'false',
    RCLONE_CONFIG_C_REGION: 'us-east-1',
    RCLONE_CONFIG_C_ACCESS_KEY_ID: hosted.server.accessKey,
    RCLONE_CONFIG_C_SECRET_ACCESS_KEY: hosted.server.secretKey,
    RCLONE_RETRIES: '1',
    RCLONE_LOW_LEVEL_RETRIES: '1',
  };
  const rclone = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(tool('bin/rclone', 'rclone'), args, { env });
    expect(code, `rclone ${args.join(' ')}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  try {
    const tree = join(hosted.folder, 'tree');
    await mkdir(join(tree, 'minio/admin'), { recursive: true });
    await writeFile(join(tree, 'one'), 'one');
    await writeFile(join(tree, 'minio/admin/a b+ü'), randomBytes(12 * 2 ** 20));
    await rclone('mkdir', `c:${bucket}`);
    await rclone('sync', tree, `c:${bucket}/tree`);
    await rclone('check', '--download', tree, `c:${bucket}/tree`);
    await rclone('moveto', `c:${bucket}/tree/one`, `c:${bucket}/moved`);
    expect(await rclone('cat', `c:${bucket}/moved`)).toBe('one');
    expect(await rclone('lsd', 'c:')).toContain(bucket);
    await rclone('purge', `c:${bucket}`);
    expect(await hostsOf(bucket)).toEqual([hostOf(bucket)]);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});
