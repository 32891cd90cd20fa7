import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'minor' | 'major' }) => void;

let collect: Collect | undefined;

/** Collects garbage in this thread now. A minor collection looks at young objects only; a major one stops a thread for 20 to 60 ms. */
export function collectGarbage(type: 'minor' | 'major'): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  collect({ type });
}
