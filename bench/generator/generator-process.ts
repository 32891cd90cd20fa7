import type { BenchBucket, Measured } from './session.ts';
import type { Endpoint } from './request-signer.ts';
import type { Round } from '../loads/load.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The requests to the generator's process. `prepare`, `run` and `finish` follow each other. */
export type GeneratorRequest =
  | { readonly kind: 'make-bucket'; readonly endpoint: Endpoint; readonly settings: BenchBucket }
  | { readonly kind: 'prepare'; readonly load: string; readonly round: Round }
  | { readonly kind: 'run' }
  | { readonly kind: 'finish' }
  | Fill;

/** Writes this many times to `objects` objects in turn. */
interface Fill {
  readonly kind: 'fill';
  readonly endpoint: Endpoint;
  readonly prefix: string;
  readonly objects: number;
  /** The size of each object. */
  readonly bytes: number;
  readonly writes: number;
  readonly connections: number;
}

export type GeneratorAnswer =
  | { readonly kind: 'done' }
  | { readonly kind: 'measured'; readonly measured: Measured }
  | { readonly kind: 'failed'; readonly message: string };

/** The generator's process. At most one request is pending. */
export class GeneratorProcess {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('generator-child.ts', import.meta.url)));

  async do(request: GeneratorRequest): Promise<void> {
    await this.#ask(request);
  }

  async run(): Promise<Measured> {
    const answer = await this.#ask({ kind: 'run' });
    if (answer.kind !== 'measured') throw new Error('the generator answered without figures');
    return answer.measured;
  }

  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  #ask(request: GeneratorRequest): Promise<Exclude<GeneratorAnswer, { kind: 'failed' }>> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`the generator exited with ${code}`));
      this.#child.once('exit', ended);
      this.#child.once('message', (message) => {
        this.#child.off('exit', ended);
        const answer = message as GeneratorAnswer;
        if (answer.kind === 'failed') reject(new Error(answer.message));
        else resolve(answer);
      });
      this.#child.send(request);
    });
  }
}
