import { assert, constantFrom, property, string, array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseWebsite, writeWebsite } from './bucket-website.ts';
import { S3Error } from './s3-error.ts';

const index = '<IndexDocument><Suffix>index.html</Suffix></IndexDocument>';
const document = (...content: readonly string[]) => `<WebsiteConfiguration>${content.join('')}</WebsiteConfiguration>`;
const rules = (...content: readonly string[]) =>
  document(index, `<RoutingRules>${content.map((one) => `<RoutingRule>${one}</RoutingRule>`).join('')}</RoutingRules>`);
const toHost = '<Redirect><HostName>example.com</HostName></Redirect>';

describe('parseWebsite', () => {
  it('reads a website', () => {
    const rule =
      '<Condition><KeyPrefixEquals>docs/</KeyPrefixEquals><HttpErrorCodeReturnedEquals>404</HttpErrorCodeReturnedEquals></Condition>' +
      '<Redirect><Protocol>https</Protocol><HostName>example.com</HostName><ReplaceKeyPrefixWith>d/</ReplaceKeyPrefixWith>' +
      '<HttpRedirectCode>302</HttpRedirectCode></Redirect>';
    const text = document(
      index,
      '<ErrorDocument><Key>error.html</Key></ErrorDocument>',
      `<RoutingRules><RoutingRule>${rule}</RoutingRule></RoutingRules>`,
    );
    expect(parseWebsite(text)).toEqual({
      kind: 'site',
      indexSuffix: 'index.html',
      errorKey: 'error.html',
      rules: [
        {
          prefix: 'docs/',
          errorCode: 404,
          protocol: 'https',
          hostName: 'example.com',
          redirectCode: 302,
          replace: { kind: 'prefix', with: 'd/' },
        },
      ],
    });
  });

  it('reads a redirect of all requests', () => {
    const text = document(
      '<RedirectAllRequestsTo><HostName>example.com</HostName><Protocol>https</Protocol></RedirectAllRequestsTo>',
    );
    expect(parseWebsite(text)).toEqual({ kind: 'redirect', hostName: 'example.com', protocol: 'https' });
  });

  it.each([
    ['no index document', document(), 'InvalidArgument'],
    ['an empty suffix', document('<IndexDocument><Suffix/></IndexDocument>'), 'InvalidArgument'],
    ['a suffix with a slash', document('<IndexDocument><Suffix>a/b</Suffix></IndexDocument>'), 'InvalidArgument'],
    ['an empty error key', document(index, '<ErrorDocument><Key/></ErrorDocument>'), 'InvalidArgument'],
    ['a redirect of all with an index', document(index, `<RedirectAllRequestsTo/>`), 'InvalidRequest'],
    ['a redirect of all to nowhere', document('<RedirectAllRequestsTo/>'), 'MalformedXML'],
    ['an unknown element', document(index, '<Other/>'), 'MalformedXML'],
    ['two indexes', document(index, index), 'MalformedXML'],
    ['a rule without a redirect', rules('<Condition><KeyPrefixEquals>a</KeyPrefixEquals></Condition>'), 'MalformedXML'],
    ['an empty condition', rules(`<Condition/>${toHost}`), 'InvalidRequest'],
    ['the status 300', rules('<Redirect><HttpRedirectCode>300</HttpRedirectCode></Redirect>'), 'InvalidRequest'],
    ['a status 200', rules('<Redirect><HttpRedirectCode>200</HttpRedirectCode></Redirect>'), 'InvalidRequest'],
    [
      'an error of 3xx',
      rules(`<Condition><HttpErrorCodeReturnedEquals>302</HttpErrorCodeReturnedEquals></Condition>${toHost}`),
      'InvalidRequest',
    ],
    ['another protocol', rules('<Redirect><Protocol>ftp</Protocol></Redirect>'), 'InvalidRequest'],
    ['a host with a line end', rules('<Redirect><HostName>a&#10;b</HostName></Redirect>'), 'InvalidRequest'],
    [
      'both replacements',
      rules('<Redirect><ReplaceKeyWith>a</ReplaceKeyWith><ReplaceKeyPrefixWith>b</ReplaceKeyPrefixWith></Redirect>'),
      'InvalidRequest',
    ],
    ['51 rules', rules(...Array.from({ length: 51 }, () => toHost)), 'InvalidRequest'],
  ])('refuses %s', (_what, text, code) => {
    expect(() => parseWebsite(text)).toThrow(expect.objectContaining({ code }) as Error);
  });

  it('reads what it wrote', () => {
    const text = rules(toHost, '<Redirect><ReplaceKeyWith>a&lt;b</ReplaceKeyWith></Redirect>');
    const website = parseWebsite(text);
    expect(parseWebsite(writeWebsite(website))).toEqual(website);
  });

  it('refuses any other text by an S3Error', () => {
    const chunks = constantFrom(
      ...'WebsiteConfiguration IndexDocument Suffix RoutingRules Redirect < > / & x'.split(' '),
    );
    assert(
      property(array(chunks, { maxLength: 30 }), string(), (parts, tail) => {
        try {
          parseWebsite(parts.join('') + tail);
        } catch (error) {
          expect(error).toBeInstanceOf(S3Error);
        }
      }),
    );
  });
});
