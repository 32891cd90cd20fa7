import { randomBytes } from 'node:crypto';
import { mutex, type Semaphore } from '../../../platform/async/concurrency.ts';
import type { Key } from '../../store/record-store.ts';
import { ownerOf } from '../../auth/identities/subject.ts';
import { subjectOf } from '../../auth/principal.ts';
import type { RequestOrigin } from '../../auth/condition-keys.ts';
import type { TransferForm, TransferRow } from '../../../protocol/console/transfer-answers.ts';
import type { ConsoleServices } from '../services.ts';
import type { SignInSession, SignInSessions } from '../api/sign-in/sign-in-sessions.ts';
import { runTransfer, type TransferRun } from './run-transfer.ts';
import { StoredTransfers, transferKey } from './stored-transfers.ts';
import { rowOf, type StoredTransfer } from './transfer.ts';
import { consoleError } from '../api/console-error.ts';
import type { RequestError } from '../../../protocol/request-error.ts';

/** The maximum number of running transfers of a user, and of a server. */
const maxOfUser = 5;
const maxRunning = 20;
/** A running transfer shows its process at this interval, in milliseconds. Another server goes on after several intervals without a sign. */
const renewMs = 15_000;
const awayAfterMs = 60_000;
/** Milliseconds that an ended transfer is shown. */
const keptMs = 86_400_000;

/** A transfer on which this process works, or is about to work. */
interface Running {
  readonly owner: string;
  readonly abort: AbortController;
  /** The progress and the sign of the process write the same record. */
  readonly exclusive: Semaphore;
}

interface TransfersOptions extends Pick<ConsoleServices, 's3' | 'objects' | 'access' | 'records' | 'clock' | 'log'> {
  readonly sessions: SignInSessions;
}

/**
 * Copies and moves in the background. A transfer is a sealed record with its progress, so that it goes on without its window, and, after a
 * restart of the server, when its user opens the console again. It has the rights of the session that began it, which are asked for each
 * object, and ends with the session.
 */
export class Transfers {
  readonly #options: TransfersOptions;
  readonly #stored: StoredTransfers;
  /** Distinguishes this process from the one before a restart and from other servers. */
  readonly #runner = randomBytes(8).toString('hex');
  readonly #running = new Map<string, Running>();

  constructor(options: TransfersOptions) {
    this.#options = options;
    this.#stored = new StoredTransfers(options.records);
  }

  async start(form: TransferForm, session: SignInSession, origin: RequestOrigin): Promise<TransferRow> {
    const owner = ownerOfSession(session);
    const others = this.#runningOf(owner);
    const id = randomBytes(12).toString('hex');
    const running = this.#reserve(id, owner);
    if (running === undefined) throw busy();
    try {
      const found = await this.#stored.ofOwner(owner);
      for (const one of found) if (one.value.state === 'running') others.add(one.id);
      if (others.size >= maxOfUser) throw busy();
      const now = this.#now();
      const value: StoredTransfer = {
        format: 1,
        form,
        sessionId: session.id,
        owner,
        remoteAddress: origin.remoteAddress,
        secure: origin.secure,
        state: 'running',
        runner: this.#runner,
        seen: now,
        entry: 0,
        after: '',
        done: 0,
        failures: 0,
        failed: [],
        expires: session.expires.getTime() + keptMs,
      };
      await this.#stored.add(id, value, found);
      this.#run(id, value, running, false);
      return rowOf(id, value);
    } catch (error) {
      this.#running.delete(id);
      throw error;
    }
  }

  /** Lists the transfers of the user, and goes on with those whose server is gone. */
  async list(session: SignInSession): Promise<readonly TransferRow[]> {
    const found = await this.#stored.ofOwner(ownerOfSession(session));
    for (const { id, value } of found) await this.#takeOver(id, value);
    return found.map(({ id, value }) => rowOf(id, value));
  }

  /** Stops a transfer, or removes one that has ended. The moved objects stay moved. */
  async end(session: SignInSession, id: string): Promise<void> {
    const key = transferKey(ownerOfSession(session), id);
    const seen = await this.#stored.get(key);
    if (seen === undefined) throw consoleError('NotFound', 'There is no such transfer.');
    await this.#stored.change(key, (value) => {
      if (seen.state !== 'running') return 'deleted';
      // The user stopped a transfer that ended meanwhile: its result stays in the list.
      if (value.state !== 'running') return undefined;
      return { ...value, state: 'stopped', expires: this.#now() + keptMs };
    });
    this.#running.get(id)?.abort.abort();
  }

  /** Returns the IDs of the transfers of a user on which this process works. */
  #runningOf(owner: string): Set<string> {
    const own = [...this.#running].filter(([, one]) => one.owner === owner && !one.abort.signal.aborted);
    return new Set(own.map(([id]) => id));
  }

  /** Counts a transfer before the first wait, so that calls at the same time keep the limit. Returns undefined if the server is busy. */
  #reserve(id: string, owner: string): Running | undefined {
    if (this.#running.has(id) || this.#running.size >= maxRunning) return undefined;
    const running = { owner, abort: new AbortController(), exclusive: mutex() };
    this.#running.set(id, running);
    return running;
  }

  async #takeOver(id: string, { state, seen, owner }: StoredTransfer): Promise<void> {
    const isAbandoned = (one: Pick<StoredTransfer, 'state' | 'seen'>) =>
      one.state === 'running' && this.#now() - one.seen > awayAfterMs;
    const running = isAbandoned({ state, seen }) ? this.#reserve(id, owner) : undefined;
    if (running === undefined) return;
    try {
      // The list is older than the record: the user may have stopped the transfer, or its process saved it.
      const taken = await this.#stored.change(transferKey(owner, id), (value) =>
        isAbandoned(value) ? { ...value, runner: this.#runner, seen: this.#now() } : undefined,
      );
      if (taken === undefined) this.#running.delete(id);
      else this.#run(id, taken, running, true);
    } catch (error) {
      this.#running.delete(id);
      throw error;
    }
  }

  #run(id: string, value: StoredTransfer, running: Running, isResumed: boolean): void {
    const { s3, objects, access, clock, sessions } = this.#options;
    const key = transferKey(value.owner, id);
    const run: TransferRun = {
      s3,
      objects,
      access,
      clock,
      session: () => sessions.findById(value.sessionId),
      save: (next) => this.#save(key, running, next),
      signal: running.abort.signal,
      isResumed,
    };
    const timer = setInterval(() => {
      this.#renew(key, running).catch((error: unknown) => {
        running.abort.abort();
        this.#failed(id, error);
      });
    }, renewMs);
    timer.unref();
    runTransfer(value, run)
      .catch((error: unknown) => this.#failed(id, error))
      .finally(() => {
        clearInterval(timer);
        this.#running.delete(id);
      })
      .catch(() => undefined);
  }

  /** Saves the progress. Resolves with false where the user stopped the transfer or another process has taken it. */
  async #save(key: Key, running: Running, next: StoredTransfer): Promise<boolean> {
    const isEnded = next.state !== 'running';
    const saved = await this.#changeOwn(key, running, () => ({
      ...next,
      seen: this.#now(),
      ...(isEnded && { expires: this.#now() + keptMs }),
    }));
    return saved !== undefined;
  }

  /** Shows that this process works on the transfer. Without the record it must not go on, since another process could. */
  async #renew(key: Key, running: Running): Promise<void> {
    const renewed = await this.#changeOwn(key, running, (value) => ({ ...value, seen: this.#now() }));
    if (renewed === undefined) running.abort.abort();
  }

  /** Changes the record of a transfer that runs here. Resolves with undefined where it was stopped, or another process has taken it. */
  #changeOwn(key: Key, running: Running, change: (value: StoredTransfer) => StoredTransfer) {
    return running.exclusive(() =>
      this.#stored.change(key, (value) =>
        value.state === 'running' && value.runner === this.#runner ? change(value) : undefined,
      ),
    );
  }

  /** The cause is in the log alone: another process, or this one later, goes on. */
  #failed(id: string, error: unknown): void {
    this.#options.log.error({ err: error, transfer: id }, 'a transfer of the console was interrupted');
  }

  #now(): number {
    return this.#options.clock().getTime();
  }
}

function ownerOfSession({ credentials: { principal } }: SignInSession): string {
  const subject = subjectOf(principal);
  return subject === undefined ? '' : ownerOf(subject);
}

function busy(): RequestError {
  return consoleError('Busy', 'The server moves and copies enough already. Wait until some of it is done.');
}
