import { appendFileSync } from 'node:fs';

/** What a run showed, in one line: on the terminal, and for `.ci/soak` in the file that it names. */
export function report(line: string): void {
  console.log(line);
  const file = process.env['COFFER_SOAK_REPORT'];
  if (file !== undefined) appendFileSync(file, `- ${line}\n`);
}
