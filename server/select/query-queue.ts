import { S3Error } from '../../protocol/s3/s3-error.ts';

/** Queries that run at a time, and those that wait for them: of a thread, and of one account. */
interface QueueLimits {
  readonly running: number;
  readonly runningOfAccount: number;
  readonly waiting: number;
  readonly waitingOfAccount: number;
}

/** Who sent a query. */
export interface QueryCaller {
  /** All access keys and sessions of an account count together. */
  readonly account: string;
  /** Reports whether the client has left. */
  readonly gone: () => boolean;
}

interface Waiting extends QueryCaller {
  readonly start: () => void;
  readonly forget: () => void;
}

/**
 * The slots of queries, shared by account: one that sends many leaves slots for others. Of those that wait, the first one starts whose
 * account may run another query. A query whose client has left does not start.
 */
export class QueryQueue {
  readonly #limits: QueueLimits;
  readonly #running = new Map<string, number>();
  #waiting: readonly Waiting[] = [];

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves when the query may start, with the function that frees its slot.
   *
   * @throws S3Error Busy if too many queries wait, RequestTimeout for a client that has left meanwhile
   */
  async enter(caller: QueryCaller): Promise<() => void> {
    const { account } = caller;
    if (!this.#mayRun(account)) {
      this.#forgetThoseWhoLeft();
      const ofAccount = this.#waiting.filter((one) => one.account === account).length;
      if (ofAccount >= this.#limits.waitingOfAccount) {
        throw new S3Error('Busy', `${ofAccount} queries of this account wait already. Try again later.`);
      }
      if (this.#waiting.length >= this.#limits.waiting) throw new S3Error('Busy');
      await new Promise<void>((start, reject) => {
        const forget = () => reject(new S3Error('RequestTimeout', 'The client closed the connection.'));
        this.#waiting = [...this.#waiting, { ...caller, start, forget }];
      });
    } else this.#count(account, 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#count(account, -1);
      this.#startNext();
    };
  }

  #mayRun(account: string): boolean {
    const all = this.#running.values().reduce((sum, count) => sum + count, 0);
    return all < this.#limits.running && (this.#running.get(account) ?? 0) < this.#limits.runningOfAccount;
  }

  #count(account: string, change: number): void {
    const count = (this.#running.get(account) ?? 0) + change;
    if (count === 0) this.#running.delete(account);
    else this.#running.set(account, count);
  }

  #forgetThoseWhoLeft(): void {
    const [left, staying] = [this.#waiting.filter((one) => one.gone()), this.#waiting.filter((one) => !one.gone())];
    this.#waiting = staying;
    for (const one of left) one.forget();
  }

  #startNext(): void {
    this.#forgetThoseWhoLeft();
    for (const next of this.#waiting) {
      if (!this.#mayRun(next.account)) continue;
      this.#waiting = this.#waiting.filter((one) => one !== next);
      this.#count(next.account, 1);
      next.start();
    }
  }
}
