import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { GeneratorAnswer, GeneratorRequest } from './messages.ts';
import type { Measured } from './session.ts';

/** The generator's process. One request is under way at a time. */
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
