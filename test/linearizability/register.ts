import type { Answer, Condition, State } from './operation.ts';

/** What clients work on. A call that breaks off or meets a server in trouble is `unknown`: it may have been done, or be done yet. */
export interface Register {
  get(key: string): Promise<{ readonly shown: State } | 'unknown'>;
  put(key: string, value: string, condition: Condition): Promise<Answer>;
  delete(key: string): Promise<'done' | 'unknown'>;
}
