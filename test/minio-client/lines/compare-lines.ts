import { comparable, documentsOf, plainText } from './comparable.ts';
import type { ClientSide, Reply } from './client-side.ts';
import type { Group, Line } from './read-lines.ts';

/** What differs between the clients after one line. */
export interface Difference {
  readonly group: string;
  readonly line: string;
  /** `code`: the exit code; `use`: a line marked as wrong succeeds; `json`, `text`: what was printed; `effect`: files, buckets, objects. */
  readonly kind: 'code' | 'use' | 'json' | 'text' | 'effect';
  readonly mc: readonly string[];
  readonly coffer: readonly string[];
}

export interface CompareOptions {
  /** Whether the marks of wrong uses are those of this kind of server. A server may take what another refuses. */
  readonly marks?: boolean;
}

/** Runs the lines of a group with both clients, each with a server of its own, and returns what differs. */
export async function compareGroup(
  group: Group,
  mc: ClientSide,
  coffer: ClientSide,
  options: CompareOptions = {},
): Promise<Difference[]> {
  const differences: Difference[] = [];
  let known = '';
  const effects = async (line: string, state: (side: ClientSide) => Promise<string[]>) => {
    const [theirs, ours] = await Promise.all([state(mc), state(coffer)]);
    const difference = { group: group.name, line, kind: 'effect' as const, ...onlyIn(theirs, ours) };
    const text = JSON.stringify([difference.mc, difference.coffer]);
    // A difference of an earlier line is reported once.
    if (text !== known && difference.mc.length + difference.coffer.length > 0) differences.push(difference);
    known = text;
  };
  for (const line of group.lines) {
    const [theirs, ours] = await Promise.all([mc.run(line), coffer.run(line)]);
    differences.push(...differencesOf(group, line, [mc, theirs], [coffer, ours]));
    if (options.marks === true && line.wrong !== (theirs.code !== 0)) {
      const shown = { mc: outcomeOf(theirs), coffer: outcomeOf(ours) };
      differences.push({ group: group.name, line: line.text, kind: 'use', ...shown });
    }
    await effects(line.text, (side) => side.state());
  }
  known = '';
  await effects('the headers and tags of all objects', (side) => side.details());
  return differences;
}

type Outcome = readonly [side: ClientSide, reply: Reply];

function differencesOf(group: Group, line: Line, [mc, theirs]: Outcome, [coffer, ours]: Outcome): Difference[] {
  const name = { group: group.name, line: line.text };
  const whole = { mc: outcomeOf(theirs), coffer: outcomeOf(ours) };
  if (theirs.code !== ours.code) return [{ ...name, kind: 'code', ...whole }];
  if (documentsOf(theirs.stdout).length === 0 || (theirs.code !== 0 && !theirs.stdout.includes('"status"'))) {
    // Stock mc prints the help of a command that it does not understand, also with --json.
    if (theirs.code !== 0) return [];
    const [said, expected] = [plainText(ours, coffer), plainText(theirs, mc)];
    return said === expected ? [] : [{ ...name, kind: 'text', mc: [expected], coffer: [said] }];
  }
  const said = withoutRepeatedErrors(comparable(ours, coffer).map((document) => withoutWording(document)));
  const expected = withoutRepeatedErrors(comparable(theirs, mc).map((document) => withoutWording(document)));
  const only = uncovered(said, expected);
  return only.mc.length + only.coffer.length === 0 ? [] : [{ ...name, kind: 'json', ...only }];
}

/** The documents of either client that have no counterpart. Ours may say more than stock mc. */
function uncovered(said: readonly unknown[], expected: readonly unknown[]) {
  const left = [...said];
  const missing = expected.filter((document) => {
    const at = left.findIndex((one) => covers(one, document));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return { mc: asText(missing), coffer: asText(left) };
}

/** Whether a value has all that the expected one has. */
function covers(value: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    if (!Array.isArray(value) || value.length !== expected.length) return false;
    return expected.every((item) => value.some((one) => covers(one, item)));
  }
  if (typeof expected !== 'object' || expected === null) return value === expected;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(expected).every(([name, part]) => covers((value as Record<string, unknown>)[name], part));
}

function asText(documents: readonly unknown[]): string[] {
  return documents.map((document) => JSON.stringify(document));
}

function outcomeOf({ code, stdout, stderr }: Reply): string[] {
  return [`exit ${code}`, stdout.slice(0, 600), stderr.slice(0, 600)];
}

function onlyIn(mc: readonly string[], coffer: readonly string[]) {
  return { mc: without(mc, coffer), coffer: without(coffer, mc) };
}

/** Each line of the others takes one line away. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return lines.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Stock mc reports some errors twice. */
function withoutRepeatedErrors(documents: readonly unknown[]): readonly unknown[] {
  const texts = asText(documents);
  return documents.filter(
    (_, index) => !texts[index]?.startsWith('{"status":"error"') || texts.indexOf(texts[index] ?? '') === index,
  );
}

interface ErrorDocument {
  readonly status?: unknown;
  readonly error?: { readonly cause?: { readonly error?: { readonly Code?: unknown } } };
}

/** Errors are compared by the code of the server: the wording is each client's own. */
function withoutWording(document: unknown): unknown {
  const { status, error } = document as ErrorDocument;
  if (status !== 'error' || typeof error !== 'object') return document;
  const code = error.cause?.error?.Code;
  return { status, ...(code === undefined || code === '' ? {} : { code }) };
}
