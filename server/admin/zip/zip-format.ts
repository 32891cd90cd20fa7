/**
 * The parts of a zip file that an archive of a few small files has: no encryption, no parts, no 64-bit sizes.
 *
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
export const signatures = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 } as const;

/** Bytes before the names. */
export const headerSizes = { local: 30, central: 46, end: 22 } as const;

export const methods = { stored: 0, deflated: 8 } as const;

/** Names are UTF-8. */
export const utf8Flag = 0x0800;

/** What no reader here understands: encrypted. */
export const encryptedFlag = 0x0001;

export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
}
