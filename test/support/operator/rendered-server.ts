import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Secret } from '../../../operator/contract/secret.ts';
import { resolveContent, resolveText } from '../../../operator/contract/resolve.ts';
import { ownPair } from './render-cases.ts';
import type { Workload } from '../../../operator/contract/workload.ts';
import { programArguments, programEnvironment, serverThreads, withoutConsole } from '../process/program.ts';

const programs = {
  'coffer-server': programArguments(new URL('../../../server/main.ts', import.meta.url)),
  keysvc: programArguments(new URL('../../../keysvc/main.ts', import.meta.url)),
} as const;
const startMs = 120_000;

/** How the start of a server ended: it serves, or waits for a dependency, or is gone. */
export interface StartOutcome {
  readonly kind: 'serves' | 'waits' | 'ended' | 'silent';
  readonly output: string;
}

/** Runs a real server, or key service, with the environment and the files of what is rendered, until its start has an outcome. */
export async function startRendered(
  workload: Workload,
  secrets: ReadonlyMap<string, Pick<Secret, 'data'>>,
): Promise<StartOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-rendered-'));
  try {
    return await outcomeOf(await commandOf(workload, secrets, folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Command {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function commandOf(
  workload: Workload,
  secrets: ReadonlyMap<string, Pick<Secret, 'data'>>,
  folder: string,
): Promise<Command> {
  const symbols = {
    listen: () => '127.0.0.1:0',
    address: () => '127.0.0.1:1',
    mountPath: (mount: string) => join(folder, mount),
    secret: (name: string, key: string) => secrets.get(name)?.data[key] ?? '',
    certificate: (_: string, part: string) => (part === 'key' ? ownPair.keyPem : ownPair.certPem),
  };
  for (const mount of workload.mounts) {
    await mkdir(join(folder, mount.name), { recursive: true });
    if (mount.kind !== 'files') continue;
    for (const { path, content } of mount.files) {
      const file = join(folder, mount.name, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, await resolveContent(content, workload, symbols));
    }
  }
  const env = workload.environment.map(({ name, value }) => [name, resolveText(value, workload, symbols)]);
  return {
    args: [
      ...programs[workload.program],
      ...workload.arguments.map((argument) => resolveText(argument, workload, symbols)),
    ],
    env: {
      PATH: process.env['PATH'] ?? '',
      ...programEnvironment,
      ...withoutConsole,
      ...(serverThreads === undefined ? {} : { SVC_THREADS: serverThreads }),
      SVC_CONFIG_ENV_FILE: '/dev/null',
      ...(Object.fromEntries(env) as Record<string, string>),
    },
  };
}

function outcomeOf({ args, env }: Command): Promise<StartOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env, timeout: startMs, killSignal: 'SIGKILL' });
    let output = '';
    let kind: StartOutcome['kind'] | undefined;
    const see = (text: string) => {
      output += text;
      const seen = output.includes('"event":"listening"')
        ? 'serves'
        : / waits? for|waiting for/.test(output)
          ? 'waits'
          : undefined;
      if (seen === undefined || kind !== undefined) return;
      kind = seen;
      child.kill('SIGKILL');
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', see);
    child.on('error', reject);
    child.on('close', (code) => resolve({ kind: kind ?? (code === null ? 'silent' : 'ended'), output }));
  });
}
