import { PAGE, WebAssembly } from '../checksums/wasm-assembly.ts';
import { memoryBytes, seatsOf, SHARE } from './layout.ts';
import { md5Lanes } from './md5-module.ts';
import { HashingRounds } from './rounds.ts';
import { Seats } from './seats.ts';

/** What HTTP threads share with their hashing thread. It takes room on the machine only as it is used. */
export interface HashingMemory {
  readonly buffer: SharedArrayBuffer;
}

/** Where an HTTP thread hashes: what it shares, with how many in all, and which of them it is. */
export interface HashingPlace {
  readonly memory: HashingMemory;
  readonly threads: number;
  readonly part: number;
}

/** The place of each of so many HTTP threads. */
export function hashingPlaces(threads: number): readonly HashingPlace[] {
  const groups = Array.from({ length: Math.ceil(threads / SHARE) }, (_, group) => {
    const members = Math.min(SHARE, threads - group * SHARE);
    const pages = Math.ceil(memoryBytes(members) / PAGE);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    return Array.from({ length: members }, (__, part) => ({ memory, threads: members, part }));
  });
  return groups.flat();
}

/** @param start is called before the first large body: the hashing thread is not needed earlier */
export function seatsAt({ memory, part }: HashingPlace, start: () => void): Seats {
  return new Seats(memory.buffer, part, start);
}

/** Hashes for ever: the thread that calls this does nothing else until it is ended. */
export function hashForEver(memory: HashingMemory, threads: number): never {
  const rounds = new HashingRounds(memory.buffer, seatsOf(threads), md5Lanes(memory));
  for (;;) {
    // Looked at first: what is handed over after the round rings it again.
    const bell = rounds.bell();
    if (!rounds.next()) rounds.wait(bell);
  }
}
