declare const xml: unique symbol;
/** Finished markup. Only this file makes it, so that no text gets in unescaped. */
export type Xml = string & { readonly [xml]: true };
type XmlContent = string | number | boolean | Date | undefined | readonly (Xml | undefined)[];

const s3Namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** Writes one element: `element('Name', 'text')` or `element('Owner', [element(…), …])`. Absent children are left out. */
export function element(name: string, content: XmlContent, attributes?: Readonly<Record<string, string>>): Xml {
  const open = attributes === undefined ? name : opening(name, attributes);
  const inner = write(content);
  return (inner === '' ? `<${open}/>` : `<${open}>${inner}</${name}>`) as Xml;
}

/** Writes text between elements. */
export function xmlText(text: string): Xml {
  return escape(text) as Xml;
}

/** Writes a sentence between elements. Quotes stay, as in the messages of S3: some programs read them without a parser. */
export function xmlSentence(text: string): Xml {
  return escape(text).replaceAll('&quot;', '"').replaceAll('&apos;', "'") as Xml;
}

/**
 * Writes elements with finished markup in the gaps: markup`<Size>${5}</Size>`. It is for lines that a response has a thousand times: one
 * call of `element` costs as much as such a line of five elements.
 */
export function markup(literal: TemplateStringsArray, ...gaps: readonly (Xml | number)[]): Xml {
  let text = literal[0] ?? '';
  for (let index = 0; index < gaps.length; index += 1) text += `${gaps[index]}${literal[index + 1]}`;
  return text as Xml;
}

/** Joins finished markup. */
export function xmlAll(parts: readonly Xml[]): Xml {
  return parts.join('') as Xml;
}

function opening(name: string, attributes: Readonly<Record<string, string>>): string {
  let open = name;
  for (const [attribute, value] of Object.entries(attributes)) open += ` ${attribute}="${escape(value)}"`;
  return open;
}

/** Writes a whole document with its declaration. `namespace` is S3's by default; '' writes none, as errors need it. */
export function xmlDocument(root: string, children: readonly (Xml | undefined)[], namespace = s3Namespace): string {
  const attributes: Record<string, string> = namespace === '' ? {} : { xmlns: namespace };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, children, attributes)}`;
}

function write(content: XmlContent): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return escape(content);
  if (content instanceof Date) return content.toISOString();
  if (typeof content !== 'object') return String(content);
  let inner = '';
  for (const child of content) if (child !== undefined) inner += child;
  return inner;
}

const named: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const special = /[&<>"'\u0000-\u001F\u007F-\u009F\uFFFE\uFFFF]/;
const everySpecial = new RegExp(special, 'g');

/**
 * Writes control characters as references: parsers would turn a plain CR into LF and refuse the others. XML 1.0 has no valid form for most
 * of them; S3 uses this form and its clients read it.
 */
function escape(text: string): string {
  // Most texts need no escaping. This test costs a quarter of a replacement that replaces nothing.
  if (!special.test(text)) return text;
  return text.replaceAll(everySpecial, (character) => {
    return named[character] ?? `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`;
  });
}

const plainInUrl = /^[\w\-.~*/]*$/;

/** Encodes a key as `encoding-type=url` asks for: percent-encoded but for `/` and unreserved characters, a space as `+`. */
export function urlEncodeKey(key: string): string {
  if (plainInUrl.test(key)) return key;
  return encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replaceAll('%20', '+')
    .replaceAll(/[!'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

const minute = 60_000;
const day = 24 * 60 * minute;

const minutes = Array.from({ length: 24 * 60 }, (_, index) => `${digits(index / 60, 2)}:${digits(index % 60, 2)}:`);
const seconds = Array.from({ length: 60 }, (_, index) => `${digits(index, 2)}.`);
const milliseconds = Array.from({ length: 1000 }, (_, index) => `${digits(index, 3)}Z`);

/** The last day that was written. The days of a listing are mostly the same. */
let knownDay = NaN;
let knownText = '';

/** Writes a time as `Date.prototype.toISOString` does, without the half microsecond that it costs. Throws `RangeError` as that does. */
export function isoTime(time: number): Xml {
  const dayOfTime = Math.floor(time / day);
  if (dayOfTime !== knownDay) {
    knownText = new Date(dayOfTime * day).toISOString().slice(0, -'00:00:00.000Z'.length);
    knownDay = dayOfTime;
  }
  const inDay = Math.trunc(time) - dayOfTime * day;
  const inMinute = inDay % minute;
  return (knownText +
    (minutes[Math.floor(inDay / minute)] ?? '') +
    (seconds[Math.floor(inMinute / 1000)] ?? '') +
    (milliseconds[inMinute % 1000] ?? '')) as Xml;
}

function digits(value: number, count: number): string {
  return String(Math.floor(value)).padStart(count, '0');
}
