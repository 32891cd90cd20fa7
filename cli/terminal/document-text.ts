import { printable } from '../../platform/text/printable.ts';

/**
 * Formats the document of a server for people: a line for each value, those of an inner document indented below its name. Empty values are
 * left out.
 */
export function documentText(document: unknown): string {
  return linesOf(document).join('\n');
}

function linesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => itemOf(item));
  if (typeof value !== 'object' || value === null) return isEmpty(value) ? [] : [textOf(value)];
  const given = Object.entries(value)
    .filter(([, inner]) => !isEmpty(inner))
    .map(([name, inner]) => [printable(name), inner as unknown] as const);
  const plain = given.filter(([, inner]) => !isDocument(inner));
  const width = Math.max(0, ...plain.map(([name]) => name.length));
  return given.flatMap(([name, inner]) => {
    const label = `${name}:`;
    if (isDocument(inner)) return [label, ...linesOf(inner).map((line) => `  ${line}`)];
    return [`${label.padEnd(width + 2)}${textOf(inner)}`];
  });
}

function itemOf(item: unknown): readonly string[] {
  return linesOf(item).map((line, at) => `${at === 0 ? '- ' : '  '}${line}`);
}

/** An array of texts or numbers is one line. */
function isDocument(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object');
  return typeof value === 'object';
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.every((item) => isEmpty(item));
  return typeof value === 'object' && Object.values(value).every((inner) => isEmpty(inner));
}

function textOf(value: unknown): string {
  return printable(Array.isArray(value) ? value.join(', ') : String(value));
}
