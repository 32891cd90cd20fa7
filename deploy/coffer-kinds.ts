import * as kinds from '../operator/api/kinds.ts';
import type { Kind } from '../operator/api/kinds.ts';

/** Every kind of `coffer.dev`, by name: runtimes order a module's exports differently. */
export const cofferKinds: readonly Kind<unknown>[] = (
  Object.values(kinds) as readonly unknown[] as Kind<unknown>[]
).sort((a, b) => (a.kind < b.kind ? -1 : 1));
