import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { KubernetesDouble } from '../kubernetes/kubernetes-double.ts';

/** Bytes of the heap that are in use after everything that can be collected was. */
export function collectedHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

const program = fileURLToPath(new URL('operator-program.ts', import.meta.url));

export interface Usage {
  readonly rssBytes: number;
  /** Since the start. */
  readonly cpuMicroseconds: number;
}

/** The operator as a child of this process. What it writes to stderr goes to ours. */
export class OperatorChild {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: Interface;

  constructor(double: KubernetesDouble) {
    this.#child = spawn(process.execPath, [program, double.url, double.token]);
    this.#child.stderr.pipe(process.stderr);
    this.#lines = createInterface(this.#child.stdout);
  }

  usage(): Promise<Usage> {
    const answer = Promise.withResolvers<Usage>();
    const ended = (): void => answer.reject(new Error('the operator ended'));
    this.#child.once('exit', ended);
    this.#lines.once('line', (line) => {
      this.#child.off('exit', ended);
      // A log line of an error is no answer.
      const parsed = JSON.parse(line) as Partial<Usage>;
      if (parsed.rssBytes === undefined) answer.reject(new Error(line));
      else answer.resolve(parsed as Usage);
    });
    this.#child.stdin.write('?\n');
    return answer.promise;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin.end();
    await ended;
  }
}
