import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { freePort } from '../support/process/free-port.ts';
import { programEnvironment, tenantSettings } from '../support/process/program.ts';
import { quickStartArguments } from '../support/process/quick-start.ts';

const manifests = fileURLToPath(new URL('../../examples/quickstart/manifests', import.meta.url));

export interface StatusFile {
  readonly status: {
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
    readonly servers?: string;
  };
  readonly events: readonly { readonly reason: string; readonly message: string; readonly count: number }[];
}

/** `npm start` in a folder of its own, on free ports. */
export class QuickStart {
  readonly folder = mkdtempSync(join(tmpdir(), 'coffer-quick-start-'));
  readonly state = join(this.folder, 'state');
  readonly manifests = join(this.folder, 'manifests');
  readonly ports = { s3: 0, console: 0, keys: 0, demo: 0 };
  output = '';
  #child: ChildProcess | undefined;
  #ended: Promise<number | null> = Promise.resolve(0);

  /** Copies the manifests with ports that are free. */
  async prepare(): Promise<void> {
    cpSync(manifests, this.manifests, { recursive: true });
    const replacements = [
      ['s3', 9000, 'tenant.yaml'],
      ['console', 9090, 'tenant.yaml'],
      ['keys', 7373, 'kms-config.yaml'],
      ['demo', 9080, 'identity-provider.yaml'],
    ] as const;
    for (const [name, port, file] of replacements) {
      this.ports[name] = await freePort();
      this.edit(file, (text) => text.replace(String(port), String(this.ports[name])));
    }
    this.edit('tenant.yaml', (text) => `${text}  settings: ${JSON.stringify(tenantSettings)}\n`);
  }

  edit(file: string, change: (text: string) => string): void {
    const path = join(this.manifests, file);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }

  run(more: readonly string[] = []): void {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(SVC|MINIO)_/.test(name));
    const environment = { ...Object.fromEntries(inherited), ...programEnvironment };
    const args = [...quickStartArguments(), '--state', this.state, '--manifests', this.manifests];
    const child = spawn(process.execPath, [...args, ...more], { stdio: ['ignore', 'pipe', 'pipe'], env: environment });
    this.#child = child;
    this.output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString('utf8');
      });
    }
    this.#ended = new Promise((resolve) => {
      child.once('exit', resolve);
    });
  }

  get ended(): Promise<number | null> {
    return this.#ended;
  }

  /** Sends a signal and waits for the end; answers the exit code. */
  stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    this.#child?.kill(signal);
    return this.#ended;
  }

  async cleanUp(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get rootPassword(): string {
    return readFileSync(join(this.state, 'secrets/demo-root-credentials/rootPassword'), 'utf8').trim();
  }

  password(user: string): string {
    return new RegExp(`${user} +password (\\S+)`).exec(this.output)?.[1] ?? '';
  }

  pid(workload: string): number {
    return Number(JSON.parse(readFileSync(join(this.state, 'workloads', workload, 'process'), 'utf8')).pid);
  }

  status(file: string): StatusFile {
    return parse(readFileSync(join(this.state, 'status', `${file}.yaml`), 'utf8')) as StatusFile;
  }

  condition(file: string, type: string) {
    return this.status(file).status.conditions.find((condition) => condition.type === type);
  }

  /** The reasons of restarts of the server so far. */
  restarts(): readonly string[] {
    return this.status('tenant-demo')
      .events.filter(({ message }) => message.startsWith('restarts for '))
      .flatMap(({ reason, message, count }) => Array.from({ length: count }, () => `${reason}: ${message}`));
  }
}

/** Waits until something is true; errors with what was seen when it does not come. */
export async function eventually(
  what: string,
  holds: () => boolean,
  seen: () => string,
  withinMs = 25_000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      if (holds()) return;
    } catch {
      // A file that is not there yet.
    }
    if (Date.now() > deadline) throw new Error(`${what} did not come; seen:\n${seen()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
