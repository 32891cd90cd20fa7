import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { tool } from '../process/run-command.ts';

interface LoadTarget {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucket: string;
  readonly habits?: LoadHabits;
}

/** What is not as the clients do by default. */
export interface LoadHabits {
  /** Sizes of the objects, in turn; 16 KiB each without it. */
  readonly bodyBytes?: readonly number[];
  /** Attempts that a client makes at one request. */
  readonly attempts?: number;
  /** Requests of a client at a time. */
  readonly workers?: number;
}

const usualBody = 16 * 1024;

export interface LoadFigures {
  readonly requests: number;
  /** Requests that needed a retry of the client's own, and succeeded. */
  readonly retried: number;
  /** What the client gave up, with its default retries: why, each. */
  readonly failures: readonly string[];
  /** Objects that came back with other bytes than were written. */
  readonly wrong: number;
}

interface Load {
  stop(): Promise<LoadFigures>;
}

const usualWorkers = 4;

/** Writes and reads without pause by the AWS SDK for JavaScript, all its settings at their defaults but those of the habits. */
export function loadByJavaScript({ endpoint, bucket, habits = {}, ...credentials }: LoadTarget): Load {
  const { attempts, bodyBytes = [usualBody], workers = usualWorkers } = habits;
  const s3 = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials,
    ...(attempts === undefined ? {} : { maxAttempts: attempts }),
  });
  const figures = { requests: 0, retried: 0, failures: [] as string[], wrong: 0 };
  const stopped = new AbortController();
  const count = async <T extends { $metadata: { attempts?: number } }>(name: string, call: Promise<T>) => {
    figures.requests += 1;
    try {
      const answer = await call;
      if ((answer.$metadata.attempts ?? 1) > 1) figures.retried += 1;
      return answer;
    } catch (error) {
      const { message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
      figures.failures.push(`${name}: ${$metadata?.httpStatusCode ?? ''} ${message}`);
      return undefined;
    }
  };
  const work = async (worker: number) => {
    for (let turn = 0; !stopped.signal.aborted; turn += 1) {
      const Key = `javascript/${worker}/${turn % 50}`;
      const body = randomBytes(bodyBytes[turn % bodyBytes.length] ?? usualBody);
      const put = await count('PutObject', s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: body })));
      const got = await count('GetObject', s3.send(new GetObjectCommand({ Bucket: bucket, Key })));
      const bytes = await got?.Body?.transformToByteArray();
      if (put !== undefined && bytes !== undefined && !body.equals(bytes)) figures.wrong += 1;
      // As an application does: what the server is asked is what is measured here, not how much it can take.
      await pause(20);
    }
  };
  const all = Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return {
    async stop() {
      stopped.abort();
      await all;
      s3.destroy();
      return figures;
    },
  };
}

/** The same by boto3. Resolves when it has written its first object. */
export async function loadByPython(target: LoadTarget): Promise<Load> {
  const script = fileURLToPath(new URL('load.py', import.meta.url));
  const child = spawn(tool('boto3/bin/python', 'boto3'), [script], {
    env: { PATH: process.env['PATH'] ?? '', NO_PROXY: '*' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const exited = new Promise<void>((resolve) => {
    child.on('close', () => resolve());
  });
  child.stdin.write(`${JSON.stringify({ ...target, workers: target.habits?.workers ?? usualWorkers })}\n`);
  while (!said.includes('started')) {
    if (child.exitCode !== null) throw new Error(`boto3 did not start: ${said}`);
    await pause(50);
  }
  return {
    async stop() {
      child.stdin.end();
      await exited;
      return JSON.parse(said.split('\n')[1] ?? '') as LoadFigures;
    },
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
