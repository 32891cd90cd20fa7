import { request } from 'node:https';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { runCommand } from '../support/process/run-command.ts';
import { CofferContainer, type StartedCofferContainer } from './coffer-container.ts';
import { docker, image, restricted, runInImage } from './docker.ts';

/** Bytes. Node's own binary is 116 MB of it. */
const sizeBound = 160_000_000;

interface ImageConfig {
  readonly Size: number;
  readonly Config: { readonly User: string; readonly Env: readonly string[]; readonly StopSignal: string };
}
let inspected: ImageConfig;

beforeAll(async () => {
  const { stdout } = await docker(['image', 'inspect', image]);
  [inspected] = JSON.parse(stdout) as [ImageConfig];
  console.log(`the image has ${inspected.Size} bytes`);
});

describe('the image', () => {
  it(`is smaller than ${sizeBound / 1e6} MB`, () => {
    expect(inspected.Size).toBeLessThan(sizeBound);
  });

  it('runs as a user who is not root, and is stopped by SIGTERM', () => {
    expect(inspected.Config).toMatchObject({ User: '65532:65532', StopSignal: 'SIGTERM' });
  });

  it('says nothing of the machine that built it', () => {
    const own = ['PATH', 'NODE_COMPILE_CACHE', 'NODE_ENV'];
    const allocator = ['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TRIM_THRESHOLD_'];
    expect(inspected.Config.Env.map((entry) => entry.split('=')[0])).toEqual([...own, ...allocator]);
  });

  it.each(['coffer', 'coffer-server', 'coffer-store', 'keysvc', 'coffer-operator', 'kubectl-coffer'])(
    'has the program %s',
    async (program) => {
      const { code, stdout } = await runInImage([program, '--version']);
      expect({ code, version: stdout.trim().split(' ').at(-1) }).toEqual({ code: 0, version: packageJson.version });
    },
  );

  it.each(['sh', 'bash', '/bin/sh', 'busybox', 'apt', 'npm'])('has no %s', async (program) => {
    const { code, stderr } = await runInImage([program, '--version']);
    expect({ code, found: /not found|no such file/i.test(stderr) }).toEqual({ code: 127, found: true });
  });

  it('has the licences of what is in it', async () => {
    const files = [
      '/opt/coffer/dist/programs/THIRD-PARTY-LICENSES.md',
      '/opt/coffer/dist/console/THIRD-PARTY-LICENSES.md',
      '/opt/coffer/node_modules/lmdb/LICENSE',
      '/usr/share/licenses/node/LICENSE',
      ...['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1'].map((name) => `/usr/share/licenses/${name}/copyright`),
    ];
    const script = 'for (const path of process.argv.slice(1)) console.log(require("fs").statSync(path).size > 500)';
    const { stdout, stderr } = await runInImage(['node', '-e', script, ...files]);
    expect([stdout.trim().split('\n'), stderr]).toEqual([files.map(() => 'true'), '']);
  });

  it('starts programs from what Node made of their sources when the image was built', async () => {
    const { stderr } = await runInImage(['coffer-server', '--version'], ['--env', 'NODE_DEBUG_NATIVE=COMPILE_CACHE']);
    const answers = stderr.match(/cache for .*was (accepted|rejected)/g) ?? [];
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.filter((answer) => answer.endsWith('rejected'))).toEqual([]);
  });

  it('lets no program write to it', async () => {
    const script = 'require("node:fs").writeFileSync("/opt/coffer/dist/programs/coffer-server.js", "")';
    const { stderr } = await runInImage(['node', '--eval', script]);
    expect(stderr).toContain('EROFS');
    const writable = await docker(['run', '--rm', '--cap-drop', 'ALL', image, 'node', '--eval', script]);
    expect(writable.stderr).toContain('EACCES');
  });
});

describe('the server in a container', () => {
  let coffer: StartedCofferContainer;
  beforeAll(async () => {
    coffer = await new CofferContainer().start();
  }, 360_000);
  afterAll(async () => {
    await coffer?.stop();
  });

  it('takes an object in and gives it out', async () => {
    const s3 = new S3Client(coffer.connection);
    await s3.send(new CreateBucketCommand({ Bucket: 'first' }));
    const body = 'x'.repeat(3_000_000);
    await s3.send(new PutObjectCommand({ Bucket: 'first', Key: 'object', Body: body }));
    const answer = await s3.send(new GetObjectCommand({ Bucket: 'first', Key: 'object' }));
    expect((await answer.Body?.transformToString()) === body).toBe(true);
  });

  it('serves the console', async () => {
    const answer = await fetch(coffer.console);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  });

  it('ends cleanly when it is told to stop', async () => {
    const id = coffer.getId();
    await docker(['stop', '--time', '30', id]);
    const { stdout } = await docker(['inspect', '--format', '{{.State.ExitCode}}', id]);
    expect(stdout.trim()).toBe('0');
  });
});

it('a server in another region takes the requests of its connection', async () => {
  const coffer = await new CofferContainer().withSettings({ SVC_REGION: 'eu-west-1' }).start();
  try {
    const s3 = new S3Client(coffer.connection);
    const { Location } = await s3.send(new CreateBucketCommand({ Bucket: 'first' }));
    expect(Location).toBe('/first');
  } finally {
    await coffer.stop();
  }
}, 360_000);

describe('the key service in a container', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'coffer-image-'));
    await runCommand('chown', ['65532:65532', folder]);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('makes an identity, and serves under it', async () => {
    const mounted = ['--volume', `${folder}:/keys`];
    const made = await runInImage(
      ['keysvc', 'identity', 'new', '--ip', '127.0.0.1', '--key', '/keys/tls.key', '--cert', '/keys/tls.crt'],
      mounted,
    );
    expect(made.code).toBe(0);
    const config = `version: v1
address: 0.0.0.0:7373
admin: { identity: disabled }
tls: { key: /keys/tls.key, cert: /keys/tls.crt }
api: { /v1/ready: { skip_auth: true } }
keystore: { fs: { path: /keys/store } }
`;
    await writeFile(join(folder, 'config.yaml'), config);
    const server = ['keysvc', 'server', '--config', '/keys/config.yaml'];
    const { stdout: started } = await docker(['run', '--detach', ...restricted, ...mounted, image, ...server]);
    const id = started.trim();
    try {
      const address = await docker(['inspect', '--format', '{{.NetworkSettings.IPAddress}}', id]);
      const ca = await readFile(join(folder, 'tls.crt'), 'utf8');
      await expect.poll(() => ready(address.stdout.trim(), ca), { timeout: 90_000 }).toBe(200);
      await docker(['stop', '--time', '30', id]);
      const { stdout } = await docker(['inspect', '--format', '{{.State.ExitCode}}', id]);
      expect(stdout.trim()).toBe('0');
    } finally {
      await docker(['rm', '--force', id]);
    }
  }, 270_000);
});

/** The status that the key service answers on its readiness path, to a client without a certificate; 0 where there is no answer. */
function ready(host: string, ca: string): Promise<number> {
  return new Promise((resolve) => {
    // The certificate names 127.0.0.1; the container has another address.
    const asked = request(
      { host, port: 7373, path: '/v1/ready', ca, checkServerIdentity: () => undefined },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    asked.on('error', () => resolve(0));
    asked.end();
  });
}
