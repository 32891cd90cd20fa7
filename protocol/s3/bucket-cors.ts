import { S3Error } from './s3-error.ts';
import { checkChildren, child, childrenOf, malformed, readXml, type XmlNode } from './xml-reader.ts';
import { element, xmlDocument, type Xml } from './xml-writer.ts';

/** A rule of a bucket's CORS configuration: the pages of its origins may send requests of its methods. */
export interface CorsRule {
  readonly id?: string;
  /** At most one `*` each, for any text. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  /** The request headers that a preflight may announce, at most one `*` each. */
  readonly headers: readonly string[];
  /** The response headers that scripts may read. */
  readonly exposed: readonly string[];
  /** The time that a browser may remember the answer to a preflight. */
  readonly maxAgeSeconds?: number;
}

/** Bytes of the document. */
export const maxCorsDocument = 64 * 1_024;
const maxRules = 100;
const maxElements = 10_000;
/** Characters. */
const maxId = 255;
const maxSeconds = 2 ** 31 - 1;

/** The methods that a rule can allow. */
export const corsMethods: ReadonlySet<string> = new Set(['GET', 'PUT', 'HEAD', 'POST', 'DELETE']);

/**
 * Reads a CORSConfiguration. One without a rule allows no page.
 *
 * @throws S3Error MalformedXML, InvalidRequest (a method, a wildcard or a name that is not valid, too many rules)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketCors.html
 */
export function parseCors(body: string | Buffer): readonly CorsRule[] {
  const root = readXml(body, { maxBytes: maxCorsDocument, maxElements, root: 'CORSConfiguration' });
  checkChildren(root, [], ['CORSRule']);
  if (root.children.length > maxRules) {
    throw invalid(`The number of CORS rules should not exceed allowed limit of ${maxRules} rules.`);
  }
  return root.children.map(parseRule);
}

function parseRule(node: XmlNode): CorsRule {
  checkChildren(node, ['ID', 'MaxAgeSeconds'], ['AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader']);
  for (const one of node.children) checkChildren(one, []);
  const texts = (name: string) => childrenOf(node, name).map(({ text }) => text.trim());
  const [origins, methods] = [texts('AllowedOrigin'), texts('AllowedMethod')];
  if (origins.length === 0) throw malformed('"CORSRule" lacks "AllowedOrigin"');
  if (methods.length === 0) throw malformed('"CORSRule" lacks "AllowedMethod"');
  const [headers, exposed] = [texts('AllowedHeader'), texts('ExposeHeader')];
  const id = child(node, 'ID')?.text;
  const maxAgeSeconds = secondsOf(child(node, 'MaxAgeSeconds')?.text.trim());
  const method = methods.find((name) => !corsMethods.has(name));
  if (method !== undefined) {
    throw invalid(`Found unsupported HTTP method in CORS config. Unsupported method is ${method.slice(0, 64)}`);
  }
  for (const origin of origins) checkWildcards('AllowedOrigin', origin);
  for (const name of headers) {
    checkWildcards('AllowedHeader', name);
    checkHeaderName('AllowedHeader', name);
  }
  for (const name of exposed) {
    if (name.includes('*')) {
      throw invalid(
        `ExposeHeader "${name.slice(0, 256)}" contains wildcard. We currently do not support wildcard for ExposeHeader.`,
      );
    }
    checkHeaderName('ExposeHeader', name);
  }
  if (id !== undefined && id.length > maxId) throw malformed(`"ID" is longer than ${maxId} characters`);
  return {
    ...(id !== undefined && { id }),
    origins,
    methods,
    headers,
    exposed,
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
  };
}

/** A negative number is taken, as by AWS: browsers keep no answer to a preflight then. */
function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^-?\d{1,10}$/.test(text) ? Number(text) : Infinity;
  if (seconds > maxSeconds || seconds < -maxSeconds) throw malformed('"MaxAgeSeconds" is not a number of seconds');
  return seconds;
}

function checkWildcards(name: string, text: string): void {
  if (text.indexOf('*') === text.lastIndexOf('*')) return;
  throw invalid(`${name} "${text.slice(0, 256)}" can not have more than one wildcard.`);
}

/** The names leave as the text of a header, so that no other characters may get in. */
function checkHeaderName(element: string, name: string): void {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return;
  throw invalid(`${element} "${name.slice(0, 256)}" is not the name of a header.`);
}

function invalid(message: string): S3Error {
  return new S3Error('InvalidRequest', message);
}

/** Writes the document that GetBucketCors answers. */
export function writeCors(rules: readonly CorsRule[]): string {
  return xmlDocument(
    'CORSConfiguration',
    rules.map(({ id, methods, origins, headers, maxAgeSeconds, exposed }) =>
      element('CORSRule', [
        id === undefined ? undefined : element('ID', id),
        ...elementsNamed('AllowedMethod', methods),
        ...elementsNamed('AllowedOrigin', origins),
        ...elementsNamed('AllowedHeader', headers),
        maxAgeSeconds === undefined ? undefined : element('MaxAgeSeconds', maxAgeSeconds),
        ...elementsNamed('ExposeHeader', exposed),
      ]),
    ),
  );
}

function elementsNamed(name: string, texts: readonly string[]): Xml[] {
  return texts.map((text) => element(name, text));
}

/** A request of a page on another origin. */
interface CorsRequest {
  readonly origin: string;
  readonly method: string;
  /** The headers that a preflight announces, in lower case; none for an actual request, whose headers S3 does not check. */
  readonly headers: readonly string[];
}

/**
 * Finds the first rule that allows a request.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/ManageCorsUsing.html
 */
export function findCorsRule(rules: readonly CorsRule[], request: CorsRequest): CorsRule | undefined {
  return rules.find(
    ({ origins, methods, headers }) =>
      methods.includes(request.method) &&
      origins.some((pattern) => matchesWildcard(pattern, request.origin)) &&
      request.headers.every((name) => headers.some((pattern) => matchesWildcard(pattern.toLowerCase(), name))),
  );
}

/** Compares a text with a pattern that has at most one `*`, in linear time. */
function matchesWildcard(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === text;
  return (
    text.length >= pattern.length - 1 &&
    text.startsWith(pattern.slice(0, star)) &&
    text.endsWith(pattern.slice(star + 1))
  );
}
