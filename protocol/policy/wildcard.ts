import { compileGlob, fitsGlob } from './glob.ts';
import type { Pattern } from './pattern.ts';

export { parsePattern } from './pattern.ts';

/** Whether the whole of `text` fits. Who asks often keeps the `Glob`. */
export function matches(pattern: Pattern, text: string): boolean {
  return fitsGlob(compileGlob(pattern), text);
}
