import { writeFile } from 'node:fs/promises';

/** The count of steps by `PERSON: JOB: HANDS`. */
export type Counts = Map<string, number>;

const row = /^\| (?<person>[a-z ]+?) +\| (?<title>\S.*?) +\| +(?<mouse>\d+) \| +(?<keyboard>\d+) \|$/gm;

/** Reads the table of docs/console-jobs.md. */
export function readCounts(text: string): Counts {
  const counts: Counts = new Map();
  for (const { groups = {} } of text.matchAll(row)) {
    counts.set(`${groups['person']}: ${groups['title']}: mouse`, Number(groups['mouse']));
    counts.set(`${groups['person']}: ${groups['title']}: keyboard`, Number(groups['keyboard']));
  }
  return counts;
}

/** Writes docs/console-jobs.md. */
export async function writeCounts(counts: Counts): Promise<void> {
  const jobs = [...counts.keys()]
    .filter((key) => key.endsWith(': mouse'))
    .map((key) => key.slice(0, -': mouse'.length));
  const rows = jobs.map((job) => {
    const [person = '', title = ''] = job.split(': ');
    const steps = ['mouse', 'keyboard'].map((hands) => String(counts.get(`${job}: ${hands}`) ?? 0));
    return `| ${person.padEnd(13)} | ${title.padEnd(56)} | ${steps[0]?.padStart(5)} | ${steps[1]?.padStart(8)} |`;
  });
  const sum = (hands: string) =>
    [...counts].filter(([key]) => key.endsWith(`: ${hands}`)).reduce((total, [, steps]) => total + steps, 0);
  const text = `# Daily jobs in the console

What data users and administrators do every day, each done in a real Chromium by mouse and by keyboard alone, from the first page after the sign-in until an S3
client or the admin API sees the result. A step is a click, a text that is typed, or a key of intent (Enter, Space); Tab and the arrows that lead to a control are
none.

| person        | job                                                      | mouse | keyboard |
| ------------- | -------------------------------------------------------- | ----: | -------: |
${rows.join('\n')}

Together: ${sum('mouse')} steps by mouse, ${sum('keyboard')} by keyboard. \`COFFER_JOBS=write bash .ci/tier browser test/browser/jobs\` writes this page on
${new Date().toISOString().slice(0, 10)}; the gate does each job in one of the two ways and compares the count.
`;
  await writeFile(
    new URL('../../../docs/console-jobs.md', import.meta.url),
    text.replace('writes this page on', 'wrote this page on'),
  );
}
