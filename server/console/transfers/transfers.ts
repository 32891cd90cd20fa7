import { randomBytes } from 'node:crypto';
import { decodeKey } from '../../store/keys.ts';
import { sealedKey, sealedWithin } from '../../encryption/sealed-records.ts';
import { ownerOf } from '../../auth/identities/subject.ts';
import { subjectOf } from '../../auth/principal.ts';
import type { RequestOrigin } from '../../auth/condition-keys.ts';
import type { TransferForm, TransferRow } from '../contract/transfer-answers.ts';
import type { ConsoleServices } from '../services.ts';
import { ConsoleError } from '../api/console-error.ts';
import { parseJson } from '../api/sign-in/expired-records.ts';
import type { SignInSession, SignInSessions } from '../api/sign-in/sign-in-sessions.ts';
import { runTransfer, type TransferRun } from './run-transfer.ts';
import { rowOf, storedTransfer, type StoredTransfer } from './transfer.ts';

export const transferPrefix = 'console-transfer';

/** The transfers of one user that may run at the same time, and those of a server. */
const maxOfUser = 5;
const maxRunning = 20;
/** Milliseconds without a sign of the runner, after which another server goes on. */
const lostAfterMs = 60_000;
/** Milliseconds that an ended transfer is shown. */
const keptMs = 86_400_000;
const maxListed = 1_000;

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
  /** Distinguishes this process from the one before a restart and from other servers. */
  readonly #runner = randomBytes(8).toString('hex');
  readonly #running = new Map<string, AbortController>();

  constructor(options: TransfersOptions) {
    this.#options = options;
  }

  async start(form: TransferForm, session: SignInSession, origin: RequestOrigin): Promise<TransferRow> {
    const owner = ownerOfSession(session);
    const running = (await this.#ofOwner(owner)).filter(({ value }) => value.state === 'running').length;
    if (running >= maxOfUser || this.#running.size >= maxRunning) {
      throw new ConsoleError('Busy', 'The server moves and copies enough already. Wait until some of it is done.');
    }
    const id = randomBytes(12).toString('hex');
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
    await this.#options.records.put(sealedKey(transferPrefix, id), encode(value), { kind: 'absent' });
    this.#run(id, value);
    return rowOf(id, value);
  }

  /** Lists the transfers of the user, and goes on with those whose server is gone. */
  async list(session: SignInSession): Promise<readonly TransferRow[]> {
    const found = await this.#ofOwner(ownerOfSession(session));
    for (const { id, value } of found) await this.#takeOver(id, value);
    return found.map(({ id, value }) => rowOf(id, value));
  }

  /** Stops a transfer, or removes one that has ended. What is moved stays moved. */
  async end(session: SignInSession, id: string): Promise<void> {
    const value = await this.#read(id);
    if (value === undefined || value.owner !== ownerOfSession(session)) {
      throw new ConsoleError('NotFound', 'There is no such transfer.');
    }
    if (value.state === 'running') {
      await this.#options.records.put(sealedKey(transferPrefix, id), encode({ ...value, state: 'stopped' }));
    } else await this.#options.records.delete(sealedKey(transferPrefix, id));
    this.#running.get(id)?.abort();
  }

  async #ofOwner(owner: string) {
    const found: { readonly id: string; readonly value: StoredTransfer }[] = [];
    const range = { ...sealedWithin(transferPrefix), limit: maxListed };
    for await (const { key, value } of this.#options.records.scan(range)) {
      const stored = storedTransfer.safeParse(parseJson(value)).data;
      if (stored?.owner === owner) found.push({ id: decodeKey(key).at(-1)?.toString() ?? '', value: stored });
    }
    return found;
  }

  async #takeOver(id: string, value: StoredTransfer): Promise<void> {
    const lost = value.state === 'running' && this.#now() - value.seen > lostAfterMs;
    if (!lost || this.#running.has(id) || this.#running.size >= maxRunning) return;
    const entry = await this.#options.records.get(sealedKey(transferPrefix, id));
    if (entry === undefined) return;
    const taken = { ...value, runner: this.#runner, seen: this.#now() };
    const expectation = { kind: 'revision', revision: entry.revision } as const;
    const outcome = await this.#options.records.put(entry.key, encode(taken), expectation);
    if (outcome === 'committed') this.#run(id, taken);
  }

  #run(id: string, value: StoredTransfer): void {
    const abort = new AbortController();
    this.#running.set(id, abort);
    const { s3, objects, access, clock, sessions } = this.#options;
    const run: TransferRun = {
      s3,
      objects,
      access,
      clock,
      session: () => sessions.findById(value.sessionId),
      save: (next) => this.#save(id, next),
      signal: abort.signal,
    };
    runTransfer(value, run)
      .catch((error: unknown) => this.#failed(id, error))
      .finally(() => this.#running.delete(id))
      .catch(() => undefined);
  }

  /** Saves the progress. Resolves with false where the user stopped the transfer or another process has taken it. */
  async #save(id: string, next: StoredTransfer): Promise<boolean> {
    const entry = await this.#options.records.get(sealedKey(transferPrefix, id));
    const current = entry && storedTransfer.safeParse(parseJson(entry.value)).data;
    if (entry === undefined || current?.state !== 'running' || current.runner !== this.#runner) return false;
    const value = { ...next, seen: this.#now(), ...(next.state !== 'running' && { expires: this.#now() + keptMs }) };
    const expectation = { kind: 'revision', revision: entry.revision } as const;
    return (await this.#options.records.put(entry.key, encode(value), expectation)) === 'committed';
  }

  /** The cause is in the log alone: another process, or this one later, goes on. */
  #failed(id: string, error: unknown): void {
    this.#options.log.error({ err: error, transfer: id }, 'a transfer of the console was interrupted');
  }

  async #read(id: string): Promise<StoredTransfer | undefined> {
    const entry = await this.#options.records.get(sealedKey(transferPrefix, id));
    return entry && storedTransfer.safeParse(parseJson(entry.value)).data;
  }

  #now(): number {
    return this.#options.clock().getTime();
  }
}

function ownerOfSession({ credentials: { principal } }: SignInSession): string {
  const subject = subjectOf(principal);
  return subject === undefined ? '' : ownerOf(subject);
}

function encode(value: StoredTransfer): Buffer {
  return Buffer.from(JSON.stringify(value));
}
