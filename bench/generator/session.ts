import { askWell, ask } from './ask.ts';
import { drive, type Driven } from './drive.ts';
import type { Endpoint } from './endpoint.ts';
import { RequestRing } from './request-ring.ts';
import { RequestSigner } from './request-signer.ts';
import { bucket, type Load, type PreparedRound, type Round } from '../loads/load.ts';
import { describeFailures } from '../loads/objects.ts';

export async function makeBucket(endpoint: Endpoint): Promise<void> {
  const { status } = await ask(endpoint, { method: 'HEAD', path: `/${bucket}`, query: '' });
  if (status !== 200) await askWell(endpoint, { method: 'PUT', path: `/${bucket}`, query: '' });
}

/** One round of a load: `prepare`, `run` (the measured part), `finish`. */
export class RoundInProgress {
  readonly #round: Round;
  readonly #prepared: PreparedRound;
  readonly #ring: RequestRing;
  #done = 0;

  private constructor(round: Round, prepared: PreparedRound) {
    this.#round = round;
    this.#prepared = prepared;
    this.#ring = new RequestRing(prepared.requests, new RequestSigner(round.endpoint, new Date()));
  }

  static async prepare(load: Load, round: Round): Promise<RoundInProgress> {
    return new RoundInProgress(round, await load.prepare(round));
  }

  async run(milliseconds: number): Promise<Driven> {
    const { repeat } = this.#prepared;
    const { endpoint: address, connections } = this.#round;
    const driven = await drive({ address, ring: this.#ring, connections, milliseconds, repeat });
    this.#done = driven.operations;
    if (driven.failures.size > 0) throw new Error(`answers were wrong: ${describeFailures(driven.failures)}`);
    return driven;
  }

  /** Verifies and clears, outside the measured time. */
  async finish(): Promise<void> {
    await this.#prepared.verify(this.#done);
    await this.#prepared.clear(this.#done);
  }
}
