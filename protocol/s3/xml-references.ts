import { S3Error } from './s3-error.ts';

const predefined: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Replaces the five named entities and character references; any other reference is refused, so that nothing can expand. */
export function resolveReferences(text: string): string {
  return text.replaceAll(/&([^;&]{0,10});?/g, (reference, name: string) => {
    const resolved = reference.endsWith(';') ? (predefined[name] ?? character(name)) : undefined;
    if (resolved === undefined) {
      throw new S3Error(
        'MalformedXML',
        `The XML that you provided was not well formed: "${reference}" is no known reference.`,
      );
    }
    return resolved;
  });
}

function character(name: string): string | undefined {
  const match = /^#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}))$/.exec(name);
  if (match === null) return undefined;
  const point = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16);
  const surrogate = point >= 0xd800 && point <= 0xdfff;
  return point > 0x10_ffff || surrogate ? undefined : String.fromCodePoint(point);
}
