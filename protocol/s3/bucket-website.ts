import { S3Error } from './s3-error.ts';
import { checkChildren, child, childrenOf, malformed, readXml, type XmlNode } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

type RedirectProtocol = 'http' | 'https';

/** The configuration of a bucket as a website. */
export type Website =
  | { readonly kind: 'redirect'; readonly hostName: string; readonly protocol?: RedirectProtocol }
  | {
      readonly kind: 'site';
      /** Appended to a key that is empty or ends with a slash. */
      readonly indexSuffix: string;
      /** The key of the document that is sent with errors of the client. */
      readonly errorKey?: string;
      readonly rules: readonly RoutingRule[];
    };

/** A redirect of the keys with a prefix, or where an error comes, or both. */
export interface RoutingRule {
  /** Empty for every key. */
  readonly prefix: string;
  /** The status of the error; absent for a rule that applies before the object is read. */
  readonly errorCode?: number;
  readonly hostName?: string;
  readonly protocol?: RedirectProtocol;
  /** 301 by default. */
  readonly redirectCode?: number;
  readonly replace?: { readonly kind: 'prefix' | 'key'; readonly with: string };
}

/** Bytes of the document. */
export const maxWebsiteDocument = 128 * 1_024;
const maxRules = 50;
/** Characters of a key and of a host. */
const maxText = 1_024;

/**
 * Reads a WebsiteConfiguration.
 *
 * @throws S3Error MalformedXML, InvalidArgument (a suffix or a key), InvalidRequest (a rule that is not valid, too many rules)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketWebsite.html
 */
export function parseWebsite(body: string | Buffer): Website {
  const root = readXml(body, { maxBytes: maxWebsiteDocument, maxElements: 2_000, root: 'WebsiteConfiguration' });
  checkChildren(root, ['RedirectAllRequestsTo', 'IndexDocument', 'ErrorDocument', 'RoutingRules']);
  const all = child(root, 'RedirectAllRequestsTo');
  if (all !== undefined) {
    if (root.children.length > 1) {
      throw invalid('RedirectAllRequestsTo cannot be provided in conjunction with other Routing Rules.');
    }
    checkChildren(all, ['HostName', 'Protocol']);
    const hostName = textOf(all, 'HostName');
    if (hostName === undefined) throw malformed('"RedirectAllRequestsTo" lacks "HostName"');
    return { kind: 'redirect', hostName: checkedHost(hostName), ...protocolOf(all) };
  }
  const errorKey = errorKeyOf(root);
  return {
    kind: 'site',
    indexSuffix: indexSuffixOf(root),
    ...(errorKey !== undefined && { errorKey }),
    rules: rulesOf(child(root, 'RoutingRules')),
  };
}

function indexSuffixOf(root: XmlNode): string {
  const index = child(root, 'IndexDocument');
  if (index === undefined) {
    throw invalidArgument('A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty', {
      ArgumentName: 'IndexDocument',
      ArgumentValue: 'null',
    });
  }
  checkChildren(index, ['Suffix']);
  const suffix = textOf(index, 'Suffix') ?? '';
  if (suffix.trim() !== '' && !suffix.includes('/')) return suffix;
  throw invalidArgument('The IndexDocument Suffix is not well formed', {
    ArgumentName: 'IndexDocument',
    ArgumentValue: suffix.slice(0, 256),
  });
}

function errorKeyOf(root: XmlNode): string | undefined {
  const document = child(root, 'ErrorDocument');
  if (document === undefined) return undefined;
  checkChildren(document, ['Key']);
  const key = textOf(document, 'Key') ?? '';
  if (key !== '') return key;
  throw invalidArgument('The ErrorDocument Key is not well formed', {
    ArgumentName: 'ErrorDocument',
    ArgumentValue: '',
  });
}

function rulesOf(node: XmlNode | undefined): readonly RoutingRule[] {
  if (node === undefined) return [];
  checkChildren(node, [], ['RoutingRule']);
  const rules = childrenOf(node, 'RoutingRule');
  if (rules.length > maxRules) throw invalid(`The number of routing rules must not exceed ${maxRules}.`);
  return rules.map(parseRule);
}

function parseRule(node: XmlNode): RoutingRule {
  checkChildren(node, ['Condition', 'Redirect']);
  const condition = child(node, 'Condition');
  const redirect = child(node, 'Redirect');
  if (redirect === undefined || redirect.children.length === 0) throw malformed('"RoutingRule" lacks "Redirect"');
  checkChildren(redirect, ['HostName', 'HttpRedirectCode', 'Protocol', 'ReplaceKeyPrefixWith', 'ReplaceKeyWith']);
  const hostName = textOf(redirect, 'HostName');
  const code = textOf(redirect, 'HttpRedirectCode');
  if (code !== undefined && !/^30[1-9]$|^3[1-9]\d$/.test(code)) {
    throw invalid(
      `The provided HTTP redirect code (${code.slice(0, 32)}) is not valid. Valid codes are 3XX except 300.`,
    );
  }
  return {
    ...conditionOf(condition),
    ...(hostName !== undefined && { hostName: checkedHost(hostName) }),
    ...protocolOf(redirect),
    ...(code !== undefined && { redirectCode: Number(code) }),
    ...replacementOf(redirect),
  };
}

function conditionOf(node: XmlNode | undefined): Pick<RoutingRule, 'prefix' | 'errorCode'> {
  if (node === undefined) return { prefix: '' };
  checkChildren(node, ['HttpErrorCodeReturnedEquals', 'KeyPrefixEquals']);
  const prefix = textOf(node, 'KeyPrefixEquals');
  const code = textOf(node, 'HttpErrorCodeReturnedEquals');
  if (prefix === undefined && code === undefined) {
    throw invalid(
      "Condition cannot be empty. To redirect all requests without a condition, the condition element shouldn't be present.",
    );
  }
  if (code === undefined) return { prefix: prefix ?? '' };
  if (/^[45]\d\d$/.test(code)) return { prefix: prefix ?? '', errorCode: Number(code) };
  throw invalid(`The provided HTTP error code (${code.slice(0, 32)}) is not valid. Valid codes are 4XX or 5XX.`);
}

function replacementOf(redirect: XmlNode): Pick<RoutingRule, 'replace'> {
  const prefix = textOf(redirect, 'ReplaceKeyPrefixWith');
  const key = textOf(redirect, 'ReplaceKeyWith');
  if (prefix !== undefined && key !== undefined) {
    throw invalid('You can only define ReplaceKeyPrefix or ReplaceKey but not both.');
  }
  if (key !== undefined) return { replace: { kind: 'key', with: key } };
  return prefix === undefined ? {} : { replace: { kind: 'prefix', with: prefix } };
}

function protocolOf(node: XmlNode): { readonly protocol?: RedirectProtocol } {
  const protocol = textOf(node, 'Protocol');
  if (protocol === undefined) return {};
  if (protocol === 'http' || protocol === 'https') return { protocol };
  throw invalid(
    'Invalid protocol, protocol can be http or https. If not defined the protocol will be selected automatically.',
  );
}

/** The host becomes a part of a header. */
function checkedHost(host: string): string {
  if (/^[\w.-]{1,255}(?::\d{1,5})?$/.test(host)) return host;
  throw invalid(`The provided host name (${host.slice(0, 256)}) is not valid.`);
}

function textOf(node: XmlNode, name: string): string | undefined {
  const text = child(node, name)?.text;
  if (text !== undefined && text.length > maxText) throw malformed(`"${name}" is longer than ${maxText} characters`);
  return text;
}

function invalid(message: string): S3Error {
  return new S3Error('InvalidRequest', message);
}

function invalidArgument(message: string, details: Readonly<Record<string, string>>): S3Error {
  return new S3Error('InvalidArgument', message, { details });
}

/** Writes the document that GetBucketWebsite answers. */
export function writeWebsite(website: Website): string {
  if (website.kind === 'redirect') {
    const { hostName, protocol } = website;
    return xmlDocument('WebsiteConfiguration', [
      element('RedirectAllRequestsTo', [element('HostName', hostName), optional('Protocol', protocol)]),
    ]);
  }
  const { indexSuffix, errorKey, rules } = website;
  return xmlDocument('WebsiteConfiguration', [
    element('IndexDocument', [element('Suffix', indexSuffix)]),
    errorKey === undefined ? undefined : element('ErrorDocument', [element('Key', errorKey)]),
    rules.length === 0 ? undefined : element('RoutingRules', rules.map(writeRule)),
  ]);
}

function writeRule({ prefix, errorCode, hostName, protocol, redirectCode, replace }: RoutingRule) {
  const condition = [
    optional('HttpErrorCodeReturnedEquals', errorCode),
    prefix === '' ? undefined : element('KeyPrefixEquals', prefix),
  ];
  return element('RoutingRule', [
    errorCode === undefined && prefix === '' ? undefined : element('Condition', condition),
    element('Redirect', [
      optional('HostName', hostName),
      optional('HttpRedirectCode', redirectCode),
      optional('Protocol', protocol),
      optional('ReplaceKeyPrefixWith', replace?.kind === 'prefix' ? replace.with : undefined),
      optional('ReplaceKeyWith', replace?.kind === 'key' ? replace.with : undefined),
    ]),
  ]);
}

function optional(name: string, value: string | number | undefined) {
  return value === undefined ? undefined : element(name, value);
}
