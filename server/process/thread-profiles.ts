import { setTimeout as sleep } from 'node:timers/promises';
import type { ProfileKind } from '../administration/diagnostics.ts';
import type { ProfileFile } from '../diagnostics/profile-thread.ts';
import type { SendMessage, Thread, ToThread } from './threads.ts';

type Profiles = Extract<ToThread, { kind: 'profiles' }>;

/** The requests of a thread for profiles of all threads. */
export class ProfileRequests {
  readonly #send: SendMessage;
  readonly #waiting = new Map<number, (profiles: Profiles) => void>();
  #last = 0;

  constructor(send: SendMessage) {
    this.#send = send;
  }

  /** Resolves with the files, and the names of the threads that did not answer. */
  request(kinds: readonly ProfileKind[], durationMs: number): Promise<Pick<Profiles, 'files' | 'missing'>> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ kind: 'profile', id, kinds, durationMs });
    });
  }

  deliver(profiles: Profiles): void {
    this.#waiting.get(profiles.id)?.(profiles);
    this.#waiting.delete(profiles.id);
  }
}

/** Milliseconds after the end of a profile in which each thread answers. */
const graceMs = 15_000;

/** Profiles the main thread and the given ones for a thread that asks for it. Hashing threads wait in shared memory and hear no message. */
export function handleProfileRequests(threads: readonly Thread[]): void {
  const names = new Map(threads.map((thread, at) => [thread, at === 0 ? 'background' : `http-${at}`]));
  for (const thread of threads) {
    thread.on('profile', ({ id, kinds, durationMs }) => {
      void profileAll(names, kinds, durationMs).then(({ files, missing }) =>
        thread.send({ kind: 'profiles', id, files, missing }),
      );
    });
  }
}

async function profileAll(names: ReadonlyMap<Thread, string>, kinds: readonly ProfileKind[], durationMs: number) {
  const files: ProfileFile[] = [];
  const missing: string[] = [];
  const answers = [...names].map(async ([thread, name]) => {
    // A request to a thread that ends is rejected.
    const answered = thread.request({ kind: 'profile', name, kinds, durationMs }, 'profiled').catch(() => undefined);
    const answer = await Promise.race([answered, sleep(durationMs + graceMs, undefined, { ref: false })]);
    if (answer === undefined) missing.push(name);
    else files.push(...answer.files);
  });
  const { profileThread } = await import('../diagnostics/profile-thread.ts');
  const own = profileThread('main', kinds, durationMs).then(
    (of) => files.push(...of),
    () => missing.push('main'),
  );
  await Promise.all([...answers, own]);
  return { files: files.toSorted((a, b) => (a.name < b.name ? -1 : 1)), missing };
}
