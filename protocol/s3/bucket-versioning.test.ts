import { describe, expect, it } from 'vitest';
import { parseVersioning, writeVersioning } from './bucket-versioning.ts';

const document = (content: string) =>
  `<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</VersioningConfiguration>`;
const excluded = (prefix: string) => `<ExcludedPrefixes><Prefix>${prefix}</Prefix></ExcludedPrefixes>`;
const enabled = '<Status>Enabled</Status>';

describe('parseVersioning', () => {
  it.each<[string, ReturnType<typeof parseVersioning>]>([
    [enabled, { status: 'Enabled' }],
    ['<Status> Suspended </Status>', { status: 'Suspended' }],
    [`${enabled}<MfaDelete>Disabled</MfaDelete>`, { status: 'Enabled' }],
    [`${enabled}<MFADelete/>`, { status: 'Enabled' }],
    [`${enabled}<ExcludeFolders>false</ExcludeFolders>`, { status: 'Enabled' }],
    [
      `${enabled}${excluded('a/')}${excluded('b/*/c')}<ExcludeFolders>true</ExcludeFolders>`,
      { status: 'Enabled', excludedPrefixes: ['a/', 'b/*/c'], excludeFolders: true },
    ],
    [
      enabled + excluded('a').repeat(10),
      { status: 'Enabled', excludedPrefixes: Array.from({ length: 10 }, () => 'a') },
    ],
  ])('reads %s', (content, versioning) => {
    expect(parseVersioning(document(content))).toEqual(versioning);
    expect(parseVersioning(writeVersioning(versioning))).toEqual(versioning);
  });

  it.each([
    ['', 'IllegalVersioningConfigurationException'],
    ['<Status/>', 'IllegalVersioningConfigurationException'],
    ['<Status>Disabled</Status>', 'MalformedXML'],
    ['<Status>enabled</Status>', 'MalformedXML'],
    [enabled + enabled, 'MalformedXML'],
    [`${enabled}<Other/>`, 'MalformedXML'],
    [`${enabled}<MfaDelete>Enabled</MfaDelete>`, 'NotImplemented'],
    [`${enabled}<MFADelete>Enabled</MFADelete>`, 'NotImplemented'],
    [`${enabled}<MfaDelete>enabled</MfaDelete>`, 'MalformedXML'],
    [`${enabled}<ExcludeFolders>yes</ExcludeFolders>`, 'MalformedXML'],
    [`${enabled}<ExcludedPrefixes/>`, 'MalformedXML'],
    [enabled + excluded(''), 'IllegalVersioningConfigurationException'],
    [enabled + excluded('a'.repeat(1_025)), 'IllegalVersioningConfigurationException'],
    [enabled + excluded('a').repeat(11), 'IllegalVersioningConfigurationException'],
    [`<Status>Suspended</Status>${excluded('a')}`, 'IllegalVersioningConfigurationException'],
  ])('refuses %s', (content, code) => {
    expect(() => parseVersioning(document(content))).toThrow(expect.objectContaining({ code }));
  });

  it.each(['<Other/>', '<VersioningConfiguration>'])('refuses the document %s', (text) => {
    expect(() => parseVersioning(text)).toThrow(expect.objectContaining({ code: 'MalformedXML' }));
  });
});

describe('writeVersioning', () => {
  it('writes an empty document for a bucket that never had versions', () => {
    expect(writeVersioning(undefined)).toContain(
      '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>',
    );
  });
});
